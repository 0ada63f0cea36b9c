#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_incidents.sh - an evening of twelve attacks in half a minute: a flood on a server of
# each family, slow ones, some in a victim's name, a scan of ports; and a change of map
# after which everybody joins anew, which is none. What is reported, missed and false is a
# table at the end, with the time from the first packet to the journal's line. A webhook
# gets each attack, signed.
#
# The journal is a stand-in (tests/lab/journal.py), and so are systemd-run and the .path
# unit: this shows what is handed to systemd, not what systemd makes of it.
#
# lane: beside, 50 s: its floods are slow, and it waits for what is said of them.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
SCHEMA=$(realpath tests/json_schema.py) LAB_SOURCE=$(realpath tests/lab) EXAMPLES=$(realpath docs/examples)
URL=http://127.0.0.1:9127
KEY=not-a-secret
LATE_S=${LATE_S:-5}
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# service, protocol, port
SERVICES='
q3-flood quake3 27960
q3-guess quake3 27961
q3-reflect quake3 27962
q3-game quake3 27963
q3-map quake3 27964
qw-flood quakeworld 27500
qw-slow quakeworld 27501
q2-flood quake2 27910
q2-reflect quake2 27911
nq-flood netquake 26000
nq-slow netquake 26002
qe-flood quake-enhanced 26001
'
# who is attacked, with what, how fast, from where, for how long; what it should be called
CROWD="--from $NET_FLOOD --sources 100000"
VICTIM="--victim $NET_VICTIM"
ONE='--from 10.128.7.7 --sources 1'
ATTACKS="
q3-flood getstatus 20000 $CROWD 4 flood likely
qw-flood qw-status 20000 $CROWD 4 flood likely
q2-flood q2-info 20000 $CROWD 4 flood likely
nq-flood ccreq-server-info 20000 $CROWD 4 flood likely
qe-flood dtls-hello 20000 $CROWD 4 flood likely
q3-game netchan 5000 $ONE 4 flood unlikely
q3-reflect getstatus 2000 $VICTIM 4 flood possible
q2-reflect q2-status 100 $VICTIM 8 flood -
q3-guess rcon 10 $ONE 9 password-guessing -
qw-slow qw-getchallenge 80 $ONE 9 flood -
nq-slow ccreq-connect 80 $ONE 9 flood -
"

incidents_config()
{
	local name protocol port

	while read -r name protocol port; do
		[ -z "$name" ] || printf 'service "%s" { protocol = %s port = %s }\n' \
			"$name" "$protocol" "$port"
	done <<<"$SERVICES"
	echo 'sample { one-in = 16 rate = 2000 }'
	echo "on-attack = $EXAMPLES/on-attack-webhook.sh"
}

servers_start()
{
	local name protocol port

	while read -r name protocol port; do
		[ -n "$name" ] || continue
		nsenter --net=/run/netns/server "$LAB/standin" "$protocol" "$port" \
			>>"$work/server.log" 2>&1 &
		[ "$name" != q3-map ] || mortal=$!
	done <<<"$SERVICES"
}

# What systemd would do: a unit for each event, with what follows the options.
systemd_start()
{
	mkdir -p /run/systemd/system "$work/bin"
	cat >"$work/bin/systemd-run" <<-'SCRIPT'
	#!/bin/bash
	echo "$*" >>"$SYSTEMD_RUN_LOG"
	while [ "$1" != -- ]; do shift; done
	shift
	exec "$@"
	SCRIPT
	chmod +x "$work/bin/systemd-run"
	printf 'WEBHOOK_URL=http://127.0.0.1:8099/\nWEBHOOK_KEY=%s\n' "$KEY" >"$work/webhook.env"
	nsenter --net=/run/netns/server python3 "$LAB_SOURCE/webhook.py" 8099 "$KEY" \
		"$work/webhooks" >"$work/webhook.log" 2>&1 &
	# shellcheck disable=SC2016 # for the other shell
	PATH=$work/bin:$PATH WEBHOOK_ENV=$work/webhook.env SYSTEMD_RUN_LOG=$work/runs \
		nsenter --net=/run/netns/server bash -c 'while sleep 0.2; do
			compgen -G "/run/quakeshield/on-attack/*.json" >/dev/null &&
				"$0" on-attack -c "$1"; done' "$SHIELD" "$work/shield.conf" \
		>"$work/on-attack.log" 2>&1 &
}

