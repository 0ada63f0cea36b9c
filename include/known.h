/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known.h - addresses that asked on several quiet days' minutes: trackers, masters,
 * browsers that somebody uses. Under a flood they are believed before strangers are.
 *
 * A fixed array in buckets of four. Who asks while nothing presses is entered; one is
 * known from its KNOWN_MINUTES th minute on, and forgotten two weeks after its last.
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
#ifndef KNOWN_H
#define KNOWN_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "wire.h"

#define KNOWN_BITS    14 /* 2^14 buckets of KNOWN_WAYS cells of 16 bytes: 1 MiB */
#define KNOWN_WAYS    4
#define KNOWN_MAX     (KNOWN_WAYS << KNOWN_BITS)
#define KNOWN_MINUTES 3 /* asked in so many */
#define KNOWN_SHIFT   36 /* a minute is 2^36 ns: 69 s */
#define KNOWN_AGE     17600 /* of those: two weeks */
#define KNOWN_HOPS    2 /* by so much its distance may change */
#define KNOWN_STAYS   1252 /* minutes: a day of silence, then it may have moved */
#define KNOWN_SELDOM  8 /* beside who is known one minute of so many counts */

/* struct known_cell.state, from bit 0: the minute it asked last (32), in how many (8),
 * its distance (8), flags (8), the slot where it proved itself (8). */
#define KNOWN_HERE   1 /* flags */
#define KNOWN_TAKEN  2 /* is being written, by whoever made it so */
#define KNOWN_PLAYER 4 /* plays, or did: needs no minutes, and has no distance */
#define KNOWN_PROVEN 8 /* an answered cookie: in this minute and the next */
#define KNOWN_AROUND 16 /* a network, see known_network() */
#define KNOWN_MANY   32 /* proven to more services than the one whose slot is there */

/* Flags of who has proven itself to the service in @slot. */
#define KNOWN_PROVEN_AT(slot) (KNOWN_PROVEN | (slot) << 8)

struct known_cell {
	__u64 net; /* address_net() */
	__u64 state;
};

struct known_table {
	struct known_cell cells[KNOWN_MAX];
};

static __always_inline __u64 known_state(__u32 minute, __u32 minutes, __u32 hops,
					 __u32 flags)
{
	return minute | (__u64)(minutes & 0xff) << 32 | (__u64)(hops & 0xff) << 40 |
	       (__u64)(flags & 0xffff) << 48;
}

static __always_inline __u32 known_minute(__u64 now_ns)
{
	return (__u32)(now_ns >> KNOWN_SHIFT);
}

static __always_inline __u32 known_flags(__u64 state)
{
	return state >> 48 & 0xff;
}

static __always_inline __u32 known_minutes(__u64 state)
{
	return state >> 32 & 0xff;
}

/* Minutes since it asked last; who noted it may have read a later clock. */
static __always_inline __u32 known_age(__u64 state, __u32 minute)
{
	__s32 age = (__s32)(minute - (__u32)state);

	return age < 0 ? 0 : (__u32)age;
}

/* Is it one that stays for two weeks? */
static __always_inline bool known_lasts(__u64 state, __u32 minute)
{
	return known_flags(state) & KNOWN_HERE && !(known_flags(state) & KNOWN_TAKEN) &&
	       (known_minutes(state) >= KNOWN_MINUTES ||
		known_flags(state) & (KNOWN_PLAYER | KNOWN_AROUND)) &&
	       known_age(state, minute) < KNOWN_AGE;
}

static __always_inline bool known_proven(__u64 state, __u32 minute)
{
	return (known_flags(state) & (KNOWN_HERE | KNOWN_TAKEN | KNOWN_PROVEN)) ==
		       (KNOWN_HERE | KNOWN_PROVEN) &&
	       known_age(state, minute) <= 1;
}

static __always_inline bool known_proven_at(__u64 state, __u32 minute, __u32 slot)
{
	return known_proven(state, minute) &&
	       (state >> 56 == slot || known_flags(state) & KNOWN_MANY);
}

/* May it be believed? */
static __always_inline bool known_good(__u64 state, __u32 minute)
{
	return known_lasts(state, minute) || known_proven(state, minute);
}

/*
 * The name of the /24 or /56 around @net. Never that of an address: those of IPv6 that
 * are used do not begin with eight zeros, nor with 31 and a one, which IPv4's have here.
 */
static __always_inline __u64 known_network(__u64 net)
{
	return net >> 8 | (__u64)zero_bit(net >> 32) << 32;
}

/* Is it such a name, as an address that nobody has? */
static __always_inline bool known_is_network(__u64 net)
{
	return net >> 32 && !(net >> 33 && net >> 56);
}

