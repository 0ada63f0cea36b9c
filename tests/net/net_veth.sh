#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_veth.sh - over a veth: nobody is asked for proof of address, nor answered, unless the
# configuration says so, and what is sent back then arrives and stops nothing, also where it
# is longer than what came (Quake II, DarkPlaces) and a socket sent that: of Linux 6.18 there
# is no room behind it. The other end has GRO on and no program: see send_back() in
# bpf/challenge.bpf.h.
#
# lane: beside, 15 s: it counts, and measures no time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
SERVICE_MORE=''
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

REQUESTS=2000

# config [LINE]: of the service.
config()
{
	SERVICE_MORE=${1-}
	{
		echo "interface = srv0"
		shield_config
	} >"$work/shield.conf"
}

checked() # FILTER
{
	net_in server "$SHIELD" check -c "$work/shield.conf" --json | jq -e "$1"
}

status_is() # FILTER
{
	net_in server "$SHIELD" status --json | jq -e "$1"
}

says_why()
{
	net_in server "$SHIELD" status >"$work/status"
	grep -q '^address validation: .*off 1 (the default over a veth, srv0)' "$work/status" &&
		grep -q 'off: the default over a veth, srv0' "$work/status"
}

templates()
{
	net_in server "$SHIELD" stats --json | jq '[.services[].cached_responses[]] | length'
}

templates_there()
{
	[ "$(templates)" -gt 0 ]
}

asked()
{
	stats_sum 'select(.reason == "challenged")'
}

heard()
{
	net_count asked packets
}

# More of them than a ring has room for; to addresses that only the hub sees.
requests() # [PAYLOAD]
{
	net_flood --payload "${1:-getchallenge}" --from "$NET_FLOOD" --sources "$NET_SOURCES" \
		--rate 2000 --packets $REQUESTS --seconds 10 >"$work/flood.json"
}

all_heard()
{
	[ "$(asked)" -gt $((REQUESTS / 2)) ] && [ "$(heard)" = "$(asked)" ]
}

# By a player who is known: nobody else's questions need to be answered now.
joins()
{
	net_in client "$LAB/client" --protocol "$PROTOCOL" --to "$NET_SERVER" \
		--port "$NET_PORT" --seconds 4 --poll 1 --join --json |
		jq -e '.join == "ok" and .snapshots > 10'
}

# longer FAMILY PAYLOAD: all who are asked hear a challenge, which is longer than what it answers.
# Some get the server's own as well.
longer()
{
	local asked_before heard_before

	PROTOCOL=$1
	config 'validation = under-load'
	net_in server "$SHIELD" reload >/dev/null
	asked_before=$(asked)
	heard_before=$(net_count crowd packets)
	requests "$2"
	asked_now=$(($(asked) - asked_before))
	heard_now=$(($(net_count crowd packets) - heard_before))
	echo "# $1: of $REQUESTS requests $asked_now asked, $heard_now heard"
	net_check "$1: who is asked hears it" \
		[ $((asked_now > REQUESTS / 2 && heard_now >= asked_now)) = 1 ]
}

net_test_begin "$@"
server_start
config
off='{"under_load": 0, "always": 0, "off": 1}'
told='validation for 1 service, cache for 1 service'
net_check "check says what is off, and why" checked \
	".ok and (.messages | map(select(.message | test(\"veth.*$told\"))) | length == 1)"
shield_start || exit 1
net_check "so does the log" grep -q "off: $told: .* veth" "$work/shield.log"
net_check "so does status" status_is ".validation == $off and .cache == $off"
net_check "in words" says_why
requests
net_check "nobody was asked" [ "$(asked)" = 0 ]
net_check "nor the server" [ "$(templates)" = 0 ]
config 'cache = under-load validation = under-load'
net_check "what is written is not warned of" checked '.ok and .messages == []'
net_in server "$SHIELD" reload >/dev/null
net_check "what is written counts" status_is '.validation.under_load == 1 and .cache.under_load == 1'
net_check "the server is asked" net_until 5 templates_there
requests
echo "# of $REQUESTS requests $(asked) asked, $(heard) heard"
net_check "who is asked hears it" all_heard
net_check "what the server says still arrives" joins
longer quake2 q2-getchallenge
exit "$net_failed"
