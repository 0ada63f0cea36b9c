#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# guest.sh EXPECT - the tests of one kernel, run inside it. The last line is the sum,
# and the status says whether anything failed.
#
# Each vm_*.sh builds namespaces of its own, so the host's kernel is tested alike.
set -u

cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-$PWD/build}
# For an emulated processor.
export TEST_IN_TURN=1 TEST_TIMEOUT=300 KERN_ROUNDS=10000 SHIELD_WAIT=120
expect=$1

# What an emulated processor has time for: each test of these programs loads the shield
# anew, for seconds there. They have all there is to the programs walked: random datagrams
# by every way, every kind, every header, players, ledger, answers. The host runs the rest,
# rules that no kernel has a part in.
CHOSEN='kern_differential kern_frames kern_joined kern_ledger kern_players
	kern_proof_challenge kern_ways'

# The kernel tests of this guest, or of the host, one a line.
chosen()
{
	local name

	if [ -z "${GUEST-}" ]; then
		find "$BUILD/tests" -name 'kern_*' -type f -perm -1 | sort
		return
	fi
	for name in $CHOSEN; do find "$BUILD/tests" -name "$name" -type f; done
}

read -r uptime _ </proc/uptime
[ -z "${GUEST-}" ] || echo "# boot $uptime"
case $expect in
message)
	exec tests/run.sh vmtests/vm_message.sh
	;;
load)
	exec tests/run.sh vmtests/vm_load.sh
	;;
drivers)
	export TEST_TIMEOUT=1500 # five of them
	exec tests/run.sh vmtests/vm_drivers.sh
	;;
attach)
	exec tests/run.sh vmtests/vm_load.sh vmtests/vm_attach.sh
	;;
short)
	exec tests/run.sh vmtests/vm_load.sh vmtests/vm_attach.sh vmtests/vm_virtio.sh
	;;
scripts)
	exec tests/run.sh vmtests/vm_load.sh vmtests/vm_attach.sh vmtests/vm_virtio.sh \
		vmtests/vm_flood.sh
	;;
shield)
	mapfile -t kern <<<"$(chosen)"
	exec tests/run.sh "${kern[@]}" vmtests/vm_load.sh vmtests/vm_attach.sh \
		vmtests/vm_virtio.sh vmtests/vm_flood.sh tests/net/net_lifetime.sh
	;;
*)
	echo "not ok guest.sh: KERNELS expects '$expect', not shield, scripts, short, attach, drivers, load or message"
	exit 1
	;;
esac
