# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# server.sh - start the game server, the people and the shield of a lab; sourced after
# net.sh by lab.sh and the net_*.sh tests. Needs LAB, SHIELD, SERVER, PROTOCOL, work.
#
# shellcheck disable=SC2034,SC2154 # shared with those who source this
# A server's own lines go to $work/server.log. Everything started here dies with the
# process namespace of net_enter; commands whose process id matters are started by
# nsenter itself, not by a shell function in between.

OPENARENA=${OPENARENA:-/usr/games/openarena-server}
NEXUIZ=${NEXUIZ:-/usr/games/nexuiz-server}

# Where the flood has a processor for itself, the measured ones stay off it.
server_defaults()
{
	PIN='' PIN_FLOOD=''
	if [ "$(nproc)" -gt 1 ]; then
		PIN='taskset -c 1' PIN_FLOOD='--cpu 0'
	fi
	case $PROTOCOL in
	quake3)		NET_PORT=27960 PAYLOAD=getstatus ;;
	quakeworld)	NET_PORT=27500 PAYLOAD=qw-status ;;
	quake2)		NET_PORT=27910 PAYLOAD=q2-status ;;
	netquake)	NET_PORT=26000 PAYLOAD=ccreq-server-info ;;
	quake-enhanced) NET_PORT=26001 PAYLOAD=dtls-hello ;;
	*)		net_die "no such protocol: '$PROTOCOL'" ;;
	esac
}

server_answers()
{
	net_in server "$LAB/client" --protocol "$PROTOCOL" --to 127.0.0.1 --port "$NET_PORT" \
		--seconds 2 --poll 5 --json | jq -e '.answered > 0'
}

# server_run COMMAND...: with a home of its own, and a pipe that stays open for a console:
# at end of file an engine would spin.
server_run()
{
	mkdir -p "$work/home"
	chmod 711 "$work"
	chown nobody "$work/home"
	[ -p "$work/console" ] || mkfifo "$work/console"
	exec 9<>"$work/console"
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/server $PIN setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env HOME="$work/home" "$@" <&9 >"$work/server.log" 2>&1 &
	server_pid=$!
}

openarena_start()
{
	server_run "$OPENARENA" +set dedicated 1 +set net_enabled 3 \
		+set net_port "$NET_PORT" +set net_port6 "$NET_PORT" +set sv_hostname lab \
		+set sv_master1 "" +set rconpassword "" +set sv_maxclients 16 \
		+set timelimit 0 +set com_hunkMegs 128 +map oa_dm1
}

# server_start [further arguments, for nexuiz]
server_start()
{
	local ask=$PROTOCOL lacking

	case $SERVER in
	openarena)
		[ -x "$OPENARENA" ] || net_die "no $OPENARENA: apt install openarena-server"
		ask=quake3 PROTOCOL=quake3
		openarena_start ;;
	nexuiz)
		ask=quake3 # out of band; CCREQ_SERVER_INFO is silent unless its game is NetQuake
		server_run "$NEXUIZ" -port "$NET_PORT" -userdir "$work/home" +hostname lab \
			+sv_public 0 +maxplayers 8 "$@" +map bloodprison ;;
	mvdsv) # of quakeworld.sh
		! lacking=$(mvdsv_lacks) || net_die "$lacking"
		mvdsv_start ;;
	*)
		# shellcheck disable=SC2086
		nsenter --net=/run/netns/server $PIN "$LAB/standin" "$PROTOCOL" "$NET_PORT" \
			${LIMITS:+--ioq3-limits} >"$work/server.log" 2>&1 &
		server_pid=$! ;;
	esac
	PROTOCOL=$ask net_until 20 server_answers ||
		net_die "$SERVER does not answer; see $work/server.log"
}

# Ticks of CPU time so far, in user and system mode.
server_cpu()
{
	awk '{ print $14 + $15 }' "/proc/$server_pid/stat"
}

# client_start SECONDS: eight people ask for the status, one of them joins; JSON on
# stdout. Engines and shield let each ask about once a second.
client_start()
{
	local from='' i

	for i in 1 2 3 4 5 6 7 8; do
		from="$from --from 10.79.$i.2"
	done
	# shellcheck disable=SC2086
	net_in client $PIN "$LAB/client" --protocol "$PROTOCOL" --to "$NET_SERVER" \
		--port "$NET_PORT" --seconds "$1" --poll "${POLL:-4}" --join --json $from
}

