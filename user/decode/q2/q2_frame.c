// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_frame.c - svc_frame: what a client sees at one time of the server's.
 *
 *	34	i32 serverframe, i32 deltaframe (<= 0: full), u8 suppressed, u8 n, n
 *		areabits, u8 17, player, u8 18, entities
 *	35, 36	u32: 27 bits serverframe, 5 bits back to the base (31: full);
 *		u8: suppressed or flags below, further flags of the player above;
 *		areas, player, [36: clientnum], entities
 *	a server's recording: i32 serverframe, u8 18, entities from nothing
 *
 * Entities of the base that are not named stay as they are. What is not in the base
 * comes from its baseline.
 *
 * Sources: Quake-2 client/cl_ents.c, server/sv_ents.c; q2pro src/client/parse.c.
 */
#include "decode/q2/q2_message.h"

#define AREA_BYTES_MAX	  32
#define OP_PLAYERINFO	  17
#define OP_PACKETENTITIES 18
#define DELTA_MAX	  15
#define FULL		  31 /* as an offset to the base */
#define MICROSECONDS	  1000000LL
#define FPS		  10

/* One frame in the making. */
struct making {
	struct q2_frame *base; /* NULL: nothing */
	struct q2_frame *work; /* NULL: the result is not wanted */
	unsigned int at; /* in the base */
	int32_t number;
	bool full;
	int32_t from; /* the number of the base; 0: none */
	bool guessed, doubted, leans; /* as of struct q2_frame */
	struct q2_player_delta delta;
};

static void note_time(struct ops *o, int32_t number)
{
	const struct q2_session *q = q2_of(o)->session;
	struct facts *f = &o->record->facts;

	f->has |= FACT_SNAPSHOT | FACT_TIME;
	f->time_us = number * (MICROSECONDS / (q && q->fps ? q->fps : FPS));
}

/* A doubted frame is right if the map turned out to be the known one. */
static bool is_doubted(const struct q2_game *g, const struct q2_frame *f)
{
	return f->doubted && !evidence_holds(&g->join.map, f->sequence);
}

/* Looks for the base of frame @number; what is not there is missing. */
static void find_base(struct ops *o, struct making *m, int32_t number, int32_t base)
{
	struct q2_parse *p = q2_of(o);

	m->number = number;
	m->full = base <= 0;
	m->from = m->full ? 0 : base;
	m->guessed = p->session && p->session->doubt;
	m->doubted = !p->game || !evidence_holds(&p->game->join.map, p->sequence);
	if (number < 1)
		ops_wrong(o, "frame number below 1");
	if (m->full)
		return;
	if (base >= number || number - base > DELTA_MAX) {
		ops_wrong(o, "delta from a frame that a client cannot have");
		return;
	}
	/* Without a session only the syntax is asked for. */
	if (!p->session)
		return;
	if (base == p->frame) {
		m->guessed |= p->guessed;
		return;
	}
	if (p->game && (!p->reset || p->commit))
		m->base = q2_frame_find(p->game, base);
	m->guessed |= !m->base || m->base->guessed;
	if (m->base) {
		m->doubted &= is_doubted(p->game, m->base);
		m->leans = m->doubted && m->base->leans;
	}
	if (!m->base)
		message_missing(o->m, "delta from a frame that was not seen");
	else if (m->guessed || m->leans)
		message_missing(o->m, "delta from a frame that is itself incomplete");
}

static void begin(struct ops *o, struct making *m)
{
	struct q2_game *g = q2_commit_frame(o, m->number);

	if (!g)
		return;
	q2_of(o)->game = g;
	/* An earlier frame of this very message may be the base. */
	if (!m->full && !m->base)
		m->base = q2_frame_find(g, q2_of(o)->frame);
	m->work = &g->work;
	m->work->list.count = 0;
}

static void parse_areas(struct ops *o)
{
	unsigned int n = reader_u8(&o->rd);
	const uint8_t *bits = n <= AREA_BYTES_MAX ? reader_take(&o->rd, n) : NULL;

	if (n > AREA_BYTES_MAX)
		ops_wrong(o, "more than 32 area bytes");
	if (bits)
		record_hex(o->record, "areabits", bits, n);
}

static void parse_player(struct ops *o, struct making *m, unsigned int extra)
{
	const struct q2_dialect *d = &q2_of(o)->dialect;
	int32_t scratch[Q2_PLAYER_WORDS];
	int32_t *word = m->work ? m->work->player : scratch;

	if (m->base)
		memcpy(word, m->base->player, sizeof(scratch));
	else
		memset(word, 0, sizeof(scratch));
	record_open_object(o->record, "playerinfo");
	m->delta = q2_player_read(&o->rd, d, extra, word);
	q2_player_record(o->record, d, &m->delta, word);
	record_close(o->record);
	if (m->delta.unknown)
		ops_wrong(o, "unknown flag of a player");
}

