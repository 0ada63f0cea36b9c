// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_entity.c - an entity of a packet, of a baseline, of a multi-view recording.
 *
 *	b0 [b1 [b2 [b3 [b4]]]]	each there if bit 7 of the one before is set
 *	number			u16 if bit 8 is set, else u8
 *	fields			in the order of the rows below
 *
 * Two bits that name one field at two widths mean four bytes together. Such pairs, and
 * the widths that a dialect gives a field, are turned into row flags of their own, above
 * the bits of the wire.
 *
 * Sources: Quake-2 client/cl_ents.c, qcommon/common.c; q2pro src/common/msg.c.
 */
#include "decode/q2/q2_entity.h"

#define BIT(n)	   (1ULL << (n))
#define MOREBITS4  BIT(31)
#define NUMBER16   BIT(8)
#define FRAME8	   BIT(4)
#define FRAME16	   BIT(17)
#define OLDORIGIN  BIT(24)
#define SOUND	   BIT(26)
#define EVENT	   BIT(5)
#define SOLID	   BIT(27)
#define ANGLE16	   BIT(13)
#define MODEL16	   BIT(28)
#define ALPHA	   BIT(30)
#define SCALE	   BIT(32)
#define ANGLES	   (BIT(10) | BIT(2) | BIT(3))
#define EXTENDED   (BIT(28) | BIT(29) | BIT(30) | BIT(32) | BIT(33))
#define ANY_FIELDS (BIT(34) - 1)

/* Row flags that are no bits of the wire. */
#define WIDE(n)	      BIT(40 + (n))
#define SKIN32	      WIDE(0)
#define EFFECTS32     WIDE(1)
#define RENDERFX32    WIDE(2)
#define MOREFX32      WIDE(3)
#define MODEL_WIDE(n) WIDE(4 + (n))
#define ORIGIN_23(n)  WIDE(8 + (n))
#define ANGLE_WIDE(n) WIDE(11 + (n))
#define OLDORIGIN_23  WIDE(14)
#define SOUND_WIDE    WIDE(15)
#define SOUND_VOLUME  WIDE(16)
#define SOUND_FADES   WIDE(17)
#define SOLID_WIDE    WIDE(18)

#define PLACE	      0.125
#define ANGLE8	      (360.0 / 256)
#define TURN	      (360.0 / 65536)

