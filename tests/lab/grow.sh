#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# grow.sh DIR - a copy of the sources in DIR, as they may be one day: 64 more words, 8 more
# reasons, a player about whom more is known, longer lists whose entries end. Tables have
# another shape, so it is what an upgrade is tested with; and it must build, load and run
# as it is.
set -u

cd "$(dirname "$0")/../.." || exit 1
to=${1:?a directory}
mkdir -p "$to" || exit 1
cp -r Makefile bpf docs include tests user "$to" || exit 1

# rows FILE MACRO: put the rows of standard input in front of those of the macro.
rows()
{
	local file=$to/$1 before

	before=$(wc -l <"$file")
	cat >"$to/rows"
	sed -i "/^#define $2(X)/r $to/rows" "$file"
	[ "$(wc -l <"$file")" -gt "$before" ] || {
		echo "grow.sh: $1 has no $2" >&2
		exit 1
	}
	rm "$to/rows"
}

for a in a b c d e f g h; do
	for b in a b c d e f g h; do
		printf '\tX(GROWN_%s, "grown%s", QUERY, NQ|QW|Q2|Q3, C2S) \\\n' "$a$b" "$a$b"
	done
done | rows include/wire.h WIRE_WORDS

for a in 1 2 3 4 5 6 7 8; do
	printf '\tX(GROWN_%s, "grown-%s", DROP, ALL, ALL) \\\n' "$a" "$a"
done | rows include/abi.h ABI_REASONS

# In front, so that all that follows is elsewhere.
sed -i 's/^struct player {$/&\n\t__u64 grown_ns;/;
	s/sizeof(struct player) == 64/sizeof(struct player) == 72/;
	s/sizeof(struct player_cell) == 88/sizeof(struct player_cell) == 96/' "$to/include/player.h"
sed -i 's/^struct list_entry {$/&\n\t__u64 grown_until;/;
	/^#define LIST_MAX\>/,/65536/s/65536/131072/' "$to/include/abi.h"
for word in grown_ns:player '== 72:player' '== 96:player' grown_until:abi 131072:abi; do
	grep -q -- "${word%:*}" "$to/include/${word#*:}.h" || {
		echo "grow.sh: ${word#*:}.h did not get '${word%:*}'" >&2
		exit 1
	}
done

# So many more words share places, and then test_classify says which key would part them.
${CC:-cc} -w -D_GNU_SOURCE -I"$to/include" -I"$to/tests" -I"$to/user" \
	"$to/tests/include/test_classify.c" "$to/user/lib/names.c" -lcmocka -o "$to/key" || exit 1
key=$("$to/key" 2>&1 | sed -n 's/.*WORD_KEY in word.h may be //p')
[ -z "$key" ] || sed -i "s/^\(#define WORD_KEY[[:blank:]]*\).*/\1${key}ull/" "$to/include/word.h"
rm "$to/key"
