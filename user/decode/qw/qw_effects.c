// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_effects.c - what is heard and seen once: sounds, particles, temporary entities.
 *
 * Sources: Quake QW/client/cl_parse.c, cl_tent.c; fteqw engine/client/cl_tent.c.
 */
#include "decode/qw/qw_message.h"

#define SOUND_ATTENUATION (1U << 14)
#define SOUND_VOLUME	  (1U << 15)
#define VOLUME_USUAL	  255
#define ATTENUATION_UNIT  64.0

static void attenuation(struct ops *o)
{
	record_float(o->record, "attenuation", reader_u8(&o->rd) / ATTENUATION_UNIT);
}

void qw_sound(struct ops *o)
{
	unsigned int word = reader_le16(&o->rd);

	record_uint(o->record, "channel", word & 7);
	record_uint(o->record, "number", word >> 3 & 1023);
	if (word & SOUND_VOLUME)
		qw_u8(o, "volume");
	else
		record_uint(o->record, "volume", VOLUME_USUAL);
	if (word & SOUND_ATTENUATION)
		attenuation(o);
	else
		record_float(o->record, "attenuation", 1);
	qw_u8(o, "sound");
	qw_vec(o, "origin");
}

/* As in NetQuake. */
void qw_soundextended(struct ops *o)
{
	uint64_t mask = reader_u8(&o->rd);

	if (mask & 4)
		mask |= qw_vlq(o) << 8;
	record_uint(o->record, "bits", mask);
	if (mask & 1)
		qw_u8(o, "volume");
	else
		record_uint(o->record, "volume", VOLUME_USUAL);
	if (mask & 2)
		attenuation(o);
	else
		record_float(o->record, "attenuation", 1);
	if (mask & 0x80)
		qw_u8(o, "pitch");
	if (mask & 0x40)
		qw_i16(o, "timeofs");
	if (mask & 0x100) {
		record_open_array(o->record, "velocity");
		for (int i = 0; i < 3; i++)
			record_float(o->record, NULL, (int16_t)reader_le16(&o->rd) / 8.0);
		record_close(o->record);
	}
	if (mask & 0x20)
		record_float(o->record, "speed", reader_le16(&o->rd) / 4000.0);
	if (mask & 8) {
		qw_number(o, "number");
		qw_u8(o, "channel");
	} else {
		unsigned int word = reader_le16(&o->rd);

		record_uint(o->record, "number", word >> 3);
		record_uint(o->record, "channel", word & 7);
	}
	if (mask & 0x10)
		qw_u16(o, "sound");
	else
		qw_u8(o, "sound");
	qw_vec(o, "origin");
}

void qw_stopsound(struct ops *o)
{
	unsigned int word = reader_le16(&o->rd);

	record_uint(o->record, "number", word >> 3);
	record_uint(o->record, "channel", word & 7);
}

void qw_staticsound(struct ops *o)
{
	qw_vec(o, "origin");
	qw_u8(o, "sound");
	qw_u8(o, "volume");
	attenuation(o);
}

void qw_staticsound2(struct ops *o)
{
	unsigned int flags = qw_u8(o, "flags");

	if (flags & ~1U)
		ops_wrong(o, "no such flag of a static sound");
	qw_vec(o, "origin");
	if (flags & 1)
		qw_u16(o, "sound");
	else
		qw_u8(o, "sound");
	qw_u8(o, "volume");
	attenuation(o);
}

/* As in NetQuake: directions in sixteenths. */
void qw_particle(struct ops *o)
{
	qw_vec(o, "origin");
	record_open_array(o->record, "direction");
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, reader_i8(&o->rd) / 16.0);
	record_close(o->record);
	qw_u8(o, "count");
	qw_u8(o, "color");
}

/* --- temporary entities ------------------------------------------------------------ */