/* Keeps what the base has below @number. */
static void keep(struct ops *o, struct making *m, unsigned int number)
{
	const struct q2_list *base = m->base ? &m->base->list : NULL;

	for (; base && m->at < base->count && base->entity[m->at].number < number;
	     m->at++) {
		struct q2_entity *e;

		if (!m->work)
			continue;
		e = q2_list_add(&m->work->list, base->entity[m->at].number);
		if (!e)
			return;
		memcpy(e->word, base->entity[m->at].word, sizeof(e->word));
		q2_entity_age(&q2_of(o)->dialect, e->word);
	}
}

/* Entity @number is new, and its baseline, if @there, all that is known of it. */
static void lean(struct ops *o, struct making *m, bool there)
{
	const struct q2_parse *p = q2_of(o);
	enum evidence_baseline known = BASELINE_UNSEEN;

	if (!p->session || p->reset || p->dialect.server_demo)
		return;
	if (p->game && !m->doubted)
		known = there || !p->game->join.holes ? BASELINE_KNOWN : BASELINE_UNSEEN;
	else if (p->game)
		known = evidence_join_baseline(&p->game->join, p->sequence, there);
	if (known == BASELINE_KNOWN)
		return;
	m->guessed |= known == BASELINE_UNSEEN;
	m->leans |= known == BASELINE_DOUBTED;
	message_missing(o->m, "entity from a baseline that was not seen");
}

/* Servers send no entity that has none of these. */
static bool is_shown(const int32_t *word)
{
	return word[Q2_MODELINDEX] || word[Q2_MODELINDEX + 1] ||
	       word[Q2_MODELINDEX + 2] || word[Q2_MODELINDEX + 3] || word[Q2_EFFECTS] ||
	       word[Q2_SOUND] || word[Q2_EVENT];
}

/*
 * Copy the state that entity @number is a difference to into @word. False: it is a
 * difference to nothing.
 */
static bool entity_base(struct ops *o, struct making *m, unsigned int number,
			int32_t *word)
{
	struct q2_parse *p = q2_of(o);
	const struct q2_list *base = m->base ? &m->base->list : NULL;
	const struct q2_entity *from = NULL;

	if (base && m->at < base->count && base->entity[m->at].number == number) {
		from = &base->entity[m->at++];
	} else {
		if (p->game && (!p->reset || p->commit))
			from = q2_baseline_find(p->game, number);
		lean(o, m, from != NULL);
	}
	if (from)
		memcpy(word, from->word, Q2_ENTITY_WORDS * sizeof(*word));
	else
		memset(word, 0, Q2_ENTITY_WORDS * sizeof(*word));
	q2_entity_age(&p->dialect, word);
	return from != NULL;
}

/* Engines drop the next of the base, even if it is another. */
static void remove_entity(struct ops *o, struct making *m)
{
	if (m->full)
		ops_wrong(o, "removed from a full frame");
	if (m->base && m->at < m->base->list.count)
		m->at++;
	record_bool(o->record, "removed", true);
}

/*
 * Note that a baseline was not seen, if entity @number came from nothing and shows
 * nothing. Recorders leave out baselines without a model: in a recording it is missing if
 * no block has gone through its number.
 */
static void check_hole(struct ops *o, struct making *m, unsigned int number,
		       const int32_t *word)
{
	struct q2_parse *p = q2_of(o);

	if (!p->session || !p->game || p->reset || is_shown(word))
		return;
	if (p->session->recording ? q2_baselines_reached(p->game, number)
				  : p->dialect.enhanced || p->dialect.server_demo)
		return;
	m->guessed = true;
	message_missing(o->m, "entity from a baseline that was not seen");
	if (p->commit)
		p->game->join.holes = true;
}

static void parse_entity(struct ops *o, struct making *m, uint64_t bits,
			 unsigned int number)
{
	int32_t word[Q2_ENTITY_WORDS];
	struct q2_entity *e;
	bool based;

	q2_entity_number(o, "number", number, 1);
	keep(o, m, number);
	if (bits & Q2_ENTITY_REMOVE) {
		remove_entity(o, m);
		return;
	}
	based = entity_base(o, m, number, word);
	q2_entity_record(o->record,
			 q2_entity_read(&o->rd, &q2_of(o)->dialect, bits, word), word);
	if (!based)
		check_hole(o, m, number, word);
	e = m->work ? q2_list_add(&m->work->list, number) : NULL;
	if (e)
		memcpy(e->word, word, sizeof(word));
}

static void parse_entities(struct ops *o, struct making *m)
{
	unsigned int number = 0;
	uint64_t bits;

	record_open_array(o->record, "packetentities");
	while (q2_next_entity(o, &number, &bits)) {
		record_open_object(o->record, NULL);
		parse_entity(o, m, bits, number);
		record_close(o->record);
	}
	keep(o, m, UINT16_MAX + 1U);
	record_close(o->record);
}

