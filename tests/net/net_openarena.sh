#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_openarena.sh - a real openarena-server behind the shield, asked by quakestat and
# joined by our client, under floods from one spoofed victim and from 4 million sources.
#
# lane: alone, 32 s: it compares answers and losses with a strong flood.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openarena PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

EACH=8

# quakestat_ok SOURCE: the name of the map is in the answer to getinfo, the game's rules
# are in that to getstatus.
quakestat_ok()
{
	net_in client quakestat -srcip "$1" -q3s "$NET_SERVER:$NET_PORT" -P -R -raw , \
		>"$work/quakestat.out"
	grep -q "^Q3S,$NET_SERVER:$NET_PORT,.*,oa_dm1," "$work/quakestat.out" &&
		grep -q 'sv_hostname=lab' "$work/quakestat.out"
}

# Ask until the flood ends, from four addresses in turn: two queries a second in all,
# where the engine itself answers ten. Answered and asked go to $work/quakestat.
quakestat_often() # SECONDS
{
	local end=$((SECONDS + $1)) asked=0 answered=0

	while [ "$SECONDS" -lt "$end" ]; do
		quakestat_ok "10.79.$((5 + asked % 4)).2" && answered=$((answered + 1))
		asked=$((asked + 1))
		sleep 1
	done
	echo "$answered $asked" >"$work/quakestat"
}

# The people come a second after the flood: in its first instant the victim's burst comes
# out of the same global budget as everyone's, and one query may be lost to that.
flood_with()
{
	local flood client stat

	# shellcheck disable=SC2086
	net_flood --payload "$PAYLOAD" --seconds $((EACH + 1)) $PIN_FLOOD "$@" \
		>"$work/flood.json" &
	flood=$!
	sleep 1
	POLL=1 client_start "$EACH" >"$work/client.json" &
	client=$!
	quakestat_often $((EACH - 1)) &
	stat=$!
	wait "$flood" "$client" "$stat"
	sleep 0.3
	cat "$work/flood.json" "$work/client.json"
	echo "# quakestat, answered of asked: $(cat "$work/quakestat")"
	echo "# so far: $(stats_line)"
}

people() # JQ-CONDITION
{
	jq -e "$1" "$work/client.json"
}

quakestat_answered() # PERCENT
{
	local answered asked

	read -r answered asked <"$work/quakestat"
	[ "$asked" -gt 5 ] && [ $((answered * 100)) -ge $((asked * $1)) ]
}

test_one_victim()
{
	local out

	out=$(net_count victim bytes)
	flood_with --victim "$NET_VICTIM"
	out=$(($(net_count victim bytes) - out))
	echo "# $out bytes toward the victim"
	net_check "victim: the flood is strong" net_strong "$work/flood.json"
	net_check "victim: quakestat answered >= 99 %" quakestat_answered 99
	net_check "victim: people answered >= 99 %" people '.percent >= 99'
	net_check "victim: connect succeeds" people '.join == "ok"'
	net_check "victim: fewer bytes out than a hundredth of those in" \
		[ $((out * 100)) -lt "$(jq '.delivered * .payload' "$work/flood.json")" ]
}

test_crowd()
{
	flood_with --from "$NET_FLOOD" --sources "$NET_SOURCES"
	net_check "4M sources: the flood is strong" net_strong "$work/flood.json"
	net_check "4M sources: connect succeeds" people '.join == "ok"'
	net_check "4M sources: the session goes on" session_goes_on
}

[ -x "$OPENARENA" ] || net_skip net_openarena "no $OPENARENA (package openarena-server)"
command -v quakestat >/dev/null || net_skip net_openarena "no quakestat (package qstat)"
net_test_begin "$@"
server_start || exit 1
net_check "without the shield: quakestat is answered" net_until 5 quakestat_ok "$NET_CLIENT"
shield_start || exit 1
net_check "with the shield, no flood: quakestat is answered" quakestat_ok "$NET_CLIENT"
test_one_victim
test_crowd
exit "$net_failed"
