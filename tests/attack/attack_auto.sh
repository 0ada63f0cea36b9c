#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_auto.sh - a player of a service that names no family is starved: what is sent with
# its address and port spends its budget, and its own moves are lost. At 20,000 a second,
# with sequences at random, in the shapes of all families, from its port and from others. A
# real OpenArena client on its server, which the configuration calls `auto`.
set -u

SERVER=openarena PROTOCOL=quake3 SEQUENCE=little
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

LASTS=5
RATE=20000
LONG=200 # octets of each forged datagram: no move of a player's is as long

# forged PORT: for LASTS seconds, of the player's address. Sequences of Quake III and
# QuakeWorld, blocks and moves of NetQuake, records of DTLS, and text.
forged()
{
	awk -v from="$NET_CLIENT $1 " -v count=$((LASTS * RATE)) -v long=$LONG 'BEGIN {
		srand(7)
		for (rest = ""; length(rest) < 2 * long; )
			rest = rest "00"
		for (i = 0; i < count; i++) {
			word = sprintf("%04x%04x", int(rand() * 65536), int(rand() * 32768))
			if (i % 5 < 2)
				text = word sprintf("%08x", rand() * 65536)
			else if (i % 5 == 2)
				text = sprintf("%04x%04x", i % 2 ? 1 : 16, long) word
			else if (i % 5 == 3)
				text = "17fefd" sprintf("%04x", i % 3) "0000" word \
					sprintf("%04x", long - 13)
			else
				text = "ffffffff" (i % 2 ? "636f6e6e65637420" : "646973636f6e6e656374")
			print from substr(text rest, 1, 2 * long)
		}
	}'
}

# The player's own, as the server gets them, in so many seconds: how many, and how many
# that it sent before the last are missing.
own_moves()
{
	net_in server timeout "$1" tcpdump --immediate-mode -U -n -i srv0 -w "$work/moves.pcap" -B 8192 \
		"udp and src host $NET_CLIENT and dst port $NET_PORT and udp[4:2] != $((8 + LONG))" \
		2>/dev/null
	sequences "$work/moves.pcap"
}

# starved NAME PORT
starved()
{
	local ears count lost arrived _

	arrived=$(net_arrived)
	forged "$2" >"$work/forged"
	own_moves $((LASTS + 1)) >"$work/own" &
	ears=$!
	sleep 0.5
	forge $RATE <"$work/forged"
	wait "$ears"
	read -r count lost _ <"$work/own"
	echo "# $1: $count moves, $lost lost"
	keeps "forged datagrams that arrived, $1" $(($(net_arrived) - arrived)) \
		-ge $((LASTS * RATE * 9 / 10))
	keeps "tenths of a percent of the player's moves that are lost, $1" \
		$((count ? 1000 * lost / (count + lost) : 1000)) -le 20
	keeps "and moves that the server got" "$count" -ge $((LASTS * 8))
}

attack_needs "$OPENARENA" "$OPENARENA_CLIENT" Xvfb tshark tcpdump
net_test_begin "$@"
server_start
player_screen
player_openarena
net_until 60 player_in_game || attack_skip "the client did not get into the game"
PROTOCOL=auto
shield_start >/dev/null || exit 1
net_until 40 settled || attack_skip "the client moves too seldom"
before=$(game_rate)
read -r port _ <<<"$(own_datagram)"
[ -n "$port" ] || attack_skip "no datagram of the client's was seen"
echo "# plays from port $port, $before snapshots a second"
watch forged "udp length $((8 + LONG))"
starved "from its own port" "$port"
keeps "forged from its port that got by, of $((LASTS * RATE))" \
	"$(watched forged packets)" -le 200
from_port=$(watched forged packets)
starved "from other ports" "$ELSEWHERE"
echo "# $(($(watched forged packets) - from_port)) from other ports got by"
keeps "snapshots a second afterwards" "$(game_rate)" -ge $((before / 2))
keeps "the shield follows one player" \
	"$(net_in server "$SHIELD" stats --json | jq '.services[0].players')" -ge 1
stats_line | sed 's/^/# /'
kill "$client_pid" 2>/dev/null
exit "$net_failed"
