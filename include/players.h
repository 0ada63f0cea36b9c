/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * players.h - the table of players: find, enter and remove an entry.
 *
 * A fixed array: a look-up is arithmetic and two loads, in the programs and in the daemon
 * alike. Unvalidated clients never enter it. If a bucket is full, a new player takes the
 * cell of one that left, or is refused: with 16384 players in 65536 cells that is one in
 * a thousand. One service has at most an eighth of all cells, so no server, whatever it
 * sends, keeps the players of others out: beyond that a new player takes the cell of one
 * that left the same service, or is refused.
 *
 * players_enter() is called by egress and by the migration, players_remove() by the
 * daemon.
 *
 * Locking: none. The CPU that enters a player first claims a cell by compare-and-swap of
 * its state, and writes the name last. A reader compares the name. In a race it may read,
 * or write, the state of a player that was just replaced after a minute's silence. Two
 * CPUs that enter the same player at once may take two cells: players_find() finds the
 * first, and the sweep removes the other.
 *
 * The words of struct player_id, the hash and the tag are computed by the programs
 * (conntrack.bpf.h), by the daemon's sweep and by the migration, and must be the same in
 * all. The table is pinned: if one of them changes, raise ABI_VERSION
 * (user/shield/shield_abi.c), and the migration enters the players anew.
 * tests/include/test_races.c runs players_enter() and players_remove() at once.
 */
#ifndef PLAYERS_H
#define PLAYERS_H

#include "abi.h"
#include "tags.h"
#include "word.h"

/*
 * The name of a player as three words, as a cell has it: struct player_key and
 * PLAYER_HERE. Functions of their own get it as three integers.
 */
struct player_id {
	__u64 word[3];
};

#define PLAYER_WORD_IPV4 0xffff0000ull /* in the second word, below an IPv4 address */
#define PLAYER_WORD_HERE ((__u64)PLAYER_HERE << 32)

/*
 * Return the name that @key makes. Called in userland by the look-ups, the sweep and the
 * migration; packet_player() makes the same words from a frame.
 */
static inline struct player_id player_id(const struct player_key *key)
{
	struct player_id id = { { 0 } };

	__builtin_memcpy(&id, key, sizeof(*key));
	id.word[2] |= PLAYER_WORD_HERE;
	return id;
}

/*
 * Return the keyed hash of @id: its upper bits are the bucket, the next 8 the tag. Called
 * by connect_hash() too. @keys: of struct live.
 */
static __always_inline __u64 players_hash(const struct player_id *id, const __u64 keys[3])
{
	return id->word[0] * keys[0] + id->word[1] * keys[1] + id->word[2] * keys[2];
}

/*
 * Return the hash of the address and service of @id, without the port, and of @use,
 * ADDRESS_*. Its upper PLAYER_ADDRESS_BITS are the bucket; a cell keeps the tag,
 * player_address_tag(). Called by player_address_note(), player_address_decide(),
 * acl_search() and, in userland, about_reports_to(), each with the @use that is noted.
 * Cells are pinned: if the hash, the bucket or the tag changes, raise ABI_VERSION.
 */
static __always_inline __u64 player_address_hash(const struct player_id *id, __u32 use,
						 const __u64 keys[3])
{
	/* Without the port. */
	return id->word[0] * keys[0] + id->word[1] * keys[1] +
	       ((id->word[2] & 0xffff0000) | use) * keys[2];
}

/*
 * Return the tag of @hash: the 32 bits below the bucket. Never 0, which is that of a free
 * cell. Called by player_address_note(), player_address_seen() and about_reports_to().
 *
 * An IPv4 address is the upper half of a word, and changes only the upper 32 bits of the
 * hash. All of these must be in the bucket or in the tag: then no two IPv4 addresses of a
 * service share both.
 */
static __always_inline __u32 player_address_tag(__u64 hash)
{
	return (__u32)(hash >> (32 - PLAYER_ADDRESS_BITS)) | 1;
}

