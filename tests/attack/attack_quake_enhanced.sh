#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_quake_enhanced.sh - DTLS, which carries Quake Enhanced: ClientHellos from four
# million sources and in one victim's name; pieces of handshakes that nobody has begun;
# and, while somebody plays, records with that one's address and port that do not fit,
# and pieces of handshakes in its name. OpenSSL's server and client.
set -u

SERVER=openssl PROTOCOL=quake-enhanced
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/lab/dtls.sh
. tests/lab/dtls.sh

SUITE=PSK-AES128-GCM-SHA256
DTLS_FLOOD=5
PLAYS_FROM=41000
MARK=deadbeef # 25 octets into each forged datagram, where a message in pieces begins
FILL=$(printf '55%.0s' {1..24})
# Where a ClientHello has its random, no session, and a cookie of 32 octets.
COOKIE=$(printf '00%.0s' {1..31})20$(printf '66%.0s' {1..40})

# records ADDRESS PORT TYPE EPOCH FIRST STEP COUNT: of that type, one number after the
# other, as they would go on from what a player has sent.
records()
{
	awk -v from="$1 $2 " -v type="$3" -v epoch="$4" -v first="$5" -v step="$6" \
		-v count="$7" -v body="555555555555555555555555$MARK$FILL" 'BEGIN {
		for (i = 0; i < count; i++)
			printf "%s%sfefd%04x0000%08x%04x%s\n", from, type, epoch,
				first + i * step, length(body) / 2, body
	}'
}

# pieces ADDRESS PORT TYPE COUNT DATA: of messages of that type, in the clear; ADDRESS `-`:
# each from another one.
pieces()
{
	awk -v address="$1" -v port="$2" -v type="$3" -v count="$4" -v data="$MARK$5" 'BEGIN {
		srand(7)
		size = length(data) / 2
		for (i = 0; i < count; i++) {
			from = address
			if (from == "-")
				from = "10." 128 + int(rand() * 64) "." int(rand() * 256) "." \
					int(rand() * 256)
			printf "%s %s 16fefd00000000%08x%04x%s000400%04x%06x%06x%s\n", from, port,
				i % 8, size + 12, type, i % 4, i % 16 * 32, size, data
		}
	}'
}

# forged RATE: how many of those on the input got by.
forged()
{
	local before

	before=$(watched forged packets)
	forge "$1"
	sleep 0.2
	echo $(($(watched forged packets) - before))
}

