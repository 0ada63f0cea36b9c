/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acl.bpf.h - who is allowed, and how much; who is denied.
 *
 * Anybody can write an allowed address on a datagram. So an entry has limits, far above
 * those of strangers, and a larger amplification limit, unless `unlimited` was written on
 * it. Lists are looked up only for addresses of which acl.h says that there may be an
 * entry.
 */
#ifndef ACL_BPF_H
#define ACL_BPF_H

#include "acl.h"
#include "player_address.bpf.h"

enum acl_result {
	ACL_NONE,
	ACL_ALLOWED, /* allowed, within limits */
	ACL_UNLIMITED, /* allowed, whatever it is */
	ACL_DENIED,
	ACL_MASTER, /* the server itself reports there */
};

/* A friend beyond its budgets, and all of them: see abi.h. */
const volatile struct limit allowed_limit = {
	1000000000ull / ALLOWED_RATE, ALLOWED_BURST *(1000000000ull / ALLOWED_RATE)
};
const volatile struct limit allowed_service_limit = {
	1000000000ull / ALLOWED_SERVICE_RATE,
	ALLOWED_SERVICE_BURST *(1000000000ull / ALLOWED_SERVICE_RATE)
};

/*
 * A master asks once or twice for each heartbeat; anybody may ask in its name, as long as
 * that is less than engines answer one address: ioquake3 10 at once and 1 a second.
 */
const volatile struct limit master_limit = { 2000000000ull, 8 * 2000000000ull };

/* enum acl_result of the address in the first two words, of struct player_id. */
__noinline int acl_search(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };
	const struct list_entry *entry;
	__u32 origins;
	struct live *l = &live;
	struct cidr from = { .length = 128 };
	__u64 words[2] = { first, second };

	__builtin_memcpy(from.addr, words, sizeof(from.addr));
	if (l->lists & LISTS_ALLOW) {
		entry = bpf_map_lookup_elem(&allow, &from);
		origins = entry ? list_origins(entry, clock_now(l)) : 0;
		if (origins)
			return origins & LIST_UNLIMITED ? ACL_UNLIMITED : ACL_ALLOWED;
	}
	if (l->lists & LISTS_DENY) {
		entry = bpf_map_lookup_elem(&deny, &from);
		if (entry && list_origins(entry, clock_now(l)))
			return ACL_DENIED;
	}
	return l->lists & LISTS_MASTER &&
			       player_address_seen(player_address_hash(l, &id,
								       ADDRESS_MASTER),
						   ADDRESS_MASTER_S)
		       ? ACL_MASTER
		       : ACL_NONE;
}

/* May there be an entry for whose first octets are at @from? */
static __always_inline bool acl_prefilter(const struct live *l, const __u8 *from,
					  __u32 ipv6)
{
	__u32 cell = acl_prefilter_cell(from, ipv6);

	return index_below(&cell, ACL_PREFILTER_CELLS) && l->acl_prefilter[cell];
}

/* packet_player() without the port, which no list knows. */
static __always_inline void packet_host(const struct packet *p, enum side peer,
					__u32 slot, struct player_id *ret)
{
	packet_player(p, peer, slot, ret);
	ret->word[2] = PLAYER_WORD_HERE | slot << 16;
}

/* What the lists say of who is at @peer's end. */
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

/* Which refusals friendship overcomes. */
static __always_inline bool allowed_may_exceed(enum reason reason)
{
	return reason == REASON_SOURCE_LIMIT || reason == REASON_PREFIX_LIMIT ||
	       reason == REASON_SERVICE_LIMIT || reason == REASON_CONTENDED ||
	       reason == REASON_REPLY_TO_SERVER;
}

/* The cell of a friend's own budget. @net: address_net(). */
static __always_inline __u32 allowed_cell(const struct live *l, __u64 net, __u32 ipv6,
					  __u32 slot)
{
	return limit_cell(l->keys, net, 1ull << 40 | slot << 1 | (ipv6 & 1), SOURCE_BITS);
}

/* The budgets of a friend whose datagram was refused. @net: address_net(). */
__noinline int allowed_take(__u64 net, __u32 ipv6, __u32 slot, __u32 master)
{
	struct limit one = { master ? master_limit.cost_ns : allowed_limit.cost_ns,
			     master ? master_limit.burst_ns : allowed_limit.burst_ns };
	struct limit all = { allowed_service_limit.cost_ns,
			     allowed_service_limit.burst_ns };
	struct live *l = &live;
	__u32 cell = allowed_cell(l, net, ipv6, slot);
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
 * What becomes of the datagram of a friend, or of a master, that would have been refused
 * for @reason.
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

/* Words by which a server reports to a master, or asks an authorization server. */
static __always_inline bool kind_reports(enum wire_kind kind)
{
	return kind == KIND_HEARTBEAT || kind == KIND_S2M_HEARTBEAT ||
	       kind == KIND_GETIPAUTHORIZE;
}

/*
 * How many reports of one server's are noted: 64 at once, and one in four seconds. Each
 * marks a stretch of addresses for all services, and engines report to some ten masters
 * in five minutes.
 */
const volatile struct limit report_limit = { 4000000000ull, 64 * 4000000000ull };

/*
 * If the server in @slot reports to the receiver of this @kind, that may ask it, and has
 * all of its budget for the question that follows: whoever has spent it in its name until
 * then cannot know when that is. @addresses: where the two stand. Asked of every kind,
 * since a way of its own for some would be walked to the end by the verifier.
 */
__noinline int master_note(struct __sk_buff *ctx, __u32 addresses, __u32 ipv6, __u32 slot,
			   __u32 kind)
{
	struct packet p = { .addresses = addresses & OFFSET_MASK, .ipv6 = ipv6 & 1 };
	struct limit few = { report_limit.cost_ns, report_limit.burst_ns };
	struct live *l = &live;
	struct player_id id;
	const __u8 *addr;
	__u8 *listed;
	__u64 *due;
	__u32 cell;

	if (likely(!kind_reports(kind)))
		return 0;
	packet_begin((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p);
	addr = (const __u8 *)packet_address(&p, RECEIVER);
	if (!addr)
		return 0;
	cell = acl_prefilter_cell(addr, p.ipv6);
	packet_host(&p, RECEIVER, slot, &id);
	/* Pointers are made where their index is bounded: see same_copy(). */
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
	cell = allowed_cell(l, address_net(&p, RECEIVER), p.ipv6, slot);
	if (index_below(&cell, 1 << SOURCE_BITS))
		l->source_due_ns[cell] = 0;
	if (!(l->lists & LISTS_MASTER))
		__sync_fetch_and_or(&l->lists, LISTS_MASTER);
	return 1;
}

#endif /* ACL_BPF_H */
