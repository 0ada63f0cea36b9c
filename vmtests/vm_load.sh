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

verified() # PROGRAM
{
	awk -v name="$1" '$1 == name { print $2 }' "$work/verified"
}

budget() # PROGRAM
{
	awk -v name="$1" -v here="$(uname -r)" \
		'$1 == name && index(here, $3) == 1 { most = $2 } END { print most + 0 }' \
		vmtests/BUDGET
}

within() # COUNT BUDGET
{
	[ "$1" -gt 0 ] && [ "$1" -le "$2" ]
}

test_budget()
{
	local program count most

	"$LAB/verified" "$PINS/xdp" "$PINS/egress" "$PINS/proof" "$PINS/answer" \
		>"$work/verified"
	for program in shield shield_out shield_validate shield_cache; do
		count=$(verified "$program") most=$(budget "$program")
		net_check "$program: ${count:-no} verified instructions, of $most" \
			within "${count:-0}" "$most"
	done
	[ ! -s "$work/verified" ] ||
		printf '# verified %s/%s/%s/%s\n' "$(verified shield)" "$(verified shield_out)" \
			"$(verified shield_validate)" "$(verified shield_cache)"
}

net_test_begin "$@"
shield_config >"$work/shield.conf"
net_check "loads" load
test_budget
net_check "loads again over the same maps" load
net_check "detach" "$SHIELD" detach --pin "$PINS"
net_check "detach leaves no pins" [ ! -e "$PINS" ]
exit "$net_failed"
