// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * delta.c - see delta.h.
 */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "decode/delta.h"
#include "lib/record_trace.h"

static const uint8_t widths[] = {
	[DELTA_U8] = 1,	 [DELTA_I8] = 1,   [DELTA_U16] = 2,    [DELTA_I16] = 2,
	[DELTA_I32] = 4, [DELTA_U32] = 4,  [DELTA_F32] = 4,    [DELTA_C24] = 3,
	[DELTA_I23] = 3, [DELTA_ULEB] = 5, [DELTA_ZIGZAG] = 5,
};

static bool is_there(const struct delta_row *row, uint64_t flags)
{
	return !row->flags || flags & row->flags;
}

/* Read a DELTA_I23: a difference to @was of 15 bits, or a value of 23. */
static int32_t take_i23(struct reader *rd, int32_t was)
{
	uint32_t low = reader_le16(rd);

	if (!(low & 1))
		return (int32_t)((uint32_t)was + (uint32_t)((int16_t)low >> 1));
	return (int32_t)((uint32_t)reader_u8(rd) << 24 | low << 8) >> 9;
}

/* Read a DELTA_ULEB. Fails the reader if the number has more than 32 bits. */
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

static inline __attribute__((always_inline)) int32_t
take(struct reader *rd, enum delta_type type, int32_t was)
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

static double delta_value(const struct delta_row *row, int32_t raw)
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

/* --- where rows stand -------------------------------------------------------------- */

/*
 * The rows that delta_read() has read of late, for a trace: fields are put on the record
 * later, and by another table's flags. A ring; what is older than its size is of no
 * record any more.
 */
#define LOG_SIZE 256

static struct {
	const struct delta_row *row; /* NULL: taken by a record */
	const uint8_t *at;
	size_t n;
} delta_log[LOG_SIZE];
static size_t logged;
static bool logs;

void delta_trace(bool wanted)
{
	logs = wanted;
	logged = 0;
}

static void log_row(const struct delta_row *row, const uint8_t *at, const uint8_t *end)
{
	delta_log[logged % LOG_SIZE].row = row;
	delta_log[logged % LOG_SIZE].at = at;
	delta_log[logged++ % LOG_SIZE].n = (size_t)(end - at);
}

/* Say where the last reading of @row stands, if it is one of this record's. */
static __attribute__((noinline, cold)) void stands(struct record *r,
						   const struct delta_row *row)
{
	for (size_t i = 1; i <= LOG_SIZE && i <= logged; i++) {
		size_t at = (logged - i) % LOG_SIZE;

		if (delta_log[at].row != row)
			continue;
		record_stands_ahead(r, delta_log[at].at, delta_log[at].n);
		delta_log[at].row = NULL;
		return;
	}
}

void delta_record_head(struct record *r)
{
	uint32_t at, first = UINT32_MAX;

	if (!RECORD_TRACED(r))
		return;
	for (size_t i = 1; i <= LOG_SIZE && i <= logged; i++) {
		size_t k = (logged - i) % LOG_SIZE;

		/* An earlier reading of the same bytes has read those before. */
		if (!record_trace_unnoted(r, delta_log[k].at, delta_log[k].n, &at) ||
		    at > first)
			break;
		first = at;
	}
	if (first != UINT32_MAX)
		record_until(r, first);
	else
		record_trace_until_read(r);
}

/* --- which rows are there ---------------------------------------------------------- */

/*
 * The rows that each flag of a table selects, as the bits of a word. index_of() makes it
 * when the table is first used: a comparison of keys for each lane of each entity took a
 * quarter of the time of `decode --json`, and one of flags for each row a tenth. The
 * tables are constants. There are fewer tables than places; a table that finds no free
 * place replaces another one.
 */
#define INDEX_PLACES 128

struct delta_index {
	const struct delta_row *rows;
	size_t count; /* 0: free */
	uint64_t always; /* rows without a flag */
	uint64_t flags; /* all flags that select a row */
	uint64_t by_flag[64]; /* the rows that each flag selects */
	/* By the row of a lane: the rows of all lanes with its key. */
	uint64_t lanes[DELTA_ROWS_MAX];
};

