#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh TEST... - run test programs and add up what they say.
#
# Programs are cmocka's: their closing lines are counted. Scripts (*.sh) print `ok NAME`,
# `not ok NAME` or `skip NAME: why` lines. A test that ends badly without having said so
# counts as one failure. TESTS=PATTERN runs those whose name matches that glob.
#
# Tests run in three lanes at once, and each lane in the order of the seconds that its tests
# say they take, longest first:
#
#   programs  test_* and kern_*, TEST_JOBS at a time (one more than there are processors, as
#             some wait for a second or for the kernel), with the lowest priority
#   beside    scripts with a line `# lane: beside, N s: why`, TEST_BESIDE (2) at a time:
#             they wait more than they work, and compare nothing with a strength or a loss
#   alone     scripts with a line `# lane: alone, N s: why` or none, one at a time
#
# What the tests say is shown in the order of the arguments. Before the last line,
# `N passed, N failed, N skipped`, stand the seconds of each lane and those of the longest
# tests, with the processor time that each has used.
#
# Scripts and kernel tests run in a world of their own each (tests/world.sh): the machine's
# links, pins and daemons cannot change what they find, and what they leave behind is named
# and is a failure. Where the kernel permits no such namespaces they run on the machine
# itself, and run.sh says so.
#
# With TEST_QUICK, a kernel test or script that has a line `# stubs: PROGRAM...` or
# ` * stubs: PROGRAM...` in its source gets stubs in place of these BPF programs (tests/stubs.c): the test
# runs none of them, and their verification would take most of its time. `all`: all programs.
#
# A test has one try. A script that fails now and then has a fault, or shows one. A script has
# TEST_TIMEOUT seconds (600); a program has thrice as many, since it waits for all others.
set -u

TIMEOUT=${TEST_TIMEOUT:-600}
WORLD_SH=${0%/*}/world.sh
STUBS=$(realpath -m "${BUILD:-build}/lab/stubs.so")
JOBS=${TEST_JOBS:-$(($(nproc) + 1))}
BESIDE=${TEST_BESIDE:-2}
passed=0 failed=0 skipped=0 ran=0
worlds=1 tests=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tally TEST STATUS OUTPUT: what the output says, distrusted where the status disagrees.
tally()
{
	local counts ok bad skip status=${2:-1}

	counts=$(awk '
		/^\[  PASSED  \] [0-9]+ test/	{ cmocka = 1; passed += $4 }
		/^\[  SKIPPED \] [0-9]+ test/	{ cmocka = 1; skipped += $4 }
		/^\[  FAILED  \] [0-9]+ test/	{ cmocka = 1; failed += $4 }
		/^ok /				{ ok++ }
		/^not ok /			{ bad++ }
		/^skip /			{ skip++ }
		/^[^ ]+\.sh: line [0-9]+: .*: command not found$/ { bad++ }
		END {
			if (cmocka)
				print passed + 0, failed + bad, skipped + 0
			else
				print ok + 0, bad + 0, skip + 0
		}' "$3")
	read -r ok bad skip <<<"$counts"
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
		echo "not ok $1: ended with status $status"
		bad=1
	elif [ "$status" -eq 0 ] && [ $((ok + bad + skip)) -eq 0 ]; then
		echo "not ok $1: tested nothing"
		bad=1
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	ran=$((ran + 1))
}

# has_world TEST: scripts and kernel tests get one. Scripts vm_* do not: they need the
# links that the emulator made.
has_world()
{
	case ${1##*/} in
	vm_*)		false ;;
	*.sh | kern_*)	[ -n "$worlds" ] ;;
	*)		false ;;
	esac
}

# stubs_of TEST: the BPF programs that it does without, separated by blanks.
stubs_of()
{
	local source=$1

	[ -n "${TEST_QUICK-}" ] && [ -e "$STUBS" ] || return 0
	case $1 in
	*.sh)	;;
	*/kern_*) source=${0%/*}/${1#*/tests/}.c ;;
	*)	return 0 ;;
	esac
	sed -n 's/^\(#\| \*\) stubs: //p' "$source" |
		sed 's/^all$/shield shield_validate shield_cache shield_out shield_joined/'
}

