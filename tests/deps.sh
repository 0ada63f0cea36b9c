#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# deps.sh GROUP... - install what a group of targets needs and this machine lacks.
#
# Does nothing, and asks no server, when everything is there. Only a missing build or
# run package is an error; of the others the tests say by name what they skip.
# SKIP_DEPS=1 never calls apt.
set -eu

packages()
{
	case $1 in
	build)	echo "clang llvm gcc libc6-dev make pkg-config bpftool libbpf-dev libelf-dev zlib1g-dev libminizip-dev
			libpcap-dev libconfuse-dev libmicrohttpd-dev libncurses-dev libssl-dev
			libjansson-dev libsystemd-dev libcap-ng-dev libseccomp-dev" ;;
	run)	echo "iproute2 nftables ethtool util-linux procps jq" ;;
	test)	echo "libcmocka-dev libclang-rt-14-dev qstat openarena-server openarena xvfb
			libgl1-mesa-dri nexuiz-server nexuiz mvdsv ktx ezquake tshark tcpdump mandoc
			iptables curl prometheus prometheus-alertmanager chromium tmux socat openssl xxd zsh fish python3" ;;
	openarena) echo "openarena-server" ;;
	lint)	echo "clang-format clang-tidy cppcheck shellcheck python3" ;;
	bench)	echo "xdp-tools nftables iptables" ;;
	vm)	echo "qemu-system-x86 busybox-static kmod cpio xz-utils zstd udev file
			bsdextrautils debian-archive-keyring
			python3 python3-requests python3-argcomplete python3-pkg-resources" ;;
	deb)	echo "build-essential debhelper lintian" ;;
	debtest) echo "mmdebstrap debian-archive-keyring zstd" ;;
	*)	echo "deps.sh: no such group: '$1' (build run test openarena lint bench vm deb debtest)" >&2
		exit 1 ;;
	esac
}

missing()
{
	for package in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			echo "$package"
	done
}

# All at once; if one of them cannot be had, one by one, so that it stops no other.
install_all()
{
	apt-get install -y --no-install-recommends -q "$@" && return
	for package in "$@"; do
		apt-get install -y --no-install-recommends -q "$package" ||
			echo "deps.sh: could not install $package" >&2
	done
}

[ "${SKIP_DEPS:-0}" != 1 ] || exit 0
command -v dpkg-query >/dev/null || {
	echo "deps.sh: no dpkg here: install by hand what README.md lists" >&2
	exit 0
}
needed=
for group in "$@"; do
	names=$(packages "$group")
	needed="$needed $names"
done
# shellcheck disable=SC2086 # lists of words
lacking=$(missing $needed)
[ -n "$lacking" ] || exit 0
# shellcheck disable=SC2086
echo "deps.sh: installing" $lacking
export DEBIAN_FRONTEND=noninteractive
[ "$(id -u)" = 0 ] || {
	echo "deps.sh: this needs root once: sudo tests/deps.sh $*" >&2
	exit 1
}
apt-get update -q || echo "deps.sh: apt-get update failed, trying with what is known" >&2
# shellcheck disable=SC2086
install_all $lacking

# shellcheck disable=SC2046
lacking=$(missing $(packages build) $(packages run))
for group in "$@"; do
	case $group in
	build | run)
		[ -z "$lacking" ] || {
			# shellcheck disable=SC2086
			echo "deps.sh: still missing, needed to build or run:" $lacking >&2
			exit 1
		} ;;
	esac
done
