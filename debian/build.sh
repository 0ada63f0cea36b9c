#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build.sh DIRECTORY - build the Debian package from this tree, as DIRECTORY/*.deb.
#
# Needs no root and no network. The version is that of include/version, and the package's
# changelog is made from docs/CHANGELOG.md. Nothing is built if no file has changed since. The
# package is then checked by lintian, if that is installed: an error or a warning fails.
set -eu

FILES='Makefile LICENSE README.md bpf debian docs include user'

# Debian's changelog, from the sections `## VERSION - DATE` with their `- ` items: no line is longer
# than 80 characters.
changelog()
{
	maintainer=$(sed -n 's/^Maintainer: //p' debian/control)
	awk -v maintainer="$maintainer" '
		function item_end(    n, i, word, line) {
			n = split(item, word, " ")
			line = "  *"
			for (i = 1; i <= n; i++) {
				if (length(line " " word[i]) > 80) {
					print line
					line = "   "
				}
				line = line " " word[i]
			}
			if (n)
				print line
			item = ""
		}
		function section_end() {
			item_end()
			if (date == "")
				return
			("LC_ALL=C date -u -R -d " date) | getline stamp
			printf "\n -- %s  %s\n\n", maintainer, stamp
			date = ""
		}
		/^## [0-9][0-9.]* - [0-9-]+$/ {
			section_end()
			date = $4
			printf "quakeshield (%s) stable; urgency=medium\n\n", $2
			next
		}
		date == "" { next }
		/^- / { item_end() }
		{ sub(/^- /, ""); item = item " " $0 }
		END { section_end() }' docs/CHANGELOG.md
}

lint()
{
	command -v lintian >/dev/null || {
		echo "build.sh: no lintian here: the package is not checked" >&2
		return
	}
	lintian --fail-on error,warning "$1"
}

cd "$(dirname "$0")/.."
mkdir -p "$1"
to=$(realpath "$1")
version=$(cat include/version)
command -v dh >/dev/null || {
	echo "build.sh: no debhelper: apt install debhelper" >&2
	exit 1
}
deb=$(find "$to" -maxdepth 1 -name "quakeshield_${version}_*.deb")
# shellcheck disable=SC2086 # words
[ -z "$deb" ] || [ -n "$(find $FILES -newer "$deb" -print -quit)" ] || {
	echo "$deb"
	exit 0
}
rm -f "$to"/*.deb "$to"/*.changes "$to"/*.buildinfo

# Objects of an earlier build of this version are used.
tree=$to/quakeshield-$version
mkdir -p "$tree"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
# shellcheck disable=SC2086
cp -a $FILES "$tree"
changelog >"$tree/debian/changelog"
[ "$(cd "$tree" && dpkg-parsechangelog -S Version)" = "$version" ] || {
	echo "build.sh: the first section of docs/CHANGELOG.md is not of version $version, as" \
		"include/version says" >&2
	exit 1
}
# Not what the caller's make says: flags come from dpkg-buildflags.
(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS -u CPPFLAGS -u LDFLAGS -u BPF_CFLAGS \
	DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS-}" \
	dpkg-buildpackage -us -uc -b -nc >"$to/build.log" 2>&1) || {
	tail -n 30 "$to/build.log" >&2
	exit 1
}
deb=$(find "$to" -maxdepth 1 -name "quakeshield_${version}_*.deb")
lint "$deb"
echo "$deb"
