#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_upgrade_players.sh - real clients in games on real servers, while another quakeshield
# takes over, every table of which has another shape (tests/lab/grow.sh), and later the
# first one again: OpenArena (Quake III), ezquake on mvdsv (QuakeWorld, whose server answers
# moves and sends nothing else), Nexuiz with its own protocol and with NetQuake's. From the
# second after the exchange on, every datagram of the game gets in as its player's.
#
# lane: beside, 90 s: most of it is the build of another tree, and what is judged are shares.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3 SEQUENCE=little
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

LEAST=10 # moves in three seconds: Nexuiz sends five a second at rest

# game_counts: the game's datagrams that came in as a player's, and all others of a game.
game_counts()
{
	net_in server "$SHIELD" stats --json | jq -r '
		[.services[].counters[] | select(.direction == "in")
			| select(.kind | test("^(netchan|nq-(un)?reliable|nq-ack)"))]
		| [([.[] | select(.reason == "player") | .packets] | add // 0),
		   ([.[] | select(.reason != "player") | .packets] | add // 0)]
		| join(" ")'
}

# all_are_its: for three seconds.
all_are_its()
{
	local in other in_after other_after

	read -r in other <<<"$(game_counts)"
	sleep 3
	read -r in_after other_after <<<"$(game_counts)"
	echo "# as the player's: $((in_after - in)), otherwise: $((other_after - other))" >&2
	[ $((in_after - in)) -ge "$LEAST" ] && [ "$other_after" = "$other" ]
}

# exchange BINARY
exchange()
{
	shield_stop TERM
	SHIELD=$1
	shield_start >/dev/null || return 1
	grep -q "carried over: players 1" "$work/shield.log" || { cat "$work/shield.log" >&2; return 1; }
}

# upgrades NAME: somebody plays.
upgrades()
{
	net_check "$1: its moves pass before" net_until 30 all_are_its
	net_check "$1: upgrade" exchange "$BUILD/grown/build/quakeshield"
	sleep 1
	net_check "$1: its moves pass after the upgrade" all_are_its
	net_check "$1: downgrade" exchange "$BUILD/quakeshield"
	sleep 1
	net_check "$1: its moves pass after the downgrade" all_are_its
	shield_away TERM
	kill -KILL "$client_pid" "$server_pid" 2>/dev/null
	wait "$client_pid" "$server_pid" 2>/dev/null
	rm -rf "${work:?}/home" "$work/client" "$work/client.log" "$work/server.log" "$work/shield.conf"
}

# game NAME PROTOCOL START CLIENT IN-GAME: what starts its server and its client.
game()
{
	local name=$1

	PROTOCOL=$2
	server_defaults
	if ! $3; then
		echo "skip $name: its server does not answer"
		return
	fi
	if ! shield_start >/dev/null; then
		net_check "$name: the shield starts" false
		return
	fi
	$4
	if ! net_until 60 "$5"; then
		echo "skip $name: the client did not get into the game"
		shield_away TERM
		kill -KILL "$client_pid" "$server_pid" 2>/dev/null
		return
	fi
	upgrades "$name"
}

openarena()
{
	SERVER=openarena server_start
}

nexuiz()
{
	SERVER=nexuiz server_start "$@"
}

nexuiz_netquake()
{
	nexuiz +sv_protocolname QUAKE
}

# counts_moves: the player's, of any kind, without a capture.
counts_moves()
{
	[ "$(stats_sum 'select(.reason == "player")')" -ge 60 ]
}

in_quakeworld()
{
	grep -q 'alice entered the game' "$work/server.log" && counts_moves
}

command -v Xvfb >/dev/null || { echo "skip net_upgrade_players: no Xvfb"; exit 0; }
net_test_begin "$@"
if ! grown_build; then
	net_check "a grown quakeshield builds" false
	exit 1
fi
player_screen
if [ -x "$OPENARENA" ] && [ -x "$OPENARENA_CLIENT" ]; then
	game "OpenArena" quake3 openarena player_openarena counts_moves
else
	echo "skip OpenArena: not installed"
fi
if ! mvdsv_lacks && [ -x "$EZQUAKE" ]; then
	game "ezquake" quakeworld mvdsv_start player_ezquake in_quakeworld
else
	echo "skip ezquake: no ezquake, mvdsv or map"
fi
if [ -x "$NEXUIZ" ] && [ -x "$NEXUIZ_CLIENT" ]; then
	game "Nexuiz" netquake nexuiz player_nexuiz counts_moves
	game "Nexuiz, NetQuake's protocol" netquake nexuiz_netquake player_nexuiz counts_moves
else
	echo "skip Nexuiz: not installed"
fi
exit "$net_failed"
