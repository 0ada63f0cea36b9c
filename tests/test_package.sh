#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_package.sh - the package's files agree with the rest of the tree: one version, one list of
# build dependencies, every unit and every directory that the maintainer scripts name. Nothing is built.
#
# lane: beside, 2 s: it reads files.
set -u

cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdict.sh
. tests/verdict.sh

# The newest section of the changes is of the version.
other_version()
{
	local newest version

	newest=$(sed -n 's/^## \([0-9][0-9.]*\) - [0-9-]*$/\1/p' docs/CHANGELOG.md | head -n 1)
	version=$(cat include/version)
	[ "$newest" = "$version" ] || echo "docs/CHANGELOG.md: $newest, include/version: $version"
}

# Packages that only one of debian/control and deps.sh has. build-essential has the rest.
other_dependencies()
{
	awk '/^Build-Depends:/ { on = 1; next } /^[^ ]/ { on = 0 } on { sub(/,$/, "", $1); print $1 }' \
		debian/control | grep -v debhelper | sort >"$work/control"
	sed -n '/^	build)/,/;;/p' tests/deps.sh | tr -cs 'a-z0-9+-' '\n' |
		grep -vxE 'build|echo|gcc|libc6-dev|make|' | sort >"$work/deps"
	diff "$work/control" "$work/deps"
}

# Directories of the unit that purge does not remove.
not_purged()
{
	sed -n 's/^RuntimeDirectory=/\/run\//p; s/^StateDirectory=/\/var\/lib\//p
		s/^LogsDirectory=/\/var\/log\//p' docs/quakeshield.service | while read -r directory; do
		grep -qE "[' ]${directory}[' ]" debian/quakeshield.postrm || echo "$directory"
	done
}

verdict newest_changes_are_of_this_version "$(other_version)"
verdict build_dependencies_are_those_of_deps_sh "$(other_dependencies)"
verdict purge_removes_the_directories_of_the_unit "$(not_purged)"
exit "$status"
