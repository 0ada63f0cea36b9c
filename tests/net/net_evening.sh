#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_evening.sh - an evening on a server: two real OpenArena clients play through a flood
# and a change of map, and everything that shows them agrees: JSON lines, metrics, `stats`,
# `top` and the page with a capture taken at the clients, and with the server's `status`.
#
#   EVENING_S=180 EVENING_OUT=/tmp/evening tests/net/net_evening.sh
#
# Every datagram of the game counts: what was recorded must be what the clients sent and
# got, sequence by sequence. EVENING_OUT keeps the screens, as text and as a picture.
#
# lane: beside, 70 s: it compares what several places say of the same game.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openarena PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/look.sh
. tests/lab/look.sh

EVENING_S=${EVENING_S:-20}
EVENING_OUT=${EVENING_OUT:-}
FLOOD_RATE=${FLOOD_RATE:-50000}
CLIENT=${CLIENT:-/usr/games/openarena}
URL=http://127.0.0.1:9127
MAPS='oa_dm1 aggressor'
# Who plays, and from where.
declare -A ADDRESS=([alice]=10.79.1.2 [bob]=10.79.2.2)
DELAY=100     # ms that alice's packets wait before they leave, on the second map
PING_SLACK=60 # ms: the server's clock moves in frames of 50 ms, and half of its figure:
	      # it takes the mean of 32 messages, we of the last few
players=/run/quakeshield/players.json

evening_config()
{
	shield_config
	cat <<-CONFIG
	sample { one-in = 1024 rate = 200 }
	follow { first = 4 }
	output {
	    json   = "$work/live.jsonl"
	    pcapng = "$work/live.pcapng"
	}
	CONFIG
}

# --- the players --------------------------------------------------------------

# What passes the clients' own interface, from before they start until after they left.
capture_start()
{
	nsenter --net=/run/netns/client tcpdump -U -n -s 200 -B 8192 -i cli0 \
		-w "$work/client.pcap" "udp port $NET_PORT" 2>"$work/tcpdump.log" &
	capture_pid=$!
	net_until 10 grep -q 'listening on' "$work/tcpdump.log"
}

display_start()
{
	# It chooses a free number itself, and says which.
	Xvfb -displayfd 8 -screen 0 640x480x24 -nolisten tcp -ac 8>"$work/display" \
		>"$work/xvfb.log" 2>&1 &
	net_until 10 test -s "$work/display"
}

player_start() # NAME
{
	mkdir -p "$work/$1"
	chown nobody "$work/$1"
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env HOME="$work/$1" DISPLAY=":$(<"$work/display")" LIBGL_ALWAYS_SOFTWARE=1 \
		"$CLIENT" +set r_fullscreen 0 +set r_mode -1 +set r_customwidth 160 \
		+set r_customheight 120 +set com_maxfps 30 +set com_introplayed 1 \
		+set s_initsound 0 +set in_nograb 1 +set net_enabled 1 +set net_ip "${ADDRESS[$1]}" \
		+set com_pipefile cmdpipe +set name "$1" \
		+connect "$NET_SERVER:$NET_PORT" >"$work/$1.log" 2>&1 &
	printf -v "$1_pid" %s "$!"
}

player_does() # NAME COMMANDS
{
	# shellcheck disable=SC2016 # for the other shell
	timeout 2 bash -c 'echo "$1" >"$2"' - "$2" "$work/$1/.openarena/baseoa/cmdpipe"
}

# Both in the game, on this map: here, and by the server, whose ping for who loads is 999.
playing() # MAP
{
	jq -e --arg map "$1" '[.players[] | select(.snapshots_per_s >= 15 and .packets_per_s >= 10 and
		.map == $map and .ping_ms)] | length == 2' "$players" && status_of_server "$work" &&
		[ "$(awk '$4 ~ /^(alice|bob)$/ && $3 < 999' "$work/status" | wc -l)" = 2 ]
}

gone()
{
	! jobs -rp | grep -qwE "$alice_pid|$bob_pid"
}

