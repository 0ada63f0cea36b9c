# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# dtls.sh - OpenSSL's DTLS server and client in the lab, with a key that both have; sourced
# after server.sh by tests of Quake Enhanced's transport.
#
# shellcheck disable=SC2034,SC2154 # shared with those who source this
KEY=5eed00112233445566778899aabbccddeeff001122334455
IDENTITY=id-of-the-lab

# dtls_server SUITE: at the end of its input it would say goodbye; it serves one session.
dtls_server()
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

# The session has come up.
dtls_shaken()
{
	grep -q 'Master-Key: [0-9A-F]' "$work/client.out"
}

# dtls_client SECONDS SAYS...: status 0: the session came up. DTLS_PORT: from that port. On one
# processor: the card of a real server sends all datagrams of a client to the same one.
dtls_client()
{
	local seconds=$1

	shift
	: >"$work/client.out"
	# shellcheck disable=SC2086
	"$@" | net_in client $PIN timeout "$seconds" openssl s_client -dtls1_2 -psk "$KEY" \
		-psk_identity "$IDENTITY" -connect "$NET_SERVER:$NET_PORT" \
		${DTLS_PORT:+-bind "$NET_CLIENT:$DTLS_PORT"} \
		-cipher 'ALL:@SECLEVEL=0' >"$work/client.out" 2>&1
	dtls_shaken
}

# dtls_flood: ClientHellos from four million sources, 150,000 per second. Two processors get
# half of the sources each, as a network card with two queues deals them out.
dtls_flood()
{
	local cpus=$(($(nproc) > 1 ? 2 : 1)) cpu reports=() from=("$NET_FLOOD" "$NET_FLOOD_HALF")

	for ((cpu = 0; cpu < cpus; cpu++)); do
		reports+=("$work/flood.$cpu.json")
		net_flood --payload dtls-hello --seconds "${DTLS_FLOOD:-7}" --cpu $cpu \
			--rate $((150000 / cpus)) --from "${from[cpu]}" \
			--sources $((NET_SOURCES / cpus)) >"$work/flood.$cpu.json" &
	done
	wait
	jq -cs '{ sent: map(.sent) | add, pps: map(.pps) | add }' "${reports[@]}"
}

# dtls_shake NAME: a handshake in that flood. Status 0: it came up within five seconds; $took:
# after how many, with a second for hanging up; $crowd: bytes that the sources were sent.
dtls_shake()
{
	local status out_before began flood

	out_before=$(net_count crowd bytes)
	(dtls_flood >"$work/flood.json") &
	flood=$!
	sleep 1
	began=$EPOCHREALTIME
	dtls_client "${DTLS_WAIT:-5}" sleep 1
	status=$?
	took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	wait "$flood"
	crowd=$(($(net_count crowd bytes) - out_before))
	echo "# $1: handshake status $status in $took s, $crowd bytes to strangers," \
		"$(cat "$work/flood.json")" >&2
	return $status
}
