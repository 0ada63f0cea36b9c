#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_proof.sh [GAME [TRIES [FLOOD [SHIELD]]]] - clients join while requests to join are
# forged: once, from 65536 sources. GAME: openarena, ezquake or nexuiz, real clients,
# unmodified, and real servers; or quake2, r1q2 or q2pro, scripted clients that connect as
# id's, R1Q2's and Q2PRO's do, with the stand-in for a server. Q2PRO's keeps the first
# challenge that it gets. browser-old and browser-new look before they join: scripted, too,
# with a stand-in that has ioquake3's limits. They ask getinfo until that is answered, then
# getstatus, for 20 seconds together, and join from the same port. The old one answers
# `echo` to anybody, as Urban Terror's, OpenJK's and ioquake3's before 2017, the new one only
# to the server that it is joining. browser-quake2 sends `info 34` and `status` and returns
# each `echo`, as id's and Yamagi's Quake II do. Half of their flood are requests to
# join, half getstatus, or `info 34`.
#
# With TRIES so many joins, one after another, each in a flood of its own. FLOOD: none, 16, 22 or 24 (as many bits of sources in 10.0.0.0/8), v6 (2^22
# networks of fd00::/8) or own (the client's own address, other ports). SHIELD: proof, plain
# (validation = off) or bare (none). Only with `proof` anything is demanded: the others are what
# it is measured by.
#
# Who has joined OpenArena by the one try plays on for PLAYS seconds (8), while datagrams with
# its own address and port are forged as well: of what the game says to it, from the first
# datagram on, no more than one in fifty may be missing (on a quiet machine none is).
#
# How long a join takes is counted at the client's link: from the first request to join that
# it sends to the first datagram of a game that it gets. Each scripted client has a network of
# its own, so that nobody has heard of it. Faster than the shield answers (1000000/s
# and processor) clients repeat their requests until they are challenged.
#
# lane: beside, 30 s: its client has seven seconds to join.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield
GAME=${1:-openarena} TRIES=${2:-1} FLOOD=${3:-16} WITH=${4:-proof}
case $GAME in
openarena) SERVER=openarena PROTOCOL=quake3 ;;
ezquake)   SERVER=mvdsv PROTOCOL=quakeworld ;;
nexuiz)	   SERVER=nexuiz PROTOCOL=netquake ;;
quake2 | r1q2 | q2pro) SERVER=standin PROTOCOL=quake2 ;;
browser-old | browser-new) SERVER=standin PROTOCOL=quake3 LIMITS=1 ;;
browser-quake2) SERVER=standin PROTOCOL=quake2 ;;
*)	   echo "net_proof.sh: no such game: '$GAME'" >&2; exit 2 ;;
esac
case $FLOOD in
none | 16 | 22 | 24 | v6 | own) ;;
*) echo "net_proof.sh: no such flood: '$FLOOD'" >&2; exit 2 ;;
esac
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

# shellcheck disable=SC2034 # for player.sh
SEQUENCE=little
PLAYS=${PLAYS:-$([ "$GAME $TRIES $WITH" = 'openarena 1 proof' ] && echo 8 || echo 0)}
EACH=${JOIN_S:-25} # seconds that a client may take to start and join
LOOK=20            # and that a browser may take before

scripted()
{
	[ "$SERVER" = standin ]
}

browses()
{
	[[ $GAME = browser-* ]]
}
! browses || EACH=$((EACH + LOOK))

skip()
{
	echo "skip net_proof $GAME: $*"
	exit 0
}

needs()
{
	local tool tools='tcpdump tshark'

	scripted || tools+=' Xvfb'
	for tool in $tools; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
	case $GAME in
	openarena)
		[ -x "$OPENARENA_CLIENT" ] || skip "no openarena client"
		[ -x "$OPENARENA" ] || skip "no openarena-server" ;;
	ezquake)
		tool=$(mvdsv_lacks) && skip "$tool"
		[ -x "$EZQUAKE" ] || skip "no ezquake" ;;
	nexuiz)
		[ -x "$NEXUIZ_CLIENT" ] || skip "no nexuiz client"
		[ -x "$NEXUIZ" ] || skip "no nexuiz-server" ;;
	esac
}

# The datagrams of this family that a server takes for a request to join, and what a
# browser's flood is besides.
payloads_of()
{
	case $GAME in
	ezquake) echo qw-getchallenge ;;
	quake2 | r1q2 | q2pro) echo q2-getchallenge ;;
	browser-quake2) echo q2-getchallenge q2-info ;;
	browser-*) echo getchallenge getstatus ;;
	*)	 echo getchallenge ;;
	esac
}

