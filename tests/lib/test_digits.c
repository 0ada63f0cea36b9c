// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * digits.h against printf(3): integers of each length, and floats with a ninth digit
 * that is exact, rounds up or down, or is a tie.
 */
#include <float.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/digits.h"

#define ROUNDS 300000

static void expect_int(int64_t value)
{
	char expected[DIGITS_ROOM], got[DIGITS_ROOM];

	snprintf(expected, sizeof(expected), "%" PRId64, value);
	*digits_int(got, value) = '\0';
	assert_string_equal(got, expected);
	snprintf(expected, sizeof(expected), "%" PRIu64, (uint64_t)value);
	*digits_uint(got, (uint64_t)value) = '\0';
	assert_string_equal(got, expected);
}

static void integers_are_printed_as_printf_does(void **state)
{
	uint64_t ten = 1;

	(void)state;
	for (int i = 0; i < 20; i++, ten *= 10) {
		expect_int((int64_t)ten);
		expect_int((int64_t)(ten - 1));
		expect_int((int64_t)(0 - ten));
	}
	expect_int(INT64_MIN);
	expect_int(INT64_MAX);
	expect_int(-1);
}

/* Whole numbers are written without an exponent, as they always were. */
static void expect_float(double value)
{
	char expected[DIGITS_ROOM], got[DIGITS_ROOM];
	bool whole = fabs(value) < 1e15 && value == floor(value);

	if (whole)
		snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)value);
	else
		snprintf(expected, sizeof(expected), "%.9g", value);
	*digits_float(got, value) = '\0';
	assert_string_equal(got, expected);
}

static void around(double value)
{
	double below = value, above = value;

	expect_float(value);
	for (int i = 0; i < 3; i++) {
		below = nextafter(below, -DBL_MAX);
		above = nextafter(above, DBL_MAX);
		expect_float(below);
		expect_float(above);
		expect_float(-above);
	}
}

/* Multiples of 1/64 of each size: some have more than nine digits. */
static void parts_of_two_are_printed_as_printf_does(void **state)
{
	(void)state;
	for (int64_t whole = 0; whole < 1000000000; whole = whole * 9 + 1)
		for (int i = 0; i < 64 * 3; i++) {
			expect_float((double)whole + i / 64.0);
			expect_float(-(double)whole - i / 64.0);
		}
	for (int64_t edge = 1000; edge < 100000000; edge *= 10)
		for (int i = -96; i < 96; i++)
			expect_float((double)edge + i / 32.0);
}

/* A number of nine digits, and all that lies next to it and halfway to the next. */
static void ninth_digit_is_rounded_as_printf_does(void **state)
{
	static const double firsts[] = { 0,	     0.001,	  0.5,	     1,
					 100000000,  123456789,	  999999998, 999999999,
					 0.99999999, 0.999999999, 9.9999999 };

	double unit = 1e-14;

	(void)state;
	for (int power = -14; power < 11; power++, unit *= 10)
		for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
			around(firsts[i] * unit);
			around((firsts[i] + 0.5) * unit);
			around((firsts[i] + 0.25) * unit);
		}
	/* Ties that a double holds exactly: to the even digit, up and down. */
	around(100000000.5);
	around(100000001.5);
	around(10000000.25);
	around(10000000.75 + 0.5);
	around(1 + 1.0 / 1024);
	around(1e-4);
	around(DBL_MIN);
	around(DBL_MAX / 2);
	expect_float(-0.0);
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void values_of_games_are_printed_as_printf_does(void **state)
{
	static const double units[] = { 1.0 / 8,   360.0 / 256, 360.0 / 65536,
					1.0 / 255, 1.0 / 64,	1.0 / 3 };
	uint64_t seed = 88172645463325252;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t word = next(&seed);
		uint32_t low = (uint32_t)word;
		double wide;
		float f;

		memcpy(&f, &low, sizeof(f));
		memcpy(&wide, &word, sizeof(wide));
		if (isfinite(f))
			expect_float((double)f);
		if (isfinite(wide))
			expect_float(wide);
		expect_float((int16_t)word * units[word >> 16 & 3]);
		expect_float((double)(int32_t)low / (double)(1 + (word >> 40)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_printed_as_printf_does),
		cmocka_unit_test(parts_of_two_are_printed_as_printf_does),
		cmocka_unit_test(ninth_digit_is_rounded_as_printf_does),
		cmocka_unit_test(values_of_games_are_printed_as_printf_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
