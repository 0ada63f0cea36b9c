/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * response_cache.bpf.h - the program that shield() tail-calls for queries that may be
 * served from the cache (cacheable()). It serves, passes or drops them, or hands them to
 * shield_validate().
 *
 * While the service is under load by queries, it serves from the cache: players, allowed
 * sources, validated and known clients, their prefix neighbours, and other sources that
 * query like a server browser (recent.h), the last up to a rate in bytes. While only the
 * limit of the prefix or network is exceeded: players, validated and known clients, and a
 * known one from another distance if it queries like a server browser. With
 * CACHE_ALWAYS it serves as under load, and also queries within their limits. A response
 * is charged to the sender's prefix or, of an allowed source, to its own account, except
 * for an `unlimited` source. Without a cached response all is as if the cache were off.
 *
 * Order: cache_reason() (sources that are served whatever the limits), then cache_admit()
 * (the limits), each followed by cache_try().
 */
#ifndef RESPONSE_CACHE_BPF_H
#define RESPONSE_CACHE_BPF_H

#include "reputation.bpf.h"
#include "shield_validate.bpf.h"
#include "cached_response.bpf.h"

/*
 * Queries beyond the limits that are served per second, by a service, to a known or
 * validated client, or to all neighbours in one prefix: 2, and a burst of 10.
 */
const volatile struct limit reputation_limit = { 500000000ull, 10 * 500000000ull };

/*
 * Return true if @reason is one to serve from the cache. These are the last. Called by
 * shield_cache() and cache_count(). A new reason that serves from the cache must be
 * between REASON_CACHED_PLAYER and REASON_COUNT, and no other that a query can have:
 * fast_path_tail_call() compares alike.
 */
static __always_inline bool reason_cached(__u32 reason)
{
	return reason >= REASON_CACHED_PLAYER && reason < REASON_COUNT;
}

/*
 * Return @reason, of cache_eligibility(), if the source of the query is within
 * reputation_limit, and a known client is as far away as when it became known; otherwise
 * REASON_CACHED_RECURRING or REASON_COUNT. Limits known and validated clients and prefix
 * neighbours; other reasons are returned as they are. Called by cache_reason() alone; it
 * charges reputation_limit, so once per query. Bit 41 keeps its cells apart from those of
 * allowed_cell().
 */
static __always_inline enum reason cache_source_limit(struct xdp_md *ctx, struct live *l,
						      const struct pkt_ctx *c,
						      enum reason reason, __u64 now)
{
	__u64 net = c->net;
	struct limit limit = { reputation_limit.cost_ns, reputation_limit.burst_ns };
	__u64 state;
	__u32 cell;

	if (reason != REASON_CACHED_KNOWN && reason != REASON_CACHED_VALIDATED &&
	    reason != REASON_CACHED_PREFIX)
		return reason;
	/* From another distance it may be spoofed, and counts as unknown. */
	if (reason == REASON_CACHED_KNOWN) {
		state = reputation_find(&l->cache.reputation, net, l->keys);
		if (!reputation_near(state, pkt_hops(ctx, c)))
			return recent_asks(l, net, pkt_slot(c), now)
				       ? REASON_CACHED_RECURRING
				       : REASON_COUNT;
	}
	cell = limit_cell(l->keys,
			  reason == REASON_CACHED_PREFIX ? reputation_network(net) : net,
			  1ull << 41 | pkt_slot(c), SOURCE_BITS);
	if (index_below(&cell, 1 << SOURCE_BITS) &&
	    limit_take(&limit, &l->source_due_ns[cell], now))
		return reason;
	/*
	 * The limit of the prefix is used up. Fall back to the limit for unknown clients,
	 * so that a neighbour of a known client is not worse off than other sources.
	 */
	return reason == REASON_CACHED_PREFIX && recent_asks(l, net, pkt_slot(c), now)
		       ? REASON_CACHED_RECURRING
		       : REASON_COUNT;
}

/*
 * Note in the reputation table that @net queried while its service is not under load.
 * Next to a known client only every eighth minute counts: otherwise spoofed queries would
 * make neighbours known, and these would share what is kept for that client. Analysed
 * once by the verifier. Called by cache_reason() alone, for a source on no list, while it
 * and its prefix are within their limits. It must not be called while the service is
 * under load: a flood would make its sources known. Returns 0, which says nothing.
 */
