#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm_message.sh - a kernel that is too old: the shield refuses, says which kernel it
# needs and which one this is, and leaves nothing behind.
set -u

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=vmtests/vm.sh
. vmtests/vm.sh

refuses() # ARGUMENTS
{
	! net_in server timeout 30 "$SHIELD" "$@" -c "$work/shield.conf" 2>"$work/message"
}

says()
{
	grep -F "$(uname -r)" "$work/message" | grep -q 'needs 6\.1'
}

net_test_begin "$@"
shield_config >"$work/shield.conf"
for command in "load --pin /sys/fs/bpf/vmtest" "run -i srv0"; do
	# shellcheck disable=SC2086 # words
	net_check "${command%% *}: refused" refuses $command
	net_check "${command%% *}: names this kernel and the one that is needed" says
	sed 's/^/# /' "$work/message"
done
net_check "nothing attached" [ "$(net_in server ip -json link show srv0 | jq '.[0].xdp')" = null ]
net_check "nothing pinned" [ -z "$(find /sys/fs/bpf -type f)" ]
exit "$net_failed"
