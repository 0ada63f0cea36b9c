// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_old_names.c - each key of before the first release has a new name where it was
 * one, and nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/names.h"
#include "lib/old_names.h"

static void keys_have_new_names(void **state)
{
	static const struct {
		const char *section, *old, *now; /* NULL: never a key there */
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
		{ "root", "global", NULL },
		{ "service", "global", NULL },
		{ "players", "global", NULL },
		{ "validation", "rate", NULL },
		{ "service", "ledger", NULL },
		{ "follow", "every", NULL },
		{ "root", "mode", NULL },
		{ "root", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char hint[OLD_HINT], want[OLD_HINT];

		assert_int_equal(old_key(rows[i].section, rows[i].old, hint),
				 rows[i].now != NULL);
		if (!rows[i].now)
			continue;
		snprintf(want, sizeof(want), "'%s' was renamed: write '%s'", rows[i].old,
			 rows[i].now);
		assert_string_equal(hint, want);
	}
}

static void a_key_that_has_gone_is_left_out(void **state)
{
	char hint[OLD_HINT];

	(void)state;
	assert_true(old_key("amplification", "withhold", hint));
	assert_string_equal(hint, "'withhold' was removed: leave it out");
	assert_false(old_key("root", "withhold", hint));
}

static void an_option_has_a_new_name(void **state)
{
	(void)state;
	assert_string_equal(old_option("secrets"), "show-secrets");
	assert_null(old_option("show-secrets"));
	assert_null(old_option(""));
}

/* A word of the present build stays as it is. */
static void words_of_attacks_have_present_forms(void **state)
{
	(void)state;
	assert_string_equal(old_attack_word("perhaps"), "possible");
	for (int i = 0; i < REASON_COUNT; i++)
		assert_string_equal(old_attack_word(reason_name((enum reason)i)),
				    reason_name((enum reason)i));
	assert_string_equal(old_attack_word("likely"), "likely");
	assert_string_equal(old_attack_word(""), "");
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
		cmocka_unit_test(a_key_that_has_gone_is_left_out),
		cmocka_unit_test(an_option_has_a_new_name),
		cmocka_unit_test(words_of_attacks_have_present_forms),
		cmocka_unit_test(a_value_has_a_new_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
