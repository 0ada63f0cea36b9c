#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_nexuiz_netquake.sh - net_nexuiz.sh with NetQuake's own protocol.
#
# lane: alone, 45 s: what its client loses is compared with a control run.
exec "$(dirname "$0")/net_nexuiz.sh" netquake
