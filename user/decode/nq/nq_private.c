// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_private.c - see nq_private.h.
 *
 * Source: Nexuiz 2.5.2, data/qcsrc/client; Xonotic's from one recording.
 */
#include <string.h>

#include "decode/nq/nq_private.h"

#define LABELS	    12 /* ten of players, two of teams */
#define SCORES	    10
#define TEAM_SCORES 2
#define WEAPONS	    24
#define CURVE_END   0x8000U

typedef void entity_parse(struct ops *o);

static uint8_t put_flags(struct ops *o)
{
	uint8_t flags = reader_u8(&o->rd);

	record_uint(o->record, "flags", flags);
	return flags;
}

static void put_shorts(struct ops *o, const char *key)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		nq_put_i16(o, NULL);
	record_close(o->record);
}

static void put_angle(struct ops *o, const char *key)
{
	record_float(o->record, key, nq_angle(&o->rd, nq_format_at(o)));
}

static void player_position(struct ops *o)
{
	nq_put_u8(o, "slot");
	put_shorts(o, "origin");
	nq_put_u8(o, "yaw");
}

static void score_labels(struct ops *o)
{
	nq_put_u8(o, "gametype");
	record_open_array(o->record, "labels");
	for (int i = 0; i < LABELS; i++) {
		record_open_object(o->record, NULL);
		nq_put_text(o, "text");
		nq_put_u8(o, "flags");
		record_close(o->record);
	}
	record_close(o->record);
}

/* The high 16 bits, signed, before the low byte; or i8. */
static void score(struct ops *o, bool is_long)
{
	int value;

	if (is_long) {
		value = (int16_t)reader_le16(&o->rd) * 256;
		value += reader_u8(&o->rd);
	} else {
		value = reader_u8(&o->rd);
		value -= value > INT8_MAX ? 256 : 0;
	}
	record_int(o->record, NULL, value);
}

static void score_values(struct ops *o, unsigned int sent, unsigned int longs,
			 unsigned int count)
{
	record_uint(o->record, "sent", sent);
	record_open_array(o->record, "scores");
	for (unsigned int i = 0; i < count; i++)
		if (sent >> i & 1)
			score(o, longs >> i & 1);
	record_close(o->record);
}

static void scores(struct ops *o)
{
	unsigned int sent, longs;

	nq_put_u8(o, "slot");
	sent = reader_le16(&o->rd);
	longs = reader_le16(&o->rd);
	score_values(o, sent, longs, SCORES);
}

static void team_scores(struct ops *o)
{
	unsigned int sent, longs;

	nq_put_u8(o, "team");
	sent = reader_u8(&o->rd);
	longs = reader_u8(&o->rd);
	score_values(o, sent, longs, TEAM_SCORES);
}

static void point_particles_of_model(struct ops *o, uint8_t flags)
{
	uint16_t model = reader_le16(&o->rd);

	record_uint(o->record, "modelindex", model);
	if (flags & 0x80) {
		if (model)
			nq_put_origin(o, "mins");
		nq_put_origin(o, "maxs");
	}
	nq_put_u16(o, "effect");
	if (flags & 0x20) {
		nq_put_u16(o, "velocity");
		nq_put_u16(o, "waterlevel");
	}
	if (flags & 0x40) {
		nq_put_u16(o, "count");
		nq_put_u8(o, "glow");
	}
	if (nq_put_text(o, "sound").n) {
		nq_put_u8(o, "volume");
		nq_put_u8(o, "attenuation");
	}
	if (nq_put_text(o, "script").n)
		nq_put_u8(o, "movedir");
}

static void point_particles(struct ops *o)
{
	uint8_t flags = put_flags(o);

	if (flags & 2)
		nq_put_coord(o, "density");
	if (flags & 4)
		nq_put_origin(o, "origin");
	if (flags & 1)
		point_particles_of_model(o, flags);
}

static void vote(struct ops *o)
{
	uint8_t flags = put_flags(o);
	size_t n = (nq_walk_of(o)->maxclients + 7U) / 8;
	const uint8_t *bytes;

	if (flags & 0x80)
		nq_put_text(o, "text");
	if (!(flags & 1))
		return;
	bytes = reader_take(&o->rd, n);
	if (bytes)
		record_hex(o->record, "ready", bytes, n);
}

