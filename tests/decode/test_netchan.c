// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the channels share, alone: which sequence is newer, and messages in slices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "decode/netchan.h"

#define COUNT(a)  (sizeof(a) / sizeof(*(a)))
#define SPAN(s)	  ((struct span){ (const uint8_t *)(s), sizeof(s) - 1 })
#define ALL_BYTES 64

/* Sequences count on beyond 2^32, and what is behind is behind there too. */
static void newer_across_the_end(void **state)
{
	static const struct {
		uint32_t sequence;
		enum netchan_order order;
	} rows[] = {
		{ 0xfffffffe, NETCHAN_NEWER }, { 0xfffffffe, NETCHAN_REPEATED },
		{ 0xfffffff0, NETCHAN_OLDER }, { 3, NETCHAN_NEWER },
		{ 0xffffffff, NETCHAN_OLDER }, { 2, NETCHAN_OLDER },
		{ 4, NETCHAN_NEWER },
	};
	struct netchan_side side = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(netchan_order(&side, rows[i].sequence), rows[i].order);
}

/* A leap counts, until the next go on from where it leapt off. */
static void a_leap_is_forgotten(void **state)
{
	static const struct {
		uint32_t sequence;
		enum netchan_order order;
	} rows[] = {
		{ 100, NETCHAN_NEWER },
		{ 100 + NETCHAN_JUMP - 1, NETCHAN_NEWER }, /* no leap */
		{ 101, NETCHAN_OLDER },
		{ 1000, NETCHAN_NEWER },
		{ 228, NETCHAN_NEWER }, /* what leapt was damaged, or forged */
		{ 229, NETCHAN_NEWER },
		{ 2000, NETCHAN_NEWER },
		{ 229, NETCHAN_OLDER }, /* not beyond it: nothing goes on */
		{ 2001, NETCHAN_NEWER },
		{ 230, NETCHAN_OLDER },
	};
	struct netchan_side side = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(netchan_order(&side, rows[i].sequence), rows[i].order);
}

/*
 * A datagram that is far behind or has other bytes is strange. So are those that follow
 * it in a row.
 */
static void strange_ones_in_a_row_begin_anew(void **state)
{
	static const struct {
		uint32_t sequence;
		uint16_t sum;
		enum netchan_lateness late;
	} rows[] = {
		{ 100, 1, NETCHAN_OVERTAKEN }, /* the same again */
		{ 99, 7, NETCHAN_OVERTAKEN }, /* was not seen */
		{ 98, 1, NETCHAN_OVERTAKEN },  { 98, 2, NETCHAN_STRANGE },
		{ 99, 7, NETCHAN_STRANGE }, /* behind a strange one */
		{ 69, 7, NETCHAN_OVERTAKEN }, /* another row */
		{ 68, 7, NETCHAN_STRANGE }, /* 32 behind */
		{ 1, 0, NETCHAN_STRANGE },     { 3, 0, NETCHAN_STRANGE },
		{ 4, 0, NETCHAN_STRANGE },     { 5, 0, NETCHAN_STRANGE },
		{ 6, 0, NETCHAN_STRANGE },     { 7, 0, NETCHAN_STRANGE },
		{ 8, 0, NETCHAN_STRANGE },     { 16, 0, NETCHAN_ANEW },
	};
	struct netchan_late l = { 0 };

	(void)state;
	netchan_late_newer(&l, 98, 1);
	netchan_late_newer(&l, 100, 1);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(netchan_late(&l, rows[i].sequence, rows[i].sum),
				 rows[i].late);
}

static void sum_is_of_all_bytes(void **state)
{
	uint8_t bytes[20] = { 0 };
	uint16_t sum = netchan_sum((struct span){ bytes, sizeof(bytes) });

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_int_not_equal(netchan_sum((struct span){ bytes, sizeof(bytes) }),
				     sum);
		assert_int_not_equal(netchan_sum((struct span){ bytes, i }),
				     netchan_sum((struct span){ bytes, i + 1 }));
		bytes[i] = 0;
	}
}

