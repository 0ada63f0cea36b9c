#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_proof.sh [GAME [TRIES [FLOOD [SHIELD]]]] - clients join while requests to join are
# forged: once, from 65536 sources. GAME: openarena, ezquake or nexuiz, real clients,
# unmodified, and real servers; or quake2, r1q2 or q2pro, scripted clients that connect as
# id's, R1Q2's and Q2PRO's do, with the stand-in for a server. Q2PRO's keeps the first
# challenge that it gets.
#
# With TRIES so many joins, one after another, each in a flood of its own. FLOOD: none, 16, 22 or 24 (as many bits of sources in 10.0.0.0/8), v6 (2^22
# networks of fd00::/8) or own (the client's own address, other ports). SHIELD: proof, plain
# (proof = off) or bare (none). Only with `proof` anything is demanded: the others are what
# it is measured by.
#
# How long a join takes is counted at the client's link: from the first word that it sends
# to the first datagram of a game that it gets. Faster than the shield answers (250000/s)
# clients wait for their turn.
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
*)	   echo "net_proof.sh: no such game: '$GAME'" >&2; exit 2 ;;
esac
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

EACH=${JOIN_S:-25} # seconds that a client may take to start and join

scripted()
{
	[ "$SERVER" = standin ]
}

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

# The datagrams of this family that a server takes for a request to join.
payload_of()
{
	case $GAME in
	ezquake) echo qw-getchallenge ;;
	quake2 | r1q2 | q2pro) echo q2-getchallenge ;;
	*)	 echo getchallenge ;;
	esac
}

# Seconds from the first word of the client to the first datagram of the game, and how many
# words went each way before; nothing: it did not get in.
join_time()
{
	tshark -n -r "$work/join.pcap" -T fields -e frame.time_epoch -e ip.src \
		-e udp.dstport -e udp.srcport -e udp.payload 2>/dev/null |
		awk -v server="$NET_SERVER" '
		{ words = substr($5, 1, 8) == "ffffffff" }
		$2 != server && words { if (!asked++) { start = $1; port = $4 } }
		$2 != server || $3 != port { next } # to one who was here before
		words && asked { told++ }
		!words && asked && length($5) > 40 {
			printf "%.2f %d %d\n", $1 - start, asked, told
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
	    proof    = $([ "$WITH" = proof ] && echo pressure || echo off)
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
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN "$LAB/client" --protocol "$GAME" \
		--to "$NET_SERVER" --port "$NET_PORT" --seconds "$((EACH + 5))" --join --json \
		>"$work/client.json" 2>&1 &
	client_pid=$!
}

# try_join: one client starts, joins and is gone again.
try_join()
{
	local ears

	rm -rf "$work/client" "$work/join.pcap"
	mkdir -p "$work/client"
	chown nobody "$work/client"
	nsenter --net=/run/netns/client tcpdump --immediate-mode -U -n -i cli0 -B 8192 \
		-w "$work/join.pcap" "udp and port $NET_PORT" 2>"$work/ears.log" &
	ears=$!
	net_until 5 grep -q 'listening on' "$work/ears.log"
	client_start_game
	net_until "$EACH" joined
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

# flood_words: floodgen's for $FLOOD, at what it manages unless that is the most that the
# shield answers, and the seconds within which everybody has to be in.
flood_words()
{
	case $FLOOD in
	none) echo 7 ;;
	16) echo 7 --from 10.0.0.0 --sources 65536 --rate 200000 ;;
	22) echo 20 --from 10.0.0.0 --sources 4194304 --rate 1000000 ;;
	24) echo 20 --from 10.0.0.0 --sources 16777216 --rate 1000000 ;;
	v6) echo 20 --to $NET_SERVER6 --from fd00:80::1 --sources 4194304 --rate 1000000 ;;
	own) echo 7 --victim $NET_CLIENT --rate 200000 ;;
	*) net_die "no such flood: '$FLOOD'" ;;
	esac
}

# joins LIMIT [floodgen arguments]: TRIES joins, each within LIMIT seconds.
joins()
{
	local limit=$1 try in=0 late=0 flood='' pps=''

	shift
	: >"$work/times"
	for ((try = 0; try < TRIES; try++)); do
		if [ $# -gt 0 ]; then
			# shellcheck disable=SC2086
			net_flood $PIN_FLOOD --seconds $((EACH + 5)) \
				--payload "$(payload_of)" "$@" >"$work/flood.json" 2>&1 &
			flood=$!
			sleep 1
			kill -0 "$flood" || net_die "no flood: $(head -1 "$work/flood.json")"
		fi
		if try_join; then
			read -r seconds asked told <"$work/joined"
			echo "# joined in $seconds s, $asked words sent, $told got"
			echo "$seconds" >>"$work/times"
			in=$((in + 1))
			awk -v s="$seconds" -v l="$limit" 'BEGIN { exit s > l }' ||
				late=$((late + 1))
		else
			echo "# not in the game"
		fi
		if [ -n "$flood" ]; then
			kill "$flood" 2>/dev/null
			wait "$flood"
			pps=$(jq -r '.pps // 0' "$work/flood.json" 2>/dev/null)
		fi
		sleep 2 # the server forgets who has left
	done
	echo "# $GAME, $WITH, flood $FLOOD${pps:+ at $pps/s, the last}: $in of $TRIES in," \
		"$(sort -n "$work/times" | awk '{ t[NR] = $1 } END {
			if (NR) print t[int((NR + 1) / 2)] " s in the middle, " t[NR] " s at most" }')"
	[ "$WITH" != proof ] ||
		net_check "$GAME joins: flood $FLOOD" [ "$in $late" = "$TRIES 0" ]
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
	shield_start || exit 1
fi
# shellcheck disable=SC2046
joins $(flood_words)
[ "$WITH" = bare ] || stats_line
exit "$net_failed"
