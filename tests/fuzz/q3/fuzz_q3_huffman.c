// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both codes. Adaptive: what the decoder accepts survives its encoder, and anything
 * encoded comes back, but not when it is cut. Fixed: any bits, and values written that
 * must be read. The first byte chooses: the bytes are coded (0), plain (1), values (2).
 */
#include <errno.h>

#include "lib/huffman.h"
#include "fuzz/q3/q3_mutate.h"

static uint8_t plain[2048], coded[8192], again[2048];

static void adaptive_coded(const uint8_t *data, size_t n)
{
	int count = huffman_adaptive_decode(data, n, plain, sizeof(plain)), length;

	if (count <= 0)
		return;
	/* Not the same bytes: a symbol may be spelled out although it has a code. */
	length = huffman_adaptive_encode(plain, (size_t)count, coded, sizeof(coded));
	must(length >= 3 &&
	     huffman_adaptive_decode(coded, (size_t)length, again, sizeof(again)) ==
		     count &&
	     !memcmp(plain, again, (size_t)count));
}

/* @cut: how many bytes less, and then one bit that is another. */
static void adaptive_plain(const uint8_t *data, size_t n, uint8_t cut, uint8_t flip)
{
	int length = huffman_adaptive_encode(data, n, coded, sizeof(coded)), count;
	uint8_t *copy;

	if (!n || n > sizeof(again)) {
		must(length == -EINVAL || n > sizeof(again));
		return;
	}
	must(length >= 3);
	count = huffman_adaptive_decode(coded, (size_t)length, again, sizeof(again));
	must(count == (int)n && !memcmp(data, again, n));
	if (cut > length)
		cut = (uint8_t)length;
	copy = exact_copy(coded, (size_t)(length - cut));
	if (cut)
		must(huffman_adaptive_decode(copy, (size_t)(length - cut), again,
					     sizeof(again)) < 0);
	else if (length > 2 + flip)
		copy[2 + flip] ^= (uint8_t)(1U << (flip & 7));
	adaptive_coded(copy, (size_t)(length - cut));
	free(copy);
}

static void fixed_bits(const uint8_t *data, size_t n)
{
	static char text[Q3_BIGSTRING_MAX + 1];
	struct q3_bits b = q3_bits_of(data, n);
	uint8_t bytes[4];

	for (unsigned int i = 0; i <= n && !q3_bits_failed(&b); i++) {
		q3_get(&b, 1 + i % 32);
		if (i % 7 == 0)
			q3_get_string(&b, text, i % 2 ? Q3_STRING_MAX : Q3_BIGSTRING_MAX);
		if (i % 7 == 3)
			q3_get_bytes(&b, bytes, sizeof(bytes));
	}
}

/* Five bytes are a width and a value. */
static void fixed_values(const uint8_t *data, size_t n)
{
	struct q3_bit_writer w = { coded, 0, sizeof(coded) * 8 };
	struct q3_bits b;
	uint8_t *copy;
	size_t count = n / 5;

	if (count > 1024)
		count = 1024;
	for (size_t i = 0; i < count; i++) {
		uint32_t value;

		memcpy(&value, data + 5 * i + 1, sizeof(value));
		q3_write(&w, value, 1 + (data[5 * i] & 31U));
	}
	copy = exact_copy(coded, (w.bits + 7) / 8);
	b = q3_bits_of(copy, (w.bits + 7) / 8);
	for (size_t i = 0; i < count; i++) {
		unsigned int bits = 1 + (data[5 * i] & 31U);
		uint32_t value, all = bits < 32 ? (1U << bits) - 1 : UINT32_MAX;

		memcpy(&value, data + 5 * i + 1, sizeof(value));
		must(data[5 * i] & 32
			     ? q3_get_int(&b, -(int)bits) == q3_extend(value & all, bits)
			     : q3_get(&b, bits) == (value & all));
	}
	must(!q3_bits_failed(&b) && b.pos == w.bits);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;
	size_t n;

	if (size < 3)
		return 0;
	n = size - 3;
	copy = exact_copy(data + 3, n);
	switch (data[0] % 3) {
	case 0:
		adaptive_coded(copy, n);
		fixed_bits(copy, n);
		break;
	case 1:
		adaptive_plain(copy, n, data[1], data[2]);
		break;
	default:
		fixed_values(copy, n);
		break;
	}
	free(copy);
	return 0;
}
