// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_player.c - the player of a frame, and the players of a multi-view recording.
 *
 *	34	u16 flags, fields, u32 statbits, i16 for each
 *	35, 36	the same, finer: further flags (here bits 16 to 22) stand in the frame's
 *		head, and the stats come only if one of them says so
 *	.mvd2	u16 flags in another order
 *
 * Behind EXTENSIONS_2 places are differences, blends announce their bytes, and the
 * statbits are of varying length.
 *
 * Sources: Quake-2 client/cl_ents.c, server/sv_ents.c; q2pro src/common/msg.c, src/
 * server/mvd/parse.c; r1q2 client/cl_ents.c.
 */
#include <math.h>

#include "decode/q2/q2_player.h"

#define BIT(n)	 (1ULL << (n))
#define EXTRA(n) BIT(16 + (n))
#define MORE	 BIT(15) /* a third byte of flags */
#define FOG	 BIT(24)
#define STATS	 EXTRA(5)

/* Row flags that are not on the wire as such. */
#define BLENDS(n)   BIT(32 + (n)) /* eight bytes of blends */
#define FOGS(n)	    BIT(40 + (n)) /* as the fog's own bits */
#define PLACE_16    BIT(48)
#define PLACE_23    BIT(49)
#define HEIGHT_16   BIT(50)
#define HEIGHT_23   BIT(51)
#define SPEED_16    BIT(52)
#define SPEED_23    BIT(53)
#define CLIMB_16    BIT(54)
#define CLIMB_23    BIT(55)
#define TIME_8	    BIT(56)
#define TIME_16	    BIT(57)
#define PMFLAGS_8   BIT(58)
#define PMFLAGS_16  BIT(59)
#define GUNINDEX_8  BIT(60)
#define GUNINDEX_16 BIT(61)

#define PLACE	    0.125
#define TURN	    (360.0 / 65536)
#define QUARTER	    0.25

/* Three lanes, all behind one flag. */
#define THREE(key, flags, at, type, unit)                                           \
	{ key, flags, at, type, 1, unit }, { key, flags, (at) + 1, type, 2, unit }, \
	{                                                                           \
		key, flags, (at) + 2, type, 3, unit                                 \
	}

static const struct delta_row rows_34[] = {
	{ "pm_type", BIT(0), Q2_PM_TYPE, DELTA_U8, 0, 0 },
	THREE("origin", BIT(1), Q2_PM_ORIGIN, DELTA_I16, PLACE),
	THREE("velocity", BIT(2), Q2_PM_VELOCITY, DELTA_I16, PLACE),
	{ "pm_time", BIT(3), Q2_PM_TIME, DELTA_U8, 0, 0 },
	{ "pm_flags", BIT(4), Q2_PM_FLAGS, DELTA_U8, 0, 0 },
	{ "gravity", BIT(5), Q2_GRAVITY, DELTA_I16, 0, 0 },
	THREE("delta_angles", BIT(6), Q2_DELTA_ANGLES, DELTA_I16, TURN),
	THREE("viewoffset", BIT(7), Q2_VIEWOFFSET, DELTA_I8, QUARTER),
	THREE("viewangles", BIT(8), Q2_VIEWANGLES, DELTA_I16, TURN),
	THREE("kick_angles", BIT(9), Q2_KICK_ANGLES, DELTA_I8, QUARTER),
	{ "gunindex", GUNINDEX_8, Q2_GUNINDEX, DELTA_U8, 0, 0 },
	{ "gunindex", GUNINDEX_16, Q2_GUNINDEX, DELTA_U16, 0, 0 },
	{ "gunframe", BIT(13), Q2_GUNFRAME, DELTA_U8, 0, 0 },
	THREE("gunoffset", BIT(13), Q2_GUNOFFSET, DELTA_I8, QUARTER),
	THREE("gunangles", BIT(13), Q2_GUNANGLES, DELTA_I8, QUARTER),
};

