// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_page.c - the page inside the program is the file, from its first octet to its
 * last.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/page.h"

static void the_page_is_all_of_the_file(void **state)
{
	FILE *file = fopen("user/daemon/page.html", "re");
	char *text = malloc(page_html_size + 1);

	(void)state;
	assert_non_null(file);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, page_html_size + 1, file), page_html_size);
	assert_memory_equal(text, page_html, page_html_size);
	free(text);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_all_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
