/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flood.h - how one template frame becomes many: the same arithmetic in the XDP
 * program and in the AF_PACKET fallback.
 *
 * Only the source changes: one 32-bit word of the address (all of IPv4's; of IPv6's
 * bytes 4 to 7, which number the /64) and the port. The plan carries the ones'
 * complement sums of everything else, so that every frame leaves with checksums
 * that are right whatever a recycled buffer held before.
 */
#ifndef FLOOD_H
#define FLOOD_H

#include <linux/types.h>
#include <asm/byteorder.h>

enum {
	FLOOD_FRAME_MAX = 2048,
	FLOOD_HEAD = 128
};

struct flood_plan {
	__u32 ifindex;
	__u32 sources;
	__u32 mask; /* smallest 2^k - 1 >= sources - 1 */
	__u32 fold; /* shift of the bijection, >= k / 2 */
	__u32 word; /* the address word of source 0, host order */
	__u32 port; /* lowest source port */
	__u32 port_mask;
	__u32 word_at; /* offsets into the frame */
	__u32 udp_at;
	__u32 ip_sum_at; /* 0: no header checksum (IPv6) */
	__u32 ip_sum;
	__u32 udp_sum;
	__u32 size;
	/* How the frame begins: a receiver strips tags in place, or writes an answer over
	 * it, and the buffer comes back as it was left. */
	__u8 head[FLOOD_HEAD];
};

/* Every number below sources comes once in sources steps if that is a power of two. */
static inline __u32 flood_index(const volatile struct flood_plan *plan, __u32 n)
{
	__u32 i = (n * 2654435761u) & plan->mask;

	i ^= i >> plan->fold;
	return i >= plan->sources ? i - plan->sources : i;
}

static inline __u16 flood_checksum(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

struct flood_source {
	__u32 word;
	__u16 port;
	__u16 ip_check;
	__u16 udp_check; /* all in host order */
};

static inline struct flood_source flood_source(const volatile struct flood_plan *plan,
					       __u32 n)
{
	struct flood_source s;
	__u32 halves;

	s.word = plan->word + flood_index(plan, n);
	s.port = plan->port + (((n * 2246822519u) >> 13) & plan->port_mask);
	halves = (s.word >> 16) + (s.word & 0xffff);
	s.ip_check = flood_checksum(plan->ip_sum + halves);
	s.udp_check = flood_checksum(plan->udp_sum + halves + s.port);
	if (!s.udp_check)
		s.udp_check = 0xffff;
	return s;
}

#endif /* FLOOD_H */
