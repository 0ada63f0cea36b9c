#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh - the tests on every kernel of KERNELS, and a table at the end.
#
#   KERNEL="6.1 7"   only these names          VM=qemu|vng   this way for all of them
#   VM_CACHE=DIR     packages are kept here    VM_ACCEL=tcg|kvm   no probing
#   VM_JOBS=N        guests side by side       VM_CPUS=N     processors of each
#   VM_LIMIT=SECONDS for one kernel            VM_FETCH=SECONDS   for all downloads
#   VM_EXPECT=load   of kernels that protect, only whether the shield loads: a minute each;
#                    VM_EXPECT=shield: all of them in full, see KERNELS
#   ONLY=igb         of the drivers of DRIVERS this one
#   V=1              show what passed, too
#   VM_KERNELS=FILE  another list in the place of KERNELS
#   VM_UBUNTU=URL    a mirror of Ubuntu, for kernels of its suites
#   VM_QEMU=SUITE    the emulator of that suite of Debian's; for drivers it is
#                    bookworm-backports without (empty: the one that is here)
#
# A kernel that cannot be had is skipped by name. One that boots and fails is a failure,
# and so is one that does not boot. What the guests said is kept in build/vmtest/.
#
# An emulated processor is one thread, so guests have one each and run side by side, in
# the order of KERNELS; what one of them said is shown when it has ended. The kernel that
# is here runs alone: its floods would take the time of the others.
set -u

cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
BUILD=$(realpath "${BUILD:-build}")
CACHE=${VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/quakeshield-vm}
LIMIT_S=${VM_LIMIT:-2000}
FETCH_S=${VM_FETCH:-300}
LIST=${VM_KERNELS:-vmtests/KERNELS}
JOBS=${VM_JOBS:-$(nproc)}
KEEP=$BUILD/vmtest
# shellcheck source=vmtests/kernel.sh
. vmtests/kernel.sh
# shellcheck source=vmtests/qemu.sh
. vmtests/qemu.sh
# shellcheck source=vmtests/vng.sh
. vmtests/vng.sh
# shellcheck source=vmtests/report.sh
. vmtests/report.sh

declare -A running=() # process: index of plan
plan=()

# The same binaries for all kernels: what the host built, and the scripts that use it.
guest_files()
{
	find "$BUILD/quakeshield" "$BUILD/lab" "$BUILD/tests" -type f \
		\( -perm -1 -o -name 'foreign.bpf.o' \) ! -path '*/test_*' ! -path '*/fuzz*'
	find "$PWD/vmtests" "$PWD"/tests/{run,world}.sh "$PWD/tests/lab" \
		"$PWD/tests/net/net_lifetime.sh" \
		-type f ! -name '*.c' ! -name '*.h'
}

# The lines of KERNELS that were asked for, with the way that was asked for.
chosen()
{
	local name suite flavour way level expect done=' '

	while read -r name suite flavour way level expect; do
		case $name in '' | '#'*) continue ;; esac
		[ "$expect" = message ] || expect=${VM_EXPECT:-$expect}
		[ -z "${KERNEL-}" ] || [[ " $KERNEL " == *" $name "* ]] || continue
		if [ -n "${VM-}" ] && [ "$way" != host ]; then
			way=$VM
			[ "$way" != vng ] || flavour=${flavour/cloud-/}
			[[ $done != *" $name:$suite:$way "* ]] || continue
			done+="$name:$suite:$way "
		fi
		echo "$name $suite $flavour $way $level $expect"
	done <"$LIST"
}

# --- what is needed, before the first guest starts

# prepare NAME SUITE FLAVOUR WAY LEVEL EXPECT: a line of the plan, or a kernel skipped.
prepare()
{
	local name=$1 suite=$2 flavour=$3 way=$4 level=$5 expect=$6 directory=- lacks=''

	if [ "$way" != host ]; then
		directory=$(kernel_get "$suite" "$flavour") || {
			skip_kernel "$name" "$way" "no linux-image-$flavour from $suite"
			return
		}
		accel_probe "$directory"
		qemu_fetch "$expect" || echo "vmtest: no qemu from $(qemu_suite "$expect")" >&2
	fi
	if [ "$way" = vng ]; then
		lacks=$(vng_lacks "$directory")
		[ -n "$lacks" ] || vng_find || lacks="no virtme-ng, and none from $VNG_SUITE"
	fi
	[ "$way" != host ] || [ "$(id -u)" = 0 ] || lacks="needs root"
	if [ -n "$lacks" ]; then
		skip_kernel "$name" "$way" "$lacks"
	else
		plan+=("$name $way $level $expect $directory")
	fi
}

