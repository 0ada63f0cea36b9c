# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# cli.sh - for tests of what people type: a case by its name. To be sourced; CHECK_PREFIX
# goes before each name, and $failed is 1 once one has failed.
CLI_LOG=$(mktemp)
trap 'rm -f "$CLI_LOG"' EXIT
failed=0

# shellcheck disable=SC2034 # failed is for who sources this
check() # NAME COMMAND...
{
	local name=${CHECK_PREFIX-}$1

	shift
	if "$@" >"$CLI_LOG" 2>&1; then
		echo "ok $name"
	else
		echo "not ok $name: $(tail -c 400 "$CLI_LOG")"
		failed=1
	fi
}
