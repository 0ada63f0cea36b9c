/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acl.bpf.h - look up the allow and deny lists, and the limits of allowed sources and of
 * master servers.
 *
 * An attacker can spoof an allowed address. So an allowed source has limits (ALLOWED_RATE
 * and so on in service.h), far above those of others, and a larger amplification limit,
 * unless its entry says `unlimited`. The deny list is looked at after the allow list.
 *
 * A look-up in a list costs as much as all other steps of a flood's datagram, so
 * acl_prefilter() first says whether a list can have an entry for the address
 * (include/acl.h).
 *
 * Master servers are found here too: a host to which the server sends heartbeats may
 * query beyond the limits.
 *
 * acl_lookup() is called in both directions, allowed_admit() on ingress, master_note() at
 * egress. Each datagram of a flood pays for acl_prefilter() if there is a list, and for
 * nothing else here. A new kind of list needs a bit in LISTS_*, which list_mark()
 * (user/shield/shield_lists.c) sets and spreads, a row in SHIELD_MAPS, a place in the
 * order of acl_search(), and a copy in each trial: copy_cells()
 * (user/shield/shield_trial.c) and tables_copy() (user/shield/shield_fork.c).
 */
#ifndef ACL_BPF_H
#define ACL_BPF_H

#include "acl.h"
#include "player_address.bpf.h"

enum acl_result {
	ACL_NONE,
	ACL_ALLOWED, /* allowed, within the limits below */
	ACL_UNLIMITED, /* allowed without limits */
	ACL_DENIED,
	ACL_MASTER, /* no entry, but the server sends heartbeats there */
};

/*
 * Limits of an allowed source beyond those of its class, and of all allowed sources of a
 * service: service.h.
 */
const volatile struct limit allowed_limit = ALLOWED_LIMIT;
const volatile struct limit allowed_service_limit = ALLOWED_SERVICE_LIMIT;

/*
 * Limit of a master server's queries beyond those of their class: a burst of 8, then one
 * in 2 s. It queries once or twice per heartbeat. An attacker may spoof it, so this is
 * below what engines answer one address (ioquake3: a burst of 10, then one per second).
 */
const volatile struct limit master_limit = MASTER_LIMIT;

/*
 * Return the origins in force of the longest entry of the list @map that covers the
 * address *@from, or 0. An entry that has ended hides no shorter one: up to ACL_ENDED of
 * them are passed over. Called by acl_search() alone; it changes from->length, and
 * shield_list_covers() in userland must find the same entry.
 */
static __always_inline __u32 acl_origins(void *map, struct cidr *from, __u64 now)
{
	const struct list_entry *entry;
	__u32 origins = 0;

	from->length = 128;
	for (int i = 0; i <= ACL_ENDED && !origins; i++) {
		entry = bpf_map_lookup_elem(map, from);
		if (!entry)
			break;
		origins = list_origins(entry, now);
		if (!entry->length)
			break;
		from->length = entry->length - 1;
	}
	return origins;
}

/*
 * Return enum acl_result of an address, given as the words of struct player_id without a
 * port. Called by acl_lookup() alone, after acl_prefilter(). Keep the order: an entry of
 * the allow list overrides one of the deny list, and either overrides a heartbeat.
 * Changes nothing. listed() in user/shield/shield_about.c repeats the order.
 */
__noinline int acl_search(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };
	__u32 origins;
	struct live *l = &live;
	struct cidr from = { .length = 128 };
	__u64 words[2] = { first, second };

	__builtin_memcpy(from.addr, words, sizeof(from.addr));
	if (l->lists & LISTS_ALLOW) {
		origins = acl_origins(&allow, &from, clock_now(l));
		if (origins)
			return origins & LIST_UNLIMITED ? ACL_UNLIMITED : ACL_ALLOWED;
	}
	if (l->lists & LISTS_DENY && acl_origins(&deny, &from, clock_now(l)))
		return ACL_DENIED;
	return l->lists & LISTS_MASTER &&
			       player_address_seen(
				       player_address_hash(&id, ADDRESS_MASTER, l->keys),
				       ADDRESS_MASTER_S)
		       ? ACL_MASTER
		       : ACL_NONE;
}

