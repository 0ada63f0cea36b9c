#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm_drivers.sh - each driver of real cards that this guest has: the shield attaches in the
# mode that `probe` has named, challenges and cached responses reach the other end of the
# wire, a flood is dropped and counted, VLANs, rings, queues and jumbo frames keep that so,
# and detaching leaves nothing.
#
# The wires are qemu.sh's. ONLY=NAME: this driver alone.
set -u

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=vmtests/vm.sh
. vmtests/vm.sh

# NAME NUMBERS MODE RING JUMBO CHANGE: the numbers of its wires, the mode from Linux 6.12 on,
# another size for the receive ring (`-`: it has none), the largest MTU that is tried in the
# mode, and when both may change: while it is attached, or before, because the driver goes
# wrong afterwards.
DRIVERS='
virtio_net 01 native 128 3000 attached
e1000e 02 skb 512 9000 attached
vmxnet3 03 native 512 3000 before
igb 04 native 512 1500 attached
bonding 05+06 native - 3000 attached
'
FLOOD=400

# The namespace that the devices are in, before net_enter leaves it.
[ -n "${NET_INSIDE-}" ] || exec 8</proc/self/ns/net

# take NUMBER END NAME: out of the guest's own namespace into this one, renamed.
take()
{
	local device

	device=$(nsenter --net=/proc/self/fd/8 ip -json link show |
		jq -r --arg mac "52:54:00:78:$1:$2" '.[] | select(.address == $mac) | .ifname')
	[ -n "$device" ] || return
	nsenter --net=/proc/self/fd/8 ip link set "$device" down &&
		nsenter --net=/proc/self/fd/8 ip link set "$device" name "$3" netns $$
}

addresses() # DEVICE-HERE DEVICE-OF-SERVER NETWORK
{
	ip address add "10.$3.0.1/24" dev "$1"
	ip address add "fd00:$3::1/64" dev "$1" nodad
	ip link set "$1" up
	net_in server ip address add "10.$3.0.2/24" dev "$2"
	net_in server ip address add "fd00:$3::2/64" dev "$2" nodad
	net_in server ip link set "$2" up
}

# The server's link is of these wires; two of them are a bond's, and end at a bridge.
wire_up() # NAME NUMBERS
{
	local number near=srv0 far=up0

	if [ "$1" = bonding ]; then
		near='' far=''
		ip link add up0 type bridge &&
			net_in server ip link add srv0 type bond mode active-backup miimon 100 || return
	fi
	for number in ${2/+/ }; do
		take "$number" 02 "${far:-far$number}" &&
			take "$number" 01 "${near:-near$number}" &&
			ip link set "${near:-near$number}" netns server || return
		[ "$1" = bonding ] || continue
		ip link set "far$number" master up0 up
		net_in server ip link set "near$number" master srv0
	done
	addresses up0 srv0 77
	net_in server ip route add 10.0.0.0/8 via 10.77.0.1
	net_in server ip route add fd00::/8 via fd00:77::1
	net_counters
}

# Their devices stay in these namespaces, by other names.
wire_down() # NAME
{
	nft delete table netdev lab
	if [ "$1" = bonding ] || [ "$1" = veth ]; then
		net_in server ip link delete srv0
		ip link delete up0 2>/dev/null
		return
	fi
	ip link set up0 down
	ip link set up0 name "far-$1"
	net_in server ip link set srv0 down
	net_in server ip link set srv0 name "near-$1"
}

# --- what is asked

driver()
{
	net_in server ethtool -i srv0 | sed -n 's/^driver: //p'
}

# The finding of `probe`, with the server's /sys: ok, warn or nothing; or its text.
finding() # NAME [text]
{
	# shellcheck disable=SC2016 # for the shell inside
	net_in server unshare --mount bash -c 'mount -t sysfs sysfs /sys && exec "$0" probe -i srv0 --json' \
		"$SHIELD" | jq -r --arg name "$1" --arg what "${2:-result}" \
		'.findings[] | select(.check == $name) | .[$what]'
}

