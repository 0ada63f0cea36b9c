/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * delta.h - differences as rows: which field a bit of a message's flags brings, how it is
 * coded, where it goes. For the byte-oriented families (NetQuake, QuakeWorld, Quake II);
 * Quake III's bit fields are q3_fields.h.
 *
 * A state is an array of int32_t that holds the values of the wire, unscaled (of a float,
 * its bits): so a message can be written again from it to the byte. Pure, but for a cache
 * of tables by their address.
 */
#ifndef DELTA_H
#define DELTA_H

#include <stdbool.h>

#include "lib/reader.h"
#include "lib/record.h"

/* All little-endian. */
enum delta_type {
	DELTA_U8,
	DELTA_I8,
	DELTA_U16,
	DELTA_I16,
	DELTA_I32,
	DELTA_U32,
	DELTA_F32,
	DELTA_C24, /* i16 units, u8 of 255 parts; raw: units * 256 + parts */
	/*
	 * Q2PRO's: u16, bit 0 clear: the others are a signed difference to what the state
	 * holds; set: with a byte more, the value itself in 23 bits. Written as itself.
	 */
	DELTA_I23,
	/* 7 bits a byte, the low ones first, 5 bytes at most; written as short as can be.
	 */
	DELTA_ULEB,
	DELTA_ZIGZAG, /* likewise, of 2 v, or of -1 - 2 v where v is negative */
};

#define DELTA_ROWS_MAX 64 /* of one table */
#define DELTA_LANES    4

/* A table of rows is a constant: delta.c remembers it by its address. */
struct delta_row {
	const char *key; /* in JSON. The lanes of one key are one array */
	uint64_t flags; /* the row is there if any of these is set; 0: always */
	uint16_t at; /* index in the state */
	uint8_t type; /* enum delta_type */
	uint8_t lane; /* 0: alone; 1..3: x, y, z; 1..4: red, green, blue, alpha */
	double unit; /* of an integer, in the game's units; 0: it is a number */
};

/*
 * Reads, in the order of @rows, what @flags say is there, into @state. Fields that are
 * not there keep what @state holds. The reader fails behind the end.
 */
void delta_read(struct reader *rd, const struct delta_row *rows, size_t count,
		uint64_t flags, int32_t *state);

/*
 * Puts the same fields on the record, from @state: keys in the order in which they first
 * come, null for a lane that is not there.
 */
void delta_record(struct record *r, const struct delta_row *rows, size_t count,
		  uint64_t flags, const int32_t *state);

/*
 * For a trace: the next field is what was read between the last field and the first row
 * of the last delta_read(), such as flags and a number.
 */
void delta_record_head(struct record *r);

/*
 * Let delta_read() note where rows stand, and delta_record() tell the record's trace.
 * Forgets what was noted. Fields of rows that were not read stand nowhere.
 */
void delta_trace(bool wanted);

/*
 * Write the bytes that delta_read() would take. Returns how many; 0 and nothing written
 * if @size does not hold them. For tests.
 */
size_t delta_write(uint8_t *to, size_t size, const struct delta_row *rows, size_t count,
		   uint64_t flags, const int32_t *state);

#endif /* DELTA_H */
