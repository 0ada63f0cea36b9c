#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_answers.sh [openarena|nexuiz|mvdsv [POOL RATE SECONDS]] - a real server, flooded with
# questions from millions of addresses: who asks once a second is answered from the kernel,
# with what the server itself says, word for word, and no longer than that is young.
#
# POOL (16, 20, 22 or 24: so many bits of IPv4 addresses; v6: 2^24 networks of fd00::/8),
# RATE and SECONDS: nothing is tested, but figures are printed, for each layer of who is
# answered (tests/lab/askers.sh), of a flood of getstatus and getchallenge, half and half;
# with BARE=1 the same without the shield.
#
# That an answer is the kernel's is shown by stopping the server (SIGSTOP). RATE and SOURCES
# are the flood's: below 70000 a second the mark window is open for all. MINUTES=1 also lets
# an address get known, which takes four minutes; with
# FIRST=40 so many questions of who is known are asked from a flood's first moment on.
#
# A veth leaves no room behind what a socket sends through it, so the questions under a flood
# are floodgen's, whose frames have a page each, as a card's have; what comes back is caught
# at the client's link.
#
# lane: beside, 55 s: clients ask once a second, and it counts answers.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield
KNOWN=10.79.1.2
usage()
{
	echo "usage: net_answers.sh [openarena|nexuiz|mvdsv [16|20|22|24|v6 RATE SECONDS]]" >&2
	exit 2
}
GAME=${1:-openarena} POOL=${2-} RATE=${3:-${RATE:-60000}} SECONDS_EACH=${4:-20}
SOURCES=${SOURCES:-4194304} DIALECT=quake3 OTHER='getinfo xxx'
CHALLENGE=getchallenge
case $GAME in
openarena) SERVER=openarena PROTOCOL=quake3 QUESTION=getstatus NONCED=getinfo ;;
nexuiz)	   SERVER=nexuiz PROTOCOL=netquake QUESTION=getstatus NONCED=getinfo ;;
mvdsv)	   SERVER=mvdsv PROTOCOL=quakeworld QUESTION='status 23' NONCED=''
	   DIALECT=quakeworld OTHER=status CHALLENGE=qw-getchallenge ;;
*)	   usage ;;
esac
case $POOL in
'' | 16 | 20 | 22 | 24 | v6) ;;
*) usage ;;
esac
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh
# shellcheck source=tests/lab/askers.sh
. tests/lab/askers.sh

skip()
{
	echo "skip net_answers $GAME: $*"
	exit 0
}

shield_config()
{
	cat <<-CONFIG
	service "lab" {
	    protocol = $PROTOCOL
	    port     = $NET_PORT
	    cache = under-load
	    ${POOL:+validation = under-load}
	}
	CONFIG
}

# hex WORDS: an out-of-band datagram of them.
hex()
{
	printf 'ffffffff%s' "$(printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n')"
}

# said NAMESPACE ADDRESS WORDS: what is said to one question within half a second, in hex.
said()
{
	# shellcheck disable=SC2016 # for the shell inside
	net_in "$1" bash -c 'exec 3<>"/dev/udp/$1/$2"
		printf "\xff\xff\xff\xff%s" "$3" >&3
		timeout 0.5 dd bs=4096 count=1 <&3 2>/dev/null' - "$2" "$NET_PORT" "$3" |
		od -An -v -tx1 | tr -d ' \n'
}

# What came back to port 5000 of the client, one datagram in hex a line, but for `echo`:
# by that the shield asks who it is.
caught()
{
	tshark -n -r "$work/caught.pcap" -Y 'udp.dstport == 5000' -T fields \
		-e udp.payload 2>/dev/null | grep -v '^ffffffff6563686f'
}

# each_second COUNT WORDS [ADDRESS [PAUSE]]: ask so often; how many were answered, and as
# by the server, into $answered and $alike.
each_second()
{
	local own ears line i

	nsenter --net=/run/netns/client tcpdump --immediate-mode -U -n -i cli0 \
		-w "$work/caught.pcap" "udp and src port $NET_PORT" 2>/dev/null &
	ears=$!
	sleep 0.5
	for ((i = 0; i < $1; i++)); do
		sleep "${4:-1}" &
		# From one processor, as a card would hand on what has one address and port.
		# shellcheck disable=SC2086
		net_flood $PIN_FLOOD --hex "$(hex "$2")" --packets 1 --seconds 1 \
			--victim "${3:-$NET_CLIENT}" --source-port 5000 >"$work/asker.json" 2>&1
		wait $!
	done
	own=$(said server 127.0.0.1 "$2")
	sleep 0.3
	kill "$ears"
	wait "$ears"
	answered=0 alike=0
	while read -r line; do
		answered=$((answered + 1))
		[ "$line" != "$own" ] || alike=$((alike + 1))
	done < <(caught)
	echo "# '$2': $1 asked, $answered answered, $alike as the server's own"
}

flood_start() # SECONDS [HEAD-START]
{
	# shellcheck disable=SC2086
	net_flood_start "$work/flood.json" $PIN_FLOOD --payload "$PAYLOAD" --rate "$RATE" \
		--from 10.128.0.0 --sources "$SOURCES" --seconds "$1"
	sleep "${2:-1}"
}

