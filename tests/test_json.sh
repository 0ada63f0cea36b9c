#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_json.sh - the JSON of `decode`, from the fixtures, against docs/reference/schema/: each
# key that comes is listed, and each that is listed comes, but for those named here. The
# other commands and the daemon: tests/cmd/test_cli.sh, net_metrics.sh, net_incidents.sh and
# net_live_status.sh.
#
# lane: beside, 4 s: it reads files.
set -u

cd "$(dirname "$0")/.." || exit 1
SHIELD=$(realpath "${BUILD:-build}/quakeshield")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
mapfile -t fixtures < <(find tests/data -type f \
	! -name '*.md' ! -name '*.jsonl' ! -name '*.yml' ! -name "*.trace" ! -name '*.tsv' ! -path '*/held/*' ! -name SOURCES)

# is_listed NAME SCHEMA UNSEEN ARGUMENT...: the JSON of `decode` with these arguments.
is_listed()
{
	local name=$1 schema=$2 unseen=$3 wrong

	shift 3
	"$SHIELD" decode "$@" >"$work/json" 2>"$work/err"
	if wrong=$(tests/json_schema.py "$schema" --all "$unseen" <"$work/json"); then
		echo "ok $name"
	else
		echo "not ok $name: $(head -n 4 <<<"$wrong" | paste -sd ';')"
		failed=1
	fi
}

# A capture of one ARP packet, which holds no datagram.
printf '\xd4\xc3\xb2\xa1\2\0\4\0%8s\0\0\4\0\1\0\0\0%8s\x10\0\0\0\x10\0\0\0%12s\x08\x06\0\1' '' '' '' |
	tr ' ' '\0' >"$work/arp.pcap"

command -v python3 >/dev/null || {
	echo "skip the schemas of decode: no python3"
	exit 0
}
# Missing here: keys of the daemon, dialects that stay in doubt, an encrypted session, and a
# record with more fields than it can hold.
is_listed "decode --json" decode \
	sampler,service,verdict,shield_reason,shield_kind,dialect_guess,untested,overflow,plaintext,streams,trace \
	--json --hex "${fixtures[@]}"
# Two kinds of lines: records, and behind them the clients.
"$SHIELD" decode --trace --json "${fixtures[@]}" 2>"$work/err" >"$work/traced"
for schema in decode trace-clients; do
	match=(-v) unseen=payload,plaintext,sampler,service,verdict,shield_reason,shield_kind,dialect_guess,untested,overflow
	[ "$schema" = decode ] || match=() unseen=
	if wrong=$(grep "${match[@]}" '^{"client":' "$work/traced" | tests/json_schema.py "$schema" --all "$unseen"); then
		echo "ok decode --trace --json: $schema"
	else
		echo "not ok decode --trace --json: $schema: $(head -n 4 <<<"$wrong" | paste -sd ';')"
		failed=1
	fi
done
# Missing here: more sessions than are kept.
is_listed "decode --summary" summary forgotten --summary "$work/arp.pcap" "${fixtures[@]}"
# Missing here: keys of the daemon, its verdicts, and frames, which the clients of the fixtures do not draw.
is_listed "decode --lagometer --json, several files" lagometer-files \
	player.service,player.frames,player.lag --lagometer --json "${fixtures[@]}"
for file in "${fixtures[@]}"; do
	"$SHIELD" decode --lagometer --json "$file" 2>/dev/null | head -n 1 | grep -q . || continue
	is_listed "decode --lagometer --json" lagometer service,frames,dialect,lag --lagometer --json "$file"
	break
done
exit "$failed"
