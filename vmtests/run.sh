#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh - the tests on every kernel of KERNELS, and a table at the end.
#
#   KERNEL="6.1 7"   only these names          VM=qemu|vng   this way for all of them
#   VM_CACHE=DIR     packages are kept here    VM_ACCEL=tcg|kvm   no probing
#   VM_LIMIT=SECONDS for one kernel            V=1   show what passed, too
#
# A kernel that cannot be had is skipped by name. One that boots and fails is a failure,
# and so is one that does not boot. What the guests said is kept in build/vmtest/.
set -u

cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
BUILD=$(realpath "${BUILD:-build}")
CACHE=${VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/quakeshield-vm}
LIMIT_S=${VM_LIMIT:-300}
KEEP=$BUILD/vmtest
# shellcheck source=vmtests/kernel.sh
. vmtests/kernel.sh
# shellcheck source=vmtests/qemu.sh
. vmtests/qemu.sh
# shellcheck source=vmtests/vng.sh
. vmtests/vng.sh

passed=0 failed=0 skipped=0 ran=0
rows=() reasons=()

# The same binaries for all kernels: what the host built, and the scripts that use it.
guest_files()
{
	find "$BUILD/quakeshield" "$BUILD/lab" "$BUILD/tests" -type f \
		\( -perm -1 -o -name 'foreign.bpf.o' \) ! -path '*/test_*' ! -path '*/fuzz*'
	find "$PWD/vmtests" "$PWD/tests/run.sh" "$PWD/tests/lab" "$PWD/tests/net_lifetime.sh" \
		-type f ! -name '*.c' ! -name '*.h'
}

# skip_kernel NAME WAY REASON: not run at all.
skip_kernel()
{
	rows+=("$1|$2|-|-|-|-|-|-|-|skipped: $3")
	skipped=$((skipped + 1))
	echo "skip $1 ($2): $3"
}

# What the guest counted: the closing line, or nothing.
counts()
{
	tr -d '\r' <"$work/output" |
		sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' |
		tail -n 1
}

said() # KEYWORD: the last value that the guest gave for it
{
	tr -d '\r' <"$work/output" | awk -v key="$1" '
		$1 == "#" && $2 == key { value = $3 } END { print value == "" ? "-" : value }'
}

# Why a kernel failed, in a line: the first bad test, or how the guest ended.
why()
{
	local line

	line=$(grep -aE '^(not ok|\[  FAILED  \])' "$work/output" | head -n 1 | tr -d '\r')
	case $1 in
	124)	line="no end after $LIMIT_S s${line:+; $line}" ;;
	125)	line="the guest died${line:+; $line}" ;;
	esac
	echo "${line:-ended with status $1}"
}

show_output() # STATUS
{
	if [ "$1" != 0 ] || [ "${V:-0}" = 1 ]; then
		tr -d '\r' <"$work/output"
		[ "$1" -lt 124 ] || cat "$work/qemu.log" <(tail -n 40 "$work/klog")
	else
		grep -aE '^(not ok|skip |#)' "$work/output" | tr -d '\r'
	fi
}

# record NAME WAY LEVEL STATUS RELEASE ACCEL SECONDS: a row of the table, and the sums.
record()
{
	local name=$1 way=$2 level=$3 status=$4 ok=0 bad=0 skip=0 result=passed line

