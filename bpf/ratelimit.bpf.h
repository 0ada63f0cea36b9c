/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ratelimit.bpf.h - may this datagram reach the server? Lists, then the player's rule,
 * then the limits of its class, then the rules about addresses and numbers of players.
 *
 * decide() calls admit() on the slow path. admit_net() is reached in three ways: by
 * admit(), by cache_admit() in shield_cache(), and by unvalidated_decide() in
 * shield_validate(). The fast path calls limits_exceeded(), which charges nothing.
 *
 * A class has four limits: of the source, its prefix (/24, /56), its network (/20, /48)
 * and the service. Each is one time value (limit.h). The limit of the service is read
 * first: while it is exceeded, a flood touches no cold cell of a source. It is charged
 * last: a source that is refused by its own limit must not use up the service's. Keep
 * both orders.
 */
#ifndef RATELIMIT_BPF_H
#define RATELIMIT_BPF_H

#include "conntrack_ingress.bpf.h"
#include "acl.bpf.h"
#include "connlimit.bpf.h"

/*
 * Note that a limit of a service is exceeded at @now: *@until, its until_ns for joining
 * or for queries, becomes the end of being under load, UNDER_LOAD_NS (10 s) later. Called
 * by validation_require() and cache_require(), for a flood once per datagram: it must
 * mostly read.
 */
static __always_inline void under_load_note(__u64 *until, __u64 now)
{
	/* Written at most every 0.6 s, so that the cache line stays shared. */
	if (*until < now + UNDER_LOAD_NS - (UNDER_LOAD_NS >> 4))
		*until = now + UNDER_LOAD_NS;
}

/*
 * limit_take(), analysed once by the verifier. False if @cell is NULL, too. Only for
 * datagrams that pass. Called by budget_charge() and cache_charge(), after
 * limit_exceeded() was false.
 */
__noinline int budget_take(__u64 *cell, __u64 cost_ns, __u64 burst_ns, __u64 now_ns)
{
	struct limit l = { cost_ns, burst_ns };

	return cell ? limit_take(&l, cell, now_ns) : false;
}

/*
 * Return the state of the limit of @net, a prefix (address_net() >> 8) or network_net(),
 * under @b for the clients of @set. NULL cannot be, but the verifier does not know.
 * Called by budget_charge() and prefix_exceeded(); cell_prefix() in userland finds the
 * same.
 */
static __always_inline __u64 *budget_prefix_cell(const struct live *l,
						 const struct budget *b,
						 enum budget_set set, __u64 net,
						 __u32 ipv6)
{
	__u32 index = budget_cell(b, l->keys, set, net, ipv6, PREFIX_BITS);

	return bpf_map_lookup_elem(&prefixes, &index);
}

/*
 * Charge one request from @net to the limits @scopes, of budget_scopes(), in the cells
 * that the clients of @set have under @b. @service_due: state of the service's limit.
 * Returns REASON_WITHIN_LIMITS, the limit that is exceeded (then nothing is charged), or
 * REASON_CONTENDED (then some limits are charged).
 *
 * Called by admit_net() and validated_charge(). All limits are compared before the first
 * is charged, and the service's is charged last: keep both. What only compares, on the
 * fast path and in prefix_exceeded(), must refuse nothing that this passes.
 * class_limits() (user/shield/shield_about.c) shows the same four limits from the same
 * cells.
 */
static __always_inline enum reason budget_charge(struct live *l, const struct budget *b,
						 enum budget_set set,
						 const struct scopes *scopes, __u64 net,
						 __u32 ipv6, __u64 *service_due,
						 __u64 now)
{
	__u32 index = budget_cell(b, l->keys, set, net, ipv6, SOURCE_BITS);
	__u64 *source = &l->source_due_ns[index], *prefix, *network;

	if (limit_exceeded(&scopes->source, *source, now))
		return REASON_SOURCE_LIMIT;
	prefix = budget_prefix_cell(l, b, set, net >> 8, ipv6);
	if (!prefix || limit_exceeded(&scopes->prefix, *prefix, now))
		return REASON_PREFIX_LIMIT;
	network = budget_prefix_cell(l, b, set, network_net(net, ipv6), ipv6);
	if (!network || limit_exceeded(&scopes->network, *network, now))
		return REASON_PREFIX_LIMIT;
	if (limit_exceeded(&scopes->service, *service_due, now))
		return REASON_SERVICE_LIMIT;

	if (!budget_take(source, scopes->source.cost_ns, scopes->source.burst_ns, now) ||
	    !budget_take(prefix, scopes->prefix.cost_ns, scopes->prefix.burst_ns, now) ||
	    !budget_take(network, scopes->network.cost_ns, scopes->network.burst_ns,
			 now) ||
	    !budget_take(service_due, scopes->service.cost_ns, scopes->service.burst_ns,
			 now))
		return REASON_CONTENDED;
	return REASON_WITHIN_LIMITS;
}

