// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_message.c - see nq_message.h.
 */
#include "decode/nq/nq_tables.h"

/* After so many messages the one dialect that is left is not asked beforehand any more.
 */
#define TRIES_MAX 64
/* After so many, the likeliest of several is named. */
#define TRIES_ENOUGH 8
/* Later messages that are asked for the dialect; what is open then stays so. */
#define PEEKS_MAX 16

static const char no_fit[] = "no known protocol fits: serverinfo was not seen";

static const char no_baseline[] = "entity from a baseline that was not seen";

static const char no_state[] = "entity whose state was not seen as a whole";

static const struct nq_dialect *const *list_of(const struct nq_game *game)
{
	return game && game->dialects ? game->dialects : nq_dialects;
}

static void walk_begin(struct nq_walk *w, const struct message *m)
{
	struct nq_game *game = m->state;

	memset(w, 0, sizeof(*w));
	w->game = game;
	w->commit = m->commit && game;
	w->dialects = list_of(game);
	if (!game || !game->format.dialect) {
		nq_format_of(w->dialects[0], w->dialects[0]->flags, 0, 0, &w->format);
		return;
	}
	w->format = game->format;
	w->maxclients = game->maxclients;
	w->signon = game->signon;
	w->private_code = game->private_code;
	w->code = game->code;
	w->has_view = game->has_view;
	w->view = game->view;
	w->based = game->based && !game->hole;
}

static void walk_end(const struct nq_walk *w)
{
	struct nq_game *game = w->game;

	game->maxclients = w->maxclients;
	game->signon = w->signon;
	game->private_code = w->private_code;
	game->code = w->code;
	game->has_view = w->has_view;
	game->view = w->view;
	game->based = w->based;
}

bool nq_message(struct message *m)
{
	struct nq_walk w;
	const struct op *table;

	walk_begin(&w, m);
	table = m->direction == DIRECTION_C2S ? nq_clc_of(&w.format)
					      : nq_svc_of(&w.format);
	message_ops(m, table, &w);
	if (w.unbased)
		message_missing(m, no_baseline);
	if (w.partly)
		message_missing(m, no_state);
	if (w.commit)
		walk_end(&w);
	return !m->wrong;
}

/* --- which dialect ----------------------------------------------------------------- */

static uint32_t possible_of(const struct nq_game *game)
{
	const struct nq_dialect *const *list = list_of(game);
	uint32_t all = 0;

	for (unsigned int i = 0; list[i]; i++)
		all |= 1U << i;
	return game->possible ? game->possible : all;
}

void nq_game_hole(struct nq_game *game)
{
	game->hole = true;
}

/* A map's clock begins at one second; so much may pass until a client sees it. */
#define CLOCK_SLACK_US 2000000

void nq_game_clock(struct nq_game *game, const struct record *r)
{
	int64_t passed_us = (r->time_ns - game->clock_ns) / 1000;

	if (!(r->facts.has & FACT_TIME) || r->status >= RECORD_OPAQUE)
		return;
	if (game->hole)
		game->based &= r->facts.time_us >= game->clock_us && passed_us >= 0 &&
			       passed_us + CLOCK_SLACK_US < game->clock_us;
	game->based &= r->facts.time_us >= game->clock_us;
	game->hole = false;
	game->clock_us = r->facts.time_us;
	game->clock_ns = r->time_ns;
}

/* Another dialect, with the same extensions if they are known. */
static void take(struct nq_game *game, unsigned int index)
{
	const struct nq_dialect *d = list_of(game)[index];
	struct nq_format old = game->format;

	if (game->known)
		nq_format_of(d, old.flags, old.pext1, old.pext2, &game->format);
	else
		nq_format_of(d, d->flags, 0, 0, &game->format);
}

/* @tape: of digests, and nothing may be odd; or NULL. */
static bool fits_on(const struct message *m, struct record_tape *tape)
{
	struct message look = *m;
	struct record silent;

	record_reset(&silent, tape);
	look.record = &silent;
	return nq_message(&look) &&
	       (!look.missing || look.missing == no_baseline ||
		look.missing == no_state) &&
	       (!tape || !(look.odd || tape->odd));
}

static bool fits(const struct message *m)
{
	return fits_on(m, NULL);
}

static unsigned int taken(const struct nq_game *game)
{
	const struct nq_dialect *const *list = list_of(game);
	unsigned int i = 0;

	while (list[i] != game->format.dialect)
		i++;
	return i;
}

bool nq_reads(struct nq_game *game, const struct message *m)
{
	const struct nq_format before = game->format;
	struct message look = *m;
	bool reads = false;

	look.state = game;
	for (uint32_t left = possible_of(game); left && !reads; left &= left - 1) {
		take(game, (unsigned int)__builtin_ctz(left));
		reads = fits(&look);
	}
	game->format = before;
	return reads;
}