static const struct delta_row rows_enhanced[] = {
	{ "pm_type", BIT(0), Q2_PM_TYPE, DELTA_U8, 0, 0 },
	{ "origin", PLACE_16, Q2_PM_ORIGIN, DELTA_I16, 1, PLACE },
	{ "origin", PLACE_16, Q2_PM_ORIGIN + 1, DELTA_I16, 2, PLACE },
	{ "origin", PLACE_23, Q2_PM_ORIGIN, DELTA_I23, 1, PLACE },
	{ "origin", PLACE_23, Q2_PM_ORIGIN + 1, DELTA_I23, 2, PLACE },
	{ "origin", HEIGHT_16, Q2_PM_ORIGIN + 2, DELTA_I16, 3, PLACE },
	{ "origin", HEIGHT_23, Q2_PM_ORIGIN + 2, DELTA_I23, 3, PLACE },
	{ "velocity", SPEED_16, Q2_PM_VELOCITY, DELTA_I16, 1, PLACE },
	{ "velocity", SPEED_16, Q2_PM_VELOCITY + 1, DELTA_I16, 2, PLACE },
	{ "velocity", SPEED_23, Q2_PM_VELOCITY, DELTA_I23, 1, PLACE },
	{ "velocity", SPEED_23, Q2_PM_VELOCITY + 1, DELTA_I23, 2, PLACE },
	{ "velocity", CLIMB_16, Q2_PM_VELOCITY + 2, DELTA_I16, 3, PLACE },
	{ "velocity", CLIMB_23, Q2_PM_VELOCITY + 2, DELTA_I23, 3, PLACE },
	{ "pm_time", TIME_8, Q2_PM_TIME, DELTA_U8, 0, 0 },
	{ "pm_time", TIME_16, Q2_PM_TIME, DELTA_U16, 0, 0 },
	{ "pm_flags", PMFLAGS_8, Q2_PM_FLAGS, DELTA_U8, 0, 0 },
	{ "pm_flags", PMFLAGS_16, Q2_PM_FLAGS, DELTA_U16, 0, 0 },
	{ "gravity", BIT(5), Q2_GRAVITY, DELTA_I16, 0, 0 },
	THREE("delta_angles", BIT(6), Q2_DELTA_ANGLES, DELTA_I16, TURN),
	THREE("viewoffset", BIT(7), Q2_VIEWOFFSET, DELTA_I8, QUARTER),
	{ "viewangles", BIT(8), Q2_VIEWANGLES, DELTA_I16, 1, TURN },
	{ "viewangles", BIT(8), Q2_VIEWANGLES + 1, DELTA_I16, 2, TURN },
	{ "viewangles", EXTRA(4), Q2_VIEWANGLES + 2, DELTA_I16, 3, TURN },
	THREE("kick_angles", BIT(9), Q2_KICK_ANGLES, DELTA_I8, QUARTER),
	{ "gunindex", GUNINDEX_8, Q2_GUNINDEX, DELTA_U8, 0, 0 },
	{ "gunindex", GUNINDEX_16, Q2_GUNINDEX, DELTA_U16, 0, 0 },
	{ "gunframe", BIT(13), Q2_GUNFRAME, DELTA_U8, 0, 0 },
	THREE("gunoffset", EXTRA(0), Q2_GUNOFFSET, DELTA_I8, QUARTER),
	THREE("gunangles", EXTRA(1), Q2_GUNANGLES, DELTA_I8, QUARTER),
};

static const struct delta_row rows_mvd[] = {
	{ "pm_type", BIT(0), Q2_PM_TYPE, DELTA_U8, 0, 0 },
	{ "origin", PLACE_16, Q2_PM_ORIGIN, DELTA_I16, 1, PLACE },
	{ "origin", PLACE_16, Q2_PM_ORIGIN + 1, DELTA_I16, 2, PLACE },
	{ "origin", PLACE_23, Q2_PM_ORIGIN, DELTA_I23, 1, PLACE },
	{ "origin", PLACE_23, Q2_PM_ORIGIN + 1, DELTA_I23, 2, PLACE },
	{ "origin", HEIGHT_16, Q2_PM_ORIGIN + 2, DELTA_I16, 3, PLACE },
	{ "origin", HEIGHT_23, Q2_PM_ORIGIN + 2, DELTA_I23, 3, PLACE },
	THREE("viewoffset", BIT(3), Q2_VIEWOFFSET, DELTA_I8, QUARTER),
	{ "viewangles", BIT(4), Q2_VIEWANGLES, DELTA_I16, 1, TURN },
	{ "viewangles", BIT(4), Q2_VIEWANGLES + 1, DELTA_I16, 2, TURN },
	{ "viewangles", BIT(5), Q2_VIEWANGLES + 2, DELTA_I16, 3, TURN },
	THREE("kick_angles", BIT(6), Q2_KICK_ANGLES, DELTA_I8, QUARTER),
	{ "gunindex", GUNINDEX_8, Q2_GUNINDEX, DELTA_U8, 0, 0 },
	{ "gunindex", GUNINDEX_16, Q2_GUNINDEX, DELTA_U16, 0, 0 },
	{ "gunframe", BIT(10), Q2_GUNFRAME, DELTA_U8, 0, 0 },
	THREE("gunoffset", BIT(11), Q2_GUNOFFSET, DELTA_I8, QUARTER),
	THREE("gunangles", BIT(12), Q2_GUNANGLES, DELTA_I8, QUARTER),
};

