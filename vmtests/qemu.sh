# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# qemu.sh - the plain way: qemu, a Debian kernel, and an initramfs built on the spot.
#
# shellcheck disable=SC2154 # work, job, BUILD and so on are run.sh's
# Sourced by run.sh. The guest has no disk and no network but two virtio devices that
# are wired to each other, so it can neither harm nor need the host. Two serial lines:
# the first is the kernel's log and ends with the exit status, written by init after
# everything else; the second carries the tests' output and nothing else.

GUEST_MODULES='virtio_pci virtio_net veth sch_ingress cls_bpf act_bpf nf_tables nft_counter nft_objref'
DRIVER_MODULES='vmxnet3 e1000e igb bonding bridge 8021q'
GUEST_TOOLS='bash awk ip nft jq ethtool tc sysctl timeout nsenter unshare setpriv taskset find od cmp'

# --- KVM, or not
#
# That /dev/kvm is there proves nothing (nested, PVM, no permission): boot a kernel that
# has no root and see whether it gets as far as to complain. The answer is remembered.

# A plain processor: emulating what `max` has, the C library's AVX2 above all, takes twice
# the time for the same tests.
EMULATED='tcg qemu64'

kvm_boots() # KERNEL-DIRECTORY CPU
{
	local log=$work/kvm.log

	rm -f "$log"
	# A shell of its own, so that this one does not report how qemu ended.
	(timeout 10 qemu-system-x86_64 -accel kvm -cpu "$2" -m 512 -nodefaults \
		-display none -no-reboot -serial "file:$log" -kernel "$(kernel_image "$1")" \
		-append 'console=ttyS0 panic=-1' </dev/null; :) >/dev/null 2>&1
	grep -qa 'Kernel panic' "$log" 2>/dev/null
}

# accel_probe KERNEL-DIRECTORY: set ACCEL to tcg or kvm, CPU to qemu's model.
accel_probe()
{
	local known cpu

	known=$CACHE/processor.$(uname -n).$(uname -r)
	[ -z "${VM_ACCEL-}" ] || known=$work/accel
	[ "${VM_ACCEL-}" != tcg ] || echo "$EMULATED" >"$known"
	[ "${VM_ACCEL-}" != kvm ] || echo 'kvm host' >"$known"
	if [ ! -s "$known" ]; then
		echo "$EMULATED" >"$known"
		for cpu in host host,-arch-capabilities; do
			[ -w /dev/kvm ] || break
			kvm_boots "$1" "$cpu" || continue
			echo "kvm $cpu" >"$known"
			break
		done
	fi
	read -r ACCEL CPU <"$known"
}

# Two virtio devices, each the other's link: real drivers, and nobody else's network.
virtio_pair()
{
	printf '%s ' -netdev hubport,id=a,hubid=0 -netdev hubport,id=b,hubid=0 \
		-device virtio-net-pci,netdev=a,mac=52:54:00:78:00:01 \
		-device virtio-net-pci,netdev=b,mac=52:54:00:78:00:02
}

# wire NUMBER MODEL: a device of that model, and a virtio device as its link, by MAC
# addresses that end with NUMBER:01 and NUMBER:02.
wire()
{
	printf '%s ' -netdev "hubport,id=near$1,hubid=1$1" -netdev "hubport,id=far$1,hubid=1$1" \
		-device "$2,netdev=near$1,romfile=,mac=52:54:00:78:$1:01" \
		-device "virtio-net-pci,netdev=far$1,romfile=,mac=52:54:00:78:$1:02"
}

# The same, of virtio with several queues at both ends, which a hub does not have.
wire_taps() # NUMBER
{
	local end

	for end in 1 2; do
		printf '%s ' -netdev "tap,id=tap$end,ifname=vmtest$end,queues=4,script=no,downscript=no" \
			-device "virtio-net-pci,netdev=tap$end,romfile=,mq=on,vectors=10,mac=52:54:00:78:$1:0$end"
	done
}

# The devices that vm_drivers.sh tests, by its numbers. A model that this emulator lacks
# is left out.
driver_wires()
{
	local model number=1

	[ "${#INSIDE[@]}" = 0 ] || wire_taps 01
	for model in e1000e vmxnet3 igb virtio-net-pci virtio-net-pci; do
		number=$((number + 1))
		! "${QEMU[@]}" -device "$model,help" >/dev/null 2>&1 || wire "0$number" "$model"
	done
}

# --- the emulator

# The suite of Debian's that the emulator for EXPECT is from; empty: the one that is here.
# igb is in 8.0 and newer.
qemu_suite() # EXPECT
{
	local usual=''

	[ "$1" != drivers ] || usual=bookworm-backports
	echo "${VM_QEMU-$usual}"
}

# Unpacked like a kernel. If it cannot be had, the emulator that is here has to do.
qemu_fetch() # EXPECT
{
	local suite into

	suite=$(qemu_suite "$1") into=$CACHE/qemu/$suite
	[ -n "$suite" ] && [ ! -d "$into" ] || return 0
	lists_update "$suite" &&
		unpack "$suite" "$into" qemu-system-x86 qemu-system-common qemu-system-data seabios &&
		mv "$into.part" "$into"
}

