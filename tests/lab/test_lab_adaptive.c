// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lab_adaptive.c - the lab's client must speak `connect` as real servers read it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lab/adaptive.h"

/* From the 1.32 coder. */
static const struct {
	const char *text;
	const char *hex;
} vectors[] = {
	{ "a", "00018600" },
	{ "aa", "00028601" },
	{ "ab", "0002868c00" },
	{ "abracadabra", "000b868c701263636203" },
	{ "\"\\protocol\\68\\qport\\1234\\challenge\\-1234567\\name\\Player\\rate\\25000\"",
	  "00434474708813ecc7a5612cd8e8b0198e05c7f9c40c63c35430272c4b81856118443145ec08737a"
	  "845611443eac6cc15ebc0c6ca11e054f014f833293bd961c06282901" },
};

static void test_packs_as_the_engine(void **state)
{
	char hex[512];
	uint8_t out[256];
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		size = adaptive_pack(vectors[i].text, strlen(vectors[i].text), out,
				     sizeof(out));
		for (size_t at = 0; at < size; at++)
			sprintf(hex + 2 * at, "%02x", out[at]);
		assert_string_equal(hex, vectors[i].hex);
	}
}

static void test_unpacks_what_it_packed(void **state)
{
	char text[1024], back[1024];
	uint8_t out[2048];
	uint32_t random = 1;
	size_t size;

	(void)state;
	for (size_t length = 1; length < sizeof(text); length += 7) {
		for (size_t i = 0; i < length; i++) {
			random = random * 1664525 + 1013904223;
			text[i] = random >> 24;
		}
		size = adaptive_pack(text, length, out, sizeof(out));
		assert_int_not_equal(size, 0);
		assert_int_equal(adaptive_unpack(out, size, back, sizeof(back)), length);
		assert_memory_equal(text, back, length);
	}
}

static void test_refuses_what_is_cut_short(void **state)
{
	const char *text = vectors[4].text;
	char back[256];
	uint8_t out[256];
	size_t size = adaptive_pack(text, strlen(text), out, sizeof(out));

	(void)state;
	/* The last byte may hold no bits. */
	for (size_t cut = 0; cut + 1 < size; cut++)
		assert_int_equal(adaptive_unpack(out, cut, back, sizeof(back)), 0);
	for (size_t max = 0; max < size; max++)
		assert_int_equal(adaptive_pack(text, strlen(text), out, max), 0);
	assert_int_equal(adaptive_unpack(out, size, back, strlen(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_as_the_engine),
		cmocka_unit_test(test_unpacks_what_it_packed),
		cmocka_unit_test(test_refuses_what_is_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
