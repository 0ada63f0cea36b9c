#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_residue.sh - tests/run.sh notices what an end-to-end test has left behind, and
# leaves alone one that has left nothing; and whom it gives a second try.
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

# A test that fails as often as TIMES says, and then no more.
unlucky() # NAME TIMES
{
	printf '%s\n' '#!/bin/bash' "echo >>$work/$1.count" \
		"[ \$(wc -l <$work/$1.count) -gt $2 ] && echo ok luck || echo not ok luck" \
		>"$work/$1"
	chmod +x "$work/$1"
}

unlucky net_once.sh 1
unlucky net_twice.sh 2
unlucky attack_once.sh 1
TESTS='' tests/run.sh "$work/net_once.sh" >"$work/once" 2>&1
verdict "a second try counts" grep -qx '1 passed, 0 failed, 0 skipped' "$work/once"
verdict "it is told" grep -qx 'second try: net_once.sh: luck' "$work/once"
TESTS='' tests/run.sh "$work/net_twice.sh" >"$work/twice" 2>&1
verdict "there is no third" grep -qx '0 passed, 1 failed, 0 skipped' "$work/twice"
TESTS='' tests/run.sh "$work/attack_once.sh" >"$work/attack" 2>&1
verdict "an attack has one try" grep -qx '0 passed, 1 failed, 0 skipped' "$work/attack"
unlucky net_skips.sh 1
sed -i 's/echo ok luck/echo skip luck: none/' "$work/net_skips.sh"
TESTS='' tests/run.sh "$work/net_skips.sh" >"$work/skips" 2>&1
verdict "a second try does not skip what failed" \
	grep -qx '0 passed, 1 failed, 1 skipped' "$work/skips"
unlucky net_ends.sh 1
sed -i 's/echo not ok luck/exit 3/' "$work/net_ends.sh"
TESTS='' tests/run.sh "$work/net_ends.sh" >"$work/ends" 2>&1
verdict "how a silent first try ended is told" \
	grep -qx 'second try: net_ends.sh: ended with status 3' "$work/ends"
rm "$work"/*.count
TESTS='' SECOND_TRIES=0 tests/run.sh "$work/net_once.sh" >"$work/none" 2>&1
verdict "as many as are allowed" grep -qx '0 passed, 1 failed, 0 skipped' "$work/none"
verdict "who leaves a process has no second" [ "$(grep -c '^== ' "$work/littering")" = 2 ]
exit "$status"
