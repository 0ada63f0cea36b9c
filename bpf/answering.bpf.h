/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answering.bpf.h - the program that shield() jumps to with questions that may be
 * answered from here. It begins with the frame alone, and says of it all that remains to
 * be said, unless that has to do with proof.
 *
 * Who gets an answer when the service's budget is spent: players, who is allowed, who has
 * just proven its address or is known, networks around these (known.h), and strangers
 * that ask like a browser (recall.h), the last up to a cap. When only that of the network
 * around them is: players, and who has just proven its address or is known. The ledger
 * pays for all but those who are allowed without limits. Where there is no answer to be
 * had, all is as it is without.
 */
#ifndef ANSWERING_BPF_H
#define ANSWERING_BPF_H

#include "chance.bpf.h"
#include "proving.bpf.h"
#include "template.bpf.h"

/* What somebody who is known, or all of a network around one, may ask beyond its budget:
 * twice a second, ten at once. */
const volatile struct limit known_limit = { 500000000ull, 10 * 500000000ull };

/* WAY_ANSWER and *@ret, or what to do. */
__noinline int answer_find(struct xdp_md *ctx, struct proof_call *ret)
{
	struct packet packet = { 0 };
	struct found found;
	int action = call_find(ctx, &packet, &found, ret);

	return ret && action == WAY_LONG ? WAY_ANSWER : action;
}

/* Of who is in no list, while the service is pressed. REASON_COUNT: by its budget. */
static __always_inline enum reason stranger_layer(struct live *l, __u32 slot, __u64 net,
						  const struct packet *p, __u64 now)
{
	struct limit limit = { known_limit.cost_ns, known_limit.burst_ns };
	enum reason reason = chance(net, now);
	__u64 state;
	__u32 cell;

	if (reason != REASON_TO_KNOWN && reason != REASON_TO_PROVEN &&
	    reason != REASON_TO_NETWORK)
		return reason;
	state = known_find(&l->answering.known, net, l->keys);
	/* Where it is was shown by what it proved; from elsewhere it is a stranger. */
	if (reason == REASON_TO_KNOWN && !known_near(state, packet_hops(p)))
		return chance_repeated(net, now) ? REASON_TO_REPEATED : REASON_COUNT;
	cell = limit_cell(l->keys, reason == REASON_TO_NETWORK ? known_network(net) : net,
			  1ull << 41 | slot, SOURCE_BITS);
	if (index_below(&cell, 1 << SOURCE_BITS) &&
	    limit_take(&limit, &l->sources[cell], now))
		return reason;
	/* Beside who is known it has no less than elsewhere. */
	return reason == REASON_TO_NETWORK && chance_repeated(net, now)
		       ? REASON_TO_REPEATED
		       : REASON_COUNT;
}

/*
 * known_note() of who asks in a quiet time, walked once by the verifier. Beside who is
 * known few minutes count: forged questions would make known whom they like, who then
 * take what is kept for that one.
 */
__noinline int known_asks(__u64 net, __u32 hops)
{
	struct live *l = &live;
	struct known_table *t = &l->answering.known;
	__u32 minute = known_minute(clock_now(l));

	if (known_is_network(net))
		return 0;
	if (minute % KNOWN_SELDOM && !known_lasts(known_find(t, net, l->keys), minute) &&
	    known_lasts(known_find(t, known_network(net), l->keys), minute))
		return 0;
	known_note(t, net, hops, 0, minute, l->keys);
	return 0;
}

/*
 * Is what the networks around the sender may ask of @s spent, by its neighbours, or in
 * their names? That presses no service, and would keep who is known unanswered. Walked
 * once by the verifier.
 */
__noinline int neighbours_spent(struct xdp_md *ctx, __u64 what, __u64 where)
{
	__u32 slot = what >> 16 & 0xffff, index;
	struct live *l = &live;
	__u64 *prefix, *area, net, now = clock_now(l);
	const struct service *s;
	const struct budget *b;
	struct limit near, wide;
	struct packet p;
	__u32 *cost;

	where_packet(ctx, where, 0, &p);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return false;
	b = &s->budget[CLASS_QUERY];
	near = b->prefix;
	index = slot * KIND_COUNT + (what & 0xffff);
	cost = bpf_map_lookup_elem(&costs, &index);
	if (cost && *cost)
		near = limit_scaled(&near, *cost, COST_ONE);
	net = address_net(&p, SENDER);
	prefix = budget_around(l, b, net >> 8, p.ipv6);
	area = budget_around(l, b, area_net(net, p.ipv6), p.ipv6);
	wide = area_limit(&near);
	return !prefix || !area || limit_spent(&near, *prefix, now) ||
	       limit_spent(&wide, *area, now);
}