static void assert_message(const struct netchan_slices *s, const char *text)
{
	assert_int_equal(s->used, strlen(text));
	assert_memory_equal(s->bytes, text, s->used);
}

/* Each message is of its own chunks only, whole or not. */
static void chunks_make_messages(void **state)
{
	struct netchan_slices s = { 0 };

	(void)state;
	assert_int_equal(netchan_chunk(&s, 0, false, SPAN("ab"), ALL_BYTES),
			 NETCHAN_STORED);
	assert_int_equal(netchan_chunk(&s, 0, false, SPAN("ab"), ALL_BYTES),
			 NETCHAN_SEEN);
	assert_int_equal(netchan_chunk(&s, 1, true, SPAN("c"), ALL_BYTES), NETCHAN_WHOLE);
	assert_message(&s, "abc");
	assert_int_equal(netchan_chunk(&s, 2, true, SPAN("de"), ALL_BYTES),
			 NETCHAN_WHOLE);
	assert_message(&s, "de");
	/* 3 is lost: what it began has no beginning, and what follows is whole again. */
	assert_int_equal(netchan_chunk(&s, 4, true, SPAN("g"), ALL_BYTES),
			 NETCHAN_MISSED);
	assert_int_equal(netchan_chunk(&s, 5, false, SPAN("hi"), ALL_BYTES),
			 NETCHAN_STORED);
	assert_int_equal(netchan_chunk(&s, 6, true, SPAN("j"), ALL_BYTES), NETCHAN_WHOLE);
	assert_message(&s, "hij");
	netchan_slices_drop(&s);
}

/* What is too long is dropped, and only that. */
static void chunks_have_a_bound(void **state)
{
	struct netchan_slices s = { 0 };

	(void)state;
	assert_int_equal(netchan_chunk(&s, 0, false, SPAN("abc"), 4), NETCHAN_STORED);
	assert_int_equal(netchan_chunk(&s, 1, false, SPAN("de"), 4), NETCHAN_TOO_LONG);
	assert_int_equal(netchan_chunk(&s, 2, true, SPAN("f"), 4), NETCHAN_MISSED);
	assert_int_equal(netchan_chunk(&s, 3, true, SPAN("ghij"), 4), NETCHAN_WHOLE);
	assert_message(&s, "ghij");
	netchan_slices_drop(&s);
}

static void fragments_make_messages(void **state)
{
	struct netchan_slices s = { 0 };

	(void)state;
	assert_int_equal(netchan_fragment(&s, 7, 0, true, SPAN("ab"), ALL_BYTES),
			 NETCHAN_STORED);
	assert_int_equal(netchan_fragment(&s, 7, 0, true, SPAN("ab"), ALL_BYTES),
			 NETCHAN_SEEN);
	assert_int_equal(netchan_fragment(&s, 7, 2, false, SPAN("c"), ALL_BYTES),
			 NETCHAN_WHOLE);
	assert_message(&s, "abc");
	assert_int_equal(netchan_fragment(&s, 7, 2, false, SPAN("c"), ALL_BYTES),
			 NETCHAN_SEEN);
	assert_int_equal(netchan_fragment(&s, 8, 2, false, SPAN("c"), ALL_BYTES),
			 NETCHAN_MISSED);
	assert_int_equal(netchan_fragment(&s, 9, 0, false, SPAN("d"), ALL_BYTES),
			 NETCHAN_WHOLE);
	assert_message(&s, "d");
	assert_int_equal(netchan_fragment(&s, 10, 0, true, SPAN("efg"), 2),
			 NETCHAN_TOO_LONG);
	netchan_slices_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newer_across_the_end),
		cmocka_unit_test(a_leap_is_forgotten),
		cmocka_unit_test(strange_ones_in_a_row_begin_anew),
		cmocka_unit_test(sum_is_of_all_bytes),
		cmocka_unit_test(chunks_make_messages),
		cmocka_unit_test(chunks_have_a_bound),
		cmocka_unit_test(fragments_make_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
