#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# lab.sh - a server under flood, with the shield off and on, and a table at the end.
#
#   BUILD=build SERVER=standin|openarena PROTOCOL=quake3 SECONDS_EACH=8 LIMITS= lab.sh
#
# Four runs: {shield off, shield on} x {one spoofed victim, 4 million sources}. In each
# the same few people ask for the server's status and one joins. What leaves the server
# is counted by nftables on the other end of its link.
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

# keep RUN: turn one run's raw numbers into the rows of the table.
keep()
{
	local run=$1 packets=$2 bytes=$3 cpu=$4 flood client in_payload in_wire frame

	flood=$(cat "$work/flood.json") client=$(cat "$work/client.json")
	frame=$(jq .frame <<<"$flood")
	result[$run,in]=$(jq .delivered <<<"$flood")
	result[$run,in_rate]=$(jq '.delivered / .seconds | floor' <<<"$flood")
	in_payload=$(jq '.delivered * .payload' <<<"$flood")
	in_wire=$(wire_bytes "${result[$run,in]}" "$frame")
	result[$run,in_bytes]=$in_wire
	result[$run,out]=$packets
	result[$run,out_bytes]=$(wire_bytes "$packets" $((packets ? bytes / packets + 14 : 0)))
	result[$run,payload]=$(ratio $((bytes - 28 * packets)) "$in_payload")
	result[$run,wire]=$(ratio "${result[$run,out_bytes]}" "$in_wire")
	result[$run,answered]=$(jq -r '"\(.percent) % of \(.queries)"' <<<"$client")
	result[$run,join]=$(jq -r '"\(.join) (\(.join_seconds) s)"' <<<"$client")
	result[$run,lost]=$(jq -r '"\(.lost) of \(.lost + .snapshots)"' <<<"$client")
	result[$run,cpu]="$cpu s"
}

# run_flood RUN COUNTER FLOODGEN-ARGUMENTS
run_flood()
{
	local run=$1 counter=$2 packets bytes cpu flood client

	shift 2
	printf '\n-- %s: %s\n' "$run" "$*"
	packets=$(net_count "$counter" packets) bytes=$(net_count "$counter" bytes)
	cpu=$(server_cpu)
	client_start "$EACH" >"$work/client.json" &
	client=$!
	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds "$EACH" $PIN_FLOOD "$@" >"$work/flood.json" &
	flood=$!
	watch_run "$counter"
	wait "$flood" "$client"
	sleep 0.3
	packets=$(($(net_count "$counter" packets) - packets))
	bytes=$(($(net_count "$counter" bytes) - bytes))
	keep "$run" "$packets" "$bytes" "$(ratio $(($(server_cpu) - cpu)) "$(getconf CLK_TCK)")"
}

run_both()
{
	run_flood "$1-victim" victim --victim "$NET_VICTIM"
	run_flood "$1-crowd" crowd --from "$NET_FLOOD" --sources "$NET_SOURCES"
}

row()
{
	local label=$1 key=$2

	printf '%-34s %17s %17s %17s %17s\n' "$label" "${result[off-victim,$key]}" \
		"${result[off-crowd,$key]}" "${result[on-victim,$key]}" \
		"${result[on-crowd,$key]}"
}

table()
{
	printf '\n%s, %s flood, %s s each\n\n' "$SERVER" "$PAYLOAD" "$EACH"
	printf '%-34s %35s %35s\n' '' 'shield off      ' 'shield on      '
	printf '%-34s %17s %17s %17s %17s\n' '' 'one victim' '4M sources' 'one victim' '4M sources'
	row 'flood, packets in' in
	row 'flood, packets a second' in_rate
	row 'flood, bytes in on the wire' in_bytes
	row 'replies to the spoofed, packets' out
	row 'replies to the spoofed, wire bytes' out_bytes
	row 'amplification, payload' payload
	row 'amplification, wire' wire
	row 'legitimate queries answered' answered
	row 'join' join
	row 'snapshots lost' lost
	row 'server CPU' cpu
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
shield_pid=
server_defaults
net_up
server_start || exit 1
run_both off
# shellcheck disable=SC2119
shield_start || exit 1
run_both on
table
