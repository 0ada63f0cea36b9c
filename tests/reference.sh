#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# reference.sh - docs/reference/ and the table of reasons in docs/quakeshield.8, from the
# tables in the code. Without arguments: prints how the committed files differ from what the
# code says. --write: writes them (`make docs`).
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The manual, with the rows of $work/reasons.mdoc between its two marks.
manual()
{
	awk -v rows="$work/reference/reasons.mdoc" '
		/^\.\\" end of what `make docs` writes/ { skip = 0 }
		!skip
		/^\.\\" `make docs` writes/ {
			skip = 1
			while ((getline row <rows) > 0)
				print row
		}' docs/quakeshield.8
}

"$BUILD/lab/reference" "$work/reference" || exit 1
manual >"$work/quakeshield.8"
rm "$work/reference/reasons.mdoc"
if [ "${1:-}" = --write ]; then
	rm -rf docs/reference
	cp -R "$work/reference" docs/reference
	cat "$work/quakeshield.8" >docs/quakeshield.8
else
	diff -r docs/reference "$work/reference"
	diff docs/quakeshield.8 "$work/quakeshield.8"
fi