# Seconds from the client's first request to join to the first datagram of the game, how many
# words went each way before, and the client's port; nothing: it did not get in.
join_time()
{
	local first=ffffffff

	! browses || first=ffffffff6765746368 # getch
	tshark -n -r "$work/join.pcap" -T fields -e frame.time_epoch -e ip.src \
		-e udp.dstport -e udp.srcport -e udp.payload 2>/dev/null |
		awk -v server="$NET_SERVER" -v first=$first '
		{ words = substr($5, 1, 8) == "ffffffff" }
		$2 != server && words && (asked || index($5, first) == 1) {
			if (!asked++) { start = $1; port = $4 }
		}
		$2 != server || $3 != port { next } # to one who was here before
		words && asked { told++ }
		!words && asked && length($5) > 40 {
			printf "%.2f %d %d %d\n", $1 - start, asked, told, port
			exit
		}'
}

joined()
{
	join_time >"$work/joined"
	[ -s "$work/joined" ]
}

shield_config()
{
	cat <<-CONFIG
	service "lab" {
	    protocol = $PROTOCOL
	    port     = $NET_PORT
	    validation = $([ "$WITH" = proof ] && echo under-load || echo off)
	    cache = $([ "$WITH" = proof ] && browses && echo under-load || echo off)
	}
	CONFIG
}

client_start_game()
{
	case $GAME in
	openarena) player_openarena ;;
	ezquake)   player_ezquake ;;
	nexuiz)	   player_nexuiz ;;
	*)	   player_scripted ;;
	esac
}

player_scripted()
{
	local more='' dialect=$GAME

	! browses || more="--look $LOOK" dialect=$PROTOCOL
	[ "$GAME" != browser-new ] || more+=' --mute'
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN "$LAB/client" --protocol "$dialect" \
		--to "$NET_SERVER" --port "$NET_PORT" --seconds "$((EACH + 5))" --join --json \
		--tell --from "$own" $more >"$work/client.json" 2>"$work/told" &
	client_pid=$!
}

# own_network NUMBER: the address of the one who tries, in $own.
own_network()
{
	own=$NET_CLIENT
	scripted || return 0
	own=10.79.$((20 + $1 % 200)).2
	net_in client ip address replace "$own/32" dev lo
	ip route replace "${own%.2}.0/24" via "$NET_CLIENT"
}

# Of a flood in the client's name the answers to other ports are not what is looked for.
ears_filter()
{
	printf 'udp and port %s' "$NET_PORT"
	[ "$FLOOD" != own ] ||
		printf ' and (src host %s or dst portrange 27000-27999 or dst portrange 32768-65535)' "$own"
}

# until_in SECONDS: looking takes longer than net_until reckons with, on a busy machine most.
# A script says itself when it plays; the capture says when that was.
until_in()
{
	local until=$((SECONDS + $1))

	while [ $SECONDS -lt $until ]; do
		if ! scripted || grep -qs 'plays on port' "$work/told"; then
			joined && return
		fi
		sleep 0.1
	done
}

# What the game says to who has joined: how much came, and is missing, in $work/play.
plays_on()
{
	local flood port

	read -r _ _ _ port <"$work/joined"
	[ -n "${port-}" ] || return
	# shellcheck disable=SC2086
	net_flood_start "$work/own.json" $PIN_FLOOD --payload netchan --rate 100000 \
		--seconds $((PLAYS + 1)) --victim "$NET_CLIENT" --source-port "$port"
	sleep "$PLAYS"
	play_end=$EPOCHREALTIME
	kept_in_game && tshark -n -r "$work/join.pcap" -F pcap -w "$work/play.pcap" \
		-Y "ip.src == $NET_SERVER && udp.dstport == $port" 2>/dev/null &&
		sequences "$work/play.pcap" >"$work/play"
	kill "$flood" 2>/dev/null
	wait "$flood"
}

# To the end: the last came within a second of it.
lasts()
{
	tshark -n -r "$work/play.pcap" -T fields -e frame.time_epoch 2>/dev/null |
		awk -v end="$play_end" '{ last = $1 } END { exit end - last > 1 }'
}

# Loading the map takes a part of the time.
nothing_missing()
{
	local count lost

	read -r count lost _ <"$work/play"
	echo "# $count of the game's messages came, $lost are missing;" \
		"forged with its port: $(jq .pps "$work/own.json")/s" >&2
	[ "$count" -ge $((PLAYS * 6)) ] && [ "$lost" -le $((count / 50)) ] && lasts
}

# try_join: one client starts, joins and is gone again.
try_join()
{
	local ears

	rm -rf "$work/client" "$work/join.pcap" "$work/ears.log" "$work/told" "$work/play"
	mkdir -p "$work/client"
	chown nobody "$work/client"
	nsenter --net=/run/netns/client tcpdump --immediate-mode -U -n -i cli0 -B 8192 \
		-w "$work/join.pcap" "$(ears_filter)" 2>"$work/ears.log" &
	ears=$!
	net_until 5 grep -q 'listening on' "$work/ears.log"
	client_start_game
	until_in "$EACH"
	[ "$PLAYS" = 0 ] || plays_on
	kill "$client_pid" "$ears" 2>/dev/null
	# A client may hang in what it does last.
	net_until 5 ended "$client_pid" || kill -KILL "$client_pid" 2>/dev/null
	wait "$client_pid" "$ears" 2>/dev/null
	joined
}

