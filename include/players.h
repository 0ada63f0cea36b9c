/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * players.h - the table of players: who is in it, and entering and removing.
 *
 * A fixed array, so that a look-up is arithmetic and two loads, in the kernel and in the
 * daemon alike. Strangers never enter it. Full is a bucket: then a newcomer takes the
 * cell of one who left, or is refused; with 16384 players in a table of 65536 cells that
 * is one in a thousand. And one service has an eighth of all cells at most, so that no
 * server, whatever it sends, keeps the players of the others out: beyond that a newcomer
 * takes the cell of one who left the same service, or is refused.
 *
 * There is no lock. Whoever enters a player first claims a cell by compare-and-swap of
 * its state, and names it last; readers compare names. What a reader may see besides, and
 * write, is the state of a player who has just been replaced, after a minute's silence.
 */
#ifndef PLAYERS_H
#define PLAYERS_H

#include "abi.h"
#include "word.h"

/* struct player_key and PLAYER_HERE as they stand in memory: what a cell is compared
 * with. */
struct player_id {
	__u64 word[3];
};

#define PLAYER_WORD_IPV4 0xffff0000ull /* of the second, below the address */
#define PLAYER_WORD_HERE ((__u64)PLAYER_HERE << 32)

static inline struct player_id player_id(const struct player_key *key)
{
	struct player_id id = { { 0 } };

	__builtin_memcpy(&id, key, sizeof(*key));
	id.word[2] |= PLAYER_WORD_HERE;
	return id;
}

static __always_inline __u64 players_hash(const struct player_id *id, const __u64 keys[3])
{
	return id->word[0] * keys[0] + id->word[1] * keys[1] + id->word[2] * keys[2];
}

static __always_inline __u32 players_bucket(__u64 hash)
{
	return hash >> (64 - PLAYER_BITS);
}

/* Not zero. */
static __always_inline __u64 players_tag(__u64 hash)
{
	return (hash >> (64 - PLAYER_BITS - 8) & 0xff) | 0x80;
}

/*
 * The highest bit of each byte of @tags that is @tag; of those above the lowest such
 * byte some may be wrong.
 */
static __always_inline __u64 tags_like(__u64 tags, __u64 tag)
{
	__u64 other = tags ^ tag * EACH_BYTE(1);

	return (other - EACH_BYTE(1)) & ~other & EACH_BYTE(0x80);
}

/* Of the lowest of @flags, which has bit 7 of a byte set, or of none. */
static __always_inline __u32 lowest_byte(__u64 flags)
{
	return ((flags & -flags) >> 7) * 0x0001020304050607ull >> 56 & 7;
}

#define QPORT_NONE (-1)

/*
 * By what the qport of @player is known, on a service of @family: 0, of 16 bits,
 * QPORT_NARROW, or QPORT_NONE: its server does not tell players by qport.
 */
static __always_inline int player_qport(enum wire_family family,
					const struct player *player)
{
	if (family == FAMILY_QUAKE3 || family == FAMILY_QUAKEWORLD)
		return player->flags & PLAYER_RECORDS ? QPORT_NONE : 0;
	if (family != FAMILY_QUAKE2 || !player->qport_mask)
		return QPORT_NONE;
	return player->qport_mask == 0xffff ? 0 : QPORT_NARROW;
}

/*
 * Where in struct live.moved the players with @qport at the address and service of @id
 * are counted: if there is none, nobody's port can have changed. @narrow: 0, or
 * QPORT_NARROW.
 */
static __always_inline __u32 qport_cell(const struct player_id *id, __u16 qport,
					__u32 narrow, const __u64 keys[3])
{
	__u64 hash = id->word[0] * keys[0] + id->word[1] * keys[1] +
		     ((id->word[2] & 0xffff0000) | narrow << 16 | qport) * keys[2];

	return hash >> (64 - MOVED_BITS);
}

/* A word of a cell's name, which is written by its parts, too. */
typedef __u64 __attribute__((may_alias)) player_word;

static __always_inline player_word *cell_word(struct player_cell *cell, int i)
{
	return (player_word *)cell + i;
}

static __always_inline bool cell_is(struct player_cell *cell, const struct player_id *id)
{
	return *cell_word(cell, 2) == id->word[2] && *cell_word(cell, 1) == id->word[1] &&
	       *cell_word(cell, 0) == id->word[0];
}

/* The server may have spoken after @now_ns was read: on another processor. */
static __always_inline bool player_alive(const struct player *player, __u64 now_ns)
{
	return (__s64)(now_ns - player->sent_ns) < PLAYER_IDLE_NS;
}