# Set QEMU, and INSIDE to what it runs in.
qemu_find() # EXPECT
{
	local of

	of=$CACHE/qemu/$(qemu_suite "$1")/usr
	QEMU=(qemu-system-x86_64) INSIDE=()
	! "$of/bin/qemu-system-x86_64" --version >/dev/null 2>&1 ||
		QEMU=("$of/bin/qemu-system-x86_64" -L "$of/share/qemu" -L "$of/share/seabios")
	[ "$1" = drivers ] || return
	INSIDE=(unshare --user --map-root-user --net vmtests/taps.sh)
	"${INSIDE[@]}" true 2>/dev/null || INSIDE=()
}

# --- the initramfs

# root_add ROOT FILE: the file at the same path, and the libraries that it names.
root_add()
{
	local root=$1 file=$2 library

	mkdir -p "$root${file%/*}"
	cp -L "$file" "$root$file"
	ldd "$file" 2>/dev/null | grep -oE '/[^ ]+' | while read -r library; do
		[ ! -e "$root$library" ] || continue
		mkdir -p "$root${library%/*}"
		cp -L "$library" "$root$library"
	done
}

# The real tools where the lab's scripts are used to them, busybox for the rest. Names
# that are not here are skipped by the tests which want them.
root_tools()
{
	local root=$1 tool path

	mkdir -p "$root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,proc,sys,dev,tmp,run,root}
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
	cp -L "$(command -v busybox)" "$root/bin/busybox"
	for tool in $GUEST_TOOLS; do
		path=$(command -v "$tool") || continue
		root_add "$root" "$path"
	done
	ln -sf bash "$root/bin/sh"
}

# Numbered in the order of loading, and unpacked: old kernels cannot do that themselves.
root_modules() # ROOT KERNEL-DIRECTORY MODULES
{
	local root=$1 module number=10 release

	release=$(kernel_release "$2")
	for module in $3; do
		modprobe -q -C /dev/null -d "$2" -S "$release" --show-depends "$module" 2>/dev/null
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
		number=$((number + 1))
		case $module in
		*.xz)	xz -dc "$module" ;;
		*.zst)	zstd -qdc "$module" ;;
		*)	cat "$module" ;;
		esac >"$root/modules/$number-$(basename "${module%%.ko*}").ko"
	done
}

archive() # DIRECTORY
{
	(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0)
}

# Whatever a guest needs besides its modules is the same for all kernels: $work/root.
root_build()
{
	local root=$work/root.d file

	root_tools "$root"
	# Debugging information would not fit into a guest's memory.
	for file in $GUEST_FILES; do
		root_add "$root" "$file"
		case $file in */tests/kern/* | */lab/* | */quakeshield) strip -g "$root$file" 2>/dev/null ;; esac
	done
	cp vmtests/init "$root/init"
	archive "$root" >"$work/root"
	rm -rf "$root"
}

# The kernel takes one archive after another.
initrd_build() # KERNEL-DIRECTORY MODULES
{
	mkdir -p "$job/modules.d/modules"
	root_modules "$job/modules.d" "$1" "$2"
	archive "$job/modules.d" | cat "$work/root" - >"$job/initrd"
	rm -rf "$job/modules.d"
}

# --- the run

# Emulated processors of one guest exclude each other more than they help; a card with
# several queues has them all the same.
guest_cpus() # EXPECT
{
	local most=1

	[ "$ACCEL" != kvm ] && [ "$1" != drivers ] || most=2
	echo "${VM_CPUS:-$most}"
}

# run_qemu EXPECT KERNEL-DIRECTORY: output in $job/output, the kernel's log in
# $job/klog; returns the guest's status, 124 after the time limit, 125 if it died.
# Without no_timer_check a guest dies at boot where its host is busy.
run_qemu()
{
	local status=0 code devices=virtio_pair modules=$GUEST_MODULES

	[ "$1" != drivers ] || devices=driver_wires modules+=" $DRIVER_MODULES"
	qemu_find "$1"
	initrd_build "$2" "$modules" || return 125
	# shellcheck disable=SC2046 # a list of words
	timeout --kill-after=5 "$LIMIT_S" "${INSIDE[@]}" "${QEMU[@]}" -accel "$(accel_option)" \
		-cpu "$CPU" -smp "$(guest_cpus "$1")" -m 1024 -nodefaults -display none -no-reboot \
		-kernel "$(kernel_image "$2")" -initrd "$job/initrd" \
		-append "console=ttyS0 quiet panic=-1 oops=panic net.ifnames=0 mitigations=off no_timer_check ${ONLY:+ONLY=$ONLY} -- $PWD $BUILD $1" \
		-serial "file:$job/klog" -serial "file:$job/output" $("$devices") \
		</dev/null 2>"$job/qemu.log" &
	guest_wait || status=$?
	rm "$job/initrd"
	code=$(sed -n 's/\r//; s/^.*VMTEST-EXIT \([0-9]*\)$/\1/p' "$job/klog" | tail -n 1)
	[ "$status" != 124 ] || return 124
	return "${code:-125}"
}

accel_option()
{
	[ "$ACCEL" = kvm ] && echo kvm || echo tcg,thread=multi
}
