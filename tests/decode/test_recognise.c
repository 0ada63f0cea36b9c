// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_recognise.c - demos by their content: chains of few and of many blocks, one that
 * is unsound at each place, and cut at each octet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/demo.h"
#include "decode/demo_recognise.h"

#define BYTES(literal) (literal), sizeof(literal) - 1
#define CHAIN	       4 /* blocks that are looked at */

static const struct chain {
	enum demo_format format;
	const char *before;
	size_t before_n;
	const char *first, *next, *unsound;
	size_t first_n, next_n, unsound_n;
} chains[] = {
	{ DEMO_DEM, BYTES("-1\n"), "\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\1",
	  "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", /* an angle that is none: */
	  "\1\0\0\0\0\0\0\0\0\0\x80\x7f\0\0\0\0\1", 19, 17, 17 },
	{ DEMO_DM2, BYTES(""), "\6\0\0\0\x0c\x22\0\0\0\0", "\2\0\0\0\6\6", "\0\0\0\0\6\6",
	  10, 6, 6 },
	{ DEMO_MVD, BYTES(""), "\0\1\5\0\0\0\x0b\x1c\0\0\0", "\1\1\2\0\0\0\1\1",
	  "\1\7\2\0\0\0\1\1", 11, 8, 8 },
	{ DEMO_QWD, BYTES(""), "\0\0\x80\x3f\1\5\0\0\0\xff\xff\xff\xffx",
	  "\0\0\x80\x3f\2\1\0\0\0\1\0\0\0", "\0\0\x80\x3f\3\1\0\0\0\1\0\0\0", 14, 13,
	  13 },
};

#define COUNT (sizeof(chains) / sizeof(*chains))

static uint8_t bytes[4096];

static size_t put(size_t n, const char *block, size_t block_n)
{
	assert_true(n + block_n <= sizeof(bytes));
	memcpy(bytes + n, block, block_n);
	return n + block_n;
}

/* @unsound: at which place such a block stands; @blocks: at none. */
static size_t build(const struct chain *c, int blocks, int unsound)
{
	size_t n = put(0, c->before, c->before_n);

	n = put(n, c->first, c->first_n);
	for (int i = 1; i < blocks; i++)
		n = i == unsound ? put(n, c->unsound, c->unsound_n)
				 : put(n, c->next, c->next_n);
	return n;
}

static void any_number_of_blocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		for (int blocks = 1; blocks < 12; blocks++)
			assert_int_equal(
				demo_recognise(bytes, build(&chains[i], blocks, blocks)),
				chains[i].format);
}

static void as_many_as_are_looked_at_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		for (int at = 1; at < 8; at++) {
			size_t n = build(&chains[i], 8, at);

			assert_int_equal(demo_recognise(bytes, n),
					 at < CHAIN ? DEMO_NONE : chains[i].format);
		}
	}
}

/* The first block has to be whole, the last need not. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		const struct chain *c = &chains[i];
		size_t n = build(c, 3, 3);

		for (size_t cut = 0; cut <= n; cut++) {
			bool whole = cut >= c->before_n + c->first_n;

			assert_int_equal(demo_recognise(bytes, cut),
					 whole ? c->format : DEMO_NONE);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_blocks),
		cmocka_unit_test(as_many_as_are_looked_at_are_sound),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
