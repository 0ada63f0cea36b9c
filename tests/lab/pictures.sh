#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# pictures.sh DIRECTORY - draw top.svg and page.png: what `quakeshield top` and the page show of
# two servers with players, one of them under flood, in the lab. Run by figures.sh.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
to=$(realpath "${1:?usage: pictures.sh DIRECTORY}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

QUAKEWORLD_PORT=27500

config()
{
	cat <<-CONFIG
	sample { one-in = 64 rate = 500 }
	service "ffa" {
	    protocol   = quake3
	    port       = $NET_PORT
	    validation = under-load
	    cache      = under-load
	}
	service "duel" {
	    protocol   = quakeworld
	    port       = $QUAKEWORLD_PORT
	    validation = under-load
	}
	CONFIG
}

# player PROTOCOL PORT ADDRESS: joins, and plays until the lab ends.
player()
{
	net_in client "$LAB/client" --protocol "$1" --to "$NET_SERVER" --port "$2" --seconds 120 \
		--join --poll 1 --from "$3" --json >/dev/null 2>&1 &
}

flood() # PAYLOAD RATE FLOODGEN-ARGUMENTS
{
	local payload=$1 rate=$2

	shift 2
	net_flood --payload "$payload" --rate "$rate" --seconds 120 "$@" >/dev/null &
}

players_are() # COUNT
{
	net_in server "$SHIELD" stats --json |
		jq -e "[.services[].players] | add == $1"
}

scene()
{
	server_start || exit 1
	net_room
	net_in server "$LAB/standin" quakeworld $QUAKEWORLD_PORT >"$work/duel.log" 2>&1 &
	config >"$work/shield.conf"
	shield_start >/dev/null || exit 1
	for i in 1 2 3 4 5; do
		player quake3 "$NET_PORT" "10.79.$i.2"
	done
	for i in 6 7; do
		player quakeworld $QUAKEWORLD_PORT "10.79.$i.2"
	done
	net_until 10 players_are 7 || net_die "the players are not in"
	flood getstatus 20000 --from "$NET_FLOOD" --sources 100000
	flood netchan 12000 --from "$NET_FLOOD" --sources 100000
	flood rcon 8000 --victim "$NET_VICTIM"
	sleep "${PICTURE_AFTER:-30}" # until the plots have something to show
}

term()
{
	tmux -S "$work/tmux" -f /dev/null "$@"
}

draw_top()
{
	term new-session -d -x 100 -y 26 \
		"env TERM=screen-256color nsenter --net=/run/netns/server '$SHIELD' top"
	sleep 4 # rates need two looks
	term capture-pane -p -e | tests/lab/screen_svg.py 'quakeshield top during a flood' \
		>"$work/top.svg" && mv "$work/top.svg" "$to/top.svg"
	term kill-server
}

draw_page()
{
	timeout 60 nsenter --net=/run/netns/server chromium --headless --no-sandbox --disable-gpu \
		--no-first-run --disable-background-networking --disable-component-update \
		--disable-sync --user-data-dir="$work/chromium" --hide-scrollbars \
		--window-size=1120,660 --virtual-time-budget=30000 \
		--screenshot="$work/page.png" http://127.0.0.1:9127/ >"$work/chromium.log" 2>&1 &&
		mv "$work/page.png" "$to/page.png"
}

for tool in tmux chromium python3; do
	command -v "$tool" >/dev/null || net_die "no $tool: make deps-test"
done
net_enter "$@"
work=$(mktemp -d)
chmod 711 "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
server_defaults
net_up
scene
draw_top || exit
draw_page