#define LANES(key, n, at)                                                   \
	{ key, BLENDS(n), at, DELTA_U8, 1, 1.0 / 255 },                     \
		{ key, BLENDS((n) + 1), (at) + 1, DELTA_U8, 2, 1.0 / 255 }, \
		{ key, BLENDS((n) + 2), (at) + 2, DELTA_U8, 3, 1.0 / 255 }, \
	{                                                                   \
		key, BLENDS((n) + 3), (at) + 3, DELTA_U8, 4, 1.0 / 255      \
	}

static const struct delta_row rows_blend[] = {
	LANES("blend", 0, Q2_BLEND),
	LANES("damage_blend", 4, Q2_DAMAGE_BLEND),
};

static const struct delta_row rows_fog[] = {
	THREE("fog_color", FOGS(0), Q2_FOG_COLOR, DELTA_U8, 1.0 / 255),
	{ "fog_density", FOGS(1), Q2_FOG_DENSITY, DELTA_U16, 0, 1.0 / 65535 },
	{ "fog_sky_factor", FOGS(1), Q2_FOG_SKY, DELTA_U16, 0, 1.0 / 65535 },
	{ "heightfog_density", FOGS(2), Q2_HEIGHTFOG_DENSITY, DELTA_U16, 0, 1.0 / 65535 },
	{ "heightfog_falloff", FOGS(3), Q2_HEIGHTFOG_FALLOFF, DELTA_U16, 0, 1.0 / 65535 },
	THREE("heightfog_start_color", FOGS(4), Q2_HEIGHTFOG_START, DELTA_U8, 1.0 / 255),
	THREE("heightfog_end_color", FOGS(5), Q2_HEIGHTFOG_END, DELTA_U8, 1.0 / 255),
	{ "heightfog_start_dist", FOGS(6), Q2_HEIGHTFOG_START_DIST, DELTA_I23, 0, PLACE },
	{ "heightfog_end_dist", FOGS(7), Q2_HEIGHTFOG_END_DIST, DELTA_I23, 0, PLACE },
};

static const struct delta_row rows_view[] = {
	{ "fov", BIT(11), Q2_FOV, DELTA_U8, 0, 0 },
	{ "rdflags", BIT(14), Q2_RDFLAGS, DELTA_U8, 0, 0 },
};

static const struct delta_row rows_view_mvd[] = {
	{ "fov", BIT(8), Q2_FOV, DELTA_U8, 0, 0 },
	{ "rdflags", BIT(13), Q2_RDFLAGS, DELTA_U8, 0, 0 },
};

struct layout {
	const struct delta_row *first, *view;
	uint8_t first_n;
	/*
	 * The bits of the flags: of fields with a width that depends on the dialect, and
	 * of what is not a row. Zero: there is no such bit.
	 */
	uint64_t gunindex, blend, fog, stats;
	uint64_t place, height, speed, climb, time, pmflags;
};

#define COUNT(rows) ((uint8_t)(sizeof(rows) / sizeof(*(rows))))

static const struct layout layout_34 = {
	.first = rows_34,
	.first_n = COUNT(rows_34),
	.view = rows_view,
	.gunindex = BIT(12),
	.blend = BIT(10),
};

