/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fragments.bpf.h - what the server sends in fragments shares one fate.
 *
 * Only the first fragment has ports, so what became of it is noted under both addresses
 * and the IP id. The others leave right behind it: a note is good for a second or two,
 * since ids come again, and as long as the service that it is of drops anything.
 */
#ifndef FRAGMENTS_BPF_H
#define FRAGMENTS_BPF_H

#include <linux/pkt_cls.h>

#include "service.bpf.h"

/*
 * A note: bit 0 the fate, then 16 bits of slot, 16 of the time in seconds, and the rest a
 * hash of whose it is. 0: none. Full cannot be: a newer note takes the cell.
 */
#define FRAGMENT_DROPPED  1
#define FRAGMENT_SLOT_AT  1
#define FRAGMENT_TIME_AT  17
#define FRAGMENT_OWNER_AT 33
#define FRAGMENT_AGE_S	  1 /* of 2^30 ns, begun ones not counted */

static __always_inline __u64 fragment_end(const struct live *l, const struct packet *p,
					  enum side side)
{
	const __be32 *addr = packet_address(p, side);

	if (!addr)
		return 0;
	if (!p->ipv6)
		return *addr * l->keys[0];
	return load_u64(addr) * l->keys[0] + load_u64(addr + 2) * l->keys[1];
}

/* Of its upper bits some say where the note is, others whose it is. */
static __always_inline __u64 fragment_hash(const struct live *l, const struct packet *p)
{
	return fragment_end(l, p, RECEIVER) +
	       (fragment_end(l, p, SENDER) + p->id) * l->keys[2];
}

static __always_inline __u64 *fragment_cell(__u64 hash)
{
	__u32 index = hash >> (64 - FRAGMENT_BITS);

	return bpf_map_lookup_elem(&fragments, &index);
}

/* The first fragment of a datagram of the service in @slot has left, or has not. */
static __always_inline void fragment_note(const struct live *l, const struct packet *p,
					  __u32 slot, bool dropped)
{
	__u64 hash = fragment_hash(l, p), *cell = fragment_cell(hash);

	if (cell)
		*cell = hash << FRAGMENT_OWNER_AT |
			(__u64)(__u16)clock_s(l) << FRAGMENT_TIME_AT |
			slot << FRAGMENT_SLOT_AT | (dropped ? FRAGMENT_DROPPED : 0);
}

/* TC_ACT_SHOT if the first fragment of this datagram was dropped. */
static __always_inline int fragment_follow(const struct live *l, const struct tables *tab,
					   const struct packet *p)
{
	__u64 hash = fragment_hash(l, p), *cell = fragment_cell(hash);
	const struct service *service;
	__u64 note = cell ? *cell : 0;
	__u32 slot = (__u16)(note >> FRAGMENT_SLOT_AT);
	__u16 age = (__u16)clock_s(l) - (__u16)(note >> FRAGMENT_TIME_AT);

	if (!(note & FRAGMENT_DROPPED) || age > FRAGMENT_AGE_S ||
	    (note ^ hash << FRAGMENT_OWNER_AT) >> FRAGMENT_OWNER_AT)
		return TC_ACT_UNSPEC;
	service = service_at(tab, &slot);
	return service && service->active && !service->observe ? TC_ACT_SHOT
							       : TC_ACT_UNSPEC;
}

#endif /* FRAGMENTS_BPF_H */
