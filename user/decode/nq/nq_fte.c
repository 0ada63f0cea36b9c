// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_fte.c - FTE's replacement deltas and its own moves, as they ride on NetQuake.
 *
 *	svc 86	[u16 last move,] f32 time, { u16 number (bit 15: removed, bit 14: u8
 *		more), delta } u16 0
 *	delta	u8 bits, [u8, [u8, [u8]]], fields in the order of delta() below
 *	clc 85	i16 sequence, vlq flags, ..., moves
 *
 * Deltas are against what the client has acknowledged, but each says its own widths.
 * Sources: Quakespasm-Spiked cl_parse.c; fteqw client/cl_ents.c, common/protocol.h,
 * common/common.c, server/sv_user.c.
 */
#include "decode/nq/nq_tables.h"

#define BIT(n)	   (1U << (n))
#define WIDE	   BIT(9) /* with LERPTIME: when the movement ends */
#define ILLEGAL	   (BIT(30) | BIT(31))
#define SEATS_MAX  4
#define FRAMES_MAX 64
#define SKIN_BIAS  64 /* LERPTIME's: there are skins below 0 */

static bool lerps(struct ops *o)
{
	return nq_format_at(o)->pext2 & NQ_LERPTIME;
}

/* A number as wide as the delta says. */
static void number(struct ops *o, const char *key, uint32_t bits)
{
	record_uint(o->record, key,
		    lerps(o)	  ? nq_uleb(&o->rd)
		    : bits & WIDE ? reader_le16(&o->rd)
				  : reader_u8(&o->rd));
}

static void skin(struct ops *o, uint32_t bits)
{
	if (lerps(o))
		record_int(o->record, "skinnum", (int64_t)nq_uleb(&o->rd) - SKIN_BIAS);
	else
		number(o, "skinnum", bits);
}

/* A byte, but of LERPTIME a number. */
static void starred(struct ops *o, const char *key)
{
	record_uint(o->record, key, lerps(o) ? nq_uleb(&o->rd) : reader_u8(&o->rd));
}

static void bytes_array(struct ops *o, const char *key, int n)
{
	record_open_array(o->record, key);
	for (int i = 0; i < n; i++)
		nq_put_u8(o, NULL);
	record_close(o->record);
}

/* Lanes that are there, null for the others. */
static void vector(struct ops *o, const char *key, bool xy_or_xz, bool middle_first,
		   bool other, double (*read)(struct ops *o))
{
	double lane[3] = { __builtin_nan(""), __builtin_nan(""), __builtin_nan("") };

	if (!xy_or_xz && !other)
		return;
	/* An origin has x and y together, then z; angles have x and z, then y. */
	if (xy_or_xz) {
		lane[0] = read(o);
		lane[middle_first ? 1 : 2] = read(o);
	}
	if (other)
		lane[middle_first ? 2 : 1] = read(o);
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, lane[i]);
	record_close(o->record);
}

static double read_coord(struct ops *o)
{
	return nq_coord(&o->rd, nq_format_at(o));
}

static double read_angle(struct ops *o)
{
	return nq_angle(&o->rd, nq_format_at(o));
}

static double read_angle16(struct ops *o)
{
	return nq_angle16(&o->rd, nq_format_at(o));
}

static double read_short(struct ops *o)
{
	return (int16_t)reader_le16(&o->rd);
}

static double read_turn(struct ops *o)
{
	return (int16_t)reader_le16(&o->rd) * (360.0 / 65536);
}

static void effects(struct ops *o, uint32_t bits)
{
	bool narrow = bits & BIT(5), wide = bits & BIT(29);

	if (!narrow && !wide)
		return;
	if (lerps(o)) {
		starred(o, "effects");
		if (wide)
			ops_wrong(o, "delta has a flag that this protocol does not");
		return;
	}
	record_uint(o->record, "effects",
		    narrow && wide ? reader_le32(&o->rd)
		    : wide	   ? reader_le16(&o->rd)
				   : reader_u8(&o->rd));
}

/* What the client's own prediction needs. Which of the view's angles come the delta's
 * own @angles say, not the bits here. */
