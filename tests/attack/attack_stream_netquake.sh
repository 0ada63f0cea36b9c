#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_stream_netquake.sh - a stream of a NetQuake game reflected to an address that never
# spoke. An attacker has a seat of its own on a real nexuiz-server, and mirrors in the
# victim's name what that seat sees (netquake_seat.py): CCREQ_CONNECT, acknowledgements, and
# moves that name the server's clocks, first at a client's pace, then one per second.
set -u

SERVER=nexuiz PROTOCOL=netquake SEQUENCE=big
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

LASTS=${LASTS:-40}

[ -x "$NEXUIZ" ] || attack_skip "no nexuiz"
attack_needs python3
net_test_begin "$@"
server_start +sv_protocolname QUAKE
shield_start >/dev/null || exit 1
sleep 1
net_in client python3 tests/attack/netquake_seat.py "$NET_SERVER" "$NET_PORT" \
	"$LAB/forge" 10.79.1.2 "$NET_VICTIM" "$LASTS" >"$work/in" || exit 1
sleep 1
read -r datagrams bytes seat <"$work/in"
out=$(($(net_count victim bytes) + 14 * $(net_count victim packets)))
echo "# own seat: $seat updates; in the victim's name: $datagrams datagrams, $bytes bytes"
keeps "updates that the own seat got" "$seat" -ge $((LASTS * 5))
# Three times its moves, and the allowance of its prefix.
keeps "bytes to the victim" "$out" -le $((4 * bytes))
stats_line
exit "$net_failed"