/* The frame is whole: it takes its place among the last sixteen. */
static void end(struct ops *o, struct making *m)
{
	struct q2_parse *p = q2_of(o);
	struct q2_frame *place, old;

	note_time(o, m->number);
	p->frame = m->number;
	p->guessed = m->guessed;
	if (!m->work || reader_failed(&o->rd) || o->m->wrong)
		return;
	m->work->number = m->number;
	m->work->sequence = p->sequence;
	m->work->guessed = m->guessed;
	m->work->doubted = m->doubted;
	m->work->leans = m->leans;
	m->work->delta = m->delta;
	if (m->from)
		q2_game_differs(p->game, m->number, m->from, p->sequence);
	place = &p->game->frames[m->number & (Q2_FRAMES - 1)];
	old = *place;
	*place = *m->work;
	*m->work = old;
}

static void expect(struct ops *o, uint8_t op, const char *why)
{
	if (reader_u8(&o->rd) != op && !reader_failed(&o->rd))
		ops_wrong(o, why);
}

void q2_parse_frame(struct ops *o)
{
	struct making m = { .base = NULL };
	int32_t number = (int32_t)reader_le32(&o->rd), base;
	unsigned int suppressed;

	record_int(o->record, "serverframe", number);
	base = (int32_t)reader_le32(&o->rd);
	record_int(o->record, "deltaframe", base);
	if (q2_of(o)->dialect.protocol == Q2_PROTOCOL_MVD) {
		ops_wrong(o, "frame of one client within a multi-view recording");
		return;
	}
	find_base(o, &m, number, base);
	begin(o, &m);
	if (q2_of(o)->dialect.protocol != 26) {
		suppressed = reader_u8(&o->rd);
		record_uint(o->record, "suppressed", suppressed);
		if (suppressed)
			o->record->facts.has |= FACT_DELAYED;
	}
	parse_areas(o);
	expect(o, OP_PLAYERINFO, "frame without a player");
	if (o->m->wrong)
		return;
	parse_player(o, &m, 0);
	expect(o, OP_PACKETENTITIES, "frame without entities");
	if (!o->m->wrong)
		parse_entities(o, &m);
	end(o, &m);
}

void q2_parse_frame_enhanced(struct ops *o)
{
	const struct q2_dialect *d = &q2_of(o)->dialect;
	struct making m = { .base = NULL };
	uint32_t packed = reader_le32(&o->rd);
	int32_t number = packed & 0x7ffffff, back = packed >> 27;
	uint8_t second = reader_u8(&o->rd);
	unsigned int extra = (unsigned int)(o->code >> 5) << 4 | second >> 4;

	record_int(o->record, "serverframe", number);
	record_int(o->record, "deltaframe", back == FULL ? -1 : number - back);
	record_uint(o->record, d->q2pro ? "flags" : "suppressed", second & 15);
	if (d->q2pro ? second & 1 : second & 15)
		o->record->facts.has |= FACT_DELAYED;
	find_base(o, &m, number, back == FULL ? -1 : number - back);
	begin(o, &m);
	parse_areas(o);
	if (o->m->wrong)
		return;
	parse_player(o, &m, extra);
	if (d->q2pro && extra & Q2_EXTRA_CLIENTNUM)
		record_int(o->record, "clientnum",
			   d->minor < 1022 ? reader_u8(&o->rd)
					   : (int16_t)reader_le16(&o->rd));
	parse_entities(o, &m);
	end(o, &m);
}

void q2_parse_frame_demo(struct ops *o)
{
	struct making m = { .full = true };
	int32_t number = (int32_t)reader_le32(&o->rd);

	record_int(o->record, "serverframe", number);
	find_base(o, &m, number, -1);
	begin(o, &m);
	expect(o, OP_PACKETENTITIES, "frame without entities");
	if (!o->m->wrong)
		parse_entities(o, &m);
	end(o, &m);
}

/* Places of the other players in that frame, in its order. */
void q2_parse_playerupdate(struct ops *o)
{
	const struct q2_parse *p = q2_of(o);
	struct q2_game *g = p->game;
	int32_t number = (int32_t)reader_le32(&o->rd);
	const struct q2_frame *f = g ? q2_frame_find(g, number) : NULL;

	record_int(o->record, "serverframe", number);
	if (!f || f->guessed || !g->maxclients) {
		ops_unknown(o, "players' places in a frame that was not seen");
		return;
	}
	record_open_array(o->record, "players");
	for (unsigned int i = 0; i < f->list.count; i++) {
		unsigned int entity = f->list.entity[i].number;

		if (entity > g->maxclients || (int)entity == g->playernum + 1)
			continue;
		record_open_object(o->record, NULL);
		record_uint(o->record, "number", entity);
		q2_place(o, "origin");
		record_close(o->record);
	}
	record_close(o->record);
}