static void projectile(struct ops *o)
{
	uint8_t flags = put_flags(o);

	if (flags & 1) {
		nq_put_origin(o, "origin");
		if (flags & 0x80) {
			nq_put_origin(o, "velocity");
			nq_put_coord(o, "gravity");
		}
	}
	if (flags & 2)
		nq_put_u8(o, "projectile");
}

/* Places are a quarter as exact as they are apart from the middle of that. */
static void gibs(struct ops *o)
{
	nq_put_u8(o, "gib");
	nq_put_u8(o, "amount");
	record_open_array(o->record, "origin");
	for (int i = 0; i < 3; i++)
		record_int(o->record, NULL, (int16_t)reader_le16(&o->rd) * 4 + 2);
	record_close(o->record);
	nq_put_u16(o, "velocity");
}

static void damage(struct ops *o)
{
	nq_put_u16(o, "cause");
	nq_put_origin(o, "origin");
	nq_put_u8(o, "damage");
	nq_put_u8(o, "radius");
	nq_put_u8(o, "edge");
	nq_put_u16(o, "force");
}

static void casing(struct ops *o)
{
	nq_put_u8(o, "state");
	nq_put_origin(o, "origin");
	nq_put_u16(o, "velocity");
	record_open_array(o->record, "angles");
	for (int i = 0; i < 3; i++)
		nq_put_u8(o, NULL);
	record_close(o->record);
}

static void game_init(struct ops *o)
{
	put_flags(o);
	record_open_array(o->record, "impulses");
	for (int i = 0; i < WEAPONS; i++)
		nq_put_u8(o, NULL);
	record_close(o->record);
	nq_put_origin(o, "origin");
	nq_put_text(o, "fog");
	nq_put_u8(o, "armor");
}

static void spectator(struct ops *o)
{
	uint8_t flags = put_flags(o);

	if (flags & 2)
		nq_put_u8(o, "slot");
	if (flags & 8) {
		put_angle(o, "pitch");
		put_angle(o, "yaw");
	}
}

static void seed(struct ops *o)
{
	nq_put_u16(o, "seed");
}

/* --- Xonotic 0.5 ------------------------------------------------------------------- */

static void xonotic_position(struct ops *o)
{
	uint8_t flags = put_flags(o);

	if (flags & 1)
		nq_put_u8(o, "slot");
	if (flags & 2)
		put_shorts(o, "origin");
	if (flags & 4)
		nq_put_u8(o, "yaw");
	if (flags & 8)
		nq_put_u8(o, "health");
	if (flags & 16)
		nq_put_u8(o, "armor");
}

static void xonotic_timer(struct ops *o)
{
	uint8_t flags = put_flags(o);

	if (flags & 1) {
		nq_put_u8(o, "first");
		nq_put_u8(o, "second");
	}
	if (flags & 2)
		nq_put_origin(o, "origin");
}

/*
 * The meaning of the four bytes of a whole one is open; so is its end, if they say more.
 */
static void xonotic_player(struct ops *o)
{
	uint16_t flags = reader_le16(&o->rd);
	uint8_t low;

	record_uint(o->record, "flags", flags);
	if (flags & 0x8000)
		nq_put_u8(o, "frame");
	if (flags & 0x800)
		nq_put_u16(o, "modelindex");
	if (flags & 0x400)
		nq_put_origin(o, "origin");
	if (flags & 0x100)
		put_angle(o, "pitch");
	if (flags & 0x200)
		put_angle(o, "yaw");
	if (flags & 0x100)
		put_angle(o, "roll");
	if (flags & 1)
		nq_put_u16(o, "colormap");
	if (flags & 2) {
		low = reader_u8(&o->rd);
		record_uint(o->record, "effects", low | reader_le16(&o->rd) << 8);
	}
	if (flags == 0xffff) {
		const uint8_t *bytes = reader_take(&o->rd, 4);

		if (!bytes || bytes[3]) {
			message_missing(o->m, "");
			return;
		}
		record_hex(o->record, "more", bytes, 4);
	}
	if (flags & 0x4000)
		nq_put_u8(o, "last");
}

