/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused.bpf.h - keep a sample of the sources that are refused or challenged
 * (refused.h), from which the daemon names those of an attack.
 *
 * Called where a datagram toward a server is counted. refused_turn() costs each datagram
 * five instructions. One in REFUSED_EVERY costs a call and a look-up, and touches 24
 * bytes of this CPU.
 */
#ifndef REFUSED_BPF_H
#define REFUSED_BPF_H

#include "service.bpf.h"

/* Index of the log of @slot and @class, the reason, and whether IPv6, in one integer. */
#define REFUSED_WHAT(slot, class, reason, ipv6) \
	((__u64)REFUSED_INDEX(slot, class) << 32 | (__u64)(reason) << 16 | (ipv6))

/*
 * Note @net, the address_net() of the sender; refused_keep() draws whether it is kept.
 * @what: REFUSED_WHAT(). Called by plain_refused(), count_decision() and
 * count_challenged() after refused_turn(). The log is this CPU's own: nothing is atomic.
 */
__noinline int refused_note(__u64 net, __u64 what)
{
	__u32 key = what >> 32;
	struct refused *log = bpf_map_lookup_elem(&refused, &key);

	if (log)
		refused_keep(log, net, what & 1, what >> 16,
			     refused_tick(clock_now(&live)), bpf_get_prandom_u32());
	return 0;
}

#endif /* REFUSED_BPF_H */
