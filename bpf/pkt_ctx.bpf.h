/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pkt_ctx.bpf.h - what is known of a datagram, as shield() hands it to the program that
 * it tail-calls, and as the functions of that program hand it on.
 *
 * shield() finds the service, the kind and the offsets once and stores them in the map
 * tail_ctx; shield_validate() and shield_cache() take them from there. If there is no
 * context, as after a shield() of an older version, they parse the frame: pkt_find(). The
 * pkt_*() functions are called with what pkt_find() has filled. One exception: on the
 * fast path challenge_plain() fills a struct pkt_ctx of its own, without @addresses, for
 * challenge_reply() and count_challenged(); pkt_packet() must not be called with that.
 */
#ifndef PKT_CTX_BPF_H
#define PKT_CTX_BPF_H

#include "server_challenge.bpf.h"

/*
 * A datagram to a service. It is on the stack of the program and given by pointer, so
 * each function that gets it compares the pointer with NULL first.
 */
struct pkt_ctx {
	__u16 slot; /* of the service */
	__u16 kind; /* enum wire_kind */
	__u32 length; /* of the payload; 16 bits */
	__u16 payload, addresses; /* offsets, as in struct packet */
	__u16 ipv6; /* 0 or 1 */
	__u16 mute; /* 1: no challenge can be sent in its place; set by shield_validate()
		     */
	__u32 decided; /* enum reason as of TAIL_CTX_DECIDED; 0: the fast path has not
			  decided */
	__u64 net; /* address_net() of the sender */
	struct cookie_peer peer; /* in shield_validate() and challenge_plain() alone */
	__u32 form; /* enum cookie_form or COOKIE_REPLACED: into what the datagram is to
		       be rewritten; 0: it goes on as it came; set by validation_decide()
		     */
	union {
		__u32 acl; /* enum reason by the lists; REASON_COUNT: the lists decide
			      nothing; set by pkt_decide() */
		/* In shield_cache(): the low 32 bits of the generation of the cached
		 * response; set by cache_choose(). */
		__u32 generation;
	};
};

/*
 * Bits of struct tail_ctx.target, from bit 0: TARGET(); the length of the payload; a bit
 * that is always set; and what the fast path has decided about a request that exceeds its
 * limits and has a source on no list: the reason to refuse it, if no challenge can be
 * sent, or why it may be served from the cache. 0: nothing is decided.
 */
#define TAIL_CTX_LENGTH	 32
#define TAIL_CTX_PRESENT (1ull << 48)
#define TAIL_CTX_DECIDED 49
#define TAIL_CTX(slot, kind, length) \
	(TARGET(slot, kind) | (__u64)(length) << TAIL_CTX_LENGTH | TAIL_CTX_PRESENT)

/*
 * Values of a path that leaves the decision to another: slow_path(), encapsulated_path(),
 * or a tail call to shield_validate() or shield_cache(). Below 0, where no XDP action is.
 */
#define PATH_SLOW	  (-1)
#define PATH_ENCAPSULATED (-2)
#define PATH_VALIDATE	  (-3)
#define PATH_CACHE	  (-4)

/*
 * Return the slot of the service. It comes from a map, so the verifier knows no bound:
 * service_at() compares it.
 */
static __always_inline __u32 pkt_slot(const struct pkt_ctx *c)
{
	return c->slot;
}

/* Return the kind of the datagram. It comes from a map: compare it before it indexes. */
static __always_inline enum wire_kind pkt_kind(const struct pkt_ctx *c)
{
	return c->kind;
}

/* Return 1 if the datagram came by IPv6, or 0. */
static __always_inline __u32 pkt_ipv6(const struct pkt_ctx *c)
{
	return c->ipv6 & 1;
}

/*
 * Return amplification_key() of the sender, after c->net is set. Called by
 * challenge_charge() and cache_charge().
 */
static __always_inline __u64 pkt_prefix(const struct pkt_ctx *c)
{
	return amplification_key(c->net, pkt_ipv6(c));
}

/*
 * Fill *@ret from @c and the frame as it is now; server_port, id and whole are zero.
 * Called by functions of the two tail-called programs before they read the frame, anew
 * after each helper that moves it. offsets_packet() does the same from integers.
 */
static __always_inline void pkt_packet(struct xdp_md *ctx, const struct pkt_ctx *c,
				       struct packet *ret)
{
	__builtin_memset(ret, 0, sizeof(*ret));
	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, ret);
	ret->payload = c->payload & OFFSET_MASK;
	ret->addresses = c->addresses & OFFSET_MASK;
	ret->ipv6 = pkt_ipv6(c);
	ret->length = c->length;
}

/*
 * Fill @c from @target, TAIL_CTX() with what the fast path has decided, and @offsets,
 * OFFSETS(). The rest stays. Called by tail_ctx_take() and pkt_find(). challenge_plain()
 * takes what a challenge needs out of @target by the same bits: change both.
 */
static __always_inline void pkt_fill(struct pkt_ctx *c, __u64 target, __u64 offsets)
{
	c->slot = target >> 16;
	c->kind = target;
	c->length = target >> TAIL_CTX_LENGTH & 0xffff;
	c->decided = target >> TAIL_CTX_DECIDED;
	c->payload = offsets;
	c->addresses = offsets >> 16;
	c->ipv6 = offsets >> 32;
}

/*
 * Store @target, TAIL_CTX() or 0 for nothing, and @offsets, OFFSETS(), for the program of
 * the next tail call. On this CPU; a tail call must follow at once. Called by
 * tail_ctx_store() and challenge_now().
 */
static __always_inline void tail_ctx_put(__u64 target, __u64 offsets)
{
	__u32 zero = 0;
	struct tail_ctx *h = bpf_map_lookup_elem(&tail_ctx, &zero);

	if (h) {
		h->offsets = offsets;
		h->target = target;
	}
}

/*
 * tail_ctx_put(), analysed once by the verifier. Returns 0, which says nothing; shield()
 * or shield_cache() makes the tail call. Called by tail_call_to(), slow_path()
 * and shield_cache(), and with 0 by shield() and shield_cache() after a tail call that
 * failed: a context that stays would be taken for another frame's.
 */
__noinline int tail_ctx_store(__u64 target, __u64 offsets)
{
	tail_ctx_put(target, offsets);
	return 0;
}

/*
 * Take the context that shield() or shield_cache() stored for this frame into *@ret, of
 * which net and peer are not set. It is cleared, so that no later frame meets it. False:
 * nothing is stored. Called by pkt_find() alone, once per program.
 */
static __always_inline bool tail_ctx_take(struct pkt_ctx *ret)
{
	__u32 zero = 0;
	struct tail_ctx *h = bpf_map_lookup_elem(&tail_ctx, &zero);

	if (!h || !h->target)
		return false;
	pkt_fill(ret, h->target, h->offsets);
	h->target = 0;
	return true;
}

#endif /* PKT_CTX_BPF_H */
