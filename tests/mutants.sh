#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# mutants.sh - do the tests notice? Each line of MUTANTS is applied, alone, to a copy of the
# tree; the tests that could notice are built there and run. A mutant whose tests all pass
# has survived. The last lines are the survivors, and `N passed, N failed, N skipped`: a
# passed mutant is one that was noticed.
#
#   LIST=FILE     other lines than those of tests/MUTANTS, written the same way
#   ONLY=GLOB     of the file that is changed
#   COUNT=N       a random choice of so many; SEED= makes it the same again
#   MINUTES=N     begin no other after so many minutes
#   SURVIVE=N     how many of a hundred may survive without failure (0)
#   CHECK=1       only whether what each line changes stands in its file, once
set -u

LIST=${LIST:+$(realpath "$LIST")}
cd "$(dirname "$0")/.." || exit 1
LIST=${LIST:-tests/MUTANTS}
BUILD=$(realpath "${BUILD:-build}")
SEED=${SEED:-$RANDOM}
export -n SEED # kern_steps would search elsewhere by it
LIMIT=${MUTANT_TIMEOUT:-180}
# What is broken may leave something unused, which is no fault of its own.
for flags in CFLAGS BPF_CFLAGS; do
	[ -z "${!flags-}" ] || export "$flags=$(tr ' ' '\n' <<<"${!flags}" | grep -vx -e -Werror | tr '\n' ' ')"
done
work=.
lines=() noticed=0 survived=0 broken=0 until=$((SECONDS + ${MINUTES:-600} * 60))

# Octets that are the same for the same SEED: what repeats itself makes shuf choose neighbours.
random()
{
	openssl enc -aes-256-ctr -pass "pass:$SEED" -nosalt </dev/zero 2>/dev/null
}

# The programs of all names that match @1.
programs()
{
	local glob

	for glob in $1; do
		(cd "$work" && find tests -name "$glob.c" | sed 's|^|build/|; s|\.c$||')
	done
}

# A pattern of that code, in which neither white space counts nor how a macro is wrapped.
# shellcheck disable=SC2016 # perl's variables
PATTERN='BEGIN { $old = join "(?:\\s|\\\\\\n)*", map { quotemeta } $ENV{OLD} =~ /\w+|\S/g }'

# stands FILE OLD: exactly once.
stands()
{
	OLD=$2 perl -0777 -ne "$PATTERN"' $n = () = /$old/g;
		END { print STDERR "stands there $n times\n" if $n != 1; $? = $n != 1 }' "$1"
}

# swap FILE OLD NEW: exactly once, or not at all.
swap()
{
	stands "$1" "$2" && OLD=$2 NEW=$3 perl -0777 -pi -e "$PATTERN"' s/$old/$ENV{NEW}/' "$1"
}

# noticing PROGRAM...: which one fails first; false where all pass.
noticing()
{
	local target

	for target in "$@"; do
		(cd "$work" && timeout "$LIMIT" "$target") >"$work/.log" 2>&1 && continue
		echo "noticed by ${target##*/}"
		return 0
	done
	return 1
}

# whole PROGRAM...: a test that fails without a mutant would notice every one.
whole()
{
	make -C "$work" -j"$(nproc)" -s O=build "$@" >"$work/.log" 2>&1 || {
		tail -n 5 "$work/.log" >&2
		echo "mutants.sh: the tree does not build as it is" >&2
		return 1
	}
	if noticing "$@" >"$work/.result"; then
		echo "mutants.sh: $(sed 's/noticed by //' "$work/.result") fails as the tree is" >&2
		return 1
	fi
}

# try FILE TESTS OLD NEW: noticed, survived or broken, on stdout.
try()
{
	local file=$work/$1 targets

	cp -p "$file" "$work/.kept"
	if ! swap "$file" "$3" "$4" 2>"$work/.log"; then
		cp -p "$work/.kept" "$file"
		echo "broken: $(head -n 1 "$work/.log")"
		return
	fi
	touch "$file"
	mapfile -t targets < <(programs "$2")
	# What does not build, or does not load, is noticed too: but it shows a poor mutant.
	if ! make -C "$work" -j"$(nproc)" -s O=build "${targets[@]}" >"$work/.log" 2>&1; then
		echo "broken: does not build"
	else
		echo survived >"$work/.result"
		noticing "${targets[@]}" >"$work/.result" || echo survived >"$work/.result"
		cat "$work/.result"
	fi
	cp -p "$work/.kept" "$file"
	touch "$file"
}

while IFS= read -r line; do
	# shellcheck disable=SC2053 # a glob is wanted
	[[ ${line%%$'\t'*} == ${ONLY:-*} ]] && lines+=("$line")
done < <(grep -v '^#' "$LIST")
if [ "${#lines[@]}" -eq 0 ]; then
	echo "mutants.sh: no file of $LIST is named '${ONLY-}'" >&2
	exit 1
fi
if [ -n "${CHECK-}" ]; then
	for line in "${lines[@]}"; do
		IFS=$'\t' read -r file tests old new <<<"$line"
		what=$(stands "$file" "$old" 2>&1) && continue
		echo "$file: $what: $old"
		broken=$((broken + 1))
	done
	# A test whose name has changed would notice nothing.
	while read -r tests; do
		[ -n "$(programs "$tests")" ] && continue
		echo "$LIST: no test is named '$tests'"
		broken=$((broken + 1))
	done < <(printf '%s\n' "${lines[@]}" | cut -f 2 | tr ' ' '\n' | sort -u)
	exit "$((broken > 0))"
fi
if [ -n "${COUNT-}" ]; then
	echo "# SEED=$SEED"
	mapfile -t lines < <(printf '%s\n' "${lines[@]}" |
		shuf -n "$COUNT" --random-source=<(random))
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The copy has objects of its own, for those of the tree name their headers by the paths of
# the tree. Times are kept, so only what a mutant changes is built again.
tar -c --exclude=./.git --exclude="./${BUILD#"$PWD"/}" . | tar -x -C "$work" || exit 1
cp -a "$BUILD" "$work/build" || exit 1
find "$work/build" -name '*.d' -exec sed -i "s|$BUILD/|build/|g; s|${BUILD#"$PWD"/}/|build/|g" {} +

mapfile -t targets < <(for line in "${lines[@]}"; do
	IFS=$'\t' read -r _ globs _ <<<"$line"
	programs "$globs"
done | sort -u)
whole "${targets[@]}" || exit 1

for line in "${lines[@]}"; do
	[ "$SECONDS" -lt "$until" ] || break
	IFS=$'\t' read -r file tests old new <<<"$line"
	result=$(try "$file" "$tests" "$old" "$new")
	case $result in
	noticed*)	noticed=$((noticed + 1)) ;;
	survived)	survived=$((survived + 1)) ;;
	*)		broken=$((broken + 1)) ;;
	esac
	printf '%s: %s: %s\n' "${result%% *}" "$file" "$new"
	case $result in survived | broken*) echo "  $result, instead of: $old" ;; esac
done
left=$((${#lines[@]} - noticed - survived - broken))
if [ "$broken" -eq 0 ] && [ $((survived * 100)) -le $((${SURVIVE:-0} * (noticed + survived))) ]; then
	echo "$noticed passed, 0 failed, $((left + survived)) skipped"
	exit 0
fi
echo "$noticed passed, $((survived + broken)) failed, $left skipped"
exit 1
