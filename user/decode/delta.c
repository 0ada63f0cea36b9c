// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * delta.c - see delta.h.
 */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "decode/delta.h"

static const uint8_t widths[] = {
	[DELTA_U8] = 1,	 [DELTA_I8] = 1,   [DELTA_U16] = 2,    [DELTA_I16] = 2,
	[DELTA_I32] = 4, [DELTA_U32] = 4,  [DELTA_F32] = 4,    [DELTA_C24] = 3,
	[DELTA_I23] = 3, [DELTA_ULEB] = 5, [DELTA_ZIGZAG] = 5,
};

static bool is_there(const struct delta_row *row, uint64_t flags)
{
	return !row->flags || flags & row->flags;
}

static int32_t take_i23(struct reader *rd, int32_t was)
{
	uint32_t low = reader_le16(rd);

	if (!(low & 1))
		return (int32_t)((uint32_t)was + (uint32_t)((int16_t)low >> 1));
	return (int32_t)((uint32_t)reader_u8(rd) << 24 | low << 8) >> 9;
}

static uint32_t take_uleb(struct reader *rd)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; shift < 35; shift += 7) {
		uint8_t byte = reader_u8(rd);

		if (shift == 28 && byte > 0x0f)
			break;
		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	rd->failed = true;
	return 0;
}

static size_t put_uleb(uint8_t *to, uint32_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (uint8_t)(value | 0x80);
	to[n++] = (uint8_t)value;
	return n;
}

static int32_t take(struct reader *rd, enum delta_type type, int32_t was)
{
	uint32_t raw;
	int32_t units;

	switch (type) {
	case DELTA_U8:
		return reader_u8(rd);
	case DELTA_I8:
		return reader_i8(rd);
	case DELTA_U16:
		return reader_le16(rd);
	case DELTA_I16:
		return (int16_t)reader_le16(rd);
	case DELTA_I32:
	case DELTA_U32:
	case DELTA_F32:
		return (int32_t)reader_le32(rd);
	case DELTA_C24:
		units = (int16_t)reader_le16(rd);
		return units * 256 + reader_u8(rd);
	case DELTA_I23:
		return take_i23(rd, was);
	case DELTA_ULEB:
		return (int32_t)take_uleb(rd);
	case DELTA_ZIGZAG:
		raw = take_uleb(rd);
		return (int32_t)(raw >> 1 ^ (0 - (raw & 1)));
	}
	return 0;
}

void delta_read(struct reader *rd, const struct delta_row *rows, size_t count,
		uint64_t flags, int32_t *state)
{
	for (size_t i = 0; i < count; i++)
		if (is_there(&rows[i], flags))
			state[rows[i].at] = take(rd, rows[i].type, state[rows[i].at]);
}

double delta_value(const struct delta_row *row, int32_t raw)
{
	float f;

	if (row->type == DELTA_F32) {
		memcpy(&f, &raw, sizeof(f));
		return (double)f;
	}
	if (row->type == DELTA_C24)
		return (raw >> 8) + (raw & 255) / 255.0;
	return row->unit != 0 ? raw * row->unit : raw;
}

static void put(struct record *r, const char *key, const struct delta_row *row,
		int32_t raw)
{
	if (row->type == DELTA_F32 || row->type == DELTA_C24 || row->unit != 0)
		record_float(r, key, delta_value(row, raw));
	else if (row->type == DELTA_U8 || row->type == DELTA_U16 ||
		 row->type == DELTA_U32 || row->type == DELTA_ULEB)
		record_uint(r, key, (uint32_t)raw);
	else
		record_int(r, key, raw);
}

static bool has_fourth(const struct delta_row *rows, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].lane == 4 && !strcmp(rows[i].key, key))
			return true;
	return false;
}

/* The lanes of one key, of which rows[first] is the first that comes. */
static void put_lanes(struct record *r, const struct delta_row *rows, size_t count,
		      size_t first, uint64_t flags, const int32_t *state)
{
	unsigned int lanes = has_fourth(rows, count, rows[first].key) ? 4 : 3;

	record_open_array(r, rows[first].key);
	for (unsigned int lane = 1; lane <= lanes; lane++) {
		size_t i = 0;

		while (i < count && (rows[i].lane != lane || !is_there(&rows[i], flags) ||
				     strcmp(rows[i].key, rows[first].key) != 0))
			i++;
		if (i < count)
			put(r, NULL, &rows[i], state[rows[i].at]);
		else
			record_float(r, NULL, NAN);
	}
	record_close(r);
}

static bool came_before(const struct delta_row *rows, size_t i, uint64_t flags)
{
	for (size_t j = 0; j < i; j++)
		if (rows[j].lane && is_there(&rows[j], flags) &&
		    !strcmp(rows[j].key, rows[i].key))
			return true;
	return false;
}

void delta_record(struct record *r, const struct delta_row *rows, size_t count,
		  uint64_t flags, const int32_t *state)
{
	if (!RECORD_WANTED(r))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!is_there(&rows[i], flags))
			continue;
		if (!rows[i].lane)
			put(r, rows[i].key, &rows[i], state[rows[i].at]);
		else if (!came_before(rows, i, flags))
			put_lanes(r, rows, count, i, flags, state);
	}
}

size_t delta_write(uint8_t *to, size_t size, const struct delta_row *rows, size_t count,
		   uint64_t flags, const int32_t *state)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t value = (uint32_t)state[rows[i].at];
		size_t width = widths[rows[i].type];
		uint32_t raw;

		if (!is_there(&rows[i], flags))
			continue;
		if (used + width > size)
			return 0;
		/* The units come first. */
		if (rows[i].type == DELTA_C24)
			value = (value >> 8 & 0xffff) | (value & 255) << 16;
		if (rows[i].type == DELTA_I23)
			value = value << 1 | 1;
		if (rows[i].type == DELTA_ZIGZAG)
			value = value << 1 ^ (0 - (value >> 31));
		if (rows[i].type == DELTA_ULEB || rows[i].type == DELTA_ZIGZAG) {
			used += put_uleb(to + used, value);
			continue;
		}
		raw = htole32(value);
		memcpy(to + used, &raw, width);
		used += width;
	}
	return used;
}
