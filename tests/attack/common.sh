# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# common.sh - what attacks have in common: the lab, a forger in it, and figures that must
# be kept. Sourced by attack_*.sh, which set SERVER and PROTOCOL before.
#
# An attack is one file. It does to a server behind the shield what somebody did, or would
# do; says what that got, and what it may get at most; and fails where that is more.
#
# shellcheck disable=SC2034,SC2154 # shared with those who source this
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

QPORTS=${QPORTS:-2000} # of 65536, that are tried fast
ELSEWHERE=50001 # a port that is no player's

# keeps NAME FIGURE -le|-ge LIMIT: one line of the result.
keeps()
{
	local verdict='not ok' than='at most'

	[ "$3" = -le ] || than='at least'
	if [ -n "$2" ] && test "$2" "$3" "$4"; then
		verdict=ok
	else
		net_failed=1
	fi
	echo "$verdict $1: $2, $than $4"
}

attack_skip()
{
	net_skip "$(basename "$0" .sh)" "$*"
}

# attack_needs TOOL...: or it is skipped.
attack_needs()
{
	local tool

	for tool in "$@"; do
		command -v "$tool" >/dev/null || attack_skip "no $tool"
	done
}

# forge RATE: the datagrams on the input, see forge.c; ends with the input.
forge()
{
	"$LAB/forge" "$NET_SERVER" "$NET_PORT" "$1" >/dev/null
}

# qports ADDRESS PORT FIRST COUNT HEX: that datagram with one qport after the other where
# QQQQ stands in it.
qports()
{
	awk -v from="$1 $2 " -v first="$3" -v count="$4" -v hex="$5" 'BEGIN {
		for (i = 0; i < count; i++) {
			qport = (first + i + 65536) % 65536
			text = hex
			sub("QQQQ", sprintf("%02x%02x", qport % 256, int(qport / 256)), text)
			print from text
		}
	}'
}

# watch NAME EXPRESSION...: from now on count what gets by the shield and is like that, in
# the words of nft. watched NAME FIELD: packets or bytes.
watch()
{
	local name=$1

	shift
	net_in server nft -f - <<-RULES
	table netdev watch {
		counter $name { }
		chain in {
			type filter hook ingress device srv0 priority -10;
			$* counter name $name
		}
	}
	RULES
}

watched()
{
	net_in server nft --json list counter netdev watch "$1" |
		jq ".nftables[] | select(.counter) | .counter.$2"
}

# What the player sent last to the server: its port and payload.
own_datagram()
{
	net_in client timeout 2 tcpdump --immediate-mode -U -n -i cli0 -w "$work/own.pcap" \
		"udp and dst host $NET_SERVER and dst port $NET_PORT" 2>/dev/null
	tshark -n -r "$work/own.pcap" -T fields -e udp.srcport -e udp.payload 2>/dev/null |
		grep -v ffffffff | tail -n 1
}

# Snapshots that the player gets in a second, of three seconds.
game_rate()
{
	snapshots 3 >"$work/rate"
	echo $(($(cut -d' ' -f1 "$work/rate") / 3))
}

# Has the shield heard so much of the player that it knows it?
settled()
{
	[ "$(stats_sum 'select(.kind == "netchan" and .reason == "player")')" -ge 60 ]
}

# ended_blind AT HEX...: somebody plays, and is known. Whoever knows the address alone, and
# then the port too, sends each HEX with QPORTS qports around the right one, which is at
# octet AT of what the player sends: fast, and at the pace of the strangers' budget, at
# which it would take 13 minutes until then, on average, for who does not know it.
ended_blind()
{
	local at=$1 before port payload qport hex from heard

	shift
	net_until 40 settled || attack_skip "the client moves too seldom"
	before=$(game_rate)
	read -r port payload <<<"$(own_datagram)"
	qport=$((16#${payload:2*at+2:2}${payload:2*at:2}))
	echo "# plays from port $port, qport $qport, $before snapshots a second"
	for hex in "$@"; do
		watch "w${hex:0:8}" "@th,64,32 0x${hex:0:8}"
	done
	for hex in "$@"; do
		for from in "$ELSEWHERE" "$port"; do
			qports "$NET_CLIENT" "$from" $((qport - QPORTS / 2)) "$QPORTS" "$hex" |
				forge 5000
			qports "$NET_CLIENT" "$from" $((qport - 20)) 40 "$hex" | forge 40
		done
		keeps "forged ${hex:0:16} that got by" "$(watched "w${hex:0:8}" packets)" -le 0
	done
	keeps "snapshots a second afterwards" "$(game_rate)" -ge $((before / 2))
	heard=$(stats_sum 'select(.reason == "player")')
	sleep 3
	keeps "moves of the player's since" \
		$(($(stats_sum 'select(.reason == "player")') - heard)) -ge 3
	keeps "the shield follows one player" \
		"$(net_in server "$SHIELD" stats --json | jq '.services[0].players')" -ge 1
}