journal_start()
{
	python3 "$LAB_SOURCE/journal.py" /run/systemd/journal/socket "$work/journal" \
		2>"$work/journal.log" &
	net_until 5 test -S /run/systemd/journal/socket
}

# The time at which the first frame is on its way, as the kernel of the link counts it,
# is not known to a millisecond: that of the program's start is before it.
attack() # SERVICE PAYLOAD RATE SECONDS FROM...
{
	local service=$1 payload=$2 rate=$3 seconds=$4 port

	shift 4
	port=$(awk -v s="$service" '$1 == s { print $3 }' <<<"$SERVICES")
	echo "$EPOCHREALTIME" >"$work/began.$service"
	# shellcheck disable=SC2086
	NET_PORT=$port net_flood --payload "$payload" --rate "$rate" --seconds "$seconds" "$@" \
		>"$work/flood.$service" 2>&1
}

attacks_all()
{
	local service payload rate rest from seconds fields

	while read -r service payload rate rest; do
		[ -n "$service" ] || continue
		read -ra fields <<<"$rest"
		seconds=${fields[-3]}
		from=("${fields[@]:0:${#fields[@]}-3}")
		attack "$service" "$payload" "$rate" "$seconds" "${from[@]}" &
		attacking+=($!)
	done <<<"$ATTACKS"
}

# 600 ports, a datagram each.
scan()
{
	echo "$EPOCHREALTIME" >"$work/began."
	# shellcheck disable=SC2016 # for the other shell
	net_in client bash -c 'for p in {1000..1599}; do echo >"/dev/udp/$0/$p"; done' \
		"$NET_SERVER" 2>/dev/null
}

# Eight people, thrice: they play, everybody leaves, everybody is back at once.
map_changes()
{
	local round i port

	port=$(awk '$1 == "q3-map" { print $3 }' <<<"$SERVICES")
	for round in 1 2 3; do
		for i in 1 2 3 4 5 6 7 8; do
			net_in client "$LAB/client" --protocol quake3 --to "$NET_SERVER" \
				--port "$port" --seconds 3 --poll 1 --join --json \
				--from "10.79.$i.2" >"$work/map.$round.$i" 2>&1 &
			joining+=($!)
		done
		wait "${joining[@]}"
		joining=()
	done
}

all_over()
{
	[ "$(net_in server "$SHIELD" attacks --json |
		jq '[.attacks[] | select(.end)] | length')" = 12 ]
}

# --- the table ------------------------------------------------------------------------

# A server dies, and its players go on sending for a while to a port that is shut.
dies_alone()
{
	local before after i playing=()

	before=$(net_in server "$SHIELD" attacks --json | jq '.attacks | length')
	for i in 1 2 3 4 5 6 7 8; do
		net_in client "$LAB/client" --protocol quake3 --to "$NET_SERVER" --port 27964 \
			--seconds 5 --poll 1 --join --json --from "10.79.$i.2" \
			>"$work/orphan.$i" 2>&1 &
		playing+=($!)
	done
	sleep 2
	kill -KILL "$mortal"
	wait "$mortal" 2>/dev/null
	wait "${playing[@]}"
	# shellcheck disable=SC2016 # for awk
	closed=$(net_in server awk '/^Udp: [0-9]/ { print $3 }' /proc/net/snmp)
	sleep 1.5
	after=$(net_in server "$SHIELD" attacks --json | jq '.attacks | length')
	[ "$before" = "$after" ]
}

# Where systemd is not, nothing is run, and whoever asks is told so.
refuses_without_systemd()
{
	! net_in server "$SHIELD" on-attack -c "$work/shield.conf" 2>"$work/refused" &&
		grep -q 'is not run: this machine was not started by systemd' "$work/refused"
}

