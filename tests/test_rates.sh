#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_rates.sh - docs/RATES.md, the table of what becomes of each recording, is what the
# decoder says. RATES=write makes the table anew.
#
# The recordings are in $CAPTURES; what is not there is not compared.
# lane: beside, 5 s: it decodes files.
set -u

cd "$(dirname "$0")/.." || exit 1
SHIELD=$(realpath "${BUILD:-build}/quakeshield")
PAGE=docs/RATES.md
IDENTITY=quake-enhanced-test
KEY=00112233445566778899aabbccddeeff # our own test key
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -d "${CAPTURES:-}/live" ]; then
	echo "ok rates # skip: no recordings in \$CAPTURES"
	exit 0
fi

decode()
{
	"$SHIELD" decode "$1" --psk-identity "$IDENTITY" --psk "$KEY" "$CAPTURES/$2" \
		2>/dev/null
}

# One line of the table: the file, its records, the decoded ones, and why others are not.
row()
{
	local counts

	counts=$(decode --summary "$1" | jq -r '[.datagrams,
		([.protocols[].decoded] | add // 0)] | "\(.[0]) \(.[1])"')
	if [ "${counts% *}" = "${counts#* }" ]; then
		echo "| \`$1\` | ${counts% *} | ${counts#* } |  |"
		return
	fi
	decode --json "$1" | jq -rn --arg file "$1" '
		reduce inputs as $r ({ n: 0, good: 0, why: {} };
			.n += 1
			| if $r.status == "decoded" then .good += 1
			  else .why["\($r.status): \($r.reason)"] += 1 end)
		| (.why | to_entries | sort_by(-.value, .key)
			| map("\(.value) \(.key)") | join("; ")) as $why
		| "| `\($file)` | \(.n) | \(.good) | \($why) |"'
}

table()
{
	(cd "$CAPTURES" && find live demos pcap -type f \( -name '*.pcap*' -o \
		-name '*.dem' -o -name '*.qwd' -o -name '*.mvd' -o -name '*.mvd2*' -o \
		-name '*.dm2' -o -name '*.dm_*' -o -name '*.dm3' \) | LC_ALL=C sort) |
		while read -r file; do
			row "$file"
		done
}

table >"$work/now"
if [ "${RATES:-}" = write ]; then
	sed '/^| `/d' "$PAGE" >"$work/page"
	cat "$work/page" "$work/now" >"$PAGE"
fi
grep '^| `' "$PAGE" >"$work/said"
# Of the rows that were said, those whose recordings are here.
cut -d'`' -f2 "$work/now" >"$work/here"
grep -F -f "$work/here" "$work/said" >"$work/expected"
if [ -s "$work/now" ] && diff "$work/expected" "$work/now" >"$work/diff"; then
	echo "ok rates"
else
	echo "not ok rates: $(head -c 2000 "$work/diff")"
	exit 1
fi
