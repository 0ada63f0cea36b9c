#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# deb_system.sh - the Debian package on a Debian 12 with systemd and without a compiler, from
# installation to purge. A flood runs during the upgrade; afterwards every packet that the
# interface's driver saw is in the shield's counters.
#
# lane: alone, 60 s: it counts packets.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/deb/system.sh
. tests/deb/system.sh

DEBS=${DEBS:-$BUILD/deb}

config()
{
	echo 'interface = {"srv0"}'
	echo 'on-attack = "/usr/local/bin/told"'
	printf 'service "lab" {\n\tprotocol = quake3\n\tport = %s\n}\n' "$NET_PORT"
}

# The package as it will be some day: the same files, a higher version.
next_version()
{
	rm -rf "$work/next"
	dpkg-deb -R "$deb" "$work/next" &&
		sed -i "s/^Version: .*/Version: $1/" "$work/next/DEBIAN/control" &&
		dpkg-deb -Znone -b "$work/next" "$root/root/next_$1.deb"
}

apt_do() # ARGUMENTS
{
	local began=$EPOCHREALTIME

	system_run apt-get -qy -o Dpkg::Use-Pty=0 "$@" >"$work/apt.log" 2>&1 || {
		tail -n 20 "$work/apt.log" >&2
		return 1
	}
	echo "# apt-get $1: $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) ms" >&2
}

# Names of files that the package, or what it did, could have left; not what apt and the
# journal say of it.
traces()
{
	system_run find / -xdev -name '*quakeshield*' ! -path '/var/log/journal/*' \
		! -path '/var/log/apt/*' ! -path '/root/*'
	system_run find /run /sys/fs/bpf -name '*quakeshield*'
}

no_traces()
{
	traces >"$work/left"
	cat "$work/left" >&2
	[ ! -s "$work/left" ]
}

program_on_srv0()
{
	net_in server ip -json link show srv0 | jq -r '.[0].xdp.prog.id // 0'
}

daemon_pid()
{
	system_run systemctl show -P MainPID quakeshield
}

protected()
{
	system_run quakeshield status
}

# journal FIELDS...: fields of what the daemon has logged.
journal_has()
{
	system_run journalctl -o json -t quakeshield "$@" --no-pager
}

test_no_compiler()
{
	! system_run sh -c 'command -v cc gcc clang bpftool make'
}

# Where no systemd runs, as in a container's image.
test_chroot()
{
	chroot "$root" sh -c 'apt-get install -qy /root/first.deb /root/depends/*.deb &&
		quakeshield --version && apt-get purge -qy quakeshield' >"$work/chroot.log" 2>&1 ||
		{ tail -n 20 "$work/chroot.log" >&2; return 1; }
	! find "$root" -xdev -name '*quakeshield*' ! -path '*/var/log/*' ! -path '*/root/*' | grep .
}

test_install()
{
	net_check "install, without a network" apt_do install /root/first.deb
	net_check "--version" [ "$(system_run quakeshield --version)" = "quakeshield $version" ]
	net_check "the unit is not enabled" [ "$(system_run systemctl is-enabled quakeshield)" = disabled ]
	net_check "the unit is not started" [ "$(system_run systemctl is-active quakeshield)" = inactive ]
	cp -r debian/tests "$root/root"
	net_check "debian/tests/command" system_run /root/tests/command
	net_check "debian/tests/protect" system_run /root/tests/protect
}

test_protect()
{
	config >"$root/etc/quakeshield.conf"
	net_check "check" system_run quakeshield check
	net_check "enable and start" system_run systemctl enable --now quakeshield
	net_check "protected" protected
	net_check "the journal has the priority" \
		[ "$(system_run journalctl -u quakeshield -o json | jq -r 'select(.MESSAGE == "ready") | .PRIORITY')" = 6 ]
	net_check "the journal has no warning" \
		[ -z "$(system_run journalctl -u quakeshield -p warning -q)" ]
}

flood_lasted()
{
	[ "$delivered" -gt 50000 ] && [ "$arrived" -ge "$delivered" ]
}

