/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proving.bpf.h - the program that shield() jumps to with what has to do with proof of
 * address. It begins with the frame alone, and says of it all that remains to be said.
 *
 * A program of its own, so that what it costs the verifier, and a frame that has nothing
 * to do with it, is next to nothing.
 */
#ifndef PROVING_BPF_H
#define PROVING_BPF_H

#include "proof.bpf.h"

/* What the functions are told of which each has the stack for itself. */
struct proof_call {
	__u64 what, where; /* PROOF_WHAT(), PROOF_WHERE() */
	__u32 length;
	__u32 listed; /* enum reason by the lists, or REASON_COUNT */
};

/*
 * What the lists say: who is allowed need prove nothing while its own budgets last, nor a
 * master that the server reports to. REASON_COUNT: nothing.
 */
static __always_inline enum reason listed_reason(__u32 slot, const struct packet *p)
{
	enum listed listed = listed_at(&live, slot, p, SENDER);
	enum reason reason;

	switch (listed) {
	case LISTED_NOT:
		return REASON_COUNT;
	case LISTED_UNLIMITED:
		return REASON_ALLOW_LIST;
	case LISTED_DENIED:
		return REASON_DENY_LIST;
	default:
		reason = friend_admit(slot, listed, REASON_SOURCE_BUDGET, p);
		return reason_verdict(reason) == VERDICT_PASS ? reason : REASON_COUNT;
	}
}

/* Find once more what shield() jumped with. WAY_LONG, *@ret and @p, or what to do. */
static __always_inline int call_find(struct xdp_md *ctx, struct packet *p,
				     struct found *found, struct proof_call *ret)
{
	int action = whole_find(ctx, p, found);

	if (!ret || action != WAY_LONG)
		return action;
	ret->what = PROOF_WHAT(found->slot, found->kind);
	ret->where = packet_where(p);
	ret->length = p->length;
	return WAY_LONG;
}

/* WAY_PROOF and *@ret, or what to do. */
__noinline int proof_find(struct xdp_md *ctx, struct proof_call *ret)
{
	struct packet packet = { 0 };
	struct found found;
	int action = call_find(ctx, &packet, &found, ret);

	if (!ret || action != WAY_LONG)
		return action;
	ret->listed = listed_reason(found.slot, &packet);
	return WAY_PROOF;
}

/* Judged for @reason: count it, show it, note it. XDP_PASS, or XDP_DROP. */
__noinline int proof_note(struct xdp_md *ctx, __u64 what, __u64 where, __u32 length,
			  __u32 reason)
{
	struct live *l = &live;
	struct found found = { .slot = what >> 16 & 0xffff, .kind = what & 0xffff };
	struct packet packet;
	__u64 bytes;

	where_packet(ctx, where, length, &packet);
	bytes = answer_frame(ctx);
	found.service = service_at(tables_now(l), &found.slot);
	if (!found.service)
		return XDP_DROP;
	if (reason_verdict(reason) == VERDICT_PASS &&
	    player_shadow(found.slot, found.kind, &packet) != REASON_WITHIN_BUDGET)
		reason = REASON_PLAYING;
	if (!judged(ctx, l, &found, &packet, bytes, reason, false) ||
	    reason_verdict(reason) == VERDICT_DROP)
		return XDP_DROP;
	if (reason_verdict(reason) == VERDICT_PASS)
		judge_passed(ctx, l, &found, &packet, bytes, reason);
	return XDP_PASS;
}

/* How many hops it may still go: of IPv4 4 octets before the addresses, of IPv6 one. */
static __always_inline __u32 packet_hops(const struct packet *p)
{
	__u32 offset = (p->addresses - (p->ipv6 ? 1 : 4)) & OFFSET_MASK;
	const __u8 *at = p->start + offset;

	return at + 1 > p->end ? 0 : *at;
}

/* Who has proven its address may be answered for a minute. */
__noinline int proof_known(struct xdp_md *ctx, __u64 where)
{
	struct live *l = &live;
	struct packet p;
	__u32 hops;
	__u64 net;

	where_packet(ctx, where, 0, &p);
	hops = packet_hops(&p);
	net = address_net(&p, SENDER);
	if (net)
		known_note(&l->answering.known, net, hops, KNOWN_PROVEN,
			   known_minute(clock_now(l)), l->keys);
	return 0;
}

/* Can what asks for proof be sent in place of this? To a query it is always as long. */
__noinline int proof_askable(struct xdp_md *ctx, __u64 what, __u64 where)
{
	enum wire_kind kind = what & 0xffff;
	__u32 sends = (where & OFFSET_MASK) + PROOF_QUERY_N;

	return answer_fits(ctx, where) &&
	       ((kind != KIND_GETINFO && kind != KIND_GETSTATUS) ||
		wire_bytes(sends) <= wire_bytes(answer_frame(ctx)));
}

/* What is provable: it may be answered from here, or become something else. */
SEC("xdp")
int shield_proof(struct xdp_md *ctx)
{
	struct proof_call c = { 0 };
	int action = proof_find(ctx, &c);
	__u32 said = 0, form, reason;

	if (action != WAY_PROOF)
		return action;
	if (kind_proves(c.what & 0xffff) && c.listed != REASON_DENY_LIST)
		said = proof_check(ctx, c.what, c.where, c.length);
	/* A friend's proof, too: it was asked when its own budgets were spent. */
	if (c.listed == REASON_COUNT ||
	    (said && (c.what & 0xffff) != KIND_DTLS_CLIENT_HELLO))
		said = proof_judge(ctx, c.what, c.where, c.length, said);
	else
		said = c.listed;
	form = said >> PROOF_FORM_SHIFT;
	reason = said & ((1 << PROOF_FORM_SHIFT) - 1);
	if (reason == REASON_ASKED && !proof_askable(ctx, c.what, c.where))
		reason = REASON_GLOBAL_BUDGET;
	action = proof_note(ctx, c.what, c.where, c.length, reason);
	if (action != XDP_PASS)
		return action;
	if (form)
		proof_known(ctx, c.where);
	if (reason == REASON_ASKED)
		return proof_answer(ctx, c.what, c.where, c.length);
	return form ? proof_turn(ctx, c.what, c.where, TURN_LENGTH(c.length, form))
		    : XDP_PASS;
}

#endif /* PROVING_BPF_H */
