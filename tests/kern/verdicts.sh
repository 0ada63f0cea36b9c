#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# verdicts.sh REVISION - the shield as it is here and as it was at REVISION: the same
# datagrams through both (verdicts.c), in default settings, and what differs. A difference
# is in verdicts.txt, with its reason, or it is a fault. For developers: it builds the
# older version below build/verdicts. SEED= sends other datagrams, ROUNDS= as many for each
# family.
set -eu

cd "$(dirname "$0")/../.."
REVISION=$(git rev-parse --short=12 "${1:?usage: verdicts.sh REVISION}^{commit}")
BUILD=${BUILD:-build}
OLD=$BUILD/verdicts/$REVISION

if [ ! -d "$OLD" ]; then
	mkdir -p "$OLD"
	git archive "$REVISION" | tar -x -C "$OLD"
fi
cp tests/kern/verdicts.c "$OLD/tests/kern/kern_verdicts.c"
make --no-print-directory -C "$OLD" O=build SKIP_DEPS=1 build/tests/kern/kern_verdicts >&2
make --no-print-directory O="$BUILD" SKIP_DEPS=1 "$BUILD/tests/kern/verdicts" >&2
"$OLD/build/tests/kern/kern_verdicts" >"$BUILD/verdicts/old"
"$BUILD/tests/kern/verdicts" >"$BUILD/verdicts/new"
# Both say one line for each datagram but where a client returned a cookie to one alone.
join -j 1 <(sort -k1,1 "$BUILD/verdicts/old") <(sort -k1,1 "$BUILD/verdicts/new") |
	awk -v listed=tests/kern/verdicts.txt '
	BEGIN {
		while ((getline line <listed) > 0)
			if (line !~ /^(#|$)/) {
				split(line, f, " ")
				if (f[1] == "=")
					named[f[2]] = f[3]
				else
					known[f[1] " " f[2] " " f[3]] = 1
			}
	}
	$3 in named { $3 = named[$3] }
	$4 in named { $4 = named[$4] }
	{
		lines++
		if ($2 == $6 && $3 == $7 && $4 == $8 && $5 == $9)
			next
		what = $3 ($3 == $7 ? "" : "/" $7) " " $4 " " $8
		count[what]++
		if (!known[what])
			faults++
	}
	END {
		for (what in count)
			printf "%s %d %s\n", known[what] ? "listed" : "FAULT", count[what], what
		printf "%d datagrams, %d that differ and are not listed\n", lines, faults
		exit faults > 0 || !lines
	}'
