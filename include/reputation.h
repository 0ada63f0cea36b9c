/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reputation.h - the reputation table: sources that have queried in several minutes while
 * their service was not under load (known clients: trackers, masters, browsers), players,
 * and clients that were validated lately. Under a flood the cache serves these first.
 *
 * A fixed array in buckets of four. A source is known from its REPUTATION_MINUTES th
 * minute on, and forgotten two weeks after its last query. Entries that are not known yet
 * replace each other; known ones are never replaced. So a flood, during which nothing is
 * noted, enters nothing; and invented addresses, sent while there is no flood, take free
 * cells, never a known client's.
 *
 * The daemon also enters the prefixes (/24, /56) of known clients, and writes known
 * clients to a file. A validated client counts for a minute or two.
 *
 * Locking: none. The CPU that enters a source claims a cell by compare-and-swap of its
 * state; readers compare the address. A tag may be that of the entry before for a moment:
 * then a source that is being entered has no entry yet. An address is an IPv4 one or the
 * upper half of an IPv6 one, as for limits; the two are never equal, since no IPv6
 * address in use begins with 32 zeros.
 *
 * Called by the programs that decide about queries (reputation.bpf.h,
 * response_cache.bpf.h), by shield_validate(), by egress, and by the daemon, `explain`
 * and the file of known clients. The table is pinned: if reputation_network(), a bucket,
 * a tag, the bits of a state or the length of its minutes change, raise ABI_VERSION
 * (user/shield/shield_abi.c). shield_known_add_networks() reads the minute in a state by
 * its bits.
 */
#ifndef REPUTATION_H
#define REPUTATION_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "tags.h"
#include "wire.h"

#define REPUTATION_BITS \
	14 /* log2 of buckets of REPUTATION_WAYS cells of 16 bytes: 1 MiB */
#define REPUTATION_WAYS	   4
#define REPUTATION_MAX	   (REPUTATION_WAYS << REPUTATION_BITS)
#define REPUTATION_MINUTES 3 /* minutes with a query that make a source known */
#define REPUTATION_SHIFT   36 /* a minute is 2^36 ns: 69 s */
#define REPUTATION_AGE \
	17600 /* minutes without a query after which a source is forgotten: two weeks */
#define REPUTATION_HOPS 2 /* by so much the hop count of a known client may change */
#define REPUTATION_STAYS \
	1252 /* minutes of silence after which it may have moved: a day */
#define REPUTATION_SELDOM 8 /* next to a known client one minute of so many counts */

/*
 * Bits of struct reputation_cell.state, from bit 0: the minute of the last query (32), in
 * how many minutes it queried (8), hops left in it (8), flags (8), the slot where it was
 * validated (8). 0: free.
 */
#define REPUTATION_PRESENT 1 /* flags */
#define REPUTATION_WRITING 2 /* claimed by the CPU that set this, which writes it */
#define REPUTATION_PLAYER \
	4 /* is or was a player: known without minutes, and at any distance */
#define REPUTATION_VALIDATED 8 /* returned a cookie, lately if reputation_validated() */
#define REPUTATION_NETWORK   16 /* a prefix, see reputation_network() */
#define REPUTATION_MANY	     32 /* validated on more services than the slot that is kept */

/* Flags of a client that was validated on the service in @slot. */
#define REPUTATION_VALIDATED_AT(slot) (REPUTATION_VALIDATED | (slot) << 8)

struct reputation_cell {
	__u64 net; /* address_net(), or reputation_network() */
	__u64 state;
};

struct reputation_table {
	struct reputation_cell cells[REPUTATION_MAX];
	/*
	 * A byte of each cell's address by bucket, the first cell's lowest; 0: free. A
	 * query of a flood reads these 64 KiB, which stay in a cache, and no cell.
	 */
	__u32 tags[1 << REPUTATION_BITS];
};

