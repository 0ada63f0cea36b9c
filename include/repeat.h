/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repeat.h - who asks twice, at the pace of a stock client: all that a NetQuake client
 * can show for itself, since CCREQ_CONNECT has no challenge and is repeated every 2.5 s.
 *
 * A fixed array of cells, each a part of a keyed hash and when it was seen. A cell is
 * kept until whoever is in it could not come again in time, so what is remembered is not
 * pushed out by a flood; the others have to try again. Who comes too soon begins anew: a
 * flood that draws from few addresses repeats each of them faster than any client.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"

#define REPEAT_BITS  19 /* 2^19 cells of 8 bytes: 4 MiB */
#define REPEAT_UNIT  20 /* 2^20 ns, about a millisecond */
#define REPEAT_LEAST 950 /* of these: repeated sooner is too soon */
#define REPEAT_MOST  8000

static __always_inline __u32 repeat_cell(__u64 hash)
{
	return hash >> (64 - REPEAT_BITS);
}

/* Did the one with @hash, whose cell this is, ask before, and not too soon? */
static __always_inline bool repeat_seen(__u64 *cell, __u64 hash, __u64 now_ns)
{
	__u64 was = *(volatile __u64 *)cell;
	__u32 tag = (__u32)(hash >> 12) | 1, now = now_ns >> REPEAT_UNIT;
	__u32 age = now - (__u32)was;

	if (was && was >> 32 != tag && age <= REPEAT_MOST)
		return false;
	*(volatile __u64 *)cell = (__u64)tag << 32 | now;
	return was >> 32 == tag && age >= REPEAT_LEAST && age <= REPEAT_MOST;
}

#endif /* REPEAT_H */
