#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_lag.sh - the cause of lag: four players, each behind a line of its own (tests/lab/line.c),
# a server that is stopped now and then, and floods. Each "minute" of four seconds has one
# trouble, and a letter for each player says what the verdict is to be. `lag`, its JSON,
# `top` and players.json say the same.
#
#   LAG_LOG=file tests/net/net_lag.sh     the table of minutes goes there, too
#
# lane: alone, 65 s: players that get no processor lag.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quakeworld
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

export LAG_MINUTE_MS=4000
PLAYERS=4
LINE_PORT=30000
RIGHT=95 # per cent of verdicts
players=/run/quakeshield/players.json

# A minute each: its name, and the verdict on each player in turn. The name is that of a function
# here, which makes the trouble: it runs at the begin of the minute and has two seconds.
MINUTES='
calm               ....
one_loses_up       P...
one_loses_down     .P..
all_lose_up        UUUU
all_lose_down      UUUU
server_stops       SSSS
one_is_delayed     ..P.
server_stops_twice SSSP
client_stops       .P..
line_breaks        P...
flood_is_refused   ....
flood_fills_uplink AAAA
others_refused     P...
'

line() # PLAYER WAY LOSS DELAY
{
	echo "$*" >&8
}

lines_good()
{
	line '*' '*' 0 0
}

calm() { :; }
one_loses_up() { line 1 up 12 0; }
one_loses_down() { line 2 down 15 0; }
all_lose_up() { line '*' up 12 0; }
all_lose_down() { line '*' down 15 0; }
one_is_delayed() { line 3 down 0 150; }

stop_for() # PID SECONDS
{
	kill -STOP "$1"
	sleep "$2"
	kill -CONT "$1"
}

server_stops() { stop_for "$server_pid" 1.2; }

# And one player's line is far worse than that.
server_stops_twice()
{
	line 4 up 50 0
	stop_for "$server_pid" 0.5
	sleep 0.4
	stop_for "$server_pid" 0.5
}

client_stops() { stop_for "${client_pids[1]}" 1.2; }

line_breaks()
{
	line 1 up 100 0
	sleep 1
	line 1 up 0 0
}

flood_is_refused()
{
	net_flood --payload "$PAYLOAD" --seconds 6 --rate 20000 --from "$NET_FLOOD" \
		--sources 100000 >"$work/flood.json" &
}

flood_fills_uplink() { line '*' up 20 0; }

# Sources that do not play are refused beside a lossy line: the loss is the line's, not the shield's.
others_refused()
{
	line 1 up 12 0
	net_flood --payload "$PAYLOAD" --seconds 2 --rate 5000 --from "$NET_FLOOD" \
		--sources 4 >"$work/flood.json" &
}

# --- the players --------------------------------------------------------------------

lines_start()
{
	local from='' i

	for ((i = 1; i <= PLAYERS; i++)); do
		from="$from --from 10.79.$i.2"
	done
	mkfifo "$work/line"
	# shellcheck disable=SC2086
	net_in client "$LAB/line" --to "$NET_SERVER" --port "$NET_PORT" --listen $LINE_PORT \
		$from <"$work/line" 2>"$work/line.log" &
	exec 8>"$work/line"
}

client_pids=()

clients_start()
{
	local i

	for ((i = 1; i <= PLAYERS; i++)); do
		nsenter --net=/run/netns/client "$LAB/client" --protocol "$PROTOCOL" \
			--to 127.0.0.1 --port $((LINE_PORT + i)) --seconds 100 --join --json \
			>"$work/client.$i.json" 2>"$work/client.$i.log" &
		client_pids+=($!)
	done
}

clients_stop()
{
	kill "${client_pids[@]}"
	wait "${client_pids[@]}"
}

all_play()
{
	jq -e "[.players[] | select(.snapshots_per_s >= 15 and .packets_per_s >= 20 and .ping_ms)]
		| length == $PLAYERS" "$players"
}

# --- the minutes ----------------------------------------------------------------------

# Begin of the newest minute with a verdict on all of them; 0: there is none.
minute_judged()
{
	jq "[.players[].lag.minute // 0] | if length == $PLAYERS then min else 0 end" "$players"
}

# The next minute's verdicts are there, and so the one after has begun.
minute_turns()
{
	local before=$1

	for ((tries = 0; tries < 160; tries++)); do
		judged=$(minute_judged) || judged=0
		awk -v now="$judged" -v before="$before" 'BEGIN { exit !(now > before) }' && return
		sleep 0.05
	done
	return 1
}

# Seconds until the current minute, which began as the judged one ended, is so old.
minute_rest() # SECONDS
{
	awk -v began="$judged" -v age="$1" -v now="$(date +%s.%N)" 'BEGIN {
		rest = began + ENVIRON["LAG_MINUTE_MS"] / 1000 + age - now
		printf "%.3f\n", (rest > 0 ? rest : 0) }'
}

