// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_health.c - what /health says of each state of an interface, and of services that
 * are observed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stats/health.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void health(void **state)
{
	static const struct {
		struct shield_link link;
		bool good;
		const char *text;
	} rows[] = {
		{ { .interface = "eth0", .attached = true, .program_id = 5 },
		  true,
		  "1 of 1 interface protected\n" },
		{ { .interface = "eth0", .program_id = 6 },
		  false,
		  "eth0: not protected: another program (id 6) is attached\n"
		  "0 of 1 interface protected\n" },
		{ { .interface = "eth0" },
		  false,
		  "eth0: not protected: no program is attached\n"
		  "0 of 1 interface protected\n" },
		{ { .interface = "eth0", .missing = true },
		  false,
		  "eth0: not protected: there is no such interface now\n"
		  "0 of 1 interface protected\n" },
		{ { .interface = "eth0", .ingress = true, .program_id = 5 },
		  false,
		  "eth0: half protected: our program is not on what leaves by it\n"
		  "0 of 1 interface protected\n" },
		{ { .interface = "eth0",
		    .ingress = true,
		    .egress = true,
		    .program_id = 5 },
		  false,
		  "eth0: half protected: our program is not on what the machine joins\n"
		  "0 of 1 interface protected\n" },
		{ { .interface = "eth0",
		    .attached = true,
		    .ingress = true,
		    .egress = true,
		    .program_id = 5,
		    .unrun_since = 1700000000 },
		  false,
		  "eth0: attached, judges nothing since 2023-11-14T22:13:20Z: its driver does "
		  "not run our program\n"
		  "0 of 1 interface protected\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stats s = { .links = { rows[i].link }, .link_count = 1 };
		char text[256];
		FILE *out = fmemopen(text, sizeof(text), "w");

		assert_non_null(out);
		assert_int_equal(health_write(&s, out), rows[i].good);
		fclose(out);
		assert_string_equal(text, rows[i].text);
	}
}

/* A service that is only observed is not called protected. */
static void health_observing(void **state)
{
	static const struct {
		__u8 ffa, duel;
		const char *text;
	} rows[] = {
		{ 0, 0, "1 of 1 interface protected\n" },
		{ 1, 1,
		  "1 of 1 interface attached, observing only: nothing is dropped\n" },
		{ 0, 1,
		  "1 of 1 interface protected\nduel: observed only: nothing is dropped\n" },
	};
	struct stats_service *two = calloc(2, sizeof(*two));
	struct stats s = { .links = { { .interface = "eth0", .attached = true } },
			   .link_count = 1,
			   .services = two,
			   .service_count = 2 };

	(void)state;
	assert_non_null(two);
	strcpy(two[0].service.name, "ffa");
	strcpy(two[1].service.name, "duel");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[256];
		FILE *out = fmemopen(text, sizeof(text), "w");

		assert_non_null(out);
		two[0].service.observe = rows[i].ffa;
		two[1].service.observe = rows[i].duel;
		assert_true(health_write(&s, out));
		fclose(out);
		assert_string_equal(text, rows[i].text);
	}
	free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(health),
		cmocka_unit_test(health_observing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