/*
 * Make a struct reputation_cell.state of its parts. @minutes: up to 255, more is cut off.
 * @flags: REPUTATION_*, and the slot above the lower eight bits; not 0, since a state of
 * 0 is a free cell. Called by reputation_next() and reputation_note(). The functions that
 * take a state apart are those with @state below: change them together.
 */
static __always_inline __u64 reputation_state(__u32 minute, __u32 minutes, __u32 hops,
					      __u32 flags)
{
	return minute | (__u64)(minutes & 0xff) << 32 | (__u64)(hops & 0xff) << 40 |
	       (__u64)(flags & 0xffff) << 48;
}

/*
 * Return the minute of @now_ns. @now_ns: of the shield's clock, in programs and userland.
 */
static __always_inline __u32 reputation_minute(__u64 now_ns)
{
	return (__u32)(now_ns >> REPUTATION_SHIFT);
}

/* Return the flags of @state, without the slot. */
static __always_inline __u32 reputation_flags(__u64 state)
{
	return state >> 48 & 0xff;
}

/*
 * Return in how many minutes the source queried; at most 255. A player or prefix is known
 * whatever their number is.
 */
static __always_inline __u32 reputation_minutes(__u64 state)
{
	return state >> 32 & 0xff;
}

/* Return the hops that were left in the query that @state was noted of; of a player 0. */
static __always_inline __u32 reputation_hops(__u64 state)
{
	return state >> 40 & 0xff;
}

/*
 * Return the minutes since the last query; 0 if another CPU noted it by a later clock.
 * Called by the functions below and in userland.
 */
static __always_inline __u32 reputation_age(__u64 state, __u32 minute)
{
	__s32 age = (__s32)(minute - (__u32)state);

	return age < 0 ? 0 : (__u32)age;
}

/*
 * Return true if the source is known: a client with enough minutes, a player, or a prefix
 * of one. Programs, daemon and `explain` must decide alike, so all call this.
 */
static __always_inline bool reputation_known(__u64 state, __u32 minute)
{
	return reputation_flags(state) & REPUTATION_PRESENT &&
	       !(reputation_flags(state) & REPUTATION_WRITING) &&
	       (reputation_minutes(state) >= REPUTATION_MINUTES ||
		reputation_flags(state) & (REPUTATION_PLAYER | REPUTATION_NETWORK)) &&
	       reputation_age(state, minute) < REPUTATION_AGE;
}

/*
 * Return true if a client at the address returned a cookie in this minute or the last.
 * Called by the programs and `explain`, which must agree. A prefix is never validated.
 */
static __always_inline bool reputation_validated(__u64 state, __u32 minute)
{
	return (reputation_flags(state) &
		(REPUTATION_PRESENT | REPUTATION_WRITING | REPUTATION_VALIDATED)) ==
		       (REPUTATION_PRESENT | REPUTATION_VALIDATED) &&
	       reputation_age(state, minute) <= 1;
}

/*
 * Return true if a client at the address returned a cookie for the service in @slot in
 * this minute or the last; after cookies for several services, for any @slot. Called by
 * limit_times() and, to show the limit, by times_of() (user/shield/shield_about.c).
 */
static __always_inline bool reputation_validated_at(__u64 state, __u32 minute, __u32 slot)
{
	return reputation_validated(state, minute) &&
	       (state >> 56 == slot || reputation_flags(state) & REPUTATION_MANY);
}

/*
 * Return true if the source is known or validated. Such an entry is never evicted:
 * reputation_eviction().
 */
static __always_inline bool reputation_good(__u64 state, __u32 minute)
{
	return reputation_known(state, minute) || reputation_validated(state, minute);
}

/*
 * Return the key of the /24 or /56 of @net. It equals no address in use: those of IPv6 do
 * not begin with eight zeros, nor with 31 zeros and a one, which the keys of IPv4
 * prefixes have. @net: an address, not a key of this function. Called by the programs and
 * by shield_known_add_networks(), which must agree.
 */
static __always_inline __u64 reputation_network(__u64 net)
{
	return net >> 8 | (__u64)zero_bit(net >> 32) << 32;
}

