# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vng.sh - the other way: virtme-ng boots a distribution's kernel over this machine's own
# root, so that tests meet the libraries and tools that users have.
#
# shellcheck disable=SC2154 # job and so on are run.sh's
# Sourced by run.sh. Found, or unpacked from Debian (bookworm has none; trixie's runs
# with bookworm's Python). The guest sees our files through 9p, read-only but for $job;
# its status comes back in a file there, because a guest that dies says nothing.

VNG_SUITE=trixie

# vng_find: set VNG to a command, or fail.
vng_find()
{
	local directory=$CACHE/virtme-ng

	if command -v vng >/dev/null; then
		VNG=(vng)
		return
	fi
	if [ ! -d "$directory" ]; then
		lists_update "$VNG_SUITE" && unpack "$VNG_SUITE" "$directory" virtme-ng || return
		mv "$directory.part" "$directory"
	fi
	VNG=(env "PYTHONPATH=$directory/usr/lib/python3/dist-packages"
		"PATH=$directory/usr/bin:$PATH" /usr/bin/python3 "$directory/usr/bin/vng")
}

# What vng lacks here, in words; empty: nothing.
vng_lacks()
{
	local module

	[[ $BUILD != /tmp/* ]] || {
		echo "build is below /tmp, which the guest has of its own"
		return
	}
	/usr/bin/python3 -c 'import argcomplete, requests, pkg_resources' 2>/dev/null || {
		echo "no python3-requests, -argcomplete or -pkg-resources"
		return
	}
	# Without udev the guest finds no virtio port.
	[ -x /usr/bin/udevadm ] || [ -x /bin/udevadm ] || {
		echo "no udev"
		return
	}
	module=$(find "$1/lib/modules/" -name '9pnet_virtio.ko*' -print -quit)
	[ -n "$module" ] || echo "this flavour has no 9p: use the full one"
}

# The same outcome as run_qemu's.
run_vng() # EXPECT KERNEL-DIRECTORY
{
	local options=(--force-9p --user root --cpus "$(guest_cpus "$1")" --memory 1G) status=0

	[ "$ACCEL" = kvm ] || options+=(--disable-kvm)
	cat >"$job/guest" <<-GUEST
	ulimit -l unlimited
	for module in $GUEST_MODULES; do modprobe -q -d $2 \$module; done
	cd $PWD
	GUEST=1 BUILD=$BUILD vmtests/guest.sh $1 >$job/output 2>&1
	echo \$? >$job/status.part
	sync
	mv $job/status.part $job/status
	GUEST
	# A pipe: into one regular file its two streams overwrite each other. And from the
	# root, because that is where it looks for the directory of --rwdir.
	(cd / && exec timeout --kill-after=5 "$LIMIT_S" "${VNG[@]}" \
		--run "$(kernel_image "$2")" "${options[@]}" --rwdir "$job" \
		--qemu-opts="$(virtio_pair)" -- bash "$job/guest") \
		</dev/null > >(cat >"$job/klog") 2>&1 &
	guest_wait || status=$?
	[ "$status" != 124 ] || return 124
	status=$(cat "$job/status" 2>/dev/null)
	return "${status:-125}"
}
