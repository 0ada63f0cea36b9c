#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_topologies.sh - where the shield may stand, and what `status` says of it: judged, not
# judged by name of the interface that nothing judges, refused with what to do, or nothing
# known; and what it says where the protocol is wrong. One host, client and daemon for each row
# of docs/howto/where-to-attach.md's table; kinds of interfaces that this kernel lacks are skipped.
#
# lane: beside, 60 s: it counts, and measures no time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

PORT=27960
LOOK_S=120 # daemons look every 5 seconds, and want three; loading takes a few, all at once

# host NAME: a host h-NAME with eth0 and its client c-NAME, which is the internet.
host()
{
	ip netns add "h-$1"
	ip netns add "c-$1"
	ip link add eth0 netns "h-$1" type veth peer name eth0 netns "c-$1"
	for end in h c; do
		net_in "$end-$1" ip link set lo up
		net_in "$end-$1" ip link set eth0 up
	done
	net_in "c-$1" ip address add 10.1.0.1/24 dev eth0
	net_in "c-$1" ip address add fd00:1::1/64 dev eth0 nodad
}

addresses() # NAME DEVICE
{
	net_in "h-$1" ip address add 10.1.0.2/24 dev "$2"
	net_in "h-$1" ip address add fd00:1::2/64 dev "$2" nodad
}

# link NAME ARGUMENTS: of `ip link add`; 1: this kernel cannot.
link()
{
	local name=$1

	shift
	net_in "h-$name" ip link add "$@" 2>"$work/$name.link" && return
	echo "skip $name: $(head -1 "$work/$name.link")"
	return 1
}

# above NAME KIND DEVICE: eth0 below DEVICE of that kind.
above()
{
	case $2 in
	bridge)	link "$1" "$3" type bridge && net_in "h-$1" ip link set eth0 master "$3" ;;
	bond)	link "$1" "$3" type bond mode active-backup &&
			net_in "h-$1" ip link set eth0 down && net_in "h-$1" ip link set eth0 master "$3" ;;
	vlan)	link "$1" link eth0 name "$3" type vlan id 5 &&
			net_in "c-$1" ip link add link eth0 name "$3" type vlan id 5 &&
			net_in "c-$1" ip address flush dev eth0 &&
			net_in "c-$1" ip link set "$3" up &&
			net_in "c-$1" ip address add 10.1.0.1/24 dev "$3" ;;
	macvlan) link "$1" link eth0 name "$3" type macvlan mode bridge ;;
	esac || return
	net_in "h-$1" ip link set "$3" up
	net_in "h-$1" ip link set eth0 up
}

# A container behind docker0, whose port the host forwards.
container()
{
	ip netns add "p-$1"
	net_in "h-$1" ip link add docker0 type bridge
	net_in "h-$1" ip address add 172.17.0.1/16 dev docker0
	ip link add veth1 netns "h-$1" type veth peer name eth0 netns "p-$1"
	net_in "h-$1" ip link set veth1 master docker0
	net_in "h-$1" ip link set veth1 up
	net_in "h-$1" ip link set docker0 up
	net_in "p-$1" ip link set lo up
	net_in "p-$1" ip address add 172.17.0.2/16 dev eth0
	net_in "p-$1" ip link set eth0 up
	net_in "p-$1" ip route add default via 172.17.0.1
	net_in "h-$1" sysctl -qw net.ipv4.ip_forward=1
	net_in "h-$1" nft -f - <<-RULES
	table ip nat {
		chain in { type nat hook prerouting priority -100; udp dport $PORT dnat to 172.17.0.2; }
	}
	RULES
}

# A tunnel for IP packets in UDP datagrams over eth0, as WireGuard's or GRE's.
tunnel()
{
	if ! command -v socat >/dev/null || [ ! -c /dev/net/tun ]; then
		echo "skip $1: no socat or no tun"
		return 1
	fi
	# Not UDP: socat ends where the other one, which is not up yet, refuses its first datagram.
	nsenter --net="/run/netns/h-$1" socat UDP-DATAGRAM:10.1.0.1:5555,bind=10.1.0.2:5555 \
		TUN:10.9.0.2/24,up,tun-name=tun0,iff-no-pi=1 2>"$work/$1.socat-h" &
	nsenter --net="/run/netns/c-$1" socat UDP-DATAGRAM:10.1.0.2:5555,bind=10.1.0.1:5555 \
		TUN:10.9.0.1/24,up,tun-name=tun0,iff-no-pi=1 2>"$work/$1.socat-c" &
	net_until 20 net_in "c-$1" ip link show tun0 &&
		net_until 20 net_in "h-$1" ip link show tun0 && return
	net_check "tunnel: it can be made: $(cat "$work/$1".socat-?)" false
	return 1
}