# They say goodbye, and nothing of the game is on its way any more.
players_leave()
{
	player_does alice 'cl_packetdelay 0'
	sleep 1 # what waits would never leave
	player_does alice quit
	player_does bob quit
	net_until 10 gone || kill "$alice_pid" "$bob_pid"
	sleep 4 # the server goes on for 2 s
	kill -INT "$capture_pid"
	wait "$capture_pid"
	cp "$players" "$work/last.json"
	fetch /metrics >"$work/last.metrics"
}

# --- what the whole evening must show -------------------------------------------

# way address sequence, a line for each datagram of the game, of the clients' capture
# and of our lines.
list_capture()
{
	tshark -n -r "$work/client.pcap" -T fields -e ip.src -e ip.dst -e udp.payload 2>/dev/null |
		awk -v server="$NET_SERVER" '
		function byte(at) {
			return (index(hex, substr($3, at, 1)) - 1) * 16 + \
				index(hex, substr($3, at + 1, 1)) - 1
		}
		BEGIN { hex = "0123456789abcdef" }
		substr($3, 1, 8) != "ffffffff" {
			sequence = byte(1) + 256 * (byte(3) + 256 * (byte(5) + 256 * (byte(7) % 128)))
			print $1 == server ? "s2c " $2 : "c2s " $1, sequence
		}' | sort
}

list_lines()
{
	jq -r 'select(.sampler == "follow" and .sequence) |
		"\(.direction) \(if .direction == "s2c" then .dst else .src end) \(.sequence)"' \
		"$work/live.jsonl" | sort
}

datagrams() # LIST WAY ADDRESS
{
	grep -c "^$2 $3 " "$work/$1"
}

messages() # LIST WAY ADDRESS: fragments of one are one
{
	grep "^$2 $3 " "$work/$1" | sort -u | wc -l
}

same_datagrams() # WAY ADDRESS
{
	grep "^$1 $2 " "$work/captured" >"$work/a"
	grep "^$1 $2 " "$work/recorded" >"$work/b"
	[ "$(wc -l <"$work/a")" -gt $((EVENING_S * 5)) ] && cmp "$work/a" "$work/b" && return
	diff "$work/a" "$work/b" | head -10 | sed 's/^/# /' >&2
	return 1
}

# figure NAME JQ: of the last players.json.
figure()
{
	jq -r --arg name "$1" ".players[] | select(.name == \$name) | $2" "$work/last.json"
}

metric() # METRIC VERDICT: sum over game traffic
{
	awk -v metric="^quakeshield_$1{" -v verdict="verdict=\"$2\"" '
		$0 ~ metric && $0 ~ verdict && /kind="netchan/ { n += $NF } END { print n + 0 }' \
		"$work/last.metrics"
}

# In every line of a player's connect, and on every map of the evening.
line_names()
{
	jq -r 'select(.sampler == "follow" and .kind == "connect") | .userinfo.name' \
		"$work/live.jsonl" | sort -u | tr '\n' ' '
}

line_maps() # ADDRESS
{
	jq -r --arg to "$1" 'select(.sampler == "follow" and .direction == "s2c" and .dst == $to) |
		.. | .text? // empty | strings | capture("\\\\mapname\\\\(?<map>[^\\\\]*)") |
		.map' "$work/live.jsonl" |
		awk '!seen[$0]++' | tr '\n' ' '
}

all_decoded()
{
	jq -r 'select(.sampler == "follow" and .sequence) | .status' "$work/live.jsonl" | sort |
		uniq -c >"$work/status"
	sed 's/^/# status /' "$work/status" >&2
	[ "$(awk '{ print $2 }' "$work/status")" = decoded ]
}

pcapng_has() # WAY ADDRESS: as many of the game as the clients' capture
{
	local host=dst

	[ "$1" = s2c ] || host=src
	[ "$(tshark -n -r "$work/live.pcapng" -Y "ip.$host == $2 && frame.comment contains
		\"sampler=follow\" && udp.payload[0:4] != ff:ff:ff:ff" 2>/dev/null | wc -l)" = \
		"$(datagrams captured "$1" "$2")" ]
}

