/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limit.h - the arithmetic of a rate limit, without a clock or a map.
 *
 * GCRA (ITU-T I.371): the whole state of a bucket is one u64, the time at which it will
 * be full again ("due"). Taking costs an addition and a comparison, no division, and one
 * compare-and-swap makes it exact on any number of CPUs.
 *
 * All times are nanoseconds of one monotonic clock, which may tick coarsely: as long as
 * burst_ns spans a tick, the long-run rate is exact.
 */
#ifndef LIMIT_H
#define LIMIT_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"

#define LIMIT_TRIES 4 /* compare-and-swap attempts before a request is refused */

/* As it is written down; limit_normal() makes of it what limit_exceeded() takes. */
struct limit {
	__u64 cost_ns; /* one request's worth of time, 1e9 / rate; 0: no limit */
	__u64 burst_ns; /* burst * cost_ns; less than cost_ns: nothing ever passes */
};

#define LIMIT_NONE_NS (1ull << 62) /* more than any clock shows, and no sign bit */

/*
 * Bring the two extremes into the form of all others, so that limit_exceeded() need not
 * ask: no limit is a burst that no debt reaches, and what lets nothing pass has one so
 * far below zero that no credit does. Twice is as good as once.
 */
static inline void limit_normal(struct limit *l)
{
	if (!l->cost_ns)
		l->burst_ns = LIMIT_NONE_NS;
	else if (l->burst_ns < l->cost_ns)
		l->burst_ns = -LIMIT_NONE_NS;
}

/* Does @l lack the time for one request at @now_ns? Changes nothing. */
static __always_inline bool limit_exceeded(const struct limit *l, __u64 due_ns,
					   __u64 now_ns)
{
	return (__s64)(due_ns + l->cost_ns) > (__s64)(now_ns + l->burst_ns);
}

/* Pay for one request. False: refused, or lost LIMIT_TRIES races in a row. */
static __always_inline bool limit_take(const struct limit *l, __u64 *due_ns, __u64 now_ns)
{
	if (!l->cost_ns)
		return true;

	for (int i = 0; i < LIMIT_TRIES; i++) {
		__u64 seen = *(volatile __u64 *)due_ns;
		__u64 from = seen > now_ns ? seen : now_ns;

		if (limit_exceeded(l, seen, now_ns))
			return false;
		if (__sync_val_compare_and_swap(due_ns, seen, from + l->cost_ns) == seen)
			return true;
	}
	return false;
}

/* @l for a request that counts as @cost / @one ordinary ones. @one: a power of two. */
static __always_inline struct limit limit_scaled(const struct limit *l, __u32 cost,
						 __u32 one)
{
	struct limit scaled = { l->cost_ns * cost / one, l->burst_ns };

	/* What costs more than a whole burst may still have one. */
	if (scaled.cost_ns > l->burst_ns && l->cost_ns <= l->burst_ns)
		scaled.cost_ns = l->burst_ns;
	return scaled;
}

/*
 * Where in a table of 2^@bits cells the budget of (@net, @tag) lives. Multiply-shift
 * hashing with secret odd @keys: two different inputs share a cell with probability at
 * most 2^(1-bits), whatever an attacker who does not know the keys may choose
 * (Dietzfelbinger et al. 1997). @bits: 1..32.
 */
static __always_inline __u32 limit_cell(const __u64 keys[3], __u64 net, __u64 tag,
					__u32 bits)
{
	return (net * keys[0] + tag * keys[1] + keys[2]) >> (64 - bits);
}

/*
 * limit_cell() of @net for a table in which it matters that many inputs meet. Those that
 * limit_cell() puts into one cell differ by the same, wherever they are: with five at
 * equal distances, one distance in 2^17 does it for all inputs. Here, @keys say for each
 * input which others it meets.
 */
static __always_inline __u32 limit_place(const __u64 keys[3], __u64 net, __u32 bits)
{
	__u64 hash = net * keys[0] + keys[2];

	return (hash ^ hash >> 32) * keys[1] >> (64 - bits);
}

#endif /* LIMIT_H */
