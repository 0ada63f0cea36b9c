#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# veth.sh - how many packets a second of a getstatus flood from four million sources each
# filter takes off a veth pair, beside a bare XDP_DROP, in turns, in the same run.
#
# Peers come from packages; one that is not here, or that this kernel lacks a module for,
# is named as skipped. Those that cannot limit by source in the driver do what they can:
# xdp-filter blocks the port altogether; nftables and iptables keep a set of sources.
# What a per-source limit lets through is dropped by a second rule and counted.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

ROUNDS=${ROUNDS:-5}
SECONDS_EACH=${SECONDS_EACH:-1}

drop_on()
{
	net_in server ip link set srv0 xdp obj "$BUILD/tests/bench/drop.bpf.o" sec xdp
}

drop_off()
{
	net_in server ip link set srv0 xdp off
}

# Dropped by a bare XDP_DROP: everything.
drop_passed()
{
	echo 0
}

# What every filter must do: find the port, count, drop.
floor_on()
{
	net_in server ip link set srv0 xdp obj "$BUILD/tests/bench/floor.bpf.o" sec xdp
}

floor_off()
{
	net_in server ip link set srv0 xdp off
}

floor_passed()
{
	echo 0
}

shield_on()
{
	shield_start
}

shield_off()
{
	shield_stop KILL
	net_in server "$SHIELD" detach >/dev/null
}

shield_passed()
{
	stats_sum 'select(.verdict == "pass")'
}

xdpfilter_on()
{
	command -v xdp-filter >/dev/null || { echo "no xdp-filter"; return 1; }
	net_in server xdp-filter load srv0 -f udp -m native &&
		net_in server xdp-filter port "$NET_PORT" -m dst -p udp
}

xdpfilter_off()
{
	net_in server xdp-filter unload srv0 --all
}

xdpfilter_passed()
{
	echo 0
}

# The rule that is in every guide, at the earliest hook that nftables has.
nft_on()
{
	net_in server nft -f - <<-RULES
	table netdev bench {
		set sources {
			type ipv4_addr
			size 5000000
			flags dynamic, timeout
			timeout 30s
		}
		counter passed { }
		chain ingress {
			type filter hook ingress device srv0 priority 0;
			udp dport $NET_PORT update @sources { ip saddr limit rate over 2/second burst 5 packets } drop
			udp dport $NET_PORT counter name passed drop
		}
	}
	RULES
}

nft_off()
{
	net_in server nft delete table netdev bench
}

nft_passed()
{
	net_in server nft --json list counter netdev bench passed |
		jq '.nftables[] | select(.counter) | .counter.packets'
}

iptables_rule()
{
	net_in server iptables -t raw -A PREROUTING -p udp --dport "$NET_PORT" "$@"
}

hashlimit_on()
{
	command -v iptables >/dev/null || { echo "no iptables"; return 1; }
	iptables_rule -m hashlimit --hashlimit-above 2/second --hashlimit-burst 5 \
		--hashlimit-mode srcip --hashlimit-name bench --hashlimit-htable-size 1048576 \
		--hashlimit-htable-max 5000000 -j DROP && iptables_rule -j DROP
}

hashlimit_off()
{
	net_in server iptables -t raw -F PREROUTING
}

hashlimit_passed()
{
	net_in server iptables -t raw -nvxL PREROUTING | awk '$3 == "DROP" { n = $1 } END { print n + 0 }'
}

# One turn of one filter: packets a second and what it let through, into its file.
turn() # NAME
{
	local name=$1 seconds=$SECONDS_EACH

	if ! "${name}_on" >"$work/why" 2>&1; then
		"${name}_off" >/dev/null 2>&1
		mv "$work/why" "$work/$name.skipped"
		return
	fi
	# The first packets fill caches and sets.
	net_flood --payload getstatus --cpu 0 --from "$NET_FLOOD" --sources "$NET_SOURCES" \
		--seconds "$seconds" >"$work/flood.json" 2>"$work/flood.err"
	jq -r "\"\(.delivered / .seconds) \(.delivered) $("${name}_passed")\"" \
		"$work/flood.json" >>"$work/$name.turns"
	"${name}_off" >/dev/null 2>&1
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

line() # NAME TITLE [GOAL]
{
	local rate share ratio low high

	if [ -e "$work/$1.skipped" ] || [ ! -s "$work/$1.turns" ]; then
		printf '%-28s skipped: %s\n' "$2" "$(head -n 1 "$work/$1.skipped" 2>/dev/null)"
		return
	fi
	rate=$(cut -d' ' -f1 "$work/$1.turns" | median)
	low=$(cut -d' ' -f1 "$work/$1.turns" | sort -n | head -n 1)
	high=$(cut -d' ' -f1 "$work/$1.turns" | sort -n | tail -n 1)
	share=$(awk '{ n += $2; p += $3 } END { printf "%.4f", n ? 100 * p / n : 0 }' "$work/$1.turns")
	ratio=$(awk -v a="$rate" -v b="$bare" 'BEGIN { printf "%.2f", a / b }')
	printf '%-28s %9.0f %9.0f..%-9.0f %5s %10s' "$2" "$rate" "$low" "$high" "$ratio" "$share"
	[ -z "${3-}" ] || awk -v r="$ratio" -v g="$3" \
		'BEGIN { printf "  goal %s %s", g, (r >= g ? "met" : "MISSED") }'
	echo
}

[ "$(id -u)" = 0 ] || net_die "needs root, for network namespaces and BPF"
net_enter "$@"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
server_defaults
net_up
for _ in $(seq "$ROUNDS"); do
	for name in drop floor shield xdpfilter nft hashlimit; do
		[ -e "$work/$name.skipped" ] || turn "$name"
	done
done

bare=$(cut -d' ' -f1 "$work/drop.turns" | median)
printf '%-28s %9s %20s %5s %10s\n' "4M sources on a veth pair" "packets/s" "lowest..highest" \
	"ratio" "% through"
line drop "bare XDP_DROP"
line floor "parse, count, drop"
line shield "quakeshield" 0.90
line xdpfilter "xdp-filter, port blocked"
line nft "nftables, set of sources"
line hashlimit "iptables, hashlimit"
