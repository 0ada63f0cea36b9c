#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# install.sh [--libraries | --remove] - install quakeshield from the tarball of `make dist`.
#
#   --libraries  only list the libraries that it needs, and whether they are here; no root
#   --remove     remove the files that it has installed, but a configuration that was edited
#
# DESTDIR=DIR installs below DIR. An existing /etc/quakeshield.conf is kept.
set -eu

cd "$(dirname "$0")"
ROOT=${DESTDIR-}
CONF=/etc/quakeshield.conf

PROGRAM=$(find files -name quakeshield -path '*/sbin/*')

# libraries: a line each, with the Debian package that has it, and its path here. Status 1 if
# the loader does not find one, or finds one that is too old.
libraries()
{
	echo "libraries (package on Debian 12): path on this machine"
	ldd "$PROGRAM" 2>&1 | awk '
		at == "ldd" {
			if ($3 ~ /^\//)
				path[$1] = $3
			if (/version .* not found/) {
				print "  " $0
				bad = 1
			}
		}
		at == "list" {
			printf "  %-24s %-18s %s\n", $1, "(" $2 ")", $1 in path ? path[$1] : "missing"
			if (!($1 in path))
				bad = 1
		}
		END { exit bad }' at=ldd - at=list libraries
}

files()
{
	(cd files && find . -type f ! -path ".$CONF" -printf '%P\n')
}

install_all()
{
	files | while read -r file; do
		mkdir -p "$ROOT/$(dirname "$file")"
		# By a new file: a program that runs cannot be written over.
		# Not its owner: that is the user that has unpacked the tarball.
		cp --preserve=mode,timestamps "files/$file" "$ROOT/$file.new"
		mv "$ROOT/$file.new" "$ROOT/$file"
	done
	mkdir -p "$ROOT/etc"
	[ -e "$ROOT$CONF" ] || cp "files$CONF" "$ROOT$CONF"
}

remove_all()
{
	files | while read -r file; do rm -f "$ROOT/$file"; done
	(cd files && find . -depth -type d -path '*quakeshield*' -printf '%P\n') |
		while read -r directory; do rmdir "$ROOT/$directory" 2>/dev/null || :; done
	if cmp -s "files$CONF" "$ROOT$CONF"; then
		rm "$ROOT$CONF"
	elif [ -e "$ROOT$CONF" ]; then
		echo "kept: $ROOT$CONF"
	fi
	[ ! -d "$ROOT/var/lib/quakeshield" ] ||
		echo "kept: $ROOT/var/lib/quakeshield (attacks, history, addresses of clients)"
}

case ${1-} in
--libraries)
	libraries
	;;
--remove)
	remove_all
	;;
'')
	libraries || {
		echo "install.sh: libraries are missing or too old: nothing is installed" >&2
		exit 1
	}
	install_all
	echo "installed: $ROOT${PROGRAM#files}. Next: edit $ROOT$CONF, then" \
		"systemctl daemon-reload && systemctl enable --now quakeshield"
	;;
*)
	echo "usage: install.sh [--libraries | --remove]" >&2
	exit 2
	;;
esac
