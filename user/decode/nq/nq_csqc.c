// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_csqc.c - see nq_csqc.h.
 *
 * DarkPlaces ends each datagram of a game with statistics, one svc_entities and perhaps a
 * part of a download. So where what is not known ends is where such a tail begins that
 * reads to the last byte. It is taken for certain only if the frame's number follows.
 */
#include <string.h>

#include "decode/nq/nq_csqc.h"
#include "decode/nq/nq_private.h"
#include "decode/nq/nq_tables.h"

#define REMOVED	   0x8000U
#define FRAMES_MAX 500 /* that may be between two svc_entities we have seen */
/* Bytes that are read in search of a tail: of what is longer, the rest is one field. */
#define SEARCH_MAX (1U << 18)

/* A walk next to @o without output. */
struct aside {
	struct ops ops;
	struct message message;
	struct record record;
	struct record_tape tape; /* it tells numbers that no game has in it */
	struct nq_walk walk;
};

static struct ops *aside(struct aside *a, const struct ops *o)
{
	a->tape = record_tape_digest();
	record_reset(&a->record, &a->tape);
	a->message = *o->m;
	a->message.record = &a->record;
	a->message.commit = false;
	a->message.odd = false;
	a->walk = *(const struct nq_walk *)o->context;
	a->walk.commit = false;
	a->ops = *o;
	a->ops.m = &a->message;
	a->ops.record = &a->record;
	a->ops.context = &a->walk;
	return &a->ops;
}

/* Return true if a walk without output has read values that no program writes. */
static bool is_odd(const struct ops *o)
{
	const struct record_tape *tape = o->record->tape;

	return o->m->odd || (tape && tape->odd);
}

static bool sound(const struct ops *o)
{
	return !o->m->wrong && !o->m->missing && !reader_failed(&o->rd) && !o->ended;
}

/* Does the number of the svc_entities at @at follow the last one? */
static bool follows(const struct nq_game *game, const uint8_t *at, size_t left)
{
	struct reader rd = reader_of(at, left);
	int32_t frame = (int32_t)reader_le32(&rd);

	return !game || !game->has_frame ||
	       (frame > game->frame && (int64_t)frame - game->frame <= FRAMES_MAX);
}

/* Read the rest; false: something in it is wrong. An unknown part is not wrong. */
static bool reads_rest(struct ops *look)
{
	while (!look->m->wrong && !look->ended && !reader_failed(&look->rd) &&
	       reader_left(&look->rd)) {
		const struct op *op = &look->table[look->code = reader_u8(&look->rd)];

		if (!op->name)
			return false;
		if (op->parse)
			op->parse(look);
	}
	return !look->m->wrong && !reader_failed(&look->rd) && !is_odd(look);
}

/* Is what @o has yet to read such a tail? Takes what it reads from @budget. */
static bool is_tail(const struct ops *o, size_t *budget)
{
	const struct nq_walk *w = o->context;
	bool entities = false;
	struct aside a;
	struct ops *look = aside(&a, o);

	while (sound(look) && reader_left(&look->rd)) {
		size_t left = reader_left(&look->rd);

		look->code = reader_u8(&look->rd);
		if (look->code == 57 && !entities &&
		    !follows(w->game, look->rd.pos, left - 1))
			return false;
		if (entities ? look->code != 50
			     : look->code != 3 && look->code != 51 && look->code != 57)
			return false;
		entities |= look->code == 57;
		look->table[look->code].parse(look);
		left -= reader_left(&look->rd);
		if (left > *budget)
			return false;
		*budget -= left;
	}
	return sound(look) && !is_odd(look) && entities;
}

/* The beginning of the tail; behind two zeros, the end of a list, before all others. */
static const uint8_t *find_tail(const struct ops *o)
{
	size_t budget = SEARCH_MAX;

	for (int any = 0; any < 2; any++) {
		struct ops look = *o;

		for (; look.rd.pos < look.rd.end && budget; look.rd.pos++) {
			const uint8_t *at = look.rd.pos;
			bool ends = at - o->rd.pos >= 2 && !at[-1] && !at[-2];

			if ((any || ends) && is_tail(&look, &budget))
				return at;
		}
	}
	return NULL;
}

/* The unreadable part is one field, up to the tail or the end. */
static void skip(struct ops *o, const char *why)
{
	bool frames = nq_has(nq_format_at(o), NQ_DP);
	const uint8_t *tail = reader_failed(&o->rd) || !frames ? NULL : find_tail(o);

	if (!tail) {
		ops_unknown(o, why);
		return;
	}
	record_hex(o->record, "rest", o->rd.pos, (size_t)(tail - o->rd.pos));
	message_missing(o->m, why);
	o->rd.pos = tail;
}