# The mode that `probe` names.
probed()
{
	case $(finding mode text) in
	*'skb mode works'*) echo skb ;;
	*) echo native ;;
	esac
}

mode()
{
	case $(vm_mode) in
	1) echo native ;;
	2) echo skb ;;
	esac
}

# flood ARGUMENTS: $FLOOD datagrams out of the client's link; the hub forwards them.
flood()
{
	net_in client "$LAB/floodgen" --iface cli0 --mac "$hub_mac" --to "$NET_SERVER" \
		--port "$NET_PORT" --rate 400 --packets "$FLOOD" --seconds 10 --json "$@"
}

counted() # FILTER OF stats_sum
{
	local before=-1 now

	now=$(stats_sum "$1")
	while [ "$now" != "$before" ]; do
		sleep 0.3
		before=$now now=$(stats_sum "$1")
	done
	echo "$now"
}

# A crowd of spoofed sources: as many challenges reach the other end of the wire as the
# shield has sent.
challenges()
{
	local asked heard judged

	judged=$(counted .)
	asked=$(counted 'select(.reason == "challenged")') heard=$(net_count asked packets)
	heard=$((heard + $(net_count crowd packets)))
	flood --payload getchallenge --from "$NET_FLOOD" --sources "$NET_SOURCES"
	judged=$(($(counted .) - judged))
	asked=$(($(counted 'select(.reason == "challenged")') - asked))
	heard=$(($(net_count asked packets) + $(net_count crowd packets) - heard))
	echo "# $1 crowd: $FLOOD sent, $judged judged, $asked challenged, $heard heard" >&2
	[ "$judged" = "$FLOOD" ] && [ "$asked" -gt 0 ] && [ "$heard" = "$asked" ]
}

# One source with too many commands.
drops()
{
	local judged dropped

	judged=$(counted .) dropped=$(counted 'select(.verdict == "drop")')
	flood --payload rcon --victim "$NET_VICTIM"
	judged=$(($(counted .) - judged))
	dropped=$(($(counted 'select(.verdict == "drop")') - dropped))
	echo "# $1 victim: $FLOOD sent, $judged judged, $dropped dropped" >&2
	[ "$judged" = "$FLOOD" ] && [ "$dropped" -gt $((FLOOD / 2)) ]
}

templates_there()
{
	net_in server "$SHIELD" stats --json |
		jq -e '[.services[].cached_responses[]] | length > 0'
}

# Two seconds in which the server itself says nothing.
cached()
{
	local status=0

	net_until 20 templates_there
	kill -STOP "$server_pid"
	vm_people '.answered > 0' 2
	kill -CONT "$server_pid"
	jq -es 'all(.answered > 0)' "$work"/client[46].json || status=1
	return "$status"
}

people()
{
	vm_people '.join == "ok"' 3 --join
	jq -es 'all(.join == "ok" and .answered > 0)' "$work"/client[46].json
}

# By way of VLAN 5, from here.
tagged()
{
	local _

	for _ in 1 2 3; do
		"$LAB/client" --protocol "$PROTOCOL" --to 10.75.0.2 --port "$NET_PORT" --seconds 3 \
			--poll 2 --json --join | jq -e '.join == "ok" and .answered > 0' && return
	done
	return 1
}

send() # BYTES PORT
{
	head -c "$1" /dev/zero | dd bs="$1" count=1 iflag=fullblock 2>/dev/null >"/dev/udp/$NET_SERVER/$2"
}

# A datagram of so many bytes that is no business of the service's reaches the host.
passes() # BYTES
{
	local received

	received=$(net_received)
	send "$1" 9
	net_until 5 net_has_received $((received + 1))
}

# And one that is gets counted.
large() # BYTES
{
	local judged

	passes "$1" || return
	judged=$(counted .)
	send "$1" "$NET_PORT"
	sleep 0.5
	[ "$(counted .)" -gt "$judged" ]
}

