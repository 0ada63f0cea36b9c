#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_records.sh - docs/RECORDS.md against what the decoders say: each key that a record
# of a fixture has is listed, for its protocol and kind or op, and each that is listed was
# seen. The latter takes all captures, in $CAPTURES, and some time: RECORDS=all.
#
# lane: beside, 5 s: it reads files.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# PROTOCOL what NAME KEY, of all files given; what every record has is left out.
seen()
{
	find "$@" -type f ! -name '*.md' ! -name '*.jsonl' ! -name '*.yml' ! -name '*.trace' ! -name SOURCES \
		-exec "$BUILD/quakeshield" decode --json {} \; 2>/dev/null |
		jq -r 'select(.protocol) | .protocol as $p |
			(.kind as $kind | keys_unsorted[] | "\($p) kind \($kind) \(.)"),
			((.ops // [])[]? | select(type == "object") | .op as $op |
				keys_unsorted[] | "\($p) op \($op) \(.)")' |
		awk '!known[$0]++' |
		grep -Ev ' (frame|time|protocol|direction|kind|status|reason|dialect|dialect_guess|untested|src|sport|dst|dport|ops|op|overflow)$' |
		LC_ALL=C sort -u
}

listed()
{
	awk '/^## / { protocol = $2 }
		/^\| kind \|/ { what = "kind" }
		/^\| op of/ { what = "op" }
		/^\| `/ {
			gsub(/`/, "")
			for (i = 5; i < NF; i++)
				print protocol, what, $2, $i
			if ($4 != "-" && NF > 4)
				print protocol, what, $2, $4
		}' docs/RECORDS.md | LC_ALL=C sort -u
}

verdict()
{
	if [ -s "$2" ]; then
		echo "not ok $1: $(head -n 5 "$2" | paste -sd ';')"
		status=1
	else
		echo "ok $1"
	fi
}

tests/record_names.sh >"$work/names"
sed -n '/^## All names$/,$p' docs/RECORDS.md | diff "$work/names" - >"$work/stale"
verdict "docs/RECORDS.md has all names of the source (tests/record_names.sh --write)" \
	"$work/stale"
if ! command -v jq >/dev/null || [ ! -x "$BUILD/quakeshield" ]; then
	echo "skip the keys of records: no jq, or nothing is built"
	exit $status
fi
listed >"$work/listed"
seen tests/data >"$work/seen"
[ "$(wc -l <"$work/seen")" -gt 200 ] || {
	echo "not ok fixtures were decoded: only $(wc -l <"$work/seen") keys"
	exit 1
}
LC_ALL=C comm -13 "$work/listed" "$work/seen" >"$work/unlisted"
verdict "each key of a fixture's record is in docs/RECORDS.md" "$work/unlisted"
if [ "${RECORDS:-}" = all ] && [ -d "${CAPTURES:-}" ]; then
	seen tests/data "$CAPTURES" >"$work/seen"
	LC_ALL=C comm -13 "$work/listed" "$work/seen" >"$work/unlisted"
	verdict "each key of a capture's record is in docs/RECORDS.md" "$work/unlisted"
	LC_ALL=C comm -23 "$work/listed" "$work/seen" >"$work/never"
	verdict "each key in docs/RECORDS.md was seen" "$work/never"
else
	echo "skip keys that were never seen: RECORDS=all and CAPTURES are not set"
fi
exit $status
