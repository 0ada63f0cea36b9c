// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_update.c - see nq_update.h.
 *
 *	update		u8 opcode, [u8 bits 8..15, [u8 16..23, [u8 24..31]]], u8 or u16
 *			number, the rows
 *	client data	u16 bits, [u8 16..23, [u8 24..31]], the rows
 *	entity of DP5	u8 bits 0..7, [u8, [u8, [u8]]], the rows
 */
#include <endian.h>
#include <string.h>

#include "decode/nq/nq_update.h"
#include "lib/record_trace.h"

#define U_MOREBITS	(1U << 0)
#define U_STEP		(1U << 5)
#define U_FRAME		(1U << 6)
#define U_MODEL		(1U << 10)
#define U_EFFECTS	(1U << 13)
#define U_LONGENTITY	(1U << 14)
#define U_EXTEND1	(1U << 15)
#define U_FLOATORIGIN	(1U << 21) /* Quake Enhanced */
#define U_EXTEND2	(1U << 23)

#define OWN_ONGROUND	(1U << 10)
#define OWN_INWATER	(1U << 11)
#define OWN_WEAPONFRAME (1U << 12)
#define OWN_ARMOR	(1U << 13)
#define OWN_WEAPON	(1U << 14)

#define E5_MORE1	(1U << 7)
#define E5_MORE2	(1U << 15)
#define E5_MORE3	(1U << 23)

static bool extends(const struct nq_format *f)
{
	return nq_has(f, NQ_FITZ | NQ_QUAKEDP | NQ_DP);
}

static const struct delta_row *model_row(const struct nq_format *f)
{
	return nq_has(f, NQ_WIDE_MODELS) ? nq_model_bjp : nq_model;
}

static const struct nq_place *place_of(const struct nq_format *f, uint32_t flags)
{
	bool floats = flags & U_FLOATORIGIN && nq_has(f, NQ_ENHANCED);

	return &nq_places[floats ? NQ_COORD_F32 : f->coord][f->angle];
}

bool nq_update_read(struct reader *rd, const struct nq_format *f, uint8_t opcode,
		    struct nq_update *ret)
{
	const struct nq_rows_of *tail = &f->dialect->update;
	uint32_t flags = opcode;

	if (flags & U_MOREBITS)
		flags |= (uint32_t)reader_u8(rd) << 8;
	if (flags & U_EXTEND1 && extends(f))
		flags |= (uint32_t)reader_u8(rd) << 16;
	if (flags & U_EXTEND2)
		flags |= (uint32_t)reader_u8(rd) << 24;
	ret->flags = flags;
	ret->number = flags & U_LONGENTITY ? reader_le16(rd) : reader_u8(rd);
	delta_read(rd, model_row(f), 1, flags, ret->state);
	delta_read(rd, place_of(f, flags)->update, NQ_COUNT(place_of(f, 0)->update),
		   flags, ret->state);
	delta_read(rd, tail->rows, tail->count, flags, ret->state);
	if (flags & U_EXTEND1 && nq_has(f, NQ_NEHAHRA)) {
		ret->transparency[0] = reader_f32(rd);
		ret->transparency[1] = reader_f32(rd);
		ret->transparency[2] =
			ret->transparency[0] == 2.0F ? reader_f32(rd) : 0.0F;
		return true;
	}
	return !(flags & U_EXTEND1) || extends(f);
}

/* Puts a high byte to its low one where both came, and takes it from the flags. */
static void join(struct nq_update *u, uint32_t low_bit, int low, uint32_t high_bit,
		 int high)
{
	if (!(u->flags & low_bit) || !(u->flags & high_bit))
		return;
	u->state[low] |= u->state[high] << 8;
	u->flags &= ~high_bit;
}

void nq_update_record(struct record *r, const struct nq_format *f,
		      const struct nq_update *u)
{
	bool fitz = nq_has(f, NQ_FITZ), dp = nq_has(f, NQ_QUAKEDP | NQ_DP);
	struct nq_update joined;
	bool was;

	if (!RECORD_WANTED(r))
		return;
	joined = *u;
	if (fitz || dp) {
		join(&joined, U_FRAME, NQ_F_FRAME, 1U << (fitz ? 17 : 26),
		     NQ_F_FRAME_HIGH);
		join(&joined, U_MODEL, NQ_F_MODEL, 1U << (fitz ? 18 : 27),
		     NQ_F_MODEL_HIGH);
	}
	if (dp)
		join(&joined, U_EFFECTS, NQ_F_EFFECTS, 1U << 19, NQ_F_EFFECTS_HIGH);
	was = record_hold(r, true);
	delta_record_head(r);
	record_uint(r, "number", u->number);
	if (u->flags & U_STEP)
		record_bool(r, "step", true);
	delta_record(r, model_row(f), 1, joined.flags, joined.state);
	delta_record(r, place_of(f, u->flags)->update, NQ_COUNT(place_of(f, 0)->update),
		     joined.flags, joined.state);
	delta_record(r, f->dialect->update.rows, f->dialect->update.count, joined.flags,
		     joined.state);
	record_hold(r, was);
	if (u->flags & U_EXTEND1 && nq_has(f, NQ_NEHAHRA)) {
		record_float(r, "transparency", (double)u->transparency[0]);
		record_float(r, "alpha", (double)u->transparency[1]);
		if (u->transparency[0] == 2.0F)
			record_float(r, "fullbright", (double)u->transparency[2]);
	}
}

