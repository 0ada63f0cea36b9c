#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_upgrade.sh - what another version has left attached withholds: the test of it.
exec "$(dirname "$0")/../net/net_upgrade.sh"
