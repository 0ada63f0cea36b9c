#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_floodgen.sh - the flood generator does what the other tests believe: so many
# packets, so many sources, checksums that the kernel accepts, and nothing outside.
#
# lane: beside, 20 s: it counts.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# refuses NAME ARGUMENTS: the last of two equal options wins.
refuses()
{
	local name=$1

	shift
	! net_flood --payload getstatus --seconds 1 --packets 1 "$@" 2>"$work/refusal" &&
		grep -q "$name" "$work/refusal"
}

test_refusals()
{
	net_check "refuses a public source" refuses 10.0.0.0/8 --victim 192.0.2.1
	net_check "refuses sources that run out of 10/8" \
		refuses 10.0.0.0/8 --from 10.255.255.0 --sources 1000
	net_check "refuses a public target" refuses 'not in 10' --to 8.8.8.8
	net_check "refuses a public IPv6 source" \
		refuses fd00::/8 --to "$NET_SERVER6" --victim 2001:db8::1
	net_check "refuses what is no veth" refuses 'not a veth' --iface lo
	net_check "refuses more seconds than it may" refuses 'from 1 to 120' --seconds 121
	net_check "refuses no bound" refuses usage --seconds ''
}

# shellcheck disable=SC2016 # the dollars are awk's
# A field of /proc/net/snmp or snmp6 in the server's namespace.
udp_field()
{
	net_in server awk -v field="$1" '
		$1 == "Udp:" && !n { for (i = 2; i <= NF; i++) if ($i == field) n = i; next }
		$1 == "Udp:" { print $n }' /proc/net/snmp
}

# shellcheck disable=SC2016
udp6_field()
{
	net_in server awk -v field="Udp6$1" '$1 == field { print $2 }' /proc/net/snmp6
}

# reaches NUMBER COMMAND...: its output is that number or a higher one.
reaches()
{
	local least=$1

	shift
	[ "$("$@")" -ge "$least" ]
}

# accepted FIELD-READER PACKETS ARGUMENTS: to a port where nobody listens, the kernel
# verifies each checksum and then counts NoPorts.
accepted()
{
	local field=$1 packets=$2 before errors

	shift 2
	before=$("$field" NoPorts) errors=$("$field" InCsumErrors)
	net_flood --port 9 --packets "$packets" --seconds 5 "$@" >"$work/flood.json" || return
	net_until 5 reaches "$((before + packets))" "$field" NoPorts
	[ $(($("$field" NoPorts) - before)) = "$packets" ] &&
		[ "$("$field" InCsumErrors)" = "$errors" ]
}

test_checksums()
{
	local payload

	for payload in getstatus getinfo netchan ccreq-connect dtls-hello; do
		net_check "valid checksums: $payload" accepted udp_field 5000 \
			--payload "$payload" --from "$NET_FLOOD" --sources 100000
	done
	net_check "valid checksums: odd hex" accepted udp_field 3000 --hex 00ff01 \
		--victim "$NET_VICTIM"
	net_check "valid checksums: IPv6" accepted udp6_field 5000 --payload getstatus \
		--to "$NET_SERVER6" --from "$NET_FLOOD6" --sources 100000
	net_check "valid checksums: AF_PACKET" accepted udp_field 5000 --payload getstatus \
		--from "$NET_FLOOD" --sources 100000 --af-packet
}

seen_elements()
{
	net_in server nft --json list set netdev seen addresses |
		jq '.nftables[] | select(.set) | .set.elem | length'
}

# distinct SOURCES PACKETS: every source comes, and none but those.
distinct()
{
	local seen

	net_in server nft -f - <<-RULES
	table netdev seen {
		set addresses { type ipv4_addr; flags dynamic; size 100000; }
		chain in {
			type filter hook ingress device srv0 priority 0;
			udp dport 9 update @addresses { ip saddr }
		}
	}
	RULES
	net_flood --port 9 --payload getstatus --packets "$2" --seconds 5 \
		--from "$NET_FLOOD" --sources "$1"
	net_until 5 reaches "$1" seen_elements
	seen=$(seen_elements)
	net_in server nft delete table netdev seen
	[ "$seen" = "$1" ]
}

# A capture that ends by itself after 100 frames with this very tag.
tagged()
{
	local capture

	net_in server timeout 5 tcpdump -q -c 100 -i srv0 -w /dev/null \
		'vlan 7 and udp port 9' 2>"$work/tcpdump.log" &
	capture=$!
	net_until 3 grep -q listening "$work/tcpdump.log"
	net_flood --port 9 --payload getstatus --packets 200 --seconds 5 --vlan 7 \
		--victim "$NET_VICTIM"
	wait "$capture"
}

paced()
{
	net_flood --payload getstatus --port 9 --seconds 2 --rate 20000 --victim "$NET_VICTIM" \
		>"$work/flood.json"
	# Never faster. A generator without a processor at the end of its seconds sends less.
	jq -e '.delivered > 30000 and .delivered < 41000' "$work/flood.json"
}

net_test_begin "$@"
test_refusals
test_checksums
net_check "1000 sources" distinct 1000 1024
net_check "4096 sources" distinct 4096 4096
if command -v tcpdump >/dev/null; then
	net_check "tags" tagged
else
	echo "skip tags: no tcpdump"
fi
net_check "pacing" paced
exit "$net_failed"
