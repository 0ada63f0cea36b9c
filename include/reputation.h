/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reputation.h - addresses that asked on several quiet days' minutes: trackers, masters,
 * browsers that somebody uses. Under a flood they are believed before strangers are.
 *
 * A fixed array in buckets of four. Who asks while nothing presses is entered; one is
 * known from its REPUTATION_MINUTES th minute on, and forgotten two weeks after its last.
 * Entries that are not known yet make room for each other, those that are known for
 * nobody. So a flood, which is no quiet time of its service, enters nobody there, and who
 * fills the table with invented addresses in quiet times takes free places, never
 * somebody's.
 *
 * Beside those are networks around who is known, entered by the daemon, and addresses
 * that have just proven that they are there, which are believed for a minute or two and
 * then make room again.
 *
 * There is no lock: who enters somebody claims a cell by compare-and-swap of its state.
 * Readers compare the name. An address is an IPv4 one or the upper half of an IPv6 one,
 * as budgets see it; the two are never alike, since no IPv6 address that is used begins
 * with 32 zeros.
 */
#ifndef REPUTATION_H
#define REPUTATION_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#define REPUTATION_BITS                                                \
	14 /* 2^14 buckets of REPUTATION_WAYS cells of 16 bytes: 1 MiB \
	    */
#define REPUTATION_WAYS	   4
#define REPUTATION_MAX	   (REPUTATION_WAYS << REPUTATION_BITS)
#define REPUTATION_MINUTES 3 /* asked in so many */
#define REPUTATION_SHIFT   36 /* a minute is 2^36 ns: 69 s */
#define REPUTATION_AGE	   17600 /* of those: two weeks */
#define REPUTATION_HOPS	   2 /* by so much its distance may change */
#define REPUTATION_STAYS   1252 /* minutes: a day of silence, then it may have moved */
#define REPUTATION_SELDOM  8 /* beside who is known one minute of so many counts */

/* struct reputation_cell.state, from bit 0: the minute it asked last (32), in how many
 * (8), its distance (8), flags (8), the slot where it proved itself (8). */
#define REPUTATION_PRESENT   1 /* flags */
#define REPUTATION_WRITING   2 /* is being written, by whoever made it so */
#define REPUTATION_PLAYER    4 /* plays, or did: needs no minutes, and has no distance */
#define REPUTATION_VALIDATED 8 /* an answered cookie: in this minute and the next */
#define REPUTATION_NETWORK   16 /* a network, see reputation_network() */
#define REPUTATION_MANY                                                \
	32 /* proven to more services than the one whose slot is there \
	    */

/* Flags of who has proven itself to the service in @slot. */
#define REPUTATION_VALIDATED_AT(slot) (REPUTATION_VALIDATED | (slot) << 8)

struct reputation_cell {
	__u64 net; /* address_net() */
	__u64 state;
};

struct reputation_table {
	struct reputation_cell cells[REPUTATION_MAX];
};

static __always_inline __u64 reputation_state(__u32 minute, __u32 minutes, __u32 hops,
					      __u32 flags)
{
	return minute | (__u64)(minutes & 0xff) << 32 | (__u64)(hops & 0xff) << 40 |
	       (__u64)(flags & 0xffff) << 48;
}

static __always_inline __u32 reputation_minute(__u64 now_ns)
{
	return (__u32)(now_ns >> REPUTATION_SHIFT);
}

static __always_inline __u32 reputation_flags(__u64 state)
{
	return state >> 48 & 0xff;
}

static __always_inline __u32 reputation_minutes(__u64 state)
{
	return state >> 32 & 0xff;
}

/* Minutes since it asked last; who noted it may have read a later clock. */
static __always_inline __u32 reputation_age(__u64 state, __u32 minute)
{
	__s32 age = (__s32)(minute - (__u32)state);

	return age < 0 ? 0 : (__u32)age;
}

/* Is it one that stays for two weeks? */
static __always_inline bool reputation_known(__u64 state, __u32 minute)
{
	return reputation_flags(state) & REPUTATION_PRESENT &&
	       !(reputation_flags(state) & REPUTATION_WRITING) &&
	       (reputation_minutes(state) >= REPUTATION_MINUTES ||
		reputation_flags(state) & (REPUTATION_PLAYER | REPUTATION_NETWORK)) &&
	       reputation_age(state, minute) < REPUTATION_AGE;
}

static __always_inline bool reputation_validated(__u64 state, __u32 minute)
{
	return (reputation_flags(state) &
		(REPUTATION_PRESENT | REPUTATION_WRITING | REPUTATION_VALIDATED)) ==
		       (REPUTATION_PRESENT | REPUTATION_VALIDATED) &&
	       reputation_age(state, minute) <= 1;
}

