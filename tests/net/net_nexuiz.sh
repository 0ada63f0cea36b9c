#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_nexuiz.sh [netquake] - a real Nexuiz client in a game on a real server, under the
# floods of net_player.sh, with the engine's own protocol (DarkPlaces 7) or NetQuake's.
#
# Neither has a qport or a challenge: who sends from a player's own address and port spends
# that player's budget. What the server sends must arrive all the same; how many of the
# player's moves still get in is told, and asked of the other floods only.
#
# lane: alone, 45 s: what its client loses is compared with a control run.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=nexuiz PROTOCOL=netquake
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh

SEQUENCE=big
# A move with count 7, long ago for any game: 40 bytes.
FORGED=001000280000000703$(printf '%062d' 0)

skip()
{
	echo "skip net_nexuiz: $*"
	exit 0
}

[ -x "$NEXUIZ_CLIENT" ] || skip "no nexuiz client"
[ -x "$NEXUIZ" ] || skip "no nexuiz-server"
for tool in Xvfb tshark tcpdump; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
net_test_begin "$@"
flood=getstatus game=()
if [ "${1-}" = netquake ]; then
	flood=ccreq-server-info game=(+sv_protocolname QUAKE)
fi
server_start "${game[@]}"
player_screen
player_nexuiz
if ! net_until 60 player_in_game; then
	tail -5 "$work/client.log"
	skip "the client did not get into the game"
fi
sleep 2 # the rest of the sign-on
player_floods "$flood" --hex "$FORGED"
for run in attached millions own-address; do
	net_check "moves get in: $run" moves_as_good "$run"
done
shield_away TERM
to_compare four_million unprotected "$flood"
kill "$client_pid" 2>/dev/null
exit "$net_failed"
