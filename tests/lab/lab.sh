#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# lab.sh - a server under flood, without the shield and with it, and a table at the end.
#
#   BUILD=build SERVER=openarena|mvdsv|standin PROTOCOL=quake3 SECONDS_EACH=6 LIMITS=1 lab.sh
#
# Without SERVER it starts the real server of the protocol that is installed, else the
# stand-in. LIMITS= takes the engine's own limits from the stand-in.
# RESULT=FILE: the table as lines "run,row value" besides.
#
# Six runs: {without, with} x {one spoofed victim, no source twice, 4 million sources}. In
# each a player and two trackers are there before the flood. One second after the flood has
# begun, a client joins, and four new clients query the server once per second. nftables counts
# what leaves the server, on the other end of its link.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab
SHIELD=$BUILD/quakeshield
EACH=${SECONDS_EACH:-6} # seconds that the new clients have
FLOODED=$((EACH + 1))   # seconds of each flood
JOIN_S=12               # seconds that the player has to join before it
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh
# shellcheck source=tests/lab/worse.sh
. tests/lab/worse.sh

case ${SERVER-} in
'' | standin)	PROTOCOL=${PROTOCOL:-quake3} ;;
openarena)	PROTOCOL=quake3 ;;
mvdsv)		PROTOCOL=quakeworld ;;
*)		net_die "no such server: '$SERVER'" ;;
esac

# Print the real server of the protocol that is installed, else the stand-in.
server_installed()
{
	case $PROTOCOL in
	quake3)     [ ! -x "$OPENARENA" ] || { echo openarena; return; } ;;
	quakeworld) mvdsv_lacks >/dev/null || { echo mvdsv; return; } ;;
	esac
	echo standin
}
SERVER=${SERVER:-$(server_installed)}
# ioquake3's limits. The stand-ins for the other protocols have none, as the engines of id,
# Yamagi, mvdsv and QuakeSpasm.
[ "$PROTOCOL" != quake3 ] || LIMITS=${LIMITS-1}

QUERYING='echoes silent' # new clients
if [ "$PROTOCOL" != quake3 ]; then
	QUERYING=silent
	ROW_WORDS[silent]='queries of new clients, answered'
fi
[ "$PROTOCOL" != quake-enhanced ] || JOIN_S=0 # neither client nor stand-in has more than a ClientHello

net_enter "$@"
declare -A result

wire_bytes() # PACKETS IP-BYTES: with padding, checksum, preamble and gap
{
	awk -v n="$1" -v bytes="$2" 'BEGIN {
		size = n ? bytes / n + 14 : 0
		printf "%.0f\n", n * ((size < 60 ? 60 : size) + 24) }'
}

