/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader.h - typed reads with a sticky error, for straight-line decoders.
 *
 * Every read is total: past the end it returns zero (or an empty span) and the reader
 * stays failed, so a decoder reads on and asks once, at its end, reader_failed() and
 * reader_left(). Nothing is ever read outside [pos, end).
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *pos;
	const uint8_t *end;
	bool failed;
};

struct span {
	const uint8_t *bytes;
	size_t n;
};

static inline struct reader reader_of(const void *bytes, size_t n)
{
	struct reader rd = { bytes, (const uint8_t *)bytes + n, false };

	return rd;
}

static inline size_t reader_left(const struct reader *rd)
{
	return (size_t)(rd->end - rd->pos);
}

static inline bool reader_failed(const struct reader *rd)
{
	return rd->failed;
}

/*
 * Return @n bytes, and step over them; NULL: there are fewer, and the reader has failed
 * for good. This is the single bounds check.
 */
static inline const uint8_t *reader_take(struct reader *rd, size_t n)
{
	const uint8_t *at = rd->pos;

	if (rd->failed || n > reader_left(rd)) {
		rd->failed = true;
		return NULL;
	}
	rd->pos = at + n;
	return at;
}

static inline uint8_t reader_u8(struct reader *rd)
{
	const uint8_t *at = reader_take(rd, 1);

	return at ? *at : 0;
}

static inline int8_t reader_i8(struct reader *rd)
{
	return (int8_t)reader_u8(rd);
}

static inline uint16_t reader_le16(struct reader *rd)
{
	const uint8_t *at = reader_take(rd, 2);

	return at ? (uint16_t)(at[0] | at[1] << 8) : 0;
}

static inline uint16_t reader_be16(struct reader *rd)
{
	const uint8_t *at = reader_take(rd, 2);

	return at ? (uint16_t)(at[0] << 8 | at[1]) : 0;
}

static inline uint32_t reader_le32(struct reader *rd)
{
	const uint8_t *at = reader_take(rd, 4);

	return at ? at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24 : 0;
}

static inline uint32_t reader_be32(struct reader *rd)
{
	const uint8_t *at = reader_take(rd, 4);

	return at ? (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3] : 0;
}

static inline float reader_f32(struct reader *rd)
{
	union {
		uint32_t raw;
		float f;
	} bits = { .raw = reader_le32(rd) };

	return bits.f;
}

/*
 * Return the bytes up to a NUL, which is stepped over but not counted. Without a NUL:
 * failed.
 */
static inline struct span reader_string(struct reader *rd)
{
	struct span s = { rd->pos, 0 };
	const uint8_t *nul;

	nul = rd->failed || rd->pos == rd->end ? NULL
					       : memchr(rd->pos, 0, reader_left(rd));
	if (!nul) {
		rd->failed = true;
		return s;
	}
	s.n = (size_t)(nul - rd->pos);
	rd->pos = nul + 1;
	return s;
}

static inline struct span reader_rest(struct reader *rd)
{
	struct span s = { rd->pos, rd->failed ? 0 : reader_left(rd) };

	if (!rd->failed)
		rd->pos = rd->end;
	return s;
}

#endif /* READER_H */