static const struct layout layout_enhanced = {
	.first = rows_enhanced,
	.first_n = COUNT(rows_enhanced),
	.view = rows_view,
	.gunindex = BIT(12),
	.blend = BIT(10),
	.fog = FOG,
	.stats = STATS,
	.place = BIT(1),
	.height = EXTRA(3),
	.speed = BIT(2),
	.climb = EXTRA(2),
	.time = BIT(3),
	.pmflags = BIT(4),
};

/* 34's own frame, as Q2PRO writes it into recordings of more than 34 can hold. */
static const struct layout layout_extended = {
	.first = rows_enhanced,
	.first_n = COUNT(rows_enhanced),
	.view = rows_view,
	.gunindex = BIT(12),
	.blend = BIT(10),
	.fog = FOG,
	.place = BIT(1),
	.height = BIT(1),
	.speed = BIT(2),
	.climb = BIT(2),
	.time = BIT(3),
	.pmflags = BIT(4),
};

static const struct layout layout_mvd = {
	.first = rows_mvd,
	.first_n = COUNT(rows_mvd),
	.view = rows_view_mvd,
	.gunindex = BIT(9),
	.blend = BIT(7),
	.fog = BIT(17),
	.stats = BIT(14),
	.place = BIT(1),
	.height = BIT(2),
};

static uint64_t width(uint64_t flags, uint64_t bit, bool wide, uint64_t narrow_row,
		      uint64_t wide_row)
{
	if (!(flags & bit))
		return 0;
	return wide ? wide_row : narrow_row;
}

static uint64_t widths(const struct layout *l, const struct q2_dialect *d, uint64_t f)
{
	bool wide = d->extensions2;

	return width(f, l->gunindex, d->extensions, GUNINDEX_8, GUNINDEX_16) |
	       width(f, l->place, wide, PLACE_16, PLACE_23) |
	       width(f, l->height, wide, HEIGHT_16, HEIGHT_23) |
	       width(f, l->speed, wide, SPEED_16, SPEED_23) |
	       width(f, l->climb, wide, CLIMB_16, CLIMB_23) |
	       width(f, l->time, wide, TIME_8, TIME_16) |
	       width(f, l->pmflags, wide, PMFLAGS_8, PMFLAGS_16);
}

/* Read a number of seven bits per byte, the lowest first. */
static uint64_t read_varint(struct reader *rd)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = reader_u8(rd);

		/* One bit is left of the tenth. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return value;
	}
	rd->failed = true;
	return value;
}

static uint64_t read_stats(struct reader *rd, const struct q2_dialect *d, int32_t *word)
{
	uint64_t bits = d->extensions2 ? read_varint(rd) : reader_le32(rd);

	for (unsigned int i = 0; i < Q2_STATS; i++)
		if (bits & BIT(i))
			word[Q2_STAT + i] = (int16_t)reader_le16(rd);
	return bits;
}

static struct q2_player_delta read_fields(struct reader *rd, const struct layout *l,
					  const struct q2_dialect *d, uint64_t flags,
					  int32_t *word)
{
	struct q2_player_delta delta = { .flags = flags | widths(l, d, flags) };

	delta_read(rd, l->first, l->first_n, delta.flags, word);
	if (flags & l->blend)
		delta.flags |= BLENDS(0) * (d->extensions2 ? reader_u8(rd) : 15);
	delta_read(rd, rows_blend, COUNT(rows_blend), delta.flags, word);
	if (d->fog && flags & l->fog) {
		word[Q2_FOG_BITS] = reader_u8(rd);
		delta.flags |= FOGS(0) * (uint64_t)word[Q2_FOG_BITS];
		word[Q2_HEIGHTFOG_START_DIST] = word[Q2_HEIGHTFOG_END_DIST] = 0;
	}
	delta_read(rd, rows_fog, COUNT(rows_fog), delta.flags, word);
	delta_read(rd, l->view, 2, delta.flags, word);
	if (!l->stats || flags & l->stats)
		delta.statbits = read_stats(rd, d, word);
	return delta;
}

static const struct layout *layout_of(const struct q2_dialect *d)
{
	if (d->protocol == Q2_PROTOCOL_MVD)
		return &layout_mvd;
	if (d->enhanced)
		return &layout_enhanced;
	return d->extensions ? &layout_extended : &layout_34;
}

/*
 * Fields that 35 and 36 announce apart come in 34 with the gun's frame, and with the
 * view.
 */
