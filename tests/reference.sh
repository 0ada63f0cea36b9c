#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# reference.sh - docs/reference/, the table of reasons in docs/quakeshield.8 and the tables of
# docs/ARCHITECTURE.md, from the tables in the code. Without arguments: prints how the
# committed files differ from what the code says. --write: writes them (`make docs`).
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The document, with the lines of a file of $work/reference between its two marks.
filled() # DOCUMENT ROWS
{
	awk -v rows="$work/reference/$2" '
		/^(\.\\"|<!--) end of what `make docs` writes/ { skip = 0 }
		!skip
		/^(\.\\"|<!--) `make docs` writes/ {
			skip = 1
			while ((getline row <rows) > 0)
				print row
		}' "$1"
}

"$BUILD/lab/reference" "$work/reference" || exit 1
filled docs/quakeshield.8 reasons.mdoc >"$work/quakeshield.8"
filled docs/ARCHITECTURE.md tables.rows >"$work/ARCHITECTURE.md"
rm "$work/reference/reasons.mdoc" "$work/reference/tables.rows"
if [ "${1:-}" = --write ]; then
	rm -rf docs/reference
	cp -R "$work/reference" docs/reference
	cat "$work/quakeshield.8" >docs/quakeshield.8
	cat "$work/ARCHITECTURE.md" >docs/ARCHITECTURE.md
else
	diff -r docs/reference "$work/reference"
	diff docs/quakeshield.8 "$work/quakeshield.8"
	diff docs/ARCHITECTURE.md "$work/ARCHITECTURE.md"
fi
