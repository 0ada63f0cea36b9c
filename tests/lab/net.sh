# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net.sh - the lab's network, sourced by lab.sh and the net_*.sh tests.
#
#      client ---- cli0 [ the "internet" ] up0 ---- srv0 server
#   10.78.0.2           where floods start               10.77.0.2
#   fd00:78::2          and victims would be             fd00:77::2
#
# net_enter runs the caller again inside its own mount, network and process
# namespaces: names cannot clash, /sys/fs/bpf and /run are private, and when the script
# ends, however it ends, the kernel takes everything away. nsenter --net keeps pins
# where `ip netns exec` would hide it. There is no route out of here.

# shellcheck disable=SC2034 # for those who source this
{
NET_SERVER=10.77.0.2
NET_SERVER6=fd00:77::2
NET_CLIENT=10.78.0.2
NET_VICTIM=10.66.0.66
NET_VICTIM6=fd00:66::66
NET_FLOOD=10.128.0.0   # .. 10.191.255.255: 4 million sources
NET_FLOOD_HALF=10.160.0.0 # the second half of them
NET_FLOOD6=fd00:80::1  # the /64s from here on
NET_SOURCES=4194304
NET_FRESH=8388608 # .. 10.255.255.255: for floods in which none comes twice
}

net_die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

net_enter()
{
	[ -z "${NET_INSIDE-}" ] || return 0
	[ "$(id -u)" = 0 ] || net_die "needs root, for network namespaces and BPF"
	export NET_INSIDE=1
	exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" "$@"
}

# Run a command in the namespace of the server or the client.
net_in()
{
	local name=$1

	shift
	nsenter --net="/run/netns/$name" "$@"
}

# net_link NAME HUB-DEVICE DEVICE HUB-ADDRESS ADDRESS [v6 pair]: one namespace.
net_link()
{
	local name=$1 hub=$2 device=$3

	ip netns add "$name"
	ip link add "$hub" numtxqueues 2 numrxqueues 2 type veth \
		peer name "$device" numtxqueues 2 numrxqueues 2 netns "$name"
	ip address add "$4/24" dev "$hub"
	ip address add "$6/64" dev "$hub" nodad
	ip link set "$hub" up
	net_in "$name" ip link set lo up
	net_in "$name" ip address add "$5/24" dev "$device"
	net_in "$name" ip address add "$7/64" dev "$device" nodad
	net_in "$name" ip link set "$device" up
	net_in "$name" ip route add 10.0.0.0/8 via "$4"
	net_in "$name" ip route add fd00::/8 via "$6"
	# Real checksums on the wire, and NAPI on every end: without it redirected
	# frames are lost.
	ethtool -K "$hub" tx off gro on >/dev/null 2>&1
	net_in "$name" ethtool -K "$device" tx off gro on >/dev/null 2>&1
}

# A flood fills the ring that it is sent to, and what arrives at a full ring is lost
# before any shield can look at it. As on a card with several queues, keep that apart:
# floodgen on processor 0 fills ring 0, what the stack sends goes to ring 1.
net_rings()
{
	local queues=/sys/class/net/up0/queues

	[ "$(nproc)" -gt 1 ] || return 0
	echo 0 >"$queues/tx-0/xps_cpus"
	printf '%x\n' $(((1 << $(nproc)) - 1)) >"$queues/tx-1/xps_cpus"
}

net_up()
{
	mount -t tmpfs run /run # names, locks: not those of a shield on this machine
	mkdir /run/netns
	mount -t sysfs sysfs /sys
	mount -t bpf bpf /sys/fs/bpf
	# A browser asks for names from ports of chance, which may be those of a service.
	echo 'nameserver 127.0.0.1' >/run/names
	[ ! -e /etc/resolv.conf ] || mount --bind /run/names /etc/resolv.conf
	ip link set lo up
	sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	net_link server up0 srv0 10.77.0.1 "$NET_SERVER" fd00:77::1 "$NET_SERVER6"
	net_link client hub0 cli0 10.78.0.1 "$NET_CLIENT" fd00:78::1 fd00:78::2
	# Several people behind the client's link, each in a network of its own.
	for i in 1 2 3 4 5 6 7 8; do
		net_in client ip address add "10.79.$i.2/32" dev lo
		ip route add "10.79.$i.0/24" via "$NET_CLIENT"
	done
	ip route add blackhole 10.0.0.0/8
	ip route add blackhole fd00::/8
	net_rings
	NET_MAC=$(net_in server ip -json link show srv0 | jq -r '.[0].address')
	net_counters
	export STATE_DIRECTORY=/run/quakeshield-state # not of a shield on this machine
}

