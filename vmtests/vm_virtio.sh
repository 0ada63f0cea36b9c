#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm_virtio.sh - the same on a real driver: two virtio devices that the emulator wired to
# each other take the place of the server's veth pair.
set -u

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=vmtests/vm.sh
. vmtests/vm.sh
VM_DEVICE=virtio

# The namespace that the devices are in, before net_enter leaves it.
[ -n "${NET_INSIDE-}" ] || exec 8</proc/self/ns/net

# By the addresses that qemu.sh gives them.
device_with() # MAC
{
	nsenter --net=/proc/self/fd/8 ip -json link show |
		jq -r ".[] | select(.address == \"$1\") | .ifname"
}

# fetch DEVICE NAME NAMESPACE-PID: out of the guest's own namespace, renamed.
fetch()
{
	nsenter --net=/proc/self/fd/8 ip link set "$1" down &&
		nsenter --net=/proc/self/fd/8 ip link set "$1" name "$2" netns "$3"
}

# The server's link again, as net_link makes it, of virtio.
virtio_link()
{
	ip link delete up0
	fetch "$hub" up0 $$ && fetch "$far" srv0 $$ && ip link set srv0 netns server || return
	ip address add 10.77.0.1/24 dev up0
	ip address add fd00:77::1/64 dev up0 nodad
	ip link set up0 up
	net_in server ip address add "$NET_SERVER/24" dev srv0
	net_in server ip address add "$NET_SERVER6/64" dev srv0 nodad
	net_in server ip link set srv0 up
	net_in server ip route add 10.0.0.0/8 via 10.77.0.1
	net_in server ip route add fd00::/8 via fd00:77::1
}

test_mode() # NAME NUMBER
{
	local plays='.join == "ok" and .snapshots > 0'

	vm_shield_start --mode "$1" || return
	net_check "$1: attaches in that mode" [ "$(vm_mode)" = "$2" ]
	vm_mark
	vm_flood "--from $NET_FLOOD --sources $NET_SOURCES" \
		"--from $NET_FLOOD6 --sources $NET_SOURCES"
	vm_people "$plays" 5 --join
	vm_flood_end
	net_check "$1: an IPv4 client joins and plays under flood" vm_client 4 "$plays"
	net_check "$1: an IPv6 client joins and plays under flood" vm_client 6 "$plays"
	net_check "$1: every frame was judged" vm_all_judged 1000
	net_check "$1: most of the flood is dropped" vm_mostly_dropped
	shield_stop TERM
	net_check "$1: detach" net_in server "$SHIELD" detach
}

net_test_begin "$@"
hub=$(device_with 52:54:00:78:00:01) far=$(device_with 52:54:00:78:00:02)
[ -n "$hub$far" ] || net_skip virtio "no pair of virtio devices here"
net_check "the virtio devices take the place of veth" virtio_link
# The flood comes from behind the client's link: the hub forwards it over the pair, and what
# asks strangers for proof back. That is what one emulated processor carries with nothing
# lost: at 6,000 a second half of all frames was lost before the shield, and of people's
# nearly all.
VM_FLOOD_FROM=client VM_FLOOD_DEVICE=cli0 VM_RATE=1000
VM_FLOOD_MAC=$(ip -json link show hub0 | jq -r '.[0].address')
server_start || exit 1
test_mode native 1
test_mode skb 2
exit "$net_failed"
