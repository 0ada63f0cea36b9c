#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_sources.sh - where attacks come from, without any configuration: one address that
# guesses rcon passwords, 20 a second, is named though a flood from four million addresses
# goes to the same server; a flood from such addresses alone names none; and over IPv6 the
# /64 that guesses is named.
#
# lane: beside, 30 s: its floods are slow, and it waits for what is said of them.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

GUESSER=10.128.7.7

# Until attacks_stop: a busy machine takes long to start the daemon's successor.
attack() # PORT PAYLOAD RATE FROM...
{
	local port=$1 payload=$2 rate=$3

	shift 3
	NET_PORT=$port NET_EXEC=exec net_flood --payload "$payload" --rate "$rate" --seconds 120 "$@" \
		>"$work/flood.$port.$payload" 2>&1 &
	attacking+=($!)
}

attacks_stop()
{
	kill "${attacking[@]}"
	wait "${attacking[@]}"
}

attacks()
{
	net_in server "$SHIELD" attacks --json
}

# The service, what is to hold for its last attack.
holds()
{
	attacks | jq -e --arg s "$1" "[.attacks[] | select(.service == \$s)][-1] | $2" >/dev/null
}

guesser_is_named()
{
	holds guessed ".sources.top | any(.source == \"$GUESSER\" and .class == \"rcon\" and
		.reason == \"source-limit\" and .share > 0.9)"
}

# None of four million addresses is named, and no network. They are reported as spoofed.
no_other_source_is_named()
{
	holds guessed '(.sources.top | length) == 1 and .sources.spoofed == "likely" and
		all(.top_prefixes[]; .class == "rcon")' &&
		holds flooded '(.sources.top | length) == 0 and (.top_prefixes | length) == 0 and
		.sources.spoofed == "likely" and .sources.sampled > 20'
}

ipv6_is_named_by_its_64()
{
	holds guessed6 '.sources.top[0].source == "fd00:80::/64" and .type == "password-guessing"'
}

# So that all of it can be said, also without the last seconds: a record ends with the last look
# that found an attack.
enough_is_sampled()
{
	holds flooded '.sources.sampled > 60' && holds guessed '.sources.sampled > 80' && holds guessed '.sources.spoofed == "likely"' &&
		ipv6_is_named_by_its_64
}

people_are_told()
{
	net_in server "$SHIELD" attacks | grep -q "by samples from $GUESSER ([0-9]* % of rcon, " &&
		net_in server "$SHIELD" attacks | grep -q 'by samples from addresses that are spoofed'
}

status_tells()
{
	net_in server "$SHIELD" status |
		grep -q "^attack on guessed: .*, by samples from $GUESSER ("
}

log_tells()
{
	grep -q "attack .* on guessed, .* by samples from $GUESSER (" "$work/shield.log"
}

all_over()
{
	[ "$(attacks | jq '[.attacks[] | select(.end)] | length')" = 3 ]
}

# As an older daemon's successor it has what that one has named.
survives()
{
	shield_stop KILL
	shield_start >"$work/started" || return
	net_until 10 guesser_is_named
}

net_test_begin "$@"
cat >"$work/shield.conf" <<-'CONFIG'
	service "guessed" { protocol = quake3 port = 27960 }
	service "flooded" { protocol = quake3 port = 27961 }
	service "guessed6" { protocol = quake3 port = 27962 }
CONFIG
for port in 27960 27961 27962; do
	nsenter --net=/run/netns/server "$LAB/standin" quake3 "$port" >>"$work/server.log" 2>&1 &
done
shield_start >"$work/started" || exit 1
sleep 2.2
attacking=()
attack 27960 rcon 20 --from "$GUESSER" --sources 1
attack 27960 getstatus 10000 --from "$NET_FLOOD" --sources "$NET_SOURCES"
attack 27961 getstatus 10000 --from "$NET_FLOOD" --sources "$NET_SOURCES"
attack 27962 rcon 20 --to "$NET_SERVER6" --from "$NET_FLOOD6" --sources 1
net_check "an address that guesses is named while it goes on" net_until 20 guesser_is_named
net_check "status names it" net_until 3 status_tells
net_check "a killed daemon's successor names it" survives
net_until 40 enough_is_sampled
attacks_stop
net_check "three attacks end" net_until 20 all_over
net_check "IPv6 is named by its /64" ipv6_is_named_by_its_64
net_check "of spoofed addresses none is named" no_other_source_is_named
net_check "attacks says so in words" people_are_told
net_check "and the log" log_tells
attacks | jq -c '.attacks[] | [.service, .type, .sources, .top_prefixes]' | sed 's/^/# /'
exit "$net_failed"
