#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_joined.sh - many datagrams in one buffer are judged as one: the test of it.
exec "$(dirname "$0")/../net/net_joined.sh"
