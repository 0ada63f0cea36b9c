/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * validated.h - the table of addresses that are really there, for a minute each.
 *
 * A fixed array, like that of the players. Who is in it has answered a cookie, or was
 * invited: the server itself sent it a challenge. Neither can be had faster than the
 * budgets of challenges allow, so no flood fills it; when a bucket is full all the same,
 * whose minute is over makes room, then who was used longest ago, the invited before the
 * proven.
 *
 * There is no lock: who enters somebody first claims a cell by compare-and-swap, and
 * names it last. Readers compare names. Two who enter the same one at the very same
 * moment may take two cells, of which the first is found; the other is forgotten in a
 * minute.
 */
#ifndef VALIDATED_H
#define VALIDATED_H

#include "cookie.h"
#include "wire.h"

#define VALIDATED_BITS                                                  \
	13 /* 2^13 buckets of VALIDATED_WAYS cells of 88 bytes: 2.8 MiB \
	    */
#define VALIDATED_WAYS 4
#define VALIDATED_MAX  (VALIDATED_WAYS << VALIDATED_BITS)
#define VALIDATED_NS   60000000000ll /* unused for so long: gone */

/* struct validated_cell.name.word[2], above port and slot. */
#define VALIDATED_PRESENT   (1ull << 32)
#define VALIDATED_WRITING   (2ull << 32) /* is being written, by whoever made it so */

#define VALIDATED_COOKIE    1 /* a cookie came back; otherwise invited */
#define VALIDATED_CHALLENGE 2 /* challenge is known */
#define VALIDATED_NUMBER    4 /* cookie is known */

struct validated_cell {
	struct cookie_peer name; /* its last word is zero or PROVEN_*, too */
	__u64 used_ns;
	__u32 cookie; /* the number that proved it */
	__u32 challenge; /* what the server sent it last, as it stood there */
	__u32 earlier[4]; /* and before: others may have asked in its name */
	__u32 flags; /* VALIDATED_COOKIE and so on */
	__u32 passed[COOKIE_FORMS]; /* when a proof of each form passed last: 2^20 ns */
};
_Static_assert(sizeof(struct validated_cell) == 88, "struct validated_cell has a hole");

struct validated_table {
	struct validated_cell cells[VALIDATED_MAX];
};

static __always_inline __u32 validated_bucket(const struct cookie_peer *peer,
					      const __u64 keys[3])
{
	__u64 hash = peer->word[0] * keys[0] + peer->word[1] * keys[1] +
		     (__u32)peer->word[2] * keys[2];

	return hash >> (64 - VALIDATED_BITS);
}

static __always_inline __u64 validated_name(const struct cookie_peer *peer)
{
	return VALIDATED_PRESENT | (__u32)peer->word[2];
}

static __always_inline bool validated_is(const struct validated_cell *cell,
					 const struct cookie_peer *peer)
{
	return *(const volatile __u64 *)&cell->name.word[2] == validated_name(peer) &&
	       cell->name.word[1] == peer->word[1] && cell->name.word[0] == peer->word[0];
}

/* Whoever entered it may have read a later clock, on another processor. */
static __always_inline bool validated_alive(const struct validated_cell *cell,
					    __u64 now_ns)
{
	return (__s64)(now_ns - cell->used_ns) < VALIDATED_NS;
}

/* NULL: at no time shown to be there, or not in the last minute. */
static __always_inline struct validated_cell *
validated_find(struct validated_table *t, const struct cookie_peer *peer,
	       const __u64 keys[3], __u64 now_ns)
{
	__u32 at = validated_bucket(peer, keys) * VALIDATED_WAYS;

	for (int way = 0; way < VALIDATED_WAYS; way++, at++) {
		/* It cannot be; but the verifier of Linux 6.1 does not know. */
		if (!index_below(&at, VALIDATED_MAX))
			break;
		if (validated_is(&t->cells[at], peer))
			return validated_alive(&t->cells[at], now_ns) ? &t->cells[at]
								      : NULL;
	}
	return NULL;
}

#define VALIDATED_RETRY 2000 /* of 2^20 ns: stock clients ask again after 3 s */

/*
 * Has the time come for another request of @form's from there? Whoever is sent echoes
 * that others asked for, in its name, answers them all: they must not use up what it has.
 */
static __always_inline bool validated_may_retry(struct validated_cell *cell,
						enum cookie_form form, __u64 now_ns)
{
	__u32 now = now_ns >> 20;

	return now - cell->passed[form] >= VALIDATED_RETRY;
}

/* How gladly a cell is given away: the most is taken. */
static __always_inline __u64 validated_eviction(const struct validated_cell *cell,
						__u64 now_ns)
{
	__u64 name = *(const volatile __u64 *)&cell->name.word[2];
	__s64 age = now_ns - cell->used_ns;

	if (name & VALIDATED_WRITING)
		return 0;
	if (!name || age >= VALIDATED_NS)
		return ~0ull;
	/* Its order is kept, and the invited come before the proven. */
	return 1 + (age < 0 ? 0 : (__u64)age) +
	       (cell->flags & VALIDATED_COOKIE ? 0 : 1ull << 62);
}

/*
 * The cell of @peer, dead or alive, or else the one to be taken; VALIDATED_MAX: none. The
 * last word of the name that it had, before it was looked at, is in *@ret_name.
 */
static __always_inline __u32 validated_choose(const struct validated_table *t,
					      const struct cookie_peer *peer,
					      const __u64 keys[3], __u64 now_ns,
					      __u64 *ret_name)
{
	__u32 at = validated_bucket(peer, keys) * VALIDATED_WAYS, best = VALIDATED_MAX;
	__u64 most = 0;

	for (int way = 0; way < VALIDATED_WAYS; way++, at++) {
		__u64 age, name;

		if (!index_below(&at, VALIDATED_MAX))
			break;
		if (validated_is(&t->cells[at], peer))
			return at;
		name = *(const volatile __u64 *)&t->cells[at].name.word[2];
		age = validated_eviction(&t->cells[at], now_ns);
		if (age > most) {
			most = age;
			best = at;
			*ret_name = name;
		}
	}
	return best;
}

/*
 * Enter @peer, or renew it. NULL: all of its bucket is being written at this moment. A
 * cell that had somebody else is returned with nothing known but the name.
 */
static __always_inline struct validated_cell *
validated_enter(struct validated_table *t, const struct cookie_peer *peer,
		const __u64 keys[3], __u64 now_ns)
{
	__u64 seen = VALIDATED_WRITING;
	__u32 at = validated_choose(t, peer, keys, now_ns, &seen);
	struct validated_cell *cell;

	if (!index_below(&at, VALIDATED_MAX))
		return NULL;
	cell = &t->cells[at];
	if (!validated_is(cell, peer)) {
		/* Not over one who came into the cell since it was chosen. */
		if (seen & VALIDATED_WRITING ||
		    __sync_val_compare_and_swap(&cell->name.word[2], seen,
						VALIDATED_WRITING) != seen)
			return NULL;
		cell->name.word[0] = peer->word[0];
		cell->name.word[1] = peer->word[1];
		cell->flags = 0;
		cell->cookie = 0;
		cell->challenge = 0;
		__builtin_memset(cell->passed, 0, sizeof(cell->passed));
		cell->used_ns = now_ns;
		__sync_lock_test_and_set(&cell->name.word[2], validated_name(peer));
		return cell;
	}
	if (!validated_alive(cell, now_ns))
		cell->flags = 0;
	cell->used_ns = now_ns;
	return cell;
}

#endif /* VALIDATED_H */
