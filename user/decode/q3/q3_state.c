// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_state.c - games, and inside a game entity states and snapshots.
 *
 * Entity states are shared: a snapshot that takes an entity over unchanged from its
 * base holds one more reference to the same state. So a snapshot costs what it changes.
 */
#include <string.h>
#include <sys/mman.h>

#include "decode/q3/q3_state.h"

#define PAGE 4096

/* The last one given back: its pages are there already. One process decodes in one
 * thread. */
static struct q3_game *spare;

/*
 * Zeroed pages that cost nothing until they are written, which malloc() promises only
 * for some sizes and at some times. Huge pages would make all of it cost at once.
 */
static struct q3_game *game_map(void)
{
	void *at = mmap(NULL, sizeof(struct q3_game), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, sizeof(struct q3_game), MADV_NOHUGEPAGE);
	return at;
}

static uint32_t most(uint32_t *mark, size_t now, size_t size)
{
	if (now > size)
		now = size;
	if (now > *mark)
		*mark = (uint32_t)now;
	return *mark;
}

/* The first @n bytes of an array, wherever its pages begin. */
static size_t pages(size_t n)
{
	return n ? (n + 2 * PAGE - 2) / PAGE * PAGE : 0;
}

size_t q3_game_touched(struct q3_game *g)
{
	size_t state = g->dialect->entity.count * sizeof(*g->pool);
	size_t sparse = sizeof(g->pool) + sizeof(g->configstring_bytes);
	size_t bytes =
		pages(most(&g->pool_reached, g->touched * state, sizeof(g->pool))) +
		pages(most(&g->configstrings_reached, g->configstring_used,
			   sizeof(g->configstring_bytes)));

	for (unsigned int i = 0; i < 2; i++) {
		const struct q3_texts *t = i ? &g->client : &g->server;

		sparse += sizeof(t->bytes);
		bytes += pages(most(&g->texts_reached[i], t->head, sizeof(t->bytes)));
	}
	for (unsigned int i = 0; i < 4; i++) {
		sparse += sizeof(g->slices[0][0].bytes);
		bytes += pages(g->slices[i / 2][i % 2].reached);
	}
	return bytes + pages(sizeof(*g) - sparse);
}

static void set_dialect(struct q3_game *g, const struct q3_dialect *d)
{
	size_t states = Q3_STATE_POOL_WORDS / d->entity.count;

	g->dialect = d;
	g->states = states < Q3_STATES_MAX ? (uint16_t)states : Q3_STATES_MAX;
	g->touched = 1;
	g->free = Q3_NONE;
	memset(q3_state(g, 0), 0, d->entity.count * sizeof(*g->pool));
}

void q3_game_clear(struct q3_game *g, const struct q3_dialect *d)
{
	if (g->dialect)
		q3_game_touched(g);
	for (unsigned int i = 0; i < Q3_COUNT(g->snapshots); i++) {
		g->snapshots[i].sequence = 0;
		g->snapshots[i].count = 0;
	}
	memset(g->baseline, 0, sizeof(g->baseline));
	memset(g->configstring_n, 0, sizeof(g->configstring_n));
	g->configstring_used = 0;
	g->big_used = 0;
	set_dialect(g, d);
}

/*
 * As good as zeroed memory, without touching the pages that the last game did not: what
 * is not cleared here or by q3_game_clear() is never read before it is written.
 */
static void game_reuse(struct q3_game *g)
{
	q3_game_touched(g);
	q3_texts_reset(&g->server, false);
	q3_texts_reset(&g->client, false);
	for (unsigned int i = 0; i < 4; i++)
		g->slices[i / 2][i % 2].sequence = 0;
	memset(g->assembled, 0, sizeof(g->assembled));
	memset(g->feeds, 0, sizeof(g->feeds));
	g->gamestate = (struct evidence){ .known = false };
	g->gamestate_sequence = 0;
	g->differs = false;
	g->strange_id = 0;
	g->restart.server_id = 0;
	g->client_num = 0;
}

struct q3_game *q3_game_get(struct q3_game **owner, const struct q3_dialect *d)
{
	struct q3_game *g = *owner;

	if (g)
		return g;
	g = spare;
	spare = NULL;
	if (g)
		game_reuse(g);
	else
		g = game_map();
	if (!g)
		return NULL;
	for (unsigned int i = 0; i < Q3_SNAPSHOTS; i++)
		g->ring[i] = (uint8_t)i;
	g->work = Q3_SNAPSHOTS;
	q3_game_clear(g, d);
	*owner = g;
	return g;
}

void q3_game_drop(struct q3_game **owner)
{
	struct q3_game *g = *owner;

	if (!g)
		return;
	*owner = NULL;
	if (spare)
		munmap(g, sizeof(*g));
	else
		spare = g;
}

void q3_snapshot_empty(struct q3_game *g, struct q3_snapshot *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		q3_state_release(g, s->entity[i].state);
	s->count = 0;
	s->sequence = 0;
}

static bool evict_oldest(struct q3_game *g, const struct q3_snapshot *keep)
{
	struct q3_snapshot *oldest = NULL;

	for (unsigned int i = 0; i < Q3_SNAPSHOTS; i++) {
		struct q3_snapshot *s = &g->snapshots[g->ring[i]];

		if (s->sequence && s != keep &&
		    (!oldest || s->sequence < oldest->sequence))
			oldest = s;
	}
	if (oldest)
		q3_snapshot_empty(g, oldest);
	return oldest != NULL;
}

uint16_t q3_state_copy(struct q3_game *g, uint16_t from, const struct q3_snapshot *keep)
{
	uint16_t fresh;

	while (g->free == Q3_NONE && g->touched == g->states)
		if (!evict_oldest(g, keep))
			return Q3_NONE;
	if (g->free != Q3_NONE) {
		fresh = g->free;
		g->free = g->refs[fresh];
	} else {
		fresh = g->touched++;
	}
	g->refs[fresh] = 1;
	memcpy(q3_state(g, fresh), q3_state(g, from),
	       g->dialect->entity.count * sizeof(*g->pool));
	return fresh;
}

struct q3_snapshot *q3_snapshot_before(struct q3_game *g, int32_t sequence)
{
	struct q3_snapshot *found = NULL;

	for (unsigned int i = 0; i < Q3_SNAPSHOTS; i++) {
		struct q3_snapshot *s = &g->snapshots[g->ring[i]];

		if (s->sequence && s->sequence < sequence &&
		    (!found || s->sequence > found->sequence))
			found = s;
	}
	return found;
}

void q3_snapshot_commit(struct q3_game *g)
{
	struct q3_snapshot *fresh = q3_snapshot_work(g);
	uint8_t *place = &g->ring[fresh->sequence & (Q3_SNAPSHOTS - 1)];
	uint8_t kept = *place;

	if (g->snapshots[kept].sequence > fresh->sequence) {
		q3_snapshot_empty(g, fresh);
		return;
	}
	*place = g->work;
	g->work = kept;
	q3_snapshot_empty(g, q3_snapshot_work(g));
}
