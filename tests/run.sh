#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh TEST... - run test programs one after another and add up what they say.
#
# Each test's own output is printed as it comes. Programs are cmocka's: their closing
# lines are counted. Scripts (*.sh) print `ok NAME`, `not ok NAME` or `skip NAME: why`
# lines. A test that ends badly without having said so counts as one failure. The last
# line is `N passed, N failed, N skipped`.
set -u

TIMEOUT=${TEST_TIMEOUT:-420}
passed=0 failed=0 skipped=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# tally TEST STATUS: what the output says, distrusted where the status disagrees.
tally()
{
	local counts ok bad skip

	counts=$(awk '
		/^\[  PASSED  \] [0-9]+ test/	{ cmocka = 1; passed += $4 }
		/^\[  SKIPPED \] [0-9]+ test/	{ cmocka = 1; skipped += $4 }
		/^\[  FAILED  \] [0-9]+ test/	{ cmocka = 1; failed += $4 }
		/^ok /				{ ok++ }
		/^not ok /			{ bad++ }
		/^skip /			{ skip++ }
		END {
			if (cmocka)
				print passed + 0, failed + 0, skipped + 0
			else
				print ok + 0, bad + 0, skip + 0
		}' "$output")
	read -r ok bad skip <<<"$counts"
	if [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; then
		echo "not ok $1: ended with status $2"
		bad=1
	elif [ "$2" -eq 0 ] && [ $((ok + bad + skip)) -eq 0 ]; then
		echo "not ok $1: tested nothing"
		bad=1
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

for test in "$@"; do
	echo "== ${test##*/}"
	timeout --kill-after=10 "$TIMEOUT" "$test" 2>&1 | tee "$output"
	tally "${test##*/}" "${PIPESTATUS[0]}"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
