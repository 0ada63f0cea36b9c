#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_delist.sh - a small flood of getinfo in random names leaves the master's own
# unanswered, and the server is taken off the list. A real openarena-server, whose master is
# one of the lab's people; meanwhile somebody asks in the master's name, too.
set -u

SERVER=openarena PROTOCOL=quake3
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

MASTER=10.79.8.2

# The master asks once for each heartbeat, as soon as it has come; three of them. More would
# meet the engine's own limit, of one a second for each address.
master()
{
	local asked answered=0

	for asked in 1 2 3; do
		echo heartbeat >&9
		sleep 0.1
		net_in client "$LAB/client" --protocol quake3 --to "$NET_SERVER" \
			--port "$NET_PORT" --seconds 2 --poll 1 --json --from "$MASTER" \
			>"$work/asked.$asked" 2>/dev/null
		answered=$((answered + $(jq '.answered > 0 | if . then 1 else 0 end' "$work/asked.$asked")))
		sleep 3
	done
	echo "$answered"
}

attack_needs "$OPENARENA"
net_test_begin "$@"
server_run "$OPENARENA" +set dedicated 2 +set net_enabled 1 +set net_port "$NET_PORT" \
	+set sv_hostname lab +set sv_master1 "$MASTER:27950" +set sv_maxclients 8 \
	+set com_hunkMegs 128 +map oa_dm1
net_until 20 server_answers || net_die "openarena does not answer"
shield_start >/dev/null || exit 1
net_flood --payload getinfo --from "$NET_FLOOD" --sources "$NET_SOURCES" --rate 100 --seconds 60 \
	>/dev/null &
flood=$!
sleep 1
answered=$(master)
echo "# $(net_in server "$SHIELD" stats --json |
	jq '[.services[].counters[] | select(.kind == "heartbeat") | .packets] | add // 0') heartbeats"
keeps "of 3 questions of the master, answered" "$answered" -ge 3
net_flood --payload getinfo --victim "$MASTER" --rate 4 --seconds 30 >/dev/null &
second=$!
sleep 4 # until what it may ask is spent
keeps "and while 4 a second are forged in its name" "$(master)" -ge 2
kill "$flood" "$second" 2>/dev/null
wait "$flood" "$second" 2>/dev/null
exit "$net_failed"
