#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_kill_quakeworld.sh - a settled player of QuakeWorld, ezquake on mvdsv, is ended
# blind: by a high sequence, and by shapes of other families, which to such a server are
# high sequences, and might be strangers' to a shield that knows them.
set -u

SERVER=mvdsv PROTOCOL=quakeworld SEQUENCE=little
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

lacking=$(mvdsv_lacks) && attack_skip "$lacking"
attack_needs "$EZQUAKE" Xvfb tshark tcpdump
net_test_begin "$@"
mvdsv_start || net_die "mvdsv does not answer"
player_screen
player_ezquake
net_until 60 quakeworld_in_game || attack_skip "the client did not get into the game"
shield_start >/dev/null || exit 1
zeros=$(printf '%060d' 0)
ended_blind 8 "f0ffff7f00000000QQQQ$zeros" \
	"0010002800000007QQQQ$zeros" \
	"17fefd0001000000QQQQ01001b${zeros:6}" \
	"8000002802000000QQQQ$zeros" \
	"610a310a00000000QQQQ$zeros"
kill "$client_pid" 2>/dev/null
exit "$net_failed"
