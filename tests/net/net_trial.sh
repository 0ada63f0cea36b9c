#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_trial.sh - `reload --trial` beside a running shield: a stricter file that would refuse
# queries, and one that would challenge or deny players, each named with its clients, while
# the shield itself decides as before. A trial that gets no processor for a while judges as one that
# does, and what is done to the shield ends it.
#
# lane: beside, 85 s: it compares words, and counts of what comes within a trial of seconds.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
# more QUERIES: a service with wide limits, but that of a source.
more()
{
	echo "cache = off"
	echo "    query { source = \"$1\" prefix = \"100/s burst 100\" service = \"200/s burst 200\" }"
}

LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3 POLL=16
SERVICE_MORE=$(more '10/s burst 20')
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

trial() # ARGUMENT...
{
	net_in server "$SHIELD" reload --trial "$@"
}

# Eight clients ask and one plays, for four seconds, again and again; another joins, too.
traffic()
{
	while [ -e "$work/traffic" ]; do
		client_start 4 >>"$work/client" &
		net_in client "$LAB/client" --protocol "$PROTOCOL" --to "$NET_SERVER" \
			--port "$NET_PORT" --seconds 3 --poll 2 --join --json --from 10.79.8.2 \
			>>"$work/client"
		wait $!
	done
}

# tried FILE: a trial beside traffic, into $work/trial.json. Each time some client joins.
tried()
{
	local status

	touch "$work/traffic"
	traffic &
	trial "$1" --for 6s --json >"$work/trial.json"
	status=$?
	rm "$work/traffic"
	wait $!
	return "$status"
}

says() # JQ-EXPRESSION
{
	jq -e "$1" "$work/trial.json" >/dev/null || {
		cat "$work/trial.json" >&2
		return 1
	}
}

status_of() # STATUS WORDS ARGUMENT...
{
	local status=$1 words=$2

	shift 2
	net_in server timeout 20 "$SHIELD" reload "$@" >"$work/out" 2>"$work/err"
	[ $? = "$status" ] && grep -qF -- "$words" "$work/err" && [ ! -s "$work/out" ]
}

dropped()
{
	stats_sum 'select(.verdict != "pass")'
}

# taps: the packet sockets of the server's namespace, of which the daemon has some.
taps()
{
	net_in server grep -c '^[0-9a-f]\{16\} ' /proc/net/packet
}

# trial_begun COUNT: wait until there are more than these: the trial looks at the traffic. A busy
# machine takes long to load it.
trial_begun()
{
	more_taps() { [ "$(taps)" -gt "$1" ]; }
	net_until 30 more_taps "$1"
}

generation()
{
	net_in server "$SHIELD" stats --json | jq .generation
}

net_test_begin "$@"
server_start
shield_start || exit 1
cp "$work/shield.conf" "$work/same.conf"
SERVICE_MORE="$(more '1/m burst 2')
    unknown { source = \"1/m burst 1\" }" shield_config >"$work/strict.conf"
{
	echo "deny = {\"10.79.1.0/24\"}"
	SERVICE_MORE="$(more '10/s burst 20')
    validation = always" shield_config
} >"$work/proof.conf"
before=$(generation)

net_check "a trial of the file in force" tried "$work/same.conf"
net_check "finds nothing that differs" says '.judged > 100 and .differ == 0 and .changes == []'
# The shield reads a clock of 4 ms, and the copy the time of each frame: at a limit the two may differ.
net_check "and next to nothing that it lacks" \
	says '.doubtful * 20 <= .judged and .lost == 0 and .share == 1'

net_check "a trial of a stricter file" tried "$work/strict.conf"
net_check "says in what the file differs" says \
	'.changes | map(.key) == ["service.lab.query.source", "service.lab.unknown.source"]'
net_check "names each kind that it would refuse" says '[.rows[] |
	select(.refused and .direction == "in") | .service == "lab" and .verdict == "pass" and
	.then.verdict == "drop" and .then.reason == "source-limit"] | length == 2 and all'
net_check "and only queries" says '[.rows[] | select(.refused and .direction == "in") | .kind] |
	sort == ["getinfo", "getstatus"]'
# The server answers what the stricter file would have refused: without the requests these may be
# above the allowance.
net_check "and responses to them, if any" says '[.rows[] | select(.direction == "out") |
	(.kind | test("Response$")) and .then.reason == "amplification"] | all'
net_check "how many datagrams of which clients" says '.rows[0] | .datagrams > 8 and .clients > 4 and
	(.first | length) == 3 and (.first[0].address | startswith("10.79."))'
net_check "and that no player's traffic is among them" says \
	'[.rows[] | select(.refused and (.kind == "netchan" or .kind == "connect"))] == []'

net_check "a trial of one that challenges and denies" tried "$work/proof.conf"
net_check "names what it would challenge" says '[.rows[] | select(.then.reason == "challenged")] |
	length > 0 and all(.refused)'
