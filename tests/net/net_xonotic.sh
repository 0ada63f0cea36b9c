#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_xonotic.sh [PART] - clients of a DarkPlaces server with d0_blind_id keys (Xonotic's default)
# join it, exchange keys and play: with the defaults on a quiet day (PART quiet), and while
# requests to join are forged from 65536 sources (PART flood): then the shield's own challenge
# must not end the attempt of a client that has stored the server's key. Server and clients are
# scripted after the engine's behaviour: tests/lab/xonotic.py.
#
# lane: beside, 40 s: its clients have seconds to join, as those of net_proof.sh.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=xonotic PROTOCOL=netquake
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
XONOTIC=$PWD/tests/lab/xonotic.py

xonotic_start() # ARGUMENTS of the server
{
	nsenter --net=/run/netns/server "$XONOTIC" server 0.0.0.0 "$NET_PORT" 120 "$@" \
		>"$work/server.log" 2>&1 &
	server_pid=$!
	PROTOCOL=quake3 net_until 10 server_answers || net_die "the server does not answer"
}

xonotic_stop()
{
	kill "$server_pid"
	wait "$server_pid" 2>/dev/null
	sed 's/^/# /' "$work/server.log" >&2
}

xonotic_join() # ARGUMENTS of the clients
{
	net_in client "$XONOTIC" client "$NET_SERVER" "$NET_PORT" "$@" >"$work/client.json"
	local status=$?

	sed 's/^/# /' "$work/client.json" >&2
	return "$status"
}

# All joined at once: none had to repeat a step.
at_once()
{
	jq -se 'all(.seconds < 0.9)' "$work/client.json"
}

# Of the game nothing was lost, either way.
plays_well()
{
	jq -se 'all(.got > 300 and .sent > 300)' "$work/client.json" &&
		! refused
}

# What the shield refused of clients, by kind and reason.
refused()
{
	net_in server "$SHIELD" stats --json >"$work/stats.json"
	jq -ce '[.services[].counters[] | select(.direction == "in" and .verdict == "drop" and
			.reason != "address-in-use") |
		{kind, reason, packets}] | select(length > 0)' "$work/stats.json" >&2
}

quiet_day() # NAME ARGUMENTS of the server
{
	local name=$1 state

	shift
	xonotic_start "$@"
	shield_start >/dev/null || exit 1
	for state in stored known none; do
		[ "$state $*" = "stored --bare" ] && continue
		# Longer than what the budget of strangers lets pass.
		net_check "$name: a client with keys $state joins" xonotic_join --state $state --seconds 6
		net_check "$name, keys $state: at once" at_once
		net_check "$name, keys $state: nothing is refused" plays_well
		sleep 2
	done
	shield_stop TERM
	net_in server "$SHIELD" detach >/dev/null
	xonotic_stop
}

# Every client joins: it is challenged once, and the server a second time.
flooded() # NAME ARGUMENTS of the server
{
	local name=$1 state

	shift
	proven=0
	xonotic_start "$@"
	shield_start >/dev/null || exit 1
	# shellcheck disable=SC2086
	net_flood_start "$work/flood.json" $PIN_FLOOD --payload getchallenge --rate 20000 \
		--seconds 60 --from 10.128.0.0 --sources 65536
	net_until 10 pressed || net_die "the service is not under load"
	for state in stored known none; do
		[ "$state $*" = "stored --bare" ] && continue
		net_check "$name: a client with keys $state joins" \
			xonotic_join --state $state --seconds 1
		net_check "$name: it was challenged" challenged
	done
	stats_line >&2
	kill "$flood"
	shield_stop TERM
	net_in server "$SHIELD" detach >/dev/null
	xonotic_stop
}

pressed()
{
	[ "$(stats_sum 'select(.kind == "getchallenge" and (.verdict == "drop" or
		.reason == "challenged"))')" -gt 1000 ]
}

# More requests to join have been proven than before.
challenged()
{
	local before=$proven

	proven=$(stats_sum 'select((.kind == "d0pk" or .kind == "connect") and .reason == "validated")')
	[ "$proven" -gt "$before" ]
}

net_test_begin "$@"
command -v python3 >/dev/null || net_skip net_xonotic "no python3"
part=${1:-all}
if [ "$part" != flood ]; then
	SERVICE_MORE=''
	quiet_day "authenticated"
	quiet_day "encrypted" --encrypt
	quiet_day "without keys" --bare
fi
if [ "$part" != quiet ]; then
	SERVICE_MORE='validation = under-load'
	rm -f "$work/shield.conf"
	flooded "flood"
	flooded "flood, without keys" --bare
fi
exit "$net_failed"