prepare_all()
{
	local name suite flavour way level expect

	FETCH_UNTIL=$((SECONDS + FETCH_S))
	while read -r name suite flavour way level expect; do
		prepare "$name" "$suite" "$flavour" "$way" "$level" "$expect"
	done < <(chosen)
	[ "${#plan[@]}" = 0 ] || root_build
}

# --- the guests

# run_host EXPECT: the kernel that is here; the scripts bring their own namespaces.
run_host()
{
	BUILD=$BUILD timeout --kill-after=10 "$LIMIT_S" vmtests/guest.sh "$1" \
		>"$job/output" 2>&1 </dev/null &
	guest_wait
}

# For the process that was started last, a signal to us ends it, too.
guest_wait()
{
	local guest=$! status=0

	# shellcheck disable=SC2064 # now
	trap "kill $guest; wait $guest; exit 130" TERM
	wait "$guest" || status=$?
	trap - TERM
	return "$status"
}

# run_one NAME WAY LEVEL EXPECT DIRECTORY: in a process and a directory of its own.
run_one()
{
	local name=$1 way=$2 level=$3 expect=$4 directory=$5 status=0 release began=$SECONDS

	for log in output klog qemu.log; do
		: >"$job/$log"
	done
	if [ "$way" = host ]; then
		release="$(uname -r) (host)" ACCEL=-
	else
		release=$(kernel_release "$directory")
	fi
	"run_$way" "$expect" "$directory" || status=$?
	cp "$job/output" "$KEEP/$name-$way.log"
	cp "$job/klog" "$KEEP/$name-$way.kernel.log"
	printf '\n== %s (%s): %s\n' "$name" "$way" "$release"
	show_output "$status"
	record "$name" "$way" "$level" "$status" "$release" "$ACCEL" $((SECONDS - began))
}

start() # INDEX
{
	local name way level expect directory

	read -r name way level expect directory <<<"${plan[$1]}"
	job=$work/$1
	mkdir "$job"
	echo "start $name ($way)"
	run_one "$name" "$way" "$level" "$expect" "$directory" >"$job/shown" &
	running[$!]=$1
}

# Wait until one has ended; show it and add it up.
reap()
{
	local pid

	wait -n -p pid "${!running[@]}"
	cat "$work/${running[$pid]}/shown"
	add_up "$work/${running[$pid]}"
	unset "running[$pid]"
}

room_for() # WAY: without it none may run
{
	local most=$JOBS

	[ "$1" != host ] || most=1
	while [ "${#running[@]}" -ge "$most" ]; do
		reap
	done
}

run_all()
{
	local index name way _

	for index in "${!plan[@]}"; do
		read -r name way _ <<<"${plan[$index]}"
		room_for "$way"
		start "$index"
		[ "$way" != host ] || reap
	done
	room_for host
}

stop()
{
	trap - INT TERM
	[ "${#running[@]}" = 0 ] || kill "${!running[@]}"
	wait
	exit 130
}

case ${VM-} in '' | qemu | vng) ;; *)
	echo "vmtest: no such way: '$VM' (qemu, vng)" >&2
	exit 2
	;;
esac
if [ -z "$(chosen)" ]; then
	echo "vmtest: no such kernel in $LIST: '${KERNEL-}'" >&2
	exit 2
fi
mkdir -p "$CACHE" "$KEEP" || exit 2
work=$(mktemp -d "$KEEP/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap stop INT TERM
# shellcheck disable=SC2034 # for qemu.sh
GUEST_FILES=$(guest_files)
prepare_all
prepared=$SECONDS
run_all
times >"$work/times"
table
echo "# $((SECONDS - prepared)) s for the guests, $JOBS at a time, after $prepared s" \
	"for packages; $(cpu_seconds "$work/times") s of processor time in all"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
