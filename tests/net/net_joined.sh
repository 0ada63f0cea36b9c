#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_joined.sh - a neighbour on a veth hands over many datagrams as one buffer
# (UDP_SEGMENT). In native mode the driver cuts it first; in generic mode the shield sees
# one frame, and none of the many may reach the server.
#
# lane: beside, 12 s: it counts.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
SERVICE_MORE='cache = off' # the daemon's own questions would count, too
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# got LEAST MOST: datagrams that the server gets of three buffers of 48.
got()
{
	local before after

	before=$(net_received)
	for _ in 1 2 3; do
		net_in client "$LAB/joined" "$NET_SERVER" "$NET_PORT" 48 || return 1
	done
	net_until 5 net_has_received $((before + $1))
	sleep 0.3
	after=$(net_received)
	echo "# of 144 datagrams the server got $((after - before))" >&2
	[ $((after - before)) -ge "$1" ] && [ $((after - before)) -le "$2" ]
}

joined()
{
	stats_sum 'select(.kind == "coalesced" and .reason == "malformed")'
}

# All that passed the first program, and that was something: budgets hold there, too.
joined_are_what_passed()
{
	local joined passed

	joined=$(joined)
	passed=$(stats_sum 'select(.verdict == "pass")')
	stats_line >&2
	[ "$joined" -gt 0 ] && [ "$joined" = "$passed" ]
}

answered_alone()
{
	net_in client "$LAB/client" --protocol quake3 --to "$NET_SERVER" --port "$NET_PORT" \
		--seconds 2 --poll 2 --json | jq -e '.answered > 0'
}

restart() # ARGUMENTS of run
{
	shield_stop TERM
	net_in server "$SHIELD" detach >/dev/null
	shield_start "$@" >/dev/null
}

net_test_begin "$@"
for device in up0 hub0; do
	ethtool -K "$device" tx on gso on tx-udp-segmentation on >/dev/null 2>&1
done
net_in client ethtool -K cli0 tx on gso on tx-udp-segmentation on >/dev/null 2>&1
server_start
net_check "without a shield all arrive" got 144 144

shield_start --mode native >/dev/null || exit 1
net_check "native: each is judged" got 1 20
net_check "native: none was joined" [ "$(joined)" = 0 ]

net_check "generic mode" restart --mode skb
net_check "generic: none arrives" got 0 0
net_check "generic: what was joined is counted" joined_are_what_passed
net_check "generic: who asks alone is answered" answered_alone

net_check "a daemon that starts again" shield_stop KILL
net_check "takes over" eval 'shield_start --mode skb >/dev/null'
net_check "generic: still none arrives" got 0 0

shield_stop TERM
net_in server ethtool -K srv0 rx-udp-gro-forwarding on 2>/dev/null
shield_start --mode skb >/dev/null
net_check "joining in the driver is warned of" \
	grep -q 'rx-udp-gro-forwarding off' "$work/shield.log"
net_in server "$SHIELD" detach >/dev/null
net_check "detach lets all through" got 144 144
exit "$net_failed"