/* --- writing ----------------------------------------------------------------------- */

struct out {
	uint8_t *to;
	size_t size, used;
	bool full;
};

static void out_bytes(struct out *out, const void *bytes, size_t n)
{
	if (out->full || n > out->size - out->used) {
		out->full = true;
		return;
	}
	if (n)
		memcpy(out->to + out->used, bytes, n);
	out->used += n;
}

static void out_number(struct out *out, uint32_t value, size_t n)
{
	value = htole32(value);
	out_bytes(out, &value, n);
}

static void out_rows(struct out *out, const struct delta_row *rows, size_t count,
		     uint64_t flags, const int32_t *state)
{
	uint8_t bytes[5 * 64];

	out_bytes(out, bytes,
		  delta_write(bytes, sizeof(bytes), rows, count, flags, state));
}

static size_t out_end(const struct out *out)
{
	return out->full ? 0 : out->used;
}

size_t nq_update_write(uint8_t *to, size_t size, const struct nq_format *f,
		       const struct nq_update *u)
{
	struct out out = { .to = to, .size = size };
	bool trans = u->flags & U_EXTEND1 && nq_has(f, NQ_NEHAHRA);

	out_number(&out, u->flags, 1);
	if (u->flags & U_MOREBITS)
		out_number(&out, u->flags >> 8, 1);
	if (u->flags & U_EXTEND1 && extends(f))
		out_number(&out, u->flags >> 16, 1);
	if (u->flags & U_EXTEND2)
		out_number(&out, u->flags >> 24, 1);
	out_number(&out, u->number, u->flags & U_LONGENTITY ? 2 : 1);
	out_rows(&out, model_row(f), 1, u->flags, u->state);
	out_rows(&out, place_of(f, u->flags)->update, NQ_COUNT(place_of(f, 0)->update),
		 u->flags, u->state);
	out_rows(&out, f->dialect->update.rows, f->dialect->update.count, u->flags,
		 u->state);
	for (int i = 0; trans && i < (u->transparency[0] == 2.0F ? 3 : 2); i++) {
		uint32_t raw;

		memcpy(&raw, &u->transparency[i], sizeof(raw));
		out_number(&out, raw, 4);
	}
	return out_end(&out);
}

/* --- a player's own data ----------------------------------------------------------- */

static uint64_t wants_of(const struct nq_format *f, uint32_t flags)
{
	return nq_has(f, NQ_ENHANCED) ? nq_own_wants(flags) : flags;
}

bool nq_own_read(struct reader *rd, const struct nq_format *f, struct nq_own_data *ret)
{
	const struct nq_rows_of *rows = &f->dialect->clientdata;

	ret->flags = reader_le16(rd);
	if (ret->flags & U_EXTEND1 && extends(f))
		ret->flags |= (uint32_t)reader_u8(rd) << 16;
	if (ret->flags & U_EXTEND2)
		ret->flags |= (uint32_t)reader_u8(rd) << 24;
	delta_read(rd, rows->rows, rows->count, wants_of(f, ret->flags), ret->state);
	return !(ret->flags & U_EXTEND1) || extends(f);
}

/* FitzQuake's high bytes: bit, whose, and the bit that brings the low one (0: always). */
static const struct {
	uint32_t high, low;
	uint8_t field;
} own_high[] = {
	{ 1U << 16, OWN_WEAPON, NQ_O_WEAPON },
	{ 1U << 17, OWN_ARMOR, NQ_O_ARMOR },
	{ 1U << 18, 0, NQ_O_AMMO },
	{ 1U << 19, 0, NQ_O_SHELLS },
	{ 1U << 20, 0, NQ_O_NAILS },
	{ 1U << 21, 0, NQ_O_ROCKETS },
	{ 1U << 22, 0, NQ_O_CELLS },
	{ 1U << 24, OWN_WEAPONFRAME, NQ_O_WEAPONFRAME },
};

static void own_join(struct nq_own_data *own)
{
	for (size_t i = 0; i < NQ_COUNT(own_high); i++) {
		int32_t *field = &own->state[own_high[i].field];

		if (!(own->flags & own_high[i].high))
			continue;
		if (own_high[i].low && !(own->flags & own_high[i].low))
			*field = 0;
		*field |= own->state[NQ_O_HIGH + i] << 8;
		own->flags = (own->flags & ~own_high[i].high) | own_high[i].low;
	}
}

