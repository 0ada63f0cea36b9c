#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm_load.sh - this kernel's verifier takes the programs, and for no more work than
# vmtests/BUDGET allows.
set -u

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=vmtests/vm.sh
. vmtests/vm.sh
PINS=/sys/fs/bpf/vmtest

load()
{
	"$SHIELD" load -c "$work/shield.conf" --pin "$PINS"
}

column() # NAME FILE
{
	awk -v name="$1" '$1 == name { print $2 }' "$2"
}

within() # COUNT BUDGET
{
	[ "$1" -gt 0 ] && [ "$1" -le "$2" ]
}

test_budget()
{
	local program count most

	"$LAB/verified" "$PINS/xdp" "$PINS/egress" >"$work/verified"
	for program in xdp egress; do
		count=$(column "$program" "$work/verified")
		most=$(column "$program" vmtests/BUDGET)
		net_check "$program: ${count:-no} verified instructions, of $most" \
			within "${count:-0}" "$most"
	done
	echo "# verified $(column xdp "$work/verified")/$(column egress "$work/verified")"
}

net_test_begin "$@"
shield_config >"$work/shield.conf"
net_check "loads" load
test_budget
net_check "loads again over the same maps" load
net_check "detach" "$SHIELD" detach --pin "$PINS"
net_check "detach leaves no pins" [ ! -e "$PINS" ]
exit "$net_failed"
