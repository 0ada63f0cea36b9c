/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_validate.bpf.h - the program that shield() tail-calls for datagrams that take
 * part in address validation (validation_applies()). It decides all that shield() left
 * open about them: passes, drops, or sends a challenge.
 *
 * A program of its own, so that its cost to the verifier does not add to shield()'s, and
 * a frame that has nothing to do with validation pays nothing. shield_cache() tail-calls
 * it too, for queries that are not served from the cache.
 */
#ifndef SHIELD_VALIDATE_BPF_H
#define SHIELD_VALIDATE_BPF_H

#include "reputation.bpf.h"
#include "validation.bpf.h"

/*
 * Return what the lists decide about the sender, or REASON_COUNT: nothing, also of an
 * allowed source or master server beyond its own limits. Within them it is not
 * challenged. Called by pkt_acl_reason() alone. It charges the source's own limit, so
 * once per datagram.
 */
static __always_inline enum reason acl_reason(__u32 slot, const struct packet *p)
{
	enum acl_result listed = acl_lookup(&live, slot, p, SENDER);
	enum reason reason;

	switch (listed) {
	case ACL_NONE:
		return REASON_COUNT;
	case ACL_UNLIMITED:
		return REASON_ALLOW_LIST;
	case ACL_DENIED:
		return REASON_DENY_LIST;
	default:
		reason = allowed_admit(slot, listed, REASON_SOURCE_LIMIT, p);
		return reason_verdict(reason) == VERDICT_PASS ? reason : REASON_COUNT;
	}
}

/*
 * Fill *@ret, which is zero, from the context that shield() or shield_cache() stored, or
 * else parse the frame. @validates: with ret->peer. Returns PATH_SLOW with *@ret set, or
 * what to do with the frame; then it is counted. Called by pkt_find_validated() and
 * pkt_find_cached(). ret->decided may be set only from a context of the fast path, which
 * has found the source on no list.
 */
static __always_inline int pkt_find(struct xdp_md *ctx, bool validates,
				    struct pkt_ctx *ret)
{
	struct packet p = { 0 };
	struct target target;
	int action;

	if (!ret)
		return XDP_DROP;
	if (!tail_ctx_take(ret)) {
		action = target_find(ctx, &p, &target);
		if (action != PATH_SLOW)
			return action;
		pkt_fill(ret, TAIL_CTX(target.slot, target.kind, p.length),
			 packet_offsets(&p));
	}
	pkt_packet(ctx, ret, &p);
	if (validates)
		packet_peer(&p, SENDER, pkt_slot(ret), &ret->peer);
	ret->net = address_net(&p, SENDER);
	return PATH_SLOW;
}

/* pkt_find(), analysed once by the verifier. Called by shield_validate() alone, first. */
__noinline int pkt_find_validated(struct xdp_md *ctx, struct pkt_ctx *ret)
{
	return pkt_find(ctx, true, ret);
}

/* The same for shield_cache(). */
__noinline int pkt_find_cached(struct xdp_md *ctx, struct pkt_ctx *ret)
{
	return pkt_find(ctx, false, ret);
}

/*
 * Return enum acl_result of the sender. Analysed once by the verifier. Called by
 * cache_reason(), cache_admit(), cache_charge() and player_conflict(), as often as they
 * need it: unlike pkt_acl_reason() it charges nothing.
 */
__noinline int pkt_acl(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	if (!c)
		return ACL_NONE;
	pkt_packet(ctx, c, &p);
	return acl_lookup(&live, pkt_slot(c), &p, SENDER);
}

/*
 * Return acl_reason() of the sender. Analysed once by the verifier. Called by
 * pkt_decide() alone, once: it charges an allowed source's own limit.
 */
__noinline int pkt_acl_reason(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	if (!c)
		return REASON_COUNT;
	pkt_packet(ctx, c, &p);
	return acl_reason(pkt_slot(c), &p);
}

/*
 * Return the reason to drop a datagram that passes for @reason, because a player is at
 * its address or because its source has all its players; otherwise @reason. Analysed once
 * by the verifier. Called by decision_apply() alone, for what would pass. It must apply
 * the rules of admit() at its end, in the same order. A new reason belongs in the
 * comparison of decision_apply() too.
 */
