/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * validated.h - the table of validated clients, and of clients that the server has
 * challenged, for a minute after each was last used.
 *
 * A fixed array in buckets of four. A client is entered when it returns a cookie
 * (validated) or when the server itself sends it a challenge. Neither can happen faster
 * than the limits of challenges allow, so a flood does not fill it. If a bucket is full,
 * the cell whose minute is over is replaced, else the one unused for longest, those
 * without a cookie first.
 *
 * Locking: none. The CPU that enters a client first claims a cell by compare-and-swap,
 * and writes the name last; readers compare names. Two CPUs that enter the same client at
 * once may take two cells, of which the first is found; the other is over in a minute. A
 * tag is written while its cell is claimed, before the name: a reader that could find the
 * name finds the tag.
 *
 * Called by the ingress programs and, for challenges of servers, by egress
 * (server_challenge_note()); `explain` reads the cells (walk_joining() and
 * validating_find() in user/shield/shield_about.c), and trials enter clients in a copy
 * (user/shield/shield_fork.c). The table is pinned: if the hash, the bucket, the tag, the
 * name of a cell, a flag or the unit of a member changes, raise ABI_VERSION
 * (user/shield/shield_abi.c). tests/include/test_races.c enters clients from several
 * threads.
 */
#ifndef VALIDATED_H
#define VALIDATED_H

#include "cookie.h"
#include "tags.h"
#include "wire.h"

#define VALIDATED_BITS \
	13 /* log2 of buckets of VALIDATED_WAYS cells of 88 bytes: 2.8 MiB */
#define VALIDATED_WAYS 4
#define VALIDATED_MAX  (VALIDATED_WAYS << VALIDATED_BITS)
#define VALIDATED_NS \
	60000000000ll /* ns without use after which an entry counts no more */

/*
 * State of a cell: in struct validated_cell.name.word[2], above port and slot. 0: free.
 */
#define VALIDATED_PRESENT (1ull << 32)
#define VALIDATED_WRITING \
	(2ull << 32) /* claimed by the CPU that set this, which writes it */

#define VALIDATED_COOKIE                                                                \
	1 /* a cookie came back: the client is validated; else the server challenged it \
	   */
#define VALIDATED_CHALLENGE 2 /* @challenge is known */
#define VALIDATED_NUMBER    4 /* @cookie is known */

struct validated_cell {
	struct cookie_peer name; /* the client; its last word has the state too */
	__u64 used_ns; /* ns of the shield's clock */
	__u32 cookie; /* the number that the client returned (QuakeWorld, Quake II) */
	__u32 challenge; /* the number in the server's last challenge to it */
	__u32 earlier[4]; /* and in the four before: other sources may have requested some
			     in its name */
	__u32 flags; /* VALIDATED_COOKIE, VALIDATED_CHALLENGE, VALIDATED_NUMBER */
	__u32 passed[COOKIE_FORMS]; /* when a cookie of each form last passed, units of
				       2^20 ns; 0: never; validated_record() writes it */
};
_Static_assert(sizeof(struct validated_cell) == 88, "struct validated_cell has a hole");

struct validated_table {
	struct validated_cell cells[VALIDATED_MAX];
	/*
	 * A byte of each cell's hash by bucket, the first cell's lowest; 0: never used.
	 * A request to join of a flood reads these 32 KiB, which stay in a cache, and no
	 * cell.
	 */
	__u32 tags[1 << VALIDATED_BITS];
};

/*
 * Return the hash of @peer. Its upper bits are the bucket, the next 8 the tag.
 * Called in this file. The state in the upper half of the last word does not count.
 */
static __always_inline __u64 validated_hash(const struct cookie_peer *peer,
					    const __u64 keys[3])
{
	return peer->word[0] * keys[0] + peer->word[1] * keys[1] +
	       (__u32)peer->word[2] * keys[2];
}

/* Return the bucket of @hash. Called in this file. */
static __always_inline __u32 validated_bucket(__u64 hash)
{
	return hash >> (64 - VALIDATED_BITS);
}

/*
 * Return the tag of @hash: 1 to 255, since 0 is that of a cell never written. Called in
 * this file.
 */
static __always_inline __u64 validated_tag(__u64 hash)
{
	__u64 tag = hash >> (64 - VALIDATED_BITS - 8) & 0xff;

	return tag ? tag : 1;
}

/* Return the last word of the name of @peer's cell. Called in this file. */
static __always_inline __u64 validated_name(const struct cookie_peer *peer)
{
	return VALIDATED_PRESENT | (__u32)peer->word[2];
}

/*
 * Return true if @cell is that of @peer, and is not being written. Called in this file.
 * The last word is compared first, since it is written last.
 */
