/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_symbol.h - the inverse of huffman_lookup, for tests and mutators that write
 * messages.
 */
#ifndef Q3_SYMBOL_H
#define Q3_SYMBOL_H

#include <stdbool.h>

#include "lib/huffman.h"

/*
 * Return the code of @symbol, 0 to HUFFMAN_NYT, from its lowest bit on: any place in the
 * lookup that yields it. *@ret_length: its bits.
 */
static inline unsigned int q3_symbol_code(unsigned int symbol, unsigned int *ret_length)
{
	static uint16_t at[HUFFMAN_NYT + 1];
	static bool made;

	for (unsigned int i = 0; !made && i < HUFFMAN_LOOKUP_SIZE; i++)
		at[huffman_lookup[i] >> HUFFMAN_SYMBOL_SHIFT] = (uint16_t)i;
	made = true;
	*ret_length = huffman_lookup[at[symbol]] & HUFFMAN_LENGTH_MASK;
	return at[symbol];
}

#endif /* Q3_SYMBOL_H */