/*
 * Return true if @net is a key of reputation_network() and not an address. Called by
 * reputation_query(), so that no address that looks like such a key is noted. It must be
 * true for each result of reputation_network() for an address in use.
 */
static __always_inline bool reputation_is_network(__u64 net)
{
	return net >> 32 && !(net >> 33 && net >> 56);
}

/*
 * Return true if a query with @hops left comes from about where the source was when it
 * was noted; of a player always. Called by cache_source_limit() and reputation_next(),
 * for a known client.
 */
static __always_inline bool reputation_near(__u64 state, __u32 hops)
{
	__u32 was = reputation_hops(state);

	return reputation_flags(state) & REPUTATION_PLAYER ||
	       hops - was + REPUTATION_HOPS <= 2 * REPUTATION_HOPS;
}

/*
 * Return the hash of @net, whose upper bits are its bucket and, below these, its tag.
 * Called by reputation_find() and reputation_note(), which must agree.
 */
static __always_inline __u64 reputation_hash(__u64 net, const __u64 keys[3])
{
	return net * keys[0] + keys[2];
}

/* Return the bucket of @hash. Called by the next functions. */
static __always_inline __u32 reputation_bucket(__u64 hash)
{
	return hash >> (64 - REPUTATION_BITS);
}

/*
 * Return the tag of @hash: 1 to 255. Called by reputation_find() and reputation_note().
 */
static __always_inline __u64 reputation_tag(__u64 hash)
{
	__u64 tag = hash >> (64 - REPUTATION_BITS - 8) & 0xff;

	return tag ? tag : 1;
}

/*
 * Return the state of @net, an address or a key of reputation_network(); 0: it has none.
 * The entry may be over: the caller asks reputation_known() or reputation_validated().
 * Called in the programs and in userland, without a lock. Of an address without an entry
 * it must mostly read the tags alone: each query of a flood calls it.
 */
static __always_inline __u64 reputation_find(const struct reputation_table *t, __u64 net,
					     const __u64 keys[3])
{
	__u64 hash = reputation_hash(net, keys), state = 0;
	__u32 bucket = reputation_bucket(hash), at = bucket * REPUTATION_WAYS;

	if (!index_below(&bucket, 1 << REPUTATION_BITS) ||
	    !tags_like(t->tags[bucket], reputation_tag(hash)))
		return 0;
	for (int way = 0; way < REPUTATION_WAYS; way++, at++) {
		/* It cannot be, but Linux 6.1's verifier does not know. */
		if (!index_below(&at, REPUTATION_MAX))
			break;
		if (t->cells[at].net == net)
			state = *(const volatile __u64 *)&t->cells[at].state;
	}
	return state;
}

/*
 * Return the eviction priority of a cell: the cell with the highest value is replaced;
 * 0 means never. Called by reputation_note(). It must be 0 for each entry that a flood
 * may not push out.
 */
static __always_inline __u32 reputation_eviction(__u64 state, __u32 minute)
{
	if (!state)
		return ~0u;
	if (reputation_flags(state) & REPUTATION_WRITING ||
	    reputation_good(state, minute))
		return 0;
	/* Fewer minutes first, then longer silence. */
	return ((255 - reputation_minutes(state)) << 20) + 1 +
	       (reputation_age(state, minute) < 0xfffff ? reputation_age(state, minute)
							: 0xffffe);
}

/*
 * Return the new state of a source that queries in @minute with @hops left, or that is
 * entered for @flags. @state: the old one; 0: it has none; never with REPUTATION_WRITING,
 * since that cell is another CPU's. It may be returned unchanged. @hops, @flags: as of
 * reputation_note(), which calls it. known_clients.c makes a client known by
 * REPUTATION_MINUTES queries from one distance in as many minutes in a row, so each of
 * these must count.
 */