static uint64_t implied(uint64_t flags)
{
	return (flags & BIT(13) ? EXTRA(0) | EXTRA(1) : 0) |
	       (flags & BIT(8) ? EXTRA(4) : 0);
}

struct q2_player_delta q2_player_read(struct reader *rd, const struct q2_dialect *d,
				      unsigned int extra, int32_t *word)
{
	uint64_t flags = reader_le16(rd);
	bool more = d->fog && flags & MORE;
	uint8_t third = more ? reader_u8(rd) : 0;
	struct q2_player_delta delta;

	flags |= third & 1 ? FOG : 0;
	flags |= (uint64_t)(extra & 127) << 16;
	delta = read_fields(rd, layout_of(d), d,
			    flags | (d->enhanced ? 0 : implied(flags)), word);
	delta.unknown = third & ~1 || (flags & MORE && !more) ||
			(extra & Q2_EXTRA_CLIENTNUM && !d->q2pro);
	return delta;
}

struct q2_player_delta q2_player_read_mvd(struct reader *rd, const struct q2_dialect *d,
					  int32_t *word)
{
	uint64_t flags = reader_le16(rd);
	struct q2_player_delta delta;
	bool gone = flags & MORE;

	if (d->fog) {
		if (flags & MORE)
			flags |= (uint64_t)reader_u8(rd) << 16;
		gone = flags & BIT(16);
	}
	delta = read_fields(rd, &layout_mvd, d, flags, word);
	delta.unknown = flags >> 18;
	if (gone)
		delta.flags |= Q2_PLAYER_GONE;
	return delta;
}

/* Up to the highest that is there; null: as in the base. */
static void record_stats(struct record *r, uint64_t bits, const int32_t *word)
{
	record_open_array(r, "stats");
	for (unsigned int i = 0; i < Q2_STATS && bits >> i; i++) {
		if (bits & BIT(i))
			record_int(r, NULL, word[Q2_STAT + i]);
		else
			record_float(r, NULL, NAN);
	}
	record_close(r);
}

void q2_player_record(struct record *r, const struct q2_dialect *d,
		      const struct q2_player_delta *delta, const int32_t *word)
{
	const struct layout *l = layout_of(d);
	int32_t shown[Q2_STAT];

	if (!RECORD_WANTED(r))
		return;
	memcpy(shown, word, sizeof(shown));
	if (d->extensions)
		shown[Q2_GUNINDEX] &= 0x1fff;
	delta_record(r, l->first, l->first_n, delta->flags, shown);
	if (delta->flags & GUNINDEX_16)
		record_uint(r, "gunskin", (uint32_t)word[Q2_GUNINDEX] >> 13);
	delta_record(r, rows_blend, COUNT(rows_blend), delta->flags, shown);
	delta_record(r, rows_fog, COUNT(rows_fog), delta->flags, shown);
	delta_record(r, l->view, 2, delta->flags, shown);
	if (delta->statbits)
		record_stats(r, delta->statbits, word);
}

size_t q2_player_write(uint8_t *to, size_t size, const struct q2_player_delta *delta,
		       const int32_t *word)
{
	static const struct delta_row head = { "flags", 0, 0, DELTA_U16, 0, 0 };
	static const struct delta_row bits = { "statbits", 0, 0, DELTA_U32, 0, 0 };
	static const struct delta_row stat = { "stat", 0, 0, DELTA_I16, 0, 0 };
	int32_t value = (int32_t)(delta->flags & 0xffff);
	size_t n = delta_write(to, size, &head, 1, 0, &value);

	n += delta_write(to + n, size - n, rows_34, COUNT(rows_34), delta->flags, word);
	n += delta_write(to + n, size - n, rows_blend, COUNT(rows_blend), delta->flags,
			 word);
	n += delta_write(to + n, size - n, rows_view, 2, delta->flags, word);
	value = (int32_t)delta->statbits;
	n += delta_write(to + n, size - n, &bits, 1, 0, &value);
	for (unsigned int i = 0; i < 32; i++)
		if (delta->statbits & BIT(i))
			n += delta_write(to + n, size - n, &stat, 1, 0,
					 &word[Q2_STAT + i]);
	return n;
}
