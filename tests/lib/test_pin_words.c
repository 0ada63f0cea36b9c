// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_pin_words.c - the directory of --pin in a file's name: none looks like another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/pin_words.h"

static void directories_that_look_alike_have_different_names(void **state)
{
	static const char *const pins[] = { "/a/b",  "/a-b", "/a+-b", "/a/-b",
					    "/a-/b", "/a+b", "/a+/b", "" };
	char texts[sizeof(pins) / sizeof(*pins)][32];

	(void)state;
	for (size_t i = 0; i < sizeof(pins) / sizeof(*pins); i++) {
		assert_true(pin_words(pins[i], texts[i], sizeof(texts[i])));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(texts[i], texts[j]);
	}
	assert_string_equal(texts[0], "-a-b");
	assert_string_equal(texts[1], "-a+-b");
	assert_string_equal(texts[5], "-a++b");
}

static void default_directory_has_no_name(void **state)
{
	char text[1] = "x";

	(void)state;
	assert_true(pin_words(NULL, text, sizeof(text)));
	assert_string_equal(text, "");
}

static void name_without_room_is_cut(void **state)
{
	char text[6];

	(void)state;
	assert_false(pin_words("/abcdef", text, sizeof(text)));
	assert_string_equal(text, "-abc");
	assert_false(pin_words("/", text, 2));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directories_that_look_alike_have_different_names),
		cmocka_unit_test(default_directory_has_no_name),
		cmocka_unit_test(name_without_room_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