# From the journal: which event of which service.
said() # EVENT SERVICE FIELD
{
	jq -rn --arg e "$1" --arg s "$2" --arg f "$3" 'first(inputs | select(
		.QUAKESHIELD_EVENT == $e and .QUAKESHIELD_SERVICE == $s)) | .[$f]' "$work/journal"
}

row() # SERVICE WHAT FORGED
{
	local delay what forged

	what=$(said start "$1" QUAKESHIELD_TYPE)
	forged=$(said end "$1" QUAKESHIELD_SPOOFED)
	delay=$(awk -v a="$(cat "$work/began.$1")" -v b="$(said start "$1" received)" \
		'BEGIN { printf "%.2f", b ? b - a : -1 }')
	printf '# %-11s %-18s %-9s %8s s  %s\n' "${1:-(machine)}" "${what:-MISSED}" \
		"${forged:--}" "$delay" "$(said end "$1" MESSAGE | sed 's/.*: //' | cut -c1-70)"
	[ "$what" = "$2" ] || missed="$missed ${1:-machine}"
	# Where samples are shed, on a machine that has much else to do, nothing is claimed.
	case $forged in
	"$3")		told=$((told + 1)) ;;
	unknown | '')	;;
	*)		[ "$3" = - ] || mistaken="$mistaken $1:$forged"
	esac
	# A flood; of slow ones the time is what it takes to be sure. The table has the
	# figures; the bound is for machines on which the flood itself comes late.
	case $1 in *-flood | q3-game)
		awk -v d="$delay" -v late="$LATE_S" 'BEGIN { exit d >= 0 && d < late }' && late="$late $1"
	esac
}

table()
{
	local service payload rate rest fields

	missed='' mistaken='' late='' told=0
	echo "# service     reported           forged    after"
	while read -r service payload rate rest; do
		[ -n "$service" ] || continue
		read -ra fields <<<"$rest"
		row "$service" "${fields[-2]}" "${fields[-1]}"
	done <<<"$ATTACKS"
	row '' closed-ports -
	false_ones=$(jq -rn '[inputs | select(.QUAKESHIELD_EVENT == "start") |
		.QUAKESHIELD_SERVICE] | map(select(. == "q3-map")) | length' "$work/journal")
	echo "# reported $(jq -rn '[inputs | select(.QUAKESHIELD_EVENT == "start")] | length' \
		"$work/journal") of 12, missed:${missed:- none}, false: $false_ones, mistaken:${mistaken:- none}"
}

# --- what else there is ---------------------------------------------------------------

webhooks_signed()
{
	[ "$(jq -sr '[.[] | select(.good and .body.event == "start" and .action == "ban")] | length' \
		"$work/webhooks")" = 12 ] &&
		[ "$(jq -sr '[.[] | select(.good and .body.event == "end" and .action == "unban")] | length' \
		"$work/webhooks")" = 12 ] && ! jq -se 'any(.[]; .good | not)' "$work/webhooks"
}

# With the address that guesses, though it did so no more than 90 times.
webhooks_name_the_guesser()
{
	jq -se 'any(.[]; .body.service == "q3-guess" and .body.event == "end" and
		.body.sources.top[0].source == "10.128.7.7")' "$work/webhooks" >/dev/null
}

# ADDRESS incoming PACKETS/S ban, of a user that exists for as long.
runs_confined()
{
	grep -q 'DynamicUser=yes .*NoNewPrivileges=yes .*-- .*on-attack-webhook.sh 10.77.0.2 incoming [0-9]* ban$' \
		"$work/runs"
}

captures_open_with_the_past()
{
	local file

	file=$(net_in server "$SHIELD" attacks --json |
		jq -r '.attacks[] | select(.service == "q3-flood") | .capture')
	[ -s "$file" ] && [ "$(stat -c %a "$file")" = 600 ] &&
		[ "$(tcpdump -nr "$file" 2>/dev/null | grep -c '27960: UDP')" -gt 100 ]
}

