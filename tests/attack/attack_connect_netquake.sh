#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_connect_netquake.sh - a NetQuake player is thrown back to the beginning of the
# level by one forged CCREQ_CONNECT: servers drop who plays at the address that it comes
# from. A real Nexuiz client on a real server, in NetQuake's own protocol.
set -u

SERVER=nexuiz PROTOCOL=netquake SEQUENCE=big
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

CONNECT=8000000c015155414b450003

# Enough to be known by the server's clock.
plays()
{
	[ "$(stats_sum 'select(.kind == "nq-unreliable" and .reason == "player")')" -ge 60 ]
}

connected()
{
	grep -c 'alice connected' "$work/server.log"
}

attack_needs "$NEXUIZ" "$NEXUIZ_CLIENT" Xvfb tshark tcpdump
net_test_begin "$@"
server_start +sv_protocolname QUAKE
shield_start >/dev/null || exit 1
player_screen
player_nexuiz
net_until 60 player_in_game || attack_skip "the client did not get into the game"
net_until 40 plays || attack_skip "the client moves too seldom"
before=$(game_rate)
read -r port _ <<<"$(own_datagram)"
loaded=$(connected)
watch connects "@th,64,32 0x${CONNECT:0:8}"
for _ in 1 2 3; do
	printf "$NET_CLIENT %s $CONNECT\n" "$port" "$ELSEWHERE" | forge 10
	sleep 2
done
keeps "forged CCREQ_CONNECT that got by" "$(watched connects packets)" -le 0
keeps "times that the player connected since" $(($(connected) - loaded)) -le 0
keeps "snapshots a second afterwards" "$(game_rate)" -ge $((before / 2))
kill "$client_pid" 2>/dev/null
exit "$net_failed"