static void prediction(struct ops *o, uint32_t angles)
{
	bool sure = nq_format_at(o)->pext2 & NQ_PREDINFO;
	uint8_t bits = reader_u8(&o->rd), frame;

	if (bits & BIT(0))
		nq_put_i16(o, "forwardmove");
	if (bits & BIT(1))
		nq_put_i16(o, "sidemove");
	if (bits & BIT(2))
		nq_put_i16(o, "upmove");
	if (bits & BIT(3))
		nq_put_u8(o, "movetype");
	vector(o, "velocity", bits & BIT(4), true, bits & BIT(5), read_short);
	if (bits & BIT(6))
		nq_put_u8(o, "msec");
	if (!(bits & BIT(7)))
		return;
	if (sure) {
		vector(o, "v_angle", angles & BIT(3), false, angles & BIT(4), read_turn);
		return;
	}
	frame = reader_u8(&o->rd);
	record_uint(o->record, "weaponframe",
		    frame & 0x80 ? (frame & 0x7fU) | (uint32_t)reader_u8(&o->rd) << 7
				 : frame);
}

static void solid(struct ops *o)
{
	uint8_t code;

	if (!(nq_format_at(o)->pext2 & NQ_NEWSIZEENCODING)) {
		nq_put_u16(o, "solid");
		return;
	}
	code = reader_u8(&o->rd);
	if (code == 16)
		nq_put_u16(o, "solid");
	else if (code == 32)
		nq_put_u32(o, "solid");
	else if (code <= 3)
		record_uint(o->record, "solid", code);
	else
		ops_wrong(o, "size in an encoding that there is not");
}

static void bones(struct ops *o)
{
	uint8_t flags = reader_u8(&o->rd);
	const uint8_t *bytes;
	size_t n;

	if (flags & 0x3f)
		ops_wrong(o, "bones with a flag that there is not");
	if (flags & 0x80) {
		n = reader_u8(&o->rd) * 14U;
		bytes = reader_take(&o->rd, n);
		if (bytes)
			record_hex(o->record, "bones", bytes, n);
	}
	if (flags & 0x40) {
		starred(o, "basebone");
		record_uint(o->record, "baseframe",
			    lerps(o) ? nq_uleb(&o->rd) : reader_le16(&o->rd));
	}
}

static void light(struct ops *o)
{
	nq_put_i16(o, "light_red");
	nq_put_i16(o, "light_green");
	nq_put_i16(o, "light_blue");
	nq_put_i16(o, "light_radius");
	starred(o, "lightstyle");
	nq_put_u8(o, "lightpflags");
}

static void trail(struct ops *o)
{
	uint32_t effect = lerps(o) ? nq_uleb(&o->rd) : reader_le16(&o->rd);

	record_uint(o->record, "traileffectnum", lerps(o) ? effect : effect & 0x3fff);
	if (lerps(o))
		record_uint(o->record, "emiteffectnum", nq_uleb(&o->rd));
	else if (effect & 0x8000)
		nq_put_u16(o, "emiteffectnum");
}

/* From bit 10 to the end. */
static void delta_rest(struct ops *o, uint32_t bits)
{
	if (bits & BIT(10))
		number(o, "modelindex", bits);
	if (bits & BIT(11))
		skin(o, bits);
	if (bits & BIT(12))
		starred(o, "colormap");
	if (bits & BIT(13))
		solid(o);
	if (bits & BIT(14))
		starred(o, "dpflags");
	if (bits & BIT(16))
		nq_put_u8(o, "alpha");
	if (bits & BIT(17))
		record_float(o->record, "scale", reader_u8(&o->rd) / 16.0);
	if (bits & BIT(18))
		bones(o);
	if (bits & BIT(19)) {
		uint8_t flags = reader_u8(&o->rd);

		record_uint(o->record, "drawflags", flags);
		if ((flags & 7) == 7)
			nq_put_u8(o, "abslight");
	}
	if (bits & BIT(20)) {
		nq_put_entity(o, "tagentity");
		starred(o, "tagindex");
	}
	if (bits & BIT(21))
		light(o);
	if (bits & BIT(22))
		trail(o);
	if (bits & BIT(24))
		bytes_array(o, "colormod", 3);
	if (bits & BIT(25)) {
		nq_put_u8(o, "glowsize");
		nq_put_u8(o, "glowcolor");
		bytes_array(o, "glowmod", 3);
	}
	if (bits & BIT(26))
		nq_put_u8(o, "fatness");
	if (bits & BIT(27))
		number(o, "modelindex2", bits);
	if (bits & BIT(28))
		bytes_array(o, "gravitydir", 2);
}

