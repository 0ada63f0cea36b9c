/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lists.bpf.h - who is allowed, and how much; who is denied.
 *
 * Anybody can write an allowed address on a datagram. So an entry has limits, far above
 * those of strangers, and a larger ledger, unless `unlimited` was written on it. Lists
 * are looked up only for addresses of which listed.h says that there may be an entry.
 */
#ifndef LISTS_BPF_H
#define LISTS_BPF_H

#include "players.bpf.h"
#include "listed.h"

enum listed {
	LISTED_NOT,
	LISTED_FRIEND, /* allowed, within limits */
	LISTED_UNLIMITED, /* allowed, whatever it is */
	LISTED_DENIED,
};

/* A friend beyond its budgets, and all of them: see abi.h. */
const volatile struct limit friend_limit = {
	1000000000ull / FRIEND_RATE, FRIEND_BURST *(1000000000ull / FRIEND_RATE)
};
const volatile struct limit friends_limit = { 1000000000ull / FRIEND_GLOBAL_RATE,
					      FRIEND_GLOBAL_BURST *(1000000000ull /
								    FRIEND_GLOBAL_RATE) };

/* enum listed of the address of 16 octets in these two words. */
__noinline int listed_search(__u64 first, __u64 second)
{
	const struct list_entry *entry;
	struct live *l = &live;
	struct cidr from = { .length = 128 };
	__u64 words[2] = { first, second };

	__builtin_memcpy(from.addr, words, sizeof(from.addr));
	if (l->lists & LIVE_ALLOW) {
		entry = bpf_map_lookup_elem(&allow, &from);
		if (entry)
			return entry->origins & LIST_UNLIMITED ? LISTED_UNLIMITED
							       : LISTED_FRIEND;
	}
	return l->lists & LIVE_DENY && bpf_map_lookup_elem(&deny, &from) ? LISTED_DENIED
									 : LISTED_NOT;
}

/* May there be an entry for whose first octets are at @from? */
static __always_inline bool listed_maybe(const struct live *l, const __u8 *from,
					 __u32 ipv6)
{
	__u32 cell = listed_cell(from, ipv6);

	return index_below(&cell, LISTED_CELLS) && l->listed[cell];
}

/* What the lists say of who is at @peer's end. */
static __always_inline enum listed listed_at(const struct live *l, const struct packet *p,
					     enum side peer)
{
	const __be32 *addr;
	struct player_id id;

	if (likely(!l->lists))
		return LISTED_NOT;
	addr = packet_address(p, peer);
	if (!addr || !listed_maybe(l, (const __u8 *)addr, p->ipv6))
		return LISTED_NOT;
	packet_player(p, peer, 0, &id);
	return listed_search(id.word[0], id.word[1]);
}

/* Which refusals friendship overcomes: of a budget, and where engines would mind. */
static __always_inline bool friend_helps(enum reason reason)
{
	return reason == REASON_SOURCE_BUDGET || reason == REASON_PREFIX_BUDGET ||
	       reason == REASON_GLOBAL_BUDGET || reason == REASON_CONTENDED ||
	       reason == REASON_PLAYING || reason == REASON_REPLY_TO_SERVER;
}

/* The budgets of a friend whose datagram was refused. @net: address_net(). */
__noinline int friend_take(__u64 net, __u32 ipv6, __u32 slot)
{
	struct limit one = { friend_limit.cost_ns, friend_limit.burst_ns };
	struct limit all = { friends_limit.cost_ns, friends_limit.burst_ns };
	struct live *l = &live;
	__u32 cell = limit_cell(l->keys, net, 1ull << 40 | slot << 1 | (ipv6 & 1),
				SOURCE_BITS);
	__u32 index = budget_index(slot, BUDGET_FRIENDS);
	__u64 now = clock_now(l);

	if (!index_below(&cell, 1 << SOURCE_BITS) ||
	    !index_below(&index, SERVICES_MAX << CLASS_BITS))
		return false;
	if (limit_spent(&all, l->globals[index], now))
		return false;
	return limit_take(&one, &l->sources[cell], now) &&
	       limit_take(&all, &l->globals[index], now);
}

/* What becomes of a friend's datagram that would have been refused for @reason. */
static __always_inline enum reason friend_admit(__u32 slot, enum reason reason,
						const struct packet *p)
{
	if (!friend_helps(reason) || !friend_take(address_net(p, SENDER), p->ipv6, slot))
		return reason;
	return REASON_ALLOW_LIST;
}

#endif /* LISTS_BPF_H */