/*
 * Return true if a list may have an entry for the address whose first bytes are at @from.
 * False is certain. Called by acl_lookup() and, on the fast path, by
 * plain_acl_prefilter(), if struct live.lists is not 0. The cell must be the one that
 * list_spread() and master_note() mark (acl_prefilter_cell()), or an entry is not found.
 */
static __always_inline bool acl_prefilter(const struct live *l, const __u8 *from,
					  __u32 ipv6)
{
	__u32 cell = acl_prefilter_cell(from, ipv6);

	return index_below(&cell, ACL_PREFILTER_CELLS) && l->acl_prefilter[cell];
}

/*
 * packet_player() with port 0, since lists do not know ports. Called by acl_lookup() and
 * master_note(), which must make the same words, or a noted master server is not found.
 * about_reports_to() in userland makes them too.
 */
static __always_inline void packet_host(const struct packet *p, enum side peer,
					__u32 slot, struct player_id *ret)
{
	packet_player(p, peer, slot, ret);
	ret->word[2] = PLAYER_WORD_HERE | slot << 16;
}

/*
 * Return enum acl_result of the address at @peer's end of @p. Called with a parsed @p by
 * admit(), acl_reason() and pkt_acl(), by egress_listed() for the receiver, and by
 * shield_joined(). Charges nothing. On ingress allowed_admit() decides whether
 * ACL_ALLOWED and ACL_MASTER lift a limit, acl_lifts() whether an address in use does not
 * count, and admit() and player_conflict() exempt both from connlimit_exceeded(). It must
 * cost one comparison while there is no list. The fast path leaves each source that
 * acl_prefilter() does not exclude to it.
 */
static __always_inline enum acl_result acl_lookup(const struct live *l, __u32 slot,
						  const struct packet *p, enum side peer)
{
	const __be32 *addr;
	struct player_id id;

	if (likely(!l->lists))
		return ACL_NONE;
	addr = packet_address(p, peer);
	if (!addr || !acl_prefilter(l, (const __u8 *)addr, p->ipv6))
		return ACL_NONE;
	packet_host(p, peer, slot, &id);
	return acl_search(id.word[0], id.word[1], id.word[2]);
}

/*
 * Return true if an allowed source may pass in spite of @reason, within allowed_limit.
 * Malformed and mismatching datagrams stay dropped. Called by allowed_admit() alone. A
 * new reason for an exceeded limit must be added here, or allowed sources are dropped for
 * it; and to reason_is_limit(), `due` (user/shield/shield_shares.c), limit_names()
 * (user/explain/explain_causes.c) and `levels` (user/stats/metrics.c).
 */
static __always_inline bool allowed_may_exceed(enum reason reason)
{
	return reason == REASON_SOURCE_LIMIT || reason == REASON_PREFIX_LIMIT ||
	       reason == REASON_SERVICE_LIMIT || reason == REASON_CONTENDED ||
	       reason == REASON_REPLY_TO_SERVER;
}

/*
 * Charge two limits: that of an allowed source at @net, or of a master server if
 * @master; and that which all such sources share in @slot. Returns false if one of them
 * is exceeded, and then charges nothing, or if a race is lost: then the source's own
 * limit may be charged. @net:
 * address_net(). Called by allowed_admit() alone. Keep the order: the limit of all is
 * compared first and charged last, so that a source beyond its own limit does not use up
 * that of all.
 */
