#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# held.sh NAME... - other inputs for the held tests of these targets (see held.h).
#
# Of what fuzzing has learnt (build/tests/fuzz/*.corpus, so run "make fuzz" before), of its
# first inputs and of those that are held, the fewest that run the same code, HELD_LEN
# bytes (400) each at most; the shortest, HELD_KB kilobytes of lines (600). The test then
# writes them with what is said of them today.
set -eu

BUILD=${BUILD:-build}
dir=$BUILD/tests/fuzz
export ASAN_OPTIONS="quarantine_size_mb=4:malloc_context_size=6:detect_leaks=0"

# Each line's bytes as a file, named by its number.
unpack()
{
	local number=0 hex

	while IFS=$'\t' read -r hex _; do
		number=$((number + 1))
		xxd -r -p <<<"$hex" >"$2/$number"
	done <"$1"
}

renew()
{
	local name=$1 target test work

	target=$(find "$dir" -name "fuzz_$name" -type f)
	test=$(find "$BUILD/tests" -name "test_held_$name" -type f)
	work=$(mktemp -d)
	mkdir -p "$work"/{before,few,chosen} "$target.corpus" "$dir/seed/$name" tests/data/held
	[ ! -s "tests/data/held/$name" ] || unpack "tests/data/held/$name" "$work/before"
	"$target" -merge=1 -max_len="${HELD_LEN:-400}" "$work/few" "$work/before" \
		"$target.corpus" "$dir/seed/$name" >"$work/log" 2>&1 ||
		{ tail -20 "$work/log"; return 1; }
	find "$work/few" -type f -printf '%s %p\n' | sort -n |
		awk -v most="$((${HELD_KB:-600} * 1024))" \
			'(kept += 2 * $1 + 18) <= most { print $2 }' |
		xargs -r mv -t "$work/chosen"
	INPUTS=$work/chosen "$test" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
	printf '%-12s %6d inputs, %6d left out\n' "$name" "$(wc -l <"tests/data/held/$name")" \
		"$(find "$work/few" -type f | wc -l)"
	rm -rf "$work"
}

for name in "$@"; do
	renew "$name"
done
