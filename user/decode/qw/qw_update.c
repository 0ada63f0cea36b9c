// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_update.c - FTE's replacement deltas: svc_updateentities, and the statics and
 * baselines that are written alike.
 *
 *	f32 time, { u16 number (15: removed, 14: one more byte), bits, fields }, u16 0
 *	bits: a byte, one more behind 7, 15 and 23
 *
 * Sources: fteqw engine/client/cl_ents.c, engine/common/protocol.h.
 */
#include "decode/qw/qw_entities.h"
#include "decode/qw/qw_message.h"

#define SKIN_BIAS 64 /* LERPTIME's: there are skins below 0 */

enum update {
	U_FRAME = 1U << 0,
	U_ORIGINXY = 1U << 1,
	U_ORIGINZ = 1U << 2,
	U_ANGLESXZ = 1U << 3,
	U_ANGLESY = 1U << 4,
	U_EFFECTS = 1U << 5,
	U_PREDINFO = 1U << 6,
	U_RESET = 1U << 8,
	U_16BIT = 1U << 9, /* with LERPTIME: a time */
	U_MODEL = 1U << 10,
	U_SKIN = 1U << 11,
	U_COLORMAP = 1U << 12,
	U_SOLID = 1U << 13,
	U_FLAGS = 1U << 14,
	U_ALPHA = 1U << 16,
	U_SCALE = 1U << 17,
	U_BONES = 1U << 18,
	U_DRAWFLAGS = 1U << 19,
	U_TAG = 1U << 20,
	U_LIGHT = 1U << 21,
	U_TRAIL = 1U << 22,
	U_COLORMOD = 1U << 24,
	U_GLOW = 1U << 25,
	U_FATNESS = 1U << 26,
	U_MODEL2 = 1U << 27,
	U_GRAVITY = 1U << 28,
	U_EFFECTS2 = 1U << 29,
	U_ILLEGAL = 3U << 30,
};

static bool lerps(const struct ops *o)
{
	return qw_parse_of(o)->terms.fte2 & QW_FTE2_LERPTIME;
}

static void index_field(struct ops *o, uint32_t bits, const char *key)
{
	if (lerps(o))
		record_uint(o->record, key, qw_uleb(o));
	else if (bits & U_16BIT)
		qw_u16(o, key);
	else
		qw_u8(o, key);
}

static void skin(struct ops *o, uint32_t bits)
{
	if (lerps(o))
		record_int(o->record, "skinnum", (int64_t)qw_uleb(o) - SKIN_BIAS);
	else
		index_field(o, bits, "skinnum");
}

static void byte_field(struct ops *o, const char *key)
{
	if (lerps(o))
		record_uint(o->record, key, qw_uleb(o));
	else
		qw_u8(o, key);
}

static double coord(struct ops *o)
{
	if (qw_parse_of(o)->terms.fte & QW_FTE_FLOATCOORDS)
		return (double)reader_f32(&o->rd);
	return (int16_t)reader_le16(&o->rd) / 8.0;
}

static double angle(struct ops *o, uint32_t bits)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;

	if (t->fte & QW_FTE_FLOATCOORDS ||
	    (bits & U_PREDINFO && !(t->fte2 & QW_FTE2_PREDINFO)))
		return (int16_t)reader_le16(&o->rd) * (360 / 65536.0);
	return reader_i8(&o->rd) * (360 / 256.0);
}

static void lanes(struct ops *o, const char *key, const double *value)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, value[i]);
	record_close(o->record);
}

static void place(struct ops *o, uint32_t bits)
{
	double none = __builtin_nan("");
	double origin[3] = { none, none, none }, angles[3] = { none, none, none };

	if (bits & U_ORIGINXY) {
		origin[0] = coord(o);
		origin[1] = coord(o);
	}
	if (bits & U_ORIGINZ)
		origin[2] = coord(o);
	if (bits & U_ANGLESXZ) {
		angles[0] = angle(o, bits);
		angles[2] = angle(o, bits);
	}
	if (bits & U_ANGLESY)
		angles[1] = angle(o, bits);
	if (bits & (U_ORIGINXY | U_ORIGINZ))
		lanes(o, "origin", origin);
	if (bits & (U_ANGLESXZ | U_ANGLESY))
		lanes(o, "angles", angles);
}

static void effects(struct ops *o, uint32_t bits)
{
	if (lerps(o)) {
		if (bits & U_EFFECTS2)
			ops_wrong(o, "no such bit of an update");
		if (bits & U_EFFECTS)
			byte_field(o, "effects");
	} else if (bits & U_EFFECTS && bits & U_EFFECTS2) {
		record_uint(o->record, "effects", reader_le32(&o->rd));
	} else if (bits & U_EFFECTS2) {
		qw_u16(o, "effects");
	} else if (bits & U_EFFECTS) {
		qw_u8(o, "effects");
	}
}

