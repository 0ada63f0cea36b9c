// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_nails.c - svc_nails, svc_nails2 and mvdsv's projectiles.
 *
 *	nail: six bytes, twelve bits each of x, y, z (value * 2 - 4096), four of pitch
 *	(sixteenths of a circle), eight of yaw
 *
 * Sources: Quake QW/client/cl_ents.c (CL_ParseProjectiles); qwprot src/protocol.h.
 */
#include "decode/qw/qw_message.h"

#define NAILS_MAX  32
#define NAILS2	   54
#define NAIL_BYTES 6
#define NAIL_SPACE 4096

static void nail(struct ops *o, bool numbered)
{
	uint8_t number = numbered ? reader_u8(&o->rd) : 0;
	const uint8_t *b = reader_take(&o->rd, NAIL_BYTES);
	struct record *r = o->record;

	if (!b)
		return;
	record_open_object(r, NULL);
	if (numbered)
		record_uint(r, "number", number);
	record_open_array(r, "origin");
	record_float(r, NULL, (b[0] | (b[1] & 15) << 8) * 2 - NAIL_SPACE);
	record_float(r, NULL, (b[1] >> 4 | b[2] << 4) * 2 - NAIL_SPACE);
	record_float(r, NULL, (b[3] | (b[4] & 15) << 8) * 2 - NAIL_SPACE);
	record_close(r);
	record_open_array(r, "angles");
	record_float(r, NULL, (b[4] >> 4) * (360 / 16.0));
	record_float(r, NULL, b[5] * (360 / 256.0));
	record_float(r, NULL, 0);
	record_close(r);
	record_close(r);
}

void qw_nails(struct ops *o)
{
	unsigned int n = reader_u8(&o->rd);

	if (n > NAILS_MAX && !qw_parse_of(o)->terms.recording)
		ops_wrong(o, "more nails than there may be");
	record_open_array(o->record, "nails");
	for (unsigned int i = 0; i < n && !reader_failed(&o->rd); i++)
		nail(o, o->code == NAILS2);
	record_close(o->record);
}

enum projectile {
	PROJECTILE_ANGLES = 0x1,
	PROJECTILE_MODEL = 0x4,
	PROJECTILE_ORIGIN = 0x200,
	PROJECTILE_SPAWN = 0x800,
	PROJECTILE_REMOVE = 0x8000,
};

static void projectile(struct ops *o, unsigned int word)
{
	unsigned int flags;

	record_open_object(o->record, NULL);
	record_uint(o->record, "number", word & ~(unsigned int)PROJECTILE_REMOVE);
	if (word & PROJECTILE_REMOVE) {
		record_bool(o->record, "removed", true);
		record_close(o->record);
		return;
	}
	flags = qw_u16(o, "bits");
	if (flags & PROJECTILE_ORIGIN) {
		qw_floats(o, "origin", 3);
		qw_floats(o, "velocity", 3);
	}
	if (flags & PROJECTILE_ANGLES)
		qw_angles(o, "angles");
	if (flags & PROJECTILE_MODEL) {
		qw_i16(o, "modelindex");
		qw_i16(o, "owner");
	}
	if (flags & PROJECTILE_SPAWN)
		qw_u8(o, "time");
	record_close(o->record);
}

void qw_projectiles(struct ops *o)
{
	unsigned int word;

	qw_i32(o, "frame");
	record_open_array(o->record, "projectiles");
	while ((word = reader_le16(&o->rd)))
		projectile(o, word);
	record_close(o->record);
}
