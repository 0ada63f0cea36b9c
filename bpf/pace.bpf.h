/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pace.bpf.h - whether strangers have to prove their address now, and how many of them
 * are asked to in a second: what the short ways look at, too.
 */
#ifndef PACE_BPF_H
#define PACE_BPF_H

#include "admit.bpf.h"

/* Has @kind to do with proof on @s, which does not only observe? */
static __always_inline bool provable(const struct service *s, enum wire_kind kind)
{
	return service_flagged(s, kind, CLASS_PROVABLE);
}

static __always_inline bool pressed(const struct live *l, const struct service *s,
				    __u32 slot, __u64 now)
{
	return s->proof == PROOF_ALWAYS ||
	       now < l->proof.until_ns[slot & (SERVICES_MAX - 1)];
}

/* Some stranger was refused: from now on all have to prove themselves. */
static __always_inline void press(struct live *l, __u32 slot, __u64 now)
{
	pressure_note(&l->proof.until_ns[slot & (SERVICES_MAX - 1)], now);
}

/* Where in the hash space that takes turns a source and its port are. */
static __always_inline __u32 pace_hash(const struct live *l, __u64 net_hash, __be16 port)
{
	return (net_hash + port * l->keys[1]) >> 32;
}

/*
 * When somebody with @hash was asked last for what it wants, one of enum cookie_form. Who
 * repeats itself faster than any client is not answered each time: a flood from few
 * addresses and ports cannot have the window close around them, nor one peer drowned in
 * answers to what others said in its name. For queries @hash is without the port: they
 * can wait, and are asked for in other's names most.
 */
static __always_inline __u16 *asked_cell(struct live *l, __u32 hash, __u32 form)
{
	__u32 at = (hash + form) * 0x9e3779b1u >> (32 - ASKED_BITS);

	return index_below(&at, 1 << ASKED_BITS) ? &l->proof.asked[at] : NULL;
}

static __always_inline bool asked_lately(const __u16 *cell, __u64 now)
{
	__u16 was = *(const volatile __u16 *)cell;

	/* Odd, so that nobody's time is 0, which is none. */
	return was && (__u16)((__u16)(now >> ASKED_UNIT | 1) - was) < ASKED_MOST;
}

static __always_inline void asked_note(__u16 *cell, __u64 now)
{
	*(volatile __u16 *)cell = now >> ASKED_UNIT | 1;
}

/* Is there nothing left at this moment, or is it not this one's turn? */
static __always_inline bool pace_refuses(const struct pace *pace, __u32 hash, __u64 now)
{
	return limit_spent(&pace->limit, pace->due_ns, now) ||
	       hash - pace->from > ~pace->shut;
}

/* Once a tick: as wide a window as there is room for, and on by 1/13 of it. */
static __always_inline void pace_move(struct pace *pace, __u64 tick, __u64 now)
{
	__u64 debt = pace->due_ns > now ? pace->due_ns - now : 0;
	__u32 width = ~pace->shut, more = width >> 3;

	pace->from += (width >> 4) + (width >> 6);
	if (tick - pace->tick > 16)
		width = ~0u;
	else if (debt > pace->limit.burst_ns - (pace->limit.burst_ns >> 2))
		width -= width >> 2;
	else if (debt < pace->limit.burst_ns >> 2)
		width = width + more < width ? ~0u : width + more;
	/* Never so narrow that it stands still. */
	pace->shut = ~(width | 0xffff);
}

static __always_inline bool pace_take(struct pace *pace, __u64 now)
{
	__u64 tick = now >> PACE_TICK_BITS, seen = pace->tick;

	if (!limit_take(&pace->limit, &pace->due_ns, now))
		return false;
	if (tick != seen &&
	    __sync_val_compare_and_swap(&pace->tick, seen, tick) == seen) {
		struct pace was = { .tick = seen };

		was.limit = pace->limit;
		was.due_ns = pace->due_ns;
		was.from = pace->from;
		was.shut = pace->shut;
		pace_move(&was, tick, now);
		pace->from = was.from;
		pace->shut = was.shut;
	}
	return true;
}

#endif /* PACE_BPF_H */
