/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * player_address.bpf.h - from which addresses somebody plays, whatever the port.
 *
 * The table of players is by address and port, and many servers find their clients by
 * address and qport, or by address alone. So what a stranger may send is more than what
 * anybody may send from there.
 */
#ifndef PLAYER_ADDRESS_BPF_H
#define PLAYER_ADDRESS_BPF_H

#include "conntrack.bpf.h"

#define ADDRESS_LITTLE	 1 /* by sequences: Quake III, QuakeWorld, Quake II, auto */
#define ADDRESS_NETQUAKE 2
#define ADDRESS_MASTER	 3 /* nobody plays there, but the server reports there */
#define ADDRESS_LITTLE_S 60 /* of 2^30 ns: as long as the player is one */
#define ADDRESS_NETQUAKE_S \
	2 /* after the last note of it, and that is after it was heard */
#define ADDRESS_MASTER_S  900 /* three heartbeats of any engine */
#define NETQUAKE_HEARD_NS 8000000000ll /* a client that stalls for less plays on */

static __always_inline __u64 player_address_hash(const struct live *l,
						 const struct player_id *id, __u32 what)
{
	/* Without the port. */
	return id->word[0] * l->keys[0] + id->word[1] * l->keys[1] +
	       ((id->word[2] & 0xffff0000) | what) * l->keys[2];
}

static __always_inline __u32 player_address_tag(__u64 hash)
{
	return (__u32)hash | 1;
}

static __always_inline struct player_address *player_address_cell(struct live *l,
								  __u64 hash, int way)
{
	__u32 at = (hash >> (64 - PLAYER_ADDRESS_BITS)) * PLAYER_ADDRESS_WAYS + way;

	return index_below(&at, PLAYER_ADDRESS_WAYS << PLAYER_ADDRESS_BITS)
		       ? &l->player_addresses[at]
		       : NULL;
}

/* The server speaks to a player @what, of this struct player_id. Full: see abi.h. */
__noinline int player_address_note(__u64 first, __u64 second, __u64 third, __u32 what)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 hash = player_address_hash(l, &id, what);
	__u32 tag = player_address_tag(hash), now_s = clock_s(l);
	struct player_address *found = NULL;

	for (int way = 0; way < PLAYER_ADDRESS_WAYS; way++) {
		struct player_address *cell = player_address_cell(l, hash, way);

		if (!cell)
			break;
		if (cell->tag == tag) {
			found = cell;
			break;
		}
		if (!found && (!cell->tag || now_s - cell->seen_s > ADDRESS_LITTLE_S))
			found = cell;
	}
	if (!found)
		return 0;
	/* Most come within the same second: then the cell is only read. */
	if (found->tag == tag && found->seen_s == now_s)
		return 1;
	found->seen_s = now_s;
	found->tag = tag;
	return 1;
}

/* Has somebody played there within so many seconds? @hash: player_address_hash(). */
static __always_inline bool player_address_seen(__u64 hash, __u32 seconds)
{
	struct live *l = &live;
	__u32 tag = player_address_tag(hash), now_s = clock_s(l);

	for (int way = 0; way < PLAYER_ADDRESS_WAYS; way++) {
		const struct player_address *cell = player_address_cell(l, hash, way);

		if (cell && cell->tag == tag)
			return now_s - cell->seen_s <= seconds;
	}
	return false;
}

#endif /* PLAYER_ADDRESS_BPF_H */
