#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_sandbox.sh - somebody has taken the daemon over, and is root without most of what
# root may: in the sandbox of the unit that is shipped. There is no systemd here that would
# start it, so the lines of the unit are read: systemd-analyze says what they are worth, and
# what they say of files and capabilities is done by hand. The daemon has to protect in
# there, and whoever is in its place to get nowhere.
set -u

SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

RUN=/run/quakeshield
UNIT=docs/quakeshield.service

# What the unit says of KEY, all lines of it.
unit()
{
	sed -n "s/^$1=//p" $UNIT | paste -sd' '
}

# Tenths of what systemd-analyze thinks of the unit FILE: 0 is shut, 100 open.
exposure()
{
	systemd-analyze security --offline=yes --no-pager "$work/units/$1" 2>/dev/null |
		sed -n 's/.*Overall exposure level.*: \([0-9]*\)\.\([0-9]\) .*/\1\2/p'
}

units()
{
	local file

	mkdir "$work/units"
	for file in docs/quakeshield*.service docs/quakeshield*.path; do
		sed "s|@SBINDIR@|$BUILD|; s|@SYSCONFDIR@|/etc|" "$file" >"$work/units/${file##*/}"
	done
	systemd-analyze verify --man=no "$work/units/"* >"$work/verify" 2>&1
	sed 's/^/# /' "$work/verify"
	keeps "lines of the units that systemd complains of" "$(wc -l <"$work/verify")" -le 0
	keeps "tenths of exposure of the daemon's unit" "$(exposure quakeshield.service)" -le 42
	keeps "of the one that tells of attacks" "$(exposure quakeshield-attack.service)" -le 34
}

# PATH:yes or :no, of what the unit says of writing. /dev, /proc and /sys are no part of
# ProtectSystem=strict; the runtime and the state directory are made for it.
rules()
{
	echo /:no /dev:yes /proc:yes /sys:yes "$RUN:yes" "$STATE_DIRECTORY:yes"
	unit ReadOnlyPaths | sed 's/[^ ]*/&:no/g; s/-\//\//g'
	unit ReadWritePaths | sed 's/[^ ]*/&:yes/g; s/-\//\//g'
}

# may_write PATH: the rule of the longest path that holds it.
may_write()
{
	local rule path longest=0 verdict=no

	for rule in $(rules); do
		path=${rule%:*}
		[[ $1/ == "${path%/}"/* ]] || continue
		[ ${#path} -ge "$longest" ] || continue
		longest=${#path}
		verdict=${rule##*:}
	done
	[ "$verdict" = yes ]
}

# What has to be mounted on itself, and what read-only then, one a line.
mounts()
{
	local rule path

	for rule in $(rules); do
		path=${rule%:*}
		[ "$path" = / ] || [ ! -e "$path" ] || echo "$path"
	done | sort -u >"$work/bind"
	awk '{ print $5 }' /proc/self/mountinfo | sort -u - "$work/bind" | while read -r path; do
		may_write "$path" || echo "$path"
	done >"$work/shut"
}

capabilities()
{
	unit CapabilityBoundingSet | sed 's/CAP_/+/g; s/ /,/g' | tr '[:upper:]' '[:lower:]'
}

# Runs in the server's network, inside: what becomes the command is the process itself.
enter()
{
	cat >"$work/enter" <<-'ENTER'
	#!/bin/bash
	while read -r path; do mount --rbind "$path" "$path"; done <"$WORK/bind"
	# Below what is mounted on itself now, some are no more to be seen.
	while read -r path; do mount -o remount,bind,ro "$path" 2>/dev/null; done <"$WORK/shut"
	exec setpriv --bounding-set="-all,$CAPABILITIES" --inh-caps=-all --no-new-privs "$@"
	ENTER
	chmod 755 "$work/enter"
	mounts
	INSIDE="env WORK=$work CAPABILITIES=$(capabilities) nsenter --net=/run/netns/server
		unshare --mount --propagation private $work/enter"
}

# Of the commands on the input, one a line, how many WITH (a command before them) gets done.
done_with()
{
	local line count=0

	while read -r line; do
		# shellcheck disable=SC2086
		$1 timeout 5 sh -c "$line" </dev/null >/dev/null 2>&1 || continue
		[ -z "${2-}" ] || echo "# done: $line" >&2
		count=$((count + 1))
	done
	echo "$count"
}

# What makes more of root without privileges: programs that the kernel or others start, and
# the kernel's own knobs. Opened to be written, and left as they are.
ways()
{
	local path

	for path in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe \
		/proc/sys/kernel/sysrq /proc/sys/vm/drop_caches /proc/sysrq-trigger \
		/sys/kernel/uevent_helper /sys/kernel/mm/ksm/run /sys/power/state \
		"/proc/$unarmed/mem" "/proc/$unarmed/oom_score_adj" \
		/etc/passwd /etc/crontab /etc/profile "$BUILD/quakeshield" "$work/shield.conf"; do
		[ ! -w "$path" ] || echo ": >>$path"
	done
	for path in /etc /etc/systemd/system /usr/bin /usr/local/sbin /lib /boot /root /var/lib \
		/var/spool /run /run/netns /tmp "$work" /sys/fs/cgroup; do
		[ ! -d "$path" ] || echo "mkdir $path/taken-over && rmdir $path/taken-over"
	done
	cat <<-WAYS
	mount -t tmpfs taken-over $work/units && umount $work/units
	mount -o remount,bind,rw /
	unshare --net true
	unshare --mount true
	nsenter --target 1 --mount true
	chroot / true
	setpriv --reuid 65534 true
	setpriv --securebits=+noroot true
	touch $RUN/taken-over && chown 65534 $RUN/taken-over
	mknod $RUN/taken-over-kmem c 1 2
	WAYS
}

protects()
{
	keeps "the daemon protects in there" \
		"$(net_in server "$SHIELD" status --json | jq 'if .protected then 1 else 0 end')" -ge 1
	# shellcheck disable=SC2086
	$INSIDE "$SHIELD" reload >"$work/reloaded"
	keeps "and reloads" "$(grep -c 'reloaded by the daemon' "$work/reloaded")" -ge 1
	net_flood --payload getstatus --from "$NET_FLOOD" --sources 1000 --rate 2000 --seconds 2 \
		>/dev/null
	keeps "and holds back what floods" "$(stats_sum 'select(.verdict != "pass")')" -ge 1000
	keeps "its state is written" "$(find "$RUN" "$STATE_DIRECTORY" -type f | wc -l)" -ge 1
}

attack_needs systemd-analyze setpriv unshare
net_test_begin "$@"
mkdir -m 755 "$STATE_DIRECTORY" $RUN
units
shield_config >"$work/shield.conf"
enter
server_start
# shellcheck disable=SC2086
$INSIDE "$SHIELD" run -c "$work/shield.conf" -i srv0 >"$work/shield.log" 2>&1 &
shield_pid=$!
net_until 20 shield_decided
protects
# Root as quakeshield-attack.service is: whoever may write into it is root outside.
setpriv --bounding-set -all --inh-caps -all sleep 600 &
unarmed=$!
ways >"$work/ways"
keeps "ways out that root has, of $(wc -l <"$work/ways")" \
	"$(done_with 'env --' <"$work/ways")" -ge $(($(wc -l <"$work/ways") * 3 / 4))
rm -f $RUN/taken-over*
keeps "of them for who is in the daemon's place" "$(done_with "$INSIDE" told <"$work/ways")" -le 0
kill "$unarmed"
shield_stop TERM
exit "$net_failed"
