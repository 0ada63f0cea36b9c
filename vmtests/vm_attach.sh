#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm_attach.sh - attached to veth in each mode, the shield judges every frame of the
# interface, IPv4 and IPv6, sees the answers leave, and comes off again.
set -u

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=vmtests/vm.sh
. vmtests/vm.sh

leaves()
{
	net_in server "$SHIELD" stats --json |
		jq -e '[.services[].counters[] | select(.direction == "out") | .packets] | add > 0'
}

# What an unpaced flood is made with on this kernel; said for the table.
flood_way()
{
	net_flood --payload getstatus --victim "$NET_VICTIM" --seconds 5 --packets 20 |
		jq -r '.sender'
}

test_mode() # NAME NUMBER
{
	local best

	vm_shield_start --mode "$1" || return
	net_check "$1: attaches in that mode" [ "$(vm_mode)" = "$2" ]
	vm_mark
	vm_people "$joins" 2 --join
	net_check "$1: IPv4 is answered and joins" vm_client 4 "$joins"
	net_check "$1: IPv6 is answered and joins" vm_client 6 "$joins"
	net_check "$1: every frame was judged" vm_all_judged 10
	net_check "$1: answers are counted as they leave" leaves
	echo "# egress $(vm_egress)"
	best=$(vm_egress_best)
	net_check "$1: the egress program is attached by $best" [ "$(vm_egress)" = "$best" ]
	shield_stop TERM
	net_check "$1: detach" net_in server "$SHIELD" detach
	net_check "$1: detach takes both programs off" [ -z "$(vm_mode)$(vm_egress)" ]
}

net_test_begin "$@"
joins='.answered > 0 and .join == "ok"'
server_start || exit 1
test_mode native 1
test_mode skb 2
echo "# flood $(flood_way)"
exit "$net_failed"
