// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the adaptive decoder accepts survives its encoder; the fixed one reads on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "huffman.h"
#include "q3_bits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void adaptive(const uint8_t *data, size_t n)
{
	static uint8_t plain[2048], coded[8192], again[2048];
	int count = huffman_adaptive_decode(data, n, plain, sizeof(plain)), length;

	if (count <= 0)
		return;
	/* Not the same bytes: a symbol may be spelled out although it has a code. */
	length = huffman_adaptive_encode(plain, (size_t)count, coded, sizeof(coded));
	if (length < 3 ||
	    huffman_adaptive_decode(coded, (size_t)length, again, sizeof(again)) !=
		    count ||
	    memcmp(plain, again, (size_t)count) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	static char text[Q3_BIGSTRING_MAX + 1];
	struct q3_bits b;

	if (!copy)
		return 0;
	memcpy(copy, data, n);
	adaptive(copy, n);
	b = q3_bits_of(copy, n);
	for (unsigned int i = 0; i <= n && !q3_bits_failed(&b); i++) {
		q3_get(&b, 1 + i % 32);
		if (i % 7 == 0)
			q3_get_string(&b, text, i % 2 ? Q3_STRING_MAX : Q3_BIGSTRING_MAX);
	}
	free(copy);
	return 0;
}
