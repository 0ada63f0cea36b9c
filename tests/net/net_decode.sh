#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_decode.sh - quakeshield decode from the outside: output shapes, exit status, what
# is said on stderr. Needs no namespace; it is a script because it runs the program.
#
# lane: beside, 5 s: it reads files.
set -u

BUILD=${BUILD:-build}
DATA=tests/data
decode=("$BUILD/quakeshield" decode)
command -v jq >/dev/null || { echo "skip decode_cli: no jq"; exit 0; }
dir=$(mktemp -d)
# shellcheck source=tests/cmd/cli.sh
. "$(dirname "$0")/../cmd/cli.sh"
trap 'rm -rf "$dir" "$CLI_LOG"' EXIT
CHECK_PREFIX=decode_

# fails_saying TEXT COMMAND...: exit status 1, and TEXT on stderr.
fails_saying()
{
	exits_saying 1 "$@"
}

exits_saying() # STATUS TEXT COMMAND...
{
	local expected=$1 text=$2 status

	shift 2
	"$@" >/dev/null 2>"$dir/err"
	status=$?
	cat "$dir/err"
	[ "$status" -eq "$expected" ] && grep -qF -- "$text" "$dir/err"
}

summary_shape()
{
	"${decode[@]}" --summary "$DATA"/*/*.pcap >"$dir/out" || return 1
	[ "$(wc -l <"$dir/out")" -eq "$(find "$DATA" -name '*.pcap' | wc -l)" ] || return 1
	jq -es 'all(.[]; keys == ["datagrams", "file", "packets", "protocols", "unknown"]
		and .datagrams == .unknown + ([.protocols[].datagrams] | add)
		and all(.protocols[]; keys == ["datagrams", "decoded", "kinds", "malformed",
				"opaque", "partial"]
			and .datagrams == .decoded + .malformed + .opaque + .partial
			and .datagrams == ([.kinds[]] | add)))' "$dir/out"
}

json_shape()
{
	"${decode[@]}" --json "$DATA"/*/*.pcap >"$dir/out" || return 1
	jq -es 'all(.[]; (.frame | type) == "number" and (.time | type) == "number"
		and has("protocol") and (.direction | IN("c2s", "s2c", null))
		and (.kind | type) == "string"
		and (.status | IN("decoded", "partial", "opaque", "malformed"))
		and (has("reason") == (.status != "decoded")))' "$dir/out"
}

# As many lines as datagrams, whichever way they are shown.
same_count()
{
	local file=$DATA/q2/quake2-queries.pcap n

	n=$("${decode[@]}" --summary "$file" | jq .datagrams)
	[ "$n" -eq "$("${decode[@]}" --json "$file" | wc -l)" ] &&
		[ "$n" -eq "$("${decode[@]}" "$file" | wc -l)" ] &&
		[ "$("${decode[@]}" --json --summary "$file" | wc -l)" -eq 1 ]
}

forced()
{
	"${decode[@]}" --summary --protocol quakeworld "$DATA/q2/quake2-session.pcap" |
		jq -e '.protocols.quakeworld.datagrams > 20 and .protocols.quake2 == null'
}

packed()
{
	gzip -c "$DATA/q2/quake2-queries.pcap" >"$dir/a.gz"
	[ "$("${decode[@]}" --json "$dir/a.gz")" = \
		"$("${decode[@]}" --json "$DATA/q2/quake2-queries.pcap")" ]
}

# What comes before the damage is shown, and the next file is read all the same.
broken_off()
{
	head -c 2000 "$DATA/q2/quake2-queries.pcap" >"$dir/cut.pcap"
	"${decode[@]}" --summary "$dir/cut.pcap" "$DATA/q2/quake2-queries.pcap" >"$dir/out" \
		2>"$dir/err"
	[ $? -eq 1 ] && grep -q 'cut.pcap: after packet [1-9]' "$dir/err" &&
		jq -es 'length == 2 and .[0].datagrams > 0 and .[0].datagrams < .[1].datagrams' \
			"$dir/out"
}

: >"$dir/empty"
echo "hello" >"$dir/text"
check summary summary_shape
check json json_shape
check counts same_count
check forced forced
check gzip packed
check broken_off broken_off
check no_file fails_saying "No such file" "${decode[@]}" "$dir/none"
check empty fails_saying "empty file" "${decode[@]}" "$dir/empty"
check not_ours fails_saying "neither a capture nor a demo" "${decode[@]}" "$dir/text"
check no_argument exits_saying 2 "FILE..." "${decode[@]}"
check bad_protocol exits_saying 2 "'doom'" "${decode[@]}" --protocol doom "$dir/text"
check psk_alone exits_saying 2 "go together" "${decode[@]}" --psk 00 "$dir/text"
check psk_hex exits_saying 2 "hex digits" "${decode[@]}" --psk 0x1 --psk-identity a "$dir/text"
check full_disk fails_saying "stdout" sh -c "$BUILD/quakeshield decode --json $DATA/*/*.pcap >/dev/full"
exit $failed
