#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_player.sh - a real OpenArena client in a game on a real server, under floods: its
# snapshots must arrive as they do when the same flood meets a bare XDP_DROP.
#
# Runs: no flood; control (a flood that a bare XDP_DROP drops); then behind the shield:
# 4 million sources, the player's own address from a port that is not its, and the
# player's own address and port; a restart with no state at all, in the game; last,
# without any shield. Snapshots are counted from a capture at the client, by tshark.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openarena PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

EACH=${EACH:-8}
CLIENT=${CLIENT:-/usr/games/openarena}
DISPLAY_NUMBER=:77

player_start()
{
	mkdir -p "$work/client"
	chown nobody "$work/client"
	Xvfb $DISPLAY_NUMBER -screen 0 640x480x24 -nolisten tcp -ac >"$work/xvfb.log" 2>&1 &
	net_until 10 test -e /tmp/.X11-unix/X77 || return 1
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env HOME="$work/client" DISPLAY=$DISPLAY_NUMBER LIBGL_ALWAYS_SOFTWARE=1 \
		"$CLIENT" +set r_fullscreen 0 +set r_mode -1 +set r_customwidth 160 \
		+set r_customheight 120 +set com_maxfps 30 +set com_introplayed 1 \
		+set s_initsound 0 +set in_nograb 1 +set net_enabled 1 +set name alice \
		+connect "$NET_SERVER:$NET_PORT" >"$work/client.log" 2>&1 &
	client_pid=$!
	net_until 40 player_in_game
}

# The server sends 20 snapshots a second to who is in the game.
player_in_game()
{
	snapshots 1 >"$work/now"
	[ "$(cut -d' ' -f1 "$work/now")" -ge 15 ]
}

# snapshots SECONDS: how many whole messages from the server reached the client, how many
# sequence numbers between the first and the last did not, to which port, and how many
# came in 100 seconds.
snapshots()
{
	net_in client timeout "$1" tcpdump -U -n -i cli0 -w "$work/client.pcap" -B 8192 \
		"udp and src host $NET_SERVER and src port $NET_PORT" 2>/dev/null
	tshark -n -r "$work/client.pcap" -T fields -e udp.dstport -e udp.payload \
		-e frame.time_epoch 2>/dev/null | awk '
		function byte(at) {
			return (index(hex, substr($2, at, 1)) - 1) * 16 + \
				index(hex, substr($2, at + 1, 1)) - 1
		}
		BEGIN { hex = "0123456789abcdef" }
		substr($2, 1, 8) != "ffffffff" {
			high = byte(7)
			if (high >= 128)
				high -= 128
			sequence = byte(1) + 256 * (byte(3) + 256 * (byte(5) + 256 * high))
			port = $1
			if (!count)
				start = $3
			end = $3
			if (sequence in seen)
				next
			seen[sequence] = 1
			if (!count++ || sequence < first)
				first = sequence
			if (sequence > last)
				last = sequence
		}
		END {
			rate = end > start ? (count - 1) / (end - start) : 0
			print count + 0, count ? last - first + 1 - count : 0, port + 0, int(rate * 100)
		}'
}

# measure NAME [floodgen arguments]: one run; what snapshots says to $work/NAME.
measure()
{
	local name=$1 flood=''

	shift
	if [ $# -gt 0 ]; then
		# shellcheck disable=SC2086
		net_flood $PIN_FLOOD --seconds $((EACH + 2)) "$@" >"$work/flood.json" 2>&1 &
		flood=$!
		sleep 1
	fi
	snapshots "$EACH" >"$work/$name"
	[ -z "$flood" ] || wait "$flood"
	awk -v name="$name" '{
		printf "# %-12s %d snapshots, %d lost, %.2f a second", name, $1, $2, $4 / 100
	}' "$work/$name"
	[ -z "$flood" ] || printf ', flood %s/s' "$(jq .pps "$work/flood.json")"
	echo
}

control_on()
{
	net_in server ip link set srv0 xdp obj "$BUILD/tests/lab/control.bpf.o" sec xdp
}

control_off()
{
	net_in server ip link set srv0 xdp off
}

# as_good NAME: no more lost than under control, give or take one in a hundred; and as often,
# give or take one in five: a busy machine makes the engine itself send at another pace.
as_good()
{
	local count lost rate base_lost base_rate

	read -r count lost _ rate <"$work/$1"
	read -r _ base_lost _ base_rate <"$work/control"
	[ "$count" -gt "$EACH" ] && [ "$base_rate" -gt 0 ] &&
		[ $((rate * 100)) -ge $((base_rate * 80)) ] &&
		[ "$lost" -le $((base_lost + count / 100)) ]
}

kept_in_game()
{
	kill -0 "$client_pid" && [ "$(net_in server "$SHIELD" stats --json | jq '.services[0].players')" -ge 1 ]
}

skip()
{
	echo "skip net_player: $*"
	exit 0
}

[ -x "$CLIENT" ] || skip "no openarena client"
[ -x "${OPENARENA:-/usr/games/openarena-server}" ] || skip "no openarena-server"
for tool in Xvfb tshark tcpdump; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
net_test_begin "$@"
server_start
if ! player_start; then
	tail -5 "$work/client.log"
	skip "the client did not get into the game"
fi

measure none
port=$(cut -d' ' -f3 "$work/none")
four_million=(--from "$NET_FLOOD" --sources "$NET_SOURCES")
control_on
measure control --port 9 --payload getstatus "${four_million[@]}"
control_off

# Attached in the middle of the game, with no state: the player must not notice.
shield_start
measure attached
measure millions --payload getstatus "${four_million[@]}"
measure own-address --payload netchan --victim "$NET_CLIENT" --source-port $((port ^ 1))
measure own-port --payload netchan --victim "$NET_CLIENT" --source-port "$port"
net_check "4 million sources: as good as control" as_good millions
net_check "own address, guessed port: as good as control" as_good own-address
net_check "own address and port: as good as control" as_good own-port
net_check "attached in the game: nothing lost" as_good attached
net_check "the player is known" kept_in_game

# No daemon, no maps: everything about the game is forgotten, and learned again.
shield_stop KILL
net_in server "$SHIELD" detach >/dev/null
shield_start
measure restarted
net_check "restart without state: the player does not notice" as_good restarted
net_check "the player is known again" kept_in_game

shield_stop TERM
net_in server "$SHIELD" detach >/dev/null
measure unprotected --payload getstatus "${four_million[@]}"
kill "$client_pid" 2>/dev/null
exit "$net_failed"
