#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_discover.sh - `discover` on a host with real and scripted game servers of each protocol
# and a dozen services that are none: all servers are found, none is invented, and the
# configuration is one that `check` takes.
#
# lane: beside, 60 s: it waits for servers to start, and counts.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
SERVICES=$(realpath tests/lab/services.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

expected=() # "PORT PROTOCOL" of each server that was started

# standin PROTOCOL PORT [NAMESPACE]
standin()
{
	nsenter --net="/run/netns/${3-server}" "$LAB/standin" "$1" "$2" >"$work/standin.$2" 2>&1 &
}

games()
{
	work_of_all=$work
	if [ -x "$OPENARENA" ]; then
		game openarena 27960 quake3 openarena_start
	else
		echo "skip openarena: it is not here"
	fi
	if [ -x "$NEXUIZ" ]; then
		game nexuiz 26000 netquake nexuiz_start
		game nexuiz-netquake 26001 netquake nexuiz_start +sv_protocolname QUAKE
	else
		echo "skip nexuiz: it is not here"
	fi
	if mvdsv_lacks >/dev/null; then
		echo "skip mvdsv: $(mvdsv_lacks)"
	else
		game mvdsv 27500 quakeworld mvdsv_only
	fi
	work=$work_of_all
	standin quake3 27961
	standin quakeworld 27501
	standin quake2 27910
	standin netquake 26010
	expected+=("27961 quake3" "27501 quakeworld" "27910 quake2" "26010 netquake")
	standin quake-enhanced 26020 # DTLS, which is any service's
}

# game NAME PORT PROTOCOL FUNCTION ARGUMENT...: started in a directory of its own.
game()
{
	local name=$1 port=$2 protocol=$3

	shift 3
	work=$work_of_all/$name
	mkdir "$work"
	chmod 711 "$work"
	NET_PORT=$port
	"$@"
	expected+=("$port $protocol")
}

nexuiz_start()
{
	server_run "$NEXUIZ" -port "$NET_PORT" -userdir "$work/home" +hostname lab \
		+sv_public 0 +maxplayers 8 "$@" +map bloodprison
}

# mvdsv_start without its wait.
mvdsv_only()
{
	PROTOCOL=quakeworld mvdsv_start
}

services()
{
	nsenter --net=/run/netns/server "$SERVICES" dns:5300 echo:7007 echo-twice:7008 discard:9009 \
		syslog:5514 quic:4433 random:4000 heads:4001 print:4002 replayed:4003 control:4004 \
		info:4005 game:27999 >"$work/services" 2>&1 &
	nsenter --net=/run/netns/server "$SERVICES" 10.77.0.2 echo:27962 game:27965 \
		>"$work/services2" 2>&1 &
	nsenter --net=/run/netns/server "$SERVICES" 127.0.0.1 game:27964 >"$work/services3" 2>&1 &
	net_until 10 grep -q ready "$work/services"
	net_until 10 grep -q ready "$work/services2"
	net_until 10 grep -q ready "$work/services3"
	expected+=("27999 quake3" "27965 quake3")
}

# discover ARGUMENT...: in the server's namespace; $status.
discover()
{
	nsenter --net=/run/netns/server "$SHIELD" discover "$@" >"$work/out" 2>"$work/err"
	status=$?
}

all_found()
{
	discover --json
	jq -r '.servers[] | "\(.port) \(.protocol)"' "$work/out" | sort >"$work/found"
	diff "$work/expected" "$work/found" >"$work/difference"
}

test_found()
{
	local began took

	printf '%s\n' "${expected[@]}" | sort >"$work/expected"
	net_check "all servers are found, and none is invented" net_until 40 all_found
	sed 's/^/# /' "$work/difference"
	began=$(date +%s%N)
	discover --json
	took=$((($(date +%s%N) - began) / 1000000))
	echo "# $(jq '.servers | length' "$work/out") servers in $took ms"
	net_check "within three seconds and a half" [ "$took" -lt 3500 ]
	net_check "the interface" jq -e '.interface == null' "$work/out"
	net_check "a process has its name" \
		jq -e '.servers[] | select(.port == 27961) | .process == "standin"' "$work/out"
	net_check "a hostile name is plain" \
		jq -e '.servers[] | select(.port == 27999) | .name | test("^[ -~]{1,47}$") and
		(test("[\"#]") | not)' "$work/out"
	cp "$work/out" "$work/all"
}

test_written()
{
	net_in server ip route add default via 10.77.0.1
	discover -o "$work/found.conf"
	net_check "a configuration is written" [ "$status" = 0 ]
	net_check "check takes it" net_in server "$SHIELD" check -c "$work/found.conf"
	net_check "a server at one address has it" grep -c '^    address  = "10.77.0.2"$' "$work/found.conf"
	net_check "its interface is the default route's" grep -qx 'interface = {"srv0"}' "$work/found.conf"
	"$SHIELD" check -c "$work/found.conf" --print |
		awk '/^service/ { p = "" } $1 == "protocol" { p = $3 } $1 == "port" { print $3, p }
			' | tr -d '{},"' | sort >"$work/printed"
	net_check "it has all servers" diff "$work/expected" "$work/printed"
	cp "$work/found.conf" "$work/kept.conf"
	discover -o "$work/found.conf"
	net_check "no file is written over" [ "$status" = 1 ]
	net_check "no file is written over: as it was" cmp "$work/found.conf" "$work/kept.conf"
	discover
	net_check "without -o: to standard output" diff "$work/out" "$work/kept.conf"
}

test_compared()
{
	discover -c "$work/found.conf"
	net_check "its own configuration agrees" [ "$status" = 0 ]
	cat >"$work/wrong.conf" <<-CONFIG
	service "ffa" { protocol = quake2 port = 27961 }
	service "duel" { protocol = auto port = 27501 }
	service "gone" { protocol = quake3 port = 27100 }
	service "master" { protocol = master port = 27950 }
	service "here" { protocol = quake2 port = 27910 address = "10.77.0.2" }
	CONFIG
	discover -c "$work/wrong.conf"
	net_check "another protocol: 5" [ "$status" = 5 ]
	net_check "another protocol is named" grep -qF \
		"*:27961: service 'ffa' is configured as quake2, but its server 'stand-in' speaks quake3" \
		"$work/out"
	net_check "auto agrees" grep -q "service 'duel' is quakeworld, as its server" "$work/out"
	net_check "a service without a server" grep -qx "service 'gone': no server of this host answered" \
		"$work/out"
	net_check "a server without a service" \
		grep -qE '^\*:26010: netquake server .* is in no service$' "$work/out"
	discover --json -c "$work/wrong.conf"
	net_check "JSON: another protocol" jq -e '.servers[] | select(.port == 27961) |
		.service == "ffa" and .configured == "quake2" and .ok == false' "$work/out"
	net_check "JSON: silent services" jq -e '.silent == ["gone"]' "$work/out"
	cat "$work/out" >>"$work/all"
	discover -c "$work/nothing.conf"
	net_check "no such file" [ "$status" = 1 ]
}

child_has_no_rights() # PARENT
{
	local child

	child=$(cut -d ' ' -f 1 "/proc/$1/task/$1/children")
	[ -n "$child" ] && grep -qE '^CapEff:[[:blank:]]0+$' "/proc/$child/status"
}

multicast_sent()
{
	net_in server nstat -asz IpExtOutMcastPkts | awk 'END { print $2 }'
}

# A socket bound to a multicast group is not asked: the question would leave the host.
test_multicast()
{
	local before

	net_in server ip route add 224.0.0.0/4 dev srv0
	nsenter --net=/run/netns/server "$SERVICES" 239.1.2.3 discard:27966 >"$work/services4" 2>&1 &
	net_until 10 grep -q ready "$work/services4"
	before=$(multicast_sent)
	discover --json
	net_check "nothing is sent to a multicast group" [ "$(multicast_sent)" = "$before" ]
}

# One at the same port as on the host, one at another.
test_containers()
{
	local began took

	standin quake3 27961 client
	standin quake2 27911 client
	sleep 0.5
	discover --json
	net_check "containers are left alone" jq -e 'any(.servers[]; .container) | not' "$work/out"
	began=$(date +%s%N)
	discover --containers --json
	took=$((($(date +%s%N) - began) / 1000000))
	net_check "containers: within three seconds and a half" [ "$took" -lt 3500 ]
	net_check "containers are looked into" jq -e \
		'[.servers[] | select(.container) | .port] | sort == [27911, 27961]' "$work/out"
	net_check "containers: and their processes" jq -e \
		'all(.servers[] | select(.container); .process == "standin")' "$work/out"
	cat "$work/out" >>"$work/all"
	nsenter --net=/run/netns/server "$SHIELD" discover --containers --json >"$work/out" &
	net_until 3 child_has_no_rights $!
	net_check "containers: the process that asks there has no rights" [ $? = 0 ]
	wait $!
	discover --containers -o "$work/containers.conf"
	net_check "containers: check takes it" \
		net_in server "$SHIELD" check -c "$work/containers.conf"
	net_check "containers: a port that is taken is left out" \
		grep -qx '# service "quake3-27961-2" {' "$work/containers.conf"
	nsenter --net=/run/netns/server setpriv --reuid=nobody --clear-groups \
		"$SHIELD" discover --containers >"$work/out" 2>"$work/err"
	net_check "containers: root alone" [ $? = 4 ]
	nsenter --net=/run/netns/server setpriv --reuid=nobody --clear-groups \
		"$SHIELD" discover --json >"$work/out" 2>"$work/err"
	net_check "without rights: servers, not their processes" jq -e \
		'.servers[] | select(.port == 27961) | .process == null' "$work/out"
}

# A container with more sockets than are asked; none of them is a server's.
test_container_of_many_sockets()
{
	local many

	unshare --net python3 -c 'import socket, time
kept = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(300)]
for i, one in enumerate(kept):
    one.bind(("0.0.0.0", 20000 + i))
print("ready", flush=True)
time.sleep(60)' >"$work/many" 2>&1 &
	many=$!
	net_until 10 grep -q ready "$work/many"
	discover --containers --json
	kill "$many"
	wait "$many" 2>/dev/null
	net_check "a container's sockets that are left out count" jq -e '.left_out == 44' "$work/out"
	net_check "and a warning says so" grep -q 'discover: 44 sockets were left out' "$work/err"
}