/* Does what came from it with @hops left come from where it is? */
static __always_inline bool known_near(__u64 state, __u32 hops)
{
	__u32 was = state >> 40 & 0xff;

	return known_flags(state) & KNOWN_PLAYER ||
	       hops - was + KNOWN_HOPS <= 2 * KNOWN_HOPS;
}

static __always_inline __u32 known_bucket(__u64 net, const __u64 keys[3])
{
	return (__u32)((net * keys[0] + keys[2]) >> (64 - KNOWN_BITS)) * KNOWN_WAYS;
}

/* The state of the cell of @net, whatever it is worth; 0: it has none. */
static __always_inline __u64 known_find(const struct known_table *t, __u64 net,
					const __u64 keys[3])
{
	__u32 at = known_bucket(net, keys);
	__u64 state = 0;

	for (int way = 0; way < KNOWN_WAYS; way++, at++) {
		/* It cannot be; but the verifier of Linux 6.1 does not know. */
		if (!index_below(&at, KNOWN_MAX))
			break;
		if (t->cells[at].net == net)
			state = *(const volatile __u64 *)&t->cells[at].state;
	}
	return state;
}

/* How gladly a cell is given away: the most is taken; 0: never. */
static __always_inline __u32 known_spare(__u64 state, __u32 minute)
{
	if (!state)
		return ~0u;
	if (known_flags(state) & KNOWN_TAKEN || known_good(state, minute))
		return 0;
	/* Of those that asked as often, the one that has been silent longest. */
	return ((255 - known_minutes(state)) << 20) + 1 +
	       (known_age(state, minute) < 0xfffff ? known_age(state, minute) : 0xffffe);
}

/* What the state of one that asks now becomes. */
static __always_inline __u64 known_next(__u64 state, __u32 minute, __u32 hops,
					__u32 flags)
{
	__u32 minutes = known_minutes(state), kept = known_flags(state) & ~KNOWN_TAKEN;

	/* A proof is over when it is, and is no question; whoever asks or plays
	 * meanwhile. */
	if (known_proven(state, minute)) {
		if (!(flags & KNOWN_PROVEN))
			return state | (__u64)flags << 48;
		if (state >> 56 != flags >> 8)
			flags |= KNOWN_MANY;
	} else {
		kept &= ~(KNOWN_PROVEN | KNOWN_MANY);
	}
	/*
	 * Who is known keeps its distance, or a question in its name would carry it off,
	 * or a proof by who shares its address. Once it has been silent for a day it may
	 * have moved.
	 */
	if (known_lasts(state, minute) && (!flags || flags & KNOWN_PROVEN)) {
		bool stays = known_age(state, minute) < KNOWN_STAYS;

		if (known_near(state, hops) || (flags && stays))
			hops = state >> 40 & 0xff;
		else if (stays)
			return state;
		else if (!flags)
			minutes = KNOWN_MINUTES - 1;
	}
	if (known_age(state, minute) >= KNOWN_AGE) {
		minutes = 0;
		kept &= ~(KNOWN_PLAYER | KNOWN_AROUND);
	}
	if (!(flags & KNOWN_PROVEN) && ((__u32)state != minute || !minutes) &&
	    minutes < 255)
		minutes++;
	return known_state(minute, minutes, hops, flags | kept | KNOWN_HERE);
}

/*
 * @net asked in a quiet minute, with @hops left; or @flags say why it is entered. Full of
 * others that are known: nothing happens.
 */
static __always_inline void known_note(struct known_table *t, __u64 net, __u32 hops,
				       __u32 flags, __u32 minute, const __u64 keys[3])
{
	__u32 at = known_bucket(net, keys), best = KNOWN_MAX, most = 0;
	__u64 seen;

	for (int way = 0; way < KNOWN_WAYS; way++, at++) {
		__u32 spare;

		if (!index_below(&at, KNOWN_MAX))
			return;
		seen = *(volatile __u64 *)&t->cells[at].state;
		spare = known_spare(seen, minute);
		if (seen && t->cells[at].net == net) {
			/* Lost to another who noted the same: that is as good. */
			if (!(known_flags(seen) & KNOWN_TAKEN))
				__sync_val_compare_and_swap(&t->cells[at].state, seen,
							    known_next(seen, minute, hops,
								       flags));
			return;
		}
		if (spare > most) {
			most = spare;
			best = at;
		}
	}
	if (!index_below(&best, KNOWN_MAX))
		return;
	seen = *(volatile __u64 *)&t->cells[best].state;
	if (known_spare(seen, minute) != most ||
	    __sync_val_compare_and_swap(&t->cells[best].state, seen,
					known_state(0, 0, 0, KNOWN_TAKEN)) != seen)
		return;
	*(volatile __u64 *)&t->cells[best].net = net;
	__sync_lock_test_and_set(&t->cells[best].state,
				 known_next(0, minute, hops, flags));
}

#endif /* KNOWN_H */