void nq_own_record(struct record *r, const struct nq_format *f,
		   const struct nq_own_data *own)
{
	struct nq_own_data joined;
	bool was;

	if (!RECORD_WANTED(r))
		return;
	joined = *own;
	if (nq_has(f, NQ_FITZ))
		own_join(&joined);
	was = record_hold(r, true);
	delta_record_head(r);
	record_bool(r, "onground", own->flags & OWN_ONGROUND);
	record_bool(r, "inwater", own->flags & OWN_INWATER);
	delta_record(r, f->dialect->clientdata.rows, f->dialect->clientdata.count,
		     wants_of(f, joined.flags), joined.state);
	record_hold(r, was);
}

size_t nq_own_write(uint8_t *to, size_t size, const struct nq_format *f,
		    const struct nq_own_data *own)
{
	struct out out = { .to = to, .size = size };

	out_number(&out, own->flags, 2);
	if (own->flags & U_EXTEND1 && extends(f))
		out_number(&out, own->flags >> 16, 1);
	if (own->flags & U_EXTEND2)
		out_number(&out, own->flags >> 24, 1);
	out_rows(&out, f->dialect->clientdata.rows, f->dialect->clientdata.count,
		 wants_of(f, own->flags), own->state);
	return out_end(&out);
}

/* --- DarkPlaces' frames ------------------------------------------------------------ */

/*
 * u8 type: 0..3: type + 1 frames i16, as many ages u16, and weights u8 when there are
 * several; 4: u16 model, u8 bones, 7 i16 each.
 */
static bool animation_read(struct reader *rd, struct span *ret)
{
	const uint8_t *from = rd->pos;
	uint8_t type = reader_u8(rd);

	if (type > 4)
		return false;
	if (type == 4) {
		reader_le16(rd);
		reader_take(rd, reader_u8(rd) * 14U);
	} else {
		reader_take(rd, (type + 1U) * (type ? 5 : 4));
	}
	ret->bytes = from;
	ret->n = (size_t)(rd->pos - from);
	return true;
}

bool nq_e5_read(struct reader *rd, struct nq_e5 *ret)
{
	uint32_t bits = reader_u8(rd), wants;

	if (bits & E5_MORE1)
		bits |= (uint32_t)reader_u8(rd) << 8;
	if (bits & E5_MORE2)
		bits |= (uint32_t)reader_u8(rd) << 16;
	if (bits & E5_MORE3)
		bits |= (uint32_t)reader_u8(rd) << 24;
	wants = nq_e5_wants(bits);
	ret->bits = bits;
	if (bits & NQ_E5_ILLEGAL)
		return false;
	delta_read(rd, nq_e5, NQ_COUNT(nq_e5), wants, ret->state);
	if (bits & NQ_E5_ANIMATION && !animation_read(rd, &ret->animation))
		return false;
	delta_read(rd, nq_e5_tail, NQ_COUNT(nq_e5_tail), wants, ret->state);
	return true;
}

void nq_e5_record(struct record *r, const struct nq_e5 *e)
{
	uint32_t wants;
	bool was;

	if (!RECORD_WANTED(r))
		return;
	wants = nq_e5_wants(e->bits);
	was = record_hold(r, true);
	if (e->bits & NQ_E5_RESET) {
		delta_record_head(r);
		record_bool(r, "reset", true);
	}
	delta_record(r, nq_e5, NQ_COUNT(nq_e5), wants, e->state);
	if (e->bits & NQ_E5_ANIMATION) {
		record_stands(r, e->animation.bytes, e->animation.n);
		record_hex(r, "animation", e->animation.bytes, e->animation.n);
	}
	delta_record(r, nq_e5_tail, NQ_COUNT(nq_e5_tail), wants, e->state);
	record_hold(r, was);
}

size_t nq_e5_write(uint8_t *to, size_t size, const struct nq_e5 *e)
{
	struct out out = { .to = to, .size = size };
	uint32_t wants = nq_e5_wants(e->bits);

	out_number(&out, e->bits, 1);
	if (e->bits & E5_MORE1)
		out_number(&out, e->bits >> 8, 1);
	if (e->bits & E5_MORE2)
		out_number(&out, e->bits >> 16, 1);
	if (e->bits & E5_MORE3)
		out_number(&out, e->bits >> 24, 1);
	out_rows(&out, nq_e5, NQ_COUNT(nq_e5), wants, e->state);
	if (e->bits & NQ_E5_ANIMATION)
		out_bytes(&out, e->animation.bytes, e->animation.n);
	out_rows(&out, nq_e5_tail, NQ_COUNT(nq_e5_tail), wants, e->state);
	return out_end(&out);
}
