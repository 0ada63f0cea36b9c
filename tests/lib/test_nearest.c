// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_nearest.c - how far words are from each other, and when none is near enough.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/nearest.h"

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned int distance;
	} rows[] = {
		{ "", "", 0 },
		{ "status", "status", 0 },
		{ "STATUS", "status", 0 },
		{ "", "abc", 3 },
		{ "abc", "", 3 },
		{ "stats", "status", 1 }, /* one left out */
		{ "statsu", "status", 1 }, /* two exchanged */
		{ "statzs", "status", 1 }, /* one is another */
		{ "sttaus", "status", 1 },
		{ "kitten", "sitting", 3 },
		{ "ca", "abc", 3 },
		{ "0123456789012345678901234567890", "x23456789012345678901234567890",
		  2 },
		{ "01234567890123456789012345678901", "a", NEAREST_MAX + 1 },
		{ "a", "01234567890123456789012345678901", NEAREST_MAX + 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(nearest_distance(rows[i].a, rows[i].b),
				 rows[i].distance);
		assert_int_equal(nearest_distance(rows[i].b, rows[i].a),
				 rows[i].distance);
	}
}

static const char *nearest_of(const char *word, const char *const *known)
{
	struct nearest n;

	nearest_begin(&n, word);
	for (; *known; known++)
		nearest_try(&n, *known);
	return nearest_found(&n);
}

static void choices(void **state)
{
	static const char *const known[] = { "allow", "deny", "detach", "decode", NULL };
	static const char *const none[] = { NULL };

	(void)state;
	assert_string_equal(nearest_of("alow", known), "allow");
	assert_string_equal(nearest_of("detahc", known), "detach");
	assert_string_equal(nearest_of("decod", known), "decode");
	assert_null(nearest_of("reload", known));
	assert_null(nearest_of("", known));
	assert_null(nearest_of("dog", known));
	assert_null(nearest_of("allow", none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