static __always_inline bool validated_is(const struct validated_cell *cell,
					 const struct cookie_peer *peer)
{
	return *(const volatile __u64 *)&cell->name.word[2] == validated_name(peer) &&
	       cell->name.word[1] == peer->word[1] && cell->name.word[0] == peer->word[0];
}

/*
 * Return true if @cell was used within VALIDATED_NS. Another CPU may have used it after
 * @now_ns was read. Called in this file and by walk_joining().
 */
static __always_inline bool validated_alive(const struct validated_cell *cell,
					    __u64 now_ns)
{
	return (__s64)(now_ns - cell->used_ns) < VALIDATED_NS;
}

/*
 * Return the cell of @peer, or NULL: it was not entered, or not used in the last minute.
 * The client is validated only if the cell has VALIDATED_COOKIE. Any program, without a
 * lock: another CPU may give the cell to another client meanwhile. Changes nothing: a
 * caller that counts this as a use sets used_ns. Of a client without a cell it must
 * mostly read the tags alone: each request to join of a flood calls it.
 */
static __always_inline struct validated_cell *
validated_find(struct validated_table *t, const struct cookie_peer *peer,
	       const __u64 keys[3], __u64 now_ns)
{
	__u64 hash = validated_hash(peer, keys);
	__u32 bucket = validated_bucket(hash), at = bucket * VALIDATED_WAYS;

	if (!index_below(&bucket, 1 << VALIDATED_BITS) ||
	    !tags_like(t->tags[bucket], validated_tag(hash)))
		return NULL;
	for (int way = 0; way < VALIDATED_WAYS; way++, at++) {
		/* It cannot be, but Linux 6.1's verifier does not know. */
		if (!index_below(&at, VALIDATED_MAX))
			break;
		if (validated_is(&t->cells[at], peer))
			return validated_alive(&t->cells[at], now_ns) ? &t->cells[at]
								      : NULL;
	}
	return NULL;
}

#define VALIDATED_RETRY 2000 /* units of 2^20 ns; stock clients retry after 3 s */

/*
 * Return true if another request of @form may pass: the last was at least VALIDATED_RETRY
 * before. @form: below COOKIE_FORMS, as the caller has compared. A client answers all
 * echoes that other sources requested in its name; these must not use up its limits.
 * Called by echo_too_soon() and validation_decide(), and by validated_record(), which
 * then sets the time.
 */
static __always_inline bool validated_may_retry(struct validated_cell *cell,
						enum cookie_form form, __u64 now_ns)
{
	__u32 now = now_ns >> 20;

	/* The time comes round after 52 days. */
	return !cell->passed[form] || now - cell->passed[form] >= VALIDATED_RETRY;
}

/*
 * Return the eviction priority of @cell: the highest is replaced; 0: never. Called by
 * validated_choose().
 */
static __always_inline __u64 validated_eviction(const struct validated_cell *cell,
						__u64 now_ns)
{
	__u64 name = *(const volatile __u64 *)&cell->name.word[2];
	__s64 age = now_ns - cell->used_ns;

	if (name & VALIDATED_WRITING)
		return 0;
	if (!name || age >= VALIDATED_NS)
		return ~0ull;
	/*
	 * The longer unused the higher; clients without a cookie before validated ones.
	 */
	return 1 + (age < 0 ? 0 : (__u64)age) +
	       (cell->flags & VALIDATED_COOKIE ? 0 : 1ull << 62);
}

/*
 * Return the index of the cell of @peer, over or not, or of the one to replace;
 * VALIDATED_MAX: none. *@ret_name: the last word of the name that it had when it was
 * looked at. Called by validated_enter(). If the cell is @peer's own, *@ret_name means
 * nothing.
 */
static __always_inline __u32 validated_choose(const struct validated_table *t,
					      const struct cookie_peer *peer,
					      const __u64 keys[3], __u64 now_ns,
					      __u64 *ret_name)
{
	__u32 at = validated_bucket(validated_hash(peer, keys)) * VALIDATED_WAYS,
	      best = VALIDATED_MAX;
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
 * Enter @peer, or renew its entry. Returns its cell, or NULL: all cells of its bucket are
 * being written, or another CPU took the chosen one first. A cell that another client had
 * is returned with nothing known but the name; `earlier` is not cleared, and counts only
 * with VALIDATED_CHALLENGE. An entry that is over loses its flags. Called by
 * validated_record() and server_challenge_note(), which write what is known to the cell
 * and its flags, and by trial_catch_up() and trial_validate() in userland.
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
		/* Not if another client has taken the cell since it was chosen. */
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
		((volatile __u8 *)t->tags)[at] =
			validated_tag(validated_hash(peer, keys));
		__sync_lock_test_and_set(&cell->name.word[2], validated_name(peer));
		return cell;
	}
	if (!validated_alive(cell, now_ns))
		cell->flags = 0;
	cell->used_ns = now_ns;
	return cell;
}

#endif /* VALIDATED_H */