__noinline int player_conflict(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 reason)
{
	enum acl_result listed = ACL_NONE;
	const struct service *service;
	enum reason conflict;
	struct packet p;
	__u32 slot;

	if (!c)
		return REASON_ADDRESS_IN_USE;
	slot = pkt_slot(c);
	pkt_packet(ctx, c, &p);
	conflict = player_address_check(slot, pkt_kind(c), &p);
	service = service_at(tables_now(&live), &slot);
	if (!service)
		return REASON_ADDRESS_IN_USE;
	/* c->acl does not tell an allowed source beyond its limits from others. */
	if (live.lists)
		listed = pkt_acl(ctx, c);
	if (conflict != REASON_WITHIN_LIMITS &&
	    !acl_lifts(listed, conflict, service->family))
		return conflict;
	return listed == ACL_NONE && connlimit_exceeded(slot, service, pkt_kind(c), &p)
		       ? REASON_PLAYER_SLOTS
		       : reason;
}

/*
 * Apply the decision @decided, a reason: count it, sample it, and note that the datagram
 * goes on. Returns XDP_PASS or XDP_DROP; REASON_CHALLENGED passes, and its caller sends
 * the challenge. Analysed once by the verifier.
 *
 * Called once per datagram, before the frame changes, by shield_validate() and by
 * shield_cache(), which counts a query that it serves by cache_count() instead. It takes
 * from no limit: the decision has. It does not look at struct service.observe: a service
 * that observes has no part in the two programs (service_flagged()).
 */
__noinline int decision_apply(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 decided)
{
	enum reason reason = decided;
	enum verdict verdict = reason_verdict(reason);
	struct live *l = &live;
	struct target target;
	struct packet p;
	__u64 bytes;

	if (!c)
		return XDP_DROP;
	target.slot = pkt_slot(c);
	target.kind = pkt_kind(c);
	pkt_packet(ctx, c, &p);
	bytes = reply_frame(ctx);
	target.service = service_at(tables_now(l), &target.slot);
	if (!target.service)
		return XDP_DROP;
	if (verdict == VERDICT_PASS) {
		reason = player_conflict(ctx, c, reason);
		if (reason == REASON_ADDRESS_IN_USE || reason == REASON_PLAYER_MISMATCH ||
		    reason == REASON_PLAYER_SLOTS)
			verdict = VERDICT_DROP;
	}
	if (!count_decision(ctx, l, &target, &p, bytes, reason, false) ||
	    verdict == VERDICT_DROP)
		return XDP_DROP;
	if (verdict == VERDICT_PASS)
		decision_passed(ctx, l, &target, &p, bytes, reason);
	return XDP_PASS;
}

/*
 * Return the TTL or hop limit that is left in the datagram: the byte 4 before the
 * addresses in IPv4, and 1 before them in IPv6. Called by pkt_hops() alone.
 */
static __always_inline __u32 packet_hops(const struct packet *p)
{
	__u32 offset = (p->addresses - (p->ipv6 ? 1 : 4)) & OFFSET_MASK;
	const __u8 *at = p->start + offset;

	return at + 1 > p->end ? 0 : *at;
}

/*
 * Return packet_hops() of the datagram. Called by cache_source_limit(), cache_reason()
 * and validated_note(), before the frame changes.
 */
static __always_inline __u32 pkt_hops(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	pkt_packet(ctx, c, &p);
	return packet_hops(&p);
}

/*
 * Note in the reputation table that the sender is validated, for a minute or two.
 * Analysed once by the verifier. Called by shield_validate() alone, after a valid cookie
 * passed and was counted. No other event may set REPUTATION_VALIDATED. trial_validate()
 * (user/shield/shield_fork.c) does not note it in a trial.
 */
__noinline int validated_note(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct live *l = &live;

	if (c && c->net)
		reputation_note(&l->cache.reputation, c->net, pkt_hops(ctx, c),
				REPUTATION_VALIDATED_AT(pkt_slot(c)),
				reputation_minute(clock_now(l)), l->keys);
	return 0;
}

