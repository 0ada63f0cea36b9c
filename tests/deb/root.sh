#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# root.sh DIRECTORY - make what the tests of the package need: the package, and a minimal Debian 12
# with systemd and no compiler, as DIRECTORY/root.tar. The packages that the package depends on, by
# what apt says, are in its /root/depends: they are installed without a network.
#
# Needs root, and the network if there is no such tar of the last 30 days for these packages. If
# something cannot be had, DIRECTORY/root.why says what, and the tests are skipped.
set -u

cd "$(dirname "$0")/../.." || exit 1
mkdir -p "$1" || exit 1
to=$(realpath "$1")
mirror=http://deb.debian.org/debian
packages=systemd-sysv,dbus,iproute2

why()
{
	echo "root.sh: $*" >&2
	echo "$*" >"$to/root.why"
	exit 0
}

rm -f "$to/root.why"
[ "$(id -u)" = 0 ] || why "needs root"
command -v dh >/dev/null || why "no debhelper"
debian/build.sh "$to" || exit 1
deb=$(find "$to" -maxdepth 1 -name 'quakeshield_*.deb')
depends="$(dpkg-deb -f "$deb" Depends), $packages"
[ -z "$(find "$to" -maxdepth 1 -name root.tar -mtime -30)" ] ||
	[ "$(cat "$to/root.depends" 2>/dev/null)" != "$depends" ] || exit 0
# Without the packages that the package depends on now, its installation would fail.
[ "$(cat "$to/root.depends" 2>/dev/null)" = "$depends" ] || rm -f "$to/root.tar"
command -v mmdebstrap >/dev/null || why "no mmdebstrap"
# shellcheck disable=SC2016 # the dollars are the shell's that mmdebstrap starts
timeout 420 mmdebstrap --format=tar --variant=minbase --include=$packages \
	--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/locale/*' \
	--aptopt='APT::Sandbox::User "root"' \
	--customize-hook="copy-in $deb /root" \
	--customize-hook='chroot "$1" sh -c "apt-get clean && apt-get install -qy --no-install-recommends --download-only /root/*.deb &&
		rm /root/*.deb && mkdir /root/depends && mv /var/cache/apt/archives/*.deb /root/depends"' \
	bookworm "$to/root.tar.part" "$mirror" >"$to/root.log" 2>&1 || {
	tail -n 5 "$to/root.log" >&2
	why "mmdebstrap could not make a Debian 12"
}
mv "$to/root.tar.part" "$to/root.tar"
echo "$depends" >"$to/root.depends"
