# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# look.sh - one look at a server with two players, alice and bob, in everything that shows
# them: the server's own status, players.json, HTTP, `top` and the page; and whether they
# agree. For net_evening.sh, which sets URL, DELAY, PING_SLACK, EVENING_OUT and players, has
# `playing MAP`, and starts server, shield and clients.
#
# shellcheck disable=SC2154 # shared with what sources this

# --- one look at everything, within a second ----------------------------------

fetch() # PATH
{
	net_in server curl -sS --max-time 5 "$URL$1"
}

term()
{
	tmux -S "$work/tmux" -f /dev/null "$@"
}

top_start()
{
	term new-session -d -x 100 -y 30 \
		"env TERM=xterm-256color nsenter --net=/run/netns/server '$SHIELD' top; sleep 100"
	sleep 2
}

# The server's own words, without colours: on its console, and as browsers ask it.
status_of_server() # DIRECTORY
{
	local from

	from=$(($(wc -l <"$work/server.log") + 1))
	echo status >&9
	net_until 3 status_is_whole "$from" || return
	tail -n "+$from" "$work/server.log" | sed 's/\^[0-9]//g' >"$1/status"
	# shellcheck disable=SC2016
	net_in server timeout 2 bash -c 'exec 3<>"/dev/udp/127.0.0.1/$1"
		printf "\xff\xff\xff\xffgetstatus\n" >&3; dd bs=4096 count=1 <&3 2>/dev/null' - \
		"$NET_PORT" | tr -d '\377' | sed 's/\^[0-9]//g' >"$1/getstatus"
}

status_is_whole() # FROM-LINE
{
	[ "$(tail -n "+$1" "$work/server.log" | grep -c '10\.79\.[12]\.2')" -ge 2 ]
}

# A busy machine stops the clients now and then, and a silent client has no ping: then
# look again.
look() # NAME MAP
{
	local try name place known

	for try in 1 2 3; do
		rm -rf "${work:?}/$1"
		net_until 20 playing "$2"
		look_once "$1"
		known=1
		for name in alice bob; do
			for place in row_server row_players row_http row_top row_page; do
				[ "$place" = row_page ] && [ ! -s "$work/$1/dom" ] && continue
				[ "$(ping_in "$place" "$1" "$name")" -lt 999 ] || known=0
			done
		done
		[ $known = 0 ] || return
		echo "# $1: somebody was silent, look $try"
	done
}

look_once() # NAME
{
	local at=$work/$1

	mkdir "$at"
	term send-keys p
	sleep 1.2
	cp "$players" "$at/players.json"
	term capture-pane -p >"$at/top-players"
	status_of_server "$at"
	fetch /metrics >"$at/metrics"
	fetch /stats.json >"$at/stats.json"
	fetch /players.json >"$at/players-http.json"
	term send-keys p
	sleep 0.5
	term capture-pane -p >"$at/top-services"
	browse "$at"
	printf '%s %s\n' "$(rss_kb)" "$(shield_cpu)" >"$at/daemon"
}

browse() # DIRECTORY
{
	local picture=''

	command -v chromium >/dev/null || return
	[ -z "$EVENING_OUT" ] || picture="--screenshot=$1/page.png"
	# shellcheck disable=SC2086
	timeout 60 nsenter --net=/run/netns/server nice chromium --headless --no-sandbox \
		--disable-gpu --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --user-data-dir="$work/chromium" \
		--window-size=1100,1500 --virtual-time-budget=4000 --dump-dom $picture "$URL/" \
		>"$1/dom" 2>"$work/chromium.log"
}

rss_kb()
{
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$shield_pid/status"
}

# Ticks of processor time of the daemon so far.
shield_cpu()
{
	awk '{ print $14 + $15 }' "/proc/$shield_pid/stat"
}

# --- what a look must show ------------------------------------------------------

# Each by name, its ping and the map: one line a player, from every place.
row_server()
{
	awk -v name="$2" '$1 == "map:" { map = $2 } $4 == name { print name, $3, map }' "$work/$1/status"
}

