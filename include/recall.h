/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recall.h - who has asked in which of the last seconds, near enough: what a stranger
 * can show for itself that asks like a browser, once a second or so.
 *
 * A line of eight words for each hash, one word for each slice of 0.54 s. A source sets
 * two bits of the word of its slice. Whoever finds both set in at least two of the seven
 * slices before has asked before, and in more than five asks faster than any browser. Two
 * different sources are taken for one now and then; how often follows from how full the
 * lines are, see docs/OPERATING.md.
 *
 * Of a fast flood only a part is written down, so that it stays cheap: those sources
 * whose other hash lies in a window, which the daemon makes as wide as the rate allows
 * and moves on, so that everybody has a turn.
 */
#ifndef RECALL_H
#define RECALL_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#define RECALL_BITS   18 /* 2^18 lines of 64 bytes: 16 MiB */
#define RECALL_SLICES 8 /* a power of two */
#define RECALL_SHIFT  29 /* a slice is 2^29 ns */
#define RECALL_LEAST  2 /* of the seven slices before */
#define RECALL_MOST   5
#define RECALL_ROOM   48 /* bits of a word; above them is the round of slices */
#define RECALL_COUNT  6 /* one in 2^6 of those written down is counted */

struct recall_line {
	__u64 words[RECALL_SLICES];
};

struct recall {
	__u32 from; /* where the window begins */
	__u32 shut; /* how much lies outside of it; 0: nothing */
	__u64 counted; /* sources written down, >> RECALL_COUNT, about */
	struct recall_line lines[1 << RECALL_BITS];
};

static __always_inline __u64 recall_hash(__u64 net, const __u64 keys[3])
{
	return net * keys[0] + keys[1];
}

/* Independent of where its line is. */
static __always_inline __u32 recall_other(__u64 net, const __u64 keys[3])
{
	return (net * keys[1] + keys[2]) >> 32;
}

static __always_inline bool recall_open(const struct recall *r, __u32 other)
{
	return other - r->from <= ~r->shut;
}

/* The two bits of a source; seldom they are one. */
static __always_inline __u64 recall_mask(__u64 hash, __u32 other)
{
	__u32 one = (((__u32)(hash >> 32) & 0xfff) * RECALL_ROOM) >> 12;
	__u32 two = ((other & 0xfff) * RECALL_ROOM) >> 12;

	return 1ull << one | 1ull << two;
}

/* In how many of the slices before this one the bits of @mask are set; and set them. */
static __always_inline __u32 recall_seen(struct recall_line *line, __u64 mask,
					 __u64 now_ns)
{
	__u32 slice = now_ns >> RECALL_SHIFT & (RECALL_SLICES - 1), seen = 0;
	__u64 round = now_ns >> (RECALL_SHIFT + 3) & 0xffff, word, bits;

	for (__u32 i = 0; i < RECALL_SLICES; i++) {
		/* Those behind this one are of the round before; its own does not count.
		 */
		__u64 its = (round - ((slice - i) >> 31)) & 0xffff;

		word = *(volatile __u64 *)&line->words[i];
		seen += zero_bit((word >> RECALL_ROOM ^ its) | (~word & mask) |
				 zero_bit(i ^ slice));
	}
	if (!index_below(&slice, RECALL_SLICES))
		return 0;
	word = *(volatile __u64 *)&line->words[slice];
	bits = word & ((1ull << RECALL_ROOM) - 1) &
	       -(__u64)zero_bit(word >> RECALL_ROOM ^ round);
	/* Lost to another of the same line: it is not written down in this slice. */
	if ((bits & mask) != mask)
		__sync_val_compare_and_swap(&line->words[slice], word,
					    round << RECALL_ROOM | bits | mask);
	return seen;
}

static __always_inline bool recall_fits(__u32 seen)
{
	return seen >= RECALL_LEAST && seen <= RECALL_MOST;
}

/* --- the window, by the daemon ----------------------------------------------- */

#define RECALL_RATE   1000000 /* sources written down in a second */
#define RECALL_TURN_S 5 /* how long the window stays where it is: three questions */

/*
 * How much shall be outside the window when @rate sources a second were written down in
 * one of which @shut was outside. 0: nothing.
 */
static inline __u32 recall_shut(__u32 shut, __u64 rate)
{
	__u64 width = (__u64)~shut + 1, all;

	if (!rate)
		return 0;
	/* As if all had been written down. */
	all = (rate << 32) / width;
	if (all <= RECALL_RATE)
		return 0;
	width = ((__u64)RECALL_RATE << 32) / all;
	return width < 1 << 20 ? ~((1u << 20) - 1) : ~(__u32)(width - 1);
}

#endif /* RECALL_H */