# A host without a socket is done at once; a container where one is silent is asked to the end.
test_containers_of_an_empty_host()
{
	nsenter --net=/run/netns/server unshare --net "$SHIELD" discover --containers --json \
		>"$work/out" 2>"$work/err"
	net_check "an empty host: containers are asked to the end" jq -e '[.servers[] |
		select(.container) | .port] | (index(27961) != null) and (index(27911) != null)' "$work/out"
	net_check "an empty host: no container fails" [ ! -s "$work/err" ]
	sed 's/^/# /' "$work/err"
}

# One socket of both versions, which has to be asked over IPv4.
# shellcheck disable=SC2016 # the inner shell expands them
test_host_without_ipv6()
{
	nsenter --net=/run/netns/server unshare --net sh -c '
		ip link set lo up
		sysctl -qw net.ipv6.conf.all.disable_ipv6=1
		"$1" both game:27998 >"$3/both" 2>&1 &
		while ! grep -q ready "$3/both" && kill -0 $!; do sleep 0.1; done
		"$2" discover --json
		kill $!' sh "$SERVICES" "$SHIELD" "$work" >"$work/out" 2>"$work/err"
	net_check "a host without IPv6: a socket of both versions" jq -e \
		'[.servers[].port] == [27998]' "$work/out"
}

