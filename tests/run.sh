#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh TEST... - run test programs and add up what they say.
#
# Programs are cmocka's: their closing lines are counted. Scripts (*.sh) print `ok NAME`,
# `not ok NAME` or `skip NAME: why` lines. A test that ends badly without having said so
# counts as one failure. Before the last line, `N passed, N failed, N skipped`, stands what
# each test took, slowest last.
#
# Unit and kernel tests run side by side, TEST_JOBS (nproc) at a time, and so do scripts
# with a line `# beside: why` that says why no other load can change what they find. All
# others run alone, after them. TESTS=PATTERN runs those whose name matches that glob.
#
# Scripts and kernel tests run in a world of their own each (tests/world.sh): the machine's
# links, pins and daemons cannot change what they find, and what they leave behind is named
# and is a failure. Where the kernel permits no such namespaces they run on the machine
# itself, and run.sh says so.
#
# Scripts net_* and vm_* run real servers, clients and floods against the clock. One of
# those that fails gets a second try, which counts; the first is shown, and the name stands
# in `second try: NAME: what failed` before the last line, so that one that does so often is
# seen. None is given to what has left something behind or was ended at its time limit, nor
# after the third (SECOND_TRIES): that is not bad luck. Nor does a second try count that
# skips more than the first: what failed has then not been tested.
set -u

TIMEOUT=${TEST_TIMEOUT:-420}
WORLD_SH=${0%/*}/world.sh
JOBS=${TEST_JOBS:-$(nproc)}
tries=${SECOND_TRIES:-3}
passed=0 failed=0 skipped=0 ran=0
again="" worlds=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tally TEST STATUS OUTPUT: what the output says, distrusted where the status disagrees.
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
		}' "$3")
	read -r ok bad skip <<<"$counts"
	if [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; then
		echo "not ok $1: ended with status $2"
		bad=1
	elif [ "$2" -eq 0 ] && [ $((ok + bad + skip)) -eq 0 ]; then
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

# one NUMBER TEST: its output, status and seconds into files of that number.
one()
{
	local start=$EPOCHREALTIME world=()

	: >"$work/$1.left"
	if has_world "$2"; then world=("$WORLD_SH" --left "$work/$1.left"); fi
	"${world[@]}" timeout --kill-after=10 "$TIMEOUT" "$2" >"$work/$1.out" 2>&1
	echo $? >"$work/$1.status"
	[ ! -s "$work/$1.left" ] || echo "not ok ${2##*/} leaves nothing behind:" \
		"$(paste -sd, "$work/$1.left")" >>"$work/$1.out"
	awk -v a="$start" -v b="$EPOCHREALTIME" -v name="${2##*/}" \
		'BEGIN { printf "%8.1f s  %s\n", b - a, name }' >"$work/$1.took"
}

show()
{
	echo "== ${2##*/}"
	cat "$work/$1.out"
	tally "${2##*/}" "$(cat "$work/$1.status")" "$work/$1.out"
}

# May it run beside others?
is_beside()
{
	case ${1##*/} in
	test_*.sh | net_*.sh)	grep -q '^# beside: ' "$1" ;;
	test_* | kern_*)		true ;;
	*)			false ;;
	esac
}

# is_unlucky NUMBER TEST: has it failed in a way that deserves a second try?
is_unlucky()
{
	local status

	case ${2##*/} in net_*.sh | vm_*.sh) ;; *) return 1 ;; esac
	status=$(cat "$work/$1.status")
	[ "$tries" -gt 0 ] && [ "$status" -ne 124 ] && [ "$status" -ne 137 ] &&
		! grep -q '^not ok .* leaves nothing behind: ' "$work/$1.out" &&
		{ [ "$status" -ne 0 ] || grep -q '^not ok ' "$work/$1.out"; }
}

# The first try of such a test, in words that nobody counts.
show_first()
{
	local what

	what=$(sed -n 's/^not ok //p' "$work/$1.out" | paste -sd';')
	what=${what:-ended with status $(cat "$work/$1.status")}
	echo "== ${2##*/}, first try"
	sed 's/^not ok /# not ok /; s/^ok /# ok /; s/^skip /# skip /' "$work/$1.out"
	again+="second try: ${2##*/}: $what"$'\n'
	tries=$((tries - 1))
}

if ! "$WORLD_SH" true 2>"$work/why"; then
	worlds=''
	echo "run.sh: tests run on the machine itself, and what they leave there is not looked" \
		"for: $(head -n 1 "$work/why")" >&2
fi

beside=() alone=()
for test in "$@"; do
	# shellcheck disable=SC2053 # a glob is wanted
	[[ ${test##*/} == ${TESTS:-*} ]] || continue
	if is_beside "$test"; then beside+=("$test"); else alone+=("$test"); fi
done

number=0
for test in "${beside[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
	one "$number" "$test" &
	number=$((number + 1))
done
wait
for i in "${!beside[@]}"; do show "$i" "${beside[i]}"; done
for test in "${alone[@]}"; do
	one "$number" "$test"
	if is_unlucky "$number" "$test"; then
		show_first "$number" "$test"
		skips=$(grep -c '^skip ' "$work/$number.out")
		one "$number" "$test"
		[ "$(grep -c '^skip ' "$work/$number.out")" -le "$skips" ] ||
			echo "not ok ${test##*/}: skips what failed" >>"$work/$number.out"
	fi
	show "$number" "$test"
	number=$((number + 1))
done

if [ "$ran" -eq 0 ]; then
	echo "run.sh: no test is named '${TESTS-}'" >&2
	exit 1
fi
echo "== what each took"
sort -n "$work"/*.took | tail -n 20
printf '%s' "$again"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