nothing_missed()
{
	jq -e '.follow | .limited == 0 and .lost == 0 and .shed == 0' "$work/last.json"
}

flood_sent()
{
	jq -s 'map(.delivered) | add' "$work/flood.json"
}

# Asked for proof, the most part, or dropped: none of it came to the server.
flood_was_held()
{
	[ "$(flood_sent)" -gt $((EVENING_S * FLOOD_RATE / 4)) ] &&
		awk -v sent="$(flood_sent)" '/^quakeshield_received_packets_total/ &&
			!/verdict="pass"/ { n += $NF } END { exit n < sent * 0.9 }' "$work/last.metrics"
}

# Two players are far from what the budget allows.
daemon_is_small()
{
	local first_kb last_kb first_cpu last_cpu

	read -r first_kb first_cpu <"$work/before/daemon"
	read -r last_kb last_cpu <"$work/after/daemon"
	echo "# daemon: $last_kb kB, $((last_kb - first_kb)) kB more than at the first look," \
		"$((last_cpu - first_cpu)) ticks in $looks_apart s between the looks" >&2
	[ "$last_kb" -lt 150000 ] && [ $((last_kb - first_kb)) -lt 20000 ] &&
		[ $((last_cpu - first_cpu)) -le $((looks_apart * 25)) ]
}

check_player() # NAME
{
	local name=$1 address=${ADDRESS[$1]} way

	for way in s2c c2s; do
		net_check "$name $way: lines are the clients' capture, datagram by datagram" \
			same_datagrams "$way" "$address"
		net_check "$name $way: so is the pcapng" pcapng_has "$way" "$address"
	done
	net_check "$name: snapshots in players.json as captured" test \
		"$(figure "$name" .snapshots)" = "$(messages captured s2c "$address")"
	net_check "$name: messages from it in players.json as captured" test \
		"$(figure "$name" .c2s.received)" = "$(messages captured c2s "$address")"
	net_check "$name: no loss where there is none" test \
		"$(figure "$name" ".c2s.lost <= $wire_lost and .s2c.lost <= 10 + .snapshots / 100")" = true
	net_check "$name: both maps in the lines" test "$(line_maps "$address")" = "$MAPS "
	echo "# $name: s2c $(messages captured s2c "$address") messages captured," \
		"$(messages recorded s2c "$address") in lines, $(figure "$name" .snapshots) in" \
		"players.json; c2s $(messages captured c2s "$address")," \
		"$(messages recorded c2s "$address"), $(figure "$name" .c2s.received);" \
		"lost $(figure "$name" '"\(.c2s.lost) and \(.s2c.lost), unsure \(.s2c.unknown)"')"
}

# The flood may fill the queue in front of the shield, which then never sees a client's
# datagram. So those leave the capture that are in no line, if the shield has passed as many
# less, has dropped none of the game, and they are no more than one in 500.
wire_lost=0
leave_out_wire_losses()
{
	local lost sent

	sent=$(grep -c ^c2s "$work/captured")
	comm -23 "$work/captured" "$work/recorded" | grep ^c2s >"$work/wire"
	lost=$(wc -l <"$work/wire")
	if [ "$lost" = 0 ] || [ "$lost" -gt $((sent / 500)) ] ||
		[ "$(metric received_packets_total pass)" != $((sent - lost)) ] ||
		[ "$(metric received_packets_total drop)" != 0 ]; then
		return
	fi
	comm -23 "$work/captured" "$work/wire" >"$work/arrived"
	mv "$work/arrived" "$work/captured"
	wire_lost=$lost
	echo "# $lost of $sent datagrams of the clients were lost before the shield" >&2
}

