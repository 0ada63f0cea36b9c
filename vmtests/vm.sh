# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm.sh - what the vm_*.sh tests share, on top of the lab; sourced from the top directory.
#
# shellcheck disable=SC2034,SC2154 # shared with those who source this
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
VM_RATE=10000
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# A failed check, and nothing left of it, if the shield does not come up.
vm_shield_start() # ARGUMENTS
{
	shield_start "$@" && return
	net_check "the shield comes up: $*" false
	shield_stop KILL
	net_in server "$SHIELD" detach
	return 1
}

# Frames that the interface's own driver counted.
vm_arrived()
{
	if [ "${VM_DEVICE:-veth}" = veth ]; then
		net_arrived
	else
		net_in server ip -s -json link show srv0 | jq '.[0].stats64.rx.packets'
	fi
}

# Make the link quiet for a comparison: a server that still sends to a client who left
# draws an unreachable for each datagram.
vm_quiet() # STOP|CONT
{
	kill "-$1" "$server_pid"
	sleep 0.3
}

vm_mark()
{
	vm_quiet STOP
	stats_settle vm_arrived || net_check "the link gets quiet" false
	arrived_before=$arrived judged_before=$judged dropped_before=$(vm_dropped)
	vm_quiet CONT
}

# Since vm_mark, at least $1 frames arrived and every one of them was judged.
vm_all_judged()
{
	local settled=0

	vm_quiet STOP
	stats_settle vm_arrived || settled=$?
	vm_quiet CONT
	arrived=$((arrived - arrived_before)) judged=$((judged - judged_before))
	echo "# arrived $arrived judged $judged" >&2
	[ "$settled" = 0 ] && [ "$arrived" = "$judged" ] && [ "$arrived" -ge "$1" ]
}

# Of what arrived since vm_mark, as vm_all_judged last read it, more than half was
# dropped or, where its sender might prove itself, asked for that: the rest is what the
# budgets gave, whatever the rate.
vm_mostly_dropped()
{
	local dropped

	dropped=$(($(vm_dropped) - dropped_before))
	echo "# dropped $dropped" >&2
	[ "$dropped" -gt $((arrived / 2)) ]
}

vm_dropped()
{
	stats_sum 'select(.verdict != "pass")'
}

# vm_people JQ-EXPRESSION SECONDS [ARGUMENTS]: one by IPv4 and one by IPv6 at once, who
# come again until both got what the expression says. Where a processor is emulated and
# its host is busy, frames are lost before any shield sees them, and a player who waits
# 3 s before asking again may not get through at once. In five times he must.
vm_people()
{
	local wish=$1 people round

	shift
	for round in 1 2 3 4 5; do
		people=()
		vm_person "$NET_SERVER" "$@" >"$work/client4.json" &
		people+=($!)
		vm_person "$NET_SERVER6" "$@" >"$work/client6.json" &
		people+=($!)
		wait "${people[@]}"
		jq -es "all($wish)" "$work"/client[46].json >/dev/null && break
	done
	[ "$round" = 1 ] || echo "# people came $round times"
}

vm_person() # ADDRESS SECONDS [ARGUMENTS]
{
	local to=$1 seconds=$2

	shift 2
	# shellcheck disable=SC2086 # words
	net_in client $PIN "$LAB/client" --protocol "$PROTOCOL" --to "$to" --port "$NET_PORT" \
		--seconds "$seconds" --poll 2 --json "$@"
}

vm_client() # 4|6 JQ-EXPRESSION
{
	cat "$work/client$1.json" >&2
	jq -e "$2" "$work/client$1.json"
}

# vm_flood IPv4-SOURCES IPv6-SOURCES: in the background until vm_flood_end, a minute at
# most, by both families at once; out of $VM_FLOOD_DEVICE of the namespace $VM_FLOOD_FROM,
# toward $VM_FLOOD_MAC.
vm_flood()
{
	flooders=()
	vm_flood_one "$NET_SERVER" "$1" >"$work/flood4.json" &
	flooders+=($!)
	vm_flood_one "$NET_SERVER6" "$2" >"$work/flood6.json" &
	flooders+=($!)
	sleep 0.3
}

# To be started in the background: it becomes the generator.
vm_flood_one() # ADDRESS SOURCES
{
	local inside=()

	[ -z "${VM_FLOOD_FROM-}" ] || inside=(nsenter --net="/run/netns/$VM_FLOOD_FROM")
	# Pinned as the lab does it, so that floods and people do not share a ring.
	# shellcheck disable=SC2086 # words
	exec "${inside[@]}" "$LAB/floodgen" --iface "${VM_FLOOD_DEVICE:-up0}" \
		--mac "${VM_FLOOD_MAC:-$NET_MAC}" --to "$1" --port "$NET_PORT" --json \
		--payload getstatus --packets 1000000 --seconds 60 --rate "$VM_RATE" \
		$PIN_FLOOD $2
}

vm_flood_end()
{
	kill -TERM "${flooders[@]}" 2>/dev/null
	wait "${flooders[@]}"
}

# 1: driver, 2: generic; empty: nothing.
vm_mode()
{
	net_in server ip -json link show srv0 | jq -r '.[0].xdp.mode // empty'
}

# Where it should be: tcx if this kernel has it.
vm_egress_best()
{
	if grep -qw tcx_prog_attach /proc/kallsyms; then
		echo tcx
	else
		echo clsact
	fi
}

# Where the egress program is: tcx, clsact, or empty.
vm_egress()
{
	if [ -n "$(find /sys/fs/bpf -name out-srv0)" ]; then
		echo tcx
	elif net_in server tc filter show dev srv0 egress | grep -q shield_out; then
		echo clsact
	fi
}
