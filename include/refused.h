/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused.h - a sample of the sources whose datagrams are refused or challenged.
 *
 * The programs fill it without any configuration, the daemon reads it once a second and
 * names the sources of an attack (user/incident/). There is one log for each service,
 * class and processor. One in REFUSED_EVERY of each kind and reason is looked at. One of
 * these in each period of 2^REFUSED_TICK ns is kept, at random, with their number as its
 * weight. So a flood takes no more places than a source that guesses passwords, a flood
 * of one class takes none of another's, and a weight says how many datagrams a place
 * stands for.
 *
 * Which one in REFUSED_EVERY is looked at depends on struct sampling.phase, which is
 * random: a source that sends a spoofed datagram after every fifteen of its own cannot
 * know which of the sixteen is looked at.
 *
 * A log never fills: the place of a period is taken again REFUSED_KEPT periods later,
 * which is 2.1 seconds. All of it belongs to one processor, so no access is atomic; the
 * reader may see a place that is half written, once in a great while.
 *
 * refused_turn() is called where the programs count a datagram toward a server,
 * refused_keep() by refused_note() alone. In userland shield_refused.c reads the logs,
 * and empties those of a slot that gets another service.
 */
#ifndef REFUSED_H
#define REFUSED_H

#include <linux/types.h>
#include <stdbool.h>

#include "wire.h"

#define REFUSED_EVERY 16 /* a power of two */
#define REFUSED_TICK  27 /* log2 of ns of a period: 134 ms */
#define REFUSED_KEPT  16 /* a power of two */

struct refused_source {
	__u64 net; /* an IPv4 address, or the upper half of an IPv6 one; host order */
	__u32 tick; /* refused_tick() of when it was kept */
	__u32 weight; /* units of REFUSED_EVERY datagrams; 0: the place is free */
	__u8 ipv6;
	__u8 reason; /* enum reason */
	__u8 pad[6];
};
_Static_assert(sizeof(struct refused_source) == 24, "struct refused_source has a hole");

/* The entry of the map refused that has the log of @slot and @class_. */
#define REFUSED_INDEX(slot, class_) ((slot)*CLASS_COUNT + (class_))

/* The log of one service, class and CPU. */
struct refused {
	struct refused_source kept[REFUSED_KEPT]; /* by the low bits of their tick */
};

/*
 * Return the period of @now_ns. Called by refused_note() and in userland. Both must use
 * the shield's clock.
 */
static __always_inline __u32 refused_tick(__u64 now_ns)
{
	return now_ns >> REFUSED_TICK;
}

/*
 * Return true for one datagram in REFUSED_EVERY: its source is to be noted. @counted:
 * count() of its counter, how many of its kind and reason were counted before. @phase:
 * struct sampling.phase, below REFUSED_EVERY; from there on none is (trial_show_all()).
 * Called by drop_in(), count_challenged() and count_decision(), after count(), for a
 * reason that drops or REASON_CHALLENGED; if it is true they call refused_note().
 */
static __always_inline bool refused_turn(__u32 phase, __u64 counted)
{
	return ((__u32)counted & (REFUSED_EVERY - 1)) == phase;
}

/*
 * Note a source that is looked at in @log. Each of the n of a period is kept with a
 * chance of 1 in n: otherwise a source that knows when periods begin could send a spoofed
 * datagram first. @random: any 32 bits. @log must be that of this processor. Called by
 * refused_note().
 */
static __always_inline void refused_keep(struct refused *log, __u64 net, __u8 ipv6,
					 __u8 reason, __u32 tick, __u32 random)
{
	struct refused_source *at = &log->kept[tick & (REFUSED_KEPT - 1)];
	__u32 weight = at->tick == tick ? at->weight : 0;

	at->weight = ++weight;
	if ((__u64)random * weight >> 32)
		return;
	at->net = net;
	at->tick = tick;
	at->ipv6 = ipv6;
	at->reason = reason;
}

#endif /* REFUSED_H */
