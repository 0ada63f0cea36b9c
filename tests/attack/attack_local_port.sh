#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_local_port.sh - an unprivileged user of the host speaks from the port of a server
# that has IPv4 alone (local_port.py). What it says counts for nothing: no player, no port
# of another program, and real players join as before.
set -u

SERVER=mvdsv PROTOCOL=quakeworld SEQUENCE=little
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

COUNT=${COUNT:-100000}

players()
{
	net_in server "$SHIELD" stats --json | jq '[.services[].players] | add'
}

joins() # ADDRESS
{
	net_in client "$LAB/client" --protocol quakeworld --to "$NET_SERVER" --port "$NET_PORT" \
		--seconds 4 --join --json --from "$1" | jq -r .snapshots
}

# port_53: how many of 100 questions to another program of the host are passed unjudged.
port_53()
{
	local before

	before=$(stats_judged)
	for _ in {1..100}; do
		net_in client bash -c "printf question >/dev/udp/$NET_SERVER/53" 2>/dev/null
	done
	sleep 1
	net_in server "$SHIELD" stats --json | jq --argjson before "$before" \
		'[.other | .. | .packets? // empty] | add // 0'
}

lacking=$(mvdsv_lacks) && attack_skip "$lacking"
attack_needs python3 setpriv
net_test_begin "$@"
mvdsv_start || net_die "mvdsv does not answer"
shield_start >/dev/null || exit 1
chmod 711 "$work"
cp tests/attack/local_port.py "$work/"
net_in server setpriv --reuid=daemon --regid=nogroup --clear-groups --bounding-set=-all \
	/usr/bin/python3 "$work/local_port.py" "$NET_PORT" "$COUNT" || exit 1
keeps "players made by another user's socket" "$(players)" -le 1
keeps "datagrams counted as another socket's" \
	"$(net_in server "$SHIELD" status --json | jq '.owners[0].other_sockets')" -ge $((COUNT / 2))
keeps "snapshots of one that joins then" "$(joins 10.79.5.2)" -ge 20
keeps "questions to port 53 that passed unjudged" "$(port_53)" -ge 100
net_in server "$SHIELD" status
exit "$net_failed"
