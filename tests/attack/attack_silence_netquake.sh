#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_silence_netquake.sh - a Nexuiz client with NetQuake's protocol stands still for 6 s
# (a level is loaded, the line lags). An attacker that knows its address and port sends one
# move per second in its name, with a sequence that the server would take as the highest.
# Beside it, none: the client goes on.
set -u

SERVER=nexuiz PROTOCOL=netquake SEQUENCE=big
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

plays()
{
	[ "$(stats_sum 'select(.kind == "nq-unreliable" and .reason == "player")')" -ge 60 ]
}

forge_move()
{
	printf '%s %s 001000207ffffff003%046d\n' "$NET_CLIENT" "$port" 0 | forge 10
}

# all_of SIGNAL: the client and what it has started.
all_of()
{
	local child

	kill "-$1" "$client_pid"
	for child in $(pgrep -P "$client_pid"); do
		kill "-$1" "$child"
	done
}

if ! { [ -x "$NEXUIZ" ] && [ -x "$NEXUIZ_CLIENT" ]; }; then
	attack_skip "no nexuiz"
fi
attack_needs Xvfb tcpdump tshark
net_test_begin "$@"
server_start +sv_protocolname QUAKE
shield_start >/dev/null || exit 1
player_screen
player_nexuiz
net_until 60 player_in_game || attack_skip "the client did not get into the game"
net_until 40 plays || attack_skip "the client moves too seldom"
snapshots 2 >"$work/now"
port=$(cut -d' ' -f3 "$work/now")
net_in server nft -f - <<-RULES
	table netdev forged {
		counter high { }
		chain arrived {
			type filter hook ingress device srv0 priority 0;
			udp dport $NET_PORT @th,64,32 0x00100020 @th,96,32 0x7ffffff0 counter name high
		}
	}
	RULES
all_of STOP
for _ in 1 2 3 4 5 6; do
	forge_move
	sleep 1
done
all_of CONT
high=$(net_in server nft --json list counter netdev forged high |
	jq '.nftables[] | select(.counter) | .counter.packets')
keeps "forged moves that reached the server of a silent player's" "$high" -le 0
before=$(stats_sum 'select(.kind == "nq-unreliable" and .reason == "player")')
sleep 10
after=$(stats_sum 'select(.kind == "nq-unreliable" and .reason == "player")')
keeps "its own moves in the 10 s after" $((after - before)) -ge 20
snapshots 2 >"$work/now"
keeps "updates in 2 s after that" "$(cut -d' ' -f1 "$work/now")" -ge 30
kill -KILL "$client_pid"
exit "$net_failed"