# What leaves the server is counted here, outside of whatever protects it; what goes to
# addresses that do not exist has no further to go.
net_counters()
{
	nft -f - <<-RULES
	table netdev lab {
		counter victim { }
		counter crowd { }
		counter asked { }
		counter client { }
		chain from_server {
			type filter hook ingress device up0 priority 0;
			# By echo the shield asks who it is: no reply of the server's.
			ip daddr { $NET_VICTIM, 10.128.0.0/9 } @th,64,64 0xffffffff6563686f counter name asked drop
			ip6 daddr fd00::/9 ip6 daddr != { fd00:77::/32, fd00:78::/32 } @th,64,64 0xffffffff6563686f counter name asked drop
			ip daddr $NET_VICTIM counter name victim drop
			ip6 daddr $NET_VICTIM6 counter name victim drop
			ip daddr 10.128.0.0/9 counter name crowd drop
			ip6 daddr fd00::/9 ip6 daddr != { fd00:77::/32, fd00:78::/32 } counter name crowd drop
			ip daddr { 10.78.0.0/24, 10.79.0.0/16 } counter name client
		}
	}
	RULES
}

# What the client's sockets send gets room behind it, as a card's driver leaves (see
# room.bpf.c), and the hub hears what XDP programs of the server's send.
net_room()
{
	local objects=$BUILD/tests/lab

	ip link set up0 xdp obj "$objects/foreign.bpf.o" sec xdp
	ip link set hub0 xdp obj "$objects/foreign.bpf.o" sec xdp
	net_in client tc qdisc add dev cli0 clsact
	net_in client tc filter add dev cli0 egress bpf da obj "$objects/room.bpf.o" sec tc
}

# net_count NAME FIELD: packets or (IP) bytes that the server sent to it.
net_count()
{
	nft --json list counter netdev lab "$1" |
		jq ".nftables[] | select(.counter) | .counter.$2"
}

# Packets that reached the server's link, as its own driver counts them.
net_arrived()
{
	net_in server ethtool -S srv0 | awk '/rx_queue_[0-9]+_xdp_packets/ { n += $2 } END { print n + 0 }'
}

# net_flood ARGUMENTS: floodgen toward the server, from the internet.
net_flood()
{
	${NET_EXEC-} "$LAB/floodgen" --iface up0 --mac "$NET_MAC" --to "$NET_SERVER" --port "$NET_PORT" \
		--packets 500000000 --json "$@"
}

# net_flood_start FILE ARGUMENTS: the same beside what follows, its report in FILE. Who kills
# $flood ends it, not a shell around it.
net_flood_start()
{
	local file=$1

	shift
	(NET_EXEC="exec" net_flood "$@") >"$file" 2>&1 &
	# shellcheck disable=SC2034 # for who starts it
	flood=$!
}

# The packets a second that a strong flood has: a weaker one says nothing of a shield, so a test
# that needs one fails. Beside two other tests floodgen sends some ten times as many.
FLOOD_LEAST=${FLOOD_LEAST:-500000}

# net_strong REPORT: that flood was one. Where floodgen got little of a processor, it sent so
# many in each second of the processor that it had, and a twenty-fifth of them at least.
net_strong()
{
	jq -e --argjson least "$FLOOD_LEAST" '.pps >= $least or
		(.pps >= $least / 25 and .sent >= $least * .cpu_seconds)' "$1" >/dev/null
}

# net_until SECONDS COMMAND: try again ten times a second.
net_until()
{
	local tries=$(($1 * 10))

	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# Datagrams that the server's programs have read, or that came to a port without a socket.
net_received()
{
	# shellcheck disable=SC2016 # the dollars are awk's
	net_in server awk '/^Udp: [0-9]/ { print $2 + $3 + $4 }' /proc/net/snmp
}

# net_has_received COUNT: since then or earlier. A program reads when it gets a processor.
net_has_received()
{
	[ "$(net_received)" -ge "$1" ]
}

# net_check NAME COMMAND...: one line of a test's result; see tests/run.sh.
net_check()
{
	local name=$1

	shift
	if "$@" >/dev/null; then
		echo "ok $name"
	else
		echo "not ok $name: $*"
		net_failed=1
	fi
}

# net_test_begin: root, tools and a work directory, or a skip with its reason.
net_test_begin()
{
	local test=${0##*/} tool

	[ "$(id -u)" = 0 ] || net_skip "${test%.sh}" "needs root"
	for tool in ip nft ethtool jq nsenter unshare taskset; do
		command -v "$tool" >/dev/null || net_skip "${test%.sh}" "no $tool"
	done
	net_enter "$@"
	net_failed=0
	work=$(mktemp -d)
	chmod 711 "$work"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	server_defaults
	net_up
}

net_skip()
{
	echo "skip $1: $2"
	exit 0
}
