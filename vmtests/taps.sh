#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# taps.sh COMMAND... - run the command with two taps, vmtest1 and vmtest2, that a bridge
# joins. In a network namespace of its own: the caller makes that.
set -eu

export PATH=$PATH:/usr/sbin:/sbin
ip link add vmtest0 type bridge
for tap in vmtest1 vmtest2; do
	ip tuntap add dev "$tap" mode tap multi_queue
	ip link set "$tap" mtu 9000 master vmtest0 up
done
ip link set vmtest0 up
exec "$@"