/* Make @x the index of @rows, by flag and by lane. Called by index_of(). */
static void index_make(struct delta_index *x, const struct delta_row *rows, size_t count)
{
	*x = (struct delta_index){ .rows = rows, .count = count };
	for (size_t i = 0; i < count && i < DELTA_ROWS_MAX; i++) {
		uint64_t row = 1ULL << i;

		x->always |= rows[i].flags ? 0 : row;
		x->flags |= rows[i].flags;
		for (uint64_t left = rows[i].flags; left; left &= left - 1)
			x->by_flag[__builtin_ctzll(left)] |= row;
		for (size_t k = 0; rows[i].lane && k < count && k < DELTA_ROWS_MAX; k++)
			if (rows[k].lane && !strcmp(rows[k].key, rows[i].key))
				x->lanes[k] |= row;
	}
}

/*
 * Return the index of the table @rows, made at its first use. If all places are taken,
 * the last one that was looked at is replaced: the result holds until the next call. The
 * places are static: one thread may call it.
 */
static const struct delta_index *index_of(const struct delta_row *rows, size_t count)
{
	static struct delta_index known[INDEX_PLACES];
	size_t first = (uintptr_t)rows / sizeof(*rows);
	struct delta_index *x = &known[first % INDEX_PLACES];

	for (size_t i = 0; i < INDEX_PLACES; i++) {
		x = &known[(first + i) % INDEX_PLACES];
		if (x->rows == rows && x->count == count)
			return x;
		if (!x->count)
			break;
	}
	index_make(x, rows, count);
	return x;
}

static uint64_t rows_there(const struct delta_index *x, uint64_t flags)
{
	uint64_t there = x->always;

	for (flags &= x->flags; flags; flags &= flags - 1)
		there |= x->by_flag[__builtin_ctzll(flags)];
	return there;
}

static __attribute__((noinline, cold)) void read_logged(struct reader *rd,
							const struct delta_row *rows,
							uint64_t there, int32_t *state)
{
	for (; there; there &= there - 1) {
		const struct delta_row *row = &rows[__builtin_ctzll(there)];
		const uint8_t *at = rd->pos;

		state[row->at] = take(rd, row->type, state[row->at]);
		log_row(row, at, rd->pos);
	}
}

void delta_read(struct reader *rd, const struct delta_row *rows, size_t count,
		uint64_t flags, int32_t *state)
{
	uint64_t there = rows_there(index_of(rows, count), flags);

	if (__builtin_expect(logs, 0)) {
		read_logged(rd, rows, there, state);
		return;
	}
	for (uint64_t left = there; left; left &= left - 1) {
		const struct delta_row *row = &rows[__builtin_ctzll(left)];

		state[row->at] = take(rd, row->type, state[row->at]);
	}
}

/* Write the array of one key. @all: the rows of its lanes; @there: the rows that are
 * there. */
static void put_lanes(struct record *r, const struct delta_row *rows, uint64_t all,
		      uint64_t there, const int32_t *state)
{
	const struct delta_row *by_lane[DELTA_LANES] = { NULL };
	unsigned int lanes = 3;

	for (uint64_t left = all; left; left &= left - 1) {
		const struct delta_row *row = &rows[__builtin_ctzll(left)];

		if (row->lane > lanes)
			lanes = row->lane;
		if (there & left & -left && !by_lane[row->lane - 1])
			by_lane[row->lane - 1] = row;
	}
	record_open_array(r, rows[__builtin_ctzll(all)].key);
	for (unsigned int i = 0; i < lanes; i++)
		if (by_lane[i]) {
			if (__builtin_expect(logs, 0))
				stands(r, by_lane[i]);
			put(r, NULL, by_lane[i], state[by_lane[i]->at]);
		} else {
			record_float(r, NULL, NAN);
		}
	record_close(r);
}

void delta_record(struct record *r, const struct delta_row *rows, size_t count,
		  uint64_t flags, const int32_t *state)
{
	const struct delta_index *x;
	uint64_t there, left;
	bool was;

	if (!RECORD_WANTED(r))
		return;
	x = index_of(rows, count);
	there = rows_there(x, flags);
	was = record_hold(r, true);
	for (left = there; left; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);

		if (rows[i].lane) {
			put_lanes(r, rows, x->lanes[i], there, state);
			left &= ~x->lanes[i] | 1ULL << i;
		} else {
			if (__builtin_expect(logs, 0))
				stands(r, &rows[i]);
			put(r, rows[i].key, &rows[i], state[rows[i].at]);
		}
	}
	record_hold(r, was);
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