# one NUMBER: run that test; its output, status and seconds go into files of that number.
one()
{
	local test=${tests[$1]} world=() stubs=() TIMEFORMAT='%R s, %U s and %S s of processor'
	local names limit=$TIMEOUT

	: >"$work/$1.left"
	[[ $test == *.sh ]] || limit=$((3 * TIMEOUT))
	if has_world "$test"; then world=("$WORLD_SH" --left "$work/$1.left"); fi
	names=$(stubs_of "$test")
	[ -z "$names" ] || stubs=(env "LD_PRELOAD=$STUBS" "TEST_STUBS=$names")
	{
		time "${world[@]}" "${stubs[@]}" timeout --kill-after=10 "$limit" "$test" \
			>"$work/$1.out" 2>&1 </dev/null
		echo $? >"$work/$1.status"
	} 2>"$work/$1.time"
	[ ! -s "$work/$1.left" ] || echo "not ok ${test##*/} leaves nothing behind:" \
		"$(paste -sd, "$work/$1.left")" >>"$work/$1.out"
	awk -v name="${test##*/}" '/ of processor$/ {
		printf "%8.1f s  %6.1f s of processor  %s\n", $1, $3 + $6, name }' \
		"$work/$1.time" >"$work/$1.took.part"
	mv "$work/$1.took.part" "$work/$1.took"
}

# lane NAME PLACES NUMBER...: run these tests, so many at a time.
lane()
{
	local name=$1 places=$2 number

	shift 2
	[ $# -gt 0 ] || return 0
	# shellcheck disable=SC2046 # processes
	trap 'kill $(jobs -p) 2>/dev/null; exit' TERM
	for number; do
		while [ "$(jobs -rp | wc -l)" -ge "$places" ]; do wait -n; done
		one "$number" &
	done
	wait
	echo "$name $SECONDS s" >"$work/lane.$name"
}

# lane_of TEST: the lane and the seconds that it takes.
lane_of()
{
	local line

	case ${1##*/} in
	*.sh)
		line=$(sed -n 's/^# lane: \(alone\|beside\), \([0-9]*\) s: .*/\1 \2/p' "$1")
		echo "${line:-alone 0}"
		;;
	kern_*)	echo programs 1 ;;
	*)	echo programs 0 ;;
	esac
}

# in_lane NAME: the numbers of its tests, longest first.
in_lane()
{
	local i

	for i in "${!tests[@]}"; do
		echo "$(lane_of "${tests[i]}") $i"
	done | sort -s -k2,2nr | awk -v lane="$1" '$1 == lane { print $3 }'
}

# Show what has ended and comes next in the order of the arguments.
show()
{
	while [ "$ran" -lt "${#tests[@]}" ] && [ -e "$work/$ran.took" ]; do
		echo "== ${tests[ran]##*/}"
		cat "$work/$ran.out"
		tally "${tests[ran]##*/}" "$(cat "$work/$ran.status")" "$work/$ran.out"
	done
}

for test in "$@"; do
	# shellcheck disable=SC2053 # globs are wanted
	[[ ${test##*/} != @(${TESTS:-*}) ]] || tests+=("$test")
done
if [ "${#tests[@]}" -eq 0 ]; then
	echo "run.sh: no test is named '${TESTS-}'" >&2
	exit 1
fi
if ! "$WORLD_SH" true 2>"$work/why"; then
	worlds=''
	echo "run.sh: tests run on the machine itself, and what they leave there is not looked" \
		"for: $(head -n 1 "$work/why")" >&2
fi

# All lanes at once; with TEST_IN_TURN=1, for a slow machine, one after the other; with
# TEST_IN_TURN=scripts the lane `alone` waits for the lane `beside`, so that its floods and
# clients share the processors with nothing but what has the lowest priority.
lanes()
{
	# shellcheck disable=SC2046 # processes
	trap 'kill $(jobs -p) 2>/dev/null; exit' TERM
	# shellcheck disable=SC2046 # numbers
	(renice -n 19 "$BASHPID" >/dev/null; lane programs "$JOBS" $(in_lane programs)) &
	[ "${TEST_IN_TURN-}" != 1 ] || wait
	# shellcheck disable=SC2046
	lane beside "$BESIDE" $(in_lane beside) &
	[ -z "${TEST_IN_TURN-}" ] || wait $!
	# shellcheck disable=SC2046
	lane alone 1 $(in_lane alone) &
	wait
}

lanes &
trap 'kill $!; exit 130' INT TERM
while [ -n "$(jobs -rp)" ]; do
	show
	sleep 0.2
done
show
# A test whose process was killed, or a whole lane.
while [ "$ran" -lt "${#tests[@]}" ]; do
	touch "$work/$ran.out" "$work/$ran.status" "$work/$ran.took"
	show
done

echo "== what each took"
sort -n "$work"/*.took | tail -n 20
echo "== when each lane was done: $(cat "$work"/lane.* | paste -sd, | sed 's/,/, /g')"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
