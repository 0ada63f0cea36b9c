// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_ops.c - what the ops of all dialects share: fields that they put on the record, and
 * what they change in the walk. Called by the files of svc_ and clc_; see nq_message.h.
 */
#include "decode/nq/nq_message.h"

/* Those that share the number and, of 999, the flags that are read anyway. */
static uint32_t with_number(const struct nq_dialect *const *list, uint32_t number)
{
	const struct nq_dialect *first = NULL;
	uint32_t mask = 0;

	for (unsigned int i = 0; list[i]; i++) {
		if (list[i]->protocol != number)
			continue;
		if (!first)
			first = list[i];
		if (list[i]->flags == first->flags)
			mask |= 1U << i;
	}
	return mask;
}

bool nq_walk_protocol(struct nq_walk *w, uint32_t number, uint32_t flags, uint32_t pext1,
		      uint32_t pext2)
{
	uint32_t mask = with_number(w->dialects, number);
	const struct nq_dialect *dialect;
	struct nq_format format;

	if (!mask)
		return false;
	dialect = w->dialects[__builtin_ctz(mask)];
	/* Only reading this serverinfo tells of which dialect it is. */
	if ((dialect->traits ^ w->format.dialect->traits) & NQ_ENHANCED &&
	    w->format.dialect->protocol == number)
		dialect = w->format.dialect;
	if (!nq_format_of(dialect, flags, pext1, pext2, &format))
		return false;
	w->format = format;
	w->signon = 0;
	w->has_view = false;
	w->based = false; /* until the second signon, behind the baselines */
	if (!w->commit)
		return true;
	w->game->hole = false;
	w->game->clock_us = 0;
	w->game->format = format;
	w->game->possible = mask;
	w->game->known = w->game->fitted = true;
	w->game->has_frame = false;
	return true;
}

void nq_walk_frame(struct ops *o, uint32_t number)
{
	struct nq_walk *w = nq_walk_of(o);
	struct nq_game *game = w->game;

	o->m->stateful |= game != NULL;
	w->torn = game && (!game->has_frame || number != (uint32_t)game->frame + 1);
	if (!w->commit || !game)
		return;
	if (w->torn)
		memset(game->whole, 0, sizeof(game->whole));
	w->torn = false;
	game->has_frame = true;
	game->frame = (int32_t)number;
}

void nq_walk_entity(struct ops *o, uint32_t number, bool reset, bool removed)
{
	struct nq_walk *w = nq_walk_of(o);
	uint64_t *set, bit = 1ULL << number % 64;

	if (!w->game)
		return;
	if (number >= NQ_WHOLE_MAX) {
		w->partly |= !reset && !removed;
		return;
	}
	set = &w->game->whole[number / 64];
	w->partly |= !reset && !removed && (w->torn || !(*set & bit));
	if (w->commit && (reset || removed))
		*set = removed ? *set & ~bit : *set | bit;
}

/* The longest that engines before DarkPlaces read; of more they would take the rest for
 * messages. */
#define TEXT_MAX 2047

struct span nq_put_text(struct ops *o, const char *key)
{
	struct span s = reader_string(&o->rd);

	if (s.n > TEXT_MAX && !nq_has(nq_format_at(o), NQ_LONG_TEXTS))
		ops_wrong(o, "text longer than 2047 bytes");
	record_string(o->record, key, s.bytes, s.n);
	return s;
}

void nq_put_origin(struct ops *o, const char *key)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		nq_put_coord(o, NULL);
	record_close(o->record);
}

void nq_put_angles(struct ops *o, const char *key)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, nq_angle(&o->rd, nq_format_at(o)));
	record_close(o->record);
}

void nq_put_entity(struct ops *o, const char *key)
{
	record_uint(o->record, key, nq_entity(&o->rd, nq_format_at(o)));
}

uint8_t nq_put_slot(struct ops *o)
{
	const struct nq_walk *w = nq_walk_of(o);
	uint8_t slot = reader_u8(&o->rd);

	record_uint(o->record, "slot", slot);
	if (w->maxclients && slot >= w->maxclients)
		ops_wrong(o, "no such player slot");
	return slot;
}
