#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# held.sh [NAME...] - write tests/data/held anew (see held.h).
#
# Without a name: the same inputs, with what the decoders say of them today. Read the
# difference: each line of it is something that is now said otherwise.
#
# With names of targets: other inputs, too. Of what fuzzing has learnt
# (build/tests/fuzz/*.corpus, so run "make fuzz" before), of its first inputs and of those that
# are held, few that reach the same branches, HELD_LEN bytes (400) each at most; the
# shortest, HELD_KB kilobytes of hex (60). INPUTS=DIR: all files of that directory instead.
set -eu

cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
dir=$BUILD/tests/fuzz
export ASAN_OPTIONS="quarantine_size_mb=4:malloc_context_size=6:detect_leaks=0"

# The inputs of a held file as files of their own.
unpack()
{
	local number=0 hex

	sed -n 's/^input: //p' "$1" | while read -r hex; do
		number=$((number + 1))
		xxd -r -p <<<"$hex" >"$2/$number"
	done
}

# write NAME: the files that stdin names become the inputs of that test.
write()
{
	local file

	while read -r file; do
		echo "input: $(xxd -p "$file" | tr -d '\n')"
	done >"tests/data/held/$1"
}

choose()
{
	local name=$1 target work

	if [ -n "${INPUTS-}" ]; then
		find "$INPUTS" -type f | sort | write "$name"
		return
	fi
	target=$(find "$dir" -name "fuzz_$name" -type f)
	work=$(mktemp -d)
	mkdir -p "$work"/{before,few} "$target.corpus" "$dir/seed/$name"
	[ ! -s "tests/data/held/$name" ] || unpack "tests/data/held/$name" "$work/before"
	"$target" -set_cover_merge=1 -use_counters=0 -max_len="${HELD_LEN:-400}" "$work/few" \
		"$work/before" "$target.corpus" "$dir/seed/$name" >"$work/log" 2>&1 ||
		{ tail -20 "$work/log"; return 1; }
	find "$work/few" -type f -printf '%s %p\n' | sort -n |
		awk -v most="$((${HELD_KB:-60} * 1024))" '(kept += 2 * $1) <= most { print $2 }' |
		write "$name"
	printf '%-12s %6d inputs of %d\n' "$name" "$(wc -l <"tests/data/held/$name")" \
		"$(find "$work/few" -type f | wc -l)"
	rm -rf "$work"
}

renew()
{
	local program=$1

	UPDATE=1 "$program" >"$program.log" 2>&1 || { cat "$program.log"; return 1; }
}

for name in "$@"; do
	choose "$name"
done
mapfile -t programs < <(find tests/decode -name 'test_held_*.c' | sed "s|\(.*\)\.c|$BUILD/\1|")
make -s O="$BUILD" "${programs[@]}"
for program in "${programs[@]}"; do
	renew "$program"
done
git diff --stat tests/data/held
