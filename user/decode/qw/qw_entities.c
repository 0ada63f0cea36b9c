// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_entities.c - svc_packetentities, svc_deltapacketentities, svc_spawnbaseline.
 *
 *	+------------+-----------+-----------+-----------+--------
 *	| u16 word   | u8 if 15  | u8 if 23  | u8 if 31  | fields
 *	+------------+-----------+-----------+-----------+--------
 *	  number: 0-8   16-23       24-31       (bits4)	   ... until the word is 0
 *
 * Sources: Quake QW/client/cl_ents.c, QW/server/sv_ents.c; fteqw
 * engine/client/cl_ents.c, engine/server/sv_ents.c; qwprot src/protocol.h.
 */
#include "decode/qw/qw_entities.h"
#include "decode/qw/qw_message.h"
#include "lib/record_trace.h"

#define COORD_UNIT    (1 / 8.0)
#define ANGLE_UNIT    (360 / 256.0)
#define ANGLE16_UNIT  (360 / 65536.0)

#define NUMBER_BITS   0x1ffU
#define ENTITIES_1996 64
#define ENTITIES_FTE  256

/* Which layout a field has, by one flag each: rows have no other conditions. */
enum layout {
	HAS_MODEL8 = 1 << 0,
	HAS_MODEL16 = 1 << 1,
	HAS_FRAME = 1 << 2,
	HAS_COLORMAP = 1 << 3,
	HAS_SKIN = 1 << 4,
	HAS_EFFECTS = 1 << 5,
	HAS_ORIGIN = 1 << 6, /* and the next two */
	HAS_FLOAT_ORIGIN = 1 << 9, /* and the next two */
	HAS_ANGLE = 1 << 12, /* and the next two */
	HAS_ANGLE16 = 1 << 15, /* and the next two */
	HAS_SCALE = 1 << 18,
	HAS_TRANS = 1 << 19,
	HAS_FATNESS = 1 << 20,
	HAS_DRAWFLAGS = 1 << 21,
	HAS_ABSLIGHT = 1 << 22,
	HAS_COLOURMOD = 1 << 23,
	HAS_DPFLAGS = 1 << 24,
	HAS_TAG = 1 << 25,
	HAS_LIGHT = 1 << 26,
	HAS_EFFECTS16 = 1 << 27,
};

#define LANE(lane)                                                                \
	{ "origin",  HAS_ORIGIN << (lane), QW_E_ORIGIN + (lane),                  \
	  DELTA_I16, (lane) + 1,	   COORD_UNIT },                          \
		{ "origin",                                                       \
		  HAS_FLOAT_ORIGIN << (lane),                                     \
		  QW_E_ORIGIN + (lane),                                           \
		  DELTA_F32,                                                      \
		  (lane) + 1,                                                     \
		  0 },                                                            \
		{ "angles", HAS_ANGLE << (lane), QW_E_ANGLES + (lane),            \
		  DELTA_I8, (lane) + 1,		 ANGLE_UNIT },                    \
	{                                                                         \
		"angles", HAS_ANGLE16 << (lane), QW_E_ANGLES + (lane), DELTA_I16, \
			(lane) + 1, ANGLE16_UNIT                                  \
	}
#define LIGHT(key, i, type)                                  \
	{                                                    \
		key, HAS_LIGHT, QW_E_LIGHT + (i), type, 0, 0 \
	}

