#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm_flood.sh - a flood of spoofed sources, IPv4 and IPv6: clients are answered and join
# all the same, most of the flood is dropped, and the counters are the interface's own.
set -u

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=vmtests/vm.sh
. vmtests/vm.sh

drops()
{
	net_check "$1: every frame was judged" vm_all_judged 1000
	net_check "$1: most of the flood is dropped" vm_mostly_dropped
}

# One source that a flood pretends to be loses its own budget and nobody else's.
test_victim()
{
	vm_mark
	vm_flood "--victim $NET_VICTIM" "--victim $NET_VICTIM6"
	vm_people '.answered > 0' 2
	vm_flood_end
	net_check "one victim: IPv4 queries are answered" vm_client 4 '.answered > 0'
	net_check "one victim: IPv6 queries are answered" vm_client 6 '.answered > 0'
	drops "one victim"
}

# Four million of them spend the budget for queries, and yet players join and play.
test_crowd()
{
	local plays='.join == "ok" and .snapshots > 0'

	vm_mark
	vm_flood "--from $NET_FLOOD --sources $NET_SOURCES" \
		"--from $NET_FLOOD6 --sources $NET_SOURCES"
	vm_people "$plays" 5 --join
	vm_flood_end
	net_check "a crowd: an IPv4 client joins and plays" vm_client 4 "$plays"
	net_check "a crowd: an IPv6 client joins and plays" vm_client 6 "$plays"
	drops "a crowd"
}

net_test_begin "$@"
server_start || exit 1
shield_start || exit 1
test_victim
test_crowd
exit "$net_failed"
