// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_q3_texts.c - the store of commands, from which keys are made: which numbers it
 * has, how long a text stays, and that what stays is what was put.
 */
#include "decode/decode_support.h"
#include "decode/q3/q3_state.h"

static struct q3_texts texts;
static const struct q3_dialect old, kept = { .flags = Q3_KEEP_HIGH | Q3_KEEP_PERCENT };

static int begin(void **state)
{
	(void)state;
	memset(&texts, 0xee, sizeof(texts));
	q3_texts_reset(&texts, true);
	return 0;
}

/* @n octets that tell @number. */
static const char *text_of(int32_t number, size_t n)
{
	static char text[Q3_STRING_MAX + 64];

	for (size_t i = 0; i < n; i++)
		text[i] = (char)('A' + (number * 7 + (int32_t)i) % 26);
	return text;
}

static void put(int32_t number, size_t n)
{
	assert_true(q3_text_put(&texts, number, text_of(number, n), n, &old));
}

/* The text of @number is there, with @n octets, and is what was put. */
static void is_whole(int32_t number, size_t n)
{
	const struct q3_text *t = q3_text_find(&texts, number);

	assert_non_null(t);
	assert_int_equal(t->n, n);
	assert_memory_equal(q3_text_bytes(&texts, t), text_of(number, n), n);
	/* Within the store. */
	assert_true(t->at % Q3_TEXT_BYTES + n <= Q3_TEXT_BYTES);
}

static void numbers_only_grow(void **state)
{
	(void)state;
	assert_non_null(q3_text_find(&texts, 0)); /* the empty one */
	assert_int_equal(q3_text_find(&texts, 0)->n, 0);
	put(3, 10);
	put(5, 20);
	assert_int_equal(texts.last, 5);
	assert_false(q3_text_put(&texts, 3, "other", 5, &old));
	is_whole(3, 10);
	put(4, 5); /* late, but new */
	assert_int_equal(texts.last, 5);
	assert_null(q3_text_find(&texts, 6));
	/* The place of 3 is another's. */
	put(3 + Q3_TEXTS, 7);
	assert_null(q3_text_find(&texts, 3));
	is_whole(3 + Q3_TEXTS, 7);
	assert_false(q3_text_put(&texts, 3, text_of(3, 10), 10, &old));
	is_whole(4, 5);
	is_whole(5, 20);
	q3_texts_reset(&texts, false);
	assert_null(q3_text_find(&texts, 0));
	assert_null(q3_text_find(&texts, 5));
	assert_int_equal(texts.last, 0);
}

/* Until it would be overwritten: to the octet. */
static void a_text_stays_until_there_is_no_room(void **state)
{
	enum {
		N = 1000,
		MATCH_OK = Q3_TEXT_BYTES / N,
		REST = Q3_TEXT_BYTES - MATCH_OK * N
	};

	(void)state;
	for (int32_t i = 1; i <= MATCH_OK; i++)
		put(i, N);
	put(MATCH_OK + 1, REST); /* to the very end */
	for (int32_t i = 1; i <= MATCH_OK; i++)
		is_whole(i, N);
	is_whole(MATCH_OK + 1, REST);
	/* One octet at the beginning, and the first has lost one. */
	put(MATCH_OK + 2, 1);
	assert_null(q3_text_find(&texts, 1));
	is_whole(2, N);
	put(MATCH_OK + 3, N);
	assert_null(q3_text_find(&texts, 2));
	is_whole(3, N);
	is_whole(MATCH_OK + 2, 1);
	is_whole(MATCH_OK + 3, N);
}

/* What does not fit at the end goes to the beginning, whole. */
static void texts_do_not_wrap_around(void **state)
{
	(void)state;
	for (int32_t i = 1; i < 2000; i++) {
		size_t n = (size_t)(i * 389 % Q3_STRING_MAX);

		put(i, n);
		is_whole(i, n);
		/* 32 longest ones have room behind each other, whatever is left over. */
		for (int32_t back = i > 32 ? i - 32 : 1; back < i; back++)
			is_whole(back, (size_t)(back * 389 % Q3_STRING_MAX));
	}
}

/* As the client holds it, and no longer than that. */
static void texts_are_as_clients_hold_them(void **state)
{
	static const char said[] = "100% \x7f\x80\xff";
	const struct q3_text *t;

	(void)state;
	assert_true(q3_text_put(&texts, 1, said, 8, &old));
	t = q3_text_find(&texts, 1);
	assert_memory_equal(q3_text_bytes(&texts, t), "100. \x7f..", 8);
	assert_true(q3_text_put(&texts, 2, said, 8, &kept));
	assert_memory_equal(q3_text_bytes(&texts, q3_text_find(&texts, 2)), said, 8);
	assert_int_not_equal(t->hash, q3_text_find(&texts, 2)->hash);
	put(3, Q3_STRING_MAX);
	is_whole(3, Q3_STRING_MAX);
	put(4, Q3_STRING_MAX + 1);
	is_whole(4, Q3_STRING_MAX);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_only_grow),
		TEST(a_text_stays_until_there_is_no_room),
		TEST(texts_do_not_wrap_around),
		TEST(texts_are_as_clients_hold_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
