// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_fields.c - one field of an op: read it, say it.
 */
#include "decode/qw/qw_message.h"

#define COORD_UNIT   (1 / 8.0)
#define ANGLE_UNIT   (360 / 256.0)
#define ANGLE16_UNIT (360 / 65536.0)
#define TIME_MAX     1e9f /* seconds */
#define SLOTS	     32
#define SLOTS_FTE    255

unsigned int qw_u8(struct ops *o, const char *key)
{
	unsigned int value = reader_u8(&o->rd);

	record_uint(o->record, key, value);
	return value;
}

unsigned int qw_u16(struct ops *o, const char *key)
{
	unsigned int value = reader_le16(&o->rd);

	record_uint(o->record, key, value);
	return value;
}

int qw_i16(struct ops *o, const char *key)
{
	int value = (int16_t)reader_le16(&o->rd);

	record_int(o->record, key, value);
	return value;
}

int32_t qw_i32(struct ops *o, const char *key)
{
	int32_t value = (int32_t)reader_le32(&o->rd);

	record_int(o->record, key, value);
	return value;
}

float qw_f32(struct ops *o, const char *key)
{
	float value = reader_f32(&o->rd);

	record_float(o->record, key, (double)value);
	return value;
}

void qw_time(struct ops *o, enum fact facts)
{
	float seconds = qw_f32(o, "time");

	if (!(seconds >= 0 && seconds < TIME_MAX))
		return;
	o->record->facts.time_us = (int64_t)((double)seconds * 1e6);
	o->record->facts.has |= (uint32_t)facts;
}

struct span qw_text(struct ops *o, const char *key)
{
	struct span text = reader_string(&o->rd);

	record_string(o->record, key, text.bytes, text.n);
	return text;
}

void qw_coord(struct ops *o, const char *key)
{
	qw_lean(o);
	if (qw_parse_of(o)->terms.fte & QW_FTE_FLOATCOORDS)
		qw_f32(o, key);
	else
		record_float(o->record, key, (int16_t)reader_le16(&o->rd) * COORD_UNIT);
}

void qw_vec(struct ops *o, const char *key)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		qw_coord(o, NULL);
	record_close(o->record);
}

void qw_floats(struct ops *o, const char *key, unsigned int n)
{
	record_open_array(o->record, key);
	for (unsigned int i = 0; i < n; i++)
		qw_f32(o, NULL);
	record_close(o->record);
}

void qw_angles(struct ops *o, const char *key)
{
	qw_lean(o);
	if (qw_parse_of(o)->terms.fte & QW_FTE_FLOATCOORDS) {
		qw_angles16(o, key);
		return;
	}
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL, reader_i8(&o->rd) * ANGLE_UNIT);
	record_close(o->record);
}

void qw_angles16(struct ops *o, const char *key)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_float(o->record, NULL,
			     (int16_t)reader_le16(&o->rd) * ANGLE16_UNIT);
	record_close(o->record);
}

/* As many bytes follow the first as it has leading ones; its other bits come on top. */
uint64_t qw_vlq(struct ops *o)
{
	unsigned int first = reader_u8(&o->rd), more = 0;
	uint64_t value;

	while (more < 8 && first & 0x80U >> more)
		more++;
	value = first & 0x7fU >> more;
	while (more--)
		value = value << 8 | reader_u8(&o->rd);
	return value;
}

uint64_t qw_uleb(struct ops *o)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = reader_u8(&o->rd);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	ops_wrong(o, "number of more than 64 bits");
	return 0;
}

unsigned int qw_slot(struct ops *o)
{
	unsigned int slot = qw_u8(o, "slot");
	bool many = qw_parse_of(o)->terms.fte2 & QW_FTE2_MAXPLAYERS;

	if (slot >= (many ? SLOTS_FTE : SLOTS))
		ops_wrong(o, "no such player slot");
	return slot;
}

void qw_number(struct ops *o, const char *key)
{
	unsigned int number = reader_le16(&o->rd);

	if (qw_parse_of(o)->terms.fte2 & QW_FTE2_REPLACEMENTDELTAS && number & 0x8000)
		number = (number & 0x7fff) << 8 | reader_u8(&o->rd);
	record_uint(o->record, key, number);
}

struct span qw_bytes(struct ops *o, size_t n)
{
	struct span bytes = { reader_take(&o->rd, n), n };

	if (!bytes.bytes)
		bytes.n = 0;
	record_uint(o->record, "bytes", n);
	return bytes;
}
