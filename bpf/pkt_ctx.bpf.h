/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pkt_ctx.bpf.h - what a datagram is, as one function tells it to the next, and shield()
 * to the program that it jumps to: found out once.
 */
#ifndef PKT_CTX_BPF_H
#define PKT_CTX_BPF_H

#include "server_challenge.bpf.h"

/* Of a datagram to a service. Each function that is given it has the stack for itself. */
struct pkt_ctx {
	__u64 target, offsets; /* TARGET(), OFFSETS() */
	__u64 net; /* address_net() of the sender */
	struct cookie_peer peer;
	__u32 length; /* of the payload */
	__u32 acl; /* enum reason by the lists, or REASON_COUNT */
	__u32 decided; /* enum reason as of TAIL_CTX_DECIDED; 0: not judged yet */
};

/*
 * struct tail_ctx.what. From bit 0: TARGET(), the length of the payload, a bit that is
 * always set, and what is known of a request of a source that is on no list, and which
 * exceeds its limits: the reason to refuse it if it cannot be challenged, or why it may
 * be answered from the cache. Reason 0: nothing is known of that.
 */
#define TAIL_CTX_LENGTH	 32
#define TAIL_CTX_PRESENT (1ull << 48)
#define TAIL_CTX_DECIDED 49
#define TAIL_CTX(slot, kind, length) \
	(TARGET(slot, kind) | (__u64)(length) << TAIL_CTX_LENGTH | TAIL_CTX_PRESENT)

static __always_inline __u32 pkt_slot(const struct pkt_ctx *c)
{
	return c->target >> 16 & 0xffff;
}

static __always_inline enum wire_kind pkt_kind(const struct pkt_ctx *c)
{
	return c->target & 0xffff;
}

static __always_inline __u32 pkt_ipv6(const struct pkt_ctx *c)
{
	return c->offsets >> 32 & 1;
}

static __always_inline __be16 pkt_port(const struct pkt_ctx *c)
{
	return c->peer.word[2];
}

/* amplification_prefix() of the sender. */
static __always_inline __u64 pkt_prefix(const struct pkt_ctx *c)
{
	return c->net >> 8 | (__u64)pkt_ipv6(c) << 56;
}

static __always_inline void pkt_packet(struct xdp_md *ctx, const struct pkt_ctx *c,
				       struct packet *ret)
{
	offsets_packet(ctx, c->offsets, c->length, ret);
}

/* Tell the program that is jumped to what was found: TAIL_CTX(), OFFSETS(). */
__noinline int tail_ctx_store(__u64 target, __u64 offsets)
{
	__u32 zero = 0;
	struct tail_ctx *h = bpf_map_lookup_elem(&tail_ctx, &zero);

	if (!h)
		return 0;
	h->offsets = offsets;
	h->target = target;
	return 0;
}

/*
 * What was handed over, which is taken away: a program of before an upgrade hands over
 * nothing, and what is not there for this frame has to be found. False: it is not.
 */
static __always_inline bool tail_ctx_take(struct pkt_ctx *ret)
{
	__u32 zero = 0;
	struct tail_ctx *h = bpf_map_lookup_elem(&tail_ctx, &zero);

	if (!h || !h->target)
		return false;
	ret->target = (__u32)h->target;
	ret->length = h->target >> TAIL_CTX_LENGTH & 0xffff;
	ret->decided = h->target >> TAIL_CTX_DECIDED;
	ret->offsets = h->offsets;
	h->target = 0;
	return true;
}

#endif /* PKT_CTX_BPF_H */
