#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_residue.sh - tests/run.sh notices what an end-to-end test has left behind, and
# leaves alone one that has left nothing.
#
# beside: it runs two small scripts.
set -u

cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

verdict() # NAME COMMAND...
{
	local name=$1

	shift
	if "$@" >/dev/null; then
		echo "ok $name"
	else
		echo "not ok $name"
		status=1
	fi
}

script() # NAME LINE
{
	printf '#!/bin/bash\n%s\necho ok something\n' "$2" >"$work/$1"
	chmod +x "$work/$1"
}

script net_clean.sh 'sleep 0.1'
script net_littering.sh 'setsid sleep 60 >/dev/null 2>&1 & echo $! >'"$work/pid"
TESTS='' tests/run.sh "$work/net_clean.sh" >"$work/clean" 2>&1
verdict "a clean test passes" grep -qx '1 passed, 0 failed, 0 skipped' "$work/clean"
TESTS='' tests/run.sh "$work/net_littering.sh" >"$work/littering" 2>&1
littering=$?
kill "$(cat "$work/pid")"
verdict "one that leaves a process fails" [ "$littering" = 1 ]
verdict "it is named" grep -q '^not ok net_littering.sh leaves nothing behind: .*(sleep)' \
	"$work/littering"
exit "$status"