__noinline int reputation_query(__u64 net, __u32 hops)
{
	struct live *l = &live;
	struct reputation_table *t = &l->cache.reputation;
	__u32 minute = reputation_minute(clock_now(l));

	if (reputation_is_network(net))
		return 0;
	if (minute % REPUTATION_SELDOM &&
	    !reputation_known(reputation_find(t, net, l->keys), minute) &&
	    reputation_known(reputation_find(t, reputation_network(net), l->keys),
			     minute))
		return 0;
	reputation_note(t, net, hops, 0, minute, l->keys);
	return 0;
}

/*
 * Return nonzero if the limit of queries of the sender's prefix or network is exceeded,
 * by its neighbours or in their names. That puts no service under load, and would keep
 * known clients from being served. Analysed once by the verifier. Called by
 * cache_reason() alone. It must compare the cells that admit_net() charges, with the same
 * limits: queries have no crowd.
 */
__noinline int prefix_exceeded(const struct pkt_ctx *c)
{
	struct live *l = &live;
	__u64 *prefix, *network, now = clock_now(l);
	__u32 slot, ipv6;
	const struct service *s;
	const struct budget *b;
	struct limit near, wide;

	if (!c)
		return false;
	slot = pkt_slot(c);
	ipv6 = pkt_ipv6(c);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return false;
	b = &s->budget[CLASS_QUERY];
	near = b->prefix;
	prefix = budget_prefix_cell(l, b, SET_UNVALIDATED, c->net >> 8, ipv6);
	network = budget_prefix_cell(l, b, SET_UNVALIDATED, network_net(c->net, ipv6),
				     ipv6);
	wide = network_limit(&near);
	return !prefix || !network || limit_exceeded(&near, *prefix, now) ||
	       limit_exceeded(&wide, *network, now);
}

/*
 * Return why the query is served from the cache, or a reason to drop it, or REASON_COUNT:
 * neither; then cache_admit() decides. While cache_active() is true, a query within its
 * limits is served for these reasons too, and is not charged to them. Analysed once by
 * the verifier. Called by shield_cache() alone, first, and once: it may charge
 * reputation_limit, note or mark the source, and put the service under load. What the
 * fast path has decided (c->decided) must not be decided again.
 */
__noinline int cache_reason(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	enum acl_result listed = ACL_NONE;
	struct live *l = &live;
	__u64 now = clock_now(l);
	const struct service *s;
	enum reason reason;
	__u32 slot;

	if (!c)
		return REASON_MALFORMED;
	/* The fast path has decided all that follows. */
	if (c->decided && c->net)
		return cache_source_limit(ctx, l, c, c->decided, now);
	slot = pkt_slot(c);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return REASON_MALFORMED;
	/*
	 * The fast path looks at that limit; a query of the slow path may be the first.
	 */
	if (limit_exceeded(&s->budget[CLASS_QUERY].service,
			   l->service_due_ns[budget_index(slot, CLASS_QUERY)], now))
		cache_require(l, slot, now);
	if (l->lists)
		listed = pkt_acl(ctx, c);
	if (listed == ACL_DENIED)
		return REASON_DENY_LIST;
	if (listed == ACL_UNLIMITED && cache_active(l, s, slot, now))
		return REASON_CACHED_ALLOW_LIST;
	if (listed != ACL_NONE || !c->net)
		return REASON_COUNT;
	if (!cache_active(l, s, slot, now)) {
		/*
		 * Not under load: then a client that queries becomes known, if it is
		 * within its limits. Beyond its own, it is refused like any other, and
		 * not_cached() does so without a look at what is known of it: its name
		 * must not make a flood more expensive.
		 */
		if (query_exceeds(l, &s->budget[CLASS_QUERY], c->net, pkt_ipv6(c), now))
			return REASON_COUNT;
		if (!prefix_exceeded(c)) {
			reputation_query(c->net, pkt_hops(ctx, c));
			return REASON_COUNT;
		}
		reason = reputation_reason(c->net, now);
		if (reason == REASON_COUNT || reason == REASON_CACHED_PREFIX)
			return REASON_COUNT;
	}
	return cache_source_limit(ctx, l, c, cache_eligibility(l, c->net, slot, now),
				  now);
}

#define CACHE_REASON_SHIFT 8 /* of cache_admit(): the reason to serve is above it */

