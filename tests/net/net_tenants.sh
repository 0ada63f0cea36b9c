#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_tenants.sh - 200 services on one host, of which one is flooded as fast as the lab can:
# the tenants beside it notice nothing. Eight of them have a server, a player, and a client
# that asks. Under each flood they do what they did in quiet, from networks that the shield
# has not seen, and it refuses, challenges and holds back nothing of theirs.
#
# lane: alone, 50 s: it compares answers and losses with a strong flood.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

SERVICES=200
EACH=5
FIRST=20000 # the port of service 0, which is flooded
# Protocols by number of the service, of those that have a server.
TENANTS=(quake3 quake3 quakeworld quake2 netquake quake3 quakeworld quake2 netquake)
ROUND=0
FLOODED=0 # packets

tenants_config()
{
	local i

	for ((i = 0; i < SERVICES; i++)); do
		printf 'service "tenant%03d" {\n    protocol = %s\n    port     = %d\n' "$i" \
			"${TENANTS[i]-quake3}" $((FIRST + i))
		printf '    validation = under-load\n    cache = off\n}\n'
	done
}

tenant_start() # NUMBER
{
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/server $PIN "$LAB/standin" "${TENANTS[$1]}" $((FIRST + $1)) \
		>"$work/server.$1" 2>&1 &
}

# people NAME: at each tenant but the flooded one a client joins and plays, and asks.
people()
{
	local i own clients=()

	ROUND=$((ROUND + 1))
	for ((i = 1; i < ${#TENANTS[@]}; i++)); do
		own=10.79.$((10 * ROUND + i)).2
		net_in client ip address replace "$own/32" dev lo
		ip route replace "${own%.2}.0/24" via "$NET_CLIENT"
		# shellcheck disable=SC2086
		net_in client $PIN "$LAB/client" --protocol "${TENANTS[i]}" --to "$NET_SERVER" \
			--port $((FIRST + i)) --seconds "$EACH" --poll 1 --join --json \
			--from "$own" >"$work/client.$i" &
		clients+=($!)
	done
	wait "${clients[@]}"
	# Servers of two protocols tell which moves they have heard.
	jq -c -s '{answered: (map(.answered) | add), asked: (map(.queries) | add),
		joined: map(select(.join == "ok")) | length,
		join_seconds: (map(.join_seconds) | max),
		snapshots: (map(.snapshots) | add), lost: (map(.lost) | add),
		moves_lost: (map(select(.heard > 0) | .moves - .heard) | add)}' \
		"$work"/client.[0-9] | tee "$work/people.$1" | sed "s/^/# $1: /" >&2
}

# Print the counters of the other tenants' datagrams that the shield did not pass.
refusals()
{
	net_in server "$SHIELD" stats --json | jq -c '[.services[] | select(.name != "tenant000") |
		.name as $name | .counters[] | select(.verdict != "pass") |
		"\($name) \(.direction) \(.kind) \(.reason) \(.packets)"]'
}

# Count what the other tenants' clients send before it comes to the flooded link. A game of
# NetQuake's is on a port of its own.
count_others()
{
	nft -f - <<-RULES
	table netdev others {
		counter sent { }
		chain from_clients {
			type filter hook ingress device hub0 priority 0;
			ip saddr 10.79.0.0/16 udp dport != $FIRST counter name sent
		}
	}
	RULES
}

others_sent()
{
	nft --json list counter netdev others sent |
		jq '.nftables[] | select(.counter) | .counter.packets'
}

others_passed()
{
	net_in server "$SHIELD" stats --json | jq '[.services[] | select(.name != "tenant000") |
		.counters[] | select(.direction == "in" and .verdict == "pass") | .packets] | add'
}

# all_passed SENT PASSED: of what the others have sent since, the shield has passed at least 99
# of a hundred. On the way to it a queue of the link may have been full.
all_passed()
{
	sent=$(($(others_sent) - $1)) passed=$(($(others_passed) - $2))
	[ "$sent" -gt 500 ] && [ $((passed * 100)) -ge $((sent * 99)) ]
}

# Less than that is the machine's: snapshots are lost where a client without a processor finds
# its socket full, and its server answers late. A step of joining that is refused costs three
# seconds.
as_in_quiet() # NAME
{
	jq -e -s '.[0] as $quiet | .[1] | .joined == $quiet.joined and .moves_lost == 0 and
		.answered * $quiet.asked >= 0.8 * .asked * $quiet.answered and
		.join_seconds < $quiet.join_seconds + 2.5 and .lost <= .snapshots / 5' \
		"$work/people.quiet" "$work/people.$1"
}

under() # PAYLOAD
{
	local flood refused sent_before passed_before sent passed

	sent_before=$(others_sent) passed_before=$(others_passed)
	# shellcheck disable=SC2086
	net_flood_start "$work/flood.json" --port $FIRST --payload "$1" --seconds $((EACH + 3)) \
		$PIN_FLOOD --from "$NET_FLOOD" --sources "$NET_SOURCES"
	sleep 1.5
	people "$1"
	wait "$flood"
	FLOODED=$((FLOODED + $(jq .delivered "$work/flood.json")))
	refused=$(refusals)
	echo "# $1: $(jq .pps "$work/flood.json")/s, of the others refused: $refused" >&2
	net_check "$1: the shield refuses nothing of the others" [ "$refused" = '[]' ]
	net_check "$1: the shield passes all of the others" \
		net_until 5 all_passed "$sent_before" "$passed_before"
	echo "# $1: the others sent $sent, the shield passed $passed" >&2
	net_check "$1: the others notice nothing" as_in_quiet "$1"
}

net_test_begin "$@"
for ((i = 0; i < ${#TENANTS[@]}; i++)); do
	tenant_start "$i"
done
count_others
tenants_config >"$work/shield.conf"
SHIELD_WAIT=30 shield_start >/dev/null || exit 1
sleep 2
people quiet
net_check "quiet: all join, and are answered" jq -e '.joined == 8 and .answered == .asked and
	.moves_lost == 0' "$work/people.quiet"
for payload in getchallenge getstatus netchan connect; do
	under "$payload"
done
net_check "the flood was refused" \
	[ $(($(stats_sum 'select(.verdict != "pass")') * 10)) -ge $((FLOODED * 9)) ]
exit "$net_failed"