/*
 * Why it is answered although its service is flooded, or dropped although it has a
 * budget. REASON_COUNT: neither.
 */
__noinline int answer_layer(struct xdp_md *ctx, __u64 what, __u64 where)
{
	__u32 slot = what >> 16 & 0xffff;
	struct live *l = &live;
	__u64 now = clock_now(l), net;
	const struct service *s;
	enum listed listed;
	enum reason reason;
	struct packet p;

	where_packet(ctx, where, 0, &p);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return REASON_MALFORMED;
	/* The short ways look at that; what comes by the long one may be the first. */
	if (limit_spent(&s->budget[CLASS_QUERY].global,
			l->globals[budget_index(slot, CLASS_QUERY)], now))
		flood_note(l, slot, now);
	listed = listed_at(l, slot, &p, SENDER);
	if (listed == LISTED_DENIED)
		return REASON_DENY_LIST;
	if (listed == LISTED_UNLIMITED && flooded(l, s, slot, now))
		return REASON_TO_FRIEND;
	/* Anew, or the compiler compares one copy of the address and reads by another. */
	where_packet(ctx, where, 0, &p);
	net = address_net(&p, SENDER);
	if (listed != LISTED_NOT || !net)
		return REASON_COUNT;
	if (flooded(l, s, slot, now))
		return stranger_layer(l, slot, net, &p, now);
	/* A quiet time, in which who asks gets known, if it has a budget. */
	if (!neighbours_spent(ctx, what, where)) {
		where_packet(ctx, where, 0, &p);
		known_asks(net, packet_hops(&p));
		return REASON_COUNT;
	}
	reason = chance_known(net, now);
	if (reason == REASON_COUNT || reason == REASON_TO_NETWORK)
		return REASON_COUNT;
	where_packet(ctx, where, 0, &p);
	return stranger_layer(l, slot, net, &p, now);
}

#define LAYER_BITS 8 /* of answer_budget(): above them, why it is answered from here */

/*
 * What becomes of it by its budget, which is charged, or by being allowed; above
 * LAYER_BITS why it may be answered from here instead. REASON_COUNT: proof says that.
 * It takes no length: clang 16 and later see that it would not be used, and leave the
 * register for it undefined, which the verifier refuses.
 */
__noinline int answer_budget(struct xdp_md *ctx, __u64 what, __u64 where)
{
	enum wire_kind kind = what & 0xffff;
	__u32 slot = what >> 16 & 0xffff;
	struct live *l = &live;
	__u64 now = clock_now(l);
	const struct service *s;
	enum listed listed;
	enum reason reason;
	struct packet p;

	where_packet(ctx, where, 0, &p);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return REASON_MALFORMED;
	listed = listed_at(l, slot, &p, SENDER);
	if (listed == LISTED_UNLIMITED)
		return REASON_ALLOW_LIST;
	if (provable(s, kind) && listed == LISTED_NOT && s->answers != ANSWERS_ALWAYS)
		return REASON_COUNT;
	where_packet(ctx, where, 0, &p);
	reason = admit_budget(l, slot, &s->budget[CLASS_QUERY], CLASS_QUERY, kind, &p);
	if (reason == REASON_GLOBAL_BUDGET)
		flood_note(l, slot, now);
	if (listed != LISTED_NOT)
		reason = friend_admit(slot, listed, reason, &p);
	if (reason_verdict(reason) != VERDICT_PASS)
		return provable(s, kind) ? REASON_COUNT : reason;
	if (listed != LISTED_NOT && flooded(l, s, slot, now))
		return reason | REASON_TO_FRIEND << LAYER_BITS;
	return s->answers == ANSWERS_ALWAYS ? reason | REASON_TO_BUDGET << LAYER_BITS
					    : reason;
}

/*
 * May so many @bytes be sent for that @layer? The question, above 16 bits of @slot so
 * many octets, pays for as much of its own answer, and one that is refused for none of
 * others'. REASON_LEDGER: they may not; REASON_COUNT: nor would it be for lack of that,
 * or it is a neighbour's, who can still prove its address.
 */
