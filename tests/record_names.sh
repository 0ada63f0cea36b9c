#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# record_names.sh - each name that a decoder's source holds as a string: kinds, ops, keys,
# values and dialects, by room. They are taken from the tables and calls that write them,
# so none can be missing. Without arguments: prints the section "All names" of
# docs/RECORDS.md, which test_records.sh compares with it. --write: puts it there.
set -u

cd "$(dirname "$0")/.." || exit 1

# Whole string literals of one word in the files given; comments do not count.
names()
{
	cat "$@" | tr '\n\t' '  ' | sed -e 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/, ,g' |
		grep -oE '"[A-Za-z][A-Za-z0-9_-]*"' | tr -d '"' | LC_ALL=C sort -u |
		sed 's/.*/\x60&\x60/' | paste -sd ' ' | fold -s -w 96 | sed 's/ *$//'
}

section()
{
	local room

	echo "## All names"
	echo
	echo "Written by \`tests/record_names.sh --write\` from the source: kinds, ops, keys, names of"
	echo "effects and fields, dialects. The tables above say which of them stands where, as far as"
	echo "recordings here show it."
	for room in nq qw q2 q3 qe oob; do
		printf '\n### user/decode/%s\n\n' "$room"
		names user/decode/"$room"/*.[ch]
	done
	printf '\n### Words out of band, and what all families share\n\n'
	names include/wire.h user/decode/*.[ch]
}

if [ "${1:-}" = --write ]; then
	kept=$(sed '/^## All names$/,$d' docs/RECORDS.md)
	{
		printf '%s\n\n' "$kept"
		section
	} >docs/RECORDS.md.new && mv docs/RECORDS.md.new docs/RECORDS.md
else
	section
fi
