#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_lab.sh - the promises, with the stand-in server, in seconds: who asks politely is
# answered, who joins can join, and hardly a byte reaches the spoofed.
#
# lane: alone, 22 s: it compares answers and losses with a strong flood.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin
PROTOCOL=${PROTOCOL:-quake3}
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

EACH=5
FLOODED=0 # packets

# flood_with FLOODGEN-ARGUMENTS: the flood and the people, at the same time.
flood_with()
{
	local client

	client_start "$EACH" >"$work/client.json" &
	client=$!
	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds "$EACH" $PIN_FLOOD "$@" >"$work/flood.json"
	wait "$client"
	sleep 0.3
	cat "$work/flood.json" "$work/client.json"
	FLOODED=$((FLOODED + $(jq .delivered "$work/flood.json")))
	echo "# so far: $(stats_line)"
}

people() # JQ-CONDITION
{
	jq -e "$1" "$work/client.json"
}

# The budgets of the configuration, not a ratio to the flood.
replies_below() # COUNTER LIMIT
{
	local packets

	packets=$(net_count "$1" packets)
	echo "# $1: $packets replies, $(net_count "$1" bytes) bytes with IP headers" >&2
	[ "$packets" -gt 0 ] && [ "$packets" -lt "$2" ]
}

test_one_victim()
{
	flood_with --victim "$NET_VICTIM"
	net_check "victim: the flood is strong" net_strong "$work/flood.json"
	net_check "victim: other clients answered >= 99 %" people '.percent >= 99'
	net_check "victim: join succeeds" people '.join == "ok"'
	net_check "victim: the session goes on" session_goes_on
	net_check "victim: fewer than 60 replies to millions of requests" replies_below victim 60
}

test_crowd()
{
	flood_with --from "$NET_FLOOD" --sources "$NET_SOURCES"
	net_check "4M sources: the flood is strong" net_strong "$work/flood.json"
	net_check "4M sources: join succeeds" people '.join == "ok"'
	net_check "4M sources: the session goes on" session_goes_on
	net_check "4M sources: fewer than 60 replies to millions of requests" replies_below crowd 60
}

test_crowd6()
{
	local before

	before=$(net_count crowd packets)
	# shellcheck disable=SC2086
	"$LAB/floodgen" --iface up0 --mac "$NET_MAC" --to "$NET_SERVER6" --port "$NET_PORT" \
		--packets 500000000 --json --payload "$PAYLOAD" --seconds 2 $PIN_FLOOD \
		--from "$NET_FLOOD6" --sources "$NET_SOURCES" >"$work/flood.json"
	sleep 0.3
	cat "$work/flood.json"
	FLOODED=$((FLOODED + $(jq .delivered "$work/flood.json")))
	net_check "IPv6: the flood is strong" net_strong "$work/flood.json"
	net_check "IPv6: fewer than 60 replies" \
		[ $(($(net_count crowd packets) - before)) -lt 60 ]
}

# All floods together: dropped or challenged.
test_accounting()
{
	local refused

	refused=$(stats_sum 'select(.verdict != "pass")')
	echo "# $refused of $FLOODED packets refused"
	net_check "refused packets are counted, with a reason" \
		[ $((refused * 100)) -ge $((FLOODED * 99)) ]
}

net_test_begin "$@"
server_start || exit 1
shield_start || exit 1
test_one_victim
test_crowd
test_crowd6
test_accounting
exit "$net_failed"
