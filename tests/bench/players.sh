#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# players.sh - how regularly a real OpenArena client in a game gets its snapshots while its
# server is flooded with getstatus from four million sources: without any shield, behind what
# nftables can do, and behind quakeshield, in turns, in the same run.
#
# Each of CYCLES takes every filter, and under it every one of LOADS (packets a second) for
# EACH seconds. Printed is the 99th percentile of the times between snapshots, in
# milliseconds: its mean over the cycles with the half of its 95 % interval (Student's t),
# and how much it grows with the load, by least squares over all cycles. What is lost shows:
# a gap counts as long as it lasts, and so does one at the end; what is before the first
# snapshot does not, for tcpdump begins then.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openarena PROTOCOL=quake3
EACH=${EACH:-5} # before player.sh says otherwise
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh

# shellcheck disable=SC2034 # for player.sh
SEQUENCE=little
CYCLES=${CYCLES:-10}
LOADS=${LOADS:-0 200000 600000}

bare_on()
{
	:
}

bare_off()
{
	:
}

# What is in guides for such servers, at the earliest hook: out-of-band words to all together
# 20 times a second. A limit by source says nothing to a flood whose sources are all new.
nft_on()
{
	net_in server nft -f - <<-RULES
	table netdev players {
		chain ingress {
			type filter hook ingress device srv0 priority 0;
			udp dport $NET_PORT @th,64,32 0xffffffff limit rate over 20/second burst 20 packets drop
		}
	}
	RULES
}

nft_off()
{
	net_in server nft delete table netdev players
}

shield_on()
{
	shield_start >/dev/null && sleep 1
}

shield_off()
{
	shield_away TERM
}

playing()
{
	kill -0 "$client_pid" 2>/dev/null && player_in_game
}

# A client does not always end when it is told to.
leave()
{
	kill "$client_pid" 2>/dev/null
	net_until 5 not_running || kill -9 "$client_pid" 2>/dev/null
	wait "$client_pid" 2>/dev/null
}

not_running()
{
	! kill -0 "$client_pid"
}

# Who was thrown out by a flood that nobody held up comes again.
play()
{
	[ -z "${client_pid-}" ] || ! playing || return 0
	[ -z "${client_pid-}" ] || leave
	player_openarena
	net_until 40 player_in_game
}

# p99 START: of the times between snapshots of the last capture; the end is one, too.
p99()
{
	tshark -n -r "$work/client.pcap" -T fields -e udp.payload -e frame.time_epoch 2>/dev/null |
		awk -v start="$1" -v each="$EACH" '
			substr($1, 1, 8) == "ffffffff" { next }
			last { print $2 - last }
			{ last = $2 }
			END {
				end = last ? start + each - last : each
				print (end < 0 ? 0 : end)
			}' |
		sort -g | awk '{ v[NR] = $1 } END { printf "%.1f\n", 1000 * v[int(NR * 0.99 + 0.999)] }'
}

# One stretch: "LOAD P99 COUNT LOST" to the filter's file. LOAD is what arrived.
stretch() # FILTER LOAD
{
	local flood='' start load=0

	if [ "$2" -gt 0 ]; then
		flood_start --payload getstatus --from "$NET_FLOOD" --sources "$NET_SOURCES" --rate "$2"
	fi
	start=$(date +%s.%N)
	snapshots "$EACH" >"$work/counts"
	if [ -n "$flood" ]; then
		flood_end "$1"
		load=$(jq '.pps | floor' "$work/flood.json")
	fi
	echo "$2 $load $(p99 "$start") $(cut -d' ' -f1,2 "$work/counts")" >>"$work/$1.turns"
}

# One line of the table. Student's t for 95 %, from 2 to 20 cycles.
line() # FILTER TITLE
{
	[ -s "$work/$1.turns" ] || return
	awk -v title="$2" -v loads="$LOADS" '
		BEGIN {
			split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09", t)
		}
		{
			n[$1]++; sum[$1] += $3; squares[$1] += $3 * $3; got[$1] += $4; lost[$1] += $5
			N++; X += $2; Y += $3; XX += $2 * $2; XY += $2 * $3; YY += $3 * $3
		}
		END {
			printf "%-34s", title
			m = split(loads, at, " ")
			for (i = 1; i <= m; i++) {
				l = at[i]
				mean = sum[l] / n[l]
				var = n[l] > 1 ? (squares[l] - n[l] * mean * mean) / (n[l] - 1) : 0
				half = n[l] > 1 ? t[n[l] < 20 ? n[l] - 1 : 19] * sqrt((var > 0 ? var : 0) / n[l]) : 0
				printf " %7.1f +- %-6.1f", mean, half
				all += got[l]
				gone += lost[l]
			}
			sxx = XX - X * X / N
			b = sxx > 0 ? (XY - X * Y / N) / sxx : 0
			rest = YY - Y * Y / N - b * b * sxx
			error = N > 2 && sxx > 0 ? sqrt((rest > 0 ? rest : 0) / (N - 2) / sxx) : 0
			printf " %8.2f +- %-6.2f %6d %5d\n", b * 1e5, 1.96 * error * 1e5, all, gone
		}' "$work/$1.turns"
}

[ -x "$OPENARENA_CLIENT" ] || net_skip players "no openarena client"
[ -x "$OPENARENA" ] || net_skip players "no openarena-server"
for tool in Xvfb tshark tcpdump; do
	command -v "$tool" >/dev/null || net_skip players "no $tool"
done
net_test_begin "$@"
server_start
player_screen
client_pid=''
for cycle in $(seq "$CYCLES"); do
	for filter in bare nft shield; do
		if ! play || ! "${filter}_on"; then
			echo "# cycle $cycle: $filter left out: no game, or it does not start"
			continue
		fi
		for load in $LOADS; do
			stretch "$filter" "$load"
		done
		"${filter}_off"
	done
done
leave

printf '%-34s' "p99 of snapshots' intervals, ms"
for load in $LOADS; do
	printf ' %17s' "$load/s"
done
printf ' %18s %6s %5s\n' "per 100,000/s" "came" "lost"
line bare "no shield"
line nft "nftables, 20 words a second"
line shield "quakeshield"
for filter in bare nft shield; do
	[ -s "$work/$filter.turns" ] || continue
	awk -v name="$filter" '$1 { s[$1] += $2; n[$1]++ } END {
		for (l in s)
			printf "# %s: %s/s wanted, %.0f arrived, %d cycles\n", name, l, s[l] / n[l], n[l]
	}' "$work/$filter.turns"
done
