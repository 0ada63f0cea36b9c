#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_signon_netquake.sh - NetQuake's level is reflected to a victim: who connects in its
# name and acknowledges, unseen, block after block. A real nexuiz-server in NetQuake's own
# protocol, default rate limits and amplification limit.
set -u

SERVER=nexuiz PROTOCOL=netquake
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

LASTS=20 # seconds

# One sign-on after the other, each from its own port: connect, 26 acknowledgements, and
# the two things that a client has to say meanwhile.
signons()
{
	awk -v from="$NET_VICTIM" -v lasts=$LASTS '
	function say(sequence, hex) {
		print from, port, sprintf("0009%04x%08x", 8 + length(hex) / 2, sequence) hex
	}
	BEGIN {
		prespawn = "0470726573706177 6e00"
		spawn = "046e616d6520227822 0a00 04636f6c6f7220302030 0a00 04737061776e2000"
		gsub(" ", "", prespawn)
		gsub(" ", "", spawn)
		for (round = 0; round < lasts; round++) {
			port = 5555 + round
			print from, port, "8000000c015155414b450003"
			for (i = 0; i < 26; i++) {
				print from, port, sprintf("00020008%08x", i)
				if (i == 8)
					say(0, prespawn)
				if (i == 17)
					say(1, spawn)
			}
		}
	}'
}

attack_needs "$NEXUIZ"
net_test_begin "$@"
server_start +sv_protocolname QUAKE
shield_start >/dev/null || exit 1
sleep 1
start=$EPOCHSECONDS
signons >"$work/forged"
forge 29 <"$work/forged" # a sign-on each second
sleep 2
in=$(awk '{ size = 42 + length($3) / 2; n += size < 60 ? 60 : size } END { print n }' "$work/forged")
took=$((EPOCHSECONDS - start))
out=$(($(net_count victim bytes) + 14 * $(net_count victim packets)))
echo "# $(wc -l <"$work/forged") forged datagrams, $in bytes, in $took s"
keeps "bytes of the level sent to the victim" "$out" -le \
	$((in + 16384 + 131072 + 2 * 820 * took))
exit "$net_failed"
