#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_tshark.sh - frames and UDP datagrams of every capture, counted by tshark and by us.
#
# tshark's own idea of what is inside them is not asked: only its IP reassembly and its
# count. A frame is one that holds a whole UDP datagram, or completes one.
#
# lane: beside, 15 s: it reads files.
set -u

BUILD=${BUILD:-build}
CAPTURES=${CAPTURES:-../shared/captures}
command -v tshark >/dev/null || { echo "skip tshark_counts: no tshark"; exit 0; }
command -v jq >/dev/null || { echo "skip tshark_counts: no jq"; exit 0; }

# datagrams FILE: complete ones; ICMP errors quote others, which are not counted.
theirs()
{
	tshark -n -r "$1" -o ip.defragment:TRUE -o ipv6.defragment:TRUE -Y 'udp && !icmp && !icmpv6' \
		-T fields -e frame.number 2>/dev/null | wc -l
}

# What lost a fragment is a datagram to us, and none to tshark.
ours()
{
	"$BUILD/quakeshield" decode --json "$1" 2>/dev/null |
		grep -vc '"reason":"IP fragments missing"'
}

status=0
for file in tests/data/*/*.pcap "$CAPTURES"/live/*.pcap "$CAPTURES"/pcap/*.pcap*; do
	[ -e "$file" ] || continue
	a=$(theirs "$file") b=$(ours "$file") name=$(basename "$file")
	if [ "$a" = "$b" ]; then
		echo "ok tshark_counts $name: $a datagrams"
	else
		echo "not ok tshark_counts $name: tshark $a, we $b"
		status=1
	fi
done
exit $status
