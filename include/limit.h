/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limit.h - the arithmetic of a rate limit, without a clock or a map.
 *
 * GCRA (ITU-T I.371): the whole state of a limit is one u64, the time at which it will be
 * whole again (due_ns); 0 is a limit from which nothing was taken. Taking costs an
 * addition and a comparison, no division, and one compare-and-swap makes it exact on any
 * number of CPUs.
 *
 * All times are ns of one monotonic clock, which may tick coarsely: as long as burst_ns
 * spans a tick, the long-run rate is exact.
 *
 * limit_normal() is called by the daemon for the limits of the configuration
 * (service_finish(), apply_validation()), limit_never() by userland, the other functions
 * by the programs; limit_place() also by userland (shield_cells.h), and limit_cell()
 * there through allowed_cell(). A constant limit with 0 < cost_ns <= burst_ns needs no
 * limit_normal(). due_ns is kept in pinned tables: if its meaning or the choice of its
 * cell changes, raise ABI_VERSION (user/shield/shield_abi.c), or sources begin with the
 * debts of others.
 */
#ifndef LIMIT_H
#define LIMIT_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"

#define LIMIT_TRIES \
	4 /* attempts at the compare-and-swap; after that a request is refused */

/*
 * A limit as the configuration says it. limit_normal() must be called before
 * limit_exceeded().
 */
struct limit {
	__u64 cost_ns; /* ns that one request costs, 1e9 / rate; 0: no limit */
	__u64 burst_ns; /* ns of requests at once, burst * cost_ns; less than cost_ns:
			   nothing passes */
};

#define LIMIT_NONE_NS (1ull << 62) /* more ns than any clock shows, and no sign bit */

/*
 * Give both extremes the form of other limits, so that limit_exceeded() needs no further
 * comparison: no limit becomes a burst that no debt reaches; a limit that lets nothing
 * pass, a burst far below zero. May be called twice. Call it before programs can see @l.
 * limit_take() relies on it too, except that it lets all pass at cost 0. limit_never()
 * recognises the second form, and apply_cache() in user/shield/shield_apply.c writes it
 * itself.
 */
static inline void limit_normal(struct limit *l)
{
	if (!l->cost_ns)
		l->burst_ns = LIMIT_NONE_NS;
	else if (l->burst_ns < l->cost_ns)
		l->burst_ns = -LIMIT_NONE_NS;
}

/*
 * Return true if @l lets nothing pass: the second form that limit_normal() makes. Called
 * in userland, which shows limits and divides them.
 */
static inline bool limit_never(const struct limit *l)
{
	return (__s64)l->burst_ns < (__s64)l->cost_ns;
}

/*
 * Return true if @l has no room for one request at @now_ns. Changes nothing. @due_ns: its
 * state. @l: as limit_normal() leaves it. Called by limit_take(), and where several
 * limits are looked at before one is charged: false reserves nothing, so limit_take()
 * compares again. The comparison is signed, for a burst below zero. about_wait() and
 * about_left() in user/shield/shield_about.c solve the same comparison for the time and
 * for the requests that are left.
 */
static __always_inline bool limit_exceeded(const struct limit *l, __u64 due_ns,
					   __u64 now_ns)
{
	return (__s64)(due_ns + l->cost_ns) > (__s64)(now_ns + l->burst_ns);
}

/*
 * Take one request from @l with the state *@due_ns. False: exceeded, or LIMIT_TRIES races
 * in a row were lost; then nothing is taken. Any CPU, without a lock: @due_ns may be
 * shared by all. @l: as limit_normal() leaves it.
 */
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

/*
 * Return @l for a request that costs @cost / @one of an ordinary one. @one: a power of
 * two. Called by budget_scopes(). The result is as limit_normal() leaves it if @l is.
 */
static __always_inline struct limit limit_scaled(const struct limit *l, __u32 cost,
						 __u32 one)
{
	struct limit scaled = { l->cost_ns * cost / one, l->burst_ns };

	/* A request that costs more than a whole burst may still pass once per burst. */
	if (scaled.cost_ns > l->burst_ns && l->cost_ns <= l->burst_ns)
		scaled.cost_ns = l->burst_ns;
	return scaled;
}

/*
 * Return the cell of (@net, @tag) in a table of 2^@bits cells, 1 to 32 bits.
 * Multiply-shift hashing with secret odd @keys: two different inputs share a cell with
 * probability at most 2^(1-bits), whatever an attacker without the keys chooses
 * (Dietzfelbinger et al. 1997). Called by the programs, and by userland through
 * allowed_cell(). @tag: tells apart what shares a table: allowed_cell() and
 * cache_source_limit() set a bit each.
 */
static __always_inline __u32 limit_cell(const __u64 keys[3], __u64 net, __u64 tag,
					__u32 bits)
{
	return (net * keys[0] + tag * keys[1] + keys[2]) >> (64 - bits);
}

/*
 * Return the cell of @net in a table where it matters that several inputs share one.
 * Inputs that limit_cell() puts into one cell differ by the same distance, wherever they
 * are: with five at equal distances, one distance in 2^17 does it for all inputs. Here
 * @keys decide for each input which others share its cell. Called by
 * amplification_place(), and by cell_amplification() in userland, which must find the
 * same cell (tests/kern/kern_explain_trial.c).
 */
static __always_inline __u32 limit_place(const __u64 keys[3], __u64 net, __u32 bits)
{
	__u64 hash = net * keys[0] + keys[2];

	return (hash ^ hash >> 32) * keys[1] >> (64 - bits);
}

#endif /* LIMIT_H */
