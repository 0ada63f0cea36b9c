#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_proof.sh [openarena|ezquake|nexuiz] [TRIES] - real clients, unmodified, join real
# servers while requests to join are forged: from 65536 sources, and if TRIES are named,
# without a flood, from 16 million, and from the client's own address with other ports, too.
#
# How long a join takes is counted at the client's link: from the first word that it sends
# to the first datagram of a game that it gets. Faster than the shield answers (its pace is
# set to what the machine's flood can exceed in one row) clients wait for their turn.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield
GAME=${1:-openarena} TRIES=${2:-1} ALL=${2:-}
case $GAME in
openarena) SERVER=openarena PROTOCOL=quake3 ;;
ezquake)   SERVER=mvdsv PROTOCOL=quakeworld ;;
nexuiz)	   SERVER=nexuiz PROTOCOL=netquake ;;
*)	   echo "usage: net_proof.sh [openarena|ezquake|nexuiz] [TRIES]" >&2; exit 2 ;;
esac
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

EACH=25 # seconds that a client may take to start and join

skip()
{
	echo "skip net_proof $GAME: $*"
	exit 0
}

needs()
{
	local tool

	for tool in Xvfb tcpdump tshark; do
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
	*)	 echo getchallenge ;;
	esac
}

# Seconds from the first word of the client to the first datagram of the game, and how many
# words went each way before; nothing: it did not get in.
join_time()
{
	tshark -n -r "$work/join.pcap" -T fields -e frame.time_epoch -e ip.src \
		-e udp.payload 2>/dev/null | awk -v server="$NET_SERVER" '
		{ words = substr($3, 1, 8) == "ffffffff" }
		$2 != server && words { if (!asked++) start = $1 }
		$2 == server && words && asked { told++ }
		$2 == server && !words && asked && length($3) > 40 {
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
	    proof    = pressure
	}
	CONFIG
}

client_start_game()
{
	case $GAME in
	openarena) player_openarena ;;
	ezquake)   player_ezquake ;;
	nexuiz)	   player_nexuiz ;;
	esac
}

# try_join: one client starts, joins and is gone again.
try_join()
{
	local ears

	rm -rf "$work/client" "$work/join.pcap"
	mkdir -p "$work/client"
	chown nobody "$work/client"
	nsenter --net=/run/netns/client tcpdump --immediate-mode -U -n -i cli0 -B 8192 \
		-w "$work/join.pcap" "udp and port $NET_PORT" 2>/dev/null &
	ears=$!
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

# joins NAME LIMIT [floodgen arguments]: TRIES joins, each within LIMIT seconds.
joins()
{
	local name=$1 limit=$2 try slow=0 flood=''

	shift 2
	for ((try = 0; try < TRIES; try++)); do
		if [ $# -gt 0 ]; then
			# shellcheck disable=SC2086
			net_flood $PIN_FLOOD --seconds $((EACH + 5)) "$@" \
				>"$work/flood.json" 2>&1 &
			flood=$!
			sleep 1
		fi
		if try_join; then
			read -r seconds asked told <"$work/joined"
			echo "# $name: joined in $seconds s, $asked words sent, $told got"
			awk -v s="$seconds" -v l="$limit" 'BEGIN { exit s > l }' || slow=1
		else
			echo "# $name: not in the game"
			slow=1
		fi
		if [ -n "$flood" ]; then
			kill "$flood" 2>/dev/null
			wait "$flood"
		fi
		sleep 2 # the server forgets who has left
	done
	net_check "$GAME joins: $name" [ $slow = 0 ]
}

net_test_begin "$@"
needs
if [ "$GAME" = ezquake ]; then
	mvdsv_start || { tail -5 "$work/server.log"; net_die "mvdsv does not answer"; }
else
	server_start
fi
player_screen
shield_start
payload=$(payload_of)
joins "65536 sources, 200000/s" 7 --payload "$payload" --rate 200000 \
	--from 10.128.0.0 --sources 65536
if [ -z "$ALL" ]; then
	stats_line
	exit "$net_failed"
fi
joins "no flood" 7
joins "16 million sources, 1000000/s" 20 --payload "$payload" --rate 1000000 \
	--from 10.0.0.0 --sources 16777216
joins "own address, other ports" 7 --payload "$payload" --rate 200000 \
	--victim "$NET_CLIENT"
stats_line
exit "$net_failed"
