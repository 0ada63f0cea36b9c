#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_kill_quake3.sh - a settled player of OpenArena is ended blind: engines look
# clients up by address and qport, take any higher sequence, and drop what comes behind.
set -u

SERVER=openarena PROTOCOL=quake3 SEQUENCE=little
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

attack_needs "$OPENARENA" "$OPENARENA_CLIENT" Xvfb tshark tcpdump
net_test_begin "$@"
server_start
player_screen
player_openarena
net_until 60 player_in_game || attack_skip "the client did not get into the game"
shield_start >/dev/null || exit 1
ended_blind 4 "f0ffff7fQQQQ$(printf '%060d' 0)"
kill "$client_pid" 2>/dev/null
exit "$net_failed"