/*
 * Return the index in struct live.player_addresses of the first cell of @hash's bucket.
 * Called by player_address_cell() and about_reports_to().
 */
static __always_inline __u32 player_address_bucket(__u64 hash)
{
	return (hash >> (64 - PLAYER_ADDRESS_BITS)) * PLAYER_ADDRESS_WAYS;
}

/*
 * Return true if @cell was noted in the last @seconds units of 2^30 ns, ADDRESS_LITTLE_S
 * and so on by its use. Called by player_address_seen() and about_reports_to().
 */
static __always_inline bool player_address_counts(const struct player_address *cell,
						  __u32 now_s, __u32 seconds)
{
	/* -1: noted by another CPU, a moment later. */
	return now_s - cell->seen_s + 1 <= seconds + 1;
}

/* Return the bucket of @hash. Called with players_hash(). */
static __always_inline __u32 players_bucket(__u64 hash)
{
	return hash >> (64 - PLAYER_BITS);
}

/*
 * Return the tag of @hash, with bit 7 set: 0 is that of a free cell. Called with
 * players_hash().
 */
static __always_inline __u64 players_tag(__u64 hash)
{
	return (hash >> (64 - PLAYER_BITS - 8) & 0xff) | 0x80;
}

/*
 * Return true if only the address of @player can have returned what verified it. The
 * clocks of a NetQuake player with PLAYER_TAKEN were not marked: an attacker with a seat
 * can return them in the name of another address. Called by connlimit_note(), and
 * by know_player() and print_flow() in userland.
 */
static __always_inline bool player_proven(const struct player *player)
{
	return player->flags & PLAYER_VERIFIED &&
	       !(player->flags & PLAYER_NETQUAKE && player->flags & PLAYER_TAKEN);
}

#define QPORT_NONE (-1)

/*
 * Return how the server of a service of @family tells @player by its qport: 0 (16 bits),
 * QPORT_NARROW (8), or QPORT_NONE: it does not. Called by player_index() and
 * migrate_qport() for a player with PLAYER_QPORT, so that both give it the same key in
 * the map qports. The look-up must find each key: player_search_qport() and
 * may_have_qport() look for 8 bits in Quake II alone. The map is pinned, and a known
 * player is not entered again: after a change raise ABI_VERSION.
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
 * Return the cell of struct live.moved that counts the players with @qport at the address
 * and service of @id. If it is 0, no such player's port can have changed. @narrow: 0 or
 * QPORT_NARROW. Each entry that is added to the map qports adds one to the cell, and each
 * that is deleted takes one off: player_index(), migrate_qport() and forget_qport() must
 * keep to it, or may_have_moved() misses players. The counts are pinned: after a change
 * raise ABI_VERSION.
 */
static __always_inline __u32 qport_cell(const struct player_id *id, __u16 qport,
					__u32 narrow, const __u64 keys[3])
{
	__u64 hash = id->word[0] * keys[0] + id->word[1] * keys[1] +
		     ((id->word[2] & 0xffff0000) | narrow << 16 | qport) * keys[2];

	return hash >> (64 - MOVED_BITS);
}

/* A word of a cell's name. Its parts are written elsewhere, hence the attribute. */
typedef __u64 __attribute__((may_alias)) player_word;

/*
 * Return word @i of the name of @cell, with its state. Called in this file. @i: 0 to 2.
 */
static __always_inline player_word *cell_word(struct player_cell *cell, int i)
{
	return (player_word *)cell + i;
}

/*
 * Return true if @cell is that of @id, and is not being written. Called in the programs
 * and in userland, without a lock: the state in the last word is compared first. The
 * player may have left: ask player_alive() too.
 */
static __always_inline bool cell_is(struct player_cell *cell, const struct player_id *id)
{
	return *cell_word(cell, 2) == id->word[2] && *cell_word(cell, 1) == id->word[1] &&
	       *cell_word(cell, 0) == id->word[0];
}