/*
 * Return true if a challenge can be sent in place of the datagram, of kind_requests().
 * Called by shield_validate() alone, before the decision: a challenge that cannot be sent
 * must not be taken from the share. challenge_plain() compares the same on the fast path.
 */
static __always_inline bool challenge_possible(struct xdp_md *ctx,
					       const struct pkt_ctx *c)
{
	const __u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 offset = c->payload & OFFSET_MASK;

	same_copy(data);
	same_copy(end);
	same_copy(offset);
	return challenge_fits(pkt_kind(c), c->payload & OFFSET_MASK, reply_frame(ctx)) &&
	       challenge_carries(pkt_kind(c), data + offset, end, c->length) &&
	       reply_possible(ctx, c);
}

/*
 * Return enum host_keys_state of the service. Called by shield_validate() alone, after
 * REASON_CHALLENGED: it says whether keys_challenge_send() or challenge_send() must send.
 */
static __always_inline __u32 pkt_keys(const struct pkt_ctx *c)
{
	__u32 slot = pkt_slot(c);
	const struct service *s = service_at(tables_now(&live), &slot);

	return s ? keys_state(s->family, pkt_slot(c)) : KEYS_NONE;
}

/*
 * Decide about @c. Returns the reason: what the fast path or the lists have decided, or
 * that of validation_decide() or unvalidated_decide(). Sets c->acl, and c->form as
 * validation_decide(). An allowed source's cookie counts too: it was challenged when its
 * own limits were exceeded. Called by shield_validate() alone, after c->mute is
 * determined, once: it charges. A source on the deny list must not pass by a cookie.
 * about_limits() (user/shield/shield_about.c) repeats the order of lists, cookie and
 * limits for `explain`.
 */
static __always_inline __u32 pkt_decide(struct xdp_md *ctx, struct pkt_ctx *c)
{
	enum wire_kind kind = pkt_kind(c);
	__u32 returned = 0;

	if (c->decided)
		return c->decided;
	c->acl = live.lists ? pkt_acl_reason(ctx, c) : REASON_COUNT;
	if (c->acl == REASON_COUNT && kind_requests(kind)) {
		if (kind == KIND_GETCHALLENGE)
			return unvalidated_decide(c, CLASS_CHALLENGE, 0);
		/* The client may be validated: validation_decide() looks. */
		if (likely(!lately_validated(c->net, clock_now(&live))))
			return unvalidated_decide(c, CLASS_QUERY, 0);
	}
	if (kind_returns_cookie(kind) && c->acl != REASON_DENY_LIST)
		returned = cookie_check(ctx, c);
	if (c->acl == REASON_COUNT || (returned && kind != KIND_DTLS_CLIENT_HELLO))
		return validation_decide(c, returned);
	return c->acl;
}

/*
 * Decide about a datagram of address validation.
 *
 * The kernel runs it by the tail calls of shield() and shield_cache(). Each path counts
 * the datagram once, before the frame changes; a challenge is sent only after
 * reply_possible() and share_take(). c.mute is set before pkt_decide(), since a challenge
 * that cannot be sent must not be taken from the share; validated_note() reads the TTL
 * before the frame changes. not_challenged(), connect_refused(), greylisted() and
 * echo_refused() on the fast path must refuse only what is refused here, for the same
 * reason.
 */
SEC("xdp")
int shield_validate(struct xdp_md *ctx)
{
	struct pkt_ctx c = { 0 };
	int action = pkt_find_validated(ctx, &c);
	__u32 reason;

	if (action != PATH_SLOW)
		return action;
	c.mute =
		!c.decided && kind_requests(pkt_kind(&c)) && !challenge_possible(ctx, &c);
	reason = pkt_decide(ctx, &c);
	action = decision_apply(ctx, &c, reason);
	if (action != XDP_PASS)
		return action;
	if (c.form)
		validated_note(ctx, &c);
	if (reason == REASON_CHALLENGED)
		return pkt_keys(&c) == KEYS_NONE ? challenge_send(ctx, &c)
						 : keys_challenge_send(ctx, &c);
	return c.form ? rewrite_request(ctx, &c, c.form) : XDP_PASS;
}

#endif /* SHIELD_VALIDATE_BPF_H */