/* The number of the cell that @id is in, or PLAYERS_MAX. */
static __always_inline __u32 players_find(struct player_table *t,
					  const struct player_id *id, const __u64 keys[3])
{
	__u64 hash = players_hash(id, keys);
	__u32 bucket = players_bucket(hash);
	__u64 flags = tags_like(t->tags[bucket], players_tag(hash));

	for (int i = 0; i < PLAYER_WAYS && flags; i++) {
		__u32 at = bucket * PLAYER_WAYS + lowest_byte(flags);

		/* It cannot be; but the verifier of Linux 6.1 does not know. */
		if (!index_below(&at, PLAYERS_MAX))
			break;
		if (cell_is(&t->cells[at], id))
			return at;
		flags &= flags - 1;
	}
	return PLAYERS_MAX;
}

static __always_inline void players_tag_set(struct player_table *t, __u32 at, __u8 tag)
{
	((volatile __u8 *)t->tags)[at & (PLAYERS_MAX - 1)] = tag;
}

static __always_inline __u32 player_slot(__u64 name)
{
	return name >> 16 & 0xffff;
}

/* @by more cells are held by the service in @slot. Returns how many it held before. */
static __always_inline __u32 players_count(struct player_table *t, __u32 slot, int by)
{
	if (!index_below(&slot, PLAYER_SLOTS))
		return 0; /* no service's: it cannot be, but in a table that lies */
	return __sync_fetch_and_add(&t->count[slot], by);
}

/*
 * Is the cell free, or of one who left? Then it is the caller's to write, and counts as
 * the service's in @slot. With its share spent, that is only one who left the same
 * service. As many more as there are processors may be entered at the same moment.
 */
static __always_inline bool cell_claim(struct player_table *t, struct player_cell *cell,
				       __u32 slot, bool spent, __u64 now_ns)
{
	player_word *name = cell_word(cell, 2);
	__u64 seen = *(volatile player_word *)name;
	bool left = seen >> 32 == PLAYER_HERE;

	if (seen >> 32 == PLAYER_ENTERED ||
	    (left && player_alive(&cell->player, now_ns)) ||
	    (spent && (!left || player_slot(seen) != slot)))
		return false;
	if (__sync_val_compare_and_swap(name, seen, (__u64)PLAYER_ENTERED << 32) != seen)
		return false;
	if (left && player_slot(seen) == slot)
		return true;
	players_count(t, slot, 1);
	if (left)
		players_count(t, player_slot(seen), -1);
	return true;
}

/*
 * Enter @id as @fresh, or make it that again if it is there. Returns the number of its
 * cell, or PLAYERS_MAX: its bucket is full, or the share of its service.
 */
static __always_inline __u32 players_enter(struct player_table *t,
					   const struct player_id *id,
					   const __u64 keys[3],
					   const struct player *fresh, __u64 now_ns)
{
	__u64 hash = players_hash(id, keys);
	__u32 at = players_find(t, id, keys), slot = player_slot(id->word[2]);
	bool spent;

	if (at < PLAYERS_MAX) {
		t->cells[at].player = *fresh;
		return at;
	}
	spent = players_count(t, slot, 0) >= PLAYERS_SHARE;
	for (int way = 0; way < PLAYER_WAYS; way++) {
		struct player_cell *cell;

		at = players_bucket(hash) * PLAYER_WAYS + way;
		if (!index_below(&at, PLAYERS_MAX))
			break;
		cell = &t->cells[at];
		if (!cell_claim(t, cell, slot, spent, now_ns))
			continue;
		*cell_word(cell, 0) = id->word[0];
		*cell_word(cell, 1) = id->word[1];
		cell->player = *fresh;
		players_tag_set(t, at, players_tag(hash));
		__sync_lock_test_and_set(cell_word(cell, 2), id->word[2]);
		return at;
	}
	return PLAYERS_MAX;
}

/*
 * Take out who is in cell @at, unless that is @id no more, or the server has spoken to it
 * again. Whoever dies in here leaves a cell that nobody can have.
 */
static inline void players_remove(struct player_table *t, __u32 at,
				  const struct player_id *id, __u64 now_ns)
{
	struct player_cell *cell = &t->cells[at];
	__u64 name = id->word[2];

	if (!__sync_bool_compare_and_swap(cell_word(cell, 2), name,
					  (__u64)PLAYER_ENTERED << 32))
		return;
	/* It is ours now: the address tells whether it is who was meant. */
	if (*cell_word(cell, 0) == id->word[0] && *cell_word(cell, 1) == id->word[1] &&
	    !player_alive(&cell->player, now_ns)) {
		players_tag_set(t, at, 0);
		players_count(t, player_slot(name), -1);
		name = 0;
	}
	__sync_lock_test_and_set(cell_word(cell, 2), name);
}

#endif /* PLAYERS_H */
