// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_state.c - see q2_state.h.
 */
#include <stdlib.h>

#include "decode/q2/q2_inflate.h"
#include "decode/q2/q2_state.h"

#define LIST_MIN 64

static size_t list_bytes(const struct q2_list *list)
{
	return list->room * sizeof(*list->entity);
}

static void list_drop(struct q2_list *list)
{
	free(list->entity);
	memset(list, 0, sizeof(*list));
}

struct q2_entity *q2_list_add(struct q2_list *list, unsigned int number)
{
	struct q2_entity *e;

	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2U : LIST_MIN;

		if (room > UINT16_MAX)
			return NULL;
		e = realloc(list->entity, room * sizeof(*e));
		if (!e)
			return NULL;
		list->entity = e;
		list->room = (uint16_t)room;
	}
	e = &list->entity[list->count++];
	e->number = (uint16_t)number;
	return e;
}

static size_t game_bytes(const struct q2_game *g)
{
	size_t bytes = sizeof(*g) + list_bytes(&g->work.list) + list_bytes(&g->baselines);

	for (unsigned int i = 0; i < Q2_FRAMES; i++)
		bytes += list_bytes(&g->frames[i].list);
	bytes += g->baseline_at_n * sizeof(*g->baseline_at);
	bytes += g->players ? Q2_PLAYERS * sizeof(*g->players) : 0;
	return bytes + q2_inflate_bytes(g->download);
}

size_t q2_session_takes(const struct q2_session *q)
{
	return sizeof(*q) + (q->game ? game_bytes(q->game) : 0) +
	       netchan_slices_room(&q->slices[0]) + netchan_slices_room(&q->slices[1]);
}

static void q2_game_drop(struct q2_session *q)
{
	struct q2_game *g = q->game;

	if (!g)
		return;
	for (unsigned int i = 0; i < Q2_FRAMES; i++)
		list_drop(&g->frames[i].list);
	list_drop(&g->work.list);
	list_drop(&g->baselines);
	free(g->baseline_at);
	free(g->players);
	q2_inflate_end(&g->download);
	free(g);
	q->game = NULL;
}

void q2_session_drop(struct q2_session *q)
{
	q2_game_drop(q);
	netchan_slices_drop(&q->slices[0]);
	netchan_slices_drop(&q->slices[1]);
}

bool q2_session_is_offered(const struct q2_session *q)
{
	return q->live && q->now.has_connect && q->now.challenge == q->offer.challenge &&
	       q->now.qport == q->offer.qport;
}

void q2_session_forget(struct q2_session *q)
{
	q2_session_drop(q);
	memset(q->side, 0, sizeof(q->side));
	memset(q->late, 0, sizeof(q->late));
	memset(&q->proof, 0, sizeof(q->proof));
	memset(&q->dialect, 0, sizeof(q->dialect));
	memset(&q->now, 0, sizeof(q->now));
	memset(&q->offer, 0, sizeof(q->offer));
	q->unknown = 0;
	q->qport_size = 0;
	q->guessed = false;
	q->peeked = 0;
	q->ways = 0;
	q->live = false;
	q->disconnected = false;
	q->accepted_again = false;
	q->fps = 0;
}

void q2_session_start(struct q2_session *q)
{
	struct q2_offer offer = q->offer;

	q2_session_forget(q);
	q->now = q->offer = offer;
	/* A server says its own minor version in svc_serverdata. */
	if (!q2_dialect_of(q->now.protocol, q->now.minor, 0, &q->dialect))
		q->unknown = q->now.protocol;
	q->qport_size = q->now.protocol < 35 ? 3 : q->now.qport ? 2 : 1;
	q->live = true;
}

struct q2_game *q2_game_get(struct q2_session *q)
{
	unsigned int entities = q2_entities(&q->dialect);
	uint16_t *at;

	if (!q->game) {
		q->game = calloc(1, sizeof(*q->game));
		if (!q->game)
			return NULL;
		q->game->playernum = -1;
	}
	if (q->game->baseline_at_n < entities) {
		at = calloc(entities, sizeof(*at));
		if (!at)
			return NULL;
		free(q->game->baseline_at);
		q->game->baseline_at = at;
		q->game->baseline_at_n = (uint16_t)entities;
		q->game->baselines.count = 0;
	}
	return q->game;
}

