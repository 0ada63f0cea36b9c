#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_lifetime.sh - the shield outlives its daemon. While a flood runs: kill -9, restart,
# reload, another binary. Afterwards every packet that the interface's driver saw is in
# the shield's counters (nothing went by unjudged), no counter went back, and the budget
# was not given out twice.
#
# lane: beside, 30 s: it counts packets, however many there are.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

RATE=5 BURST=50
lifetime_config()
{
	cat <<-CONFIG
	service "lab" {
	    protocol = quake3
	    port     = $NET_PORT
	    query {
	        source = "$RATE/s burst $BURST"
	        prefix = "100/s burst 100"
	        service = "100/s burst 100"
	    }
	}
	CONFIG
}

flood_start() # SECONDS
{
	# shellcheck disable=SC2086
	net_flood --payload getstatus --victim "$NET_VICTIM" --seconds "$1" $PIN_FLOOD \
		>"$work/flood.json" &
	flood_pid=$!
}

# Arrivals and judgements since mark() must be equal; the link is quiet when compared.
mark()
{
	stats_settle net_arrived || return
	arrived_before=$arrived judged_before=$judged
}

nothing_unjudged()
{
	local delivered

	stats_settle net_arrived || return
	arrived=$((arrived - arrived_before)) judged=$((judged - judged_before))
	delivered=$(jq .delivered "$work/flood.json")
	echo "# arrived $arrived, judged $judged, by the generator $delivered" >&2
	[ "$delivered" -gt 1000 ] && [ "$arrived" -ge "$delivered" ] && [ "$arrived" = "$judged" ]
}

# What one source may have had since the beginning: its burst once, its rate for so long.
budget_kept()
{
	local passed limit=$((BURST + RATE * (SECONDS - began + 1)))

	passed=$(stats_sum 'select(.verdict == "pass")')
	echo "# passed $passed, at most $limit" >&2
	[ "$passed" -gt 0 ] && [ "$passed" -le "$limit" ]
}

# under_flood NAME SECONDS COMMAND...: do it while the flood runs, then compare.
under_flood()
{
	local name=$1 seconds=$2

	shift 2
	net_check "$name: the link is quiet before" mark
	flood_start "$seconds"
	sleep 1
	net_check "$name: succeeds" "$@"
	wait "$flood_pid"
	sleep 0.3
	net_check "$name: every packet was judged" nothing_unjudged
	net_check "$name: the budget was not given twice" budget_kept
}

kill_daemon()
{
	shield_stop KILL
	net_in server "$SHIELD" stats --json | jq -e '.services[0].name == "lab"'
}

restart_daemon()
{
	shield_start && sleep 0.5 && shield_stop TERM && shield_start
}

reload_often()
{
	for _ in 1 2 3 4 5; do
		net_in server "$SHIELD" reload || return 1
		sleep 0.1
	done
}

# The same program from another file: what an upgrade of the package does.
other_binary()
{
	cp "$SHIELD" "$work/quakeshield"
	shield_stop TERM
	SHIELD=$work/quakeshield
	shield_start
}

program_on() # NAMESPACE DEVICE
{
	net_in "$1" ip -json link show "$2" | jq -r '.[0].xdp.prog.id // 0'
}

test_lifetime()
{
	local total began=$SECONDS

	under_flood "attached" 2 true
	total=$(stats_judged)
	under_flood "kill -9" 3 kill_daemon
	under_flood "restart" 4 restart_daemon
	under_flood "reload" 4 reload_often
	under_flood "another binary" 4 other_binary
	net_check "counters only grow" [ "$(stats_judged)" -gt "$total" ]
	shield_stop TERM
	net_check "SIGTERM leaves the shield up" [ "$(program_on server srv0)" != 0 ]
	net_check "SIGTERM says so" grep -q 'stays up' "$work/shield.log"
}

test_detach()
{
	net_check "detach" net_in server "$SHIELD" detach
	net_check "detach takes the program off" [ "$(program_on server srv0)" = 0 ]
	net_check "detach removes the pins" [ -z "$(find /sys/fs/bpf -mindepth 2 -type f)" ]
}

test_observe()
{
	local before

	shield_start --observe || return
	before=$(net_received)
	"$LAB/floodgen" --iface up0 --mac "$NET_MAC" --to "$NET_SERVER" --port "$NET_PORT" \
		--victim "$NET_VICTIM" --payload getstatus --packets 20000 --seconds 10 \
		--rate 20000 --json >"$work/flood.json"
	stats_settle net_arrived
	net_check "observe: would drop" \
		[ "$(stats_sum 'select(.verdict == "drop")')" -gt 15000 ]
	net_check "observe: passes everything" \
		[ $(($(net_received) - before)) = "$(stats_sum .)" ]
	shield_stop TERM
	net_in server "$SHIELD" detach
}

test_foreign()
{
	local before

	net_in server ip link set srv0 xdp obj "$BUILD/tests/lab/foreign.bpf.o" sec xdp
	before=$(program_on server srv0)
	net_in server timeout "${SHIELD_WAIT:-10}" "$SHIELD" run -c "$work/shield.conf" -i srv0 \
		2>"$work/foreign.log"
	net_check "foreign program: run exits 1" [ $? = 1 ]
	cat "$work/foreign.log"
	net_check "foreign program: one message that names the interface" \
		grep -q srv0 "$work/foreign.log"
	net_check "foreign program: not replaced" [ "$(program_on server srv0)" = "$before" ]
	net_in server ip link set srv0 xdp off
	net_in server timeout "${SHIELD_WAIT:-10}" "$SHIELD" run -c "$work/shield.conf" -i nosuch0 \
		2>"$work/foreign.log"
	net_check "unknown interface: run exits 1" [ $? = 1 ]
	net_check "unknown interface: the message quotes it" grep -q nosuch0 "$work/foreign.log"
}

net_test_begin "$@"
server_start || exit 1
lifetime_config >"$work/shield.conf"
shield_start || exit 1
test_lifetime
test_detach
test_observe
test_foreign
exit "$net_failed"
