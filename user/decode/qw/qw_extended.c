// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_extended.c - svc of FTE, and the two that other programs use under its numbers.
 *
 * Sources: fteqw engine/client/cl_parse.c, engine/common/protocol.h; qwprot
 * src/protocol.h; ezquake src/cl_parse.c.
 */
#include "decode/qw/qw_message.h"

#define SEATS_MAX   4
#define QIZMO_VOICE 34 /* bytes */

void qw_splitscreen(struct ops *o)
{
	unsigned int n = reader_u8(&o->rd);

	if (n > SEATS_MAX)
		ops_wrong(o, "more seats than there may be");
	record_open_array(o->record, "slots");
	for (unsigned int i = 0; i < n && i < SEATS_MAX; i++)
		record_uint(o->record, NULL, reader_u8(&o->rd));
	record_close(o->record);
}

void qw_lightstylecol(struct ops *o)
{
	unsigned int bits;

	qw_u8(o, "style");
	bits = qw_u8(o, "bits");
	if (bits & 0x80) {
		record_open_array(o->record, "color");
		for (unsigned int i = 0; i < 3; i++)
			if (bits & 1U << i)
				qw_i16(o, NULL);
		record_close(o->record);
	}
	qw_text(o, "text");
}

static void portal_number(struct ops *o, unsigned int mode, const char *key)
{
	if (mode & 2)
		qw_u16(o, key);
	else
		qw_u8(o, key);
}

void qw_portal(struct ops *o)
{
	unsigned int mode = qw_u8(o, "mode");

	if (!(mode & 0x80)) {
		qw_u8(o, "portal");
		return;
	}
	if (mode & 0x20 || !(mode & 0x60))
		portal_number(o, mode, "portal");
	if (mode & 0x40) {
		portal_number(o, mode, "area1");
		portal_number(o, mode, "area2");
	}
}

void qw_particle2(struct ops *o)
{
	qw_vec(o, "origin");
	qw_floats(o, "mindirection", 3);
	qw_floats(o, "maxdirection", 3);
	qw_i16(o, "count");
	qw_u8(o, "color");
	qw_u8(o, "effect");
}

/* 63's kin: a box of three bytes, or a radius of one. */
void qw_particle3(struct ops *o)
{
	qw_vec(o, "origin");
	record_open_array(o->record, "box");
	for (int i = o->code == 64 ? 3 : 1; i; i--)
		record_uint(o->record, NULL, reader_u8(&o->rd));
	record_close(o->record);
	qw_i16(o, "count");
	qw_u8(o, "color");
	qw_u8(o, "effect");
}

void qw_choosesplit(struct ops *o)
{
	qw_u8(o, "seat");
}

void qw_showpic(struct ops *o)
{
	qw_u8(o, "zone");
	qw_text(o, "name");
	qw_text(o, "image");
	qw_i16(o, "x");
	qw_i16(o, "y");
}

void qw_movepic(struct ops *o)
{
	qw_u8(o, "zone");
	qw_text(o, "name");
	qw_i16(o, "x");
	qw_i16(o, "y");
}

void qw_updatepic(struct ops *o)
{
	qw_text(o, "name");
	qw_text(o, "image");
}

void qw_effect(struct ops *o)
{
	qw_vec(o, "origin");
	qw_u8(o, "modelindex");
	qw_u8(o, "startframe");
	qw_u8(o, "framecount");
	qw_u8(o, "framerate");
}

void qw_effect2(struct ops *o)
{
	qw_vec(o, "origin");
	qw_u16(o, "modelindex");
	qw_u16(o, "startframe");
	qw_u8(o, "framecount");
	qw_u8(o, "framerate");
}

void qw_opaque(struct ops *o)
{
	ops_unknown(o, "only the game's own code can read this");
}

void qw_precache(struct ops *o)
{
	qw_u16(o, "code");
	qw_text(o, "name");
}

void qw_trailparticles(struct ops *o)
{
	qw_number(o, "number");
	qw_u16(o, "effect");
	qw_vec(o, "start");
	qw_vec(o, "end");
}

void qw_pointparticles(struct ops *o)
{
	qw_u16(o, "effect");
	qw_vec(o, "origin");
	if (o->code == 82)
		return;
	qw_vec(o, "velocity");
	qw_u16(o, "count");
}

/* FTE's game packet has no length; without FTE's terms it is Qizmo's voice. */
void qw_cgame(struct ops *o)
{
	qw_lean(o);
	if (qw_parse_of(o)->terms.fte2) {
		qw_opaque(o);
		return;
	}
	qw_u8(o, "sequence");
	qw_bytes(o, QIZMO_VOICE - 1);
}

void qw_voice(struct ops *o)
{
	qw_u8(o, "sender");
	qw_u8(o, "generation");
	qw_u8(o, "sequence");
	qw_bytes(o, reader_le16(&o->rd));
}

void qw_anglesdelta(struct ops *o)
{
	qw_angles16(o, "angles");
}

void qw_seats(struct ops *o)
{
	unsigned int n = reader_u8(&o->rd);

	record_open_array(o->record, "slots");
	while (n-- && !reader_failed(&o->rd))
		record_uint(o->record, NULL, reader_u8(&o->rd));
	record_close(o->record);
}

void qw_infoblob(struct ops *o)
{
	uint32_t offset;

	qw_u8(o, "slot");
	qw_text(o, "key");
	offset = reader_le32(&o->rd);
	record_uint(o->record, "offset", offset & 0x7fffffff);
	record_bool(o->record, "final", offset >> 31);
	qw_bytes(o, reader_le16(&o->rd));
}

/* The rest tells its length, but not what it means. */
void qw_sized(struct ops *o)
{
	unsigned int n = reader_le16(&o->rd);

	if (o->code == 91) {
		record_bool(o->record, "netquake", n >> 15);
		n &= 0x7fff;
	}
	qw_bytes(o, n);
	message_missing(o->m, "only the game's own code can read this");
}

void qw_anglebase(struct ops *o)
{
	unsigned int flags = qw_u8(o, "flags");

	record_open_array(o->record, "angles");
	for (unsigned int i = 0; i < 3; i++)
		if (flags & 1U << i)
			record_float(o->record, NULL,
				     (int16_t)reader_le16(&o->rd) * (360 / 65536.0));
		else
			record_float(o->record, NULL, __builtin_nan(""));
	record_close(o->record);
}