# holders COUNT: processes in a network namespace of their own each, added to $pids.
holders()
{
	local _

	for _ in $(seq "$1"); do
		unshare --net sleep 120 &
		pids+=($!)
	done
	sleep 1
}

# One beyond the bound, with those of this world and 64 more; then more than are counted.
test_too_many_containers()
{
	local pids=()

	holders 64
	discover --containers --json
	net_check "more containers than are looked into: it is said" \
		grep -qE "discover: [1-9][0-9]* network namespaces were not looked into: at most 64" \
		"$work/err"
	holders 128
	discover --containers --json
	kill "${pids[@]}"
	net_check "more containers than are counted: it is said" \
		grep -q "at least 128 network namespaces were not looked into: at most 64" "$work/err"
}

test_none()
{
	net_in client true
	nsenter --net=/proc/1/ns/net unshare --net "$SHIELD" discover >"$work/out" 2>"$work/err"
	net_check "no server: 1" [ $? = 1 ]
	net_check "no server: no configuration" [ ! -s "$work/out" ]
	net_check "no server: it is said" grep -q "no UDP socket of this host answered" "$work/err"
}

command -v python3 >/dev/null || net_skip net_discover "no python3"
net_test_begin "$@"
games
services
test_found
test_written
test_compared
test_multicast
test_containers
test_container_of_many_sockets
test_containers_of_an_empty_host
test_host_without_ipv6
test_too_many_containers
test_none
net_check "every key is in the schema" "$SCHEMA" discover --all '' <"$work/all"
exit "$net_failed"