/* Returns whether it is all of the entity's state. */
static bool delta(struct ops *o)
{
	uint32_t bits = reader_u8(&o->rd);
	bool sure = nq_format_at(o)->pext2 & NQ_PREDINFO;

	for (unsigned int at = 7; at < 24 && bits & BIT(at); at += 8)
		bits |= (uint32_t)reader_u8(&o->rd) << (at + 1);
	if (bits & ILLEGAL)
		ops_wrong(o, "delta has a flag that there is not");
	if (bits & BIT(8))
		record_bool(o->record, "reset", true);
	if (bits & BIT(0))
		number(o, "frame", bits);
	vector(o, "origin", bits & BIT(1), true, bits & BIT(2), read_coord);
	vector(o, "angles", bits & BIT(3), false, bits & BIT(4),
	       bits & BIT(6) && !sure ? read_angle16 : read_angle);
	if (bits & WIDE && lerps(o))
		record_uint(o->record, "lerpend", nq_uleb(&o->rd));
	effects(o, bits);
	if (bits & BIT(6))
		prediction(o, bits);
	delta_rest(o, bits);
	return bits & BIT(8);
}

void nq_op_fte_spawnstatic(struct ops *o)
{
	delta(o);
}

void nq_op_fte_spawnbaseline(struct ops *o)
{
	nq_put_entity(o, "number");
	delta(o);
}

/* A reset is a difference to the entity's baseline. */
static void follow(struct ops *o, uint32_t entity, bool reset, bool removed)
{
	struct nq_walk *w = nq_walk_of(o);
	bool unbased = reset && w->game && !w->based;

	w->unbased |= unbased;
	nq_walk_entity(o, entity, reset && !unbased, removed || unbased);
}

static bool one(struct ops *o)
{
	uint32_t word = reader_le16(&o->rd);
	uint32_t entity = word & 0x3fff;
	bool reset = false;

	if (!word)
		return false;
	if (word & 0x4000)
		entity |= (uint32_t)reader_u8(&o->rd) << 14;
	record_open_object(o->record, NULL);
	record_uint(o->record, "number", entity);
	if (word & 0x8000)
		record_bool(o->record, "removed", true);
	else
		reset = delta(o);
	record_close(o->record);
	follow(o, entity, reset, word & 0x8000);
	return true;
}

void nq_op_updateentities(struct ops *o)
{
	struct facts *facts = &o->record->facts;
	float seconds;

	nq_walk_frame(o, o->m->sequence);
	if (nq_format_at(o)->pext2 & NQ_PREDINFO)
		nq_put_u16(o, "move_ack");
	seconds = reader_f32(&o->rd);
	record_float(o->record, "time", (double)seconds);
	if (!reader_failed(&o->rd) && seconds >= 0 && seconds < 1e9F) {
		facts->has |= FACT_SNAPSHOT | FACT_TIME;
		facts->time_us = (int64_t)((double)seconds * 1e6);
	}
	record_open_array(o->record, "entities");
	while (!reader_failed(&o->rd) && !o->m->wrong && one(o))
		;
	record_close(o->record);
}

/* --- moves ------------------------------------------------------------------------- */

static int64_t zigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void device(struct ops *o)
{
	uint64_t bits = nq_vlq(&o->rd);

	record_open_object(o->record, NULL);
	if (bits & BIT(0))
		record_uint(o->record, "status", nq_vlq(&o->rd));
	for (unsigned int i = 1; i < 5; i++) {
		static const char *const keys[] = { "angles", "avelocity", "origin",
						    "velocity" };

		if (!(bits >> i & 1))
			continue;
		record_open_array(o->record, keys[i - 1]);
		for (int k = 0; k < 3; k++)
			record_float(o->record, NULL,
				     i < 3 ? read_turn(o) : (double)reader_f32(&o->rd));
		record_close(o->record);
	}
	if (bits & BIT(5))
		record_uint(o->record, "weapon", nq_vlq(&o->rd));
	record_close(o->record);
}

