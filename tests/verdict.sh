# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# verdict.sh - sourced by the scripts that read the tree: what they print of each check, and their
# exit status.

# shellcheck disable=SC2034 # the exit status of the script that sources this
status=0

verdict() # NAME MESSAGE...: good if there is no message
{
	local name=$1

	shift
	if [ -z "$*" ]; then
		echo "ok $name"
	else
		echo "not ok $name: $*"
		status=1
	fi
}