const struct delta_row qw_entity_rows[] = {
	{ "modelindex", HAS_MODEL8, QW_E_MODEL, DELTA_U8, 0, 0 },
	{ "modelindex", HAS_MODEL16, QW_E_MODEL, DELTA_U16, 0, 0 },
	{ "frame", HAS_FRAME, QW_E_FRAME, DELTA_U8, 0, 0 },
	{ "colormap", HAS_COLORMAP, QW_E_COLORMAP, DELTA_U8, 0, 0 },
	{ "skinnum", HAS_SKIN, QW_E_SKIN, DELTA_U8, 0, 0 },
	{ "effects", HAS_EFFECTS, QW_E_EFFECTS, DELTA_U8, 0, 0 },
	LANE(0),
	LANE(1),
	LANE(2),
	{ "scale", HAS_SCALE, QW_E_SCALE, DELTA_U8, 0, 0 },
	{ "alpha", HAS_TRANS, QW_E_TRANS, DELTA_U8, 0, 0 },
	{ "fatness", HAS_FATNESS, QW_E_FATNESS, DELTA_I8, 0, 0 },
	{ "drawflags", HAS_DRAWFLAGS, QW_E_DRAWFLAGS, DELTA_U8, 0, 0 },
	{ "abslight", HAS_ABSLIGHT, QW_E_ABSLIGHT, DELTA_U8, 0, 0 },
	{ "colormod", HAS_COLOURMOD, QW_E_COLOURMOD, DELTA_U8, 1, 0 },
	{ "colormod", HAS_COLOURMOD, QW_E_COLOURMOD + 1, DELTA_U8, 2, 0 },
	{ "colormod", HAS_COLOURMOD, QW_E_COLOURMOD + 2, DELTA_U8, 3, 0 },
	{ "dpflags", HAS_DPFLAGS, QW_E_DPFLAGS, DELTA_U8, 0, 0 },
	{ "tagentity", HAS_TAG, QW_E_TAG, DELTA_I16, 0, 0 },
	{ "tagindex", HAS_TAG, QW_E_TAG + 1, DELTA_I16, 0, 0 },
	LIGHT("light_red", 0, DELTA_I16),
	LIGHT("light_green", 1, DELTA_I16),
	LIGHT("light_blue", 2, DELTA_I16),
	LIGHT("light_radius", 3, DELTA_I16),
	LIGHT("lightstyle", 4, DELTA_U8),
	LIGHT("lightpflags", 5, DELTA_U8),
	{ "effects_high", HAS_EFFECTS16, QW_E_EFFECTS_HIGH, DELTA_U8, 0, 0 },
};

const size_t qw_entity_rows_count = sizeof(qw_entity_rows) / sizeof(*qw_entity_rows);

/* The fields of one entity bit, or of one bit of the fourth byte. */
static const struct {
	uint32_t bit;
	uint32_t layout;
} plain_bits[] = {
	{ 1U << 13, HAS_FRAME },    { 1U << 19, HAS_COLORMAP }, { 1U << 20, HAS_SKIN },
	{ 1U << 21, HAS_EFFECTS },  { 1U << 24, HAS_SCALE },	{ 1U << 25, HAS_TRANS },
	{ 1U << 26, HAS_FATNESS },
}, fourth_bits[] = {
	{ 1 << 0, HAS_DRAWFLAGS }, { 1 << 1, HAS_ABSLIGHT }, { 1 << 2, HAS_COLOURMOD },
	{ 1 << 3, HAS_DPFLAGS },   { 1 << 4, HAS_TAG },	     { 1 << 5, HAS_LIGHT },
	{ 1 << 6, HAS_EFFECTS16 },
};

static uint32_t layout_of(const struct qw_terms *t, const struct qw_entity *e)
{
	bool floats = (t->fte & QW_FTE_FLOATCOORDS) || (t->mvd & QW_MVD_FLOATCOORDS);
	bool angle16 = t->fte & QW_FTE_FLOATCOORDS;
	/* ANGLE1 and 3 are bits 16 and 17, ANGLE2 is bit 12. */
	uint32_t angles =
		(e->bits >> 16 & 1) | (e->bits >> 12 & 1) << 1 | (e->bits >> 17 & 1) << 2;
	uint32_t origins = e->bits >> 9 & 7, layout = 0;

	if (e->bits & QW_U_MODEL)
		layout |= HAS_MODEL8;
	else if (e->bits & QW_U_MODELDBL)
		layout |= HAS_MODEL16;
	for (size_t i = 0; i < sizeof(plain_bits) / sizeof(*plain_bits); i++)
		if (e->bits & plain_bits[i].bit)
			layout |= plain_bits[i].layout;
	for (size_t i = 0; e->bits4 && i < sizeof(fourth_bits) / sizeof(*fourth_bits);
	     i++)
		if (e->bits4 & fourth_bits[i].bit)
			layout |= fourth_bits[i].layout;
	layout |= origins * (floats ? HAS_FLOAT_ORIGIN : HAS_ORIGIN);
	return layout | angles * (angle16 ? HAS_ANGLE16 : HAS_ANGLE);
}