mtu() # BYTES
{
	local far

	for far in $(ip -json link show master up0 2>/dev/null | jq -r '.[].ifname'); do
		ip link set "$far" mtu "$1"
	done
	ip link set up0 mtu "$1" && net_in server ip link set srv0 mtu "$1"
}

# --- the rows

test_vlan() # NAME
{
	local has want

	net_in server ip link add link srv0 name srv0.5 type vlan id 5 &&
		ip link add link up0 name up0.5 type vlan id 5 || return
	addresses up0.5 srv0.5 75
	sysctl -qw net.ipv4.conf.up0.rp_filter=1 # what lacks its tag is not for here
	has=$(net_in server ethtool -k srv0 | sed -n 's/^rx-vlan-offload: //p')
	if [[ $has != *fixed* ]]; then
		net_in server ethtool -K srv0 rxvlan on >/dev/null
		want=$(finding vlan)
		if [ "$want" = warn ]; then
			net_check "$1: rxvlan on: as probe warns, nothing comes back to the VLAN" eval '! tagged'
		else
			net_check "$1: rxvlan on: a player joins by the VLAN" tagged
		fi
		net_in server ethtool -K srv0 rxvlan off >/dev/null
	fi
	[ "$(mode)" = skb ] ||
		net_check "$1: rxvlan off: probe finds nothing to mend" [ "$(finding vlan)" = ok ]
	net_check "$1: rxvlan off: a player joins by the VLAN" tagged
	echo "# $1 rx-vlan-offload: $has; probe when on: ${want:--}"
	net_in server ip link delete srv0.5
	ip link delete up0.5
	sysctl -qw net.ipv4.conf.up0.rp_filter=0
}

ring() # SIZE
{
	[ "$1" = - ] || net_in server ethtool -G srv0 rx "$1"
}

# The interface has the program on it.
test_change() # NAME RING MTU
{
	local attached

	attached=$(mode)
	[ "$2" = - ] || net_check "$1: attached, its ring changes to $2" ring "$2"
	net_check "$1: attached, its MTU changes to $3" mtu "$3"
	net_check "$1: still attached" [ "$(mode)" = "$attached" ]
	net_check "$1: drops after the change" drops "$1"
	net_in server ethtool -L srv0 combined 1 2>/dev/null || return 0
	net_check "$1: still attached, with one queue" [ "$(mode)" = "$attached" ]
	net_check "$1: drops with one queue" drops "$1"
}

# An MTU that no native mode takes is refused, or changes nothing.
test_too_large() # NAME
{
	local taken=refused

	! mtu 9000 2>/dev/null || taken=taken
	echo "# $1: attached in native mode, an MTU of 9000 is $taken"
	net_check "$1: an MTU of 9000, $taken: drops" drops "$1"
	mtu 1500
}

# With frames that no native mode takes; it must be the generic one, and work.
test_generic() # NAME
{
	local bare=yes

	mtu 9000 2>/dev/null || { echo "# $1: no MTU of 9000"; mtu 1500; return; }
	passes 8972 || bare=no
	vm_shield_start --mode auto || return
	net_check "$1: MTU 9000: attaches in skb mode" [ "$(mode)" = skb ]
	if [ "$bare" = yes ]; then
		net_check "$1: MTU 9000: frames of it are judged and passed" large 8972
	else
		echo "# $1: without the shield no frame of 9000 bytes arrives either"
	fi
	net_check "$1: MTU 9000: challenges arrive" challenges "$1"
	shield_stop TERM
	net_in server "$SHIELD" detach >/dev/null
	mtu 1500
}

leaves_nothing()
{
	[ -z "$(mode)$(vm_egress)" ] && [ -z "$(find /sys/fs/bpf -type f -name '*srv0*')" ]
}

