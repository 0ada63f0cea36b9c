#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_listed.sh - `status --listed` with masters in another namespace: game servers of each
# protocol register by their heartbeats through the shield, and the command says of each master
# whether it lists them, is silent, or sends what is no list; and which sources would be answered.
# Nothing goes to a master that was not named.
#
# lane: beside, 40 s: each call waits three seconds for what is silent.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LISTS=$(realpath tests/lab/lists.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

shield_config()
{
	cat <<-CONFIG
	allow = {"10.79.1.0/24"}
	deny = {"203.0.113.0/24"}
	service "ffa" { protocol = quake3 port = 27960 }
	service "private" { protocol = quake3 port = 27961 }
	service "xon" { protocol = netquake port = 26000 }
	service "qw" { protocol = quakeworld port = 27500 }
	service "q2" { protocol = quake2 port = 27910 }
	service "nq" { protocol = netquake port = 26005 }
	service "wide" { protocol = quake2 port = {40000, 40001, 40002} }
	service "one" { protocol = netquake port = 26007 }
	service "six" { protocol = netquake port = 26009 }
	service "two" { protocol = netquake port = {26010, 26011} }
	service "container" { protocol = netquake port = 26012 }
	service "down" { protocol = quake3 port = 27970 }
	service "auto" { protocol = auto port = 27920 }
	CONFIG
}

# listed ARGUMENT...: in the server's namespace; $status, the JSON in $work/out.
listed()
{
	nsenter --net=/run/netns/server "$SHIELD" status --listed --json "$@" \
		>"$work/out" 2>"$work/err"
	status=$?
	cat "$work/out" >>"$work/all"
}

