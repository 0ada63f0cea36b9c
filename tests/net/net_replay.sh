#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_replay.sh - `replay` decides about a capture what the shield decided about the traffic
# itself: people play Quake III and NetQuake behind it while a flood comes, the wire before it
# is recorded, and the counters of both are the same. kern_replay has the rest.
#
# lane: beside, 30 s: its limits do not refill while it runs, so that no count depends on
# time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

NQ_PORT=26000

# No limit refills by a whole request while the test runs. The daemon has no part in it: its
# cached responses and the keys of its cookies are unknown to a replay.
config()
{
	local section

	echo "deny = {\"10.79.8.2\"}"
	for section in "\"lab\" { protocol = quake3 port = $NET_PORT" \
		"\"nq\" { protocol = netquake port = $NQ_PORT"; do
		cat <<-CONFIG
		service $section
		    validation = off
		    cache = off
		    query { source = "1/m burst 5" prefix = "1/m burst 100" service = "1/m burst 60" }
		}
		CONFIG
	done
}

people() # PROTOCOL PORT SECONDS
{
	local from='' i

	for i in 1 2 3 4 5 6 7 8; do
		from="$from --from 10.79.$i.2"
	done
	# shellcheck disable=SC2086
	net_in client "$LAB/client" --protocol "$1" --to "$NET_SERVER" --port "$2" \
		--seconds "$3" --poll 8 --join --json $from >>"$work/people"
}

traffic()
{
	people quake3 "$NET_PORT" 4
	net_flood --af-packet --payload getstatus --from "$NET_FLOOD" --sources 1 --rate 100 \
		--packets 20 --seconds 2 >"$work/flood"
	people netquake "$NQ_PORT" 6
	net_flood --af-packet --payload getstatus --from "$NET_FLOOD" --sources "$NET_SOURCES" \
		--rate 400 --packets 800 --seconds 4 >"$work/flood"
	people quake3 "$NET_PORT" 4
}

record()
{
	tcpdump -U -n -B 8192 -i up0 -w "$work/wire.pcap" udp 2>"$work/tcpdump.log" &
	recorder=$!
	net_until 10 grep -q 'listening on' "$work/tcpdump.log"
}

counters_rest()
{
	local was

	was=$(live_counters | md5sum)
	sleep 1.5
	[ "$(live_counters | md5sum)" = "$was" ]
}

# Servers send to a player for a while after it has gone.
stop_recording()
{
	net_until 30 counters_rest
	sleep 0.5
	kill -INT "$recorder"
	wait "$recorder"
	grep -q '^0 packets dropped by kernel' "$work/tcpdump.log"
}

# A line for each counter: service, direction, kind, verdict, reason, packets.
live_counters()
{
	net_in server "$SHIELD" stats --json | jq -r '.services[] | .name as $name | .counters[] |
		select(.packets > 0) | "\($name) \(.direction) \(.kind) \(.verdict) \(.reason) \(.packets)"' |
		LC_ALL=C sort
}

replay() # ARGUMENT...
{
	"$SHIELD" replay -c "$work/shield.conf" "$@"
}

replayed_counters()
{
	replay --json "$work/wire.pcap" 2>/dev/null | jq -r 'select(.service) |
		"\(.service) \(.direction) \(.kind) \(.verdict) \(.reason)"' |
		LC_ALL=C sort | uniq -c | awk '{ print $2, $3, $4, $5, $6, $1 }' | LC_ALL=C sort
}

has() # WORDS FILE
{
	grep -q "^$1 [0-9]*\$" "$2"
}

# The traffic was what it had to be: players, refusals of each kind.
enough()
{
	has 'lab in netchan pass player' "$work/live" && has 'nq out nq-unreliable pass player' "$work/live" &&
		has 'lab in getstatus drop service-limit' "$work/live" &&
		has 'lab in getstatus drop source-limit' "$work/live" &&
		has 'lab in getinfo drop deny-list' "$work/live"
}

status_of() # STATUS WORDS ARGUMENT...
{
	local status=$1 words=$2

	shift 2
	"$SHIELD" replay "$@" >"$work/out" 2>"$work/err"
	[ $? = "$status" ] && grep -qF -- "$words" "$work/err"
}

