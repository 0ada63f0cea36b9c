/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repeat.h - who asks twice, at the pace of a stock client: all that some can show for
 * themselves. NetQuake's CCREQ_CONNECT has no challenge and is repeated every 2.5 s, a
 * ClientHello of DTLS has no cookie yet and is repeated after 1 s, 2 s, 4 s.
 *
 * A fixed array of buckets of one cache line each. A cell is a part of a keyed hash and
 * when it was seen. It is kept until whoever is in it should have come again; then the
 * oldest of its bucket makes room. So what a flood brings is forgotten first when it is
 * slower than REPEAT_CELLS in that time, and what is remembered is not pushed out by a
 * faster one: then some are not remembered and have to try again. Who comes too soon
 * begins anew: a flood that draws from few addresses repeats each of them faster than any
 * client.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include <linux/types.h>
#include <stdbool.h>

#include "wire.h"

#define REPEAT_BITS	 16 /* 2^16 buckets of REPEAT_WAYS cells of 4 bytes: 4 MiB */
#define REPEAT_WAYS	 16
#define REPEAT_CELLS	 (REPEAT_WAYS << REPEAT_BITS)
#define REPEAT_UNIT	 23 /* 2^23 ns: 8.4 ms */
#define REPEAT_TIME_BITS 12 /* of these: comes round after 34 s; above it, the hash */
#define REPEAT_TIME	 ((1u << REPEAT_TIME_BITS) - 1)

struct repeat_bucket {
	__u32 cells[REPEAT_WAYS]; /* 0: nobody; the time is odd, so no other is 0 */
};

/* All in REPEAT_UNIT. */
struct repeat_pace {
	__u32 least; /* repeated sooner is too soon */
	__u32 most; /* repeated later is the first time */
	__u32 held; /* how long room is kept for one who was seen */
};

#define REPEAT_MS(ms) ((__u32)((ms)*1000000ull >> REPEAT_UNIT))

static const struct repeat_pace repeat_netquake = { REPEAT_MS(980), REPEAT_MS(8400),
						    REPEAT_MS(2800) };
static const struct repeat_pace repeat_hello = { REPEAT_MS(510), REPEAT_MS(4600),
						 REPEAT_MS(1300) };

static __always_inline __u32 repeat_at(__u64 hash)
{
	return hash >> (64 - REPEAT_BITS);
}

/* All ones if @v is zero, or else none: without a branch. */
static __always_inline __u32 repeat_zero(__u32 v)
{
	__u32 ones = ((v | -v) >> 31) - 1;

	asm volatile("" : "+r"(ones)); /* or the compiler makes one of it */
	return ones;
}

/* All ones if @a is at least @b, both below 2^31. */
static __always_inline __u32 repeat_more(__u32 a, __u32 b)
{
	__u32 ones = ((a - b) >> 31) - 1;

	asm volatile("" : "+r"(ones));
	return ones;
}

/*
 * Did the one with @hash, whose bucket this is, ask before, and neither too soon nor too
 * late? Two at the very same moment may overwrite each other: one has to try again.
 *
 * Without branches, of which the verifier would walk every combination in a bucket.
 */
static __always_inline bool repeat_seen(struct repeat_bucket *bucket, __u64 hash,
					const struct repeat_pace *pace, __u64 now_ns)
{
	__u32 tag = (__u32)(hash >> 12) & ~REPEAT_TIME;
	__u32 now = (now_ns >> REPEAT_UNIT & REPEAT_TIME) | 1;
	__u32 oldest = 0, found = 0, age = 0, way;

	for (__u32 i = 0; i < REPEAT_WAYS; i++) {
		__u32 was = *(volatile __u32 *)&bucket->cells[i];
		/* An empty one is as old as can be. */
		__u32 old = ((now - was) | repeat_zero(was)) & REPEAT_TIME;
		__u32 rank = old * REPEAT_WAYS | i;
		__u32 same = repeat_zero((was ^ tag) & ~REPEAT_TIME) & ~repeat_zero(was);

		oldest += (rank - oldest) & repeat_more(rank, oldest);
		found |= same & (i | REPEAT_WAYS);
		age |= same & old;
	}
	way = (found ? found : oldest) & (REPEAT_WAYS - 1);
	/* Or it is taken for unbounded once it is added to where the bucket is. */
	if (!index_below(&way, REPEAT_WAYS))
		return false;
	if (!found && oldest / REPEAT_WAYS < pace->held)
		return false;
	*(volatile __u32 *)&bucket->cells[way] = tag | now;
	return found && age >= pace->least && age <= pace->most;
}

#endif /* REPEAT_H */