# state SERVICE MASTER WANTED
state()
{
	local found

	found=$(jq -r --arg s "$1" --arg m "$2" '.services[] | select(.service == $s) |
		.masters[] | select(.master == $m) | .state' "$work/out")
	[ "$found" = "$3" ] || {
		echo "# $1 at $2: '$found'" >&2
		return 1
	}
}

of() # SERVICE JQ
{
	jq -e --arg s "$1" ".services[] | select(.service == \$s) | $2" "$work/out"
}

start() # NAMESPACE NAME ARGUMENT...
{
	local namespace=$1 name=$2

	shift 2
	nsenter --net="/run/netns/$namespace" python3 "$LISTS" "$@" >"$work/$name.log" 2>&1 &
	net_until 5 grep -q ready "$work/$name.log" || net_die "$name does not start"
}

M=$NET_CLIENT

# heartbeat_alone PORT: as a container's server sends them: no socket of this namespace is seen.
heartbeat_alone()
{
	nsenter --net=/run/netns/server python3 - "$1" "$M" <<-'PYTHON'
	import socket, sys
	sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	sock.bind(("0.0.0.0", int(sys.argv[1])))
	sock.sendto(b"\xff\xff\xff\xffheartbeat DarkPlaces\n", (sys.argv[2], 27950))
	PYTHON
}

begin()
{
	local port=27951 flaw

	start client master master 27950
	start client qwmaster master 27000
	start client q2master master 27900
	for flaw in silent other far unended noise forged long lossy; do
		start client "$flaw" master $port $flaw
		port=$((port + 1))
	done
	shield_start >/dev/null || exit 1
	start server ffa game quake3 27960 "$M:27950" "$M:27957" "$M:27958"
	start server private game quake3 27961
	start server xon game quake3-xonotic 26000 "$M:27950"
	xon=$!
	start server one game quake3-xonotic 10.77.0.2:26007 "$M:27950"
	start server qw game quakeworld 27500 "$M:27000"
	start server q2 game quake2 27910 "$M:27900"
	start server nq game dumb 26005
	start server six game quake3-xonotic :::26009
	start server two game dumb 26010
	start server two-b game quake3-xonotic 26011 "$M:27950"
	heartbeat_alone 26012
	start server auto game quake2 27920 "$M:27900"
	net_check "the masters ask the servers, through the shield" \
		net_until 10 grep -q "listed.* 26000" "$work/master.log"
	net_until 5 grep -q "listed.* 27960" "$work/master.log"
	net_until 5 grep -q "listed.* 27960" "$work/lossy.log"
	net_until 5 grep -q "listed.* 26007" "$work/master.log"
}

test_listed()
{
	listed --master "$M"
	net_check "a server that reports is listed" state ffa "$M" listed
	net_check "as its address and port" of ffa '.masters[0].as == "10.77.0.2:27960"'
	net_check "a server that does not report is not" state private "$M" not-listed
	net_check "a game is asked for by its name" state xon "$M" listed
	net_check "a server at one address is asked there" state one "$M" listed
	net_check "a server of IPv6 alone is asked there" of six '.game == "Xonotic"'
	net_check "a server at the second port of two is asked" state two "$M" listed
	net_check "a server without a socket here is not called down" of container \
		'.heartbeats > 0 and (.why | test("unknown"))'
	net_check "QuakeWorld's" state qw "$M" listed
	net_check "Quake II's" state q2 "$M" listed
	net_check "NetQuake without getinfo has no masters" of nq '.why != null and .masters == []'
	net_check "the shield saw heartbeats of one" of ffa '.masters[0].heartbeats and .heartbeats > 0'
	net_check "and none of another" of private '.masters[0].heartbeats == false and .heartbeats == 0'
	net_check "one is not listed: 5" [ "$status" = 5 ]
	listed --master "$M" --service ffa
	net_check "one service, which is listed: 0" [ "$status" = 0 ]
	net_check "and no other" jq -e '.services | length == 1' "$work/out"
	listed --master "$M:27950" --service 27961 --address 10.77.0.2
	net_check "a port names the service" of private true
	net_check "with its address named it is not listed" state private "$M:27950" not-listed
	listed --master "$M:27950" --service ffa --address 198.51.100.9
	net_check "another address of it is not listed" state ffa "$M:27950" not-listed
}

test_flaws()
{
	local all=() port

	for port in 27951 27952 27953 27954 27955 27956 27957 27990; do
		all+=(--master "$M:$port")
	done
	listed --service ffa "${all[@]}"
	net_check "a silent master" state ffa "$M:27951" no-reply
	net_check "a list with servers at its port alone" state ffa "$M:27952" unknown
	net_check "a list without its port" state ffa "$M:27953" not-listed
	net_check "a list without its end" state ffa "$M:27954" unknown
	net_check "replies that are no list" state ffa "$M:27955" unknown
	net_check "a reply from another port is none" state ffa "$M:27956" no-reply
	net_check "a list that is too long" state ffa "$M:27957" unknown
	net_check "no master there" state ffa "$M:27990" no-reply
	net_check "and why" of ffa '.masters[] | select(.master | endswith("27990")) |
		.why == "Connection refused"'
	net_check "a silent master is asked twice" [ "$(grep -c getservers "$work/silent.log")" = 2 ]
	net_check "in no list: 5" [ "$status" = 5 ]
	listed --service ffa --master "$M:27958"
	net_check "a list that lost a datagram is asked for again" state ffa "$M:27958" listed
}

test_unknown_protocol()
{
	listed --master "$M:27953" --service down
	net_check "a server that is down: both protocols are asked for" \
		[ "$(grep -cE 'getservers (68|71) ' "$work/far.log")" -ge 2 ]
	net_check "a server that is down: its list is not known" state down "$M:27953" unknown
}

# Called last of those that need the server.
test_down()
{
	kill "$xon"
	wait "$xon" 2>/dev/null
	listed --master "$M" --service xon
	net_check "DarkPlaces that reported and is down" of xon '.why | test("is it down")'
	net_check "DarkPlaces that reported and is down: 5" [ "$status" = 5 ]
	listed --master "$M" --service auto
	net_check "Quake II's of protocol = auto, which reported and is up" of auto \
		'.heartbeats > 0 and (.why | test("are not known"))'
	net_check "Quake II's of protocol = auto: 0" [ "$status" = 0 ]
	listed --master "$M" --service container
	net_check "DarkPlaces, perhaps in a container: 0" [ "$status" = 0 ]
	listed --master "$M" --service nq
	net_check "NetQuake, which never reports: 0" [ "$status" = 0 ]
}

# Replies to a service's port would be judged as what clients send to it.
test_own_port()
{
	local range _

	range=$(net_in server sysctl -n net.ipv4.ip_local_port_range)
	net_in server sysctl -qw net.ipv4.ip_local_port_range="40000 40003"
	for _ in 1 2 3; do
		listed --master "$M" --service q2
	done
	net_in server sysctl -qw net.ipv4.ip_local_port_range="$range"
	net_check "questions come from a port that no service has" \
		[ "$(grep -cE "query.* from 40003" "$work/q2master.log")" = 3 ]
}

# A newcomer's address is on no list.
test_askers()
{
	listed --master "$M"
	net_check "a newcomer's query passes" of ffa '.askers[] | select(.asker == "newcomer") |
		.address == "198.51.100.77" and .kind == "getstatus" and .verdict == "pass"'
	net_check "its response leaves" of ffa '.askers[] | select(.asker == "newcomer") |
		.response_leaves'
	net_check "a source of the allow list" of qw '.askers[] | select(.asker == "allowed") |
		.address == "10.79.1.0" and .kind == "status"'
	# The daemon removes ended entries: it must not while this looks.
	kill -STOP "$shield_pid"
	net_in server "$SHIELD" allow add 10.1.0.0/16 --for 1s >/dev/null
	sleep 1.1
	listed --master "$M" --service qw
	kill -CONT "$shield_pid"
	net_check "an allow entry that has ended is no source of the list" of qw '.askers[] |
		select(.asker == "allowed") | .address == "10.79.1.0"'
	listed --master "$M"
	net_check "the master's getinfo" of ffa '.askers[] | select(.asker == "master") |
		.kind == "getinfo" and .passes'
	net_check "DarkPlaces is asked as its browsers do" of xon '.askers[] |
		select(.asker == "newcomer") | .kind == "getstatus" and .verdict == "pass"'
	net_check "and its newcomer is one of IPv4, as of others" of xon '.askers[] |
		select(.asker == "newcomer") | .address == "198.51.100.77"'
	net_check "the master's k" of qw '.askers[] | select(.asker == "master") | .kind == "k"'
	net_in server "$SHIELD" deny add "$M" >/dev/null
	listed --master "$M" --service ffa
	net_check "a master that is denied: its list still comes" state ffa "$M" listed
	net_check "a master that is denied: its getinfo is dropped" of ffa '.askers[] |
		select(.asker == "master") | .reason == "deny-list" and .passes == false'
	net_in server "$SHIELD" deny del "$M" >/dev/null
}

test_text()
{
	nsenter --net=/run/netns/server "$SHIELD" status --listed --master "$M" >"$work/text"
	sed 's/^/# /' "$work/text"
	net_check "text: the service" grep -q "^service 'ffa' (quake3, protocol 71): listed; its server has sent" \
		"$work/text"
	net_check "text: the master" grep -qF "  $M: listed as 10.77.0.2:27960, of 301 servers; heartbeats were sent" \
		"$work/text"
	net_check "text: a newcomer" grep -qF \
		"  getstatus of a newcomer, 198.51.100.77: passes to the server (within-limits), its response leaves" \
		"$work/text"
}

refused() # WORDS ARGUMENT...
{
	local words=$1

	shift
	nsenter --net=/run/netns/server "$SHIELD" status "$@" >"$work/out" 2>"$work/err"
	[ $? = 2 ] && grep -qF -- "$words" "$work/err" && [ ! -s "$work/out" ]
}

test_usage()
{
	net_check "no master" refused "--master: 'a b' is no HOST" --listed --master "a b"
	net_check "no port" refused "--master: 'a:0' is no HOST" --listed --master a:0
	net_check "no address" refused "--address: 'x' is no address" --listed --address x
	net_check "without --listed" refused "are for --listed" --master "$M"
	listed --service nope
	net_check "no such service" [ "$status" = 1 ]
}

# Without --master names are resolved, of which this world knows none: nothing is sent.
test_known()
{
	listed --service ffa
	net_check "well-known masters are named" of ffa '[.masters[].master] |
		index("dpmaster.deathmask.net:27950") != null'
	net_check "a name without an address: no reply" of ffa 'all(.masters[]; .state == "no-reply"
		and .why != null and .address == null)'
}

command -v python3 >/dev/null || net_skip net_listed "no python3"
net_test_begin "$@"
begin
test_listed
test_flaws
test_unknown_protocol
test_own_port
test_askers
test_text
test_usage
test_known
test_down
net_check "every key is in the schema" "$SCHEMA" listed --all '' <"$work/all"
exit "$net_failed"
