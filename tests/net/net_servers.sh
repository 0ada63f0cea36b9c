#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_servers.sh - games of a scripted client on other servers, under the floods of
# net_player.sh: one of 4 million sources that a bare XDP_DROP drops (the control);
# then behind the shield the same, with the client joining in it; game traffic in the
# player's own name, from a port that is not its and from its own. With FIGURES=1 also
# without a flood, and without the shield.
#
# Snapshots are counted by the client, and its moves by who hears them: a QuakeWorld
# server answers each one, and the stand-in for NetQuake's tells how many there were.
#
# One is mvdsv with ktx, a real QuakeWorld server (for its real client: net_ezquake.sh).
# The other is a stand-in for NetQuake servers that play on a port of their own, which the
# shield must learn, and keep when its configuration is read again. That game has no qport
# and no challenge: a player is known by its moves' sequence once it has named the server's
# clock three times, which takes a second or two.
#
# lane: alone, 90 s: what its client loses is compared with a control run.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quakeworld
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

# What hurts most if it gets in: a sequence that is ahead, so that the player's own are
# old. But no qport that fits, which is for the player to know.
FORGED_QUAKEWORLD=2c01000001000000$(printf '%04d' 0)$(printf '01%.0s' {1..30})
# The same of NetQuake. One that got in would end all moves by itself.
FORGED_NETQUAKE=001000280001000003$(printf '%062d' 0)
MOVES=$((EACH * 30)) # of each game; on a machine without a free processor they take longer
own_port=27000
own=0    # each game has an address of its own: where somebody of NetQuake's was heard,
	 # nobody may connect from the same address for up to six seconds
settle=30 # moves that the shield has passed before anybody forges their address

# The address of the game after the last one, and of the forger then.
next_address()
{
	printf '10.79.%d.2' $((own % 8 + 1))
}

# game NAME: one joins and plays, from an address and a port that nobody has used before, until
# it has sent MOVES after game_counts; the client's report to $work/NAME. $gamer is its process.
game()
{
	own_port=$((own_port + 2)) # the one between is nobody's
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN "$LAB/client" --protocol "$PROTOCOL" \
		--to "$NET_SERVER" --port "$NET_PORT" --seconds $((EACH * 10)) --poll 0 --join \
		--moves "$MOVES" \
		--from "$(next_address)" --own-port "$own_port" --tell --json \
		>"$work/$1" 2>"$work/$1.told" &
	gamer=$!
	own=$((own + 1))
}

# game_counts: what was before does not count.
game_counts()
{
	kill -USR1 "$gamer"
}

plays()
{
	grep -q 'plays on port' "$work/$1.told"
}

# game_over NAME: and its flood.
game_over()
{
	local flood_rate=null

	wait "$gamer"
	if [ -n "$flood" ]; then
		flood_end "$1"
		flood_rate=$(jq .pps "$work/flood.json")
	fi
	jq -r --arg name "$1" --argjson flood "$flood_rate" '"# \($name): join \(.join), \(.snapshots) " +
		"snapshots, \(.lost) lost; \(.heard) of \(.moves) moves heard" +
		if $flood then ", flood \($flood)/s" else "" end' "$work/$1"
}

