#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_probe.sh - `probe` on real interfaces: which one it chooses below bridge, bond and VLAN,
# what it says of wrong ones, that its commands end what it found, and that it changes
# nothing itself.
#
# lane: beside, 15 s: it looks, and measures no time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# host NAME: a host h-NAME with eth0 and eth1. Their other ends are the internet's.
host()
{
	local device

	ip netns add "h-$1"
	ip netns add "c-$1"
	for device in eth0 eth1; do
		ip link add $device netns "h-$1" numtxqueues 2 numrxqueues 2 type veth \
			peer name $device netns "c-$1"
		net_in "c-$1" ip link set $device up
		net_in "h-$1" ip link set $device up
	done
	net_in "h-$1" ip link set lo up
}

# route NAME DEVICE: the default route.
route()
{
	net_in "h-$1" ip link set "$2" up
	net_in "h-$1" ip address add 10.1.0.2/24 dev "$2"
	net_in "h-$1" ip route add default via 10.1.0.1 dev "$2"
}

# probe NAME [ARGUMENT...]: its JSON in $work/probe, its status in $status.
probe()
{
	local name=$1

	shift
	nsenter --net="/run/netns/h-$name" "$SHIELD" probe --json "$@" >"$work/probe" 2>"$work/err"
	status=$?
	cat "$work/probe" >>"$work/all"
}

# finds STATUS INTERFACE CHECK RESULT [FIX]: of the last probe; the worst finding of CHECK.
finds()
{
	found "$@" && return
	echo "# status $status: $(jq -c '[.findings[] | select(.result != "ok")]' "$work/probe")" >&2
	return 1
}

