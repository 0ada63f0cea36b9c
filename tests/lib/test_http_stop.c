// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_http_stop.c - what begins is given back whole: its memory, its port, its place in
 * the loop; also where it cannot begin.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/http.h"
#include "lib/loop.h"
#include "stderr.h"

static int render(FILE *out, void *context)
{
	fputs(context, out);
	return 200;
}

static const struct http_page pages[] = { { "/", "text/plain", false, render, NULL,
					    NULL } };

static int begin(const char *where, struct http **ret, char *said, size_t size)
{
	struct listen_at at = { .off = false };
	int err;

	assert_null(listen_parse(where, &at));
	stderr_catch();
	err = http_start(&at, pages, 1, NULL, ret);
	stderr_release(said, size);
	return err;
}

/* Twice at the same place, with the first gone or not. */
static void a_place_is_given_back(void **state)
{
	static const char *const places[] = { "127.0.0.1:47391", "[::1]:47391" };
	struct http *first, *second = (struct http *)places;
	char said[256], expected[256];

	(void)state;
	http_stop(NULL);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (begin(places[i], &first, said, sizeof(said))) {
			print_message("skipped: %s", said);
			continue;
		}
		assert_string_equal(said, "");
		assert_int_equal(begin(places[i], &second, said, sizeof(said)),
				 -EADDRINUSE);
		snprintf(
			expected, sizeof(expected),
			"quakeshield: cannot serve metrics on %s: Address already in use\n",
			places[i]);
		assert_string_equal(said, expected);
		assert_ptr_equal(second, places);
		http_stop(first);
		assert_int_equal(begin(places[i], &first, said, sizeof(said)), 0);
		http_stop(first);
	}
}

static void nothing(void *context)
{
	(void)context;
}

static void a_full_loop(void **state)
{
	struct http *h = NULL;
	int ends[2], fds[LOOP_MAX], n = 0;
	char said[256];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	while (n < LOOP_MAX && loop_add(fds[n] = dup(ends[0]), nothing, NULL))
		n++;
	assert_int_equal(n, LOOP_MAX);
	assert_int_equal(begin("127.0.0.1:47392", &h, said, sizeof(said)), -ENOSPC);
	assert_string_equal(said,
			    "quakeshield: cannot serve metrics on 127.0.0.1:47392: the "
			    "event loop is full\n");
	assert_null(h);
	loop_remove(fds[--n]);
	close(fds[n]);
	/* One place is enough, and is free again behind each. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(begin("127.0.0.1:47392", &h, said, sizeof(said)), 0);
		http_stop(h);
	}
	while (n--) {
		loop_remove(fds[n]);
		close(fds[n]);
	}
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_given_back),
		cmocka_unit_test(a_full_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