/* The readings of a message by the dialects that are possible. */
struct opinion {
	uint32_t fit; /* bits of those that read it, with no odd numbers */
	bool agreed; /* these read the same */
};

static struct opinion ask(struct nq_game *game, const struct message *m)
{
	struct record_tape tape = record_tape_digest();
	const struct nq_format before = game->format;
	struct opinion ret = { .agreed = true };
	struct message look = *m;
	uint64_t digest = 0;

	look.state = game;
	for (uint32_t left = possible_of(game); left; left &= left - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(left);

		take(game, i);
		if (!fits_on(&look, &tape))
			continue;
		ret.agreed &= !ret.fit || digest == tape.digest;
		digest = tape.digest;
		ret.fit |= 1U << i;
	}
	game->format = before;
	return ret;
}

/* Keeps those that fit, and the first of them if the one taken does not. */
static void keep(struct nq_game *game, uint32_t fit)
{
	if (!fit)
		return;
	/* All fit: the message says nothing of this. */
	game->fitted |= fit != possible_of(game);
	game->possible = fit;
	if (!game->format.dialect || !(fit & 1U << taken(game)))
		take(game, (unsigned int)__builtin_ctz(fit));
}

bool nq_is_open(const struct nq_game *game, const struct message *m)
{
	struct nq_game look = *game;

	return !game->known && game->peeked < PEEKS_MAX && !ask(&look, m).agreed;
}

void nq_peek(struct nq_game *game, const struct message *m)
{
	if (game->known)
		return;
	game->peeked++;
	keep(game, ask(game, m).fit);
}

/* Have all that are possible one name? */
static bool one_name(const struct nq_game *game)
{
	const struct nq_dialect *const *list = list_of(game);

	for (uint32_t left = possible_of(game); left; left &= left - 1)
		if (strcmp(list[__builtin_ctz(left)]->name, game->format.dialect->name) !=
		    0)
			return false;
	return true;
}

/* Code for the client is DarkPlaces' idea: so is then the reading of what several share,
 * as of protocol 15, and private temporary entities are no error. */
static void darkplaces_only(struct nq_game *game)
{
	const struct nq_dialect *const *list = list_of(game);
	uint32_t possible = possible_of(game), mask = 0;

	for (unsigned int i = 0; list[i]; i++)
		if (list[i]->traits & (NQ_DP | NQ_QUAKEDP))
			mask |= 1U << i;
	mask &= possible;
	if (!mask || mask == possible)
		return;
	game->possible = mask;
	if (!(mask & 1U << taken(game)))
		take(game, (unsigned int)__builtin_ctz(mask));
}

static bool several(const struct nq_game *game)
{
	return possible_of(game) & (possible_of(game) - 1);
}

/* Before serverinfo was seen. */
static void decode_unknown(struct nq_game *game, struct message *m)
{
	struct record *r = m->record;
	struct opinion now = { .fit = possible_of(game), .agreed = true };

	if (several(game) || game->tries < TRIES_MAX) {
		now = ask(game, m);
		keep(game, now.fit);
		game->tries += now.fit != 0;
	}
	message_decode(nq_message, m);
	if (!game->known && (game->fitted || !now.agreed) &&
	    (one_name(game) || game->tries >= TRIES_ENOUGH || !now.agreed)) {
		r->dialect = game->format.dialect->name;
		r->guess = !one_name(game);
	}
	/* Serverinfo in this very message has decided. */
	if (!now.agreed && !game->known)
		record_partial(r, "several protocols fit: serverinfo was not seen");
	/* A message that fits no known dialect may be of an unknown one. */
	if (!now.fit && r->status == RECORD_MALFORMED && !game->fitted) {
		r->status = RECORD_PARTIAL;
		r->reason = no_fit;
	} else if (!now.fit) {
		record_partial(r, no_fit);
	}
}

static void decode_known(struct nq_game *game, struct message *m)
{
	if (several(game) && !fits(m))
		keep(game, ask(game, m).fit);
	message_decode(nq_message, m);
}

void nq_decode(struct nq_game *game, struct message *m)
{
	m->state = game;
	if (!game->format.dialect)
		take(game, 0);
	if (game->private_code)
		darkplaces_only(game);
	if (!game->known)
		decode_unknown(game, m);
	else
		decode_known(game, m);
	if (game->known)
		m->record->dialect = game->format.dialect->name;
	m->record->untested = game->format.untested;
	/* Its engine has utf8_enable on, which others of DarkPlaces have off. */
	m->record->utf8 = game->code == NQ_CODE_XONOTIC;
}
