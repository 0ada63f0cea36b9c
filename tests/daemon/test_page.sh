#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_page.sh - the page in a browser, fed by daemons that page_faces.html makes up: one
# service or two hundred, attacked, busy, quiet, just started or dead; by keyboard, on a
# telephone, in both sets of colours.
#
# lane: beside, 10 s: the browser's time is its own.
set -u

cd "$(dirname "$0")/../.." || exit 1
if ! command -v chromium >/dev/null; then
	echo "skip the page in a browser: no chromium"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The page as a string of JavaScript, in which nothing ends the script.
{
	cat user/daemon/page.html user/daemon/page.js
	printf '</script>\n</body>\n</html>\n'
} | jq -Rs . | sed 's/<\//<\\\//g' >"$work/page.json"
awk -v page="$work/page.json" '
	/@PAGE@/ {
		getline text <page
		at = index($0, "@PAGE@")
		print substr($0, 1, at - 1) text substr($0, at + 6)
		next
	}
	{ print }' tests/daemon/page_faces.html >"$work/faces.html"
timeout 120 nice chromium --headless --no-sandbox --disable-gpu --no-first-run \
	--disable-background-networking --disable-component-update --disable-sync \
	--user-data-dir="$work/chromium" --window-size=1200,900 --virtual-time-budget=20000 \
	--dump-dom "file://$work/faces.html" >"$work/dom" 2>"$work/chromium.log"
sed -n '/<pre id="said">/,/<\/pre>/p' "$work/dom" |
	sed 's/.*<pre id="said">//; s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >"$work/said"
cat "$work/said"
if ! grep -q '^ok ' "$work/said"; then
	echo "not ok the browser says nothing"
	tail -n 5 "$work/chromium.log"
	exit 1
fi
! grep -q '^not ok' "$work/said"
