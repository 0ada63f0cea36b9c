/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused.bpf.h - which sources are refused or challenged: refused.h. Called where a
 * datagram toward a server is counted.
 *
 * A datagram that is not looked at costs five instructions. One that is, one in
 * REFUSED_EVERY, costs a call and a look-up, and touches 24 bytes of this processor's.
 */
#ifndef REFUSED_BPF_H
#define REFUSED_BPF_H

#include "service.bpf.h"

/* The log of @slot's @class, @reason and whether it is IPv6 as one integer. */
#define REFUSED_WHAT(slot, class, reason, ipv6) \
	((__u64)((slot)*CLASS_COUNT + (class)) << 32 | (__u64)(reason) << 16 | (ipv6))

/* Keep @net, the address_net() of the sender. @what: REFUSED_WHAT(). */
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
