/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_validate.bpf.h - the program that shield() jumps to with what has to do with
 * proof of address. It begins with the frame and what shield() found of it, and says all
 * that remains to be said.
 *
 * A program of its own, so that what it costs the verifier, and a frame that has nothing
 * to do with it, is next to nothing.
 */
#ifndef SHIELD_VALIDATE_BPF_H
#define SHIELD_VALIDATE_BPF_H

#include "reputation.bpf.h"
#include "validation.bpf.h"

/*
 * What the lists say: who is allowed need prove nothing while its own budgets last, nor a
 * master that the server reports to. REASON_COUNT: nothing.
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
 * What shield() jumped with: handed over, or else to be found once more. PATH_SLOW and
 * *@ret, or what to do.
 */
__noinline int pkt_find(struct xdp_md *ctx, struct pkt_ctx *ret)
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
		ret->target = TARGET(target.slot, target.kind);
		ret->offsets = packet_offsets(&p);
		ret->length = p.length;
	}
	pkt_packet(ctx, ret, &p);
	packet_peer(&p, SENDER, pkt_slot(ret), &ret->peer);
	ret->net = address_net(&p, SENDER);
	return PATH_SLOW;
}

/* enum acl_result of the sender. */
__noinline int pkt_acl(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	if (!c)
		return ACL_NONE;
	pkt_packet(ctx, c, &p);
	return acl_lookup(&live, pkt_slot(c), &p, SENDER);
}

/* acl_reason() of the sender. */
__noinline int pkt_acl_reason(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	if (!c)
		return REASON_COUNT;
	pkt_packet(ctx, c, &p);
	return acl_reason(pkt_slot(c), &p);
}

/*
 * Return the reason to drop what passes for @reason, beside players of its address or
 * network, or @reason. Walked once by the verifier.
 */
__noinline int player_conflict(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 reason)
{
	const struct service *service;
	struct packet p;
	__u32 slot;

	if (!c)
		return REASON_ADDRESS_IN_USE;
	slot = pkt_slot(c);
	pkt_packet(ctx, c, &p);
	if (player_address_check(slot, pkt_kind(c), &p) != REASON_WITHIN_LIMITS)
		return REASON_ADDRESS_IN_USE;
	service = service_at(tables_now(&live), &slot);
	/* An allowed source beyond its own limits is treated as if in no list. */
	return service && connlimit_exceeded(slot, service, pkt_kind(c), &p) &&
			       pkt_acl(ctx, c) == ACL_NONE
		       ? REASON_PLAYER_SLOTS
		       : reason;
}

/*
 * Judged for the reason in @said, above which is a form: count it, show it, note it.
 * XDP_PASS, or XDP_DROP.
 */
__noinline int decision_apply(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 said)
{
	enum reason reason = said & ((1 << DECISION_FORM_SHIFT) - 1);
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
		if (reason == REASON_ADDRESS_IN_USE || reason == REASON_PLAYER_SLOTS)
			verdict = VERDICT_DROP;
	}
	if (!count_decision(ctx, l, &target, &p, bytes, reason, false) ||
	    verdict == VERDICT_DROP)
		return XDP_DROP;
	if (verdict == VERDICT_PASS)
		decision_passed(ctx, l, &target, &p, bytes, reason);
	return XDP_PASS;
}

/* How many hops it may still go: of IPv4 4 octets before the addresses, of IPv6 one. */
static __always_inline __u32 packet_hops(const struct packet *p)
{
	__u32 offset = (p->addresses - (p->ipv6 ? 1 : 4)) & OFFSET_MASK;
	const __u8 *at = p->start + offset;

	return at + 1 > p->end ? 0 : *at;
}

static __always_inline __u32 pkt_hops(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct packet p;

	pkt_packet(ctx, c, &p);
	return packet_hops(&p);
}

/* Who has proven its address may be answered for a minute. */
__noinline int validated_note(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	struct live *l = &live;

	if (c && c->net)
		reputation_note(&l->cache.reputation, c->net, pkt_hops(ctx, c),
				REPUTATION_VALIDATED_AT(pkt_slot(c)),
				reputation_minute(clock_now(l)), l->keys);
	return 0;
}