static __always_inline __u64 reputation_next(__u64 state, __u32 minute, __u32 hops,
					     __u32 flags)
{
	__u32 minutes = reputation_minutes(state),
	      kept = reputation_flags(state) & ~REPUTATION_WRITING;

	/*
	 * A validation ends at its time: queries and players in between do not prolong
	 * it.
	 */
	if (reputation_validated(state, minute)) {
		if (!(flags & REPUTATION_VALIDATED))
			return state | (__u64)flags << 48;
		if (state >> 56 != flags >> 8)
			flags |= REPUTATION_MANY;
	} else {
		kept &= ~(REPUTATION_VALIDATED | REPUTATION_MANY);
	}
	/*
	 * Keep the hop count of a known client. If it followed each query, one spoofed
	 * query from another distance would make the client unknown, as would a
	 * validation of a client that shares its address. After a day of silence the
	 * client may have moved.
	 */
	if (reputation_known(state, minute) && (!flags || flags & REPUTATION_VALIDATED)) {
		bool stays = reputation_age(state, minute) < REPUTATION_STAYS;

		if (reputation_near(state, hops) || (flags && stays))
			hops = reputation_hops(state);
		else if (stays)
			return state;
		else if (!flags)
			minutes = REPUTATION_MINUTES - 1;
	}
	if (reputation_age(state, minute) >= REPUTATION_AGE) {
		minutes = 0;
		kept &= ~(REPUTATION_PLAYER | REPUTATION_NETWORK);
	}
	if (!(flags & REPUTATION_VALIDATED) && ((__u32)state != minute || !minutes) &&
	    minutes < 255)
		minutes++;
	return reputation_state(minute, minutes, hops, flags | kept | REPUTATION_PRESENT);
}

/*
 * Note that @net queried in @minute with @hops left, or enter it for @flags:
 * REPUTATION_PLAYER, REPUTATION_NETWORK or REPUTATION_VALIDATED_AT(); 0: a query, which
 * may be noted only while the service is not under load. If the bucket is full of known
 * sources, or a race is lost, nothing happens. Called by reputation_query() and
 * validated_note() in the programs; by know_player(), shield_known_add_networks() and
 * known_clients.c in userland. All may run at once. The address and its tag are written
 * before the state. If a process dies in here, the cell stays claimed.
 */
static __always_inline void reputation_note(struct reputation_table *t, __u64 net,
					    __u32 hops, __u32 flags, __u32 minute,
					    const __u64 keys[3])
{
	__u64 hash = reputation_hash(net, keys), seen;
	__u32 at = reputation_bucket(hash) * REPUTATION_WAYS, best = REPUTATION_MAX,
	      most = 0;

	for (int way = 0; way < REPUTATION_WAYS; way++, at++) {
		__u32 spare;

		if (!index_below(&at, REPUTATION_MAX))
			return;
		seen = *(volatile __u64 *)&t->cells[at].state;
		spare = reputation_eviction(seen, minute);
		if (seen && t->cells[at].net == net) {
			/* Lost to another CPU that noted the same: that is as good. */
			if (!(reputation_flags(seen) & REPUTATION_WRITING))
				__sync_val_compare_and_swap(&t->cells[at].state, seen,
							    reputation_next(seen, minute,
									    hops, flags));
			return;
		}
		if (spare > most) {
			most = spare;
			best = at;
		}
	}
	if (!index_below(&best, REPUTATION_MAX))
		return;
	seen = *(volatile __u64 *)&t->cells[best].state;
	if (reputation_eviction(seen, minute) != most ||
	    __sync_val_compare_and_swap(&t->cells[best].state, seen,
					reputation_state(0, 0, 0, REPUTATION_WRITING)) !=
		    seen)
		return;
	*(volatile __u64 *)&t->cells[best].net = net;
	((volatile __u8 *)t->tags)[best] = reputation_tag(hash);
	__sync_lock_test_and_set(&t->cells[best].state,
				 reputation_next(0, minute, hops, flags));
}

#endif /* REPUTATION_H */
