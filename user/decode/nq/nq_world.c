// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_world.c - from the server: entities, their baselines, sounds, particles.
 *
 * Sources: Quake WinQuake/cl_parse.c, sv_main.c; Quakespasm cl_parse.c; darkplaces
 * cl_parse.c; fteqw client/cl_parse.c.
 */
#include "decode/nq/nq_tables.h"
#include "decode/nq/nq_update.h"

void nq_op_update(struct ops *o)
{
	const struct nq_format *f = nq_format_at(o);
	struct nq_update u;

	if (!nq_update_read(&o->rd, f, o->code, &u))
		ops_wrong(o, "update has a flag that this protocol does not");
	/* Servers of these send entities in frames alone. */
	o->m->odd |= nq_has(f, NQ_DP);
	if (!reader_failed(&o->rd))
		nq_update_record(o->record, f, &u);
	nq_walk_of(o)->unbased |= nq_walk_of(o)->game && !nq_walk_of(o)->based;
	if (nq_has(f, NQ_ENHANCED) && u.flags >> 26)
		message_missing(o->m, "update with fields that are not known");
}

void nq_op_clientdata(struct ops *o)
{
	const struct nq_format *f = nq_format_at(o);
	struct nq_own_data own;

	if (!nq_own_read(&o->rd, f, &own))
		ops_wrong(o, "client data has a flag that this protocol does not");
	if (!reader_failed(&o->rd))
		nq_own_record(o->record, f, &own);
	if (nq_has(f, NQ_ENHANCED) && own.flags >> 27)
		ops_unknown(o, "clientdata with a flag that is not known");
}

/* --- baselines --------------------------------------------------------------------- */

static void spot(struct ops *o, int32_t *state)
{
	const struct nq_format *f = nq_format_at(o);
	const struct nq_place *place = &nq_places[f->coord][f->angle];

	delta_read(&o->rd, place->spot, NQ_COUNT(place->spot), 0, state);
	delta_record(o->record, place->spot, NQ_COUNT(place->spot), 0, state);
}

static void plain_baseline(struct ops *o, const struct delta_row *look)
{
	int32_t state[NQ_FIELDS];

	delta_read(&o->rd, look, NQ_COUNT(nq_look), 0, state);
	delta_record(o->record, look, NQ_COUNT(nq_look), 0, state);
	spot(o, state);
}

/* Return the rows of a baseline's model, frame, colour map and skin, form A. */
static const struct delta_row *look_a(struct ops *o)
{
	return nq_has(nq_format_at(o), NQ_WIDE_MODELS) ? nq_look_bjp : nq_look;
}

/* The fields of four bits are unknown, but their length is known. */
static void enhanced_tail(struct ops *o, uint32_t flags, int32_t *state)
{
	delta_read(&o->rd, nq_look_enhanced_tail, NQ_COUNT(nq_look_enhanced_tail), flags,
		   state);
	delta_record(o->record, nq_look_enhanced_tail, NQ_COUNT(nq_look_enhanced_tail),
		     flags, state);
	if (flags & 0xf0)
		message_missing(o->m, "baseline with fields that are not known");
}

/* FitzQuake's: what is wide, or there at all, is said in front. */
static void fitz_baseline(struct ops *o)
{
	uint8_t given = reader_u8(&o->rd);
	uint32_t flags = given | (given & NQ_B_MODEL16 ? 0 : NQ_B_MODEL8) |
			 (given & NQ_B_FRAME16 ? 0 : NQ_B_FRAME8);
	int32_t state[NQ_FIELDS];

	delta_read(&o->rd, nq_look_fitz, NQ_COUNT(nq_look_fitz), flags, state);
	delta_record(o->record, nq_look_fitz, NQ_COUNT(nq_look_fitz), flags, state);
	spot(o, state);
	if (nq_has(nq_format_at(o), NQ_ENHANCED)) {
		enhanced_tail(o, given, state);
		return;
	}
	delta_read(&o->rd, nq_look_fitz_tail, NQ_COUNT(nq_look_fitz_tail), flags, state);
	delta_record(o->record, nq_look_fitz_tail, NQ_COUNT(nq_look_fitz_tail), flags,
		     state);
	if (given > (NQ_B_MODEL16 | NQ_B_FRAME16 | NQ_B_ALPHA | NQ_B_SCALE))
		ops_wrong(o, "baseline has a flag that this protocol does not");
}

void nq_op_spawnstatic(struct ops *o)
{
	plain_baseline(o, look_a(o));
}

void nq_op_spawnbaseline(struct ops *o)
{
	nq_put_entity(o, "number");
	plain_baseline(o, look_a(o));
}

void nq_op_spawnstatic_b(struct ops *o)
{
	fitz_baseline(o);
}

void nq_op_spawnbaseline_b(struct ops *o)
{
	nq_put_entity(o, "number");
	fitz_baseline(o);
}

void nq_op_spawnstatic_c(struct ops *o)
{
	plain_baseline(o, nq_look16);
}

void nq_op_spawnbaseline_c(struct ops *o)
{
	nq_put_entity(o, "number");
	plain_baseline(o, nq_look16);
}

/* --- sounds ------------------------------------------------------------------------ */