/*
 * Charge the query to its limits. Returns the reason, below 256; above
 * CACHE_REASON_SHIFT, the reason to serve it from the cache instead of passing it.
 * REASON_COUNT: address validation decides, and nothing is charged, except after a lost
 * race: shield_validate() charges. Analysed once by the verifier. Called by
 * shield_cache() alone, after cache_reason() returned REASON_COUNT or cache_try()
 * returned PATH_CACHE: it charges, so once per query. about_limits()
 * (user/shield/shield_about.c) shows the limits in the order of this function: those of
 * the class, then an allowed source's own.
 */
__noinline int cache_admit(struct xdp_md *ctx, const struct pkt_ctx *c)
{
	enum acl_result listed = ACL_NONE;
	struct live *l = &live;
	__u64 now = clock_now(l);
	const struct service *s;
	enum wire_kind kind;
	enum reason reason;
	struct packet p;
	__u32 slot;

	if (!c)
		return REASON_MALFORMED;
	kind = pkt_kind(c);
	slot = pkt_slot(c);
	s = service_at(tables_now(l), &slot);
	if (!s)
		return REASON_MALFORMED;
	if (l->lists)
		listed = pkt_acl(ctx, c);
	if (listed == ACL_UNLIMITED)
		return REASON_ALLOW_LIST;
	/*
	 * If a client at the address is validated, queries in its name are decided there.
	 */
	if (validation_applies(s, kind) && listed == ACL_NONE &&
	    (s->cache != CACHE_ALWAYS || lately_validated(c->net, now)))
		return REASON_COUNT;
	pkt_packet(ctx, c, &p);
	reason = admit_budget(l, slot, &s->budget[CLASS_QUERY], CLASS_QUERY, kind, &p);
	if (reason == REASON_SERVICE_LIMIT)
		cache_require(l, slot, now);
	if (listed != ACL_NONE)
		reason = allowed_admit(slot, listed, reason, &p);
	if (reason_verdict(reason) != VERDICT_PASS)
		return validation_applies(s, kind) ? REASON_COUNT : reason;
	if (listed != ACL_NONE && cache_active(l, s, slot, now))
		return reason | REASON_CACHED_ALLOW_LIST << CACHE_REASON_SHIFT;
	return s->cache == CACHE_ALWAYS
		       ? reason | REASON_CACHED_IN_LIMITS << CACHE_REASON_SHIFT
		       : reason;
}

/*
 * Return @why if a response of @bytes may be sent for it, and charge it;
 * REASON_AMPLIFICATION if not, and the query is dropped; REASON_COUNT if not, and
 * cache_admit() decides about the query. The query, of @received bytes, pays for as much
 * of its own response, and a refused query for none of others'. Analysed once by the
 * verifier. Called by cache_try() alone, after cache_grow() and before cache_count().
 * Keep the order: the amplification limit is charged before the rate in bytes. A refused
 * response must be charged nothing, except after a lost race. egress_listed() has the
 * same rule for allowed receivers, also that of strict mode, and charges master servers
 * to their prefix: change both.
 */
__noinline int cache_charge(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 why,
			    __u32 received, __u32 bytes)
{
	struct cache_cap *cap = &live.cache.cap;
	struct live *l = &live;
	struct limit limit = { cap->byte_ns * bytes, cap->burst_ns };
	__u32 shares = AMPLIFICATION_WHOLE;
	__u64 now = clock_now(l), *due = &cap->due_ns;
	enum acl_result listed;
	struct packet p;

	if (!c)
		return REASON_AMPLIFICATION;
	/* Unknown sources near a known client leave half of the allowance to it. */
	if (why == REASON_CACHED_PREFIX || why == REASON_CACHED_RECURRING ||
	    why == REASON_CACHED_IN_LIMITS)
		shares = AMPLIFICATION_HALF;
	if (why == REASON_CACHED_ALLOW_LIST) {
		listed = pkt_acl(ctx, c);
		if (listed == ACL_UNLIMITED)
			return why;
		pkt_packet(ctx, c, &p);
		if (listed == ACL_ALLOWED && !l->amplification.strict)
			return amplification_charge_allowed(l, &p, SENDER, bytes)
				       ? why
				       : REASON_AMPLIFICATION;
	}
	/*
	 * A response that the amplification limit refuses must not use up the rate in
	 * bytes.
	 */
	if (why == REASON_CACHED_RECURRING && limit_exceeded(&limit, *due, now)) {
		/* Another service's clients may have used it up. */
		limit.cost_ns = cap->kept_byte_ns * bytes;
		limit.burst_ns = cap->kept_burst_ns;
		due = &cap->kept_due_ns[pkt_slot(c) & (SERVICES_MAX - 1)];
		if (!limit.cost_ns || limit_exceeded(&limit, *due, now))
			return REASON_COUNT;
	}
	if (bytes > received && l->amplification.byte_ns &&
	    !amplification_charge_prefix(pkt_prefix(c), bytes - received, shares))
		return why == REASON_CACHED_PREFIX || why == REASON_CACHED_RECURRING
			       ? REASON_COUNT
			       : REASON_AMPLIFICATION;
	return why != REASON_CACHED_RECURRING ||
			       budget_take(due, limit.cost_ns, limit.burst_ns, now)
		       ? why
		       : REASON_COUNT;
}

