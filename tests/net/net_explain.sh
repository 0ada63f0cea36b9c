#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_explain.sh - `explain` on a running shield: the cause of a client that gets no answer, by
# real traffic, as text and as JSON; nothing that it reads changes by that. kern_explain has
# the causes one by one.
#
# lane: beside, 15 s: it compares words, and measures no time.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
SERVICE_MORE='query { source = "1/h burst 2" }'
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

GETSTATUS=ffffffff676574737461747573
# The same from 192.0.2.1 to 198.51.100.1, with its headers.
PACKET=450000290000000040110000c0000201c633640113886d3900150000$GETSTATUS

explain() # ARGUMENT...
{
	net_in server "$SHIELD" explain "$@"
}

# causes ARGUMENT...: the names of all causes.
causes()
{
	explain "$@" --json | jq -r '[.services[].causes[].cause] | join(" ")'
}

caused() # CAUSES ARGUMENT...
{
	local wanted=$1

	shift
	[ "$(causes "$@")" = "$wanted" ]
}

status_of() # STATUS WORDS ARGUMENT...
{
	local status=$1 words=$2

	shift 2
	explain "$@" >"$work/out" 2>"$work/err"
	[ $? = "$status" ] && grep -qF -- "$words" "$work/err" && [ ! -s "$work/out" ]
}

counters()
{
	net_in server "$SHIELD" stats --json | jq -c '[.services[].counters[]]'
}

# A client asks as often as its limit lets it, and more.
asks_too_much()
{
	net_flood --payload getstatus --from "$NET_FLOOD" --sources 1 --rate 200 \
		--packets 60 --seconds 5 >"$work/flood.json"
}

schema_fits()
{
	{
		explain "$NET_CLIENT" --json
		explain "$NET_FLOOD" --json -c "$work/shield.conf"
		explain "$NET_VICTIM" --json -c "$work/shield.conf"
		explain "$GETSTATUS" --service lab --json
		explain 0000 --json --service lab --from "$NET_FLOOD:9"
	} | "$SCHEMA" explain --all "$1" >&2
}

net_test_begin "$@"
server_start
{
	echo "deny = {\"$NET_VICTIM\"}"
	shield_config
} >"$work/shield.conf"
shield_start || exit 1
net_check "a client that nothing keeps away" caused '' "$NET_CLIENT"
asks_too_much
before=$(counters)
net_check "a source beyond its limit" caused source-limit "$NET_FLOOD"
net_check "and nothing was counted" [ "$(counters)" = "$before" ]
net_check "an address of the file's deny list" caused deny-list "$NET_VICTIM"
explain "$NET_VICTIM" -c "$work/shield.conf" >"$work/text"
net_check "with its line" grep -q "by $work/shield.conf:1\$" "$work/text"
net_in server "$SHIELD" deny add "$NET_CLIENT" --comment 'by hand' >/dev/null
net_check "an address that was denied by hand" caused deny-list "$NET_CLIENT"
net_check "the JSON is as its schema" schema_fits \
	known,services[].flows[],allow,services[].refused[]
net_check "no service has the port" grep -q 'no-service: no service has port 27961' \
	<(explain "$NET_CLIENT" --service 27961)
net_check "no such service" status_of 1 "no such service: 'nope'" "$NET_CLIENT" --service nope
net_check "no address" status_of 2 "'10.78.0' is no address, no file" 10.78.0
net_check "nothing loaded" status_of 3 "nothing is loaded in '/sys/fs/bpf/none'" \
	"$NET_CLIENT" --pin /sys/fs/bpf/none

# Datagrams: a payload, the same in a capture, and what is none.
judged() # REASON ARGUMENT...
{
	local reason=$1

	shift
	[ "$(explain "$@" --json | jq -r .datagram.reason)" = "$reason" ]
}
net_check "a payload" judged within-limits "$GETSTATUS" --service lab
net_check "a payload of a source beyond its limit" judged source-limit "$GETSTATUS" \
	--service lab --from "$NET_FLOOD:5000"
net_check "a payload that is denied" judged deny-list "$GETSTATUS" --service lab \
	--from "$NET_VICTIM:5000"
printf '\xff\xff\xff\xffgetstatus' >"$work/payload"
net_check "a file" judged within-limits "$work/payload" --service lab
net_check "digits that are none" status_of 2 "'xyz' is no address, no file, and not" xyz
net_check "a payload without its service" status_of 2 "13 bytes are no frame" "$GETSTATUS"
net_check "a sender that is none" status_of 2 "--from: 'nobody' is not" "$GETSTATUS" \
	--service lab --from nobody

net_check "a sender of an address" status_of 2 "'$NET_CLIENT' is an address" "$NET_CLIENT" \
	--from "$NET_FLOOD"
net_check "no configuration" status_of 1 "$work/none: cannot open it" "$NET_CLIENT" \
	-c "$work/none"
net_check "a directory in its place" status_of 1 "$work: cannot read it" "$NET_CLIENT" -c "$work"
net_check "a packet with a service" status_of 2 "--service 'lab' is for a payload" "$PACKET" \
	--service lab
net_check "a packet with a sender" status_of 2 "--from '$NET_FLOOD:9' is for a payload" \
	"$PACKET" --from "$NET_FLOOD:9"
net_check "a packet alone" judged no-service "$PACKET"
full() # nothing can be written
{
	explain "$NET_CLIENT" >/dev/full 2>"$work/err"
	[ $? = 1 ] && grep -q 'explain: cannot write' "$work/err"
}
net_check "a full disk" full
: >"$work/empty"
net_check "an empty file" status_of 2 "'$work/empty': the file is empty" "$work/empty"

# A client that is watched while it asks.
net_in server timeout -s INT 4 "$SHIELD" watch "$NET_FLOOD" --json >"$work/watched" &
watching=$!
sleep 1
asks_too_much
wait "$watching"
net_check "a watch is interrupted" [ $? = 124 ]
net_check "it saw refusals" grep -q '"event":"refused".*"reason":"source-limit"' "$work/watched"
net_check "its JSON is as its schema" "$SCHEMA" watch <"$work/watched"
net_in server timeout -s INT 2 "$SHIELD" watch --service nope "$NET_FLOOD" 2>"$work/err"
net_check "a watch of no service" [ $? = 1 ]
exit "$net_failed"