# A flood that lasts longer than the upgrade.
test_upgrade()
{
	local before delivered

	before=$(daemon_pid)
	stats_settle net_arrived || net_check "the link is quiet" false
	arrived_before=$arrived judged_before=$judged
	net_flood_start "$work/flood.json" --payload getstatus --victim "$NET_VICTIM" --seconds 60 \
		--rate 20000
	sleep 2
	net_check "upgrade under flood" apt_do install "/root/next_$1.deb"
	net_check "the daemon is another one" [ "$(daemon_pid)" != "$before" ]
	net_check "and protects" protected
	sleep 1
	net_check "the flood goes on" kill -TERM "$flood"
	wait "$flood"
	net_check "the link is quiet again" stats_settle net_arrived
	arrived=$((arrived - arrived_before)) judged=$((judged - judged_before))
	delivered=$(jq .delivered "$work/flood.json")
	echo "# arrived $arrived, judged $judged, by the generator $delivered" >&2
	net_check "no packet was unjudged" [ "$arrived" = "$judged" ]
	net_check "the flood lasted" flood_lasted
}

# systemd has run the command of on-attack.
told()
{
	system_run journalctl -q --no-pager | grep -q 'told: 0\.0\.0\.0 incoming [0-9]* ban'
}

told_soon()
{
	net_until 20 told && return
	system_run journalctl -q --no-pager -n 30 >&2
	return 1
}

# A daemon with a wrong configuration goes on over an upgrade.
test_refused()
{
	local before

	before=$(daemon_pid)
	echo 'no-such-key = 1' >>"$root/etc/quakeshield.conf"
	net_check "upgrade over a wrong configuration" \
		apt_do install "/root/next_$1.deb"
	net_check "is said" grep -q 'does not accept' "$work/apt.log"
	net_check "the old daemon goes on" [ "$(daemon_pid)" = "$before" ]
	config >"$root/etc/quakeshield.conf"
}

test_remove()
{
	net_check "remove" apt_do remove quakeshield
	net_check "remove takes the shield down" [ "$(program_on_srv0)" = 0 ]
	net_check "remove leaves no pins" [ -z "$(find /sys/fs/bpf -mindepth 1 ! -name '*.debug')" ]
	net_check "remove says what is kept" grep -q 'kept: /var/lib/quakeshield' "$work/apt.log"
	net_check "remove keeps the configuration" [ -s "$root/etc/quakeshield.conf" ]
	net_check "remove keeps the state" [ -s "$root/var/lib/quakeshield/attacks.jsonl" ]
}

net_test_begin "$@"
[ -s "$DEBS/root.tar" ] ||
	net_skip deb_system "$(cat "$DEBS/root.why" 2>/dev/null || echo "no $DEBS/root.tar: make debtest")"
deb=$(find "$DEBS" -maxdepth 1 -name 'quakeshield_*.deb')
version=$(dpkg-deb -f "$deb" Version)
system_unpack "$DEBS/root.tar"
system_cgroup || net_skip deb_system "the kernel permits no control groups here"
trap 'system_kill; rm -rf --one-file-system "$work"' EXIT
cp "$deb" "$root/root/first.deb"
next_version "$version.1" >/dev/null && next_version "$version.2" >/dev/null || exit 1
# shellcheck disable=SC2016 # for the shell in there
printf '#!/bin/sh\necho "told: $*"\n' >"$root/usr/local/bin/told"
chmod +x "$root/usr/local/bin/told"
server_start

net_check "install and purge without systemd" test_chroot
net_check "systemd is up" system_boot || exit 1
net_check "no compiler" test_no_compiler
test_install
test_protect
test_upgrade "$version.1"
net_check "on-attack: systemd ran the command" told_soon
test_refused "$version.2"
net_check "reboot" system_end systemctl reboot
net_check "after it systemd is up" system_boot
net_check "the shield as well" net_until 10 protected
test_remove
net_check "purge" apt_do purge quakeshield
net_check "purge says what is removed" grep -q 'removed: /var/lib/quakeshield' "$work/apt.log"
net_check "purge leaves nothing" no_traces
system_end systemctl poweroff
exit "$net_failed"
