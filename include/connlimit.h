/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connlimit.h - the arithmetic of how many players a source and its prefix have on a
 * service, without a clock or a map.
 *
 * The egress program counts a player once per period (2.1 s) in which the server sends to
 * it, in a cell of its source and in one of its prefix. So a player that left is
 * forgotten after two periods, without the daemon. A cell that two sources share by
 * chance has the sum of both.
 *
 * A player is held while the server sends to it, and heard if the client has lately sent
 * too. A server keeps a client that crashed for minutes; the same source may then have as
 * many again: connlimit_full().
 *
 * Egress alone writes cells: connlimit_count_player() calls connlimit_at(), then
 * connlimit_more(). The ingress programs read them: connlimit_refuse() calls
 * connlimit_at(), then connlimit_full(). All counts of a cell are in one word, so that
 * one atomic addition changes them; no count may carry into the next. Cells are pinned,
 * and userland reads none: after a change of their bits or of the hash, old counts are
 * wrong for two periods.
 */
#ifndef CONNLIMIT_H
#define CONNLIMIT_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"

#define CONNLIMIT_BITS 15 /* log2 of cells of 8 bytes: 256 KiB */
#define CONNLIMIT_TICK 31 /* log2 of ns of a period: 2.1 s */
#define CONNLIMIT_MOST 4095 /* the highest count, 12 bits; a count stays there */
#define PLAYERS_MOST \
	1000 /* the highest limit of the configuration; twice as many can be counted */
_Static_assert(2 * PLAYERS_MOST < CONNLIMIT_MOST, "a limit that is never reached");

/*
 * Bits of a cell, from bit 0: held and heard in this period, held and heard in the last
 * period, 12 bits each, and the lower 16 bits of the period. 0: no player.
 */
#define CONNLIMIT_RECEIVED 12
#define CONNLIMIT_LAST	   24
#define CONNLIMIT_PERIOD   48

/*
 * Return @cell as it is in @period, without writing it. A cell that is one period ahead
 * stays: another processor's clock has begun it. @period: of the shield's clock, >>
 * CONNLIMIT_TICK; 16 bits of it count.
 */
static __always_inline __u64 connlimit_at(__u64 cell, __u64 period)
{
	__u32 since = (period - (cell >> CONNLIMIT_PERIOD)) & 0xffff;

	if (!since || since == 0xffff)
		return cell;
	cell &= (1ull << CONNLIMIT_LAST) - 1;
	return period << CONNLIMIT_PERIOD | (since == 1 ? cell << CONNLIMIT_LAST : 0);
}

/*
 * Return what a player adds to @cell, of connlimit_at(). @fresh: the server has just
 * accepted it: it is added to the last period too, so that it counts before all others
 * are counted anew. 0: no more can be counted in @cell.
 */
static __always_inline __u64 connlimit_more(__u64 cell, bool heard, bool fresh)
{
	__u64 one = 1 | (__u64)heard << CONNLIMIT_RECEIVED;

	if ((cell & CONNLIMIT_MOST) == CONNLIMIT_MOST ||
	    (cell >> CONNLIMIT_LAST & CONNLIMIT_MOST) == CONNLIMIT_MOST)
		return 0;
	return fresh ? one << CONNLIMIT_LAST | one : one;
}

/*
 * Return the count at bit @at of @cell, of this period or the last, whichever is higher.
 * @at: 0 for held players, CONNLIMIT_RECEIVED for heard ones. Called by connlimit_full().
 */
static __always_inline __u32 connlimit_count(__u64 cell, __u32 at)
{
	__u32 now = cell >> at & CONNLIMIT_MOST;
	__u32 last = cell >> (at + CONNLIMIT_LAST) & CONNLIMIT_MOST;

	return now > last ? now : last;
}

/*
 * Return true if no more than @limit players may be in @cell, as it is now: so many are
 * heard, or twice as many are held. The rest of these are clients that have crashed, or
 * are silent. @limit: 0: none. At most PLAYERS_MOST. @cell: of connlimit_at(). On true
 * connlimit_refuse() lets a player that is already there pass.
 */
static __always_inline bool connlimit_full(__u64 cell, __u32 limit)
{
	return limit && (connlimit_count(cell, CONNLIMIT_RECEIVED) >= limit ||
			 connlimit_count(cell, 0) >= 2 * limit);
}

#endif /* CONNLIMIT_H */