found()
{
	[ "$status" = "$1" ] && jq -e --arg interface "$2" --arg check "$3" --arg result "$4" \
		--arg fix "${5-}" '.interface == $interface and
		([.findings[] | select(.check == $check)] | sort_by(.result == "ok") | first |
		.result == $result and (.fix // "") == $fix)' "$work/probe"
}

fix_of() # CHECK
{
	jq -r --arg check "$1" '.findings[] | select(.check == $check and .fix) | .fix' "$work/probe" |
		head -n 1
}

well() # NAME CHECK
{
	probe "$1" -i eth0
	jq -e --arg check "$2" '[.findings[] | select(.check == $check and .result != "ok")] == []' \
		"$work/probe"
}

# fixed NAME CHECK: the command for CHECK, run, leaves no fault.
fixed()
{
	local fix

	probe "$1" -i eth0
	fix=$(fix_of "$2")
	echo "$2: $fix"
	[ -n "$fix" ] && nsenter --net="/run/netns/h-$1" bash -c "$fix" &&
		net_until 3 well "$1" "$2"
}

test_chosen()
{
	host none
	probe none
	net_check "no default route: nothing is chosen" \
		jq -e '.interface == null and .ok == false' "$work/probe"
	net_check "no default route: 5" [ "$status" = 5 ]
	host plain && route plain eth0
	probe plain -i eth1
	net_check "a link that came up a moment ago has a carrier" \
		jq -e '.findings | map(.check) | index("link") == null' "$work/probe"
	probe plain
	net_check "default route: its interface" finds 0 eth0 interface ok
	net_check "default route: chosen by it" jq -e '.chosen_by == "default-route"' "$work/probe"
	host bridge
	net_in h-bridge ip link add br0 type bridge
	net_in h-bridge ip link set eth0 master br0
	route bridge br0
	probe bridge
	net_check "bridge: its port" finds 0 eth0 interface ok
	probe bridge -i br0
	net_check "bridge given: its port is better" \
		finds 0 br0 interface warn "quakeshield run -i eth0"
}

# link NAME ARGUMENTS: of `ip link add`; 1: this kernel cannot.
link()
{
	local name=$1

	shift
	net_in "h-$name" ip link add "$@" 2>"$work/link" && return
	echo "skip $1 $2 in $name: $(head -n 1 "$work/link")"
	return 1
}

# A VLAN, or where this kernel has none a macvlan, above eth0.
test_above()
{
	host vlan
	link vlan link eth0 name eth0.5 type vlan id 5 ||
		link vlan link eth0 name eth0.5 type macvlan mode bridge || return
	route vlan eth0.5
	probe vlan
	net_check "VLAN or macvlan: below it" finds 0 eth0 interface ok
	probe vlan -i eth0.5
	net_check "VLAN or macvlan given: below it is better" \
		finds 0 eth0.5 interface warn "quakeshield run -i eth0"
	net_check "VLAN or macvlan given: it has no native XDP" \
		finds 0 eth0.5 mode warn "quakeshield run --mode skb -i eth0.5"
}

test_bond()
{
	host bond
	link bond bond0 type bond mode active-backup || return
	for device in eth0 eth1; do
		net_in h-bond ip link set $device down
		net_in h-bond ip link set $device master bond0
	done
	route bond bond0
	probe bond
	net_check "bond: itself" finds 0 bond0 interface ok
	probe bond -i eth0
	net_check "slave: name all of them" \
		finds 0 eth0 interface warn "quakeshield run -i eth0 -i eth1"
}

test_wrong()
{
	probe plain -i lo
	net_check "lo is no place" finds 5 lo interface fail "quakeshield probe -i eth0"
	probe plain -i nowhere
	net_check "no such interface" finds 5 nowhere interface fail "quakeshield probe -i eth0"
	probe plain -i eth1
	net_check "not the default route's" finds 0 eth1 interface warn "quakeshield probe -i eth0"
	if link plain dummy0 type dummy; then
		net_in h-plain ip link set dummy0 up
		probe plain -i dummy0
		net_check "dummy" finds 5 dummy0 interface fail "quakeshield probe -i eth0"
		net_check "dummy: as such" grep -q "is a dummy" "$work/probe"
	fi
	net_in h-plain ip link add docker0 type bridge
	net_in h-plain ip link add veth1 type veth peer name veth2
	net_in h-plain ip link add veth3 type veth peer name veth4
	net_in h-plain ip link set veth1 master docker0
	net_in h-plain ip link set veth3 master docker0
	probe plain -i docker0
	net_check "bridge of containers" finds 5 docker0 interface fail "quakeshield probe -i eth0"
	probe plain -i veth1
	net_check "a container's veth" finds 5 veth1 interface fail "quakeshield probe -i eth0"
	probe plain -i eth0 -i lo
	net_check "two interfaces: an object each" [ "$(jq -s length "$work/probe")" = 2 ]
	net_check "two interfaces: the worse status" [ "$status" = 5 ]
}

test_fixed()
{
	net_in h-plain ip link set eth0 down
	probe plain -i eth0
	net_check "down" finds 5 eth0 link fail "ip link set eth0 up"
	net_check "down: fixed" fixed plain link
	net_in h-plain ip route add default via 10.1.0.1 dev eth0
	net_in h-plain ip link set eth0 mtu 9000
	net_check "MTU: fixed" fixed plain mtu
	net_in h-plain ip link set eth0 xdp obj "$BUILD/tests/lab/foreign.bpf.o" sec xdp
	probe plain -i eth0
	net_check "foreign program: fails" [ "$status" = 5 ]
	net_check "foreign program: fixed" fixed plain program
	if [ "$(nproc)" -gt 1 ] && net_in h-plain ethtool -L eth0 rx 1 2>"$work/channels"; then
		net_check "queues: fixed" fixed plain queues
	else
		echo "skip queues: $(cat "$work/channels" 2>/dev/null)"
	fi
	chmod 1777 /sys/fs/bpf
	probe plain
	net_check "BPF file system: others may write" grep -q "others may write" "$work/probe"
	fixed plain bpffs >/dev/null
	net_check "BPF file system: fixed" [ "$(stat -c %a /sys/fs/bpf)" = 700 ]
}

test_translation()
{
	probe plain
	net_check "no NAT" finds 0 eth0 nat ok
	net_in h-plain nft -f - <<-RULES
	table ip own {
		chain out { type nat hook postrouting priority 100; oif eth0 masquerade; }
		chain empty { type nat hook prerouting priority -100; }
		chain near { type filter hook prerouting priority 0; udp dport 1 accept; }
	}
	RULES
	probe plain
	net_check "what leaves may be translated" finds 0 eth0 nat ok
	net_in h-plain nft add rule ip own empty udp dport 27960 dnat to 10.2.0.2
	probe plain
	net_check "DNAT is named" finds 0 eth0 nat warn "nft list ruleset | grep dnat"
	net_check "DNAT is named by its chain" grep -q "'ip own empty' rewrites" "$work/probe"
	net_in h-plain nft flush ruleset
}

# Everything in which a change would show.
state()
{
	local device

	net_in h-plain ip -d link
	net_in h-plain ip route
	net_in h-plain nft list ruleset
	for device in eth0 eth1; do
		net_in h-plain ethtool -k $device
		net_in h-plain ethtool -l $device
	done
	find /sys/fs/bpf -ls
	mount
}

test_changes_nothing()
{
	state >"$work/before"
	probe plain
	probe plain -i docker0
	state >"$work/after"
	net_check "nothing is changed" diff "$work/before" "$work/after"
}

test_running()
{
	shield_config >"$work/probe.conf"
	nsenter --net=/run/netns/h-plain "$SHIELD" run -c "$work/probe.conf" -i eth0 \
		2>"$work/run.log" &
	net_until 20 grep -q "protecting eth0" "$work/run.log"
	probe plain
	net_check "its own program is no other's" finds 0 eth0 program ok
	kill $!
	wait $!
}

test_rights()
{
	nsenter --net=/run/netns/h-plain setpriv --reuid=nobody --clear-groups \
		"$SHIELD" probe --json >"$work/probe" 2>"$work/err"
	status=$?
	net_check "without rights: 4" finds 4 eth0 rights fail "sudo quakeshield probe"
}

test_text()
{
	nsenter --net=/run/netns/h-plain "$SHIELD" probe >"$work/text"
	net_check "text: the interface" grep -q '^eth0 (by the default route)$' "$work/text"
	net_check "text: a finding" grep -qE '^  ok +kernel +Linux [0-9]' "$work/text"
	net_check "text: a command below it" \
		grep -qxE ' +ethtool -K OTHER-END gro on # on its other end' "$work/text"
	net_check "text: the end" grep -q '^the shield works here, with' "$work/text"
	if ! command -v python3 >/dev/null; then
		echo "skip the schema: no python3"
		return
	fi
	net_check "every key is in the schema" "$SCHEMA" probe --all '' <"$work/all"
}

net_test_begin "$@"
: >"$work/all"
test_chosen
test_above
test_bond
test_wrong
test_fixed
test_translation
test_changes_nothing
test_running
test_rights
test_text
exit "$net_failed"