#define SND_VOLUME	(1U << 0)
#define SND_ATTENUATION (1U << 1)
#define SND_MORE	(1U << 2) /* FTE */
#define SND_LARGEENTITY (1U << 3)
#define SND_LARGESOUND	(1U << 4)
#define SND_SPEED	(1U << 5) /* DP7, FTE */
#define SND_TIMEOFFSET	(1U << 6) /* FTE */
#define SND_PITCH	(1U << 7)
#define SND_VELOCITY	(1U << 8)

static uint32_t sound_allowed(const struct nq_format *f)
{
	if (f->pext1 || f->pext2)
		return SND_VELOCITY * 2 - 1;
	if (nq_has(f, NQ_DP))
		return SND_VOLUME | SND_ATTENUATION | SND_LARGEENTITY | SND_LARGESOUND |
		       SND_SPEED;
	if (nq_has(f, NQ_FITZ | NQ_QUAKEDP))
		return SND_VOLUME | SND_ATTENUATION | SND_LARGEENTITY | SND_LARGESOUND;
	return SND_VOLUME | SND_ATTENUATION;
}

/* The rarer fields, FTE's and DarkPlaces'. */
static void sound_extras(struct ops *o, uint32_t mask)
{
	if (mask & SND_PITCH)
		nq_put_u8(o, "pitch");
	if (mask & SND_TIMEOFFSET)
		nq_put_i16(o, "timeofs");
	if (mask & SND_VELOCITY) {
		record_open_array(o->record, "velocity");
		for (int i = 0; i < 3; i++)
			record_float(o->record, NULL, (int16_t)reader_le16(&o->rd) / 8.0);
		record_close(o->record);
	}
	if (mask & SND_SPEED)
		record_float(o->record, "speed", reader_le16(&o->rd) / 4000.0);
}

void nq_op_sound(struct ops *o)
{
	const struct nq_format *f = nq_format_at(o);
	uint32_t mask = reader_u8(&o->rd), both;

	if (mask & SND_MORE && sound_allowed(f) & SND_MORE)
		mask += (uint32_t)nq_vlq(&o->rd) << 8;
	if (mask & ~sound_allowed(f))
		ops_wrong(o, "sound has a flag that this protocol does not");
	record_uint(o->record, "volume",
		    mask & SND_VOLUME ? reader_u8(&o->rd) : UINT8_MAX);
	record_float(o->record, "attenuation",
		     mask & SND_ATTENUATION ? reader_u8(&o->rd) / 64.0 : 1.0);
	sound_extras(o, mask);
	if (mask & SND_LARGEENTITY) {
		nq_put_entity(o, "number");
		nq_put_u8(o, "channel");
	} else {
		both = reader_le16(&o->rd);
		record_uint(o->record, "number", both >> 3);
		record_uint(o->record, "channel", both & 7);
	}
	record_uint(o->record, "sound",
		    mask & SND_LARGESOUND || nq_has(f, NQ_WIDE_SOUNDS) ||
				    o->code == 54 /* DP1 to DP3: sound2 */
			    ? reader_le16(&o->rd)
			    : reader_u8(&o->rd));
	nq_put_origin(o, "origin");
}

void nq_op_stopsound(struct ops *o)
{
	uint16_t both = reader_le16(&o->rd);

	record_uint(o->record, "number", both >> 3);
	record_uint(o->record, "channel", both & 7);
}

static void static_sound(struct ops *o, bool wide)
{
	nq_put_origin(o, "origin");
	record_uint(o->record, "sound", wide ? reader_le16(&o->rd) : reader_u8(&o->rd));
	nq_put_u8(o, "volume");
	record_float(o->record, "attenuation", reader_u8(&o->rd) / 64.0);
}

void nq_op_spawnstaticsound(struct ops *o)
{
	static_sound(o, nq_has(nq_format_at(o), NQ_WIDE_SOUNDS));
}

void nq_op_spawnstaticsound2(struct ops *o)
{
	static_sound(o, true);
}

/* --- effects ----------------------------------------------------------------------- */

void nq_op_particle(struct ops *o)
{
	nq_put_origin(o, "origin");
	record_open_array(o->record, "direction");
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, reader_i8(&o->rd) / 16.0);
	record_close(o->record);
	nq_put_u8(o, "count");
	nq_put_u8(o, "color");
}

void nq_op_damage(struct ops *o)
{
	nq_put_u8(o, "armor");
	nq_put_u8(o, "blood");
	nq_put_origin(o, "origin");
}

static void effect(struct ops *o, bool wide)
{
	nq_put_origin(o, "origin");
	record_uint(o->record, "modelindex",
		    wide ? reader_le16(&o->rd) : reader_u8(&o->rd));
	record_uint(o->record, "startframe",
		    wide ? reader_le16(&o->rd) : reader_u8(&o->rd));
	nq_put_u8(o, "framecount");
	nq_put_u8(o, "framerate");
}

void nq_op_effect(struct ops *o)
{
	effect(o, false);
}

void nq_op_effect2(struct ops *o)
{
	effect(o, true);
}

void nq_op_trailparticles(struct ops *o)
{
	nq_put_entity(o, "number");
	nq_put_u16(o, "effect");
	nq_put_origin(o, "start");
	nq_put_origin(o, "end");
}

void nq_op_pointparticles(struct ops *o)
{
	nq_put_u16(o, "effect");
	nq_put_origin(o, "origin");
	nq_put_origin(o, "velocity");
	nq_put_u16(o, "count");
}

void nq_op_pointparticles1(struct ops *o)
{
	nq_put_u16(o, "effect");
	nq_put_origin(o, "origin");
}
