// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_players.c - the table of players, and the qports that lead to them: reads them,
 * and removes players that have left.
 *
 * Players are entered by the egress program meanwhile, so cells may change while they are
 * read: players_remove() compares again. The map qports and the counts in struct
 * live.moved must change together.
 */
#include <string.h>

#include <bpf/bpf.h>

#include "players.h"
#include "shield/shield_internal.h"

#define SWEEP_MAX 1024 /* qports in one go */

/*
 * The next cell of the table from *@at on that holds a player. NULL: no more. The callers
 * step *@at on.
 */
static struct player_cell *next_cell(const struct shield *s, __u32 *at)
{
	struct player_table *t = &s->shared->players;

	for (; *at < PLAYERS_MAX; ++*at) {
		struct player_cell *cell = &t->cells[*at];

		/* The tags are near each other: most of the table is never looked at. */
		if (!(*at % PLAYER_WAYS) &&
		    !__atomic_load_n(&t->tags[*at / PLAYER_WAYS], __ATOMIC_RELAXED)) {
			*at += PLAYER_WAYS - 1;
			continue;
		}
		if (__atomic_load_n(&cell->state, __ATOMIC_ACQUIRE) == PLAYER_HERE)
			return cell;
	}
	return NULL;
}

int shield_players(const struct shield *s,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	__u64 now = shield_clock();
	struct player_cell *cell;

	for (__u32 at = 0; (cell = next_cell(s, &at)); at++)
		if (player_alive(&cell->player, now))
			each(&cell->key, &cell->player, context);
	return 0;
}

/* Is there a player of that qport where @by leads to? */
static bool qport_held(const struct shield *s, const struct qport_key *by, __be16 port)
{
	struct player_table *t = &s->shared->players;
	struct player_key key = { .port = port,
				  .slot = (__u16)(by->slot & ~QPORT_NARROW) };
	struct player_id id;
	__u32 at;

	memcpy(key.addr, by->addr, sizeof(key.addr));
	id = player_id(&key);
	at = players_find(t, &id, s->shared->keys);
	return at < PLAYERS_MAX && t->cells[at].player.qport == by->qport;
}

/*
 * Delete @by from the map qports, and take it off its count; nothing if it is gone
 * already. The cell must be computed as player_index() does.
 */
static void forget_qport(const struct shield *s, const struct qport_key *by)
{
	struct player_key key = { .slot = (__u16)(by->slot & ~QPORT_NARROW) };
	__u32 cell, narrow = by->slot & QPORT_NARROW;
	struct player_id id;

	memcpy(key.addr, by->addr, sizeof(key.addr));
	id = player_id(&key);
	cell = qport_cell(&id, by->qport, narrow, s->shared->keys);
	if (!bpf_map_delete_elem(s->qports, by))
		__atomic_fetch_sub(&s->shared->moved[cell], 1, __ATOMIC_RELAXED);
}

/*
 * Remove the qports that lead to no player, or to one with another qport. At most
 * SWEEP_MAX at a time: the next sweep goes on. Not deleted while the map is walked, which
 * would begin anew.
 */
static void qports_sweep(const struct shield *s)
{
	struct qport_key gone[SWEEP_MAX], at;
	void *previous = NULL;
	size_t count = 0;
	__be16 port;

	/* A walk begins anew if another process deletes the key that it is at. */
	for (int i = 0; i < 2 * PLAYERS_MAX && count < SWEEP_MAX &&
			!bpf_map_get_next_key(s->qports, previous, &at);
	     i++) {
		previous = &at;
		if (!bpf_map_lookup_elem(s->qports, &at, &port) &&
		    !qport_held(s, &at, port))
			gone[count++] = at;
	}
	while (count)
		forget_qport(s, &gone[--count]);
}

void shield_forget_players(const struct shield *s, __u32 slot)
{
	struct qport_key gone[SWEEP_MAX], at;
	__u64 now = shield_clock();
	struct player_cell *cell;
	void *previous;
	size_t count;

	for (__u32 i = 0; (cell = next_cell(s, &i)); i++) {
		struct player_id id = player_id(&cell->key);

		if (cell->key.slot != slot)
			continue;
		cell->player.sent_ns = now - PLAYER_IDLE_NS; /* or it would stay */
		players_remove(&s->shared->players, i, &id, now);
	}
	/* As often as the map has room for, even if no deletion succeeds. */
	for (int round = 0; round <= 2 * PLAYERS_MAX / SWEEP_MAX; round++) {
		count = 0;
		previous = NULL;
		for (int i = 0; i < 2 * PLAYERS_MAX && count < SWEEP_MAX &&
				!bpf_map_get_next_key(s->qports, previous, &at);
		     i++) {
			previous = &at;
			if ((at.slot & ~QPORT_NARROW) == slot)
				gone[count++] = at;
		}
		for (size_t i = 0; i < count; i++)
			forget_qport(s, &gone[i]);
		if (count < SWEEP_MAX)
			break;
	}
}

void shield_forget_slot(const struct shield *s, __u32 slot)
{
	shield_forget_players(s, slot);
	memset(&s->shared->detected[slot], 0, sizeof(s->shared->detected[slot]));
	memset(&s->shared->unjudged[slot], 0, sizeof(s->shared->unjudged[slot]));
	s->shared->owners[slot] = (struct owner){ 0 };
	s->shared->masters_due_ns[slot] = 0;
	/* With the limits of allow-listed sources: BUDGET_ALLOWED. */
	memset(&s->shared->service_due_ns[budget_index(slot, 0)], 0,
	       sizeof(__u64) << CLASS_BITS);
}

/*
 * Remove the players that have left. Called by shield_players_sweep(), in the daemon
 * every few seconds.
 */
static void players_sweep(const struct shield *s)
{
	__u64 now = shield_clock();
	struct player_cell *cell;

	for (__u32 at = 0; (cell = next_cell(s, &at)); at++) {
		struct player_id id = player_id(&cell->key);

		if (player_alive(&cell->player, now))
			continue;
		players_remove(&s->shared->players, at, &id, now);
	}
}

void shield_players_sweep(struct shield *s)
{
	if (!s->shared)
		return; /* cannot be, once it is open; but an analyser does not know */
	players_sweep(s);
	qports_sweep(s);
}