static void bits_read(struct reader *rd, const struct qw_terms *t, struct qw_entity *e)
{
	if (!(e->bits & QW_U_MOREBITS))
		return;
	/* A removed one has more bits only where they may be of its number. */
	if (e->remove && !(t->fte & (QW_FTE_ENTITYDBL | QW_FTE_ENTITYDBL2)))
		return;
	e->bits |= (uint32_t)reader_u8(rd) << 16;
	if (!(e->bits & QW_U_EVENMORE) || !t->fte)
		return;
	e->bits |= (uint32_t)reader_u8(rd) << 24;
	if (e->bits & QW_U_YETMORE && !e->remove)
		e->bits4 = reader_u8(rd);
	if (e->bits & QW_U_ENTITYDBL)
		e->number += 512;
	if (e->bits & QW_U_ENTITYDBL2)
		e->number += 1024;
}

void qw_entity_read(struct reader *rd, const struct qw_terms *t, unsigned int word,
		    struct qw_entity *ret)
{
	ret->number = word & NUMBER_BITS;
	ret->bits = word & ~NUMBER_BITS;
	ret->bits4 = 0;
	ret->remove = word & QW_U_REMOVE;
	bits_read(rd, t, ret);
	if (ret->remove)
		return;
	delta_read(rd, qw_entity_rows, qw_entity_rows_count, layout_of(t, ret),
		   ret->field);
	if (ret->bits & QW_U_MODEL && ret->bits & QW_U_MODELDBL)
		ret->field[QW_E_MODEL] += 256;
}

void qw_entity_record(struct record *r, const struct qw_terms *t,
		      const struct qw_entity *e)
{
	bool was = record_hold(r, true);

	record_open_object(r, NULL);
	delta_record_head(r);
	record_uint(r, "number", e->number);
	record_uint(r, "bits", e->bits | (uint64_t)e->bits4 << 32);
	if (e->remove)
		record_bool(r, "removed", true);
	else
		delta_record(r, qw_entity_rows, qw_entity_rows_count, layout_of(t, e),
			     e->field);
	record_close(r);
	record_hold(r, was);
}

size_t qw_entity_write(uint8_t *to, size_t size, const struct qw_terms *t,
		       const struct qw_entity *e)
{
	uint32_t word = (e->bits & 0xfe00) | (e->number & NUMBER_BITS), layout;
	bool more = e->bits & QW_U_MOREBITS &&
		    (!e->remove || t->fte & (QW_FTE_ENTITYDBL | QW_FTE_ENTITYDBL2));
	uint8_t head[5] = { (uint8_t)word, (uint8_t)(word >> 8) };
	size_t n = 2, body;

	if (more)
		head[n++] = (uint8_t)(e->bits >> 16);
	if (more && e->bits & QW_U_EVENMORE && t->fte)
		head[n++] = (uint8_t)(e->bits >> 24);
	if (n == 4 && e->bits & QW_U_YETMORE && !e->remove)
		head[n++] = e->bits4;
	if (n > size)
		return 0;
	memcpy(to, head, n);
	layout = e->remove ? 0 : layout_of(t, e);
	if (!layout)
		return n;
	body = delta_write(to + n, size - n, qw_entity_rows, qw_entity_rows_count, layout,
			   e->field);
	return body ? n + body : 0;
}