row_players() # LOOK NAME [FILE]
{
	jq -r --arg name "$2" '.players[] | select(.name == $name) | "\(.name) \(.ping_ms) \(.map)"' \
		"$work/$1/${3:-players.json}"
}

row_http()
{
	row_players "$1" "$2" players-http.json
}

# ping_in PLACE LOOK NAME: 999 where there is none.
ping_in()
{
	"$1" "$2" "$3" | awk '{ ping = $2 } END { print ping ~ /^[0-9]+$/ ? ping : 999 }'
}

# The chosen player's map only: it stands in the line of the lagometer.
row_top()
{
	awk -v name="$2" '$2 == name { ping = $6 } $2 == "on" { map = $3 }
		END { print name, ping, map }' "$work/$1/top-players"
}

row_page()
{
	grep -o "<tr><td>$2</td>.*" "$work/$1/dom" | sed 's/<\/tr>.*//; s/<[^>]*>/ /g; s/ ms / /' |
		awk '{ print $1, $5, $2 }'
}

# agrees LOOK NAME PLACE: name and map as the server says, and ping, nearly.
agrees()
{
	local ping theirs

	[ "$("$3" "$1" "$2" | cut -d' ' -f1,3)" = "$(row_server "$1" "$2" | cut -d' ' -f1,3)" ] ||
		return
	ping=$(ping_in "$3" "$1" "$2") theirs=$(ping_in row_server "$1" "$2")
	[ "$theirs" -lt 999 ] && [ $((ping - theirs)) -le $((PING_SLACK + theirs / 2)) ] &&
		[ $((theirs - ping)) -le $((PING_SLACK + theirs / 2)) ]
}

two_players() # LOOK
{
	local at=$work/$1

	grep -q '^quakeshield_players{service="lab",protocol="quake3"} 2$' "$at/metrics" &&
		jq -e '.services[0].players == 2' "$at/stats.json" &&
		jq -e '.players | length == 2' "$at/players-http.json" &&
		grep -Eq '^>!?lab +quake3 +2 ' "$at/top-services"
}

page_counts() # LOOK
{
	grep -q '<b>2</b><span>players</span>' "$work/$1/dom" &&
		grep -q '>2 of 2</small>' "$work/$1/dom"
}

named_by_the_server() # LOOK
{
	[ "$(tail -n +3 "$work/$1/getstatus" | awk -F'"' '{ print $2 }' | sort | tr '\n' ' ')" = 'alice bob ' ]
}

# By the server as by us.
far_and_near() # LOOK
{
	local far near

	far=$(ping_in row_server "$1" alice) near=$(ping_in row_server "$1" bob)
	[ "$far" -ge "$DELAY" ] && [ "$near" -lt "$DELAY" ] || return
	far=$(ping_in row_players "$1" alice) near=$(ping_in row_players "$1" bob)
	[ "$far" -ge "$DELAY" ] && [ "$near" -lt "$DELAY" ]
}

check_look() # LOOK MAP
{
	local name

	net_check "$1: the server names both in getstatus" named_by_the_server "$1"
	net_check "$1: two players in metrics, stats, top, players.json" two_players "$1"
	for name in alice bob; do
		net_check "$1: the server has $name on $2" grep -q " $2\$" <(row_server "$1" "$name")
		net_check "$1: $name, ping and map in players.json" agrees "$1" "$name" row_players
		net_check "$1: $name, ping and map over HTTP" \
			agrees "$1" "$name" row_http
		net_check "$1: $name, ping and map in top" agrees "$1" "$name" row_top
		if [ -s "$work/$1/dom" ]; then
			net_check "$1: $name, ping and map on the page" agrees "$1" "$name" row_page
		fi
		echo "# $1 $name: ping $(ping_in row_server "$1" "$name") by the server," \
			"$(ping_in row_players "$1" "$name") in players.json," \
			"$(ping_in row_top "$1" "$name") in top, $(ping_in row_page "$1" "$name") on the page"
	done
	if [ -s "$work/$1/dom" ]; then
		net_check "$1: the page counts two players" page_counts "$1"
	else
		echo "skip $1: the page: no chromium"
	fi
}
