# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# system.sh - a Debian system with a systemd of its own in the server's namespace of the lab;
# sourced after net.sh. $root is its root directory.
#
# systemd is process 1 of new mount, process, control group, UTS and IPC namespaces. The kernel is
# the machine's, so this needs no emulator, and all capabilities. The BPF file system is that of the
# lab: the lab's program reads the counters of the system's shield.
#
# shellcheck disable=SC2154 # root, work

# The work of a container's manager: mounts and devices, then systemd. $1 is the root.
# shellcheck disable=SC2016 # for the shell in there
SYSTEM_INIT='
	set -e
	mount --bind "$1" "$1"
	cd "$1"
	mount -t proc proc proc
	mount -t sysfs sysfs sys
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount --bind /sys/fs/bpf sys/fs/bpf
	mount -t tmpfs -o mode=755 dev dev
	mkdir dev/pts dev/shm
	mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	for node in null:3 zero:5 full:7 random:8 urandom:9; do
		mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"
	done
	mknod -m 666 dev/tty c 5 0
	mount -t tmpfs -o mode=755 run run
	mkdir -p old
	pivot_root . old
	umount -l old
	exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
		--show-status=false --log-target=journal'

system_unpack() # TAR
{
	root=$work/root
	mkdir "$root"
	tar -C "$root" -xf "$1"
	echo quakeshield-test >"$root/etc/hostname"
	rm -f "$root/etc/machine-id"
	# These need a machine of their own.
	for unit in systemd-udevd.service systemd-networkd.service systemd-resolved.service \
		systemd-timesyncd.service getty.target console-getty.service apt-daily.timer \
		apt-daily-upgrade.timer; do
		ln -sf /dev/null "$root/etc/systemd/system/$unit"
	done
}

# Control groups of version 2, for this system alone.
system_cgroup()
{
	mkdir "$work/cgroup" && mount -t cgroup2 cgroup2 "$work/cgroup" || return
	system_group=$work/cgroup/${work##*/}
	mkdir "$system_group"
}

# system_boot: with an empty BPF file system, as after a reboot.
system_boot()
{
	umount -l /sys/fs/bpf
	mount -t bpf -o mode=700 bpf /sys/fs/bpf
	bash -c "echo \$\$ >'$system_group/cgroup.procs' && exec nsenter --net=/run/netns/server \
		unshare --mount --pid --fork --kill-child --cgroup --uts --ipc \
		bash -c \"\$0\" - '$root'" "$SYSTEM_INIT" >"$work/console.log" 2>&1 </dev/null &
	system_parent=$!
	disown # so that bash does not report how it ends
	net_until 20 system_found && net_until 60 system_is_up
}

# The process that is systemd, as this namespace numbers it.
system_found()
{
	system_pid=$(pgrep -P "$system_parent")
	[ "$(cat "/proc/$system_pid/comm")" = systemd ]
}

system_is_up()
{
	system_run systemctl is-system-running | grep -qE 'running|degraded'
}

# system_run COMMAND...: in it, as its root.
system_run()
{
	nsenter --target "$system_pid" --mount --pid --net --cgroup --uts --ipc \
		env -i --chdir=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# system_end COMMAND...: wait until systemd has ended, by that command.
system_end()
{
	system_run "$@" >/dev/null 2>&1
	net_until 30 system_ended
}

system_ended()
{
	! kill -0 "$system_parent" 2>/dev/null
}

# Whatever state it is in; nothing of it is left.
system_kill()
{
	kill -KILL "$system_parent" 2>/dev/null && net_until 10 system_ended
	net_until 5 find "$system_group" -depth -type d -exec rmdir {} +
	umount "$work/cgroup"
}
