#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_unrun.sh - an interface that carries the shield's program and delivers frames without
# running it: the daemon says so, attaches again in native mode, then in generic mode, and
# then lets it be; `status`, health, metrics and `stats` say it, and cease to when the
# program runs again.
#
# Linux runs no XDP program for a frame that tc redirects to an interface, in neither mode.
# So the server's interface receives the wire's frames by a bridge, and is judged; or by a
# redirection, and is not.
#
# lane: beside, 75 s: it waits for the daemon's looks.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# The server's namespace: wire0 - br0 - far0 - srv0, the last with the addresses.
bridge_up()
{
	local device


	net_in server ip link set srv0 down
	net_in server ip link set srv0 name wire0
	net_in server ip link set wire0 address 02:00:00:00:00:77
	net_in server ip address flush dev wire0
	net_in server ip link add br0 type bridge
	net_in server ip link add srv0 address "$NET_MAC" type veth peer name far0
	net_in server ip link set wire0 master br0
	net_in server ip link set far0 master br0
	for device in wire0 br0 far0 srv0; do
		net_in server ip link set "$device" up
	done
	net_in server ip address add "$NET_SERVER/24" dev srv0
	net_in server ip route add default via 10.77.0.1 dev srv0
	net_in server tc qdisc add dev wire0 clsact
}

redirected()
{
	net_in server tc filter add dev wire0 ingress protocol all prio 1 u32 match u32 0 0 \
		action mirred ingress redirect dev srv0
}

bridged()
{
	net_in server tc filter delete dev wire0 ingress
}

# 100 datagrams per second for two minutes at most.
traffic()
{
	net_flood_start "$work/flood.json" --payload getinfo --from "$NET_FLOOD" \
		--sources "$NET_SOURCES" --rate 100 --packets 12000 --seconds 120
}

said() # PATTERN
{
	grep -q "$1" "$work/shield.log"
}

times() # PATTERN
{
	grep -c "$1" "$work/shield.log"
}

judged()
{
	[ "$(stats_sum .)" -gt "$judged_before" ]
}

healthy() # CODE
{
	[ "$(net_in server curl -s -o "$work/body" -w '%{http_code}' \
		http://127.0.0.1:9127/health)" = "$1" ]
}

health_says() # PATTERN
{
	healthy 503 && grep -q "$1" "$work/body"
}

metric() # VALUE
{
	net_in server curl -s http://127.0.0.1:9127/metrics |
		grep -q "^quakeshield_interface_protected{interface=\"srv0\"} $1\$"
}

status() # CODE PATTERN
{
	net_in server "$SHIELD" status >"$work/status"
	[ $? = "$1" ] && grep -q "$2" "$work/status"
}

link_is() # JQ-FILTER
{
	net_in server "$SHIELD" stats --json | jq -e ".interfaces[0] | $1"
}

fails()
{
	! "$@"
}

net_test_begin "$@"
bridge_up
server_start
SERVICE_MORE='validation = off
    cache = off' shield_start || exit 1
traffic
judged_before=$(stats_sum .)
sleep 17
net_check "bridged: judged" judged
net_check "bridged: nothing is said" fails said 'judges nothing'
net_check "bridged: protected" status 0 '^srv0: protected, native mode'

redirected
began=$SECONDS
judged_before=$(stats_sum .)
net_check "redirected: it is said, and of what interface" net_until 40 said "'srv0' is attached in native mode, but judges nothing since 20.* of the last [0-9]* frames"
echo "# after $((SECONDS - began)) s"
net_check "redirected: nothing is judged" fails judged
net_check "redirected: attached again" said 'protecting srv0 again, native mode'
net_check "redirected: status fails, and says why" status 5 '^srv0: attached, judges nothing since 20'
net_check "redirected: health too" health_says '^srv0: attached, judges nothing since 20'
net_check "redirected: the metric" net_until 5 metric 0
net_check "redirected: stats" link_is '.protected == false and .ingress and .judges_nothing_since'
net_check "redirected: then in generic mode" net_until 40 said 'protecting srv0 again, generic (skb) mode'
net_check "redirected: then it is let be" net_until 40 said "'srv0' judges nothing, and is not attached again"
sleep 11
net_check "redirected: once each" [ "$(times 'judges nothing') $(times 'protecting srv0 again')" = '2 2' ]

bridged
net_check "bridged again: it is said" net_until 30 said "'srv0' judges again"
net_check "bridged again: protected" status 0 '^srv0: protected'
net_check "bridged again: healthy" net_until 5 healthy 200
net_check "bridged again: the metric" net_until 5 metric 1
net_check "bridged again: stats" link_is '.protected and .judges_nothing_since == null'
kill "$flood" 2>/dev/null
shield_stop TERM
net_in server "$SHIELD" detach >/dev/null
exit "$net_failed"