/* --- svc_csqcentities -------------------------------------------------------------- */

/* *@ret_updates: there was more than removals. */
static void entities(struct ops *o, bool *ret_updates)
{
	record_open_array(o->record, "entities");
	while (sound(o)) {
		uint16_t number = reader_le16(&o->rd);

		if (!number || reader_failed(&o->rd))
			break;
		record_open_object(o->record, NULL);
		record_uint(o->record, "number", number & ~REMOVED);
		if (number & REMOVED) {
			record_bool(o->record, "removed", true);
		} else {
			*ret_updates = true;
			if (!nq_private_entity(o, nq_walk_of(o)->code))
				message_missing(o->m, "");
		}
		record_close(o->record);
	}
	record_close(o->record);
}

/* Does @code's game read the list, and is what follows a tail? Where entities come in
 * updates there is none: is it right to the end? */
static bool reads_list(const struct ops *o, uint8_t code)
{
	size_t budget = SEARCH_MAX;
	bool updates = false;
	struct aside a;
	struct ops *look = aside(&a, o);

	look->m->missing = NULL;
	a.walk.code = code;
	entities(look, &updates);
	if (!sound(look) || !updates || is_odd(look))
		return sound(look) && !is_odd(look);
	if (nq_has(nq_format_at(look), NQ_DP))
		return is_tail(look, &budget);
	a.walk.reads_on = true;
	return reads_rest(look) && sound(look);
}

/* And the temporary entity, with all that follows it? Of a game that is @known, what
 * follows may be unknown, but not wrong. */
static bool reads_temp(const struct ops *o, uint8_t code, uint8_t type, bool known)
{
	struct aside a;
	struct ops *look = aside(&a, o);

	look->m->missing = NULL;
	a.walk.code = code;
	a.walk.reads_on = true;
	return nq_private_effect(look, code, type) && reads_rest(look) &&
	       (known || sound(look));
}

/* Joined late, no banner was seen: the first game that fits is it. */
static void learn(struct ops *o, uint8_t code)
{
	nq_walk_of(o)->code = code;
	o->m->stateful = true;
}

void nq_op_csqcentities(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	uint8_t code = w->code;
	bool updates = false;

	if (w->reads_on && !nq_has(&w->format, NQ_DP)) {
		entities(o, &updates);
		return;
	}
	for (int guess = NQ_CODE_UNKNOWN; guess <= NQ_CODE_XONOTIC; guess++) {
		if ((code != NQ_CODE_UNKNOWN && guess != code) ||
		    !reads_list(o, (uint8_t)guess))
			continue;
		if (guess != code)
			learn(o, (uint8_t)guess);
		entities(o, &updates);
		w->reads_on |= updates;
		return;
	}
	skip(o, "svc_csqcentities: what the game's code sends to itself");
}

/* Other releases of a game that is known say other things by the same types: so all that
 * follows is read before one is believed, once a message. */
void nq_private_temp(struct ops *o, uint8_t type)
{
	struct nq_walk *w = nq_walk_of(o);
	uint8_t code = w->code;
	bool known = code != NQ_CODE_UNKNOWN;

	if (known && w->reads_on) {
		if (!nq_private_effect(o, code, type))
			skip(o, "svc_temp_entity: what the game's code sends to itself");
		return;
	}
	for (int guess = NQ_CODE_NEXUIZ; guess <= NQ_CODE_XONOTIC; guess++) {
		if ((known && guess != code) ||
		    !reads_temp(o, (uint8_t)guess, type, known))
			continue;
		if (!known)
			learn(o, (uint8_t)guess);
		w->reads_on = true;
		nq_private_effect(o, (uint8_t)guess, type);
		return;
	}
	skip(o, "svc_temp_entity: what the game's code sends to itself");
}

/* --- FTE's ------------------------------------------------------------------------- */

void nq_op_cgamepacket(struct ops *o)
{
	ops_unknown(o, "svc_cgamepacket: what the game's code sends to itself");
}

/* u16 n (of a temporary entity 15 bits of it), n bytes. */
void nq_op_sized(struct ops *o)
{
	uint16_t size = reader_le16(&o->rd);
	const uint8_t *bytes;

	if (o->code == 92) {
		o->rd.pos -= reader_failed(&o->rd) ? 0 : 2;
		ops_unknown(o, "svc_csqcentities_sized: what the game's code sends");
		return;
	}
	if (o->code == 91)
		size &= 0x7fff;
	bytes = reader_take(&o->rd, size);
	if (bytes)
		record_hex(o->record, "data", bytes, size);
	message_missing(o->m, "what the game's code sends to itself");
}