net_check "and a player that it would deny" says '[.rows[] |
	select(.then.reason == "deny-list" and .kind == "netchan")][0] |
	.first[0].state == "player" and .first[0].address == "10.79.1.2"'

net_check "the shield has refused nothing meanwhile" [ "$(dropped)" = 0 ]
net_check "and is configured as before" [ "$(generation)" = "$before" ]
net_check "the JSON is as its schema" "$SCHEMA" trial --all <"$work/trial.json"

# Within this limit, but not as one burst of five seconds.
SERVICE_MORE="$(more '5/s burst 4')" shield_config >"$work/paced.conf"
# paused FILE: as tried(), but the trial gets no processor for five seconds.
paused()
{
	local pid status behind

	touch "$work/traffic"
	traffic &
	behind=$!
	# shellcheck disable=SC2016 # of the inner shell
	net_in server bash -c 'echo $$ >"$1"; shift; exec "$@"' - "$work/pid" "$SHIELD" reload \
		--trial "$1" --for 8s --json >"$work/trial.json" &
	pid=$!
	sleep 3
	kill -STOP "$(cat "$work/pid")"
	sleep 5
	kill -CONT "$(cat "$work/pid")"
	wait "$pid"
	status=$?
	rm "$work/traffic"
	wait "$behind"
	return "$status"
}
net_check "a trial that is starved for five seconds" paused "$work/paced.conf"
# In one burst more than twenty would be refused; on a busy machine a client may be late with two
# or three.
net_check "judges each datagram at its time" says '.judged > 100 and .refused <= 5 and .lost == 0'

trial "$work/strict.conf" --for 2s >"$work/text"
latin=$work/$(printf 'x\377.conf')
cp "$work/strict.conf" "$latin"
trial "$latin" --for 1s --json >"$work/trial.json"
net_check "a name in another encoding" says '.file | endswith("/x\\xff.conf")'
net_check "as text" grep -q 'service.lab.query.source: .* -> 1/m burst 2' "$work/text"
net_in server timeout -s INT 10 "$SHIELD" reload --trial "$work/strict.conf" --for 1h \
	>"$work/text"

net_check "it is interrupted, and tells" grep -q "', interrupted after [0-9][0-9]* seconds; nothing" \
	"$work/text"

sed 's/port /prot /' "$work/strict.conf" >"$work/bad.conf"
net_check "a file that is wrong" status_of 1 "'prot'" --trial "$work/bad.conf"
net_check "a file that is not there" status_of 1 "$work/none.conf" --trial "$work/none.conf"
net_check "no time" status_of 2 "--for 'soon' is not 1s to 24h" --trial "$work/strict.conf" \
	--for soon
net_check "a reload is something else" status_of 2 "it reloads nothing" --trial \
	"$work/strict.conf" --undo
net_check "no trial without its file" status_of 2 "--for goes with --trial alone" --for 2s
had=$(taps)
net_in server timeout -s INT 90 "$SHIELD" reload --trial "$work/strict.conf" --for 1h \
	>"$work/text" 2>"$work/err" &
net_check "it has begun" trial_begun "$had"
net_in server "$SHIELD" reload -c "$work/strict.conf" >"$work/out" 2>&1
wait $!
ended=$?
net_check "a reload ends it, and it tells" grep -q "', interrupted after [0-9][0-9]* seconds; nothing" \
	"$work/text"
net_check "says why" grep -q "the shield was reloaded: it ends here" "$work/err"
net_check "and fails" [ "$ended" = 1 ]
net_check "nothing loaded" status_of 3 "nothing is loaded in" --trial "$work/strict.conf" \
	--pin /sys/fs/bpf/none

had=$(taps)
net_in server timeout -s INT 90 "$SHIELD" reload --trial "$work/strict.conf" --for 1h --json \
	>"$work/trial.json" 2>"$work/err" &
trial_pid=$!
net_check "it has begun" trial_begun "$had"
shield_stop TERM
shield_start >"$work/out" || exit 1
wait $trial_pid
net_check "another daemon's programs end it" [ $? = 1 ]
net_check "and that is said" grep -q "the shield was replaced: it ends here" "$work/err"
net_check "in JSON, too" says '.interrupted and .ended == "replaced"'

had=$(taps)
net_in server timeout -s INT 90 "$SHIELD" reload --trial "$work/strict.conf" --for 1h \
	>"$work/text" 2>"$work/err" &
trial_pid=$!
net_check "it has begun" trial_begun "$had"
# A busy machine may not end the daemon within the five seconds that detach waits.
net_check "detach works beside it" net_until 20 net_in server "$SHIELD" detach
wait $trial_pid
net_check "detach ends it" [ $? = 1 ]
net_check "and it tells" grep -q "^The shield was detached: the rest was not tried" "$work/text"
exit "$net_failed"