void q2_game_end_file(struct q2_game *g)
{
	q2_inflate_end(&g->download);
	memset(&g->part, 0, sizeof(g->part));
	g->lost = false;
}

void q2_game_clear(struct q2_game *g, uint32_t sequence)
{
	for (unsigned int i = 0; i < Q2_FRAMES; i++)
		g->frames[i].number = 0;
	g->baselines.count = 0;
	memset(g->baseline_at, 0, g->baseline_at_n * sizeof(*g->baseline_at));
	if (g->players)
		memset(g->players, 0, Q2_PLAYERS * sizeof(*g->players));
	q2_game_end_file(g);
	g->begun = true;
	g->ranges_n = 0;
	evidence_join_begin(&g->join, sequence);
	g->playernum = -1;
	g->maxclients = 0;
}

void q2_game_read(struct q2_game *g, uint32_t sequence)
{
	evidence_account(&g->join.map, sequence, sequence);
}

/* A client that joins another map has no frames of the last one: since the base, or the
 * first of those behind it that were seen, none was begun. */
void q2_game_differs(struct q2_game *g, int32_t number, int32_t base, uint32_t sequence)
{
	uint32_t first = sequence;

	for (unsigned int i = 0; i < Q2_FRAMES; i++) {
		const struct q2_frame *f = &g->frames[i];

		if (f->number >= base && f->number < number &&
		    (int32_t)(f->sequence - first) < 0)
			first = f->sequence;
	}
	if (!evidence_join_frame(&g->join, first, sequence))
		return;
	for (unsigned int i = 0; i < Q2_FRAMES; i++)
		g->frames[i].guessed |= g->frames[i].doubted && g->frames[i].leans;
}

struct q2_frame *q2_frame_find(struct q2_game *g, int32_t number)
{
	struct q2_frame *f = &g->frames[number & (Q2_FRAMES - 1)];

	return number > 0 && f->number == number ? f : NULL;
}

bool q2_frame_missed(const struct q2_game *g, int32_t number)
{
	bool followed = false;

	for (unsigned int i = 0; i < Q2_FRAMES; i++) {
		int64_t ahead = (int64_t)g->frames[i].number - number;

		if (!g->frames[i].number)
			continue;
		if (!ahead || ahead >= Q2_FRAMES)
			return false;
		followed |= ahead > 0;
	}
	return followed;
}

struct q2_entity *q2_baseline_find(const struct q2_game *g, unsigned int number)
{
	if (number >= g->baseline_at_n || !g->baseline_at[number])
		return NULL;
	return &g->baselines.entity[g->baseline_at[number] - 1];
}

struct q2_entity *q2_baseline_get(struct q2_game *g, unsigned int number)
{
	struct q2_entity *e = q2_baseline_find(g, number);

	if (e || number >= g->baseline_at_n)
		return e;
	e = q2_list_add(&g->baselines, number);
	if (!e)
		return NULL;
	memset(e->word, 0, sizeof(e->word));
	g->baseline_at[number] = g->baselines.count;
	return e;
}

void q2_baselines_reach(struct q2_game *g, uint32_t sequence, unsigned int number)
{
	struct q2_range *last = g->ranges_n ? &g->ranges[g->ranges_n - 1] : NULL;

	if (last && last->sequence == sequence) {
		last->last = (uint16_t)(number > last->last ? number : last->last);
		return;
	}
	/* One that went through no number yet gives way. */
	if ((!last || last->last) && g->ranges_n < Q2_RANGES)
		last = &g->ranges[g->ranges_n++];
	*last = (struct q2_range){ sequence, (uint16_t)number, (uint16_t)number };
}

bool q2_baselines_reached(const struct q2_game *g, unsigned int number)
{
	for (unsigned int i = 0; i < g->ranges_n; i++)
		if (number >= g->ranges[i].first && number <= g->ranges[i].last)
			return true;
	return false;
}
