/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call.bpf.h - what a datagram is, as one function tells it to the next, and shield() to
 * the program that it jumps to: found out once.
 */
#ifndef CALL_BPF_H
#define CALL_BPF_H

#include "server_challenge.bpf.h"

/* Of a datagram to a service. Each function that is given it has the stack for itself. */
struct call {
	__u64 what, where; /* PROOF_WHAT(), PROOF_WHERE() */
	__u64 net; /* address_net() of the sender */
	struct cookie_peer who;
	__u32 length; /* of the payload */
	__u32 acl; /* enum reason by the lists, or REASON_COUNT */
	__u32 judged; /* enum reason as of HANDED_JUDGED; 0: not judged yet */
};

/*
 * struct handed.what. From bit 0: PROOF_WHAT(), the length of the payload, a bit that is
 * always set, and what is known of a request of a source that is on no list, and which
 * exceeds its limits: the reason to refuse it if it cannot be challenged, or why it may
 * be answered from the cache. Reason 0: nothing is known of that.
 */
#define HANDED_LENGTH 32
#define HANDED_HERE   (1ull << 48)
#define HANDED_JUDGED 49
#define HANDED(slot, kind, length) \
	(PROOF_WHAT(slot, kind) | (__u64)(length) << HANDED_LENGTH | HANDED_HERE)

static __always_inline __u32 call_slot(const struct call *c)
{
	return c->what >> 16 & 0xffff;
}

static __always_inline enum wire_kind call_kind(const struct call *c)
{
	return c->what & 0xffff;
}

static __always_inline __u32 call_ipv6(const struct call *c)
{
	return c->where >> 32 & 1;
}

static __always_inline __be16 call_port(const struct call *c)
{
	return c->who.word[2];
}

/* amplification_prefix() of the sender. */
static __always_inline __u64 call_prefix(const struct call *c)
{
	return c->net >> 8 | (__u64)call_ipv6(c) << 56;
}

static __always_inline void call_packet(struct xdp_md *ctx, const struct call *c,
					struct packet *ret)
{
	where_packet(ctx, c->where, c->length, ret);
}

/* Tell the program that is jumped to what was found: HANDED(), PROOF_WHERE(). */
__noinline int hand_over(__u64 what, __u64 where)
{
	__u32 zero = 0;
	struct handed *h = bpf_map_lookup_elem(&handed, &zero);

	if (!h)
		return 0;
	h->where = where;
	h->what = what;
	return 0;
}

/*
 * What was handed over, which is taken away: a program of before an upgrade hands over
 * nothing, and what is not there for this frame has to be found. False: it is not.
 */
static __always_inline bool hand_take(struct call *ret)
{
	__u32 zero = 0;
	struct handed *h = bpf_map_lookup_elem(&handed, &zero);

	if (!h || !h->what)
		return false;
	ret->what = (__u32)h->what;
	ret->length = h->what >> HANDED_LENGTH & 0xffff;
	ret->judged = h->what >> HANDED_JUDGED;
	ret->where = h->where;
	h->what = 0;
	return true;
}

#endif /* CALL_BPF_H */