# A second interface of host stray's, by which a neighbour reaches it.
stray()
{
	ip link add eth1 netns h-stray type veth peer name eth1 netns c-stray
	net_in h-stray ip address add 10.2.0.2/24 dev eth1
	net_in h-stray ip link set eth1 up
	net_in c-stray ip address add 10.2.0.1/24 dev eth1
	net_in c-stray ip link set eth1 up
}

# config NAME INTERFACE [LINE [PROTOCOL]]: of the service.
config()
{
	printf 'interface = %s\nservice "ffa" {\n\tprotocol = %s\n\tport = %s\n\t%s\n}\n' \
		"$2" "${4-quake3}" "$PORT" "${3-}" >"$work/$1.conf"
}

shield() # NAME COMMAND...
{
	local name=$1 command=$2

	shift 2
	STATE_DIRECTORY=$work/state-$name nsenter --net="/run/netns/h-$name" \
		"$SHIELD" "$command" --pin "/sys/fs/bpf/t-$name" "$@"
}

# row NAME JUDGED INTERFACE TO [NAMESPACE [LINE]]: a server in that namespace, a daemon, and
# a client that asks it twice a second at TO, or does not ("").
rows=()
row()
{
	local name=$1 to=$4 where=${5:-h-$1}

	config "$name" "$3" "${6-}"
	rows+=("$name $2")
	[ "$where" = none ] ||
		nsenter --net="/run/netns/$where" "$LAB/standin" quake3 $PORT >"$work/$name.server" 2>&1 &
	shield "$name" run -c "$work/$name.conf" 2>"$work/$name.log" &
	[ -z "$to" ] || nsenter --net="/run/netns/c-$name" bash -c \
		"while sleep 0.5; do printf '\xff\xff\xff\xffgetinfo x' >/dev/udp/$to/$PORT; done" 2>/dev/null &
}

has_row() # NAME
{
	printf '%s\n' "${rows[@]}" | grep -q "^$1 "
}

judged() # NAME VERDICT
{
	[ "$(shield "$1" status --json 2>/dev/null | jq -r '.self_test[0].judged')" = "$2" ]
}

says() # NAME TEXT: in `status`
{
	shield "$1" status | grep -qF -- "$2"
}

ends() # NAME STATUS
{
	shield "$1" status >/dev/null
	[ $? = "$2" ]
}