passed() # FIELD
{
	net_in server "$SHIELD" stats --json | jq "[.services[].counters[] |
		select(.direction == \"in\" and .verdict == \"pass\" and
			.kind == \"dtls-client-hello\") | .$1] | add // 0"
}

flooded()
{
	local bytes out packets

	dtls_server $SUITE || return
	dtls_shake "without a shield"
	server_end
	shield_start >/dev/null || exit 1
	dtls_server $SUITE || return
	packets=$(passed packets) bytes=$(passed bytes) out=$(net_count crowd packets)
	dtls_shake "behind the shield" || took=
	server_end
	packets=$(($(passed packets) - packets)) bytes=$(($(passed bytes) - bytes))
	out=$(($(net_count crowd packets) - out))
	# Those that come for the first time, and those that come again as a client would.
	keeps "ClientHellos of the flood that got by" "$packets" \
		-le $((2 * (40 + 20 * (DTLS_FLOOD + 1))))
	keeps "bytes that its sources were sent, of those let in" $((crowd + 14 * out)) -le "$bytes"
	keeps "tenths of a second for a handshake meanwhile, and hanging up" "${took/./}" -le 60
}

victim()
{
	dtls_server $SUITE || return
	net_flood --payload dtls-hello --victim "$NET_VICTIM" --rate 20000 --seconds 3 >/dev/null
	server_end
	keeps "bytes sent to one in whose name 60,000 came" \
		$(($(net_count victim bytes) + 14 * $(net_count victim packets))) \
		-le $((16384 + 820 * 5))
}

# Pieces of handshakes from everywhere, all of the class of joining: what a server would
# gather, and what would spend the budget of those who join.
strangers()
{
	local began status flood

	dtls_server $SUITE || return
	{
		pieces - 5000 01 12000 "$COOKIE"
		pieces - 5000 10 12000 "$FILL"
	} | shuf --random-source=/dev/zero | forged 4000 >"$work/strangers" &
	flood=$!
	sleep 2 # until what joining may spend at once is spent
	began=$EPOCHREALTIME
	dtls_client 5 sleep 0.2
	status=$?
	took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", (b - a) * 10 }')
	[ "$status" = 0 ] || took=
	wait "$flood"
	server_end
	# The budget of joining: 64 at once, and ten a second.
	keeps "of 24,000 pieces of strangers' handshakes, got by" "$(cat "$work/strangers")" -le 150
	keeps "tenths of a second for a handshake meanwhile" "$took" -le 50
}

# A move and an answer, 25 times a second; one record each.
moves()
{
	local i

	net_until 5 dtls_shaken
	for ((i = 0; i < 400; i++)); do
		[ ! -e "$work/enough" ] || break
		echo "move $i"
		echo tick >&9
		sleep 0.04
		echo "$i" >"$work/made"
	done
	sleep 0.5
}

heard()
{
	grep -c '^move' "$work/server.out"
}

plays()
{
	[ "$(heard)" -ge 30 ]
}

# Nothing may fit by chance: numbers far ahead, and behind all that a player is let late.
unfit() # PORT
{
	records "$NET_CLIENT" "$1" 17 0 1 1 2000 # data in the clear
	records "$NET_CLIENT" "$1" 17 1 100000 37 4000
	records "$NET_CLIENT" "$1" 15 1 100000 41 2000 # alerts
	records "$NET_CLIENT" "$1" 17 2 1 1 2000 # keys that do not exist yet
	records "$NET_CLIENT" "$1" 18 1 1 1 500 # a heartbeat
	records "$NET_CLIENT" "$1" 15 0 1 1 500 # an alert in the clear
}

in_a_players_name()
{
	local client before

	rm -f "$work/enough"
	dtls_server $SUITE || return
	DTLS_PORT=$PLAYS_FROM dtls_client 40 moves &
	client=$!
	net_until 8 plays || echo "# nobody plays"
	keeps "the shield follows one player" \
		"$(net_in server "$SHIELD" stats --json | jq '.services[0].players')" -ge 1
	keeps "records in its name that do not fit, got by" \
		"$(unfit $PLAYS_FROM | forged 10000)" -le 12
	# To DTLS a session is its address and port: others have strangers' budgets.
	keeps "the same from another port, got by" "$(unfit $ELSEWHERE | forged 10000)" -le 300
	# Half of the service's limit of joining: 20 ClientHellos and 32 others at once, 20 and
	# 10 per second.
	keeps "pieces of handshakes in its name, got by" "$({
		pieces "$NET_CLIENT" $PLAYS_FROM 01 2000 "$COOKIE"
		pieces "$NET_CLIENT" $PLAYS_FROM 10 2000 "$FILL"
		records "$NET_CLIENT" $PLAYS_FROM 14 0 1 1 1000
		records "$NET_CLIENT" $PLAYS_FROM 16 1 1 1 1000
	} | forged 3000)" -le 115
	sleep 0.5
	keeps "moves of the player's that the server did not get" \
		$(($(cat "$work/made") + 1 - $(heard))) -le 4
	# Every eighth number hits in the end, and carries the line away, until it rests.
	keeps "of 1,250 that try one number after the other, got by" \
		"$(records "$NET_CLIENT" $PLAYS_FROM 17 1 1 8 1250 | forged 2500)" -le 800
	sleep 2.5
	before=$(($(cat "$work/made") - $(heard)))
	sleep 2
	keeps "and of two seconds of moves behind it, lost" \
		$(($(cat "$work/made") - $(heard) - before)) -le 3
	keeps "of which there were" "$(cat "$work/made")" -ge 100
	touch "$work/enough"
	wait "$client"
	keeps "answers of the server's that the player got" "$(grep -c tick "$work/client.out")" -ge \
		$(($(cat "$work/made") - 8))
	server_end
}

attack_needs openssl
net_test_begin "$@"
watch forged "@th,264,32 0x$MARK"
flooded
victim
strangers
in_a_players_name
exit "$net_failed"
