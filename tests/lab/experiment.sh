#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# experiment.sh DIRECTORY [NAME DELAY UP DOWN RATE DUPLICATED REORDERED]... - `make experiment`:
# openarena's client plays on openarena-server over a line of that delay (milliseconds there and
# back), loss (per cent, UP and DOWN apart), duplication and reordering (per cent each way), with
# that rate (bytes per second). Draws DIRECTORY/NAME.svg, the lagometer of the session as decoded
# from a capture at the server; NAME.jpg is the client's own screen at the end. Without a NAME: a
# good and a poor line.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
to=$(realpath "${1:?usage: experiment.sh DIRECTORY [NAME DELAY UP DOWN RATE DUPLICATED REORDERED]...}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openarena PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh

PLAYS=20 # seconds, and those of the loading
LINE_PORT=30000

# The engine gives an address of a LAN all of the rate, unless it is told not to.
server_of_rate() # RATE
{
	server_run "$OPENARENA" +set dedicated 1 +set net_port "$NET_PORT" +set sv_master1 "" \
		+set sv_lanForceRate 0 +set sv_maxRate "$1" +set timelimit 0 +set com_hunkMegs 128 \
		+set bot_minplayers 6 +map oa_dm1
	net_until 30 server_answers || net_die "openarena-server does not answer"
}

# The client loads the map, plays, takes a picture of its screen, and ends. It draws 30 frames per
# second, so the picture is of $PLAYS seconds after its start.
play() # NAME RATE
{
	PLAYER_HOME=$1
	player_run timeout $((3 * PLAYS)) "$OPENARENA_CLIENT" +set r_fullscreen 0 +set r_mode -1 \
		+set r_customwidth 320 +set r_customheight 240 +set com_maxfps 30 \
		+set com_introplayed 1 +set s_initsound 0 +set in_nograb 1 +set net_enabled 1 \
		+set cg_lagometer 1 +set rate "$2" +set cl_packetdup 1 +set name "$PLAYER" \
		+connect "127.0.0.1:$((LINE_PORT + 1))" \
		+wait $((30 * PLAYS)) +screenshotJPEG lagometer +wait 5 +quit
	wait "$client_pid"
	find "$work/$1" -name lagometer.jpg -exec cp {} "$to/$1.jpg" \;
}

session() # NAME DELAY UP DOWN RATE DUPLICATED REORDERED
{
	local line tcpdump

	server_of_rate "$5"
	mkfifo "$work/line.$1"
	net_in client "$LAB/line" --to "$NET_SERVER" --port "$NET_PORT" --listen $LINE_PORT \
		--from 10.79.1.2 <"$work/line.$1" &
	line=$!
	exec 7>"$work/line.$1"
	printf '1 up %s\n1 down %s\n' "$3 $(($2 / 2)) $6 $7" "$4 $(($2 / 2)) $6 $7" >&7
	nsenter --net=/run/netns/server tcpdump --immediate-mode -U -n -i srv0 -w "$work/$1.pcap" udp \
		2>/dev/null &
	tcpdump=$!
	sleep 1
	play "$1" "$5"
	kill "$tcpdump" "$server_pid"
	exec 7>&-
	wait "$line" "$tcpdump" "$server_pid"
	"$SHIELD" decode --lagometer --json "$work/$1.pcap" | jq -c 'select(.snapshots > 20)' \
		>"$work/$1.lagometer"
	echo "$1: $(jq -c '{ping_ms, snapshots, delayed, c2s: .c2s | {lost, duplicated, late},
		s2c: .s2c | {lost, duplicated, late}}' "$work/$1.lagometer")"
	python3 tests/lab/lagometer_svg.py "$1: $2 ms, loss $3 % up and $4 % down, rate $5" \
		<"$work/$1.lagometer" >"$to/$1.svg" || exit 1
}

[ -x "$OPENARENA" ] || net_skip experiment "no $OPENARENA (package openarena-server)"
[ -x "$OPENARENA_CLIENT" ] || net_skip experiment "no $OPENARENA_CLIENT (package openarena)"
[ $# -gt 1 ] || set -- "$1" good 20 0 0 25000 0 0 poor 150 10 10 3000 0 0
net_test_begin "$@"
player_screen
shift
while [ $# -ge 7 ]; do
	session "${@:1:7}"
	shift 7
done
