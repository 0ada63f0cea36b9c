#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_ezquake.sh - a real QuakeWorld client, ezquake, in a game on a real server, mvdsv
# with ktx, under the floods of net_player.sh.
#
# A QuakeWorld server answers moves and sends nothing else, so snapshots are as many as
# moves were heard. Who forges a player's address knows no qport, and does no harm from
# the player's own port either: its moves are judged in each flood.
#
# lane: alone, 45 s: what its client loses is compared with a control run.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=mvdsv PROTOCOL=quakeworld
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

SEQUENCE=little

skip()
{
	echo "skip net_ezquake: $*"
	exit 0
}

lacking=$(mvdsv_lacks) && skip "$lacking"
[ -x "$EZQUAKE" ] || skip "no ezquake"
for tool in Xvfb tshark tcpdump; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
net_test_begin "$@"
mvdsv_start || { tail -5 "$work/server.log"; net_die "mvdsv does not answer"; }
player_screen
player_ezquake
if ! net_until 60 quakeworld_in_game; then
	tail -5 "$work/client.log" "$work/client/qw/qconsole.log"
	skip "the client did not get into the game"
fi
sleep 2 # the rest of the sign-on
player_floods qw-status --payload netchan
for run in attached millions own-address own-port; do
	net_check "moves get in: $run" moves_as_good "$run"
done
shield_away TERM
to_compare four_million unprotected qw-status
kill "$client_pid" 2>/dev/null
exit "$net_failed"
