#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_top.sh - `quakeshield top` on a real terminal, of tmux: during a flood and a game
# over a line that loses, in 80x24, without colours, in every size, without a daemon and
# without a shield.
#
# lane: beside, 40 s: it looks at screens, and waits for what it looks for.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quakeworld
SERVICE_MORE='cache = under-load'
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

term()
{
	tmux -S "$work/tmux.$terminal" -f /dev/null "$@"
}

# A terminal, and a server of its own for it: one that is ending takes no new one.
term_new() # COMMAND
{
	terminal=$((terminal + 1))
	term new-session -d -x 80 -y 24 "$1"
}

# top_start TERM: in 80x24; its exit status stays on the screen.
top_start()
{
	term_new "env TERM=$1 nsenter --net=/run/netns/server '$SHIELD' top; echo ended \$?; sleep 100"
}

keys()
{
	term send-keys "$@"
}

# shows REGEX: on one line of the screen, now or within three seconds.
shows()
{
	net_until 8 on_screen "$1" && return
	sed 's/^/# /' "$work/screen" >&2
	return 1
}

on_screen()
{
	term capture-pane -p >"$work/screen"
	grep -Eq -- "$1" "$work/screen"
}

# What the terminal was told, colours and all.
colourless()
{
	! term capture-pane -p -e | grep -q $'\e\\[[0-9;]*3[0-7]m'
}

colourful()
{
	term capture-pane -p -e | grep -q $'\e\\[[0-9;]*31m'
}

# As tests/lab/pictures.sh draws README's picture: well-formed, and no word is lost.
drawn()
{
	term capture-pane -p -e >"$work/coloured"
	tests/lab/screen_svg.py top <"$work/coloured" >"$work/top.svg" &&
		python3 -c 'import sys, xml.etree.ElementTree as tree
print(*[e.text for e in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text")])' \
			"$work/top.svg" | words >"$work/drawn" &&
		sed 's/\x1b\[[0-9;]*m//g' "$work/coloured" | words | diff - "$work/drawn" >&2
}

words()
{
	tr -s ' ' '\n' | grep .
}

# Each line fits, and the last one lists the keys.
fits()
{
	term capture-pane -p >"$work/screen"
	[ "$(wc -l <"$work/screen")" -eq 24 ] || return
	tail -n 1 "$work/screen" | grep -q 'q quit'
}

game()
{
	{
		shield_config
		echo 'follow { first = 4 rate = 2000 } sample { one-in = 64 rate = 500 }'
	} >"$work/shield.conf"
	server_start || exit 1
	shield_start || exit 1
	# One in ten is lost on the way to the player.
	nft insert rule netdev lab from_server ip daddr 10.79.0.0/16 numgen inc mod 10 == 0 drop
	client_start 60 >"$work/client.json" &
	net_flood --payload "$PAYLOAD" --seconds 40 --rate 20000 --from "$NET_FLOOD" \
		--sources 100000 >"$work/flood.json" &
	# And half as much in one victim's name: a third of all.
	net_flood --payload "$PAYLOAD" --seconds 40 --rate 10000 --victim 10.66.66.66 \
		>"$work/flood.json" &
	net_until 10 playing
}

playing()
{
	net_in server "$SHIELD" stats --json | jq -e '.services[0].players == 1'
}

test_services()
{
	top_start xterm-256color
	net_check "the interface and the daemon" shows "srv0 \((native|skb)\) +daemon [0-9]+"
	net_check "the service, its player and its drops" \
		shows '^>!?lab +quakeworld +1 +[0-9.]+ +(28|29|30|31)k '
	net_check "a kind, its verdict, its reason, its rate" \
		shows 'in +status +drop +(service|source|prefix)-limit +[0-9]+k'
	net_check "what is spent" shows 'query +\[#{6,10}\.*\] *(5|6|7|8|9|10)[0-9]'
	net_check "it fits 80x24, with its keys" fits
	net_check "what answers there are" shows \
		'^cached responses: [1-6], young enough to be sent: [0-6], the oldest [0-9.]+ s'
	net_check "where drops come from" shows '^drops from +10\.66\.66\.66 \([2-4][0-9] % of'
	net_check "colours" colourful
	net_check "it can be drawn, word for word" drawn
	keys s
	net_check "sorted otherwise" shows 'sort:total'
	keys h
	net_check "help" shows 'choose a service'
	keys q
}

test_players()
{
	keys p
	net_check "a player" shows '^>10\.79\.1\.2:[0-9]+ .* [0-9]+s +[0-9]s +[0-9]+'
	net_check "a lagometer, with its losses" shows 'to it +lost [1-9][0-9]* of [0-9]+'
	net_check "drawn" shows '[|.]{4,}X+[|.X]{4,}'
	net_check "the players fit as well" fits
	cp "$work/screen" "${SCREENSHOT:-/dev/null}"
	keys p
}

test_without_daemon()
{
	shield_stop KILL
	net_check "the daemon is dead" shows 'no daemon'
	net_check "the figures go on" shows '^>!?lab +quakeworld +1 +[0-9.]+ +(28|29|30|31)k '
}

# Every size there is, and keys all the while: it must be alive afterwards.
storm()
{
	for size in 1x1 2x50 200x2 30x8 29x8 30x7 80x9 81x10 120x40 200x60 33x33 5x5 80x24 \
		20x80 108x20 79x23 1x60 250x1; do
		term resize-window -x "${size%x*}" -y "${size#*x}"
		keys j f p
		sleep 0.1
		keys h k b s
		sleep 0.1
		keys q p
	done
	term resize-window -x 80 -y 24
	shows 'q quit'
}

test_without_shield()
{
	net_in server "$SHIELD" detach >"$work/detach.log"
	net_check "no shield is said" shows 'nothing is loaded'
	keys q
	sleep 0.2
	keys q
	net_check "ends well" shows 'ended 0'
	term kill-server
}

test_vt100()
{
	top_start vt100
	net_check "vt100" shows '^>!?lab +quakeworld'
	net_check "no colours" colourless
	net_check "fits" fits
	term kill-server
}

# On a terminal that has colours, where none are wanted.
test_no_color()
{
	term_new "env TERM=screen-256color NO_COLOR=1 nsenter --net=/run/netns/server \
		'$SHIELD' top; sleep 100"
	net_check "NO_COLOR" shows '^>!?lab +quakeworld'
	net_check "NO_COLOR: no colours" colourless
	term kill-server
}

test_refusals()
{
	net_check "no terminal, no screen" \
		refused 'needs a terminal' net_in server "$SHIELD" top </dev/null
	term_new \
		"env TERM=no-such nsenter --net=/run/netns/server '$SHIELD' top; echo ended \$?; sleep 9"
	net_check "no such terminal" shows "no such terminal: 'no-such'"
	net_check "which is an error" shows 'ended 1'
	term kill-server
}

refused() # WORDS COMMAND...
{
	local words=$1

	shift
	! "$@" >"$work/refused" 2>&1 && grep -q "$words" "$work/refused"
}

command -v tmux >/dev/null || net_skip net_top "no tmux"
net_test_begin "$@"
terminal=0
game
test_services
test_players
test_vt100
test_no_color
test_refusals
top_start xterm
test_without_daemon
net_check "survives every size" storm
test_without_shield
exit "$net_failed"
