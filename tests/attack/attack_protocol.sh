#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_protocol.sh - the operator has named the wrong protocol: to Quake III whatever has
# no marker may be a game's, so whoever a NetQuake server answers was taken for a player,
# to whom anything may be sent. A real nexuiz-server as `quake3`.
set -u

SERVER=nexuiz PROTOCOL=quake3
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

LASTS=10

attack_needs "$NEXUIZ"
net_test_begin "$@"
server_start +sv_protocolname QUAKE
shield_start >/dev/null || exit 1
for payload in ccreq-server-info ccreq-connect; do
	net_flood --payload $payload --victim "$NET_VICTIM" --source-port 5555 --rate 200 \
		--seconds $((LASTS / 2)) >"$work/$payload"
done
sleep 1
passed=$(stats_sum 'select(.verdict == "pass")')
bytes=$(net_in server "$SHIELD" stats --json |
	jq '[.services[].counters[] | select(.direction == "in" and .verdict == "pass") | .bytes] | add // 0')
out=$(($(net_count victim bytes) + 14 * $(net_count victim packets)))
echo "# $passed forged datagrams got by"
keeps "of them as a player's" "$(stats_sum 'select(.reason == "player")')" -le 0
keeps "bytes sent to the victim" "$out" -le $((bytes + 16384 + 820 * (LASTS + 2)))
exit "$net_failed"