check_evening()
{
	local name

	list_capture >"$work/captured"
	list_lines >"$work/recorded"
	leave_out_wire_losses
	net_check "the capture itself lost nothing" grep -q '^0 packets dropped by kernel' \
		"$work/tcpdump.log"
	for name in alice bob; do
		check_player "$name"
	done
	net_check "names in the lines" test "$(line_names)" = 'alice bob '
	net_check "every line of the game is decoded to the last bit" all_decoded
	net_check "metrics count what was sent to the clients" test \
		"$(metric sent_packets_total pass)" = "$(grep -c ^s2c "$work/captured")"
	net_check "metrics count what the clients sent" test \
		"$(metric received_packets_total pass)" = "$(grep -c ^c2s "$work/captured")"
	net_check "nothing limited, lost or shed" nothing_missed
	net_check "the flood was held" flood_was_held
	net_check "the daemon stays small" daemon_is_small
	echo "# metrics: sent $(metric sent_packets_total pass) of $(grep -c ^s2c "$work/captured")" \
		"captured, received $(metric received_packets_total pass) of $(grep -c ^c2s "$work/captured")"
	echo "# flood of $(flood_sent) in $flooded s," \
		"$(jq -c '{statistic, follow, cpu_ms}' "$work/last.json")"
}

keep_screens()
{
	local look

	[ -n "$EVENING_OUT" ] || return
	mkdir -p "$EVENING_OUT"
	for look in before after; do
		cp -r "$work/$look" "$EVENING_OUT/"
	done
	cp "$work/last.json" "$work/last.metrics" "$work/shield.log" "$EVENING_OUT/"
}

# In pieces, so that it lasts as long as the evening does, however busy the machine.
flood_on()
{
	while [ -e "$work/flooding" ]; do
		# shellcheck disable=SC2086
		net_flood --payload getstatus --seconds 5 --rate "$FLOOD_RATE" \
			--from "$NET_FLOOD" --sources "$NET_SOURCES" $PIN_FLOOD
	done >"$work/flood.json"
}

until_second() # SECOND of the script
{
	sleep $(($1 > SECONDS ? $1 - SECONDS : 0))
}

evening()
{
	local begun map

	begun=$SECONDS
	touch "$work/flooding"
	flood_on &
	flood=$!
	player_does alice '+forward; +left; +attack'
	player_does bob '+back; +right; +attack'
	sleep $((EVENING_S / 4))
	look before "${MAPS% *}"
	looks_apart=$SECONDS
	until_second $((begun + EVENING_S / 2))
	map=${MAPS#* }
	# Cheats on, so that the engine lets alice be far away.
	echo "devmap $map" >&9
	sleep 1
	net_check "both are on the next map" net_until 60 playing "$map"
	player_does alice "cl_packetdelay $DELAY"
	player_does alice '+forward; +left; +attack'
	player_does bob '+back; +right; +attack'
	sleep 3
	until_second $((begun + EVENING_S * 3 / 4))
	look after "$map"
	looks_apart=$((SECONDS - looks_apart))
	until_second $((begun + EVENING_S))
	rm "$work/flooding"
	wait "$flood"
	flooded=$((SECONDS - begun))
}

[ -x "$CLIENT" ] || net_skip net_evening "no openarena client"
[ -x "$OPENARENA" ] || net_skip net_evening "no openarena-server"
for tool in Xvfb tshark tcpdump tmux curl; do
	command -v "$tool" >/dev/null || net_skip net_evening "no $tool"
done
net_test_begin "$@"
alice_pid='' bob_pid=''
evening_config >"$work/shield.conf"
server_start
shield_start || exit 1
capture_start || net_die "no capture"
display_start || net_die "no display"
player_start alice
player_start bob
net_until 60 playing "${MAPS% *}" || {
	tail -5 "$work/alice.log" "$work/bob.log" >&2
	net_skip net_evening "the clients did not get into the game"
}
top_start
evening
players_leave
check_look before "${MAPS% *}"
check_look after "${MAPS#* }"
net_check "after: alice is far, bob is near" far_and_near after
check_evening
keep_screens
exit "$net_failed"
