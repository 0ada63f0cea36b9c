// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_page.c - the page inside the program is its files, from the first octet to the
 * last, and needs nothing from elsewhere. test_page.sh shows it to a browser.
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
#include "stats/stats.h"

static void the_page_is_all_of_its_files(void **state)
{
	static const char *const files[] = { "user/daemon/page.html",
					     "user/daemon/page.js" };
	static const char end[] = "</script>\n</body>\n</html>\n";
	char *text = malloc(page_html_size + 1);
	size_t used = 0;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		FILE *file = fopen(files[i], "re");

		assert_non_null(file);
		used += fread(text + used, 1, page_html_size + 1 - used, file);
		fclose(file);
	}
	assert_int_equal(used + strlen(end), page_html_size);
	memcpy(text + used, end, strlen(end));
	assert_memory_equal(text, page_html, page_html_size);
	/* Nor does anything in the script end it, a comment for one. */
	text[used] = 0;
	assert_null(strstr(text, "</script"));
	free(text);
}

/* Nothing in it is loaded, and no text becomes markup or code, whatever a header allows.
 */
static void the_page_stands_alone(void **state)
{
	static const char *const never[] = { "://",	    " src=", "src =",
					     "@import",	    "url(",  "innerHTML",
					     "outerHTML",   "eval(", "insertAdjacentHTML",
					     "new Function" };
	char *text = calloc(1, page_html_size + 1);

	(void)state;
	assert_non_null(text);
	memcpy(text, page_html, page_html_size);
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (strstr(text, never[i]))
			fail_msg("'%s'", never[i]);
	/* Its one link is no picture, so that no browser asks for one. */
	assert_non_null(strstr(text, "<link rel=\"icon\" href=\"data:,\">"));
	assert_null(strstr(strstr(text, "<link") + 1, "<link"));
	free(text);
}

/* The same figure decides here and on the page. */
static void the_page_shows_amplification_as_top_does(void **state)
{
	char wanted[64];

	(void)state;
	snprintf(wanted, sizeof(wanted), "const RATIO_LEAST = %d;", STATS_RATIO_LEAST);
	assert_non_null(strstr(page_html, wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_all_of_its_files),
		cmocka_unit_test(the_page_stands_alone),
		cmocka_unit_test(the_page_shows_amplification_as_top_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