ended()
{
	[ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"
}

# The seconds within which everybody has to be in, how many are flooded a second, at what
# floodgen manages unless that is the most that the shield answers, and from where.
flood_words()
{
	case $FLOOD in
	none) echo 7 0 ;;
	16) echo 7 200000 --from 10.0.0.0 --sources 65536 ;;
	22) echo 20 1000000 --from 10.0.0.0 --sources 4194304 ;;
	24) echo 20 1000000 --from 10.0.0.0 --sources 16777216 ;;
	v6) echo 20 1000000 --to "$NET_SERVER6" --from fd00:80::1 --sources 4194304 ;;
	own) echo 7 200000 --victim "$own" ;;
	esac
}

# Slower than 500000 a second floodgen sends through the stack, whose ring is the client's,
# too (net_rings): what it sends gets the ring of processor 0 to itself, lest the client's be
# lost at a full one.
flood_ring()
{
	[ "$(nproc)" -gt 1 ] || return 0
	echo 1 >/sys/class/net/up0/queues/tx-0/xps_cpus
	printf '%x\n' $(((1 << $(nproc)) - 2)) >/sys/class/net/up0/queues/tx-1/xps_cpus
}

# floods_start RATE ARGUMENTS: of all payloads together; $floods are their processes.
floods_start()
{
	local rate=$1 flood='' payload payloads

	shift
	read -ra payloads <<<"$(payloads_of)"
	floods=()
	[ "$rate" -gt 0 ] || return 0
	[ "$rate" -ge 500000 ] || flood_ring
	for payload in "${payloads[@]}"; do
		# shellcheck disable=SC2086
		net_flood_start "$work/flood.$payload.json" $PIN_FLOOD --payload "$payload" \
			--seconds $((EACH + 5 + PLAYS)) --rate $((rate / ${#payloads[@]})) "$@"
		floods+=("$flood")
	done
	sleep 1
	for flood in "${floods[@]}"; do
		kill -0 "$flood" || net_die "no flood: $(head -1 "$work"/flood.*)"
	done
}

floods_stop()
{
	[ "${#floods[@]}" -gt 0 ] || return 0
	kill "${floods[@]}" 2>/dev/null
	wait "${floods[@]}"
	pps=$(jq -s 'map(.pps // 0) | add' "$work"/flood.* 2>/dev/null)
}

# one_try NUMBER: the client's times go to $work/join, and of a browser to $work/status and
# $work/info: a line each, if it was in, or answered.
one_try()
{
	local limit rate pool seconds asked told _

	own_network "$1"
	read -r limit rate pool < <(flood_words)
	# shellcheck disable=SC2086
	floods_start "$rate" $pool
	if try_join; then
		read -r seconds asked told _ <"$work/joined"
		echo "# joined in $seconds s, $asked words sent, $told got"
		echo "$seconds $limit" >>"$work/join"
	else
		echo "# not in the game"
	fi
	if browses; then
		jq -r '.looked | "# getinfo answered after \(.[1]) s, both after \(.[0]) (-1: not)"' \
			"$work/client.json"
		jq -r '.looked[1] | select(. >= 0)' "$work/client.json" >>"$work/info"
		jq -r '.looked | select(.[0] >= 0) | .[0] - .[1]' "$work/client.json" >>"$work/status"
	fi
	floods_stop
}

# told WHAT: how many of the tries had it, and when.
told()
{
	sort -n "$work/$1" | awk -v tries="$TRIES" -v what="$1" '{ t[NR] = $1 } END {
		printf "%s %d of %d", what, NR, tries
		if (NR) printf ", %s s in the middle, %s at most",
			sprintf("%.2f", (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2),
			sprintf("%.2f", t[NR])
	}'
}

in_time()
{
	[ "$(awk '$1 <= $2' "$work/join" | wc -l)" = "$TRIES" ]
}

answered()
{
	[ "$(wc -l <"$work/status") $(wc -l <"$work/info")" = "$TRIES $TRIES" ]
}

joins()
{
	local try own pps='' floods=()

	for what in join status info; do
		: >"$work/$what"
	done
	for ((try = 0; try < TRIES; try++)); do
		one_try "$try"
		sleep 2 # the server forgets who has left
	done
	echo "# $GAME, $WITH, flood $FLOOD${pps:+ at $pps/s, the last}: $(told join)" \
		"$(! browses || echo "; $(told info); $(told status)")"
	[ "$WITH" = proof ] || return 0
	net_check "$GAME joins: flood $FLOOD" in_time
	! browses || net_check "$GAME is answered: flood $FLOOD" answered
	[ "$PLAYS" = 0 ] || net_check "and plays on, under forged datagrams of its own, too" nothing_missing
}

net_test_begin "$@"
needs
if [ "$GAME" = ezquake ]; then
	mvdsv_start || { tail -5 "$work/server.log"; net_die "mvdsv does not answer"; }
else
	server_start
fi
scripted || player_screen
if [ "$WITH" != bare ]; then
	! browses || net_room # for answers
	shield_start >/dev/null || exit 1
fi
joins
[ "$WITH" = bare ] || stats_line
exit "$net_failed"