/* The fields of a type, one letter each, in order. */
static const char *const fields[256] = {
	/* p origin, c count, e entity, s start, t end, b two bytes of colour,
	 * i three signed bytes, u three bytes, w u16, x coordinate, y byte */
	[0] = "p",	  [1] = "p",	  [2] = "cp",	  [3] = "p",	 [4] = "p",
	[5] = "est",	  [6] = "est",	  [7] = "p",	  [8] = "p",	 [9] = "est",
	[10] = "p",	  [11] = "p",	  [12] = "cp",	  [13] = "p",	 [14] = "p",
	[15] = "p",	  [17] = "st",	  [18] = "est",	  [19] = "pb",	 [20] = "p",
	[21] = "p",	  [50] = "pic",	  [51] = "pic",	  [52] = "stxw", [53] = "pu",
	[54] = "stvwyyx", [55] = "stvwy", [56] = "stvwy", [57] = "p",	 [58] = "p",
	[59] = "p",	  [70] = "p",	  [72] = "p",	  [73] = "pyyu", [74] = "pvy",
	[75] = "p",	  [76] = "stv",	  [77] = "pvy",	  [78] = "p",	 [79] = "pvy",
};

static void bytes3(struct ops *o, const char *key, bool is_signed)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_int(o->record, NULL,
			   is_signed ? reader_i8(&o->rd) : reader_u8(&o->rd));
	record_close(o->record);
}

static void field(struct ops *o, char letter, unsigned int *values)
{
	static const char *const keys[] = { "value", "value2", "value3" };

	switch (letter) {
	case 'p':
		qw_vec(o, "origin");
		break;
	case 'c':
		qw_u8(o, "count");
		break;
	case 'e':
		qw_number(o, "number");
		break;
	case 's':
		qw_vec(o, "start");
		break;
	case 't':
		qw_vec(o, "end");
		break;
	case 'v':
		qw_vec(o, "velocity");
		break;
	case 'b':
		qw_u8(o, "colorstart");
		qw_u8(o, "colorlength");
		break;
	case 'i':
		bytes3(o, "velocity", true);
		break;
	case 'u':
		bytes3(o, "color", false);
		break;
	case 'w':
		qw_u16(o, "count");
		break;
	case 'x':
		qw_coord(o, "speed");
		break;
	default:
		qw_u8(o, keys[(*values)++ % 3]);
		break;
	}
}

void qw_temp_entity(struct ops *o)
{
	unsigned int type = qw_u8(o, "type"), values = 0;
	const char *letters = fields[type];

	if (reader_failed(&o->rd))
		return;
	if (!letters) {
		ops_wrong(o, "no such temporary entity");
		return;
	}
	while (*letters)
		field(o, *letters++, &values);
}

#define STYLE_REGISTER 255
enum style {
	STYLE_COUNT = 1,
	STYLE_DIRECTION = 2,
	STYLE_STAINS = 4,
	STYLE_LIGHT = 8,
	STYLE_LIGHT_FADES = 16,
	STYLE_VELOCITY = 32,
	STYLE_ENTITY = 64,
	STYLE_BEAM = 128,
};

static void style_register(struct ops *o)
{
	unsigned int index = qw_u8(o, "index"), style = qw_u8(o, "style");
	struct qw_session *s;

	qw_text(o, "name");
	if (style & STYLE_STAINS) {
		bytes3(o, "stain", true);
		qw_u8(o, "radius");
	}
	if (style & STYLE_LIGHT) {
		bytes3(o, "color", false);
		qw_u8(o, "light_radius");
		qw_u8(o, "time");
		if (style & STYLE_LIGHT_FADES)
			bytes3(o, "fade", false);
	}
	if (index >= QW_STYLES) {
		ops_wrong(o, "no such custom temporary entity");
		return;
	}
	s = qw_committing(o);
	if (!s || reader_failed(&o->rd) || !qw_session_game(s))
		return;
	s->game->style[index] = (uint8_t)style;
	s->game->style_known[index] = true;
}

void qw_customtempent(struct ops *o)
{
	unsigned int type = qw_u8(o, "type"), style;
	const struct qw_session *s = qw_parse_of(o)->session;

	if (type == STYLE_REGISTER) {
		style_register(o);
		return;
	}
	if (!s || !s->game || !s->game->style_known[type]) {
		ops_unknown(o, "custom temporary entity that was not registered");
		return;
	}
	style = s->game->style[type];
	if (style & STYLE_ENTITY && qw_i16(o, "id") < 0)
		return;
	qw_vec(o, "origin");
	if (style & STYLE_BEAM)
		qw_vec(o, "end");
	if (style & STYLE_COUNT)
		qw_u8(o, "count");
	if (style & STYLE_VELOCITY)
		qw_vec(o, "direction");
	else if (style & STYLE_DIRECTION)
		qw_u8(o, "direction_index");
}