static void predinfo_last(struct ops *o, uint32_t bits)
{
	double none = __builtin_nan(""), angle[3] = { none, none, none };
	unsigned int frame;

	if (qw_parse_of(o)->terms.fte2 & QW_FTE2_PREDINFO) {
		if (bits & U_ANGLESXZ) {
			angle[0] = (int16_t)reader_le16(&o->rd) * (360 / 65536.0);
			angle[2] = (int16_t)reader_le16(&o->rd) * (360 / 65536.0);
		}
		if (bits & U_ANGLESY)
			angle[1] = (int16_t)reader_le16(&o->rd) * (360 / 65536.0);
		if (bits & (U_ANGLESXZ | U_ANGLESY))
			lanes(o, "v_angle", angle);
		return;
	}
	frame = reader_u8(&o->rd);
	if (frame & 0x80)
		frame = (frame & 0x7f) | (unsigned int)reader_u8(&o->rd) << 7;
	record_uint(o->record, "weaponframe", frame);
}

static void predinfo(struct ops *o, uint32_t bits)
{
	unsigned int p = qw_u8(o, "predbits");

	if (p & 1)
		qw_i16(o, "forwardmove");
	if (p & 2)
		qw_i16(o, "sidemove");
	if (p & 4)
		qw_i16(o, "upmove");
	if (p & 8)
		qw_u8(o, "movetype");
	if (p & 0x30) {
		double none = __builtin_nan(""), velocity[3] = { none, none, none };

		if (p & 0x10) {
			velocity[0] = (int16_t)reader_le16(&o->rd);
			velocity[1] = (int16_t)reader_le16(&o->rd);
		}
		if (p & 0x20)
			velocity[2] = (int16_t)reader_le16(&o->rd);
		lanes(o, "velocity", velocity);
	}
	if (p & 0x40)
		qw_u8(o, "msec");
	if (p & 0x80)
		predinfo_last(o, bits);
}

static void solid(struct ops *o)
{
	unsigned int encoding;

	if (!(qw_parse_of(o)->terms.fte2 & QW_FTE2_NEWSIZEENCODING)) {
		qw_u16(o, "solid");
		return;
	}
	encoding = reader_u8(&o->rd);
	if (encoding == 16)
		qw_u16(o, "solid");
	else if (encoding == 32)
		record_uint(o->record, "solid", reader_le32(&o->rd));
	else if (encoding <= 3)
		record_uint(o->record, "solid", encoding);
	else
		ops_wrong(o, "no such encoding of a size");
}

static void bones(struct ops *o)
{
	unsigned int flags = reader_u8(&o->rd);
	const uint8_t *at;
	size_t n;

	if (flags & 0x3f)
		ops_wrong(o, "no such flag of bones");
	if (flags & 0x80) {
		n = reader_u8(&o->rd) * 14U;
		at = reader_take(&o->rd, n);
		if (at)
			record_hex(o->record, "bones", at, n);
	}
	if (flags & 0x40) {
		byte_field(o, "basebone");
		if (lerps(o))
			record_uint(o->record, "baseframe", qw_uleb(o));
		else
			qw_u16(o, "baseframe");
	}
}

static void drawflags(struct ops *o)
{
	if ((qw_u8(o, "drawflags") & 7) == 7)
		qw_u8(o, "abslight");
}

static void light(struct ops *o)
{
	qw_i16(o, "light_red");
	qw_i16(o, "light_green");
	qw_i16(o, "light_blue");
	qw_i16(o, "light_radius");
	byte_field(o, "lightstyle");
	qw_u8(o, "lightpflags");
}

static void trail(struct ops *o)
{
	unsigned int effect;

	if (lerps(o)) {
		record_uint(o->record, "traileffectnum", qw_uleb(o));
		record_uint(o->record, "emiteffectnum", qw_uleb(o));
		return;
	}
	effect = reader_le16(&o->rd);
	record_uint(o->record, "traileffectnum", effect & 0x3fff);
	if (effect & 0x8000)
		qw_u16(o, "emiteffectnum");
}

static void bytes(struct ops *o, const char *key, unsigned int n)
{
	record_open_array(o->record, key);
	while (n--)
		qw_u8(o, NULL);
	record_close(o->record);
}

/* Fields that came after the first versions. */
static void update_rare(struct ops *o, uint32_t bits)
{
	if (bits & U_ALPHA)
		qw_u8(o, "alpha");
	if (bits & U_SCALE)
		qw_u8(o, "scale");
	if (bits & U_BONES)
		bones(o);
	if (bits & U_DRAWFLAGS)
		drawflags(o);
	if (bits & U_TAG) {
		qw_number(o, "tagentity");
		byte_field(o, "tagindex");
	}
	if (bits & U_LIGHT)
		light(o);
	if (bits & U_TRAIL)
		trail(o);
	if (bits & U_COLORMOD)
		bytes(o, "colormod", 3);
	if (bits & U_GLOW) {
		qw_u8(o, "glowsize");
		qw_u8(o, "glowcolor");
		bytes(o, "glowmod", 3);
	}
	if (bits & U_FATNESS)
		qw_u8(o, "fatness");
	if (bits & U_MODEL2)
		index_field(o, bits, "modelindex2");
	if (bits & U_GRAVITY)
		bytes(o, "gravitydir", 2);
}