/* --- frames ------------------------------------------------------------------------ */

/*
 * The frame before, in a recording; a delta says which one by a number that counts on.
 * The first of a map is to nothing. So are whole frames later: mvdsv writes one for
 * number 0; others may not count them, or count anew.
 */
static const struct qw_frame *recorded_base(const struct qw_session *s, uint8_t from)
{
	static const struct qw_frame nothing = { .stored = true, .whole = true };
	const struct qw_game *g = s ? s->game : NULL;
	const struct qw_frame *f = g ? &g->frames[g->newest % QW_FRAMES] : &nothing;
	uint8_t ahead;

	if (!g || !f->stored)
		return !s || s->join.map.known ? &nothing : NULL;
	ahead = (uint8_t)(from - g->from);
	if (!g->has_from || (g->wholes && from <= 1))
		return f;
	return ahead && ahead - 1 <= g->wholes ? f : NULL;
}

/* The frame that a delta from @from builds on, or NULL. */
static const struct qw_frame *base_of(struct ops *o, uint8_t from)
{
	struct qw_parse *p = qw_parse_of(o);
	const struct qw_game *g = p->session ? p->session->game : NULL;
	uint32_t age = (o->m->sequence - from) & 0xff;
	const struct qw_frame *f;

	p->from = from;
	if (p->terms.recording) {
		p->base = o->m->sequence;
		return recorded_base(p->session, from);
	}
	if (age && age < QW_FRAMES - 1)
		p->base = o->m->sequence - age;
	if (!g || !p->base)
		return NULL;
	f = &g->frames[p->base % QW_FRAMES];
	return f->stored && f->sequence == p->base ? f : NULL;
}

static bool is_incomplete(const struct qw_frame *f)
{
	return !f->whole || f->guessed || f->leans;
}

static void frame_begin(struct ops *o, const struct qw_frame *base, bool delta)
{
	struct qw_parse *p = qw_parse_of(o);
	const struct qw_session *s = p->session;
	struct qw_frame *f = &p->frame;

	if (delta && base) {
		*f = *base;
		/* A doubted frame is right if the map turned out to be that. */
		f->doubted &= !s || !evidence_holds(&s->join.map, base->sequence);
		f->leans &= f->doubted;
	} else {
		memset(f, 0, sizeof(*f));
		f->whole = !delta;
		f->doubted = true;
	}
	if (s && evidence_holds(&s->join.map, o->m->sequence))
		f->doubted = false;
	f->stored = true;
	f->sequence = o->m->sequence;
	p->has_frame = true;
	o->record->facts.has |= FACT_SNAPSHOT;
	if (delta && !base)
		message_missing(o->m, "delta from a frame that was not seen");
	else if (is_incomplete(f))
		message_missing(o->m, "delta from a frame whose own base was not seen");
}

/*
 * Entity @e is new in the frame: is its baseline known? No server sends one without a
 * model, so where nothing but a baseline can have brought it, there is one.
 */
static void lean(struct ops *o, const struct qw_entity *e)
{
	struct qw_parse *p = qw_parse_of(o);
	const struct qw_session *s = p->session;
	const struct qw_game *g = s ? s->game : NULL;
	bool there = g && g->baseline[e->number / 64] >> e->number % 64 & 1;
	enum evidence_baseline known;

	if (!s)
		return;
	known = p->frame.doubted ? evidence_join_baseline(&s->join, o->m->sequence, there)
		: there || !s->join.holes ? BASELINE_KNOWN
					  : BASELINE_UNSEEN;
	if (!there && s->packets && !(e->bits & (QW_U_MODEL | QW_U_MODELDBL))) {
		p->hole = true;
		known = BASELINE_UNSEEN;
	}
	if (known == BASELINE_KNOWN)
		return;
	p->frame.guessed |= known == BASELINE_UNSEEN;
	p->frame.leans |= known == BASELINE_DOUBTED;
	message_missing(o->m, "entity from a baseline that was not seen");
}

