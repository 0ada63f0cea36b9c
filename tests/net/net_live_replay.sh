#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_live_replay.sh - games of Quake II, recorded from a real server, played again through
# the shield at four times their pace (SPEED): the names, maps, pings and losses of their
# players in players.json are those of the recordings.
#
# lane: beside, 20 s: what is counted does not depend on when it comes.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield PROTOCOL=quake2
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

SPEED=${SPEED:-4}
PING_SLACK=30 # ms: of two clocks, and of a busy machine
CAPTURES=${CAPTURES:-../shared/captures}
players=/run/quakeshield/players.json
# The port that it was recorded at, the port of this test, the recording.
GAMES='27910 27910 q2-yamagi-q2ded-moves-1client
27911 27911 q2-yamagi-q2ded-moves-2clients-mapchange
27910 27912 q2-yamagi-q2ded-moves-impaired-server-side'

replay_config()
{
	local recorded port name

	while read -r recorded port name; do
		echo "service \"at-$port\" { protocol = quake2 port = $port }"
	done <<<"$GAMES"
	echo 'follow { first = 8 }'
	echo "output { json = \"$work/live.jsonl\" }"
}

# All at once, each with clients of its own.
replay()
{
	local recorded port name first=1 pids=()

	while read -r recorded port name; do
		python3 tests/lab/replay.py "$CAPTURES/live/$name.pcap" "$recorded" "$port" \
			"$SPEED" "10.79.$first.2" "10.79.$((first + 1)).2" &
		pids+=($!)
		first=$((first + 2))
	done <<<"$GAMES"
	wait "${pids[@]}"
}

# It is said once a second.
written()
{
	rm -f "$players"
	net_until 5 test -s "$players"
}

# NAME MAP, a line each, by name.
names()
{
	jq -r '.players[] | select(.protocol == "quake2") | "\(.name) \(.map)"' "$players" | LC_ALL=C sort
}

# figure NAME JQ
figure()
{
	jq -r --arg name "$1" ".players[] | select(.name == \$name) | $2" "$players"
}

recorded_figure() # NAME JQ
{
	local recorded port file

	while read -r recorded port file; do
		"$SHIELD" decode --lagometer --json "$CAPTURES/live/$file.pcap" |
			jq -r --arg name "$1" "select(.name == \$name) | $2"
	done <<<"$GAMES"
}

# What came of the client's, and what did not: to the last datagram.
same_way_up() # NAME
{
	local what='.c2s | [.received, .lost, .duplicated, .late] | @csv'

	figure "$1" "$what" >"$work/a"
	recorded_figure "$1" "$what" >"$work/b"
	echo "# $1: received, lost, repeated, late of its own $(<"$work/a"), recorded $(<"$work/b")" >&2
	[ -s "$work/a" ] && cmp "$work/a" "$work/b"
}

same_snapshots() # NAME
{
	[ "$(figure "$1" .snapshots)" -gt 100 ] &&
		[ "$(figure "$1" .snapshots)" = "$(recorded_figure "$1" .snapshots)" ]
}

ping_is_near() # NAME
{
	local ours theirs

	ours=$(figure "$1" '.s2c.pings | map(values) | add / length | round')
	theirs=$(recorded_figure "$1" '.s2c.pings | map(values) | add / length | round')
	echo "# $1: ping $ours at $SPEED times the pace, $theirs recorded" >&2
	[ $((ours - theirs / SPEED)) -le "$PING_SLACK" ] && [ $((theirs / SPEED - ours)) -le "$PING_SLACK" ]
}

# 245 left the server and 230 came to the client, two of them behind later ones.
impaired_way_down()
{
	local lost unsure

	lost=$(figure lossy3 .s2c.lost) unsure=$(figure lossy3 .s2c.unknown)
	echo "# lossy3: $lost lost on their way to it and $unsure unsure, 15 in truth" >&2
	[ "$lost" -le 20 ] && [ $((lost + unsure)) -ge 15 ]
}

# The upper graph is for those whose moves tell the time they drew.
no_frames()
{
	jq -e '[.players[] | has("frames")] | any | not' "$players"
}

decoded()
{
	jq -r 'select(.sampler == "follow" and .sequence) | .status' "$work/live.jsonl" | sort |
		uniq -c >"$work/statuses"
	sed 's/^ */# lines: /' "$work/statuses" >&2
	[ "$(awk '{ print $2 }' "$work/statuses")" = decoded ]
}

CAPTURES=$(realpath -m "$CAPTURES")
[ -r "$CAPTURES/live/q2-yamagi-q2ded-moves-1client.pcap" ] ||
	net_skip net_live_replay "no recordings in $CAPTURES"
command -v python3 >/dev/null || net_skip net_live_replay "no python3"
net_test_begin "$@"
replay_config >"$work/shield.conf"
shield_start >/dev/null || exit 1
replay
net_until 5 written
net_check "names and maps are the recorded ones" test "$(names)" = \
	$'baer yard2\nhalle! yard2\nlossy3 yard1\nmaru two yard1'
for name in baer 'halle!' 'maru two' lossy3; do
	net_check "$name: what came from it, what was lost, repeated, late" same_way_up "$name"
	net_check "$name: what was sent to it" same_snapshots "$name"
	net_check "$name: its ping" ping_is_near "$name"
done
net_check "lossy3: losses on the way to it" impaired_way_down
net_check "no frames where no protocol tells them" no_frames
net_check "every datagram of the games is decoded to its last bit" decoded
exit "$net_failed"