static __always_inline bool reputation_validated_at(__u64 state, __u32 minute, __u32 slot)
{
	return reputation_validated(state, minute) &&
	       (state >> 56 == slot || reputation_flags(state) & REPUTATION_MANY);
}

/* May it be believed? */
static __always_inline bool reputation_good(__u64 state, __u32 minute)
{
	return reputation_known(state, minute) || reputation_validated(state, minute);
}

/*
 * The name of the /24 or /56 around @net. Never that of an address: those of IPv6 that
 * are used do not begin with eight zeros, nor with 31 and a one, which IPv4's have here.
 */
static __always_inline __u64 reputation_network(__u64 net)
{
	return net >> 8 | (__u64)zero_bit(net >> 32) << 32;
}

/* Is it such a name, as an address that nobody has? */
static __always_inline bool reputation_is_network(__u64 net)
{
	return net >> 32 && !(net >> 33 && net >> 56);
}

/* Does what came from it with @hops left come from where it is? */
static __always_inline bool reputation_near(__u64 state, __u32 hops)
{
	__u32 was = state >> 40 & 0xff;

	return reputation_flags(state) & REPUTATION_PLAYER ||
	       hops - was + REPUTATION_HOPS <= 2 * REPUTATION_HOPS;
}

static __always_inline __u32 reputation_bucket(__u64 net, const __u64 keys[3])
{
	return (__u32)((net * keys[0] + keys[2]) >> (64 - REPUTATION_BITS)) *
	       REPUTATION_WAYS;
}

/* The state of the cell of @net, whatever it is worth; 0: it has none. */
static __always_inline __u64 reputation_find(const struct reputation_table *t, __u64 net,
					     const __u64 keys[3])
{
	__u32 at = reputation_bucket(net, keys);
	__u64 state = 0;

	for (int way = 0; way < REPUTATION_WAYS; way++, at++) {
		/* It cannot be; but the verifier of Linux 6.1 does not know. */
		if (!index_below(&at, REPUTATION_MAX))
			break;
		if (t->cells[at].net == net)
			state = *(const volatile __u64 *)&t->cells[at].state;
	}
	return state;
}

/* How gladly a cell is given away: the most is taken; 0: never. */
static __always_inline __u32 reputation_eviction(__u64 state, __u32 minute)
{
	if (!state)
		return ~0u;
	if (reputation_flags(state) & REPUTATION_WRITING ||
	    reputation_good(state, minute))
		return 0;
	/* Of those that asked as often, the one that has been silent longest. */
	return ((255 - reputation_minutes(state)) << 20) + 1 +
	       (reputation_age(state, minute) < 0xfffff ? reputation_age(state, minute)
							: 0xffffe);
}

/* What the state of one that asks now becomes. */
static __always_inline __u64 reputation_next(__u64 state, __u32 minute, __u32 hops,
					     __u32 flags)
{
	__u32 minutes = reputation_minutes(state),
	      kept = reputation_flags(state) & ~REPUTATION_WRITING;

	/* A proof is over when it is, and is no question; whoever asks or plays
	 * meanwhile. */
	if (reputation_validated(state, minute)) {
		if (!(flags & REPUTATION_VALIDATED))
			return state | (__u64)flags << 48;
		if (state >> 56 != flags >> 8)
			flags |= REPUTATION_MANY;
	} else {
		kept &= ~(REPUTATION_VALIDATED | REPUTATION_MANY);
	}
	/*
	 * Who is known keeps its distance, or a question in its name would carry it off,
	 * or a proof by who shares its address. Once it has been silent for a day it may
	 * have moved.
	 */
	if (reputation_known(state, minute) && (!flags || flags & REPUTATION_VALIDATED)) {
		bool stays = reputation_age(state, minute) < REPUTATION_STAYS;

		if (reputation_near(state, hops) || (flags && stays))
			hops = state >> 40 & 0xff;
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
 * @net asked in a quiet minute, with @hops left; or @flags say why it is entered. Full of
 * others that are known: nothing happens.
 */
static __always_inline void reputation_note(struct reputation_table *t, __u64 net,
					    __u32 hops, __u32 flags, __u32 minute,
					    const __u64 keys[3])
{
	__u32 at = reputation_bucket(net, keys), best = REPUTATION_MAX, most = 0;
	__u64 seen;

	for (int way = 0; way < REPUTATION_WAYS; way++, at++) {
		__u32 spare;

		if (!index_below(&at, REPUTATION_MAX))
			return;
		seen = *(volatile __u64 *)&t->cells[at].state;
		spare = reputation_eviction(seen, minute);
		if (seen && t->cells[at].net == net) {
			/* Lost to another who noted the same: that is as good. */
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
	__sync_lock_test_and_set(&t->cells[best].state,
				 reputation_next(0, minute, hops, flags));
}

#endif /* REPUTATION_H */
