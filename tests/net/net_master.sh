#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_master.sh - a master server behind `protocol = master`: servers get listed and browsers get
# whole lists, also under spoofed requests for lists, of which the victim gets no more bytes than
# the allowance, and under spoofed heartbeats.
#
# lane: beside, 35 s: its floods are slow, and it compares bytes with the configured allowance.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

ALLOWANCE=16384 REFILL=20 EACH=6

shield_config()
{
	cat <<-CONFIG
	amplification {
	    allowance = $ALLOWANCE
	    refill = $REFILL
	}
	service "list" {
	    protocol = master
	    port     = $NET_PORT
	}
	CONFIG
}

people() # COMMAND FROM N
{
	net_in client python3 tests/lab/master.py "$1" "$2" "$NET_SERVER" "$NET_PORT" "$3"
}

# counted DIRECTION KIND REASON: packets.
counted()
{
	net_in server "$SHIELD" stats --json | jq "[.services[].counters[] |
		select(.direction == \"$1\" and .kind == \"$2\" and .reason == \"$3\") | .packets] | add // 0"
}

listed()
{
	grep -c listed "$work/server.log"
}

# Each of a host's servers is listed, and the browsers' lists are whole.
all_is_well() # NAME
{
	local before

	before=$(listed)
	net_check "$1: a host's 20 servers are asked" [ "$(people register "10.79.$2.2" 20 |
		jq .asked)" = 20 ]
	net_check "$1: and listed" net_until 3 more_listed $((before + 20))
	people browse "10.79.$(($2 + 1)).2" 4 >"$work/browse.json"
	cat "$work/browse.json"
	net_check "$1: a browser's lists are whole" jq -e '.whole == .asked' "$work/browse.json"
}

more_listed()
{
	[ "$(listed)" -ge "$1" ]
}

test_victim()
{
	local in out most

	out=$(net_count victim bytes)
	net_flood_start "$work/flood.json" --payload getservers --rate 2000 --seconds $EACH \
		--victim "$NET_VICTIM"
	all_is_well "lists for a victim" 3
	wait "$flood"
	sleep 0.3
	out=$(($(net_count victim bytes) - out))
	in=$(jq '.delivered * 52' "$work/flood.json")
	# The allowance, its growth in the flood's seconds, and the bytes of the requests that the
	# source's limit has passed.
	most=$((ALLOWANCE + ALLOWANCE * (EACH + 1) / REFILL + 52 * 20))
	echo "# the victim got $out bytes for $in, at most $most are allowed"
	net_check "lists for a victim: it gets some" [ "$out" -gt 0 ]
	net_check "lists for a victim: no more than the allowance" [ "$out" -le "$most" ]
	net_check "lists for a victim: the source's limit refuses the rest" \
		[ "$(counted in getservers source-limit)" -gt 5000 ]
}

# More than a game server would let in, and less than a master answers.
test_many_sources()
{
	net_flood_start "$work/flood.json" --payload getservers --rate 400 --seconds $((EACH + 2)) \
		--from "$NET_FLOOD" --sources "$NET_SOURCES"
	sleep 2
	all_is_well "lists for 4 million sources" 7
	wait "$flood"
}

test_heartbeats()
{
	local before after

	before=$(listed)
	net_flood_start "$work/flood.json" --payload heartbeat --rate 2000 --seconds $EACH \
		--victim "$NET_VICTIM"
	all_is_well "heartbeats from a victim" 5
	wait "$flood"
	after=$(counted in heartbeat source-limit)
	net_check "heartbeats from a victim: refused" [ "$after" -gt 5000 ]
	net_check "heartbeats from a victim: none is listed" [ $(($(listed) - before)) -eq 20 ]
}

net_test_begin "$@"
nsenter --net=/run/netns/server python3 tests/lab/master.py serve "$NET_PORT" >"$work/server.log" 2>&1 &
net_check "the master is up" net_until 5 grep -q ready "$work/server.log"
shield_start >/dev/null || exit 1
all_is_well quiet 1
test_victim
test_heartbeats
test_many_sources
# Game traffic.
net_flood --payload netchan --rate 100 --seconds 1 --victim "$NET_VICTIM" >/dev/null
net_check "game traffic is refused" [ "$(counted in netchan source-limit)" -gt 50 ]
net_check "what servers answer is counted" [ "$(counted in infoResponse within-limits)" -ge 60 ]
net_check "nothing is taken for another protocol" [ "$(net_in server "$SHIELD" status --json |
	jq ".protocol_mismatch | length")" = 0 ]
exit "$net_failed"
