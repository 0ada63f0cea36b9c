/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz.h - what the fuzz targets share: inputs that are a row of pieces, exact copies,
 * small random numbers for mutators.
 *
 *	piece:	how:8 length:16 bytes		as long as the input lasts
 *
 * The length is little-endian and means at most what is left, so every input is a row of
 * pieces, whatever its bytes.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_HEAD 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

struct record;

/* Who wants to know what a target's decoder said of each piece; see held.h. */
static void (*hears)(const struct record *r) __attribute__((unused));

static inline void must(bool holds)
{
	if (!holds)
		abort();
}

static inline void said(const struct record *r)
{
	if (hears)
		hears(r);
}

/* On the heap and of this size exactly: a byte too far, and the sanitizer speaks. */
static inline uint8_t *exact_copy(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	must(copy != NULL);
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

/* xorshift: mutators must give the same for the same seed. */
static inline uint32_t dice(uint32_t *state, uint32_t sides)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return sides ? *state % sides : *state;
}

struct piece {
	uint8_t how;
	const uint8_t *bytes;
	size_t n;
};

/* Steps *@at over the next one; false: there is none. */
static inline bool piece_next(const uint8_t *data, size_t size, size_t *at,
			      struct piece *ret)
{
	size_t left = size - *at, n;

	if (*at > size || left < PIECE_HEAD)
		return false;
	left -= PIECE_HEAD;
	n = data[*at + 1] | (size_t)data[*at + 2] << 8;
	ret->how = data[*at];
	ret->bytes = data + *at + PIECE_HEAD;
	ret->n = n < left ? n : left;
	*at += PIECE_HEAD + ret->n;
	return true;
}

/* The place of one of the pieces behind @from; false: there is none. */
static inline bool piece_choose(const uint8_t *data, size_t size, size_t from,
				uint32_t *seed, struct piece *ret)
{
	size_t at = from, count = 0;
	uint32_t chosen;

	while (piece_next(data, size, &at, ret))
		count++;
	if (!count)
		return false;
	chosen = dice(seed, (uint32_t)count);
	at = from;
	for (uint32_t i = 0; i <= chosen; i++)
		piece_next(data, size, &at, ret);
	return true;
}

/* Takes one piece out, or puts it elsewhere or twice, or changes how it is meant. */
static inline size_t pieces_mutate(uint8_t *data, size_t size, size_t max, size_t from,
				   uint32_t *seed)
{
	struct piece one, other;
	size_t at, n, to;
	uint8_t *copy;

	if (!piece_choose(data, size, from, seed, &one) ||
	    !piece_choose(data, size, from, seed, &other))
		return LLVMFuzzerMutate(data, size, max);
	at = (size_t)(one.bytes - data) - PIECE_HEAD;
	to = (size_t)(other.bytes - data) - PIECE_HEAD;
	n = PIECE_HEAD + one.n;
	data[at + 1] = (uint8_t)one.n;
	data[at + 2] = (uint8_t)(one.n >> 8);
	switch (dice(seed, 4)) {
	case 0:
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	case 1:
		data[at] = (uint8_t)dice(seed, 256);
		return size;
	case 2:
		data[at] ^= (uint8_t)(1U << dice(seed, 8));
		return size;
	default:
		if (n > max - size)
			return LLVMFuzzerMutate(data, size, max);
		copy = exact_copy(data + at, n);
		memmove(data + to + n, data + to, size - to);
		memcpy(data + to, copy, n);
		free(copy);
		return size + n;
	}
}

/* Change the pieces behind the first byte one time in @sides, else the bytes. */
static inline size_t pieces_or_bytes_mutate(uint8_t *data, size_t size, size_t max,
					    uint32_t sides, unsigned int seed)
{
	uint32_t state = seed | 1;

	if (size && !dice(&state, sides))
		return pieces_mutate(data, size, max, 1, &state);
	return LLVMFuzzerMutate(data, size, max);
}

/* Where what is decoded ends up, for the work of writing it. */
static inline FILE *nowhere(void)
{
	FILE *file = fopen("/dev/null", "w");

	must(file != NULL);
	return file;
}

#endif /* FUZZ_H */