static uint32_t update_bits(struct ops *o)
{
	uint32_t bits = reader_u8(&o->rd);

	for (unsigned int shift = 8; shift < 32 && bits & 1U << (shift - 1); shift += 8)
		bits |= (uint32_t)reader_u8(&o->rd) << shift;
	return bits;
}

/* Returns the bits. */
static uint32_t update(struct ops *o)
{
	uint32_t bits = update_bits(o);

	record_uint(o->record, "bits", bits);
	if (bits & U_ILLEGAL) {
		ops_wrong(o, "no such bit of an update");
		return bits;
	}
	if (bits & U_FRAME)
		index_field(o, bits, "frame");
	place(o, bits);
	if (bits & U_16BIT && lerps(o))
		record_uint(o->record, "lerpend", qw_uleb(o));
	effects(o, bits);
	if (bits & U_PREDINFO)
		predinfo(o, bits);
	if (bits & U_MODEL)
		index_field(o, bits, "modelindex");
	if (bits & U_SKIN)
		skin(o, bits);
	if (bits & U_COLORMAP)
		byte_field(o, "colormap");
	if (bits & U_SOLID)
		solid(o);
	if (bits & U_FLAGS)
		byte_field(o, "dpflags");
	update_rare(o, bits);
	return bits;
}

/* A number, or 0 at the end; *removed: and nothing follows. */
static unsigned int update_number(struct ops *o, bool *removed, bool *all)
{
	unsigned int word = reader_le16(&o->rd), number = word & 0x3fff;

	if (word & 0x4000)
		number |= (unsigned int)reader_u8(&o->rd) << 14;
	*removed = word & 0x8000;
	*all = *removed && !number;
	return number;
}

/*
 * An update begins. A message that was not seen may have held one, so that no entity's
 * state is known behind it.
 */
static bool updates_hold(struct ops *o)
{
	const struct qw_parse *p = qw_parse_of(o);
	struct qw_session *s = qw_committing(o);
	bool hold = !p->session || evidence_holds(&p->session->updates, o->m->sequence);

	if (!s || hold)
		return hold;
	if (s->game)
		memset(s->game->whole, 0, sizeof(s->game->whole));
	evidence_begin(&s->updates, o->m->sequence);
	return true;
}

/* Entity @number, or all of them, is changed by @bits or removed; @hold: is the state
 * known in which it was? */
static void follow(struct ops *o, unsigned int number, uint32_t bits, bool removed,
		   bool hold)
{
	const struct qw_session *s = qw_parse_of(o)->session;
	struct qw_session *to = qw_committing(o);
	struct qw_game *g = to ? qw_session_game(to) : NULL;
	bool based = s && evidence_holds(&s->join.map, o->m->sequence);
	bool known = removed;
	uint64_t bit = 1ULL << number % 64;

	if (!s)
		return;
	if (bits & U_RESET)
		known |= based;
	else if (hold && number < QW_WHOLE_MAX && s->game)
		known |= s->game->whole[number / 64] & bit;
	if (!known)
		message_missing(o->m,
				bits & U_RESET
					? "entity from a baseline that was not seen"
					: "entity whose state was not seen as a whole");
	if (!g || number >= QW_WHOLE_MAX)
		return;
	if (removed && !number)
		memset(g->whole, 0, sizeof(g->whole));
	else if (removed || (bits & U_RESET && !known))
		g->whole[number / 64] &= ~bit;
	else if (known)
		g->whole[number / 64] |= bit;
}

void qw_updateentities(struct ops *o)
{
	unsigned int number;
	bool removed, all, hold = updates_hold(o);
	uint32_t bits;

	qw_lean(o);
	o->record->facts.has |= FACT_SNAPSHOT;
	qw_time(o, FACT_TIME);
	record_open_array(o->record, "entities");
	while (!o->m->wrong && ((number = update_number(o, &removed, &all)) || all)) {
		record_open_object(o->record, NULL);
		record_uint(o->record, "number", number);
		bits = 0;
		if (removed)
			record_bool(o->record, "removed", true);
		else
			bits = update(o);
		record_close(o->record);
		follow(o, number, bits, removed, hold);
	}
	record_close(o->record);
}

/* 21 and 66: the word of an entity's difference, to nothing. */
void qw_spawnstatic2(struct ops *o)
{
	const struct qw_terms *t = &qw_parse_of(o)->terms;
	struct qw_session *s;
	struct qw_entity e;
	unsigned int word;

	qw_lean(o);
	if (t->fte2 & QW_FTE2_REPLACEMENTDELTAS) {
		if (o->code == 66)
			qw_number(o, "number");
		update(o);
		return;
	}
	word = reader_le16(&o->rd);
	qw_entity_read(&o->rd, t, word, &e);
	if (e.remove)
		ops_wrong(o, "what never was is removed");
	record_open_array(o->record, "entities");
	qw_entity_record(o->record, t, &e);
	record_close(o->record);
	s = o->code == 66 ? qw_committing(o) : NULL;
	if (s)
		qw_session_baseline(s, e.number);
}