__noinline int allowed_take(__u64 net, __u32 ipv6, __u32 slot, __u32 master)
{
	struct limit one = { master ? master_limit.cost_ns : allowed_limit.cost_ns,
			     master ? master_limit.burst_ns : allowed_limit.burst_ns };
	struct limit all = { allowed_service_limit.cost_ns,
			     allowed_service_limit.burst_ns };
	struct live *l = &live;
	__u32 cell = allowed_cell(l->keys, net, ipv6, slot);
	__u32 index = budget_index(slot, BUDGET_ALLOWED);
	__u64 now = clock_now(l);

	if (!index_below(&cell, 1 << SOURCE_BITS) ||
	    !index_below(&index, SERVICES_MAX << CLASS_BITS))
		return false;
	if (limit_exceeded(&all, l->service_due_ns[index], now))
		return false;
	return limit_take(&one, &l->source_due_ns[cell], now) &&
	       limit_take(&all, &l->service_due_ns[index], now);
}

/*
 * Return the reason for a datagram of an allowed source or master server, which the rules
 * for others would decide for @reason. Called by admit(), cache_admit() and acl_reason()
 * with the result of acl_lookup(), for @listed other than ACL_NONE, ACL_UNLIMITED and
 * ACL_DENIED. It may turn a drop into a pass, never the reverse. A pass in spite of
 * @reason is charged: do not call it again for that datagram.
 */
static __always_inline enum reason allowed_admit(__u32 slot, enum acl_result listed,
						 enum reason reason,
						 const struct packet *p)
{
	bool master = listed == ACL_MASTER;

	if (!allowed_may_exceed(reason) ||
	    !allowed_take(address_net(p, SENDER), p->ipv6, slot, master))
		return reason;
	return master ? REASON_WITHIN_LIMITS : REASON_ALLOW_LIST;
}

/*
 * How many heartbeats of one server are noted: a burst of 64, then one in 4 s. Each marks
 * a stretch of addresses in the prefilter for all services, for good. Engines send
 * heartbeats to some ten masters in five minutes.
 */
const volatile struct limit report_limit = { 4000000000ull, 64 * 4000000000ull };

/*
 * Let the receiver of KIND_REPORTS, at which the server in @slot registers, query beyond
 * the limits for a quarter of an hour, and refill its limit: an attacker that used it up
 * in the host's name cannot know when that is. @addresses: their offset in the frame.
 *
 * Called by egress_admit() alone, if player_confirm() returned false. Returns 1 if it is
 * noted, which its caller ignores. The mark in the prefilter, which list_spread() keeps,
 * is set before LISTS_MASTER, and only after report_limit has room.
 */
__noinline int master_note(struct __sk_buff *ctx, __u32 addresses, __u32 ipv6, __u32 slot)
{
	struct packet p = { .addresses = addresses & OFFSET_MASK, .ipv6 = ipv6 & 1 };
	struct limit few = { report_limit.cost_ns, report_limit.burst_ns };
	struct live *l = &live;
	struct player_id id;
	const __u8 *addr;
	__u8 *listed;
	__u64 *due;
	__u32 cell;

	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p);
	addr = (const __u8 *)packet_address(&p, RECEIVER);
	if (!addr)
		return 0;
	cell = acl_prefilter_cell(addr, p.ipv6);
	packet_host(&p, RECEIVER, slot, &id);
	/* Pointers are made right after their index is bounded: see same_copy(). */
	if (!index_below(&cell, ACL_PREFILTER_CELLS))
		return 0;
	listed = &l->acl_prefilter[cell];
	same_copy(listed);
	due = &l->masters_due_ns[slot & (SERVICES_MAX - 1)];
	same_copy(due);
	if (!limit_take(&few, due, clock_now(l)) ||
	    !player_address_note(id.word[0], id.word[1], id.word[2], ADDRESS_MASTER))
		return 0;
	*listed |= LISTS_MASTER;
	cell = allowed_cell(l->keys, address_net(&p, RECEIVER), p.ipv6, slot);
	if (index_below(&cell, 1 << SOURCE_BITS))
		l->source_due_ns[cell] = 0;
	if (!(l->lists & LISTS_MASTER))
		__sync_fetch_and_or(&l->lists, LISTS_MASTER);
	return 1;
}

#endif /* ACL_BPF_H */
