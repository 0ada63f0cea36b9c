// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_duration.c - lengths of time as people write them, and as we do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/duration.h"

#define COUNT(a)  (sizeof(a) / sizeof(*(a)))
#define SECOND_NS 1000000000ull

static void good(void **state)
{
	static const struct {
		const char *text;
		__u64 seconds;
		const char *shown;
	} rows[] = {
		{ "1s", 1, "1s" },
		{ "59s", 59, "59s" },
		{ "60s", 60, "1m" },
		{ "10m", 600, "10m" },
		{ "1h", 3600, "1h" },
		{ "1h30m", 5400, "1h30m" },
		{ "90m", 5400, "1h30m" },
		{ "7d", 604800, "7d" },
		{ "1d1s", 86401, "1d" }, /* shown by two neighbours at most */
		{ "3650d", DURATION_MAX_S, "3650d" },
	};
	char shown[DURATION_TEXT];
	__u64 ns;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(duration_parse(rows[i].text, &ns));
		assert_int_equal(ns, rows[i].seconds * SECOND_NS);
		duration_format(ns, shown);
		assert_string_equal(shown, rows[i].shown);
	}
	duration_format(SECOND_NS - 1, shown);
	assert_string_equal(shown, "0s");
}

static void bad(void **state)
{
	static const char *const rows[] = {
		"",	"1",	  "h",	"0s",	 "1h30", "1 h",
		"-1h",	"1.5h",	  "1w", "3651d", "1hh",	 "99999999999999999999s",
		"1h\n", "0d0h0m",
	};
	__u64 ns = 7;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_false(duration_parse(rows[i], &ns));
		assert_int_equal(ns, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