# SERVICE_MORE: another line of its service. Without, proof as it is by default on a card:
# over a veth `validation` and `cache` are off unless they are written. There is no room for
# answers behind what a socket sends over one, so they are left off.
shield_config()
{
	cat <<-CONFIG
	service "lab" {
	    protocol = $PROTOCOL
	    port     = $NET_PORT
	    ${SERVICE_MORE-validation = under-load}
	}
	CONFIG
}

shield_is_up()
{
	grep -q "protecting srv0" "$work/shield.log" && net_in server "$SHIELD" stats --json
}

# Up, or ended: there is nothing more to wait for.
shield_decided()
{
	shield_is_up || ! kill -0 "$shield_pid"
}

# In the background, on the server's end of the link; ready when it says so, and its
# state can be read.
shield_start()
{
	[ -f "$work/shield.conf" ] || shield_config >"$work/shield.conf"
	: >"$work/shield.log" # now: what the one before said must not be taken for this one's
	nsenter --net=/run/netns/server "$SHIELD" run -c "$work/shield.conf" -i srv0 "$@" \
		>"$work/shield.log" 2>&1 &
	shield_pid=$!
	net_until "${SHIELD_WAIT:-40}" shield_decided
	shield_is_up && return
	cat "$work/shield.log" >&2
	echo "the shield did not come up" >&2
	return 1
}

shield_stop() # SIGNAL
{
	kill "-$1" "$shield_pid" 2>/dev/null
	wait "$shield_pid" 2>/dev/null
	shield_pid=''
}

# stats_sum JQ-FILTER: packets of the inbound counters that it selects.
stats_sum()
{
	net_in server "$SHIELD" stats --json |
		jq "[.services[].counters[] | select(.direction == \"in\") | $1 | .packets] | add // 0"
}

# game_refused: how many datagrams of games, in both directions, the shield did not pass.
game_refused()
{
	net_in server "$SHIELD" stats --json | jq '
		[.services[].counters[] | select(.kind == "netchan" and .verdict != "pass") |
			.packets] | add // 0'
}

# session_goes_on: the shield passes each datagram of the game. A snapshot that is lost
# nevertheless was lost on the link (its queue also takes the shield's challenges), or by a
# client without a processor.
session_goes_on()
{
	[ "$(game_refused)" = 0 ] &&
		jq -e '.snapshots > 20 and .lost <= .snapshots / 5' "$work/client.json"
}

# Every packet that the shield has judged on its way in: of services and others.
stats_judged()
{
	net_in server "$SHIELD" stats --json | jq '
		([.services[].counters[] | select(.direction == "in") | .packets] | add // 0)
		+ ([.other | .. | .packets? // empty] | add // 0)'
}

# stats_settle COMMAND: what has arrived by COMMAND, and what was judged by the shield,
# into $arrived and $judged: both at a moment at which nothing came in between. A pair of
# readings without that is off by the neighbour's packet that came between them, and
# where the pair is the beginning of a comparison, no later reading mends it.
stats_settle()
{
	local after _

	after=$("$1")
	for _ in {1..100}; do
		arrived=$after
		judged=$(stats_judged)
		sleep 0.2
		after=$("$1")
		[ "$arrived" != "$after" ] || return 0
	done
	echo "# packets never stop arriving: $arrived, $after" >&2
	return 1
}

# One line for a test's log: what was judged how, by kind and reason.
stats_line()
{
	net_in server "$SHIELD" stats --json | jq -c '[.services[].counters[] |
		select(.direction == "in") | {"\(.kind) \(.reason)": .packets}] | add'
}

# grown_build: another quakeshield, every table of which has another shape (tests/lab/grow.sh),
# as $BUILD/grown/build/quakeshield. The test that comes first builds it for all.
grown_build()
{
	local at=$BUILD/grown lock status=0

	exec {lock}>"$BUILD/grown.lock"
	flock "$lock"
	if [ ! -x "$at/build/quakeshield" ] || [ -n "$(find Makefile bpf include user \
		tests/lab/grow.sh -newer "$at/build/quakeshield" -print -quit)" ]; then
		rm -rf "$at"
		tests/lab/grow.sh "$at" && make -s -j2 -C "$at" O="$at/build" CFLAGS=-O0 \
			>"$work/make.log" 2>&1 || status=$?
		[ "$status" = 0 ] || { tail -n 5 "$work/make.log"; rm -f "$at/build/quakeshield"; }
	fi
	exec {lock}>&-
	return "$status"
}
