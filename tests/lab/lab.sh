#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# lab.sh - a server under flood, without the shield and with it, and a table at the end.
#
#   BUILD=build SERVER=standin|openarena PROTOCOL=quake3 SECONDS_EACH=8 LIMITS= lab.sh
#
# RESULT=FILE: the table as lines "run,row value" besides.
#
# Four runs: {without, with} x {one spoofed victim, 4 million sources}. In each somebody
# plays already, somebody joins, and a few people ask for the server's status once a
# second. What leaves the server is counted by nftables on the other end of its link.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab
SHIELD=$BUILD/quakeshield
SERVER=${SERVER:-standin}
PROTOCOL=${PROTOCOL:-quake3}
EACH=${SECONDS_EACH:-8}
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

net_enter "$@"
declare -A result

wire_bytes() # PACKETS FRAME-BYTES: with padding, checksum, preamble and gap
{
	awk -v n="$1" -v size="$2" 'BEGIN { printf "%.0f\n", n * ((size < 60 ? 60 : size) + 24) }'
}

ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.4f\n", a / b; else print "-" }'
}

# One line a second: what the server's link sees, what goes out, what the shield says.
view_line()
{
	local second=$1 name=$2 arrived out shield='shield off'

	arrived=$(net_arrived)
	out=$(net_count "$name" packets)
	[ -z "$shield_pid" ] || shield=$("$SHIELD" stats --json 2>/dev/null | jq -r '
		[.services[].counters[] | select(.direction == "in")] as $in |
		def sum(v): [$in[] | select(.verdict == v) | .packets] | add // 0;
		($in | map(select(.verdict == "drop")) | max_by(.packets)) as $top |
		"pass \(sum("pass")) drop \(sum("drop")) " +
		"most \($top.kind // "-") (\($top.reason // "-")) players \(.services[0].players)"')
	printf '%3ds  in %9d/s  out %7d/s  %s\n' "$second" $((arrived - seen_arrived)) \
		$((out - seen_out)) "$shield"
	seen_arrived=$arrived seen_out=$out
}

watch_run()
{
	local counter=$1 second

	seen_arrived=$(net_arrived) seen_out=$(net_count "$counter" packets)
	for ((second = 1; second < EACH; second++)); do
		sleep 1
		view_line "$second" "$counter"
	done
}

# keep RUN PACKETS BYTES TICKS: turn one run's raw numbers into the rows of the table.
keep()
{
	local run=$1 packets=$2 bytes=$3 flood frame who

	flood=$(cat "$work/flood.json")
	frame=$(jq .frame <<<"$flood")
	result[$run,in_rate]=$(jq '.delivered / .seconds | floor' <<<"$flood")
	result[$run,out]=$packets
	result[$run,wire]=$(ratio \
		"$(wire_bytes "$packets" $((packets ? bytes / packets + 14 : 0)))" \
		"$(wire_bytes "$(jq .delivered <<<"$flood")" "$frame")")
	for who in tracker echoes silent; do
		result[$run,$who]=$(jq -r '"\(.answered) of \(.queries)"' "$work/$who.json")
	done
	result[$run,join]=$(jq -r 'if .join == "ok" then "in after \(.join_seconds) s"
		else .join end' "$work/joins.json")
	result[$run,lost]=$(jq -r '"\(.lost) of \(.lost + .snapshots)"' "$work/plays.json")
	result[$run,cpu]="$((100 * $4 / (EACH * $(getconf CLK_TCK)))) %"
}

# person NAME SECONDS CLIENT-ARGUMENTS: in the background; what became of it is in NAME.json.
person()
{
	local name=$1 seconds=$2

	shift 2
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN "$LAB/client" --protocol "$PROTOCOL" \
		--to "$NET_SERVER" --port "$NET_PORT" --seconds "$seconds" --json "$@" \
		>"$work/$name.json" 2>"$work/$name.log" &
	people="$people $!"
}

# Of four people who look at the server, two each: who answers `echo` and who does not;
# never the same in two runs, so that all of them are new. The trackers are.
people_start()
{
	local at=$((10 + 5 * runs))

	runs=$((runs + 1)) people=''
	person plays $((EACH + 1)) --join --tell
	net_until 3 grep -q plays "$work/plays.log"
	person joins "$EACH" --join --from "10.79.$at.2"
	person tracker "$EACH" --mute --poll 2 --from 10.79.1.2 --from 10.79.2.2
	person echoes "$EACH" --poll 2 --from "10.79.$((at + 1)).2" --from "10.79.$((at + 2)).2"
	person silent "$EACH" --mute --poll 2 --from "10.79.$((at + 3)).2" \
		--from "10.79.$((at + 4)).2"
}

# run_flood RUN COUNTER WORDS FLOODGEN-ARGUMENTS
run_flood()
{
	local run=$1 counter=$2 packets bytes cpu flood people

	printf '\n-- %s\n' "$3"
	shift 3
	packets=$(net_count "$counter" packets) bytes=$(net_count "$counter" bytes)
	people_start
	cpu=$(server_cpu)
	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds "$EACH" $PIN_FLOOD "$@" >"$work/flood.json" &
	flood=$!
	watch_run "$counter"
	wait "$flood"
	cpu=$(($(server_cpu) - cpu))
	# shellcheck disable=SC2086
	wait $people
	packets=$(($(net_count "$counter" packets) - packets))
	bytes=$(($(net_count "$counter" bytes) - bytes))
	keep "$run" "$packets" "$bytes" "$cpu"
}

run_both() # off|on WORDS
{
	run_flood "$1-victim" victim "$2, all in the name of one victim" --victim "$NET_VICTIM"
	run_flood "$1-crowd" crowd "$2, from 4 million addresses" \
		--from "$NET_FLOOD" --sources "$NET_SOURCES"
}

row()
{
	printf '%-42s %18s %18s %18s %18s\n' "$1" "${result[off-victim,$2]}" \
		"${result[off-crowd,$2]}" "${result[on-victim,$2]}" "${result[on-crowd,$2]}"
}

table()
{
	printf '\nThe server: %s. The flood: %s, as fast as this machine can, %s s each.\n\n' \
		"$SERVER" "$PAYLOAD" "$EACH"
	printf '%-42s %37s %37s\n' '' '--------- without the shield ---------' \
		'---------- with the shield ----------'
	printf '%-42s %18s %18s %18s %18s\n' '' 'one victim' '4M sources' 'one victim' \
		'4M sources'
	row 'tracker that asked on quiet days, answered' tracker
	[ "$PROTOCOL" != quake3 ] || row 'newcomer whose browser echoes, answered' echoes
	row 'newcomer who asks each second, answered' silent
	row 'newcomer who joins' join
	row 'snapshots that a player lost' lost
	row 'packets of the flood, each second' in_rate
	row 'replies to the spoofed' out
	row 'bytes to them for one of the flood' wire
	row "server's processor time" cpu
	cat <<-'WORDS'

	Under "one victim" all of the flood bears the address of somebody who is to drown in the
	replies, under "4M sources" each packet another, which no list of addresses stops.
	Without the shield the server answers whoever asks, the flood most of all: the stand-in
	refuses nobody as long as it keeps up, engines soon do (LIMITS=1, SERVER=openarena).
	With the shield the kernel says in the server's words what is asked, first to those who
	asked on quiet days, then to who shows that it is there by `echo` or by asking again, as
	far as the rate for strangers goes: this lab writes `cache` and `validation`, which are off by
	default over veths, as its links are, and on elsewhere.
	WORDS
}

# Trackers and newcomers, each in a network of its own.
lab_up()
{
	local i

	net_up
	for ((i = 10; i < 30; i++)); do
		net_in client ip address add "10.79.$i.2/32" dev lo
		ip route add "10.79.$i.0/24" via "$NET_CLIENT"
	done
}

# Two trackers have asked on quiet days, and are one router away.
trackers_known()
{
	mkdir -p "$STATE_DIRECTORY"
	for i in 1 2; do
		echo "10.79.$i.2 63 $(date +%s)"
	done >"$STATE_DIRECTORY/known-clients.txt"
}

shield_config()
{
	local proof=under-load

	[ "$PROTOCOL" != quake-enhanced ] || proof=off
	cat <<-CONFIG
	service "lab" {
	    protocol = $PROTOCOL
	    port     = $NET_PORT
	    cache = under-load
	    validation = $proof
	}
	CONFIG
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
shield_pid='' runs=0 people=''
server_defaults
lab_up
server_start >/dev/null || exit 1
run_both off 'without the shield'
trackers_known
# Not before: without a shield it would cost the people a fifth of their replies.
net_room
# shellcheck disable=SC2119
shield_start >/dev/null || exit 1
run_both on 'with the shield'
table
[ -z "${RESULT-}" ] || for cell in "${!result[@]}"; do
	echo "$cell ${result[$cell]}"
done >"$RESULT"