static void frame_entity(struct ops *o, const struct qw_entity *e)
{
	struct qw_frame *f = &qw_parse_of(o)->frame;
	uint64_t bit = 1ULL << e->number % 64, *set = &f->present[e->number / 64];

	if (!e->remove && !(*set & bit))
		lean(o, e);
	if (e->remove && !(*set & bit) && qw_parse_of(o)->terms.recording) {
		/* No server removes what is not there: a frame before has brought it. */
		f->whole = false;
		message_missing(o->m, "delta from a frame that was not seen");
	}
	if (e->remove)
		f->count = (uint16_t)(f->count - !!(*set & bit));
	else
		f->count = (uint16_t)(f->count + !(*set & bit));
	*set = e->remove ? *set & ~bit : *set | bit;
}

static void frame_end(struct ops *o)
{
	const struct qw_parse *p = qw_parse_of(o);
	bool many = p->terms.fte & QW_FTE_256PACKETENTITIES;

	if (p->frame.whole)
		record_uint(o->record, "count", p->frame.count);
	if (!p->terms.recording && p->terms.protocol && p->frame.whole &&
	    p->frame.count > (many ? ENTITIES_FTE : ENTITIES_1996))
		ops_wrong(o, "more entities in a frame than there may be");
}

static void entities(struct ops *o, bool delta)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;
	struct qw_entity e;
	unsigned int word;

	qw_lean(o);
	record_open_array(o->record, "entities");
	while ((word = reader_le16(&o->rd)) && !o->m->wrong) {
		qw_entity_read(&o->rd, t, word, &e);
		if (reader_failed(&o->rd))
			break;
		if (!e.number)
			ops_wrong(o, "entity 0 in a frame");
		if (e.remove && !delta)
			ops_wrong(o, "an entity is removed in a whole frame");
		qw_entity_record(o->record, t, &e);
		frame_entity(o, &e);
	}
	record_close(o->record);
	frame_end(o);
}

void qw_packetentities(struct ops *o)
{
	qw_parse_of(o)->base = 0;
	frame_begin(o, NULL, false);
	entities(o, false);
}

void qw_deltapacketentities(struct ops *o)
{
	unsigned int from = qw_u8(o, "from");

	qw_parse_of(o)->base = 0;
	frame_begin(o, base_of(o, (uint8_t)from), true);
	entities(o, true);
}

/* --- what does not move ------------------------------------------------------------ */

static void baseline(struct ops *o)
{
	double origin[3], angles[3];
	bool floats = qw_parse_of(o)->terms.fte & QW_FTE_FLOATCOORDS;

	qw_lean(o);
	qw_u8(o, "modelindex");
	qw_u8(o, "frame");
	qw_u8(o, "colormap");
	qw_u8(o, "skinnum");
	for (int i = 0; i < 3; i++) {
		origin[i] = floats ? (double)reader_f32(&o->rd)
				   : (int16_t)reader_le16(&o->rd) * COORD_UNIT;
		angles[i] = floats ? (int16_t)reader_le16(&o->rd) * ANGLE16_UNIT
				   : reader_i8(&o->rd) * ANGLE_UNIT;
	}
	record_open_array(o->record, "origin");
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, origin[i]);
	record_close(o->record);
	record_open_array(o->record, "angles");
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, angles[i]);
	record_close(o->record);
}

void qw_spawnstatic(struct ops *o)
{
	baseline(o);
}

void qw_spawnbaseline(struct ops *o)
{
	unsigned int number = qw_u16(o, "number");
	struct qw_session *s = qw_committing(o);

	if (number >= QW_ENTITIES)
		ops_wrong(o, "no such entity");
	baseline(o);
	if (s)
		qw_session_baseline(s, number);
}
