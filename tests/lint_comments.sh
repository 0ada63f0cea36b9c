#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# lint_comments.sh - comments that name what is not there: `function()`, `struct name`,
# `enum name`, `A_CONSTANT`, `file.c` and `room/file.c` in a comment must exist, in the code
# or on disk. Also functions of a header without a comment, and comments that clang-format has
# broken. Part of `make lint`.
set -u

cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Named in comments though they are not ours: libraries, the kernel, engines.
FOREIGN='calloc|malloc|free|memchr|memcpy|flock|mmap|read|write|poll|printf|main|fork'
FOREIGN="$FOREIGN|waitpid|getrandom|strtoul|strtoll|atoi|sizeof|select|sendmsg|recvmsg"
FOREIGN="$FOREIGN|setuid|sigaction|(BPF|XDP|TC|RLIMIT|UDT|UDP|EXIT)_[A-Z_]+|INITIAL_JIFFIES"

mapfile -t files < <(find include bpf user tests vmtests -name '*.[ch]')

# Code without comments and strings, and comments without code.
awk '
	FNR == 1 { inside = 0 }
	{
		line = $0; code = ""; note = ""
		while (line != "") {
			if (inside) {
				at = index(line, "*/")
				if (!at) { note = note " " line; line = ""; break }
				note = note " " substr(line, 1, at - 1)
				line = substr(line, at + 2); inside = 0
			} else {
				block = index(line, "/*"); rest = index(line, "//")
				if (rest && (!block || rest < block)) {
					code = code substr(line, 1, rest - 1)
					note = note " " substr(line, rest + 2); line = ""
				} else if (block) {
					code = code substr(line, 1, block - 1)
					line = substr(line, block + 2); inside = 1
				} else { code = code line; line = "" }
			}
		}
		print code >CODE
		if (note != "") print FILENAME ":" FNR ":" note >NOTES
	}' CODE="$work/code" NOTES="$work/notes" "${files[@]}"

grep -oE '[A-Za-z_][A-Za-z0-9_]*' "$work/code" | sort -u >"$work/words"
# Names that macros paste together count as what they are pasted from.
missing()
{
	grep -oE "^[^:]+:[0-9]+:|$1" "$work/notes" | awk -v skip="^($FOREIGN)\$" '
		/^[^ ]+:[0-9]+:$/ { at = $0; next }
		{ word = $0; gsub(/^[^A-Za-z_]+|[^A-Za-z0-9_()]+$/, "", word); if (word ~ /^[A-Z]/) gsub(/[()]/, "", word)
		  sub(/\(\)$/, "", word); sub(/^(struct|enum) /, "", word)
		  if (word !~ skip) print word, at }' | sort -u |
		join -v 1 - "$work/words"
}

# Decoders cite the engines' constants and files in their banners.
constants()
{
	missing '[^A-Za-z0-9_][A-Z][A-Z0-9]*_[A-Z0-9_]+[A-Z0-9]([^a-z*]|$)' |
		grep -vE ' user/(decode|capture)/'
}

# Files that are named with their room.
rooms()
{
	grep -oE '^[^:]+:[0-9]+:|(^|[^a-z<])(include|bpf|user|tests|vmtests|docs)/[a-z0-9_/]+\.[a-z0-9.]*[a-z0-9]' \
		"$work/notes" | awk '/^[^ ]+:[0-9]+:$/ { at = $0; next }
			{ gsub(/^[^a-z]+/, ""); print $0, at }' | sort -u |
		while read -r file at; do
			[ -e "$file" ] || [ -e "tests/$file" ] || echo "$file $at"
		done
}

paths()
{
	grep -vE '^user/(decode|capture)/' "$work/notes" | grep -oE '^[^:]+:[0-9]+:|(^|[^/A-Za-z0-9_.*<-])[a-z0-9_]+\.(bpf\.)?[ch]([^a-z0-9_]|$)' | awk '
		/^[^ ]+:[0-9]+:$/ { at = $0; next }
		{ gsub(/[^a-z0-9_.]/, ""); sub(/\.$/, ""); print $0, at }' | sort -u |
		grep -v '^cmocka.h ' | join -v 1 - <(find . -path ./build -prune -o -name '*.[ch]' -printf '%f\n' | sort -u)
}

# Lines that clang-format has broken without a space behind the asterisk, as it does with rows of a
# table that are too long.
broken()
{
	grep -nE '^ \*[^[:space:]/*]' "${files[@]}" | cut -d: -f1,2
}

# Functions that headers of user/ declare without a comment, as "name file:line:".
silent()
{
	find user -name '*.h' -exec awk '
		FNR == 1 { before = ""; group = 0 }
		# A comment of its own lines: what follows is what it is about.
		/^\/\*/ { group = 0 }
		/^[\/ ]\*/ && /[Ee]ach of these/ { group = 1 }
		/^[A-Za-z_][A-Za-z0-9_ *]*[ *][a-z][a-z0-9_]*\(/ && !/^(static|typedef|return) / {
			name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
			if (before !~ /^[\/ ].*\*\/$/ && $0 !~ /; \/\*.*\*\/$/ && !group)
				print name, FILENAME ":" FNR ":"
		}
		/^$/ { group = 0 }
		{ before = $0 }' {} + | sort
}

{ missing '[A-Za-z_][A-Za-z0-9_]+\(\)'; missing '(struct|enum) [a-z_][a-z0-9_]+'
  constants; rooms; paths; } >"$work/found"
silent >"$work/silent"
broken >"$work/broken"
[ ! -s "$work/found" ] || echo "comments name what does not exist:" >&2
awk '{ print "  " $2 " " $1 }' "$work/found" >&2
[ ! -s "$work/silent" ] || echo "functions without a comment:" >&2
awk '{ print "  " $2 " " $1 }' "$work/silent" >&2
[ ! -s "$work/broken" ] || echo "comments without a space behind the asterisk:" >&2
sed 's/^/  /' "$work/broken" >&2
[ ! -s "$work/found" ] && [ ! -s "$work/silent" ] && [ ! -s "$work/broken" ]
