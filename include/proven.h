/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proven.h - the table of addresses that are really there, for a minute each.
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
#ifndef PROVEN_H
#define PROVEN_H

#include "cookie.h"
#include "wire.h"

#define PROVEN_BITS 13 /* 2^13 buckets of PROVEN_WAYS cells of 88 bytes: 2.8 MiB */
#define PROVEN_WAYS 4
#define PROVEN_MAX  (PROVEN_WAYS << PROVEN_BITS)
#define PROVEN_NS   60000000000ll /* unused for so long: gone */

/* struct proven_cell.name.word[2], above port and slot. */
#define PROVEN_HERE	 (1ull << 32)
#define PROVEN_TAKEN	 (2ull << 32) /* is being written, by whoever made it so */

#define PROVEN_SURELY	 1 /* a cookie came back; otherwise invited */
#define PROVEN_CHALLENGE 2 /* challenge is known */
#define PROVEN_NUMBER	 4 /* cookie is known */

struct proven_cell {
	struct cookie_peer name; /* its last word is zero or PROVEN_*, too */
	__u64 used_ns;
	__u32 cookie; /* the number that proved it */
	__u32 challenge; /* what the server sent it last, as it stood there */
	__u32 earlier[4]; /* and before: others may have asked in its name */
	__u32 flags; /* PROVEN_SURELY and so on */
	__u32 turned[COOKIE_FORMS]; /* when a proof of each form passed last: 2^20 ns */
};
_Static_assert(sizeof(struct proven_cell) == 88, "struct proven_cell has a hole");

struct proven_table {
	struct proven_cell cells[PROVEN_MAX];
};

static __always_inline __u32 proven_bucket(const struct cookie_peer *who,
					   const __u64 keys[3])
{
	__u64 hash = who->word[0] * keys[0] + who->word[1] * keys[1] +
		     (__u32)who->word[2] * keys[2];

	return hash >> (64 - PROVEN_BITS);
}

static __always_inline __u64 proven_name(const struct cookie_peer *who)
{
	return PROVEN_HERE | (__u32)who->word[2];
}

static __always_inline bool proven_is(const struct proven_cell *cell,
				      const struct cookie_peer *who)
{
	return *(const volatile __u64 *)&cell->name.word[2] == proven_name(who) &&
	       cell->name.word[1] == who->word[1] && cell->name.word[0] == who->word[0];
}

/* Whoever entered it may have read a later clock, on another processor. */
static __always_inline bool proven_alive(const struct proven_cell *cell, __u64 now_ns)
{
	return (__s64)(now_ns - cell->used_ns) < PROVEN_NS;
}

/* NULL: at no time shown to be there, or not in the last minute. */
static __always_inline struct proven_cell *proven_find(struct proven_table *t,
						       const struct cookie_peer *who,
						       const __u64 keys[3], __u64 now_ns)
{
	__u32 at = proven_bucket(who, keys) * PROVEN_WAYS;

	for (int way = 0; way < PROVEN_WAYS; way++, at++) {
		/* It cannot be; but the verifier of Linux 6.1 does not know. */
		if (!index_below(&at, PROVEN_MAX))
			break;
		if (proven_is(&t->cells[at], who))
			return proven_alive(&t->cells[at], now_ns) ? &t->cells[at] : NULL;
	}
	return NULL;
}

#define PROVEN_AGAIN 2000 /* of 2^20 ns: stock clients ask again after 3 s */

/*
 * Has the time come for another request of @form's from there? Whoever is sent echoes
 * that others asked for, in its name, answers them all: they must not use up what it has.
 */
static __always_inline bool proven_again(struct proven_cell *cell, enum cookie_form form,
					 __u64 now_ns)
{
	__u32 now = now_ns >> 20;

	return now - cell->turned[form] >= PROVEN_AGAIN;
}

/* How gladly a cell is given away: the most is taken. */
static __always_inline __u64 proven_age(const struct proven_cell *cell, __u64 now_ns)
{
	__u64 name = *(const volatile __u64 *)&cell->name.word[2];
	__s64 age = now_ns - cell->used_ns;

	if (name & PROVEN_TAKEN)
		return 0;
	if (!name || age >= PROVEN_NS)
		return ~0ull;
	/* Its order is kept, and the invited come before the proven. */
	return 1 + (age < 0 ? 0 : (__u64)age) +
	       (cell->flags & PROVEN_SURELY ? 0 : 1ull << 62);
}

/*
 * The cell of @who, dead or alive, or else the one to be taken; PROVEN_MAX: none. The
 * last word of the name that it had, before it was looked at, is in *@ret_name.
 */
static __always_inline __u32 proven_choose(const struct proven_table *t,
					   const struct cookie_peer *who,
					   const __u64 keys[3], __u64 now_ns,
					   __u64 *ret_name)
{
	__u32 at = proven_bucket(who, keys) * PROVEN_WAYS, best = PROVEN_MAX;
	__u64 most = 0;

	for (int way = 0; way < PROVEN_WAYS; way++, at++) {
		__u64 age, name;

		if (!index_below(&at, PROVEN_MAX))
			break;
		if (proven_is(&t->cells[at], who))
			return at;
		name = *(const volatile __u64 *)&t->cells[at].name.word[2];
		age = proven_age(&t->cells[at], now_ns);
		if (age > most) {
			most = age;
			best = at;
			*ret_name = name;
		}
	}
	return best;
}

/*
 * Enter @who, or renew it. NULL: all of its bucket is being written at this moment. A
 * cell that had somebody else is returned with nothing known but the name.
 */
static __always_inline struct proven_cell *proven_enter(struct proven_table *t,
							const struct cookie_peer *who,
							const __u64 keys[3], __u64 now_ns)
{
	__u64 seen = PROVEN_TAKEN;
	__u32 at = proven_choose(t, who, keys, now_ns, &seen);
	struct proven_cell *cell;

	if (!index_below(&at, PROVEN_MAX))
		return NULL;
	cell = &t->cells[at];
	if (!proven_is(cell, who)) {
		/* Not over one who came into the cell since it was chosen. */
		if (seen & PROVEN_TAKEN ||
		    __sync_val_compare_and_swap(&cell->name.word[2], seen,
						PROVEN_TAKEN) != seen)
			return NULL;
		cell->name.word[0] = who->word[0];
		cell->name.word[1] = who->word[1];
		cell->flags = 0;
		cell->cookie = 0;
		cell->challenge = 0;
		__builtin_memset(cell->turned, 0, sizeof(cell->turned));
		cell->used_ns = now_ns;
		__sync_lock_test_and_set(&cell->name.word[2], proven_name(who));
		return cell;
	}
	if (!proven_alive(cell, now_ns))
		cell->flags = 0;
	cell->used_ns = now_ns;
	return cell;
}

#endif /* PROVEN_H */