# The bond's other wire takes over.
test_bond()
{
	local active

	active=$(net_in server ip -details -json link show srv0 |
		jq -r '.[0].linkinfo.info_data.active_slave')
	net_in server ip link set "$active" down
	sleep 1
	net_check "bonding: the other slave is judged" drops bonding
	net_check "bonding: by the other slave challenges arrive" challenges bonding
	net_in server ip link set "$active" up
}

said() # PATTERN
{
	grep -q "$1" "$work/shield.log"
}

status_says() # PATTERN
{
	net_in server "$SHIELD" status | grep -q "$1"
}

# The driver goes wrong after a change: the daemon notices, and attaches again, in native
# mode. So does the next start.
test_goes_wrong() # NAME
{
	local judged received=no noisy

	ring 256
	judged=$(counted .)
	flood --payload getchallenge --from "$NET_FLOOD" --sources "$NET_SOURCES" >&2
	judged=$(($(counted .) - judged))
	! passes 100 || received=yes
	echo "# $1: after a change of its ring $judged of $FLOOD judged; the host receives others: $received"
	nsenter --net=/run/netns/client "$LAB/floodgen" --iface cli0 --mac "$hub_mac" \
		--to "$NET_SERVER" --port "$NET_PORT" --rate 100 --packets 12000 --seconds 120 --payload getchallenge \
		--victim "$NET_VICTIM" --json >/dev/null &
	noisy=$!
	net_check "$1: the daemon says that nothing is judged" \
		net_until 120 said "'srv0' is attached in native mode, but judges nothing since"
	net_check "$1: and attaches again" net_until 20 said 'protecting srv0 again, native mode'
	net_check "$1: then it is judged" net_until 120 said "'srv0' judges again"
	net_check "$1: and protected, in native mode" status_says '^srv0: protected, native mode'
	kill "$noisy"
	wait "$noisy" 2>/dev/null
	net_check "$1: drops after the daemon has attached again" drops "$1"
	shield_stop TERM
	net_in server "$SHIELD" detach >/dev/null
	vm_shield_start --mode auto || return
	net_check "$1: drops after another start" drops "$1"
}

test_driver() # NAME NUMBERS MODE RING JUMBO CHANGE
{
	local found

	wire_up "$1" "$2" || { echo "skip $1: this guest has no such device"; return; }
	[ "$6" = attached ] || { ring "$4"; mtu "$5"; }
	found=$(probed)
	net_check "$1: the driver" [ "$(driver)" = "$1" ]
	vm_shield_start --mode auto || return
	net_check "$1: attaches in $3 mode" [ "$(mode)" = "$3" ]
	net_check "$1: probe has said so" [ "$(mode)" = "$found" ]
	net_check "$1: challenges arrive" challenges "$1"
	net_check "$1: a flood is dropped" drops "$1"
	net_check "$1: players join, IPv4 and IPv6" people
	net_check "$1: cached responses arrive" cached
	test_vlan "$1"
	[ "$6" = before ] || test_change "$1" "$4" "$5"
	net_check "$1: frames for an MTU of $5 are judged and passed" large $(($5 - 28))
	[ "$6" = attached ] || test_goes_wrong "$1"
	[ "$3" = skb ] || [ "$6" = before ] || test_too_large "$1"
	mtu 1500
	[ "$1" != bonding ] || test_bond
	shield_stop TERM
	net_check "$1: detach" net_in server "$SHIELD" detach
	net_check "$1: detach leaves nothing" leaves_nothing
	[ "$3" != native ] || test_generic "$1"
	wire_down "$1"
}

net_test_begin "$@"
[ -n "${GUEST-}" ] || net_skip drivers "no virtual machine"
hub_mac=$(ip -json link show hub0 | jq -r '.[0].address')
SERVICE_MORE='validation = always
	    cache = always'
server_start || exit 1
wire_down veth
while read -r name numbers want ring jumbo change; do
	[ -n "$name" ] || continue
	[ "${ONLY:-$name}" = "$name" ] || continue
	test_driver "$name" "$numbers" "$want" "$ring" "$jumbo" "$change"
done <<<"$DRIVERS"
exit "$net_failed"