/*
 * Count the query, of @bytes, as decided for @reason, and perhaps sample it. Returns
 * nonzero if it is to be served. Analysed once by the verifier. Called by cache_try()
 * alone, right before cache_send().
 */
__noinline int cache_count(struct xdp_md *ctx, const struct pkt_ctx *c, __u32 reason,
			   __u64 bytes)
{
	struct target target;
	struct packet p;

	if (!c)
		return false;
	target.slot = pkt_slot(c);
	target.kind = pkt_kind(c);
	pkt_packet(ctx, c, &p);
	target.service = service_at(tables_now(&live), &target.slot);
	return target.service &&
	       count_decision(ctx, &live, &target, &p, bytes, reason, false) &&
	       reason_cached(reason);
}

/*
 * Serve the query from the cache for the reason @why. Returns what to do, or PATH_CACHE
 * if there is no response or cache_charge() returned REASON_COUNT; then the frame is
 * unchanged, and its caller decides. Called by shield_cache() alone, up to twice. On
 * PATH_CACHE it must have counted nothing.
 */
static __always_inline int cache_try(struct xdp_md *ctx, struct pkt_ctx *c, __u32 why)
{
	__u32 bytes = reply_frame(ctx), reason;
	int chosen = cache_choose(ctx, c);

	if (chosen <= 0 || !cache_grow(ctx, c->payload, chosen_length(chosen)))
		return PATH_CACHE;
	reason = cache_charge(ctx, c, why, bytes, cache_frame(chosen, c->payload));
	if (reason == REASON_COUNT) {
		/* The query goes on as it came. */
		if (!bpf_xdp_adjust_tail(ctx, (int)bytes - (int)reply_frame(ctx)))
			return PATH_CACHE;
		reason = REASON_AMPLIFICATION;
	}
	if (!cache_count(ctx, c, reason, bytes))
		return XDP_DROP;
	return cache_send(ctx, c, chosen);
}

/*
 * Decide about a query that may be served from the cache. The kernel runs it by the tail
 * calls of shield() (PATH_CACHE). Each path must count the query once, or hand it to
 * shield_validate() with its context stored. If that program is missing, the query is
 * dropped as if its service's limit were exceeded.
 */
SEC("xdp")
int shield_cache(struct xdp_md *ctx)
{
	struct pkt_ctx c = { 0 };
	int action = pkt_find_cached(ctx, &c);
	__u32 reason, why;

	if (action != PATH_SLOW)
		return action;
	action = PATH_CACHE;
	reason = cache_reason(ctx, &c);
	why = reason_cached(reason) ? reason : 0;
	if (reason == REASON_COUNT || why) {
		if (why)
			action = cache_try(ctx, &c, why);
		if (action != PATH_CACHE)
			return action;
		reason = cache_admit(ctx, &c);
		why = reason >> CACHE_REASON_SHIFT;
		reason &= (1 << CACHE_REASON_SHIFT) - 1;
		if (why)
			action = cache_try(ctx, &c, why);
		if (action != PATH_CACHE)
			return action;
	}
	if (reason != REASON_COUNT)
		return decision_apply(ctx, &c, reason);
	tail_ctx_store(TAIL_CTX(c.slot, c.kind, c.length),
		       OFFSETS(c.payload, c.addresses, c.ipv6));
	bpf_tail_call(ctx, &tail_calls, TAIL_CALL_VALIDATE);
	/* The program is missing. */
	tail_ctx_store(0, 0);
	return decision_apply(ctx, &c, REASON_SERVICE_LIMIT);
}

#endif /* RESPONSE_CACHE_BPF_H */
