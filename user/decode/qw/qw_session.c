// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_session.c - its beginning, its end, and what it takes.
 */
#include <stdlib.h>

#include "decode/qw/qw_session.h"

size_t qw_session_takes(const void *state)
{
	const struct qw_session *s = state;

	return sizeof(*s) + (s->game ? sizeof(*s->game) : 0) + s->info_room +
	       netchan_slices_room(&s->slices[0]) + netchan_slices_room(&s->slices[1]);
}

static void empty(struct qw_session *s)
{
	free(s->game);
	free(s->info);
	netchan_slices_drop(&s->slices[0]);
	netchan_slices_drop(&s->slices[1]);
}

void qw_session_drop(void *state)
{
	empty(state);
}

void qw_session_start(struct qw_session *s)
{
	struct qw_session fresh = {
		.qport = s->qport_next,
		.has_qport = true,
		.offered = s->offered,
		.asked = s->asked,
	};

	empty(s);
	*s = fresh;
}

struct qw_game *qw_session_game(struct qw_session *s)
{
	if (!s->game)
		s->game = calloc(1, sizeof(*s->game));
	return s->game;
}

void qw_session_baseline(struct qw_session *s, unsigned int number)
{
	struct qw_game *g = number < QW_ENTITIES ? qw_session_game(s) : NULL;

	if (g)
		g->baseline[number / 64] |= 1ULL << number % 64;
}

void qw_session_differs(struct qw_session *s, uint32_t base, uint32_t sequence)
{
	if (!evidence_join_frame(&s->join, base, sequence) || !s->game)
		return;
	for (unsigned int i = 0; i < QW_FRAMES; i++) {
		struct qw_frame *f = &s->game->frames[i];

		f->guessed |= f->doubted && f->leans;
	}
}

bool qw_is_untested(const struct qw_terms *terms)
{
	return terms->fte & QW_FTE_FLOATCOORDS || terms->fte2 & QW_FTE2_REPLACEMENTDELTAS;
}

const char *qw_dialect(const struct qw_terms *t)
{
	if (t->protocol < 28)
		return "quakeworld-old";
	if (t->fte2 & QW_FTE2_REPLACEMENTDELTAS)
		return "quakeworld-28-fte2";
	if (t->fte || t->fte2)
		return "quakeworld-28-fte";
	return t->mvd ? "quakeworld-28-mvd" : "quakeworld-28";
}
