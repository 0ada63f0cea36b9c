# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kernel.sh - get Debian's packages without root and without touching this machine's apt.
#
# Sourced by run.sh. Everything lands in $CACHE: lists by suite, unpacked kernels by
# package name. A mirror that is away costs nothing but age: old lists and what was
# fetched before are used.
#
# A suite `ubuntu/NAME` is one of Ubuntu, from the mirror that VM_UBUNTU names.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
UBUNTU_KEYRING_SUITE=trixie # Debian 12 has none
LISTS_AGE_MIN=1440

# apt_in SUITE TOOL ARGUMENTS: apt with a state of its own, until the time for all
# downloads together is over: FETCH_UNTIL, in SECONDS of run.sh.
apt_in()
{
	local state=$CACHE/apt/$1 tool=$2 left=$((FETCH_UNTIL - SECONDS))

	shift 2
	[ "$left" -gt 0 ] || left=1
	timeout "$left" "$tool" -o Dir::Etc::sourcelist="$state/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::State::Lists="$state/lists" \
		-o Dir::Cache="$state/cache" -o Dir::State::status=/dev/null \
		-o APT::Sandbox::User= -o APT::Architecture=amd64 \
		-o APT::Get::List-Cleanup=0 -o Acquire::Check-Valid-Until=false \
		-o Acquire::Retries=2 -o Acquire::http::Timeout=20 "$@"
}

# The mirror that this machine uses already, or Debian's own.
mirror_of() # SUITE
{
	local kind='^[a-z]+$' site=http://deb.debian.org/debian

	case $1 in ubuntu/*) echo "$VM_UBUNTU"; return ;; esac
	if [[ $1 == *-security ]]; then
		kind='-security$' site=http://deb.debian.org/debian-security
	fi
	# shellcheck disable=SC2016 # not ours to expand
	apt-get indextargets --no-release-info --format '$(SITE) $(RELEASE)' \
		'Created-By: Packages' 2>/dev/null |
		awk -v kind="$kind" -v site="$site" '
			!found && $1 ~ /debian/ && $2 ~ kind { site = $1; found = 1 }
			END { print site }'
}

lists_found() # SUITE [FIND-TESTS...]
{
	local lists=$CACHE/apt/$1/lists

	shift
	[ -n "$(find "$lists" -name '*Packages*' "$@" -print -quit 2>/dev/null)" ]
}

# The keyring of SUITE: Ubuntu's is in a package of Debian's.
keyring_of()
{
	local into=$CACHE/ubuntu-keyring

	case $1 in ubuntu/*) ;; *) echo "$KEYRING"; return ;; esac
	if [ ! -d "$into" ]; then
		lists_update "$UBUNTU_KEYRING_SUITE" &&
			unpack "$UBUNTU_KEYRING_SUITE" "$into" ubuntu-keyring &&
			mv "$into.part" "$into" || return
	fi
	echo "$into/usr/share/keyrings/ubuntu-archive-keyring.gpg"
}

# Package lists of SUITE, at most a day old unless the mirror is away.
lists_update()
{
	local suite=$1 state=$CACHE/apt/$1 keyring

	case $suite in ubuntu/*)
		[ -n "${VM_UBUNTU-}" ] || {
			echo "vmtest: VM_UBUNTU names no mirror of Ubuntu's" >&2
			return 1
		}
		;;
	esac
	keyring=$(keyring_of "$suite") || return
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	echo "deb [signed-by=$keyring] $(mirror_of "$suite") ${suite#ubuntu/} main" >"$state/sources.list"
	lists_found "$suite" -mmin "-$LISTS_AGE_MIN" && return
	if apt_in "$suite" apt-get update -qq -o APT::Update::Error-Mode=any >&2; then
		find "$state/lists" -name '*Packages*' -exec touch {} +
		return
	fi
	echo "vmtest: apt-get update failed for $suite" >&2
	lists_found "$suite"
}

# The dependencies of PACKAGE whose names match PATTERN.
depends() # SUITE PACKAGE PATTERN
{
	apt_in "$1" apt-cache depends "$2" 2>/dev/null | sed -nE "s/^ *Depends: ($3)\$/\\1/p"
}

# unpack SUITE DIRECTORY PACKAGE...: download, extract, and mark as complete.
unpack()
{
	local suite=$1 into=$2 deb

	shift 2
	rm -rf "$into" "$into.part"
	mkdir -p "$into.part/debs"
	echo "vmtest: fetching $* from $suite" >&2
	(cd "$into.part/debs" && apt_in "$suite" apt-get download -qq "$@" >&2) || return
	for deb in "$into.part"/debs/*.deb; do
		dpkg-deb -x "$deb" "$into.part" || return
	done
	rm -rf "$into.part/debs"
}

# The newest kernel package of SUITE and FLAVOUR that was fetched before.
kernel_cached()
{
	find "$CACHE/kernels/$1" -maxdepth 1 -name "linux-image-*-$2" 2>/dev/null |
		sort -V | tail -n 1
}

# kernel_get SUITE FLAVOUR: print the directory with the unpacked kernel.
kernel_get()
{
	local suite=$1 flavour=$2 image directory parts=()

	lists_update "$suite" && image=$(depends "$suite" "linux-image-$flavour" \
		'linux-image-[0-9].*' | head -n 1)
	[ -n "$image" ] || { # not a metapackage, or no lists
		directory=$(kernel_cached "$suite" "$flavour")
		[ -z "$directory" ] || { echo "$directory"; return; }
		image=linux-image-$flavour
	}
	directory=$CACHE/kernels/$suite/$image
	if [ ! -d "$directory" ]; then
		# Since 6.19 the image is split into three.
		mapfile -t parts < <(depends "$suite" "$image" 'linux-(binary|modules|base)-[0-9].*')
		unpack "$suite" "$directory" "$image" "${parts[@]}" &&
			kernel_finish "$directory.part" || return
		mv "$directory.part" "$directory"
	fi
	echo "$directory"
}

# Packages bring no modules.dep, and newer ones only usr/lib/modules.
kernel_finish()
{
	[ -d "$1/lib/modules" ] || ln -sfn usr/lib "$1/lib"
	depmod -b "$1" "$(kernel_release "$1")"
}

kernel_release()
{
	basename "$1"/lib/modules/*
}

kernel_image()
{
	local release image

	release=$(kernel_release "$1")
	for image in "$1/boot/vmlinuz-$release" "$1/lib/modules/$release/vmlinuz"; do
		[ ! -e "$image" ] || { echo "$image"; return; }
	done
	return 1
}