health() # NAME STATUS
{
	local code

	code=$(nsenter --net="/run/netns/h-$1" curl -so /dev/null -w '%{http_code}' http://127.0.0.1:9127/health)
	[ "$code" = "$2" ]
}

metric() # NAME LINE
{
	nsenter --net="/run/netns/h-$1" curl -s http://127.0.0.1:9127/metrics | grep -qF "$2"
}

# --- what each topology is -------------------------------------------------------------

start_all()
{
	host veth && addresses veth eth0 && row veth yes eth0 10.1.0.2
	host ipv6 && addresses ipv6 eth0 && row ipv6 yes eth0 fd00:1::2
	host member && above member bridge br0 && addresses member br0 && row member yes eth0 10.1.0.2
	host bridge && above bridge bridge br0 && addresses bridge br0 && row bridge yes br0 10.1.0.2
	host slave && above slave bond bond0 && addresses slave bond0 && row slave yes eth0 10.1.0.2
	host bond && above bond bond bond0 && addresses bond bond0 && row bond yes bond0 10.1.0.2
	host below && above below vlan eth0.5 && addresses below eth0.5 && row below yes eth0 10.1.0.2
	host vlan && above vlan vlan eth0.5 && addresses vlan eth0.5 && row vlan yes eth0.5 10.1.0.2
	host macvlan && above macvlan macvlan mv0 && addresses macvlan mv0 && row macvlan yes eth0 10.1.0.2
	host dnat && addresses dnat eth0 && container dnat && row dnat yes eth0 10.1.0.2 p-dnat
	host docker0 && addresses docker0 eth0 && container docker0 && row docker0 no docker0 10.1.0.2 p-docker0
	host tunnel && addresses tunnel eth0 && tunnel tunnel && row tunnel no eth0 10.9.0.2
	host lo && addresses lo eth0 && row lo no lo 10.1.0.2
	host down && addresses down eth0 && link down eth1 type veth peer name eth2 &&
		row down no eth1 10.1.0.2
	host quiet && addresses quiet eth0 && row quiet unknown eth0 ''
	host stray && addresses stray eth0 && stray && row stray unknown eth0 ''
	host nobody && addresses nobody eth0 && row nobody unknown eth0 '' none 'address = "10.1.0.77"'
}

test_rows()
{
	local row name verdict

	for row in "${rows[@]}"; do
		read -r name verdict <<<"$row"
		net_check "topology $name: judged $verdict" net_until $LOOK_S judged "$name" "$verdict"
		if [ "$verdict" = no ]; then
			net_check "topology $name: is not protected" ends "$name" 5
		else
			net_check "topology $name: is no fault" ends "$name" 0
		fi
	done
}

test_words()
{
	net_check "docker0: names the interface" says docker0 "come in by 'eth0'"
	net_check "docker0: health is 503" health docker0 503
	net_check "docker0: a metric" metric docker0 \
		'quakeshield_service_judged{service="ffa",protocol="quake3",unjudged_by="eth0"} 0'
	net_check "docker0: the log says so once" [ \
		"$(grep -c "come in by 'eth0', where nothing judges" "$work/docker0.log")" = 1 ]
	! has_row tunnel || net_check "tunnel: names the interface" says tunnel "come in by 'tun0'"
	net_check "veth: health is 200" health veth 200
	net_check "lo: is no place for it" says lo "only what this machine sends itself"
	net_check "down: is said" says down "it is down or has no carrier"
	net_check "quiet: nothing is doubted" says quiet "no datagram has come for it yet, 0 received"
	net_check "nobody: no socket" says nobody "no socket has port $PORT"
	net_check "nobody: no such address" says nobody "address 10.1.0.77 is not on this host"
	! grep -q "come in by" "$work"/{veth,ipv6,member,bridge,dnat,quiet}.log
	net_check "what is judged gives no warning" [ $? = 0 ]
}

# An interface of a tunnel is refused, and not for the one below it.
test_refused()
{
	has_row tunnel || return
	config refused tun0
	net_in h-tunnel "$SHIELD" check -c "$work/refused.conf" >"$work/refused.log" 2>&1
	net_check "tunnel: check says where it can stand" \
		grep -q "the interface below it sees the outer packets only" "$work/refused.log"
}

# One datagram by an interface that nothing judges, and one again after a while: no fault
# of a quiet service. Two a second are.
strayed()
{
	nsenter --net=/run/netns/c-stray bash -c \
		"printf '\xff\xff\xff\xffgetinfo x' >/dev/udp/10.2.0.2/$PORT"
}

test_stray()
{
	strayed
	sleep 6
	strayed
	sleep 7
	net_check "stray: two datagrams are no news" judged stray unknown
	net_check "stray: is no fault" ends stray 0
	net_check "stray: health is 200" health stray 200
	strays=$SECONDS
	until judged stray no || [ $((SECONDS - strays)) -ge 60 ]; do
		strayed
		sleep 0.5
	done
	net_check "stray: a stream of them is" judged stray no
	net_check "stray: is not protected" ends stray 5
}

# The fault ends: the interface is corrected, and what was said of it is taken back.
test_corrected()
{
	config docker0 eth0
	shield docker0 reload >/dev/null
	net_check "docker0: corrected, its datagrams are judged" net_until 20 says docker0 "received"
	net_check "docker0: and counted" net_until 20 received docker0
}

# A player of a server whose service has another protocol: he plays, and it is said.
test_protocol()
{
	config veth eth0 '' quakeworld
	shield veth reload >/dev/null
	nsenter --net=/run/netns/c-veth "$LAB/client" --protocol quake3 --to 10.1.0.2 --port $PORT \
		--seconds 8 --join --json >"$work/client.json"
	net_check "wrong protocol: the player's moves pass" moves_passed veth
	net_check "wrong protocol: says which it is" says veth "its server speaks quake3, not quakeworld"
	net_check "wrong protocol: is not protected" ends veth 5
	net_check "wrong protocol: status --json is as its schema" as_schema veth
	net_check "wrong protocol: a metric" metric veth \
		'quakeshield_protocol_mismatch{service="ffa",protocol="quakeworld",speaks="quake3"} 1'
	net_check "wrong protocol: the log says so" net_until 10 grep -q "speaks quake3, not quakeworld" "$work/veth.log"
	config veth eth0
	shield veth reload >/dev/null
	net_check "corrected: is protected at once" ends veth 0
	net_check "corrected: the log says so" net_until 10 grep -q "nothing says any more" "$work/veth.log"
}

as_schema() # NAME
{
	shield "$1" status --json | "$SCHEMA" status --all '' >&2
}

moves_passed() # NAME
{
	jq -e '.join == "ok" and .moves > 50' "$work/client.json" &&
		shield "$1" stats --json | jq -e '[.services[].counters[] |
			select(.direction == "in" and .reason == "player-mismatch")] == []'
}

received()
{
	shield "$1" status --json | jq -e '.self_test[0].received > 0'
}

net_test_begin "$@"
command -v curl >/dev/null || net_skip net_topologies "no curl"
start_all
test_rows
test_words
test_refused
test_stray
test_corrected
test_protocol
exit "$net_failed"
