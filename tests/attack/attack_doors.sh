#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_doors.sh - small floods close doors: ten or a hundred datagrams a second, each in
# another name, spend what the server has for all. With `validation = under-load` who joins meanwhile
# must get in; how many of those who only ask are answered is told, and has a floor where
# the flood comes from one network.
set -u

SERVER=standin PROTOCOL=quake3 LIMITS=1 SERVICE_MORE='validation = under-load'
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

# flooded NAME FLOOR [floodgen arguments]: people come while that goes on.
flooded()
{
	local name=$1 floor=$2 flood

	shift 2
	net_flood --seconds 9 "$@" >/dev/null &
	flood=$!
	sleep 1
	POLL=2 client_start 7 >"$work/client" 2>/dev/null
	wait "$flood"
	keeps "$name: who joins is in" "$(jq 'if .join == "ok" then 1 else 0 end' "$work/client")" -ge 1
	if [ "$floor" -gt 0 ]; then
		keeps "$name: % of questions answered" \
			"$(jq '.percent | floor' "$work/client")" -ge "$floor"
	else
		echo "# $name: $(jq .percent "$work/client") % of questions answered: no promise"
	fi
	sleep 3 # budgets fill again
}

net_test_begin "$@"
server_start
shield_start >/dev/null || exit 1
many=(--from "$NET_FLOOD" --sources "$NET_SOURCES")
flooded "getstatus, 10/s" 0 --payload getstatus --rate 10 "${many[@]}"
flooded "getstatus, 100/s" 0 --payload getstatus --rate 100 "${many[@]}"
flooded "getstatus, 100/s from one /48" 40 --payload getstatus --rate 100 --to "$NET_SERVER6" \
	--from fd00:80::1 --sources 65536
flooded "connect, 100/s" 90 --payload connect --rate 100 "${many[@]}"
exit "$net_failed"