/*
 * Return true if the server has sent to @player within PLAYER_IDLE_NS. It may have done
 * so after @now_ns was read, on another CPU. Programs and daemon use the same rule, after
 * each look-up: a player that has left is ignored until the daemon removes it or its cell
 * is taken.
 */
static __always_inline bool player_alive(const struct player *player, __u64 now_ns)
{
	return (__s64)(now_ns - player->sent_ns) < PLAYER_IDLE_NS;
}

/*
 * Return the index of the cell of @id, or PLAYERS_MAX. The player may have left. The
 * caller asks player_alive(). Called in the programs and in userland, without a lock.
 */
static __always_inline __u32 players_find(struct player_table *t,
					  const struct player_id *id, const __u64 keys[3])
{
	__u64 hash = players_hash(id, keys);
	__u32 bucket = players_bucket(hash);
	__u64 flags = tags_like(t->tags[bucket], players_tag(hash));

	for (int i = 0; i < PLAYER_WAYS && flags; i++) {
		__u32 at = bucket * PLAYER_WAYS + lowest_byte(flags);

		/* It cannot be, but Linux 6.1's verifier does not know. */
		if (!index_below(&at, PLAYERS_MAX))
			break;
		if (cell_is(&t->cells[at], id))
			return at;
		flags &= flags - 1;
	}
	return PLAYERS_MAX;
}

/*
 * Set the tag of cell @at. Called by players_enter() and players_remove(), while the cell
 * is claimed.
 */
static __always_inline void players_tag_set(struct player_table *t, __u32 at, __u8 tag)
{
	((volatile __u8 *)t->tags)[at & (PLAYERS_MAX - 1)] = tag;
}

/* Return the slot in the last word of a name. Called in this file. */
static __always_inline __u32 player_slot(__u64 name)
{
	return name >> 16 & 0xffff;
}

/*
 * Add @by to the cells that the service in @slot has; 0 only reads. Returns how many it
 * had. Called by cell_claim(), players_enter() and players_remove(). The counts must
 * follow each cell that changes its service.
 */
static __always_inline __u32 players_count(struct player_table *t, __u32 slot, int by)
{
	if (!index_below(&slot, PLAYER_SLOTS))
		return 0; /* no service's, as only in a damaged table */
	return __sync_fetch_and_add(&t->count[slot], by);
}

/*
 * Claim @cell for a player of @slot. True: it was free, or its player had left; it counts
 * for @slot, and the caller must write it, its tag, and then its name. @spent: the
 * service has its share of cells: then only a cell of a player that left the same
 * service. CPUs that do this at once may exceed the share, by one each. Called by
 * players_enter().
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
 * Enter @id as @fresh, or replace its entry. Returns its index, or PLAYERS_MAX: its
 * bucket is full, or the share of its service. Called by player_enter() in egress, when a
 * server accepts a client or sends it game traffic, and by migrate_player(). If @fresh
 * has PLAYER_QPORT, the caller must call migrate_qport(). The tag is set before the name,
 * so that a reader that sees the name finds it.
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
 * Remove the player @id from cell @at, unless another player has the cell or the server
 * has sent to it again. If the process dies in here, the cell stays claimed. Called by
 * players_sweep() and shield_forget_players(), which sets sent_ns back before.
 * forget_qport() must follow for the qports that lead to it. @id: as read from the cell.
 */
static inline void players_remove(struct player_table *t, __u32 at,
				  const struct player_id *id, __u64 now_ns)
{
	struct player_cell *cell = &t->cells[at];
	__u64 name = id->word[2];

	if (!__sync_bool_compare_and_swap(cell_word(cell, 2), name,
					  (__u64)PLAYER_ENTERED << 32))
		return;
	/* It is claimed now: compare the address. */
	if (*cell_word(cell, 0) == id->word[0] && *cell_word(cell, 1) == id->word[1] &&
	    !player_alive(&cell->player, now_ns)) {
		players_tag_set(t, at, 0);
		players_count(t, player_slot(name), -1);
		name = 0;
	}
	__sync_lock_test_and_set(cell_word(cell, 2), name);
}

#endif /* PLAYERS_H */
