/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reputation.bpf.h - queries of a flooded service: may one that exceeds its limits be
 * served from the cache? That depends on what its source has shown: the reputation table
 * (include/reputation.h) and the recent askers (include/recent.h).
 *
 * Called by the fast path (not_cached()) and by shield_cache(), so both decide alike.
 * Egress asks reputation_reason() too, and shield_validate() lately_validated().
 */
#ifndef REPUTATION_BPF_H
#define REPUTATION_BPF_H

#include "ratelimit.bpf.h"

/*
 * Return true if a query of @kind to @s may be served from the cache. Called by
 * fast_path_tail_call() and slow_path(), which must agree on the program that decides.
 */
static __always_inline bool cacheable(const struct service *s, enum wire_kind kind)
{
	return service_flagged(s, kind, CLASS_CACHED);
}

/*
 * Return true if the cache serves queries to @s in @slot at @now: always, or while the
 * service is under load by queries. Called by not_cached(), cache_reason() and
 * cache_admit(), for a service and kind of which cacheable() is true. Changes nothing.
 * shield_cache_keep() (user/shield/shield_cache.c) divides what is kept among the
 * services of which it is true: change both.
 */
static __always_inline bool cache_active(const struct live *l, const struct service *s,
					 __u32 slot, __u64 now)
{
	return s->cache == CACHE_ALWAYS ||
	       now < l->cache.until_ns[slot & (SERVICES_MAX - 1)];
}

/*
 * Put the service in @slot under load by queries. Called by not_cached(), cache_reason()
 * and cache_admit(), only if the service's own limit of queries is exceeded: a source
 * beyond its own limit must not change how others are served. The daemon reads until_ns
 * too: shield_under_load(), shield_cache_keep().
 */
static __always_inline void cache_require(struct live *l, __u32 slot, __u64 now)
{
	under_load_note(&l->cache.until_ns[slot & (SERVICES_MAX - 1)], now);
}

/*
 * Return why the reputation of @net lets it be served from the cache: it is or was a
 * player, is validated, is a known client, or is a prefix neighbour of one. REASON_COUNT:
 * none of these. Analysed once by the verifier, like the next functions. Called by
 * cache_eligibility(), cache_reason() and egress_charge(). Changes nothing. Keep the
 * order: the caller's limits differ by reason.
 */
__noinline int reputation_reason(__u64 net, __u64 now)
{
	struct live *l = &live;
	__u64 state = reputation_find(&l->cache.reputation, net, l->keys);
	__u32 minute = reputation_minute(now);

	if (reputation_known(state, minute) &&
	    reputation_flags(state) & REPUTATION_PLAYER)
		return REASON_CACHED_PLAYER;
	if (reputation_validated(state, minute))
		return REASON_CACHED_VALIDATED;
	if (reputation_known(state, minute))
		return REASON_CACHED_KNOWN;
	state = reputation_find(&l->cache.reputation, reputation_network(net), l->keys);
	return reputation_known(state, minute) ? REASON_CACHED_PREFIX : REASON_COUNT;
}

/*
 * Return nonzero if a client at @net was validated in this minute or the last, on any
 * service (limit_times() asks for one). Called by not_challenged(), cache_admit() and
 * pkt_decide(). Changes nothing.
 */
__noinline int lately_validated(__u64 net, __u64 now)
{
	return reputation_validated(reputation_find(&live.cache.reputation, net,
						    live.keys),
				    reputation_minute(now));
}

/*
 * recent_asks() of a source that lies in the mark window. Called by recent_asks() alone.
 * It writes to this CPU's table.
 */
__noinline int recent_mark(__u64 net, __u32 slot, __u64 now)
{
	__u32 table = bpf_get_smp_processor_id() & recent_mask, line;
	struct recent *r = bpf_map_lookup_elem(&recent, &table);
	__u64 hash = recent_hash(net, live.keys);

	line = recent_at(hash);
	/* Masked and not compared: the verifier does not relate the copy on the stack. */
	return r && index_below(&line, 1 << RECENT_BITS) &&
	       recent_seen(&r->lines[line], hash, now,
			   &live.cache.marked[table & (RECENT_TABLES - 1)]
					     [slot & (SERVICES_MAX - 1)]);
}

/*
 * Return true if @net has queried the service in @slot before, as a server browser does.
 * Marks that it queries now, if it lies in the service's mark window. Called by
 * cache_eligibility() and cache_source_limit(). recent_open() must stay before the call:
 * it bounds what a flood costs.
 */
static __always_inline bool recent_asks(const struct live *l, __u64 net, __u32 slot,
					__u64 now)
{
	return recent_open(&l->cache.windows[slot & (SERVICES_MAX - 1)],
			   recent_turn(net, l->keys)) &&
	       recent_mark(net, slot, now);
}

/*
 * Return why a query from @net that exceeds its limits may be served from the cache;
 * REASON_COUNT: it may not. Called by not_cached() and cache_reason(): both paths decide
 * alike. It may mark the source.
 */
static __always_inline enum reason cache_eligibility(const struct live *l, __u64 net,
						     __u32 slot, __u64 now)
{
	enum reason reason = reputation_reason(net, now);

	if (reason != REASON_COUNT)
		return reason;
	return recent_asks(l, net, slot, now) ? REASON_CACHED_RECURRING : REASON_COUNT;
}

/*
 * Return true if @net exceeds the limit of a source of the queries @b. Called by
 * not_cached() and cache_reason(): not under load, such a query is neither served nor
 * noted on either path. Changes nothing. It must be true only where admit_net() refuses;
 * so queries may have no crowd (config_service_defaults()).
 */
static __always_inline bool query_exceeds(const struct live *l, const struct budget *b,
					  __u64 net, __u32 ipv6, __u64 now)
{
	__u32 cell = budget_cell(b, l->keys, SET_UNVALIDATED, net, ipv6, SOURCE_BITS);

	return index_below(&cell, 1 << SOURCE_BITS) &&
	       limit_exceeded(&b->source, l->source_due_ns[cell], now);
}

/*
 * Return the reason to refuse a query from @net that exceeds its limits, or, from
 * REASON_CACHED_PLAYER on, why it is served from the cache although it does.
 * REASON_COUNT: it may be within its limits.
 *
 * Called by fast_path_tail_call() alone, if cacheable() is true, for a source that is on
 * no list; shield_cache() decides the rest, and does not decide again what is returned
 * here (cache_reason()). It must charge nothing, since cache_admit() does. It may put the
 * service under load and mark the source.
 */
__noinline int not_cached(__u64 net, __u32 ipv6, __u32 slot, __u64 now)
{
	struct live *l = &live;
	const struct service *s = service_at(tables_now(l), &slot);
	enum reason reason = REASON_COUNT, found;
	const struct budget *b;

	if (!s)
		return REASON_COUNT;
	b = &s->budget[CLASS_QUERY];
	if (limit_exceeded(&b->service,
			   l->service_due_ns[budget_index(slot, CLASS_QUERY)], now)) {
		reason = REASON_SERVICE_LIMIT;
		cache_require(l, slot, now);
	} else if (query_exceeds(l, b, net, ipv6, now)) {
		reason = REASON_SOURCE_LIMIT;
	}
	if (reason == REASON_COUNT || !cache_active(l, s, slot, now))
		return reason;
	found = cache_eligibility(l, net, slot, now);
	return found == REASON_COUNT ? reason : found;
}

#endif /* REPUTATION_BPF_H */