/* Can what asks for proof be sent in place of this? To a query it is always as long. */
static __always_inline bool challenge_possible(struct xdp_md *ctx,
					       const struct pkt_ctx *c)
{
	enum wire_kind kind = pkt_kind(c);
	__u32 sends = (c->offsets & OFFSET_MASK) + CHALLENGE_QUERY_N;

	return reply_possible(ctx, c) &&
	       ((kind != KIND_GETINFO && kind != KIND_GETSTATUS) ||
		wire_bytes(sends) <= wire_bytes(reply_frame(ctx)));
}

/* enum host_keys_state of the service that is asked. */
static __always_inline __u32 pkt_keys(const struct pkt_ctx *c)
{
	__u32 slot = pkt_slot(c);
	const struct service *s = service_at(tables_now(&live), &slot);

	return s ? keys_state(s->family, pkt_slot(c)) : KEYS_NONE;
}

/*
 * The reason, and above it a form as validation_decide() has it. A friend's proof counts,
 * too: it was asked when its own budgets were spent.
 */
static __always_inline __u32 pkt_decide(struct xdp_md *ctx, struct pkt_ctx *c)
{
	enum wire_kind kind = pkt_kind(c);
	__u32 said = 0;

	if (c->decided)
		return c->decided;
	c->acl = live.lists ? pkt_acl_reason(ctx, c) : REASON_COUNT;
	if (c->acl == REASON_COUNT && kind_requests(kind)) {
		if (kind == KIND_GETCHALLENGE)
			return unvalidated_decide(c, CLASS_CHALLENGE, 0);
		/* It may be who has proven itself: validation_decide() knows. */
		if (likely(!lately_validated(c->net, clock_now(&live))))
			return unvalidated_decide(c, CLASS_QUERY, 0);
	}
	if (kind_returns_cookie(kind) && c->acl != REASON_DENY_LIST)
		said = cookie_check(ctx, c);
	if (c->acl == REASON_COUNT || (said && kind != KIND_DTLS_CLIENT_HELLO))
		return validation_decide(c, said);
	return c->acl;
}

/* Count @c as challenged. decision_apply() does the same for all reasons. */
static __always_inline void count_challenged(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	__u32 slot = pkt_slot(c), kind = pkt_kind(c);
	__u64 bytes = reply_frame(ctx), counted;
	struct counter_row *row = NULL;
	__u32 key;
	__u64 *counter = counter_at(slot, COUNTER_IN(CHALLENGED, kind), &row, &key);

	if (!counter)
		return;
	counted = count(counter, &key, bytes);
	count_unverified(row, c->length, bytes);
	if (refused_turn(live.sampling.phase, counted))
		refused_note(c->net,
			     REFUSED_WHAT(slot,
					  kind == KIND_GETCHALLENGE ? CLASS_CHALLENGE
								    : CLASS_QUERY,
					  REASON_CHALLENGED, pkt_ipv6(c)));
	if (live.sampling.any && sample_statistic(&live, counted))
		sample_in(ctx,
			  SAMPLE_WHAT(slot, kind, REASON_CHALLENGED, DIRECTION_C2S,
				      SAMPLER_STATISTIC),
			  bytes);
}

/* What is validation_applies: it may be answered from here, or become something else. */
SEC("xdp")
int shield_validate(struct xdp_md *ctx)
{
	struct pkt_ctx c = { 0 };
	int action = pkt_find(ctx, &c);
	__u32 said, form, reason;

	if (action != PATH_SLOW)
		return action;
	if (c.decided && challenge_possible(ctx, &c) &&
	    share_take(&live, pkt_slot(&c), pkt_kind(&c), clock_now(&live))) {
		count_challenged(ctx, &c);
		return challenge_send(ctx, &c);
	}
	said = pkt_decide(ctx, &c);
	form = said >> DECISION_FORM_SHIFT;
	reason = said & ((1 << DECISION_FORM_SHIFT) - 1);
	if (reason == REASON_CHALLENGED && !challenge_possible(ctx, &c))
		said = reason = REASON_SERVICE_LIMIT;
	action = decision_apply(ctx, &c, said);
	if (action != XDP_PASS)
		return action;
	if (form)
		validated_note(ctx, &c);
	if (reason == REASON_CHALLENGED)
		return pkt_keys(&c) == KEYS_NONE ? challenge_send(ctx, &c)
						 : keys_challenge_send(ctx, &c);
	return form ? rewrite_request(ctx, &c, form) : XDP_PASS;
}

#endif /* SHIELD_VALIDATE_BPF_H */
