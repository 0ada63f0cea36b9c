// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_old_names.c - each key of before the first release has a new name where it was
 * one, and nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/old_names.h"

static void keys_have_new_names(void **state)
{
	static const struct {
		const char *section, *old, *now;
	} rows[] = {
		{ "root", "ledger", "amplification" },
		{ "root", "proof", "validation" },
		{ "root", "answers", "cache" },
		{ "root", "on_exit", "on-exit" },
		{ "service", "proof", "validation" },
		{ "service", "answers", "cache" },
		{ "query", "global", "service" },
		{ "netchan", "global", "service" },
		{ "amplification", "window", "refill" },
		{ "amplification", "strict", "mode = limit' or 'mode = strict" },
		{ "cache", "rate", "bytes-per-second" },
		{ "sample", "every", "one-in" },
		{ "follow", "one_in", "one-in" },
		{ "follow", "psk_identity", "psk-identity" },
		{ "follow", "psk_file", "psk-file" },
		{ "output", "cpu", "cpu-percent" },
		{ "root", "strict", NULL },
		{ "validation", "rate", NULL },
		{ "service", "ledger", NULL },
		{ "follow", "every", NULL },
		{ "root", "mode", NULL },
		{ "root", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *now = old_key(rows[i].section, rows[i].old);

		if (rows[i].now)
			assert_string_equal(now, rows[i].now);
		else
			assert_null(now);
	}
}

static void a_value_has_a_new_name(void **state)
{
	(void)state;
	assert_string_equal(old_value("pressure"), "under-load");
	assert_null(old_value("under-load"));
	assert_null(old_value("always"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_have_new_names),
		cmocka_unit_test(a_value_has_a_new_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
