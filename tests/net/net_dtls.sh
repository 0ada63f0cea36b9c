#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_dtls.sh - real DTLS: the handshake of OpenSSL's client with OpenSSL's server and what
# it closes are opened live by the daemon, with a key that only root can read; a key that
# others can read is refused; the key is in no log and no line. While ClientHellos
# from four million sources come in, the server answers few of them, and a handshake
# completes within 5 seconds, each of TRIES times (2): whose hello comes twice has a budget
# of its own.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=openssl PROTOCOL=quake-enhanced
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

KEY=5eed00112233445566778899aabbccddeeff001122334455
IDENTITY=id-of-the-lab
SECONDS_FLOOD=7 TRIES=${TRIES:-2}

# At the end of its input the server would say goodbye.
dtls_server() # SUITE
{
	[ -p "$work/console" ] || mkfifo "$work/console"
	exec 9<>"$work/console"
	# Not by net_in: its own shell would be what server_end ends, and the server live on,
	# and read what the next one is to say.
	nsenter --net=/run/netns/server openssl s_server -dtls1_2 -nocert -psk "$KEY" \
		-psk_identity "$IDENTITY" -psk_hint lab -accept "$NET_SERVER:$NET_PORT" \
		-cipher "$1:@SECLEVEL=0" -listen -quiet <&9 >"$work/server.out" 2>"$work/server.log" &
	server_pid=$!
	net_until 5 server_listens
}

server_listens()
{
	net_in server ss -Hlun "sport = :$NET_PORT" | grep -q .
}

server_end()
{
	kill "$server_pid" 2>/dev/null
	wait "$server_pid" 2>/dev/null
}

# What a client of the game asks first, and says once it is in, and what the server tells
# it of the map: each is one record.
game()
{
	net_until 5 grep -q 'Master-Key: [0-9A-F]' "$work/client.out"
	printf '\x80\x00\x00\x0c\x02QUAKE\x00\x03'
	net_until 8 seen '.kind == "ccreq-server-info"'
	printf '\x00\x01\x00\x14\x00\x00\x00\x00\x04name "lab"\x00'
	net_until 8 seen '.kind == "nq-reliable"'
	printf '\x00\x09\x00\x12\x00\x00\x00\x01\x04prespawn\x00'
	net_until 8 seen '.kind == "nq-reliable" and .end'
	printf '\x00\x09\x00\x22\x00\x00\x00\x00\x0b\x0f\x00\x00\x00\x04\x00Lab\x00maps/lab.bsp\x00\x00\x00' >&9
	net_until 8 seen '.kind == "nq-reliable" and .direction == "s2c"'
}

# A row for each suite's player, all of one name and on one map.
listed() # COUNT
{
	jq -e "[.players[] | select(.service == \"lab\" and .protocol == \"quake-enhanced\" and
		.name == \"lab\" and .map == \"lab\")] | length == $1" /run/quakeshield/players.json
}

dtls_client() # SECONDS SAYS...: status 0: the session came up
{
	local seconds=$1

	shift
	: >"$work/client.out"
	"$@" | net_in client timeout "$seconds" openssl s_client -dtls1_2 -psk "$KEY" \
		-psk_identity "$IDENTITY" -connect "$NET_SERVER:$NET_PORT" \
		-cipher 'ALL:@SECLEVEL=0' >"$work/client.out" 2>&1
	grep -q 'Master-Key: [0-9A-F]' "$work/client.out"
}

config()
{
	shield_config
	cat <<-CONFIG
	follow { first = 4 psk_identity = "$IDENTITY" psk_file = "$work/key" }
	output { json = "$work/live.jsonl" }
	CONFIG
}

refused() # MODE
{
	chmod "$1" "$work/key"
	! net_in server timeout 10 "$SHIELD" run -c "$work/shield.conf" -i srv0 \
		>"$work/refused.log" 2>&1 && grep -q "psk_file '$work/key' can be read" \
		"$work/refused.log"
}

lines() # JQ-CONDITION
{
	jq -c "select($1)" "$work/live.jsonl" | wc -l
}

seen() # JQ-CONDITION
{
	[ "$(lines "$1")" -ge 1 ]
}

key_is_nowhere()
{
	! grep -ri "$KEY" "$work/shield.log" "$work/live.jsonl" "$work/refused.log" &&
		! grep -qi "$KEY" "$SHIELD"
}

live() # SUITE
{
	dtls_server "$1" || return
	: >"$work/live.jsonl"
	dtls_client 15 game || tail -n 5 "$work/client.out" >&2
	sleep 0.5
	server_end
	net_check "$1: the handshake is decoded" seen '.kind == "dtls-client-key-exchange" and
		.status == "decoded" and ([.. | .identity? // empty] == ["'$IDENTITY'"])'
	net_check "$1: both Finished verify" [ "$(lines '[.. | .verified? // empty] == [true]')" = 2 ]
	net_check "$1: a query inside is read" seen '.kind == "ccreq-server-info" and
		.status == "decoded" and .game == "QUAKE"'
	net_check "$1: a message in two chunks inside is read" seen '.kind == "nq-reliable" and
		.status == "decoded" and ([.ops[]?.text] == ["name \"lab\"", "prespawn"])'
	players=$((players + 1))
	net_check "$1: its player's name and map are in players.json" \
		net_until 8 listed "$players"
	net_check "$1: a closing alert is opened" seen '[.. | .alert? // empty] == ["close_notify"]'
}

# shook NAME: a handshake, with seconds, while the flood goes on.
shook()
{
	local status out_before out_after began took

	out_before=$(net_count crowd bytes)
	net_flood --payload dtls-hello --seconds "$SECONDS_FLOOD" --rate 150000 \
		--from "$NET_FLOOD" --sources "$NET_SOURCES" >"$work/flood.json" &
	flood=$!
	sleep 1
	began=$EPOCHREALTIME
	dtls_client 5 sleep 1
	status=$?
	# The client waits a second before it hangs up.
	took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	wait "$flood"
	out_after=$(net_count crowd bytes)
	crowd=$((out_after - out_before))
	echo "# $1: handshake status $status in $took s, $crowd bytes to strangers," \
		"$(jq -c '{sent, pps}' "$work/flood.json")" >&2
	return $status
}

flooded()
{
	local try failed=0 few=yes

	dtls_server PSK-AES128-GCM-SHA256 || return
	shook "shield off"
	unprotected=$crowd
	server_end
	shield_start >/dev/null || return
	for ((try = 0; try < TRIES; try++)); do
		# It serves one session.
		dtls_server PSK-AES128-GCM-SHA256 || return
		shook "shield on" || failed=$((failed + 1))
		server_end
		[ "$crowd" -lt $((unprotected / 2 + 100000)) ] || few=no
	done
	net_check "the server answers few strangers" [ "$few" = yes ]
	net_check "a handshake completes in the flood, each of $TRIES times" [ "$failed" = 0 ]
	shield_stop TERM
}

command -v openssl >/dev/null || net_skip dtls "no openssl"
net_test_begin "$@"
printf '%s\n' "$KEY" >"$work/key"
config >"$work/shield.conf"
net_check "a key that others can read is refused" refused 644
chmod 600 "$work/key"
shield_start >/dev/null || exit 1
players=0
live PSK-AES128-GCM-SHA256
live PSK-AES128-CCM
live PSK-AES256-CBC-SHA384
net_check "the key is nowhere" key_is_nowhere
shield_stop TERM
net_in server "$SHIELD" detach >/dev/null
flooded
exit "$net_failed"
