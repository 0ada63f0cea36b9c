/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * player_address.bpf.h - at which addresses there is a player, whatever its port, and
 * which hosts are master servers of a service.
 *
 * The table of players has addresses and ports. Many servers find their clients by
 * address and qport, or by address alone, so a datagram from another port of a player's
 * address could be taken for the player's. player_address_check()
 * (conntrack_ingress.bpf.h) drops those.
 *
 * Written by the egress program while the server sends to a player or master server. A
 * bucket has four cells; if all were noted within ADDRESS_LITTLE_S for others, one more
 * address is treated as if no player were there.
 */
#ifndef PLAYER_ADDRESS_BPF_H
#define PLAYER_ADDRESS_BPF_H

#include "conntrack.bpf.h"

#define NETQUAKE_HEARD_NS                                             \
	8000000000ll /* a client that was silent for less still plays \
		      */

/*
 * Return cell @way of @hash's bucket. Called by player_address_note() and
 * player_address_seen(). NULL cannot be, but the verifier does not know.
 */
static __always_inline struct player_address *player_address_cell(struct live *l,
								  __u64 hash, int way)
{
	__u32 at = player_address_bucket(hash) + way;

	return index_below(&at, PLAYER_ADDRESS_WAYS << PLAYER_ADDRESS_BITS)
		       ? &l->player_addresses[at]
		       : NULL;
}

/*
 * Note that @what, ADDRESS_*, is at the address of these words of struct player_id; their
 * port does not count. Returns 0 if its bucket is full. Called at egress by player_note()
 * and master_note(). A cell noted within ADDRESS_LITTLE_S must not be replaced: otherwise
 * an attacker that draws notes elsewhere could uncover a player. If no cell is free the
 * oldest of the others is, also a master server's, which would count for longer.
 */
__noinline int player_address_note(__u64 first, __u64 second, __u64 third, __u32 what)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 hash = player_address_hash(&id, what, l->keys);
	__u32 tag = player_address_tag(hash), now_s = clock_s(l);
	__s32 age, oldest = ADDRESS_LITTLE_S;
	struct player_address *found = NULL;

	for (int way = 0; way < PLAYER_ADDRESS_WAYS; way++) {
		struct player_address *cell = player_address_cell(l, hash, way);

		if (!cell)
			break;
		if (cell->tag == tag) {
			found = cell;
			break;
		}
		/* Below 0: noted by another CPU, a moment later. */
		age = cell->tag ? (__s32)(now_s - cell->seen_s) : 0x7fffffff;
		if (age > oldest) {
			oldest = age;
			found = cell;
		}
	}
	if (!found)
		return 0;
	/* Most notes come within the same second: then the cell is only read. */
	if (found->tag == tag && found->seen_s == now_s)
		return 1;
	found->seen_s = now_s;
	found->tag = tag;
	return 1;
}

/*
 * Return true if the address of @hash, player_address_hash(), was noted in the last
 * @seconds units of 2^30 ns: ADDRESS_LITTLE_S and so on, by the use that is in @hash.
 * Called by acl_search() and player_address_decide(). Changes nothing.
 */
static __always_inline bool player_address_seen(__u64 hash, __u32 seconds)
{
	struct live *l = &live;
	__u32 tag = player_address_tag(hash), now_s = clock_s(l);

	for (int way = 0; way < PLAYER_ADDRESS_WAYS; way++) {
		const struct player_address *cell = player_address_cell(l, hash, way);

		if (cell && cell->tag == tag)
			return player_address_counts(cell, now_s, seconds);
	}
	return false;
}

#endif /* PLAYER_ADDRESS_BPF_H */