# The newest letter of each player, in the order of the players.
letters()
{
	jq -r '[.players | sort_by(.address)[] | .lag.history[-1:]] | add' "$players"
}

minute_line() # NAME WANTED GOT
{
	printf '# %-18s %s %s  %s\n' "$1" "$2" "$3" "$(jq -r --arg wanted "$2" '
		[.players | sort_by(.address)[] | select(.lag.cause != "none") |
			"\(.address[6:7]): \(.lag.text)"] | join("; ")' "$players" | cut -c 1-220)"
}

minutes_run()
{
	local name wanted got=''

	verdicts=0 right=0 blamed=0
	minute_turns 0 || return
	while read -r name wanted; do
		[ -n "$name" ] || continue
		"$name"
		# The lines are good before the minute ends: the next one is judged without them.
		sleep "$(minute_rest 3.2)"
		lines_good
		minute_turns "$judged" || return
		got=$(letters)
		minute_line "$name" "$wanted" "$got"
		count_right "$name" "$wanted" "$got"
		cp "$players" "$work/$name.json"
	done <<<"$MINUTES"
}

count_right() # NAME WANTED GOT
{
	local i

	for ((i = 0; i < PLAYERS; i++)); do
		verdicts=$((verdicts + 1))
		[ "${2:i:1}" != "${3:i:1}" ] || right=$((right + 1))
		[[ $1 == server_* && ${2:i:1} == S && ${3:i:1} == P ]] && blamed=$((blamed + 1))
	done
}

right_enough()
{
	echo "# $right of $verdicts verdicts are right"
	[ "$verdicts" = $((PLAYERS * $(grep -c . <<<"$MINUTES"))) ] &&
		[ $((100 * right)) -ge $((RIGHT * verdicts)) ]
}

verdict_of() # MINUTE PLAYER JQ-CONDITION
{
	jq -e ".players[] | select(.address == \"10.79.$2.2\") | .lag | $3" "$work/$1.json"
}

figures_are_kept()
{
	verdict_of one_loses_up 1 '.symptom == "loss" and .direction == "c2s" and .value > 0.02 and
		.value < 0.3 and .common < 0.02 and .compared == 4 and .counts.c2s_lost >= 2' &&
		verdict_of one_loses_down 2 '.symptom == "loss" and .direction == "s2c"' &&
		verdict_of server_stops 3 '.symptom == "late" and .value > 0.8 and .value < 2.5' &&
		verdict_of one_is_delayed 3 '.symptom == "delay" and .direction == null' &&
		verdict_of client_stops 2 '.symptom == "silence" and .counts.silent_ms > 800' &&
		verdict_of flood_fills_uplink 1 '.attack == "flood"'
}

# --- where else the verdicts are --------------------------------------------------------

command_agrees()
{
	net_in server "$SHIELD" lag >"$work/lag.txt" &&
		net_in server "$SHIELD" lag --json >"$work/lag.json" &&
		[ "$(grep -cE '^lab +10\.79\.[1-4]\.2:' "$work/lag.txt")" = 4 ] &&
		grep -qE '^ +[.?SUAHDP]{12,}$' "$work/lag.txt" &&
		jq -e '.players | length == 4 and all(.[]; .lag.cause and .lag.text)' "$work/lag.json" &&
		"$SCHEMA" lag --all '' <"$work/lag.json" >&2
}

top_shows()
{
	net_in server env LINES=24 COLUMNS=80 "$SHIELD" top --once >"$work/top" # services only
	! grep -q 'lag ' "$work/top" || return
	command -v tmux >/dev/null || return 0
	tmux -S "$work/tmux" -f /dev/null new-session -d -x 120 -y 30 \
		"env TERM=xterm nsenter --net=/run/netns/server '$SHIELD' top; sleep 9"
	tmux -S "$work/tmux" send-keys p
	net_until 8 screen_has '^lag +[a-z]+ .* [.?SUAHDP]{12,}'
	local status=$?
	tmux -S "$work/tmux" kill-server
	return "$status"
}

screen_has()
{
	tmux -S "$work/tmux" capture-pane -p >"$work/screen"
	grep -Eq "$1" "$work/screen"
}

net_test_begin "$@"
{
	shield_config
	echo 'follow { first = 8 }'
} >"$work/shield.conf"
server_start
shield_start || exit 1
lines_start
clients_start
net_until 15 all_play || net_die "the players are not in the game"
minutes_run >"$work/minutes"
minutes_status=$?
tee "${LAG_LOG:-/dev/null}" <"$work/minutes"
net_check "each minute has a verdict on all players" test "$minutes_status" = 0
net_check "$RIGHT % of the verdicts are right" right_enough
net_check "no player is blamed for the server" test "$blamed" = 0
net_check "the figures behind them are kept" figures_are_kept
net_check "lag says the same, and its JSON" command_agrees
net_check "top shows it" top_shows
exec 8>&-
clients_stop
exit "$net_failed"
