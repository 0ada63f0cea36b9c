#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# coverage.sh PROGRAM... - how much of include/ and user/ unit tests run: of each file the
# lines and the branches, fewest first, then of each of the two. PROGRAMs are made by clang
# with -fprofile-instr-generate -fcoverage-mapping: see `make coverage`. Lines of one file
# are shown by
#
#   llvm-cov show -instr-profile build/coverage/unit.profdata OBJECT FILE
#
# where OBJECT is build/coverage/san/libuser.so for a file of user/, a program for a header.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/coverage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects=(-object "$BUILD/san/libuser.so") failed=0
for program in "$@"; do
	# Of a failing test the lines count too, but it is said.
	# %m: the library writes a file of its own.
	LLVM_PROFILE_FILE=$work/${#objects[@]}-%m.profraw "$program" >"$work/log" 2>&1 || {
		echo "coverage.sh: ${program##*/} fails" >&2
		failed=1
	}
	objects+=(-object "$program")
done
llvm-profdata merge -sparse -o "$BUILD/unit.profdata" "$work"/*.profraw || exit 1
llvm-cov export -summary-only -instr-profile "$BUILD/unit.profdata" "${objects[@]:1}" \
	include user >"$work/summary" || exit 1
jq -r '.data[0].files[] | [.filename, .summary.lines.count, .summary.lines.covered,
	.summary.branches.count, .summary.branches.covered] | @tsv' "$work/summary" |
	sed "s|^$PWD/||" | awk -F '\t' '
	{
		room = $1
		sub("/.*", "", room)
		lines[room] += $2; run[room] += $3; ways[room] += $4; went[room] += $5
		printf "%6.1f %% of %5d lines, %6.1f %% of %5d branches  %s\n",
			$2 ? 100 * $3 / $2 : 100, $2, $4 ? 100 * $5 / $4 : 100, $4, $1 | "sort -n"
	}
	END {
		close("sort -n")
		for (room in lines)
			printf "%s: %.1f %% of %d lines, %.1f %% of %d branches\n", room,
				100 * run[room] / lines[room], lines[room],
				100 * went[room] / ways[room], ways[room]
	}'
exit "$failed"