# joined NAME [floodgen arguments]: a game whose player joins in the flood.
joined()
{
	flood=''
	[ $# = 1 ] || flood_start "${@:2}"
	game "$1"
	net_until $((EACH * 5)) plays "$1"
	game_counts
	game_over "$1"
}

of_players() # COUNT: so many of their datagrams the shield has passed, at least.
{
	[ "$(stats_sum 'select(.reason == "player")')" -ge "$1" ]
}

# attacked NAME OTHER [floodgen arguments]: a game whose player is known when the flood
# comes: from its address, and its port but for the bits of OTHER, to where it plays.
attacked()
{
	local to address before

	address=$(next_address)
	before=$(stats_sum 'select(.reason == "player")')
	game "$1"
	net_until $((EACH * 5)) plays "$1"
	net_until $((EACH * 5)) of_players $((before + settle))
	to=$(awk '/plays on port/ { print $NF }' "$work/$1.told")
	flood_start "${@:3}" --victim "$address" --source-port $((own_port ^ $2)) \
		--port "${to:-$NET_PORT}"
	game_counts
	game_over "$1"
}

# controlled NAME PAYLOAD: a game beside the flood that a bare XDP_DROP drops.
controlled()
{
	control_on
	flooded "$1" "$2" --port 9
	control_off
}

flooded() # NAME PAYLOAD [floodgen arguments]
{
	joined "$1" --payload "$2" --from "$NET_FLOOD" --sources "$NET_SOURCES" "${@:3}"
}

# kept NAME CONTROL: in the game, and no more lost than under control, give or take one in a
# hundred. How many a server sends in a second is its processor's affair. Both floods were
# strong.
kept()
{
	net_strong "$work/$1.flood" && net_strong "$work/$2.flood" &&
		jq -es '.[0].join == "ok" and .[1].join == "ok" and .[0].snapshots > 20 and
		.[1].snapshots > 20 and
		.[0].lost <= .[1].lost + ([1, .[0].snapshots / 100] | max)' "$work/$1" "$work/$2"
}

# moves_kept NAME CONTROL: the same of its moves.
moves_kept()
{
	jq -es 'map(.moves - .heard) as $missed | .[0].moves > 50 and
		$missed[0] <= $missed[1] + .[0].moves / 100' "$work/$1" "$work/$2"
}

# For more than half of its time: 30 datagrams a second.
was_player()
{
	of_players $((EACH * 22))
}

# forged SERVER HEX: the floods of who forges the player's address. Who joins while its
# own port is forged too has shown nothing yet that the forger has not: only told, and only
# to compare.
forged()
{
	attacked "$1-own-address" 1 --hex "$2"
	net_check "$1: own address, guessed port: as good as control" \
		kept "$1-own-address" "$1-control"
	net_check "$1: own address, guessed port: its moves" \
		moves_kept "$1-own-address" "$1-control"
	joined "$1-joins-address" --hex "$2" \
		--victim "$(next_address)" --source-port $((own_port + 3))
	net_check "$1: joins beside its own address: as good as control" \
		kept "$1-joins-address" "$1-control"
	to_compare joined "$1-joins-port" --hex "$2" \
		--victim "$(next_address)" --source-port $((own_port + 2))
	attacked "$1-own-port" 0 --hex "$2"
	net_check "$1: own address and port: as good as control" kept "$1-own-port" "$1-control"
	net_check "$1: own address and port: its moves" moves_kept "$1-own-port" "$1-control"
}

test_mvdsv()
{
	mvdsv_start || { tail -5 "$work/server.log"; net_check "mvdsv answers" false; return; }
	to_compare joined mvdsv-none
	controlled mvdsv-control qw-status
	shield_start >/dev/null || return
	flooded mvdsv-millions qw-status
	net_check "mvdsv: 4 million sources: as good as control" kept mvdsv-millions mvdsv-control
	net_check "mvdsv: 4 million sources: its moves" moves_kept mvdsv-millions mvdsv-control
	net_check "mvdsv: it was known as a player" was_player
	forged mvdsv "$FORGED_QUAKEWORLD"
	shield_away TERM
	to_compare flooded mvdsv-unprotected qw-status
	kill "$server_pid"
	rm "$work/shield.conf"
}

reload_soon()
{
	sleep $((EACH / 2))
	sed -i 's/^}/    observe = no\n}/' "$work/shield.conf"
	kill -HUP "$shield_pid"
}

test_learned_port()
{
	PROTOCOL=netquake settle=90
	server_defaults
	server_start
	to_compare joined netquake-none
	controlled netquake-control ccreq-server-info
	shield_start >/dev/null || return
	reload_soon &
	flooded netquake-millions ccreq-server-info
	net_check "netquake: 4 million sources and a reload: as good as control" \
		kept netquake-millions netquake-control
	net_check "netquake: 4 million sources: its moves" \
		moves_kept netquake-millions netquake-control
	net_check "netquake: its own port was learned and kept" was_player
	net_check "netquake: the configuration was read again" net_until 10 grep -q 'reloaded, 1 service' "$work/shield.log"
	forged netquake "$FORGED_NETQUAKE"
	shield_away TERM
	to_compare flooded netquake-unprotected ccreq-server-info
}

net_test_begin "$@"
if lacking=$(mvdsv_lacks); then
	echo "skip mvdsv: $lacking"
else
	test_mvdsv
fi
test_learned_port
exit "$net_failed"
