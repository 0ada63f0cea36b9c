#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_sweep_quake2.sh - the shield is turned against a player of Quake II: who knows
# its port, and here its qport, too, sweeps over all sequences by steps, so that the line
# that the shield follows goes with him, and the player's own are behind it. Then each
# qport of 8 bits from another port. The lab's own game: there is no free server of it.
set -u

SERVER=standin PROTOCOL=quake2
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

QPORT=e110 # client.c's, as it goes over the wire

# By steps of @1, each with three acknowledgements.
sweep()
{
	awk -v from="$NET_CLIENT 27901 " -v qport="$QPORT" -v step="$1" '
	function word(n) {
		return sprintf("%02x%02x%02x%02x", n % 256, int(n / 256) % 256,
			int(n / 65536) % 256, int(n / 16777216))
	}
	BEGIN {
		for (sequence = step; sequence <= 200000; sequence += step)
			for (ack = 0; ack <= 8000; ack += 4000)
				print from word(sequence) word(ack) qport "0000000000000000"
	}'
}

net_test_begin "$@"
server_start
shield_start >/dev/null || exit 1
nsenter --net=/run/netns/client "$LAB/client" --protocol quake2 --to "$NET_SERVER" \
	--port "$NET_PORT" --seconds 14 --poll 0 --join --own-port 27901 --json >"$work/game" &
game=$!
sleep 3
watch high "@th,64,32 0xf0ffff3f"
watch own "udp sport 27901 udp length != 26"
sweep 500 | forge 2000
sweep 60 | forge 5000
for port in "$ELSEWHERE" 27901; do
	qports "$NET_CLIENT" "$port" 0 256 "f0ffff3f00000000QQQQ0000000000000000" | forge 200
done
wait "$game"
jq -c . "$work/game"
keeps "high sequences that got by" "$(watched high packets)" -le 0
keeps "% of the player's moves that got by" \
	$((100 * $(watched own packets) / ($(jq .moves "$work/game") - 90))) -ge 90
exit "$net_failed"