/* --- the tables -------------------------------------------------------------------- */

static const struct entity {
	const char *name;
	entity_parse *nexuiz, *xonotic;
} kinds[] = {
	[2] = { "entcs", player_position, xonotic_position },
	[3] = { "scores_info", score_labels, score_labels },
	[4] = { "scores", scores, scores },
	[5] = { "teamscores", team_scores, NULL },
	[6] = { "pointparticles", point_particles, NULL },
	[9] = { "nagger", vote, NULL },
	[12] = { "projectile", projectile, NULL },
	[13] = { "gibsplash", gibs, gibs },
	[14] = { "damageinfo", damage, NULL },
	[15] = { "casing", casing, NULL },
	[16] = { "init", game_init, NULL },
	[18] = { "clientdata", spectator, spectator },
	[19] = { "randomseed", seed, seed },
	[23] = { "type23", NULL, xonotic_timer },
	[33] = { "csmodel", NULL, xonotic_player },
};

static entity_parse *parse_of(const struct entity *kind, uint8_t code)
{
	return code == NQ_CODE_NEXUIZ	 ? kind->nexuiz
	       : code == NQ_CODE_XONOTIC ? kind->xonotic
					 : NULL;
}

bool nq_private_entity(struct ops *o, uint8_t code)
{
	uint8_t type = reader_u8(&o->rd);
	entity_parse *parse = NULL;

	if (type < sizeof(kinds) / sizeof(*kinds))
		parse = parse_of(&kinds[type], code);
	if (!parse || reader_failed(&o->rd))
		return false;
	record_string(o->record, "type", kinds[type].name, strlen(kinds[type].name));
	parse(o);
	return true;
}

/* Pieces of a curve, until the speed's highest bit says that it was the last. */
static void curve(struct ops *o)
{
	uint16_t speed;

	nq_put_u16(o, "effect");
	nq_put_origin(o, "start");
	record_open_array(o->record, "pieces");
	do {
		record_open_object(o->record, NULL);
		nq_put_origin(o, "end");
		nq_put_coord(o, "thickness");
		speed = reader_le16(&o->rd);
		record_uint(o->record, "speed", speed & ~CURVE_END);
		record_close(o->record);
	} while (!(speed & CURVE_END) && !reader_failed(&o->rd));
	record_close(o->record);
}

static void ping(struct ops *o)
{
	nq_put_u8(o, "slot");
	nq_put_u16(o, "ping");
	nq_put_u8(o, "loss");
	nq_put_u8(o, "move_loss");
}

static void vote_options(struct ops *o)
{
	uint8_t one = reader_u8(&o->rd);

	record_uint(o->record, "one", one);
	record_open_array(o->record, "options");
	for (int i = 0; i < (one ? 1 : 3); i++)
		nq_put_u16(o, NULL);
	record_close(o->record);
}

static bool nexuiz_effect(struct ops *o, uint8_t type)
{
	switch (type) {
	case 102:
	case 106:
	case 109:
		return true;
	case 103:
		curve(o);
		return true;
	case 104:
		nq_put_origin(o, "start");
		nq_put_origin(o, "end");
		return true;
	case 107:
		ping(o);
		return true;
	case 108:
		vote_options(o);
		return true;
	case 110:
		nq_put_text(o, "text");
		return true;
	default:
		return false;
	}
}

static bool xonotic_effect(struct ops *o, uint8_t type)
{
	switch (type) {
	case 107:
		ping(o);
		return true;
	case 112:
		for (int i = 0; i < 3; i++)
			nq_put_text(o, i == 0 ? "first" : i == 1 ? "second" : "third");
		nq_put_u16(o, "value");
		nq_put_u8(o, "last");
		return true;
	default:
		return false;
	}
}

bool nq_private_effect(struct ops *o, uint8_t code, uint8_t type)
{
	return code == NQ_CODE_NEXUIZ	 ? nexuiz_effect(o, type)
	       : code == NQ_CODE_XONOTIC ? xonotic_effect(o, type)
					 : false;
}
