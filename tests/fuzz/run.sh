#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh TARGET... - run fuzz targets one after another, then say what came of it.
#
# FUZZ_RUNS inputs each or, without it, FUZZ_TIME seconds (30). FUZZ_LEN is the longest
# input (1024): short ones are fast, and the targets make long things of them. CORPUS may
# name a directory of captures and demos; they are cut into first inputs, as tests/data
# always is. What is learnt stays in BUILD/tests/fuzz/<target>.corpus for the next time.
set -u

BUILD=${BUILD:-build}
dir=$BUILD/tests/fuzz
limit=${FUZZ_RUNS:+-runs=$FUZZ_RUNS}
limit=${limit:--max_total_time=${FUZZ_TIME:-30}}
table=$(mktemp)
trap 'rm -f "$table"' EXIT
failed=0

# A small quarantine and short stacks: to the allocator every input is a new program, and
# with the defaults most of the time goes into giving its memory to the kernel and back.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=4:\
malloc_context_size=6:allocator_release_to_os_interval_ms=-1"

seeds()
{
	local from

	rm -rf "$dir/seed"
	mkdir -p "$dir/seed/config"
	cp docs/*.conf "$dir/seed/config"
	for from in tests/data ${CORPUS:+"$CORPUS"}; do
		find "$from" -type f \( -name '*.pcap*' -o -name '*.cap' -o \
			-name '*.dem*' -o -name '*.qwd*' -o -name '*.mvd*' -o \
			-name '*.dm2*' -o -name '*.dm_*' -o -name '*.dm3*' \) -print0 |
			xargs -0 -r "$dir/seeds" "$dir/seed"
	done
}

# final NAME LOG: one of libFuzzer's closing numbers, or 0
final()
{
	awk -v name="stat::$1:" '$1 == name { n = $2 } END { print n + 0 }' "$2"
}

run()
{
	local name=${1##*/fuzz_} log=$1.log dict=$dir/wire.dict start seconds inputs found

	set -- "$1" tests/fuzz/*/"fuzz_$name.dict"
	[ ! -e "$2" ] || dict=$2
	mkdir -p "$1.corpus" "$dir/seed/$name"
	start=$EPOCHREALTIME
	"$1" "$limit" -max_len="${FUZZ_LEN:-1024}" -dict="$dict" -timeout=10 \
		-rss_limit_mb=1024 -entropic=0 -print_final_stats=1 \
		-artifact_prefix="$1-" "$1.corpus" "$dir/seed/$name" >"$log" 2>&1
	found=$?
	seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
	inputs=$(final number_of_executed_units "$log")
	[ $found -eq 0 ] || found=1
	failed=$((failed + found))
	[ $found -eq 0 ] || grep -E -A 12 'ERROR|runtime error|Test unit written' "$log"
	awk -v name="$name" -v n="$inputs" -v s="$seconds" -v rss="$(final peak_rss_mb "$log")" \
		-v found=$found 'BEGIN { printf "%-12s %12d %9.1f %10.0f %9d %9d\n", name, n,
		s, n / s, rss, found }' | tee -a "$table"
}

seeds || exit 1
for target in "$@"; do
	run "$target"
done
printf '\n%-12s %12s %9s %10s %9s %9s\n' target inputs seconds inputs/s 'peak MB' findings
cat "$table"
[ "$failed" -eq 0 ]