__noinline int answer_pay(struct xdp_md *ctx, __u64 where, __u32 slot, __u32 layer,
			  __u32 bytes)
{
	struct answer_cap *cap = &live.answering.cap;
	struct live *l = &live;
	struct limit limit = { cap->byte_ns * bytes, cap->burst_ns };
	__u64 now = clock_now(l);
	__u32 asked = slot >> 16, halves = LEDGER_WHOLE;
	struct packet p;

	where_packet(ctx, where, 0, &p);
	/* Made up beside who is known, they shall leave that one what it needs. */
	if (layer == REASON_TO_NETWORK || layer == REASON_TO_REPEATED ||
	    layer == REASON_TO_BUDGET)
		halves = LEDGER_HALF;
	if (layer == REASON_TO_FRIEND) {
		if (listed_at(l, slot & 0xffff, &p, SENDER) == LISTED_UNLIMITED)
			return layer;
		if (!l->ledger.strict)
			return ledger_debit_friend(l, &p, SENDER, bytes) ? layer
									 : REASON_LEDGER;
	}
	where_packet(ctx, where, 0, &p);
	/* What the ledger refuses shall not use up what others may have. */
	if (layer == REASON_TO_REPEATED && limit_spent(&limit, cap->due_ns, now))
		return REASON_COUNT;
	if (bytes > asked && !ledger_debit(l, &p, SENDER, bytes - asked, halves))
		return layer == REASON_TO_NETWORK || layer == REASON_TO_REPEATED
			       ? REASON_COUNT
			       : REASON_LEDGER;
	return layer != REASON_TO_REPEATED || budget_take(&cap->due_ns, limit.cost_ns,
							  limit.burst_ns, now)
		       ? layer
		       : REASON_COUNT;
}

/* The question, of @bytes, is answered for @reason, or dropped: count it, and show it. */
__noinline int answer_note(struct xdp_md *ctx, __u64 what, __u32 length, __u32 reason,
			   __u64 bytes)
{
	struct found found = { .slot = what >> 16 & 0xffff, .kind = what & 0xffff };
	struct packet p = { .length = length & 0xffff };

	found.service = service_at(tables_now(&live), &found.slot);
	return found.service && judged(ctx, &live, &found, &p, bytes, reason, false) &&
	       reason_verdict(reason) == VERDICT_ANSWER;
}

/* Answer it for that @layer: what to do, or WAY_ANSWER if there is no answer. */
static __always_inline int answer_try(struct xdp_md *ctx, const struct proof_call *c,
				      __u32 layer)
{
	__u32 bytes = answer_frame(ctx), slot = c->what >> 16 & 0xffff, reason;
	int chosen = template_choose(ctx, c->what, c->where, c->length);

	if (chosen <= 0 || !template_grow(ctx, c->where, chosen >> CHOSEN_LENGTH))
		return WAY_ANSWER;
	reason = answer_pay(ctx, c->where, slot | bytes << 16, layer,
			    template_frame(chosen, c->where));
	if (reason == REASON_COUNT) {
		/* What goes on is what came. */
		if (bpf_xdp_adjust_tail(ctx, (int)bytes - (int)answer_frame(ctx)))
			return XDP_DROP;
		return WAY_ANSWER;
	}
	if (!answer_note(ctx, c->what, c->length, reason, bytes))
		return XDP_DROP;
	return template_send(ctx, c->what, c->where, c->length, chosen);
}

/* What may be answered from here. */
SEC("xdp")
int shield_answer(struct xdp_md *ctx)
{
	struct proof_call c = { 0 };
	int action = answer_find(ctx, &c);
	__u32 reason, layer;

	if (action != WAY_ANSWER)
		return action;
	reason = answer_layer(ctx, c.what, c.where);
	layer = reason_verdict(reason) == VERDICT_ANSWER ? reason : 0;
	if (reason == REASON_COUNT || layer) {
		if (layer)
			action = answer_try(ctx, &c, layer);
		if (action != WAY_ANSWER)
			return action;
		reason = answer_budget(ctx, c.what, c.where);
		layer = reason >> LAYER_BITS;
		reason &= (1 << LAYER_BITS) - 1;
		if (layer)
			action = answer_try(ctx, &c, layer);
		if (action != WAY_ANSWER)
			return action;
	}
	if (reason != REASON_COUNT)
		return proof_note(ctx, c.what, c.where, c.length, reason);
	bpf_tail_call(ctx, &jumps, JUMP_PROOF);
	return XDP_DROP;
}

#endif /* ANSWERING_BPF_H */
