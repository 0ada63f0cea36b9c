#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_player.sh - a real OpenArena client in a game on a real server, under floods: its
# snapshots must arrive as they do when the same flood meets a bare XDP_DROP.
#
# Runs: briefly no flood; control (a flood that a bare XDP_DROP drops); then behind the shield:
# 4 million sources, the player's own address from a port that is not its, and the
# player's own address and port; a restart with no state at all, in the game; with
# FIGURES=1 last without any shield. Snapshots are counted from a capture at the client, by tshark.
#
# lane: alone, 55 s: what its client loses is compared with a control run.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openarena PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh

SEQUENCE=little

skip()
{
	echo "skip net_player: $*"
	exit 0
}

[ -x "$OPENARENA_CLIENT" ] || skip "no openarena client"
[ -x "${OPENARENA:-/usr/games/openarena-server}" ] || skip "no openarena-server"
for tool in Xvfb tshark tcpdump; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
net_test_begin "$@"
server_start
player_screen
player_openarena
if ! net_until 40 player_in_game; then
	tail -5 "$work/client.log"
	skip "the client did not get into the game"
fi
player_floods getstatus --payload netchan

# No daemon, no maps: everything about the game is forgotten, and learned again.
shield_away KILL
shield_start
under restarted "restart without state" getstatus
net_check "the player is known again" kept_in_game

shield_away TERM
to_compare four_million unprotected getstatus
kill "$client_pid" 2>/dev/null
exit "$net_failed"
