#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# world.sh [--left FILE] COMMAND... - run COMMAND in mount, network and process namespaces
# of its own: /run, /sys/fs/bpf (mode 700) and /var/lib/quakeshield are empty, and the only
# link is lo. COMMAND neither sees what the machine has there, nor leaves anything there.
#
# When COMMAND ends, the kernel ends its processes and takes everything else away; the same
# happens if the process that called this script dies. --left FILE: what COMMAND has left is
# written to FILE first, one thing a line: pins, namespaces, files, links, programs and
# processes. The file stays empty if nothing is left.
#
# Exits with the status of COMMAND, or with 1 if the kernel permits no such namespaces.
# COMMAND finds TEST_WORLD=1 in its environment.
set -u

PLACES='/sys/fs/bpf /run /var/lib/quakeshield'

# Mount what is private. /var/lib/quakeshield is covered if the machine has one. If it has
# none, a test that creates one has left it.
furnish()
{
	mount -t tmpfs -o mode=755 run /run && mkdir /run/netns /run/lock &&
		mount -t sysfs sysfs /sys && mount -t bpf bpf /sys/fs/bpf &&
		chmod 700 /sys/fs/bpf || return
	if [ -d /var/lib/quakeshield ]; then
		mount -t tmpfs -o mode=755 state /var/lib/quakeshield || return
	fi
	ip link set lo up
}

# Processes but the first, a line each. No process is started meanwhile: it would be listed.
processes()
{
	local process name

	for process in /proc/[0-9]*; do
		if [ "$process" != "/proc/$$" ] && read -r name <"$process/comm"; then
			echo "process ${process#/proc/} ($name)"
		fi
	done 2>/dev/null
}

# What else there is.
things()
{
	{
		# shellcheck disable=SC2086 # three places
		find $PLACES
		ip -brief link show | awk '{ print "link " $1 }'
		bpftool net show | grep shield_
	} 2>/dev/null | sort
}

# Write to $1 which processes are there, and what is there that is not in $2. A process that
# was killed gets three seconds to end.
left()
{
	local until=$((SECONDS + 3))

	while
		processes >"$1"
		[ -s "$1" ] && [ "$SECONDS" -lt "$until" ]
	do
		sleep 0.1
	done
	things | grep -vxFf "$2" >>"$1"
	rm "$2"
}

# The first process of the namespace.
if [ "${1-}" = --inside ]; then
	file=$2
	shift 2
	furnish || exit 1
	export TEST_WORLD=1
	[ -n "$file" ] || exec "$@"
	things >"$file.before"
	"$@"
	status=$?
	left "$file" "$file.before"
	exit "$status"
fi

file=''
if [ "${1-}" = --left ]; then
	file=$2
	shift 2
fi
# With the parent this process ends, and with this process the first one of the namespace.
exec setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child --mount-proc \
	--propagation private "$0" --inside "$file" "$@"