shown_on_the_way()
{
	net_in server curl -sS --max-time 5 "$URL/metrics" >"$work/metrics" &&
		grep -q '^quakeshield_under_attack{service="q3-flood",protocol="quake3"} 1$' \
			"$work/metrics" &&
		net_in server curl -sS --max-time 5 "$URL/attacks.json" >"$work/now.json" &&
		jq -e '[.now[].service] | index("q3-flood")' "$work/now.json"
}

# Each key that comes is listed, and each that is listed comes.
attacks_as_schema()
{
	net_in server "$SHIELD" attacks --json | "$SCHEMA" attacks --all 'attacks[].untold,attacks[].also' >&2
}

now_as_schema()
{
	# A source is named after some seconds, and not in each attack.
	"$SCHEMA" attacks-now --all \
		'unsaved,now[].untold,now[].also,now[].sources.top,now[].top_prefixes,past' \
		<"$work/now.json" >&2
}

told_as_schema()
{
	jq -c .body "$work/webhooks" | "$SCHEMA" attack --all untold,also >&2
}

metrics_count()
{
	net_in server curl -sS --max-time 5 "$URL/metrics" |
		awk '/^quakeshield_attacks_total/ { n += $NF } /^quakeshield_under_attack/ { now += $NF }
			END { exit !(n == 11 && now == 0) }'
}

ids_are_unique()
{
	jq -rn 'inputs | select(.QUAKESHIELD_EVENT == "start") | .QUAKESHIELD_INCIDENT' \
		"$work/journal" | sort | uniq -c | awk '$1 != 1 { bad = 1 } END { exit bad || NR != 12 }'
}

# The last attack goes on, with more than so many packets.
lasting() # PACKETS
{
	net_in server "$SHIELD" attacks --json |
		jq -e --argjson n "$1" '.attacks[-1] | (.end | not) and .packets > $n'
}

# The daemon is killed in the middle of an attack, and the next one goes on with it.
survives()
{
	local id

	NET_EXEC="exec" attack q3-flood getstatus 5000 120 --from "$NET_FLOOD" --sources 1000 &
	attacking=($!)
	net_until 10 lasting 0 || return
	id=$(net_in server "$SHIELD" attacks --json | jq -r '.attacks[-1].id')
	shield_stop KILL
	shield_start >"$work/started" && sleep 2 && net_until 10 lasting 10000 &&
		[ "$(net_in server "$SHIELD" attacks --json | jq -r '.attacks[-1].id')" = "$id" ]
}

command -v python3 >/dev/null || net_skip incidents "no python3"
net_test_begin "$@"
incidents_config >"$work/shield.conf"
servers_start
journal_start
net_check "without systemd no command is run" refuses_without_systemd
systemd_start
shield_start >"$work/started" || exit 1
sleep 2.2
attacking=() joining=()
map_changes &
changing=$!
attacks_all
sleep 1
scan
net_check "under attack: metrics and /attacks.json say so" net_until 3 shown_on_the_way
wait "${attacking[@]}" "$changing"
net_check "twelve incidents end" net_until 20 all_over
sleep 1
table
net_check "nothing is missed, and named rightly" test -z "$missed"
net_check "nobody is said to be forged, or not, wrongly" test -z "$mistaken"
net_check "where samples tell, it is said" test "$told" -ge 3
net_check "a change of map is none" test "$false_ones" = 0
net_check "floods are told of within $LATE_S s of their generator's start" test -z "$late"
net_check "each has an id of its own" ids_are_unique
net_check "webhooks come, and are signed" net_until 5 webhooks_signed
net_check "and name an address that guesses" net_until 5 webhooks_name_the_guesser
net_check "commands run confined, with four arguments" runs_confined
net_check "a capture opens with what came before" captures_open_with_the_past
net_check "attacks --json: its schema" attacks_as_schema
net_check "/attacks.json: its schema" now_as_schema
net_check "what the command is told: its schema" told_as_schema
net_check "metrics count them" metrics_count
net_check "a server that dies is no scan of ports" dies_alone
echo "# datagrams to ports that were shut until then: $closed"
net_check "a killed daemon's successor goes on with the attack" survives
kill "${attacking[@]}"
exit "$net_failed"