# One line a second: what the server's link sees, what goes out, what the shield says.
view_line()
{
	local second=$1 name=$2 arrived out now shield='shield off'

	arrived=$(net_arrived)
	out=$(($(net_count "$name" packets) + $(net_count asked packets)))
	[ -z "$shield_pid" ] || shield=$("$SHIELD" stats --json 2>/dev/null | jq -r '
		[.services[].counters[] | select(.direction == "in")] as $in |
		def sum(v): [$in[] | select(.verdict == v) | .packets] | add // 0;
		($in | map(select(.verdict == "drop")) | max_by(.packets)) as $top |
		"pass \(sum("pass")) respond \(sum("respond")) drop \(sum("drop")) " +
		"most \($top.kind // "-") (\($top.reason // "-")) players \(.services[0].players)"')
	now=${EPOCHREALTIME/[^0-9]/}
	printf '%3ds  in %9d/s  out %7d/s  %s\n' "$second" \
		$((1000000 * (arrived - seen_arrived) / (now - seen_us))) \
		$((1000000 * (out - seen_out) / (now - seen_us))) "$shield"
	seen_arrived=$arrived seen_out=$out seen_us=$now
}

# The new clients come with the second second.
watch_run()
{
	local counter=$1 second

	seen_us=${EPOCHREALTIME/[^0-9]/} seen_arrived=$(net_arrived)
	seen_out=$(($(net_count "$counter" packets) + $(net_count asked packets)))
	for ((second = 1; second < FLOODED; second++)); do
		sleep 1
		[ "$second" -gt 1 ] || newcomers_start
		kill -0 "$flood" 2>/dev/null || return
		view_line "$second" "$counter"
	done
}

# Packets and bytes, of responses and of challenges, that went to spoofed addresses.
sent_so_far() # COUNTER
{
	echo "$(net_count "$1" packets) $(net_count "$1" bytes)" \
		"$(net_count asked packets) $(net_count asked bytes)"
}

# keep RUN TICKS PACKETS BYTES CHALLENGES BYTES: one run's raw numbers, as rows of the table.
keep()
{
	local run=$1 flood name

	flood=$(cat "$work/flood.json")
	result[$run,in_rate]=$(jq '.delivered / .seconds | floor' <<<"$flood")
	result[$run,out]=$3
	result[$run,challenges]=$5
	result[$run,wire]=$(awk -v took="$(wire_bytes "$(jq .delivered <<<"$flood")" \
		"$(jq '.delivered * (.frame - 14)' <<<"$flood")")" \
		-v gave=$(($(wire_bytes "$3" "$4") + $(wire_bytes "$5" "$6"))) \
		'BEGIN { if (took > 0) printf "%.2f\n", gave / took; else print "-" }')
	for name in tracker $QUERYING; do
		result[$run,$name]=$(jq -r '"\(.answered) of \(.queries)"' "$work/$name.json")
	done
	result[$run,cpu]="$((100 * $2 / (FLOODED * $(getconf CLK_TCK)))) %"
	[ "$JOIN_S" -gt 0 ] || return
	result[$run,join]=$(jq -r 'if .join == "ok" then .join_seconds else .join end' \
		"$work/joins.json" | awk '/^[0-9]/ { printf "%.1f\n", $1; next } 1')
	result[$run,lost]=$(jq -r 'if .join == "ok" then "\(.lost) of \(.lost + .snapshots)"
		else "no game" end' "$work/plays.json")
}

# The counters of the shield that explain a cell, one JSON object; see worse.sh.
facts()
{
	"$SHIELD" stats --json 2>/dev/null | jq -c '
		[.services[].counters[]] as $all |
		def sum(f): [$all[] | select(f) | .packets] | add // 0;
		[$all[] | select(.direction == "in" and .verdict == "drop" and
			(.kind | IN("getchallenge", "connect", "ccreq-connect")))] as $joins |
		{ recurring: sum(.direction == "in" and .reason == "cached-recurring"),
		  game_refused: sum((.kind | . == "netchan" or startswith("nq-")) and .verdict != "pass"),
		  joins: ($joins | map({ key: .reason, value: .packets }) | group_by(.key) |
			map({ key: .[0].key, value: (map(.value) | add) }) | from_entries) }'
}

# keep_facts RUN BEFORE AFTER: what one run with the shield has added to them.
keep_facts()
{
	local run=$1 name value

	while read -r name value; do
		result[$run,$name]=$value
	done < <(jq -nr --argjson a "$2" --argjson b "$3" --argjson seconds "$FLOODED" '
		($b.joins | with_entries(.value -= ($a.joins[.key] // 0))) as $joins |
		"seconds \($seconds)", "recurring \($b.recurring - $a.recurring)",
		"game_refused \($b.game_refused - $a.game_refused)",
		"join_refused \([$joins[]] | add // 0)",
		"join_reason \($joins | to_entries | max_by(.value).key // "-")"')
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

# The player and the trackers are there before the flood. All but the trackers have addresses
# that no run before had: shield and server know none of them.
residents_start()
{
	runs=$((runs + 1)) people=''
	person plays $((FLOODED + JOIN_S + 1)) --join --tell --from "$(address 0)"
	player=$people
	net_until "$JOIN_S" grep -q plays "$work/plays.log"
	person tracker "$FLOODED" --mute --poll 2 --from 10.79.1.2 --from 10.79.2.2
}

address() # N: of this run's six
{
	echo "10.79.$((4 + 6 * runs + $1)).2"
}

# One joins, two return the shield's `echo`, for Quake III alone, two do not.
newcomers_start()
{
	person joins "$EACH" --join --from "$(address 1)"
	[ "$PROTOCOL" != quake3 ] ||
		person echoes "$EACH" --poll 2 --from "$(address 2)" --from "$(address 3)"
	person silent "$EACH" --mute --poll 2 --from "$(address 4)" --from "$(address 5)"
}

# run_flood RUN COUNTER WORDS FLOODGEN-ARGUMENTS
run_flood()
{
	local run=$1 counter=$2 before after cpu flood people player facts=''

	printf '\n-- %s\n' "$3"
	shift 3
	residents_start
	[ -z "$shield_pid" ] || facts=$(facts)
	read -ra before <<<"$(sent_so_far "$counter")"
	cpu=$(server_cpu)
	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds "$FLOODED" $PIN_FLOOD "$@" >"$work/flood.json" &
	flood=$!
	watch_run "$counter"
	wait "$flood"
	cpu=$(($(server_cpu) - cpu))
	# shellcheck disable=SC2086
	kill -TERM $player
	# shellcheck disable=SC2086
	wait $people
	read -ra after <<<"$(sent_so_far "$counter")"
	keep "$run" "$cpu" $((after[0] - before[0])) $((after[1] - before[1])) \
		$((after[2] - before[2])) $((after[3] - before[3]))
	[ -z "$facts" ] || keep_facts "$run" "$facts" "$(facts)"
}

# The flood without a source twice has as many packets as sources, over the whole time. It goes
# before that of 4 million, which has half of its sources.
run_each() # off|on WORDS
{
	run_flood "$1-victim" victim "$2, in the name of one victim" --victim "$NET_VICTIM"
	run_flood "$1-fresh" crowd "$2, no source twice" --from "$NET_FLOOD" \
		--sources "$NET_FRESH" --packets "$NET_FRESH" --rate $((NET_FRESH / FLOODED))
	run_flood "$1-crowd" crowd "$2, from 4 million sources" \
		--from "$NET_FLOOD" --sources "$NET_SOURCES"
}

row() # ROW
{
	local flood

	printf '%-43s' "${ROW_WORDS[$1]}"
	for flood in $FLOODS; do
		printf ' %9s %10s' "${result[off-$flood,$1]}" "${result[on-$flood,$1]}"
	done
	echo
}

server_words()
{
	case $SERVER${LIMITS-} in
	standin) echo "a stand-in for $PROTOCOL, not a real server, without limits of its own" ;;
	standin*) echo "a stand-in for $PROTOCOL, not a real server, with ioquake3's own limits" ;;
	*)	echo "$SERVER, a real server" ;;
	esac
}

table()
{
	local flood name

	printf '\nThe server: %s.\nThe flood: %s, %s seconds each, as fast as this machine can.\n\n' \
		"$(server_words)" "$PAYLOAD" "$FLOODED"
	printf '%-43s' 'flood from'
	for flood in $FLOODS; do
		printf '  %-19s' "${FLOOD_WORDS[$flood]}"
	done
	printf '\n%-43s' 'shield'
	for flood in $FLOODS; do
		printf ' %9s %10s' without with
	done
	echo
	for name in in_rate $WORSE_ROWS; do
		[ -z "${result[off-victim,$name]-}" ] || row "$name"
	done
}

# paragraph SENTENCE...
paragraph()
{
	printf '\n%s\n' "$*" | fold -s -w 100
}

words()
{
	local worse echoed='' sets=''

	paragraph '"one victim": all packets bear the address of the victim, which gets the replies.' \
		'"no source twice": each packet has an address that no other packet has; the flood has at' \
		"most $((NET_FRESH / FLOODED)) packets per second." \
		'"4 million sources": each address comes again after 4 million packets.'
	[ "$PROTOCOL" != quake3 ] || echoed="Two return the shield's challenge (\`echo\`), as browsers \
of Urban Terror and OpenJK do. Two only repeat their query, as ioquake3's does."
	[ "$PROTOCOL" = quake-enhanced ] || sets="This lab sets \`cache\` and \`validation\`: over a veth, \
as the lab's links are, they are off by default."
	paragraph 'The known trackers have queried the server on quiet days. The new clients come one' \
		"second after the flood has begun." ${echoed:+"$echoed"} ${sets:+"$sets"}
	worse=$(worse_words)
	[ -n "$worse" ] || return 0
	printf '\nWorse with the shield than without:\n'
	fold -s -w 98 <<<"$worse" | sed '/^- /!s/^/  /'
}

# Trackers and new clients, each in a network of its own.
lab_up()
{
	local i

	net_up
	for ((i = 10; i < 46; i++)); do
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
run_each off 'without the shield'
trackers_known
# Not before: without a shield it would cost the people a fifth of their replies.
net_room
# shellcheck disable=SC2119
shield_start >/dev/null || exit 1
sleep 3 # the daemon has fetched the responses
run_each on 'with the shield'
table
words
[ -z "${RESULT-}" ] || for cell in "${!result[@]}"; do
	echo "$cell ${result[$cell]}"
done >"$RESULT"
