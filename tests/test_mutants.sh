#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_mutants.sh - what each line of tests/MUTANTS would break still stands in its file.
#
# beside: it reads files.
set -u

cd "$(dirname "$0")/.." || exit 1
if CHECK=1 tests/mutants.sh; then
	echo "ok each line of MUTANTS can be applied"
	exit
fi
echo "not ok each line of MUTANTS can be applied"
exit 1