/*
 * Charge one request of @kind from @net, of an unvalidated client, to the limits @b.
 * @times: what it costs of the source's own limit; 3 if another client at this address is
 * validated (limit_times()). The caller must have compared the service's limit, in
 * *@service_due: it is not exceeded. Returns as budget_charge(). Called by admit_budget()
 * and unvalidated_decide(). limits_exceeded() and query_exceeds() must refuse nothing
 * that this passes. class_limits() in user/shield/shield_about.c repeats the rule of the
 * crowd.
 */
static __always_inline enum reason admit_net(struct live *l, const struct budget *b,
					     enum wire_kind kind, __u64 net, __u32 ipv6,
					     __u32 times, __u64 *service_due, __u64 now)
{
	struct scopes scopes;
	__u32 crowd;

	once_here(b); /* without it, all of @b is loaded before the first refusal */
	/*
	 * No more in a crowd for a CCREQ_CONNECT, since one takes a player's place and
	 * its sender may be spoofed; nor with @times, which keeps a part of the limit for
	 * another client.
	 */
	crowd = kind == KIND_CCREQ_CONNECT || times > 1
			? 0
			: budget_crowd(b, *service_due, now);
	scopes = budget_scopes(b, times, 1, crowd);
	return budget_charge(l, b, SET_UNVALIDATED, &scopes, net, ipv6, service_due, now);
}

/*
 * Charge one request of @kind to the limits @b of @class, for the service in @slot.
 * Returns as admit_net(), or REASON_SERVICE_LIMIT. Called by admit_unlisted() and
 * cache_admit(), at most once for a datagram: it charges. @slot and @class are bounded by
 * the caller (service_at(), CLASS_BUDGETS), as the verifier must know.
 */
static __always_inline enum reason
admit_budget(struct live *l, __u32 slot, const struct budget *b, enum wire_class class,
	     enum wire_kind kind, const struct packet *p)
{
	__u64 *service_due = &l->service_due_ns[budget_index(slot, class)];
	__u64 now = clock_now(l);

	if (limit_exceeded(&b->service, *service_due, now))
		return REASON_SERVICE_LIMIT;
	return admit_net(l, b, kind, address_net(p, SENDER), p->ipv6, 1, service_due,
			 now);
}

/*
 * Return the limit that a request of @class surely exceeds, the service's or the
 * source's, or REASON_COUNT: none, or only a prefix's or network's. @crowds: a source has
 * more in a crowd, as in admit_net(): not for a CCREQ_CONNECT. Changes nothing. @class:
 * below CLASS_BUDGETS, as the verifier must know. Called by refuse(), not_challenged(),
 * connect_refused() and greylisted() on the fast path: each datagram of a flood pays for
 * it. It must name a limit only where admit_budget() and unvalidated_decide() would. Its
 * callers take any reason but REASON_SERVICE_LIMIT for REASON_SOURCE_LIMIT when they
 * choose a counter.
 */
static __always_inline enum reason limits_exceeded(const struct live *l, __u32 slot,
						   const struct service *s, __u64 class,
						   const struct plain *plain, bool crowds,
						   __u64 now)
{
	const struct budget *b;
	struct limit one;
	__u64 service_due;
	__u32 cell;

	s = (const void *)s + class * sizeof(*b);
	once_here(s);
	b = s->budget;
	service_due = l->service_due_ns[budget_index(slot, class)];
	if (limit_exceeded(&b->service, service_due, now))
		return REASON_SERVICE_LIMIT;
	cell = (plain_hash(plain, l->keys) + b->seed) >> (64 - SOURCE_BITS);
	if (!limit_exceeded(&b->source, l->source_due_ns[cell], now))
		return REASON_COUNT;
	if (likely(!b->crowd) || !crowds)
		return REASON_SOURCE_LIMIT;
	one = b->source;
	one.cost_ns >>= budget_crowd(b, service_due, now);
	return limit_exceeded(&one, l->source_due_ns[cell], now) ? REASON_SOURCE_LIMIT
								 : REASON_COUNT;
}

