/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fragments.bpf.h - drop the later fragments of an outgoing datagram whose first fragment
 * was dropped.
 *
 * Only the first fragment has ports, so what became of it is noted under both addresses
 * and the IP id. The others leave right after it: a note holds for one to two units of
 * 2^30 ns, since ids repeat, and while its service enforces. A newer note replaces an
 * older one in its cell, even if both have different owners.
 *
 * Called by shield_out() alone.
 */
#ifndef FRAGMENTS_BPF_H
#define FRAGMENTS_BPF_H

#include <linux/pkt_cls.h>

#include "service.bpf.h"

/*
 * A note: bit 0 whether the first fragment was dropped, then 16 bits of slot, 16 of the
 * time in units of 2^30 ns, and 31 of a hash of its owner. 0: no note.
 */
#define FRAGMENT_DROPPED  1
#define FRAGMENT_SLOT_AT  1
#define FRAGMENT_TIME_AT  17
#define FRAGMENT_OWNER_AT 33
#define FRAGMENT_AGE_S	  1 /* age of a note that still counts, in units of 2^30 ns */

/*
 * Return the part of fragment_hash() of the address at @side. Called by fragment_hash()
 * alone.
 */
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

/*
 * Return a hash of both addresses and the IP id. The upper FRAGMENT_BITS choose the cell;
 * the lowest 31 bits are kept as its owner. Called by fragment_note() and
 * fragment_follow(), which must agree: only fields that all fragments have may enter it.
 */
static __always_inline __u64 fragment_hash(const struct live *l, const struct packet *p)
{
	__u64 hash = fragment_end(l, p, RECEIVER) +
		     (fragment_end(l, p, SENDER) + p->id) * l->keys[2];

	/* No lower bit of a product depends on the upper bits of an address: fold. */
	return hash ^ hash >> 32;
}

/*
 * Return the cell of @hash, of fragment_hash(). NULL cannot be, but the verifier does not
 * know. Called by fragment_note() and fragment_follow().
 */
static __always_inline __u64 *fragment_cell(__u64 hash)
{
	__u32 index = hash >> (64 - FRAGMENT_BITS);

	return bpf_map_lookup_elem(&fragments, &index);
}

/*
 * Note what became of the first fragment of a datagram of the service in @slot. Called by
 * shield_out() alone, for each first fragment. @dropped must be what becomes of this
 * datagram, after REASON_AMPLIFICATION and observing, also if it passes: the note
 * replaces an older one with the same id.
 */
static __always_inline void fragment_note(const struct live *l, const struct packet *p,
					  __u32 slot, bool dropped)
{
	__u64 hash = fragment_hash(l, p), *cell = fragment_cell(hash);

	if (cell)
		*cell = hash << FRAGMENT_OWNER_AT |
			(__u64)(__u16)clock_s(l) << FRAGMENT_TIME_AT |
			slot << FRAGMENT_SLOT_AT | (dropped ? FRAGMENT_DROPPED : 0);
}

/*
 * Return TC_ACT_SHOT for a later fragment whose first one was dropped, or TC_ACT_UNSPEC.
 * Called by shield_out() alone, for OTHER_LATER_FRAGMENT. It must pass a fragment without
 * a note, and one of a service that observes or is gone.
 */
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
