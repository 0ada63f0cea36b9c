#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_layers.sh - which room may include the headers of which. One row a room: itself,
# include/ and what the row names; another header is a breach. A new room needs a row here
# before it compiles a header. The same of symbols, in the objects of BUILD if there are any:
# no two files of a room need each other, and what is exported has a caller in another file.
#
# lane: beside, 2 s: it reads the tree, and the symbols of its objects.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
# shellcheck source=tests/verdict.sh
. tests/verdict.sh

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
lag: stats lib
samples: lag stats shield decode capture lib
cache: incident shield config lib
discover: shield config lib
fleet: shield config lib
explain: cache shield capture config lib
listed: explain shield config lib
probe: shield config lib
replay: cache shield capture config lib
top: lag stats incident lib
daemon: lag stats samples incident cache fleet shield config lib
cmd: listed explain replay top daemon stats samples lag incident cache discover fleet probe shield decode capture config lib
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

# Symbols that are exported though no other file of user/ uses them: a pattern, and why.
UNCALLED='
main	the program
.*_keys	JSON keys, from which tests/lab/reference.c makes docs/reference/
metrics_families|ometric_(type_name|ending)|(other)_meaning|config_range	the same of metrics, reasons and configuration keys
config_default	the configuration that tests of everything above begin with
jsonl_record	a whole record as JSON, which tests of all decoders read
(nq|q3|qw)_message	the parser of a whole message, which is fuzzed alone
.*_write|huffman_(adaptive_encode|tree_(init|add|code))	the inverse of a reader, beside its table: tests rewrite recordings by it
oob_rows(_count)?|qw_entity_rows(_count)?|qw_move	rows whose completeness is tested
(users_note|users_note_at|owner_choose|limit_used_share|view_number|map_hash|nearest_distance|incident_time|extract_harmless|q2_move_checksum|q3_describe|q3_feed_put|top_state|shield_cache_put|cached_response_describe|info_next|pcapng_recognise)	arithmetic of its file, tested without what is around it
shield_clock_(assumed|read_list)|udp_socket_read|uplink_route_read|http_deadline	reads what a test hands it in place of the kernel
decoder_sessions|session_table_(bytes|count)|samples_stats|samples_writer_wants_records	the state that a bound is tested by
trace_lines|trace_size	the places of fields, which a test adds up
'

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

# include/ knows no room, and needs no library of the C kind.
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

# OBJECT T SYMBOL or OBJECT U SYMBOL, of each object whose source is there.
symbols()
{
	find user -name '*.c' -printf '%P\n' | sed "s|\\.c\$|.o|; s|^|$BUILD/user/|" |
		xargs ls 2>/dev/null | xargs nm -A -P -g | sed "s|^$BUILD/user/||; s|\\.o: | |" |
		awk '{ print $1, $3 == "U" ? "U" : "T", $2 }'
}

# A NEEDS B, of two files of one room.
needs()
{
	awk '
		function room(file) { sub(/\/[^\/]*$/, "", file); return file }
		$2 == "T" { at[$3] = $1 }
		{ row[NR] = $0 }
		END {
			for (i = 1; i <= NR; i++) {
				split(row[i], part)
				if (part[2] == "U" && part[3] in at && at[part[3]] != part[1] &&
				    room(at[part[3]]) == room(part[1]))
					print part[1], at[part[3]]
			}
		}' <<<"$1" | sort -u
}

file_circles()
{
	needs "$1" | tsort 2>&1 >/dev/null | sed 's/^tsort: //' | tr '\n' ' '
}

uncalled()
{
	awk -v known="$UNCALLED" '
		BEGIN {
			n = split(known, row, "\n")
			for (i = 1; i <= n; i++)
				if (split(row[i], part, "\t") == 2)
					may = may (may ? "|" : "") "(" part[1] ")"
		}
		$2 == "T" { at[$3] = $1 }
		$2 == "U" { used[$3] = 1 }
		END {
			for (symbol in at)
				if (!(symbol in used) && symbol !~ "^(" may ")$")
					print at[symbol] ": " symbol ";"
		}' <<<"$1" | sort
}

# Name what is tracked on the top level and is none of the rooms there.
strays()
{
	git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vxE \
		'LICENSE|Makefile|README\.md|bpf|debian|docs|include|tests|user|vmtests|\.[a-z-]+'
}

verdict nothing_strays_on_the_top_level "$(strays)"
verdict rooms_include_only_what_is_below "$(breaches)"
verdict every_room_has_a_row "$(rowless)"
verdict rooms_have_no_circle "$(circles)"
verdict libraries_known_in_one_place "$(alone)"
verdict only_main_in_user_itself "$(loose)"
verdict include_is_freestanding "$(law)"
verdict base_names_are_unique "$(twice)"
if [ -e "$BUILD/user/main.o" ]; then
	all=$(symbols)
	verdict files_of_a_room_have_no_circle "$(file_circles "$all")"
	verdict exported_symbols_have_a_caller "$(uncalled "$all")"
else
	echo "skip files_of_a_room_have_no_circle: no objects in $BUILD"
fi
exit "$status"