/*
 * Return the reason for which a @class without limits is dropped: CLASS_BUDGETS or above,
 * if its policy is POLICY_DROP. Called by refuse() and admit_unlisted(), which must
 * agree. refuse() chooses the counter apart, by the class: change both.
 */
static __always_inline enum reason policy_reason(enum wire_class class)
{
	switch (class) {
	case CLASS_REPLY:
		return REASON_REPLY_TO_SERVER;
	case CLASS_FRAGMENT:
		return REASON_FRAGMENT;
	default:
		return REASON_MALFORMED;
	}
}

/*
 * Decide about a datagram as if its source were on no list: by the player's rule for game
 * traffic, then by the policy or the limits of its class. *@ret_followed: as of admit().
 * Called by admit() alone. The player's rule comes first, so that a flood cannot use up a
 * player's limit. shield_joined() repeats the policies for a coalesced buffer.
 */
static __always_inline enum reason
admit_unlisted(struct live *l, __u32 slot, const struct service *s, enum wire_kind kind,
	       const struct packet *p, bool *ret_followed)
{
	enum wire_class class = service_class(s, kind);
	enum reason reason;
	__u32 index;

	if (class == CLASS_NETCHAN) {
		reason = player_admit(l, slot, s->family, kind, p, ret_followed);
		if (reason != REASON_COUNT)
			return reason;
	}
	if (class >= CLASS_BUDGETS) {
		__u8 policy = POLICY_DROP;

		if (class < CLASS_COUNT)
			policy = s->policy[class - CLASS_BUDGETS];
		if (policy == POLICY_PASS)
			return REASON_POLICY;
		if (policy != POLICY_LIMIT)
			return policy_reason(class);
		class = CLASS_UNKNOWN;
	}
	index = class;
	if (!index_below(&index, CLASS_BUDGETS))
		return REASON_MALFORMED;
	return admit_budget(l, slot, &s->budget[index], index, kind, p);
}

/*
 * Return true if the list entry @listed of the sender lifts @conflict, a reason of
 * player_address_check() to drop: unlimited sources pass, and allowed ones may connect to
 * a server of NetQuake's @family from an address in use. Called by admit() and
 * player_conflict(). admit() does not ask about unlimited sources, since it returns
 * REASON_ALLOW_LIST before it looks at addresses. No source on a list is asked for
 * connlimit_exceeded(): the callers see to that.
 */
static __always_inline bool acl_lifts(enum acl_result listed, enum reason conflict,
				      enum wire_family family)
{
	return listed == ACL_UNLIMITED ||
	       (listed == ACL_ALLOWED && conflict == REASON_ADDRESS_IN_USE &&
		family_is_netquake(family));
}

/*
 * Decide about a datagram of @kind for the service in @slot. Returns the reason; never
 * REASON_COUNT. *@ret_followed is set if it is of a followed player. Called by decide()
 * alone. Keep the order: lists, then the player and limits, then the rules of addresses
 * and of players per source, which see only what would pass. player_conflict() decides by
 * these two rules for the tail-called programs: change both.
 */
static __always_inline enum reason admit(struct live *l, __u32 slot,
					 const struct service *s, enum wire_kind kind,
					 const struct packet *p, bool *ret_followed)
{
	enum acl_result listed = acl_lookup(l, slot, p, SENDER);
	enum reason reason, conflict;
	struct player_id id;

	if (listed == ACL_UNLIMITED) {
		if (l->sampling.any) {
			packet_player(p, SENDER, slot, &id);
			*ret_followed =
				player_followed(id.word[0], id.word[1], id.word[2]);
		}
		return REASON_ALLOW_LIST;
	}
	if (listed == ACL_DENIED)
		return REASON_DENY_LIST;
	/* The rest is analysed once, and not once per value. */
	listed = verifier_forget(listed, p->length);
	reason = admit_unlisted(l, slot, s, kind, p, ret_followed);
	if (unlikely(listed != ACL_NONE))
		reason = allowed_admit(slot, listed, reason, p);
	if (reason == REASON_PLAYER || reason_verdict(reason) == VERDICT_DROP)
		return reason;
	conflict = player_address_check(slot, kind, p);
	if (conflict != REASON_WITHIN_LIMITS && !acl_lifts(listed, conflict, s->family))
		return conflict;
	return listed == ACL_NONE && connlimit_exceeded(slot, s, kind, p)
		       ? REASON_PLAYER_SLOTS
		       : reason;
}

#endif /* RATELIMIT_BPF_H */
