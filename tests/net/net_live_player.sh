#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_live_player.sh - a real OpenArena game, followed through the shield under a flood:
# what the daemon says of the player is what the server's own `status` says.
#
# lane: beside, 30 s: it compares what two places say of the same game.
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

players=/run/quakeshield/players.json

live_config()
{
	shield_config
	cat <<-CONFIG
	sample { one-in = 1024 }
	follow { first = 4 }
	output { json = "$work/live.jsonl" }
	CONFIG
}

playing()
{
	jq -e '.players[] | select(.snapshots_per_s >= 15 and .packets_per_s >= 10 and .map != "" and
		.ping_ms < 200)' "$players"
}

player() # JQ-CONDITION
{
	jq -e ".players[] | select(.name == \"alice\") | $1" "$players"
}

# The server's own figures: ping of the line that names her, and the map.
status_of()
{
	echo status >&9
	net_until 3 grep -q 'alice.*10\.7' "$work/server.log" || return
	awk '/alice.*10\.7/ { print $3 }' "$work/server.log" | tail -1 >"$work/ping"
	awk '$1 == "map:" { print $2 }' "$work/server.log" | tail -1 >"$work/map"
}

# Her ping here and there. The server's clock moves in frames of 50 ms.
ping_agrees()
{
	local ours theirs

	ours=$(player .ping_ms) && theirs=$(<"$work/ping") || return
	echo "# ping: $ours here, $theirs by the server's status" >&2
	[ $((ours - theirs)) -le 60 ] && [ $((theirs - ours)) -le 60 ]
}

# Her rate in a second of the flood in which both had a processor: the file is written anew each second.
snapshots()
{
	local players=$live

	player '.snapshots_per_s >= 18 and .snapshots_per_s <= 21'
}

# Of what is between her and the server, how much was understood to the last bit.
decoded()
{
	jq -s -e '[.[] | select(.sampler == "follow" and .sequence)] | length as $all |
		($all > 300 and ([.[] | select(.status == "decoded")] | length) >= $all * 0.99)' \
		"$work/live.jsonl"
}

skip()
{
	echo "skip net_live_player: $*"
	exit 0
}

[ -x "$OPENARENA_CLIENT" ] || skip "no openarena client"
[ -x "$OPENARENA" ] || skip "no openarena-server"
command -v Xvfb >/dev/null || skip "no Xvfb"
net_test_begin "$@"
live_config >"$work/shield.conf"
server_start
shield_start || exit 1
player_screen
player_openarena
net_until 40 playing || { tail -5 "$work/client.log" >&2; net_die "the client is not in the game"; }
# shellcheck disable=SC2086
net_flood --payload getstatus --seconds 16 --from "$NET_FLOOD" --sources "$NET_SOURCES" \
	$PIN_FLOOD >"$work/flood.json" &
flood=$!
sleep 6
status_of
live=$players
cp "$players" "$work/now.json"
players=$work/now.json
net_check "name" player .
net_check "map" player ".map == \"$(<"$work/map")\""
net_check "ping" ping_agrees
net_check "snapshots a second" net_until 8 snapshots
net_check "no loss where there is none" player '.c2s.loss == 0 and .s2c.loss < 0.01'
net_check "decoded to the last bit" decoded
echo "# $(player '{ping_ms, snapshots_per_s, packets_per_s, snapshots, delayed,
	c2s: .c2s | {received, lost, late, repeated}, s2c: .s2c | {received, lost, unsure}}' |
	tr -d '\n ')"
wait "$flood"
exit "$net_failed"