static const struct delta_row rows[] = {
	{ "modelindex", BIT(11), Q2_MODELINDEX, DELTA_U8, 0, 0 },
	{ "modelindex", MODEL_WIDE(0), Q2_MODELINDEX, DELTA_U16, 0, 0 },
	{ "modelindex2", BIT(20), Q2_MODELINDEX + 1, DELTA_U8, 0, 0 },
	{ "modelindex2", MODEL_WIDE(1), Q2_MODELINDEX + 1, DELTA_U16, 0, 0 },
	{ "modelindex3", BIT(21), Q2_MODELINDEX + 2, DELTA_U8, 0, 0 },
	{ "modelindex3", MODEL_WIDE(2), Q2_MODELINDEX + 2, DELTA_U16, 0, 0 },
	{ "modelindex4", BIT(22), Q2_MODELINDEX + 3, DELTA_U8, 0, 0 },
	{ "modelindex4", MODEL_WIDE(3), Q2_MODELINDEX + 3, DELTA_U16, 0, 0 },
	{ "frame", FRAME8, Q2_FRAME, DELTA_U8, 0, 0 },
	{ "frame", FRAME16, Q2_FRAME, DELTA_U16, 0, 0 },
	{ "skinnum", BIT(16), Q2_SKINNUM, DELTA_U8, 0, 0 },
	{ "skinnum", BIT(25), Q2_SKINNUM, DELTA_U16, 0, 0 },
	{ "skinnum", SKIN32, Q2_SKINNUM, DELTA_U32, 0, 0 },
	{ "effects", BIT(14), Q2_EFFECTS, DELTA_U8, 0, 0 },
	{ "effects", BIT(19), Q2_EFFECTS, DELTA_U16, 0, 0 },
	{ "effects", EFFECTS32, Q2_EFFECTS, DELTA_U32, 0, 0 },
	{ "renderfx", BIT(12), Q2_RENDERFX, DELTA_U8, 0, 0 },
	{ "renderfx", BIT(18), Q2_RENDERFX, DELTA_U16, 0, 0 },
	{ "renderfx", RENDERFX32, Q2_RENDERFX, DELTA_U32, 0, 0 },
	{ "origin", BIT(0), Q2_ORIGIN, DELTA_I16, 1, PLACE },
	{ "origin", ORIGIN_23(0), Q2_ORIGIN, DELTA_I23, 1, PLACE },
	{ "origin", BIT(1), Q2_ORIGIN + 1, DELTA_I16, 2, PLACE },
	{ "origin", ORIGIN_23(1), Q2_ORIGIN + 1, DELTA_I23, 2, PLACE },
	{ "origin", BIT(9), Q2_ORIGIN + 2, DELTA_I16, 3, PLACE },
	{ "origin", ORIGIN_23(2), Q2_ORIGIN + 2, DELTA_I23, 3, PLACE },
	{ "angles", BIT(10), Q2_ANGLES, DELTA_U8, 1, ANGLE8 },
	{ "angles", ANGLE_WIDE(0), Q2_ANGLES, DELTA_I16, 1, TURN },
	{ "angles", BIT(2), Q2_ANGLES + 1, DELTA_U8, 2, ANGLE8 },
	{ "angles", ANGLE_WIDE(1), Q2_ANGLES + 1, DELTA_I16, 2, TURN },
	{ "angles", BIT(3), Q2_ANGLES + 2, DELTA_U8, 3, ANGLE8 },
	{ "angles", ANGLE_WIDE(2), Q2_ANGLES + 2, DELTA_I16, 3, TURN },
	{ "old_origin", OLDORIGIN, Q2_OLD_ORIGIN, DELTA_I16, 1, PLACE },
	{ "old_origin", OLDORIGIN, Q2_OLD_ORIGIN + 1, DELTA_I16, 2, PLACE },
	{ "old_origin", OLDORIGIN, Q2_OLD_ORIGIN + 2, DELTA_I16, 3, PLACE },
	{ "old_origin", OLDORIGIN_23, Q2_OLD_ORIGIN, DELTA_I23, 1, PLACE },
	{ "old_origin", OLDORIGIN_23, Q2_OLD_ORIGIN + 1, DELTA_I23, 2, PLACE },
	{ "old_origin", OLDORIGIN_23, Q2_OLD_ORIGIN + 2, DELTA_I23, 3, PLACE },
	{ "sound", SOUND, Q2_SOUND, DELTA_U8, 0, 0 },
	{ "sound", SOUND_WIDE, Q2_SOUND, DELTA_U16, 0, 0 },
	/* The fields after an extended sound are known when it has been read. */
	{ "loop_volume", SOUND_VOLUME, Q2_VOLUME, DELTA_U8, 0, 1.0 / 255 },
	{ "loop_attenuation", SOUND_FADES, Q2_ATTENUATION, DELTA_U8, 0, 1.0 / 64 },
	{ "event", EVENT, Q2_EVENT, DELTA_U8, 0, 0 },
	{ "solid", SOLID, Q2_SOLID, DELTA_U16, 0, 0 },
	{ "solid", SOLID_WIDE, Q2_SOLID, DELTA_U32, 0, 0 },
	{ "morefx", BIT(29), Q2_MOREFX, DELTA_U8, 0, 0 },
	{ "morefx", BIT(33), Q2_MOREFX, DELTA_U16, 0, 0 },
	{ "morefx", MOREFX32, Q2_MOREFX, DELTA_U32, 0, 0 },
	{ "alpha", ALPHA, Q2_ALPHA, DELTA_U8, 0, 1.0 / 255 },
	{ "scale", SCALE, Q2_SCALE, DELTA_U8, 0, 1.0 / 16 },
};

#define ROWS	   (sizeof(rows) / sizeof(*rows))
#define ROWS_SOUND 39 /* the first of them that an extended sound announces */

uint64_t q2_entity_header(struct reader *rd, const struct q2_dialect *d,
			  unsigned int *ret_number)
{
	uint64_t bits = reader_u8(rd);

	if (bits & BIT(7))
		bits |= (uint64_t)reader_u8(rd) << 8;
	if (bits & BIT(15))
		bits |= (uint64_t)reader_u8(rd) << 16;
	if (bits & BIT(23))
		bits |= (uint64_t)reader_u8(rd) << 24;
	if (d->extensions && bits & MOREBITS4)
		bits |= (uint64_t)reader_u8(rd) << 32;
	*ret_number = bits & NUMBER16 ? reader_le16(rd) : reader_u8(rd);
	return bits;
}