static void move_axis(struct ops *o, const char *key, uint64_t bits)
{
	if (bits & BIT(9))
		record_int(o->record, key, zigzag(nq_vlq(&o->rd)));
	else
		record_int(o->record, key, reader_i8(&o->rd) * 5);
}

static void move_angles(struct ops *o, uint64_t bits)
{
	record_open_array(o->record, "angles");
	for (unsigned int i = 0; i < 3; i++)
		record_float(o->record, NULL,
			     !(bits >> i & 1) ? __builtin_nan("")
			     : bits & BIT(8)  ? read_turn(o)
					      : reader_i8(&o->rd) * (360.0 / 256));
	record_close(o->record);
}

static void cursor(struct ops *o)
{
	record_open_array(o->record, "cursor_screen");
	for (int i = 0; i < 2; i++)
		nq_put_i16(o, NULL);
	record_close(o->record);
	for (int i = 0; i < 2; i++) {
		record_open_array(o->record, i ? "cursor_impact" : "cursor_start");
		for (int k = 0; k < 3; k++)
			nq_put_f32(o, NULL);
		record_close(o->record);
	}
	nq_put_entity(o, "cursor_entitynumber");
}

static void usercmd(struct ops *o)
{
	uint64_t bits = nq_vlq(&o->rd);

	record_uint(o->record, "servertime_delta", nq_vlq(&o->rd));
	if (bits >> 18 & 1)
		record_uint(o->record, "msec", nq_vlq(&o->rd));
	if (bits & 7)
		move_angles(o, bits);
	if (bits & BIT(3))
		move_axis(o, "forwardmove", bits);
	if (bits & BIT(4))
		move_axis(o, "sidemove", bits);
	if (bits & BIT(7))
		move_axis(o, "upmove", bits);
	if (bits & BIT(5))
		record_uint(o->record, "buttons", nq_vlq(&o->rd));
	if (bits & BIT(6))
		record_uint(o->record, "impulse", nq_vlq(&o->rd));
	if (bits & BIT(10))
		record_uint(o->record, "weapon", nq_vlq(&o->rd));
	if (bits & BIT(11))
		cursor(o);
	if (bits & BIT(12))
		record_uint(o->record, "lightlevel", nq_vlq(&o->rd));
	if (!(bits & (BIT(13) | BIT(14) | BIT(15))))
		return;
	record_open_array(o->record, "devices");
	for (unsigned int i = 13; i < 16; i++)
		if (bits >> i & 1)
			device(o);
	record_close(o->record);
}

static void usercmds(struct ops *o, uint64_t count)
{
	record_open_array(o->record, "usercmds");
	while (count-- && !reader_failed(&o->rd)) {
		record_open_object(o->record, NULL);
		usercmd(o);
		record_close(o->record);
	}
	record_close(o->record);
}

void nq_op_fte_move(struct ops *o)
{
	uint64_t flags, seats = 1, frames = 3, acks;

	record_uint(o->record, "sequence", reader_le16(&o->rd));
	flags = nq_vlq(&o->rd);
	if (flags & BIT(2))
		seats = nq_vlq(&o->rd);
	if (flags & BIT(3))
		frames = nq_vlq(&o->rd);
	if (seats > SEATS_MAX || frames > FRAMES_MAX) {
		ops_wrong(o, "move of too many seats or frames");
		return;
	}
	if (flags & BIT(0))
		nq_put_u8(o, "loss");
	if (flags & BIT(1))
		nq_put_u8(o, "delay");
	if (flags & BIT(4)) {
		acks = nq_vlq(&o->rd);
		record_open_array(o->record, "acks");
		while (acks-- && !reader_failed(&o->rd))
			nq_put_i32(o, NULL);
		record_close(o->record);
	}
	usercmds(o, seats * frames);
}
