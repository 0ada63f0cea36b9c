#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_upgrade.sh - another quakeshield takes over, every table of which has another shape
# (tests/lab/grow.sh), and later the first one again. While the server says nothing, so
# that it enters nobody: who plays is a player for the new one, what was typed into the
# lists is in them, and of the old one nothing is left that could withhold.
#
# lane: beside, 60 s: most of it is the build of another tree.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

ALLOWANCE=2000 # less than three answers of the stand-in

service() # NAME PORT
{
	printf 'service "%s" {\n\tprotocol = quake3\n\tport = %s\n' "$1" "$2"
	printf '\tquery { source = unlimited prefix = unlimited service = unlimited }\n}\n'
}

# upgrade_config SERVICE...: in that order, so that they get other slots.
upgrade_config()
{
	local port=28000 name

	echo "amplification { allowance = $ALLOWANCE refill = 60 }"
	echo 'deny = { "10.188.0.0/24" }'
	for name in "$@"; do
		if [ "$name" = lab ]; then
			service lab "$NET_PORT"
		else
			service "$name" $((++port))
		fi
	done
}

players() # SERVICE
{
	net_in server "$SHIELD" stats --json |
		jq ".services[] | select(.name == \"$1\") | .players"
}

players_are() # COUNT
{
	[ "$(players lab)" = "$1" ]
}

moves_are_a_players()
{
	local before after

	before=$(stats_sum 'select(.reason == "player")')
	sleep 1
	after=$(stats_sum 'select(.reason == "player")')
	echo "# moves of the player in a second: $((after - before))" >&2
	[ $((after - before)) -ge 20 ]
}

strangers_moves()
{
	stats_sum 'select(.kind == "netchan" and .reason != "player")'
}

listed() # LIST ADDRESS
{
	net_in server "$SHIELD" "$1" list | grep -q "$2"
}

tables()
{
	find /sys/fs/bpf/quakeshield -mindepth 1 -maxdepth 1 -type d | wc -l
}

program_on() # NAMESPACE DEVICE
{
	net_in "$1" ip -json link show "$2" | jq -r '.[0].xdp.prog.id // 0'
}

# shellcheck disable=SC2016 # the dollars are the inner shell's
# ask: prints the answer to a request that weighs more than it.
ask()
{
	net_in client bash -c '
		exec 3<>"/dev/udp/$1/$2"
		printf "\\xff\\xff\\xff\\xffgetstatus %1350s" x >&3
		timeout 0.5 dd bs=2000 count=1 <&3 2>/dev/null' - "$NET_SERVER" "$NET_PORT"
}

# No amplification limit owes anything, unless one never hears of the requests.
all_are_answered()
{
	local answered=0

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		ask | grep -aq statusResponse && answered=$((answered + 1))
	done
	echo "# answered: $answered of 10" >&2
	[ "$answered" = 10 ]
}

# take_over BINARY SERVICE...
take_over()
{
	kill -STOP "$server_pid"
	sleep 0.2
	shield_stop TERM
	SHIELD=$1
	shift
	upgrade_config "$@" >"$work/shield.conf"
	shield_start >/dev/null || return 1
	cat "$work/shield.log" >&2
}

# fails_late BINARY: an upgrade that fails when it has attached to both interfaces.
fails_late()
{
	shield_stop TERM
	net_in server timeout 40 "$1" run -c "$work/shield.conf" -i srv0 -i lo \
		--set output.json=/nonexistent/x >"$work/failed.log" 2>&1
	[ $? = 1 ] && grep -q "'lo' is given back" "$work/failed.log"
}

game_start()
{
	nsenter --net=/run/netns/client "$LAB/client" --protocol quake3 --to "$NET_SERVER" \
		--port "$NET_PORT" --seconds 60 --poll 0 --join --json >"$work/game" 2>&1 &
	net_until 10 players_are 1 && sleep 1
}

# checks NAME: after take_over().
checks()
{
	net_check "$1: one set of tables is left" [ "$(tables)" = 1 ]
	net_check "$1: the player is known" players_are 1
	net_check "$1: its moves pass as a player's" moves_are_a_players
	# What was heard between the copy and the attaching is a gap to who takes over. On a
	# busy machine it may be one that a second move has to confirm (SEQUENCE_NEAR): then
	# the first is let in as a stranger's.
	net_check "$1: one is a stranger's at most" [ "$(strangers_moves)" -le 1 ]
	net_check "$1: an allowed address stays" listed allow 10.190.1.0/24
	net_check "$1: a denied address stays" listed deny fd00:1::/64
	net_check "$1: the configuration's is there" listed deny 10.188.0.0/24
	kill -CONT "$server_pid"
}

net_test_begin "$@"
if ! grown_build; then
	net_check "a grown quakeshield builds" false
	exit 1
fi
server_start
upgrade_config first lab >"$work/shield.conf"
shield_start -i lo >/dev/null || exit 1
net_check "add to the lists" net_in server "$SHIELD" allow add 10.190.1.0/24
net_check "and with IPv6" net_in server "$SHIELD" deny add fd00:1::/64
net_check "somebody plays" game_start

net_check "upgrade that fails late: gives the interfaces back" \
	fails_late "$BUILD/grown/build/quakeshield"
net_check "upgrade that fails late: one set of tables is left" [ "$(tables)" = 1 ]
net_check "upgrade that fails late: the player is known" players_are 1
net_check "upgrade that fails late: its moves pass as a player's" moves_are_a_players
shield_start -i lo >/dev/null || exit 1

net_in server timeout -s INT 120 "$SHIELD" reload --trial "$work/shield.conf" --for 1h --json \
	>"$work/trial.json" 2>"$work/trial.log" &
trial_pid=$!
sleep 3
net_check "upgrade" take_over "$BUILD/grown/build/quakeshield" lab first more
checks upgrade
wait "$trial_pid"
net_check "a trial ends and fails" [ $? = 1 ]
net_check "and says that the shield was replaced" jq -e '.ended == "replaced"' "$work/trial.json"
net_check "an interface that is named no more is left alone" [ "$(program_on server lo)" = 0 ]
net_check "and that is said" grep -q "'lo' is protected no more" "$work/shield.log"
net_check "new words are known" [ "$(net_in server "$SHIELD" stats --json | jq '.services | length')" = 3 ]

net_check "downgrade" take_over "$BUILD/quakeshield" more lab
checks downgrade

net_check "nothing else withholds" all_are_answered
exit "$net_failed"
