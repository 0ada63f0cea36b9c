#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_live.sh - samples and followed players, from the kernel to the files: under a flood,
# with a player in the game, the daemon's lines are JSON, its capture opens, what it did
# not see is counted, and it keeps to its share of the processor.
#
# lane: beside, 45 s: it counts lines and the daemon's own processor time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
SERVICE_MORE='validation = off' # a query of the flood is dropped, not challenged
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

CPU=20 # per cent

live_config() # EVERY RATE CPU
{
	shield_config
	cat <<-CONFIG
	sample { one-in = $1 rate = $2 }
	follow { first = 4 rate = 2000 }
	output {
	    json   = "$work/live.jsonl"
	    pcapng = "$work/live.pcapng"
	    cpu-percent = $3
	}
	CONFIG
}

players=/run/quakeshield/players.json

# Figures of now, and lines that have been written.
figures_wait()
{
	rm -f "$players"
	net_until 10 test -s "$players" && sleep 0.3
}

figure() # JQ-FILTER
{
	jq -r "$1" "$players"
}

# Ticks of processor time of the daemon so far.
shield_cpu()
{
	awk '{ print $14 + $15 }' "/proc/$shield_pid/stat"
}

flooded() # SECONDS
{
	local before after

	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds "$1" --from "$NET_FLOOD" \
		--sources "$NET_SOURCES" $PIN_FLOOD >"$work/flood.json" &
	flood=$!
	before=$(shield_cpu)
	client_start "$1" >"$work/client.json"
	after=$(shield_cpu)
	wait "$flood"
	ticks=$((after - before))
}

# 100 ticks a second; a fifth more for what is not decoding.
cpu_bounded() # SECONDS PERCENT
{
	[ "$ticks" -le $(($1 * ($2 + 5))) ]
}

rss_kb()
{
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$shield_pid/status"
}

lines() # JQ-CONDITION: how many lines meet it
{
	jq -c "select($1)" "$work/live.jsonl" | wc -l
}

every_line_is_whole()
{
	jq -e -s 'length > 20 and all(.[]; .sampler and .service == "lab" and .verdict and
		.shield_reason and .shield_kind and .kind and .status)' "$work/live.jsonl"
}

# The comments of the capture, a line each.
comments()
{
	tshark -r "$work/live.pcapng" -T fields -e frame.comment 2>"$work/tshark.log" &&
		! grep -v '^Running as user "root"' "$work/tshark.log"
}

capture_opens()
{
	comments >"$work/comments" && [ "$(wc -l <"$work/comments")" -gt 20 ] &&
		! grep -v '^service=lab kind=[A-Za-z0-9-]* verdict=[a-z]* reason=[a-z-]* sampler=[a-z]*$' \
			"$work/comments"
}

