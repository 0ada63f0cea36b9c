#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_allow.sh - who is in `allow` is who is reflected to: its address is no secret, and
# was without any limit.
set -u

SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

LASTS=8

net_test_begin "$@"
{ echo "allow = { \"$NET_VICTIM\" }"; shield_config; } >"$work/shield.conf"
server_start
shield_start >/dev/null || exit 1
net_flood --payload getstatus --victim "$NET_VICTIM" --rate 10000 --seconds $LASTS >"$work/flood"
sleep 1
jq -c '{ sent, pps }' "$work/flood" 2>/dev/null || cat "$work/flood"
keeps "datagrams in a friend's name that got by" "$(stats_sum 'select(.verdict == "pass")')" \
	-le $((210 + 101 * (LASTS + 1)))
keeps "bytes sent to the friend" \
	$(($(net_count victim bytes) + 14 * $(net_count victim packets))) -le \
	$((1048576 + 52430 * (LASTS + 2)))
exit "$net_failed"