# The table alone, to a full disk.
lost_output_is_told()
{
	replay "$work/wire.pcap" >/dev/full 2>"$work/err"
	[ $? = 1 ] && grep -qF 'cannot write: No space left' "$work/err"
}

as_schema()
{
	{
		replay --json "$work/wire.pcap" "$work/wire.pcap"
		replay --json --diff "$work/wide.conf" "$work/wire.pcap"
		printf 'service "lab" { protocol = quake3 port = %s observe = true }\ndeny = {"10.79.8.2"}\n' \
			"$NET_PORT" >"$work/observe.conf"
		"$SHIELD" replay --json -c "$work/observe.conf" "$work/wire.pcap" "$work/cut.pcap"
	} 2>/dev/null | "$SCHEMA" replay --all '' >&2
}

# One limit wider: only packets that it refused differ, and each of them is named.
only_the_changed_limit_differs()
{
	sed 's/service = "1\/m burst 60"/service = "1\/m burst 5000"/' "$work/shield.conf" >"$work/wide.conf"
	replay --json --diff "$work/wide.conf" "$work/wire.pcap" >"$work/differ" 2>"$work/changes"
	[ -s "$work/differ" ] && jq -se 'all(.[]; .reason == "service-limit" or .direction == "out")' \
		"$work/differ" &&
		grep -q 'drop service-limit -> pass within-limits: [0-9]*; first packets' "$work/changes"
}

written_has_verdicts()
{
	replay --write "$work/out.pcapng" "$work/wire.pcap" >/dev/null &&
		tshark -nr "$work/out.pcapng" -T fields -e frame.comment 2>/dev/null |
		sort | uniq -c >"$work/comments" &&
		[ "$(awk '/lab getstatus drop service-limit/ { print $1 }' "$work/comments")" = \
			"$(awk '/^lab in getstatus drop service-limit/ { print $6 }' "$work/live")" ]
}

# The written file says which way each packet went, so nothing has to be guessed.
written_is_replayed_alike()
{
	local a b

	a=$(replay --json "$work/wire.pcap" 2>/dev/null | md5sum)
	b=$(replay --json "$work/out.pcapng" 2>/dev/null | md5sum)
	[ "$a" = "$b" ]
}

command -v tcpdump >/dev/null || net_skip net_replay "no tcpdump"
net_test_begin "$@"
server_start
nsenter --net=/run/netns/server "$LAB/standin" netquake "$NQ_PORT" >"$work/nq.log" 2>&1 &
config >"$work/shield.conf"
shield_start >/dev/null || exit 1
record || net_die "tcpdump does not record"
traffic
net_check "all packets are recorded" stop_recording
live_counters >"$work/live"
before=$(live_counters | md5sum)
replayed_counters >"$work/replayed"
diff "$work/live" "$work/replayed" >&2 || cat "$work/live" >&2
net_check "people played, and were refused" enough
net_check "each counter is that of the shield" cmp "$work/live" "$work/replayed"
net_check "and the shield has counted nothing more" [ "$(live_counters | md5sum)" = "$before" ]
net_check "a wider limit" only_the_changed_limit_differs
editcap -F pcap -s 70 "$work/wire.pcap" "$work/cut.pcap" 2>/dev/null
if command -v tshark >/dev/null; then
	net_check "a pcapng with verdicts" written_has_verdicts
	net_check "which is replayed as its source" written_is_replayed_alike
	net_check "the JSON is as its schema" as_schema
fi
net_check "a file that was there is not written to" status_of 1 \
	"cannot create '$work/shield.conf': File exists" -c "$work/shield.conf" \
	--write "$work/shield.conf" "$work/wire.pcap"
net_check "a table that cannot be written is told" lost_output_is_told
net_check "no such file" status_of 1 "cannot open '$work/none': No such file" \
	-c "$work/shield.conf" "$work/none"
net_check "no capture" status_of 1 "'$work/shield.conf': no pcap or pcapng file" \
	-c "$work/shield.conf" "$work/shield.conf"
net_check "no configuration" status_of 1 "$work/none" -c "$work/none" "$work/wire.pcap"
net_check "no such option" status_of 2 "--nope" --nope
exit "$net_failed"
