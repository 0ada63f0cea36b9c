#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_servers.sh - sessions of a scripted client on other servers: without a flood, with
# one of 4 million sources that a bare XDP_DROP drops (the control), with the same behind
# the shield, and without any.
#
# mvdsv with ktx, a real QuakeWorld server: needs one map, GAMEDATA/id1/maps/lqdm11.bsp
# (LibreQuake). Its real client, ezquake, needs the rest of a game's data and is not run.
# And a stand-in for NetQuake servers that play on a port of their own, which the shield
# must learn, and keep when its configuration is read again.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
GAMEDATA=$(realpath -m "${GAMEDATA:-../shared/gamedata}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quakeworld
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh

MVDSV=${MVDSV:-/usr/games/mvdsv}
KTX=${KTX:-/usr/lib/quakeworld/ktx/qwprogs.so}

mvdsv_start()
{
	local data=$work/data

	mkdir -p "$data/id1/maps" "$data/ktx"
	cp "$GAMEDATA/id1/maps/lqdm11.bsp" "$data/id1/maps/"
	ln -s "$KTX" "$data/ktx/qwprogs.so"
	printf '%s\n' 'hostname test' 'maxclients 8' 'deathmatch 1' 'map lqdm11' \
		>"$data/ktx/server.cfg"
	chown -R nobody "$data"
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/server $PIN setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env --chdir="$data" HOME="$data" "$MVDSV" -basedir "$data" -port "$NET_PORT" \
		-mem 64 -game ktx +sv_progtype 1 </dev/null >"$work/server.log" 2>&1 &
	server_pid=$!
	net_until 20 server_answers
}

# session NAME [floodgen arguments]: one joins and plays; the client's report to $work/NAME.
session()
{
	local name=$1 flood=''

	shift
	[ $# = 0 ] || flood_start "$@" # who joins, joins in it
	# shellcheck disable=SC2086
	net_in client $PIN "$LAB/client" --protocol "$PROTOCOL" --to "$NET_SERVER" \
		--port "$NET_PORT" --seconds "$EACH" --poll 0 --join --json >"$work/$name"
	[ -z "$flood" ] || wait "$flood"
	printf '# %-20s %s\n' "$name" "$(jq -c '{join, join_seconds, tries, snapshots, lost}' "$work/$name")"
}

# controlled NAME PAYLOAD: a session beside the flood that a bare XDP_DROP drops.
controlled()
{
	control_on
	flooded "$1" "$2" --port 9
	control_off
}

flooded() # NAME PAYLOAD [floodgen arguments]
{
	session "$1" --payload "$2" --from "$NET_FLOOD" --sources "$NET_SOURCES" "${@:3}"
}

# kept NAME CONTROL: in the game, no more lost than under control, give or take one in a
# hundred, and half as many seen at least.
kept()
{
	jq -es '.[0].join == "ok" and .[1].join == "ok" and .[1].snapshots > 50 and
		.[0].lost <= .[1].lost + .[0].snapshots / 100 and
		.[0].snapshots >= .[1].snapshots / 2' "$work/$1" "$work/$2"
}

# For more than half of its time: 30 datagrams a second.
was_player()
{
	[ "$(stats_sum 'select(.reason == "player")')" -gt $((EACH * 22)) ]
}

test_mvdsv()
{
	mvdsv_start || { tail -5 "$work/server.log"; net_check "mvdsv answers" false; return; }
	session mvdsv-quiet
	controlled mvdsv-control qw-status
	# shellcheck disable=SC2119
	shield_start || return
	flooded mvdsv-flood qw-status
	net_check "mvdsv: 4 million sources: as good as control" kept mvdsv-flood mvdsv-control
	net_check "mvdsv: it was known as a player" was_player
	shield_away TERM
	flooded mvdsv-unprotected qw-status
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
	PROTOCOL=netquake
	server_defaults
	server_start
	session netquake-quiet
	controlled netquake-control ccreq-server-info
	# shellcheck disable=SC2119
	shield_start || return
	reload_soon &
	flooded netquake-flood ccreq-server-info
	net_check "netquake: 4 million sources and a reload: as good as control" \
		kept netquake-flood netquake-control
	net_check "netquake: its own port was learned and kept" was_player
	net_check "netquake: the configuration was read again" grep -q 'reloaded, 1 service' "$work/shield.log"
	shield_away TERM
	flooded netquake-unprotected ccreq-server-info
}

net_test_begin "$@"
if [ ! -x "$MVDSV" ] || [ ! -e "$KTX" ]; then
	echo "skip mvdsv: no mvdsv and ktx"
elif [ ! -e "$GAMEDATA/id1/maps/lqdm11.bsp" ]; then
	echo "skip mvdsv: no map in $GAMEDATA"
else
	test_mvdsv
fi
test_learned_port
exit "$net_failed"
