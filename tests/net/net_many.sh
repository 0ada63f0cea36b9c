#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_many.sh - as many services as there may be, of every protocol: loaded, flooded,
# counted, scraped, shown, exchanged for others; and one more is refused.
#
# lane: beside, 30 s: it counts, and measures no time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
URL=http://127.0.0.1:9127
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

MANY=256
FLOODED=133

many_config() # COUNT PREFIX
{
	local i protocols=(netquake quakeworld quake2 quake3 quake-enhanced auto)

	for ((i = 0; i < $1; i++)); do
		printf 'service "%s%03d" {\n    protocol = %s\n    port     = %d\n}\n' "$2" "$i" \
			"${protocols[i % 6]}" $((20000 + i))
	done
}

# Each once, in order, and only the flooded one has counted anything.
counted()
{
	jq -e --argjson many "$MANY" --arg name "arena$FLOODED" '.services as $s |
		($s | length == $many) and ([$s[].name] | unique | length == $many) and
		([$s[] | select(.counters != []) | .name] == [$name]) and
		([$s[] | select(.name == $name).counters[] | select(.verdict == "drop").packets] |
			add > 10000)' "$work/stats.json"
}

scraped()
{
	local size seconds

	read -r size seconds < <(net_in server curl -sS --max-time 5 -o "$work/metrics" \
		-w '%{size_download} %{time_total}\n' "$URL/metrics") || return
	echo "# /metrics: $size bytes, $(wc -l <"$work/metrics") lines, in $seconds s" >&2
	[ "$size" -lt 300000 ] && [ "$(tail -n 1 "$work/metrics")" = '# EOF' ] &&
		[ "$(grep -c '^quakeshield_players{' "$work/metrics")" = "$MANY" ]
}

# The MB that the daemon may have. Linux maps one page of zeros where memory of mmap() was only read;
# some kernels of virtual machines give a page to each.
most()
{
	python3 - <<-'READ'
	import mmap
	def own():
	    return int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1])
	before = own()
	memory = mmap.mmap(-1, 1 << 25, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
	any(memory[at] for at in range(0, 1 << 25, 4096))
	print(160 if own() - before > 8192 else 40)
	READ
}

# Pages of the daemon's own, in kB; not those that it shares with the kernel's tables.
sparing()
{
	local own

	own=$(awk '/^RssAnon:/ { print $2 }' "/proc/$shield_pid/status")
	echo "# the daemon's own memory: $own kB" >&2
	[ "$own" -lt "$(most)000" ]
}

term()
{
	tmux -S "$work/tmux" -f /dev/null "$@"
}

shows() # REGEX
{
	net_until 15 on_screen "$1" && return
	sed 's/^/# /' "$work/screen" >&2
	return 1
}

on_screen()
{
	term capture-pane -p >"$work/screen"
	grep -Eq -- "$1" "$work/screen"
}

test_top()
{
	local i

	if ! command -v tmux >/dev/null; then
		echo "skip top: no tmux"
		return
	fi
	term new-session -d -x 80 -y 24 \
		"env TERM=xterm nsenter --net=/run/netns/server '$SHIELD' top; sleep 100"
	net_check "top: the busiest comes first" shows "^>!?arena$FLOODED +quakeworld .* [1-9][0-9]*k "
	net_check "top: what it has is below" shows "^arena$FLOODED: limits used"
	term send-keys s s
	net_check "top: sorted by name" shows 'sort:name'
	for ((i = 0; i < MANY; i += 32)); do
		term send-keys -N 32 k
	done
	net_check "top: up to the first" shows '^>arena000 '
	for ((i = 0; i < MANY; i += 32)); do
		term send-keys -N 32 j
	done
	net_check "top: down to the last" shows '^>arena255 '
	term kill-server
}

page_folds()
{
	grep -q "<tbody><tr><td><button data-key=\"arena$FLOODED\"" "$work/dom" &&
		grep -q "$((MANY - 1)) quiet services: " "$work/dom" &&
		[ "$(grep -o '<h2>arena[0-9]* ' "$work/dom")" = "<h2>arena$FLOODED " ]
}

test_page()
{
	local try

	if ! command -v chromium >/dev/null; then
		echo "skip the page in a browser: no chromium"
		return
	fi
	# On a busy machine the page may not know the rates yet, after its four seconds.
	for try in 1 2 3; do
		timeout 60 nsenter --net=/run/netns/server chromium --headless --no-sandbox \
			--disable-gpu --no-first-run --disable-background-networking \
			--disable-component-update --disable-sync --user-data-dir="$work/chromium" \
			--virtual-time-budget=4000 --dump-dom "$URL/" >"$work/dom" \
			2>"$work/chromium.log"
		page_folds && break
		echo "# the page, try $try: $(grep -o '[0-9]* quiet services' "$work/dom")" >&2
	done
	net_check "the page has them all" \
		test "$(grep -o '<button data-key="arena[0-9]*"' "$work/dom" | sort -u | wc -l)" = $MANY
	net_check "the flooded one first, and the others folded" page_folds
}

# All others: each takes the place of one who is leaving.
exchanged()
{
	many_config "$MANY" hall >"$work/shield.conf"
	kill -HUP "$shield_pid"
	net_until 10 grep -q "reloaded, $MANY services" "$work/shield.log" || return
	net_in server "$SHIELD" stats --json >"$work/stats.json"
	jq -e --argjson many "$MANY" '(.services | length == $many) and
		all(.services[]; (.name | startswith("hall")) and .counters == [])' "$work/stats.json"
}

one_too_many()
{
	many_config $((MANY + 1)) arena >"$work/more.conf"
	! "$SHIELD" check -c "$work/more.conf" 2>"$work/refused" &&
		grep -q "'arena$MANY' is one too many" "$work/refused"
}

ticks()
{
	awk '{ print $14 + $15 }' "/proc/$shield_pid/stat"
}

# With a scrape and a page's requests each second, and the look for attacks: three parts in
# twenty of a processor, for as many services as there can be.
cheap()
{
	local before i

	before=$(ticks)
	for i in 1 2 3 4 5; do
		net_in server curl -sS -o /dev/null "$URL/metrics" "$URL/stats.json" "$URL/history.json"
		sleep 1
	done
	echo "# $(($(ticks) - before)) ticks in $i s, $(awk '$1 == "VmRSS:" { print $2 }' \
		"/proc/$shield_pid/status") kB" >&2
	[ $(($(ticks) - before)) -le 75 ]
}

net_test_begin "$@"
many_config $MANY arena >"$work/shield.conf"
net_check "check accepts $MANY services" "$SHIELD" check -c "$work/shield.conf"
net_check "and no more" one_too_many
shield_start || exit 1
NET_PORT=$((20000 + FLOODED))
net_flood --payload qw-status --seconds 3 --rate 20000 --from "$NET_FLOOD" --sources 100000 \
	>"$work/flood.json"
net_in server "$SHIELD" stats --json >"$work/stats.json"
net_check "stats has each, and counts the one" counted
net_check "the metrics have each, in less than 300 kB" scraped
net_check "the daemon's own memory is less than $(most) MB" sparing
# As long as the screen and the page are looked at, however slow the machine is.
net_flood --payload qw-status --seconds 120 --rate 20000 --from "$NET_FLOOD" --sources 100000 \
	>"$work/flood.json" &
flood=$!
test_top
test_page
net_check "asked every second, it stays cheap" cheap
pkill -x floodgen # there is none but ours: net_enter
wait "$flood"
net_check "all exchanged by one reload" exchanged
exit "$net_failed"