# At least four in five of the moves and snapshots that the client tells of are lines: the first
# ones belong to no player yet.
followed_both_ways()
{
	local moves snapshots

	read -r moves snapshots < <(jq -r '"\(.moves) \(.snapshots)"' "$work/client.json")
	[ "$moves" -gt 10 ] && [ "$snapshots" -gt 10 ] &&
		[ $(($(lines '.sampler == "follow" and .direction == "c2s" and
			.shield_reason == "player"') * 5)) -ge $((moves * 4)) ] &&
		[ $(($(lines '.sampler == "follow" and .direction == "s2c"') * 5)) -ge $((snapshots * 4)) ]
}

test_flood()
{
	live_config 256 200 "$CPU" >"$work/shield.conf"
	shield_start || return
	flooded 6
	figures_wait
	net_check "lines are whole objects" every_line_is_whole
	net_check "dropped queries are sampled" test "$(lines \
		'.sampler == "statistic" and .verdict == "drop" and .kind == "getstatus" and
		.status == "decoded"')" -gt 20
	net_check "the player is followed both ways" followed_both_ways
	net_check "more than the rate is counted" test "$(figure .statistic.limited)" -gt 0
	net_check "samples stay below their rate" test "$(figure .statistic.taken)" -le 1900
	net_check "the player has figures" figure \
		'.players[] | select(.c2s.received > 50 and .c2s.loss == 0 and .snapshots_per_s >= 15)
		| .ping_ms' -e
	net_check "time of the processor is bounded" cpu_bounded 6 "$CPU"
	net_check "memory is bounded" test "$(rss_kb)" -lt 120000
	echo "# $ticks ticks in 6 s, $(rss_kb) kB, $(jq -c '{statistic, follow, decoded, cpu_ms}' \
		"$players")"
	if command -v tshark >/dev/null; then
		net_check "the capture opens, with comments" capture_opens
		net_check "drops are in it" grep -q 'kind=getstatus verdict=drop' "$work/comments"
	else
		echo "skip the capture opens: no tshark"
	fi
}

# After SIGUSR1 all that comes is in new files, and nothing of the old ones is lost.
rotated()
{
	local before

	mv "$work/live.jsonl" "$work/old.jsonl"
	mv "$work/live.pcapng" "$work/old.pcapng"
	kill -USR1 "$shield_pid"
	net_until 3 test -e "$work/live.jsonl" -a -e "$work/live.pcapng" || return
	before=$(wc -l <"$work/old.jsonl")
	client_start 2 >/dev/null
	sleep 0.3
	[ "$(wc -l <"$work/old.jsonl")" = "$before" ] && [ -s "$work/live.jsonl" ] &&
		jq -e . "$work/live.jsonl" && { ! command -v tshark || comments; }
}

piped_config()
{
	shield_config
	cat <<-CONFIG
	sample { one-in = 256 rate = 200 }
	follow { first = 4 }
	output { json = "unix:$work/live.sock" pcapng = "|$work/live.fifo" }
	CONFIG
}

# A capture of its own, from its head on, with the player in it.
fifo_capture_opens() # FILE
{
	[ "$(tshark -r "$1" -Y 'frame.comment contains "sampler=follow"' 2>"$work/tshark.log" |
		wc -l)" -gt 20 ] && ! grep -v '^Running as user "root"' "$work/tshark.log"
}

lines_are_whole() # FILE
{
	jq -e -s 'length > 20 and all(.[]; .sampler and .service == "lab")' "$1"
}

reconfigure()
{
	local before

	before=$(grep -c reloaded "$work/shield.log")
	kill -HUP "$shield_pid"
	net_until 10 reloaded_since "$before"
}

reloaded_since() # COUNT
{
	[ "$(grep -c reloaded "$work/shield.log")" -gt "$1" ]
}

connected() # COUNT
{
	[ "$(ss -xH state established src "$work/live.sock" | wc -l)" = "$1" ]
}

# Do both files end alike? A reader that the daemon accepts later lacks lines before.
same_end() # FILE FILE
{
	local less

	less=$(stat -c %s "$1" "$2" | sort -n | head -n 1)
	[ "$less" -gt 0 ] && cmp <(tail -c "$less" "$1") <(tail -c "$less" "$2")
}

# Two readers of the socket until it ends, two of the FIFO one after the other; both
# files are ours alone.
read_elsewhere()
{
	local i readers=''

	piped_config >"$work/shield.conf"
	reconfigure || return
	[ "$(stat -c %a "$work/live.sock" "$work/live.fifo" | tr '\n' ' ')" = '660 640 ' ] || return
	for i in 1 2; do
		socat -u "UNIX-CONNECT:$work/live.sock" "CREATE:$work/socket.$i" &
		readers="$readers $!"
	done
	net_until 5 connected 2 || return
	for i in 1 2; do
		cat "$work/live.fifo" >"$work/fifo.$i" &
		sleep 1.5 # who comes to a FIFO is noticed within a second
		client_start 2 >/dev/null
		sleep 0.3
		kill $!
		wait $!
		sleep 0.3 # or the next one would take its place unnoticed
	done
	# Lines that wait for a slow reader go with the socket.
	net_until 10 same_end "$work/socket.1" "$work/socket.2"
	live_config 1 1000000 1 >"$work/shield.conf"
	# shellcheck disable=SC2086
	reconfigure && wait $readers
}

test_elsewhere()
{
	local i

	if ! command -v socat >/dev/null || ! command -v tshark >/dev/null; then
		echo "skip readers of a socket and a FIFO: no socat or no tshark"
		return
	fi
	net_check "outputs become a socket and a FIFO" read_elsewhere
	for i in 1 2; do
		net_check "reader $i of the socket gets whole lines" lines_are_whole "$work/socket.$i"
		net_check "reader $i of the FIFO gets a capture" fifo_capture_opens "$work/fifo.$i"
	done
	net_check "both readers of the socket get the same" same_end "$work/socket.1" "$work/socket.2"
}

# Nobody reads the ring buffer: what it has no room for is counted, and what it had room
# for is read by the next daemon.
ring_losses()
{
	shield_stop KILL
	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds 3 --from "$NET_FLOOD" --sources 1000 \
		$PIN_FLOOD >"$work/flood.json"
	shield_start && figures_wait || return
	[ "$(figure .statistic.lost)" -gt 0 ] && [ "$(figure .statistic.read)" -gt 10000 ]
}

# One per cent of a processor for a full ring: the rest is shed, and said so.
shedding()
{
	[ "$(figure .statistic.shed)" -gt 0 ] && grep -q 'samples are shed' "$work/shield.log"
}

off()
{
	local before

	shield_stop TERM
	rm -f "$work/live.jsonl" "$work/live.pcapng"
	shield_config >"$work/shield.conf"
	# What the ring buffer still held has been read then.
	shield_start && figures_wait || return
	before=$(figure '.statistic.read + .follow.read')
	client_start 2 >/dev/null
	figures_wait
	[ "$(figure '.statistic.read + .follow.read')" = "$before" ] &&
		[ ! -e "$work/live.jsonl" ]
}

# With the privileges that are left: no program on the link, nothing pinned.
detaches_on_exit()
{
	shield_stop TERM
	{
		shield_config
		echo 'on-exit = detach'
	} >"$work/shield.conf"
	shield_start && [ "$(program_id)" != 0 ] || return
	shield_stop TERM
	[ "$(program_id)" = 0 ] && [ -z "$(find /sys/fs/bpf -mindepth 2 -type f)" ]
}

program_id()
{
	net_in server ip -json link show srv0 | jq '.[0].xdp.prog.id // 0'
}

# CAP_NET_ADMIN and CAP_BPF, for good, and only the calls of confine.c.
confined()
{
	local status=/proc/$shield_pid/status

	[ "$(awk '/^Cap(Prm|Eff|Bnd):/ { print $2 }' "$status" | sort -u)" = 0000008000001000 ] &&
		grep -qx 'NoNewPrivs:[[:space:]]*1' "$status" &&
		grep -qx 'Seccomp:[[:space:]]*2' "$status"
}

# Where nothing happens: once a second for figures, and now and then for the attachments.
idle()
{
	local before after

	sleep 1
	before=$(wakes)
	sleep 5
	after=$(wakes)
	echo "# woke up $((after - before)) times in 5 s" >&2
	[ $((after - before)) -le 12 ]
}

wakes()
{
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$shield_pid/status"
}

net_test_begin "$@"
server_start
test_flood
net_check "it has no more privileges than it needs" confined
net_check "rotation by signal" rotated
test_elsewhere
live_config 1 1000000 1 >"$work/shield.conf"
reconfigure
net_check "ring losses are counted" ring_losses
net_check "what is over the budget is shed" shedding
net_check "off is off" off
net_check "idle, it sleeps" idle
net_check "on-exit = detach leaves nothing" detaches_on_exit
exit "$net_failed"
