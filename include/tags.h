/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tags.h - the tags of a bucket: a byte of the hash of each cell's name, in one integer.
 *
 * A table of cells that a flood looks into has an array of tags beside it, which is small
 * enough to stay in a cache: a name that is in no cell mostly costs one load of that
 * array. A tag is written while its cell is claimed, before the word that makes the cell
 * valid. 0 is the tag of a cell that was never written, or that players_remove() freed.
 *
 * Pure arithmetic, called in the programs and in userland.
 */
#ifndef TAGS_H
#define TAGS_H

#include "word.h"

/*
 * Return bit 7 of each byte of @tags that is @tag, below 256; 0: none is. Above the
 * lowest such byte some may be wrong, so compare the names. @tags: a byte of each cell of
 * a bucket, eight or four, the first cell's lowest. Called by players_find(), which tries
 * each byte, by player_first(), which takes the lowest, by reputation_find() and
 * validated_find(), which ask only whether one fits, and by greylist_seen(), which also
 * looks for the tag 0: the lowest such byte is right.
 */
static __always_inline __u64 tags_like(__u64 tags, __u64 tag)
{
	__u64 other = tags ^ tag * EACH_BYTE(1);

	return (other - EACH_BYTE(1)) & ~other & EACH_BYTE(0x80);
}

/*
 * Return the number of the lowest byte in which @flags has bit 7. No other bit may be
 * set, and @flags may not be 0, for which it returns 0 too. Called by players_find(),
 * player_first() and greylist_seen().
 */
static __always_inline __u32 lowest_byte(__u64 flags)
{
	return ((flags & -flags) >> 7) * 0x0001020304050607ull >> 56 & 7;
}

#endif /* TAGS_H */
