#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# evidence_table.sh - what the decoders say of recordings of which a part is lost, swapped
# or repeated, by family. Prints docs/measurements/evidence.md; --write puts it there.
#
# The recordings are the project's own, and of those in $CAPTURES, if that is set, captures
# of at most 620 kB and demos of at most 100 kB; they take a quarter of an hour. The harms are
# the same in each run; EVIDENCE_ROUNDS says how many variants there are of each that is
# random. BUILD: where test_evidence was built; EVIDENCE_TEST: another build of it.
set -eu

cd "$(dirname "$0")/.."
PAGE=docs/measurements/evidence.md
TEST=${EVIDENCE_TEST:-${BUILD:-build}/tests/decode/test_evidence}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

files='{tests/data/*/*.pcap'
if [ -d "${CAPTURES:-}/live" ]; then
	files+=",$(find "$CAPTURES" \( -path '*/live/*.pcap' -size -621k \) -o \
		\( -path '*/demos/*' -type f -size -101k \) | LC_ALL=C sort | paste -sd ,)"
fi
EVIDENCE_FILES="$files}" EVIDENCE_ROUNDS=${EVIDENCE_ROUNDS:-1} EVIDENCE_OWN=no "$TEST" \
	>"$work/out" 2>&1 || echo "evidence_table.sh: some are wrong" >&2

# Lines of: kind of recording, family, harm, decoded without, of these not now, wrong.
table()
{
	grep -a '^evidence' "$work/out" | awk -F '\t' -v kind="$1" '
		function family(path, protocol)
		{
			if (path ~ /darkplaces|nexuiz|xonotic|\/dp-/)
				return "DarkPlaces"
			return names[protocol]
		}
		BEGIN {
			names["netquake"] = "NetQuake"; names["quakeworld"] = "QuakeWorld"
			names["quake2"] = "Quake II"; names["quake3"] = "Quake III"
			names["quake-enhanced"] = "Quake Enhanced"
			n = split("NetQuake DarkPlaces QuakeWorld Quake_II Quake_III " \
				"Quake_Enhanced", order, " ")
			for (i = 1; i <= n; i++)
				sub("_", " ", order[i])
		}
		($2 ~ /\/demos\//) == (kind == "demos") {
			f = family($2, $3)
			if (!($4 in seen)) {
				seen[$4] = 1
				harms[++harms_n] = $4
			}
			decoded[f, $4] += $5 - $6; partial[f, $4] += $6; wrong[f, $4] += $7
			has[f] = 1
		}
		END {
			line = "| |"; rule = "| --- |"
			for (i = 1; i <= n; i++)
				if (order[i] in has) {
					line = line " " order[i] " |"
					rule = rule " ---: |"
				}
			print line
			print rule
			for (h = 1; h <= harms_n; h++) {
				line = "| " harms[h] " |"
				for (i = 1; i <= n; i++) {
					k = order[i] SUBSEP harms[h]
					if (!(order[i] in has))
						continue
					line = line (k in decoded ? sprintf(" %d / %d / %d |", \
						wrong[k], partial[k], decoded[k]) : " - |")
				}
				print line
			}
		}'
}

page()
{
	cat <<'END'
# Recordings with losses

Reference: what the decoders say of recordings of which a part is missing. Written by
`tests/evidence_table.sh --write` from the project's own recordings and, of those that
[RATES](../RATES.md) lists, captures of at most 620 kB and demos of at most 100 kB. The harms are in
tests/decode/evidence_recording.h, and are the same in each run.

Each cell counts the records that are `decoded` when all of the recording is there: those that are
**wrong** now / those that are `partial` (or `opaque`, for want of a key) now / those that are
`decoded` now. A record is wrong if it is `decoded` now and differs in a value, in its dialect, or
in the state that it describes; or if it was not `decoded` when all was there. A record that is lost
counts nowhere. Quake Enhanced has no column: without keys its recordings show handshakes alone.

## Captures

END
	table captures
	if grep -aq '/demos/' "$work/out"; then
		cat <<'END'

## Demos

Blocks of a file are lost here. Files of `.dem`, `.mvd` and `.mvd2` number no blocks, so that a loss
within cannot be told where no later block contradicts it. Where a block is cut out of the middle of
such a file, only a record's own values are compared, and not the state. Blocks are not swapped there.

END
		table demos
	fi
}

page >"$work/page"
if [ "${1:-}" = --write ]; then
	mkdir -p "${PAGE%/*}"
	cp "$work/page" "$PAGE"
else
	cat "$work/page"
fi
