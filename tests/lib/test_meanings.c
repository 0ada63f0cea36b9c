// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_meanings.c - each reason has its sentence, and no two have the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/meanings.h"
#include "lib/names.h"

static void assert_sentences(const char *name, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	if (n < 8 || text[0] < 'A' || text[0] > 'Z' || text[n - 1] != '.')
		fail_msg("'%s' has no sentence: '%s'", name, text ? text : "");
	/* They stand in tables, of Markdown and of mdoc. */
	assert_null(strpbrk(text, "|\\\n\t"));
}

static void every_reason_has_a_sentence_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		const struct meaning *m = reason_meaning((enum reason)i);

		assert_sentences(reason_name((enum reason)i), m->what);
		if (m->advice)
			assert_sentences(reason_name((enum reason)i), m->advice);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(m->what,
						reason_meaning((enum reason)j)->what);
	}
	for (int i = 0; i < OTHER_COUNT; i++)
		assert_sentences(other_name((enum other)i),
				 other_meaning((enum other)i)->what);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_a_sentence_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