/* Two bits of one field are a flag of its own. */
static uint64_t pair(uint64_t flags, unsigned int a, unsigned int b, uint64_t both)
{
	if ((flags & (BIT(a) | BIT(b))) != (BIT(a) | BIT(b)))
		return flags;
	return (flags & ~(BIT(a) | BIT(b))) | both;
}

/* Bit @n means flag @wide instead. */
static uint64_t widen(uint64_t flags, unsigned int n, uint64_t wide)
{
	return flags & BIT(n) ? (flags & ~BIT(n)) | wide : flags;
}

static uint64_t widen_extended(const struct q2_dialect *d, uint64_t flags)
{
	static const uint8_t model[] = { 11, 20, 21, 22 }, origin[] = { 0, 1, 9 };

	for (unsigned int i = 0; i < 4 && flags & MODEL16; i++)
		flags = widen(flags, model[i], MODEL_WIDE(i));
	for (unsigned int i = 0; i < 3 && d->extensions2; i++)
		flags = widen(flags, origin[i], ORIGIN_23(i));
	if (d->extensions2)
		flags = widen(flags, 24, OLDORIGIN_23);
	return widen(flags, 26, SOUND_WIDE);
}

static uint64_t row_flags(const struct q2_dialect *d, uint64_t bits)
{
	static const uint8_t angle[] = { 10, 2, 3 };
	uint64_t flags = bits & ANY_FIELDS;

	if (!d->extensions)
		flags &= ~EXTENDED;
	flags = pair(flags, 16, 25, SKIN32);
	flags = pair(flags, 14, 19, EFFECTS32);
	flags = pair(flags, 12, 18, RENDERFX32);
	flags = pair(flags, 29, 33, MOREFX32);
	if (d->solid32)
		flags = widen(flags, 27, SOLID_WIDE);
	for (unsigned int i = 0; i < 3 && d->angle16 && flags & ANGLE16; i++)
		flags = widen(flags, angle[i], ANGLE_WIDE(i));
	return d->extensions ? widen_extended(d, flags) : flags;
}

/* The upper bits of an extended sound say what follows it. */
static uint64_t follows_sound(uint64_t flags, int32_t *word)
{
	if (!(flags & SOUND_WIDE))
		return 0;
	flags = (word[Q2_SOUND] & 0x4000 ? SOUND_VOLUME : 0) |
		(word[Q2_SOUND] & 0x8000 ? SOUND_FADES : 0);
	word[Q2_SOUND] &= 0x3fff;
	return flags;
}

uint64_t q2_entity_read(struct reader *rd, const struct q2_dialect *d, uint64_t bits,
			int32_t *word)
{
	uint64_t flags = row_flags(d, bits);

	if (flags & OLDORIGIN_23)
		memset(&word[Q2_OLD_ORIGIN], 0, 3 * sizeof(*word));
	delta_read(rd, rows, ROWS_SOUND, flags, word);
	flags |= follows_sound(flags, word);
	delta_read(rd, rows + ROWS_SOUND, ROWS - ROWS_SOUND, flags, word);
	/* If a frame comes at both widths the last counts. */
	return flags & FRAME16 ? flags & ~FRAME8 : flags;
}

void q2_entity_age(const struct q2_dialect *d, int32_t *word)
{
	word[Q2_EVENT] = 0;
	if (!d->enhanced || !(word[Q2_RENDERFX] & Q2_RENDERFX_BEAM))
		for (unsigned int i = 0; i < 3; i++)
			word[Q2_OLD_ORIGIN + i] = word[Q2_ORIGIN + i];
}

void q2_entity_record(struct record *r, uint64_t flags, const int32_t *word)
{
	delta_record(r, rows, ROWS, flags, word);
}

size_t q2_entity_write(uint8_t *to, size_t size, const struct q2_dialect *d,
		       uint64_t bits, const int32_t *word)
{
	return delta_write(to, size, rows, ROWS, row_flags(d, bits), word);
}
