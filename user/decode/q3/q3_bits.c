// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_bits.c - the parts of the bit stream that need not be inlined.
 */
#include "decode/q3/q3_bits.h"

uint64_t q3_peek_tail(const struct q3_bits *b)
{
	size_t at = b->pos >> 3;
	uint64_t word = 0;

	for (unsigned int i = 0; i < 8 && at + i < b->size; i++)
		word |= (uint64_t)b->data[at + i] << 8 * i;
	return word >> (b->pos & 7);
}

size_t q3_get_string(struct q3_bits *b, char *out, size_t max)
{
	size_t n = 0;

	while (!q3_bits_failed(b)) {
		char c = (char)q3_get(b, 8);

		if (!c)
			break;
		if (n == max) {
			b->bad |= Q3_BITS_BAD;
			break;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return n;
}

void q3_get_bytes(struct q3_bits *b, uint8_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)q3_get(b, 8);
}