	read -r ok bad skip <<<"$(counts)"
	ok=${ok:-0} bad=${bad:-0} skip=${skip:-0}
	# The two channels must agree; an early end is a failure even if all was well.
	[ "$status" = 0 ] && [ "$ok" -eq 0 ] && status=125
	[ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
	if [ "$bad" -gt 0 ] && [ "$level" = advisory ]; then
		result="advisory: $bad failed: $(why "$status")"
		skip=$((skip + bad)) bad=0
	elif [ "$bad" -gt 0 ]; then
		result="FAILED: $(why "$status")"
	fi
	rows+=("$5|$way|$6|$(said boot)|$7|$ok|$bad|$skip|$(said verified)|$result")
	while read -r line; do
		reasons+=("$name ($way): ${line#skip }")
	done < <(grep -a '^skip ' "$work/output" | tr -d '\r')
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	ran=$((ran + 1))
}

# run_host EXPECT: the kernel that is here; the scripts bring their own namespaces.
run_host()
{
	BUILD=$BUILD timeout --kill-after=10 "$LIMIT_S" vmtests/guest.sh "$1" \
		>"$work/output" 2>&1 </dev/null
}

# run_one NAME SUITE FLAVOUR WAY LEVEL EXPECT
run_one()
{
	local name=$1 suite=$2 flavour=$3 way=$4 level=$5 expect=$6
	local directory='' release lacks status=0 start log

	for log in output klog qemu.log; do
		: >"$work/$log"
	done
	if [ "$way" = host ]; then
		[ "$(id -u)" = 0 ] || { skip_kernel "$name" "$way" "needs root"; return; }
		release="$(uname -r) (host)" ACCEL=-
	else
		directory=$(kernel_get "$suite" "$flavour") || {
			skip_kernel "$name" "$way" "no linux-image-$flavour from $suite"
			return
		}
		release=$(kernel_release "$directory")
		accel_probe "$directory"
	fi
	if [ "$way" = vng ]; then
		lacks=$(vng_lacks "$directory")
		[ -n "$lacks" ] || vng_find || lacks="no virtme-ng, and none from $VNG_SUITE"
		[ -z "$lacks" ] || { skip_kernel "$name" "$way" "$lacks"; return; }
	fi
	printf '\n== %s: %s, %s\n' "$name" "$release" "$way${directory:+ with $ACCEL}"
	start=$SECONDS
	"run_$way" "$expect" "$directory" || status=$?
	show_output "$status"
	cp "$work/output" "$KEEP/$name-$way.log"
	cp "$work/klog" "$KEEP/$name-$way.kernel.log"
	record "$name" "$way" "$level" "$status" "$release" "$ACCEL" $((SECONDS - start))
}

# The lines of KERNELS that were asked for, with the way that was asked for.
chosen()
{
	local name suite flavour way level expect done=' '

	while read -r name suite flavour way level expect; do
		case $name in '' | '#'*) continue ;; esac
		[ -z "${KERNEL-}" ] || [[ " $KERNEL " == *" $name "* ]] || continue
		if [ -n "${VM-}" ] && [ "$way" != host ]; then
			way=$VM
			[ "$way" != vng ] || flavour=${flavour/cloud-/}
			[[ $done != *" $name:$suite:$way "* ]] || continue
			done+="$name:$suite:$way "
		fi
		echo "$name $suite $flavour $way $level $expect"
	done <vmtests/KERNELS
}

table()
{
	local reason

	printf '\n%s\n' 'kernel|way|accel|boot s|all s|passed|failed|skipped|verified in/out|result' |
		cat - <(printf '%s\n' "${rows[@]}") | column -t -s '|'
	[ "${#reasons[@]}" = 0 ] || printf '\nskipped:\n'
	for reason in "${reasons[@]}"; do
		echo "  $reason"
	done
	echo
}

case ${VM-} in '' | qemu | vng) ;; *)
	echo "vmtest: no such way: '$VM' (qemu, vng)" >&2
	exit 2
	;;
esac
mkdir -p "$CACHE" "$KEEP" || exit 2
work=$(mktemp -d "$KEEP/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC2034 # for qemu.sh
GUEST_FILES=$(guest_files)
mapfile -t lines < <(chosen)
if [ "${#lines[@]}" = 0 ]; then
	echo "vmtest: no such kernel in vmtests/KERNELS: '${KERNEL-}'" >&2
	exit 2
fi
for line in "${lines[@]}"; do
	read -r name suite flavour way level expect <<<"$line"
	run_one "$name" "$suite" "$flavour" "$way" "$level" "$expect"
done
table
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