flood_stop()
{
	kill "$flood" 2>/dev/null
	wait "$flood"
}

answers_of() # REASON
{
	stats_sum "select(.verdict == \"respond\" and .reason == \"$1\")"
}

# Answers that could be sent now, of a server that says something.
templates_fresh()
{
	net_in server "$SHIELD" stats --json |
		jq '[.services[].cached_responses[] | select(.fresh and .bytes > 20)] | length'
}

# The server has sent its response to the question within the last second.
template_young()
{
	net_in server "$SHIELD" stats --json | jq -e --arg request "${QUESTION%% *}" \
		'.services[].cached_responses[] | select(.request == $request and .age < 1)'
}

templates_as_schema()
{
	net_in server "$SHIELD" stats --json |
		"$SCHEMA" stats --all 'services[].decoded' >&2
}

# For four minutes, before anything presses, somebody asks now and then.
get_known()
{
	local i

	for ((i = 0; i < 25; i++)); do
		said client "$NET_SERVER" "$QUESTION" >/dev/null
		sleep 10
	done
}

test_reputation()
{
	get_known
	flood_start 60
	sleep 3
	each_second 40 "$QUESTION"
	net_check "who is known is answered at once, and always" [ "$answered" -ge 39 ]
	net_check "as by the server" [ "$alike" -ge 37 ]
	net_check "since it is known" [ "$(answers_of cached-known)" -gt 20 ]
	flood_stop
	sleep 12
}

# Somebody who asked on quiet days, and has asked nothing of this daemon.
someone_known()
{
	mkdir -p "$STATE_DIRECTORY"
	echo "$KNOWN 64 $(date +%s)" >"$STATE_DIRECTORY/known-clients.txt"
}

# Nothing is to be learnt only when the flood is there: its first moments count.
test_first()
{
	local count=${FIRST:-16}

	sleep 3 # the daemon has begun a second ago, perhaps
	flood_start 60 0
	each_second "$count" "$QUESTION" "$KNOWN" 0.5
	net_check "who is known is answered from a flood's first second on" \
		[ "$answered" -ge $((count - 1)) ]
	flood_stop
	net_check "from the kernel" [ "$(answers_of cached-known)" -ge $((count / 2)) ]
	net_check "what is kept for that is shown" [ "$(templates_fresh)" -ge 1 ]
	net_check "and is in its schema" templates_as_schema
}

test_stranger()
{
	flood_start 40
	each_second 10 "$QUESTION"
	# The second and third come as the daemon learns the server's words.
	net_check "who asks each second is answered" [ "$answered" -ge 6 ]
	net_check "as by the server" [ "$alike" -ge $((answered - 1)) ]
	if [ -n "$NONCED" ]; then
		each_second 5 "$NONCED a.Nonce-$RANDOM"
		net_check "with the asker's own word in it" [ "$alike" -ge 3 ]
	fi
	net_check "from the kernel" [ "$(answers_of cached-recurring)" -ge 6 ]
	# It is sent for six seconds: if the server stopped at the end of them, none were left.
	net_until 10 template_young || net_die "the response is not renewed"
	kill -STOP "$server_pid"
	each_second 4 "$QUESTION"
	net_check "while the server stands still" [ "$answered" -ge 1 ]
	sleep 4
	each_second 3 "$QUESTION"
	net_check "but not with what is old" [ "$answered" = 0 ]
	net_check "which is said" [ "$(templates_fresh)" = 0 ]
	kill -CONT "$server_pid"
	flood_stop
}

bytes_out()
{
	local most

	# The cap of strangers, for the seconds that the floods took, and the amplification limit's.
	most=$((60 * 2500000))
	[ "$(net_count crowd bytes)" -le "$most" ]
}

net_test_begin "$@"
for tool in tshark tcpdump; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
if [ "$GAME" = mvdsv ]; then
	lacks=$(mvdsv_lacks) && skip "$lacks"
	mvdsv_start || { tail -5 "$work/server.log"; net_die "mvdsv does not answer"; }
else
	[ "$GAME" != nexuiz ] || [ -x "$NEXUIZ" ] || skip "no nexuiz-server"
	[ "$GAME" != openarena ] || [ -x "$OPENARENA" ] || skip "no openarena-server"
	server_start
	PROTOCOL=$([ "$GAME" = nexuiz ] && echo netquake || echo quake3)
fi
[ "$GAME" = mvdsv ] || PAYLOAD=getstatus
if [ -n "$POOL" ]; then
	askers_up
	askers_known
	askers_config >"$work/shield.conf"
	[ -n "${BARE-}" ] || { net_room && shield_start >/dev/null; } || exit 1
	figures
	exit 0
fi
someone_known
shield_start >/dev/null
net_check "on a quiet day the server itself answers" \
	[ -n "$(said client "$NET_SERVER" "$QUESTION")" ]
net_check "nothing is answered for it" [ "$(stats_sum 'select(.verdict == "respond")')" = 0 ]
test_first
[ -z "${MINUTES-}" ] || test_reputation
test_stranger
net_check "strangers get no more than their cap" bytes_out
stats_line
exit "$net_failed"
