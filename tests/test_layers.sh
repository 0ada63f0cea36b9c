#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_layers.sh - who may include whom. One row a room: itself, include/ and what the row
# names; what is not named is a breach. A new room needs a row here before it compiles
# anybody's header.
#
# lane: beside, 1 s: it reads the tree.
set -u

cd "$(dirname "$0")/.." || exit 1
status=0

# room: rooms whose headers it may include
ROOMS='
lib:
config: lib
capture: lib
decode: decode/oob capture lib
decode/oob: lib
decode/q3: decode lib
decode/nq: decode lib
decode/qw: decode lib
decode/q2: decode lib
decode/qe: decode decode/nq lib
incident: lib
shield: config lib
stats: incident shield lib
samples: stats shield decode capture lib
cache: incident shield config lib
discover: shield config lib
fleet: shield config lib
explain: shield capture config lib
probe: shield config lib
top: stats samples incident lib
daemon: stats samples incident cache fleet shield config lib
cmd: explain top daemon stats samples incident cache discover fleet probe shield decode capture config lib
'

# Libraries that one place alone knows: a pattern of headers, a pattern of files.
ALONE='
bpf/|linux/bpf\.h|[a-z_]*\.skel\.h	user/shield/|user/daemon/confine\.c
microhttpd\.h	user/lib/http\.c
openssl/	user/decode/qe/|user/fleet/|user/lib/info\.c
pcap/|pcap\.h	user/capture/|user/samples/|user/lib/pcapng\.c
confuse\.h	user/config/
curses\.h|ncursesw/	user/top/
'

verdict()
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

# FILE INCLUDED, one a line, of everything below user/.
includes()
{
	grep -roE --include='*.[ch]' '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<"][^>"]+' user |
		sed -E 's/:[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<"]/ /'
}

breaches()
{
	includes | awk -v rooms="$ROOMS" '
		BEGIN {
			n = split(rooms, row, "\n")
			for (i = 1; i <= n; i++) {
				split(row[i], part, ": *")
				if (part[1] == "")
					continue
				known[part[1]] = 1
				may[part[1]] = " " part[2] " "
			}
		}
		{
			room = $1
			sub(/^user\//, "", room)
			if (room !~ /\//)
				next			# main.c sees all
			sub(/\/[^\/]*$/, "", room)
			target = $2
			if (target ~ /(^|\/)\.\.?\//) {
				print $1 " includes " $2 " by a way of its own;"
				next
			}
			if (target ~ /_internal\.h$/ && target !~ "^" room "/") {
				print $1 " includes another room'"'"'s " $2 ";"
				next
			}
			if (!sub(/\/[^\/]*$/, "", target) || !(target in known))
				next			# include/, a library
			if (!(room in known))
				print $1 " is in a room without a row;"
			else if (target != room && index(may[room], " " target " ") == 0)
				print $1 " includes " $2 ";"
		}'
}

# The rows themselves must have no circle.
circles()
{
	awk -F ': *' 'NF && $1 { n = split($2, to, " "); for (i = 1; i <= n; i++) print $1, to[i] }' \
		<<<"$ROOMS" | tsort 2>&1 >/dev/null | tr '\n' ' '
}

alone()
{
	local headers places

	while IFS=$'\t' read -r headers places; do
		[ -n "$headers" ] || continue
		includes | awk -v h="^($headers)" -v p="^($places)" \
			'$2 ~ h && $1 !~ p { print $1 " includes " $2 ";" }'
	done <<<"$ALONE"
}

loose()
{
	find user -maxdepth 1 -type f ! -name main.c
}

# include/ knows nobody, and needs no library of the C kind.
law()
{
	grep -nE '^#include' include/*.h |
		grep -vE '<(linux/(types|swab|in6?)\.h|std(bool|def|int)\.h|asm/byteorder\.h)>|"[a-z_0-9]+\.h"'
}

# Names of files are names of modules: none may come twice.
twice()
{
	find user -name '*.[ch]' -printf '%f\n' | sort | uniq -d
}

# Rooms that nobody could be kept from.
rowless()
{
	find user -mindepth 2 -name '*.[ch]' -printf '%P\n' | sed 's|/[^/]*$||' | sort -u |
		while read -r room; do
			grep -q "^$room:" <<<"$ROOMS" || printf '%s ' "$room"
		done
}

verdict rooms_include_only_what_is_below "$(breaches)"
verdict every_room_has_a_row "$(rowless)"
verdict rooms_have_no_circle "$(circles)"
verdict libraries_known_in_one_place "$(alone)"
verdict only_main_in_user_itself "$(loose)"
verdict include_is_freestanding "$(law)"
verdict base_names_are_unique "$(twice)"
exit "$status"
