// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_connlimit.c - the arithmetic of connlimit.h against counts that are kept in plain
 * integers, over many periods.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "abi.h"

static __u64 add(__u64 cell, __u64 period, bool heard, bool fresh)
{
	cell = connlimit_at(cell, period);
	return cell + connlimit_more(cell, heard, fresh);
}

static unsigned int most(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

/* The counts of a period are forgotten after the next. */
static void periods_pass(void **state)
{
	static const __u64 starts[] = { 1, 0xfffe, 0xffff, 0x10000, 1ull << 32 };

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		__u64 p = starts[i], cell = p << CONNLIMIT_PERIOD;

		for (int n = 0; n < 5; n++)
			cell = add(cell, p, n < 3, false);
		assert_int_equal(connlimit_count(cell, 0), 5);
		assert_int_equal(connlimit_count(cell, CONNLIMIT_RECEIVED), 3);
		/* A processor with a clock that is behind takes nothing away. */
		assert_int_equal(connlimit_at(cell, p - 1), cell);
		assert_int_equal(connlimit_count(connlimit_at(cell, p + 1), 0), 5);
		assert_int_equal(connlimit_count(connlimit_at(cell, p + 1),
						 CONNLIMIT_RECEIVED),
				 3);
		assert_int_equal(connlimit_count(connlimit_at(cell, p + 2), 0), 0);
		cell = add(cell, p + 1, true, false);
		assert_int_equal(connlimit_count(cell, 0), 5);
		cell = add(cell, p + 1, false, true);
		assert_int_equal(connlimit_count(cell, 0), 6);
		assert_int_equal(connlimit_count(cell, CONNLIMIT_RECEIVED), 3);
		assert_int_equal(connlimit_count(connlimit_at(cell, p + 2), 0), 2);
		assert_int_equal(connlimit_count(connlimit_at(cell, p + 2),
						 CONNLIMIT_RECEIVED),
				 1);
		assert_int_equal(connlimit_count(connlimit_at(cell, p + 3), 0), 0);
	}
}

/* Random players over random periods, beside two pairs of integers. */
static void counts_are_those_of_integers(void **state)
{
	unsigned int held[2] = { 0 }, heard[2] = { 0 }, seed = 34;
	__u64 cell = connlimit_at(0, 7), period = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		unsigned int draw = (unsigned int)rand_r(&seed);
		bool hears = draw & 1, fresh = draw & 2;

		if (!(draw >> 2 & 0xff)) {
			unsigned int steps = 1 + (draw >> 10 & 1);

			period += steps;
			held[1] = steps == 1 ? held[0] : 0;
			heard[1] = steps == 1 ? heard[0] : 0;
			held[0] = heard[0] = 0;
		}
		cell = add(cell, period, hears, fresh);
		if (most(held[0], held[1]) < CONNLIMIT_MOST) {
			held[0]++;
			heard[0] += hears;
			held[1] += fresh;
			heard[1] += fresh && hears;
		}
		assert_int_equal(connlimit_count(cell, 0), most(held[0], held[1]));
		assert_int_equal(connlimit_count(cell, CONNLIMIT_RECEIVED),
				 most(heard[0], heard[1]));
	}
}

/* It stays there, and runs into nothing beside it. */
static void a_count_has_an_end(void **state)
{
	__u64 cell = connlimit_at(0, 9);

	(void)state;
	for (int i = 0; i < 3 * CONNLIMIT_MOST; i++)
		cell = add(cell, 9, true, true);
	assert_int_equal(connlimit_count(cell, 0), CONNLIMIT_MOST);
	assert_int_equal(cell >> CONNLIMIT_PERIOD, 9);
	cell = add(cell, 10, false, true);
	assert_int_equal(connlimit_count(cell, 0), CONNLIMIT_MOST);
	assert_int_equal(cell >> CONNLIMIT_PERIOD, 10);
	assert_int_equal(connlimit_count(connlimit_at(cell, 11), 0), 0);
}

static void a_limit_bounds_players_heard_and_twice_as_many_held(void **state)
{
	static const struct {
		unsigned int heard, silent, limit;
		bool full;
	} rows[] = {
		{ 0, 0, 1, false },	 { 1, 0, 1, true },    { 0, 1, 1, false },
		{ 0, 2, 1, true },	 { 15, 0, 16, false }, { 16, 0, 16, true },
		{ 0, 31, 16, false },	 { 0, 32, 16, true },  { 15, 16, 16, false },
		{ 15, 17, 16, true },	 { 999, 0, 0, false }, { 0, 1999, 1000, false },
		{ 0, 2000, 1000, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		__u64 cell = connlimit_at(0, 5);

		for (unsigned int n = 0; n < rows[i].heard; n++)
			cell = add(cell, 5, true, false);
		for (unsigned int n = 0; n < rows[i].silent; n++)
			cell = add(cell, 5, false, false);
		assert_int_equal(connlimit_full(cell, rows[i].limit), rows[i].full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_pass),
		cmocka_unit_test(counts_are_those_of_integers),
		cmocka_unit_test(a_count_has_an_end),
		cmocka_unit_test(a_limit_bounds_players_heard_and_twice_as_many_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
