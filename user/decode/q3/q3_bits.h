/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_bits.h - a Quake III message as one stream of bits.
 *
 * A value of n bits is its (n mod 8) lowest bits raw, then the rest in bytes, low byte
 * first, each a symbol of the fixed Huffman code. Bit k of the stream is bit (k mod 8)
 * of byte (k div 8). One 8-byte load covers any value: 7 raw bits and 4 codes of 11.
 *
 * Reads are total: past the end they give what zero bits mean, and the stream stays
 * failed. Nothing is read outside [data, data + size + slack).
 */
#ifndef Q3_BITS_H
#define Q3_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/huffman.h"

#define Q3_STRING_MAX	 1023 /* characters, without the NUL */
#define Q3_BIGSTRING_MAX 8191 /* characters, without the NUL */
#define Q3_SLACK	 8 /* bytes after a message, so that eight can be loaded */

struct q3_bits {
	const uint8_t *data;
	uint32_t size; /* in bytes */
	uint32_t slack; /* bytes behind the end that may be loaded, to no effect */
	uint32_t pos; /* in bits; may pass the end */
	uint32_t bad; /* bit 12 set: the code of no symbol was met */
};

#define Q3_BITS_BAD (HUFFMAN_NYT << HUFFMAN_SYMBOL_SHIFT)

static inline struct q3_bits q3_bits_of(const uint8_t *data, size_t size)
{
	return (struct q3_bits){ data, (uint32_t)size, 0, 0, 0 };
}

static inline bool q3_bits_failed(const struct q3_bits *b)
{
	return b->pos > b->size * 8 || (b->bad & Q3_BITS_BAD);
}

/* Return the next bits where eight bytes cannot be loaded at once (q3_bits.c). */
uint64_t q3_peek_tail(const struct q3_bits *b);

/* Return at least the next 57 bits, lowest first, and stay where @b is. */
static inline uint64_t q3_peek(const struct q3_bits *b)
{
	size_t at = b->pos >> 3;
	uint64_t word;

	if (__builtin_expect(at + 8 > b->size + b->slack, 0))
		return q3_peek_tail(b);
	memcpy(&word, b->data + at, sizeof(word));
	return le64toh(word) >> (b->pos & 7);
}

static inline uint32_t q3_get_bit(struct q3_bits *b)
{
	uint32_t bit = q3_peek(b) & 1;

	b->pos++;
	return bit;
}

/* Read an unsigned number of @n bits, 1 to 32. */
static inline uint32_t q3_get(struct q3_bits *b, unsigned int n)
{
	uint64_t word = q3_peek(b);
	unsigned int raw = n & 7, used = raw;
	uint32_t value = (uint32_t)word & ((1U << raw) - 1);

	word >>= raw;
	for (unsigned int shift = raw; shift < n; shift += 8) {
		uint32_t entry = huffman_lookup[word & (HUFFMAN_LOOKUP_SIZE - 1)];
		unsigned int length = entry & HUFFMAN_LENGTH_MASK;

		value |= (entry >> HUFFMAN_SYMBOL_SHIFT & 255) << shift;
		b->bad |= entry;
		word >>= length;
		used += length;
	}
	b->pos += used;
	return value;
}

/* Read the same from a stream without codes, as demos before protocol 66 are. */
static inline uint32_t q3_raw(struct q3_bits *b, unsigned int n)
{
	uint64_t word = q3_peek(b);

	b->pos += n;
	return (uint32_t)(word & ((1ULL << n) - 1));
}

static inline int32_t q3_get_long(struct q3_bits *b)
{
	return (int32_t)q3_get(b, 32);
}

/*
 * Return the @n lowest bits of @value, 1 to 32 of them, with the sign of the highest of
 * them.
 */
static inline uint32_t q3_extend(uint32_t value, unsigned int n)
{
	uint32_t sign = 1U << (n - 1);

	return (value ^ sign) - sign;
}

/* Read a number of @bits as in a field table: below zero is signed of that width. */
static inline uint32_t q3_get_int(struct q3_bits *b, int bits)
{
	unsigned int n = (unsigned int)abs(bits);
	uint32_t value = q3_get(b, n);

	return bits < 0 ? q3_extend(value, n) : value;
}

/*
 * Read characters up to NUL, which is consumed, at most @max of them: more is bad. The
 * text in @out is NUL-terminated, so it has room for @max + 1. Returns its length.
 */
size_t q3_get_string(struct q3_bits *b, char *out, size_t max);

/* Read @n bytes, each a symbol. */
void q3_get_bytes(struct q3_bits *b, uint8_t *out, size_t n);

#endif /* Q3_BITS_H */
