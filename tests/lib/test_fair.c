// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fair.h: a rate is divided max-min fair, whatever is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/fair.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define RATE	 80000ull
#define MOST	 256

static void parts_beyond_the_most_are_cut_to_it(void **state)
{
	static const struct {
		__u64 ask[4], most;
	} rows[] = {
		{ { 0, 0, 0, 0 }, RATE },
		{ { 10, 20, 30, 40 }, RATE },
		{ { 1u << 30, 0, 0, 0 }, RATE },
		{ { 1u << 30, 0, 10000, 0 }, RATE - 10000 },
		{ { 1u << 30, 1u << 30, 10000, 0 }, (RATE - 10000) / 2 },
		{ { 1u << 30, 1u << 30, 1u << 30, 1u << 30 }, RATE / 4 },
		{ { 1u << 30, RATE / 3, 1u << 30, 100 }, (RATE - 100) / 3 },
		{ { 1u << 30, 20000, 100, 100 }, RATE - 20200 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(fair_most(rows[i].ask, 4, RATE), rows[i].most);
}

static void parts_follow_what_is_asked_for(void **state)
{
	static const struct {
		__u64 ask[4], part[4];
	} rows[] = {
		/* An eighth of a fourth each at least, and equal parts of the rest. */
		{ { 0, 0, 0, 0 }, { 20000, 20000, 20000, 20000 } },
		{ { 90000, 0, 0, 0 }, { 72500, 2500, 2500, 2500 } },
		{ { 1ull << 50, 3000, 90, 2600 }, { 71900, 3000, 2500, 2600 } },
		{ { 1ull << 50, 3000, 90, 80000 }, { 37250, 3000, 2500, 37250 } },
		{ { 30000, 30000, 0, 0 }, { 33750, 33750, 6250, 6250 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		__u64 parts[4];

		memcpy(parts, rows[i].ask, sizeof(parts));
		fair_divide(parts, 4, RATE);
		for (int j = 0; j < 4; j++)
			assert_int_equal(parts[j], rows[i].part[j]);
	}
}

/* Hold that fair_divide() has made max-min fair parts of @ask. */
static void assert_fair(const __u64 *ask, const __u64 *parts, __u32 count, __u64 rate)
{
	__u64 sum = 0, least = rate / FAIR_LEAST / count, wants = 0, smallest = ~0ull;

	for (__u32 i = 0; i < count; i++) {
		sum += parts[i];
		assert_true(parts[i] >= least);
		if (parts[i] < ask[i]) {
			wants++;
			smallest = parts[i] < smallest ? parts[i] : smallest;
		}
	}
	assert_true(sum <= rate);
	if (!wants)
		return;
	/* All but what cannot be divided is given away, ... */
	assert_true(rate - sum < count);
	for (__u32 i = 0; i < count; i++) {
		/* ... to none more than it asks for, but the least, ... */
		assert_true(parts[i] <= (ask[i] > least ? ask[i] : least));
		/* ... and to none more than to another that wants more. */
		assert_true(parts[i] <= smallest);
	}
}

/* A number with a random number of digits. */
static __u64 any_number(void)
{
	return (__u64)random() >> random() % 32;
}

static void any_division_is_fair(void **state)
{
	__u64 ask[MOST] = { 0 }, parts[MOST], rate;

	(void)state;
	srandom(1);
	for (int round = 0; round < 5000; round++) {
		__u32 count = 1 + (__u32)random() % MOST;

		rate = any_number();
		for (__u32 i = 0; i < count; i++)
			ask[i] = any_number();
		memcpy(parts, ask, sizeof(parts));
		fair_divide(parts, count, rate);
		assert_fair(ask, parts, count, rate);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_beyond_the_most_are_cut_to_it),
		cmocka_unit_test(parts_follow_what_is_asked_for),
		cmocka_unit_test(any_division_is_fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
