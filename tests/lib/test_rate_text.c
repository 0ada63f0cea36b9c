// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_rate_text.c - rates and networks alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "config/config.h"
#include "lib/rate_text.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void rates(void **state)
{
	static const struct {
		const char *text;
		__u64 cost_ns, burst;
		const char *printed;
	} rows[] = {
		{ "1/s", 1000000000, 1, "1/s burst 1" },
		{ "60/m", 1000000000, 1, "1/s burst 1" },
		{ " 30/m  burst 2 ", 2000000000, 2, "30/m burst 2" },
		{ "90/m", 666666667, 1, "90/m burst 1" },
		{ "3/s", 333333333, 3, "3/s burst 3" },
		{ "1/h", 3600000000000, 1, "1/h burst 1" },
		{ "7/h burst 3", 514285714286, 3, "7/h burst 3" },
		{ "1000000/s", 1000, 1000000, "1000000/s burst 1000000" },
		{ "2/s\tburst\t6", 500000000, 6, "2/s burst 6" },
		{ "100/s burst 1", 10000000, 1, "100/s burst 1" }, /* just a tick */
		{ "2/s burst6", 500000000, 6, "2/s burst 6" },
		{ "unlimited", 0, 0, "unlimited" },
		{ "0", 1000000000, 0, "0" },
	};
	static const char *const wrong[] = {
		"",
		"1",
		"s",
		"1/",
		"1/d",
		"-1/s",
		"1.5/s",
		"1/s burst",
		"1/s 5",
		"1/s burst x",
		"1/sburst 5",
		"1/s burst 5 x",
		"unlimitedx",
		"1/s burst -1",
		"00",
		"/s",
		"101/s burst 1",
		"1 /s",
	};
	struct limit l, untouched = { 7, 7 };
	char text[RATE_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_null(rate_parse(rows[i].text, &l));
		assert_int_equal(l.cost_ns, rows[i].cost_ns);
		assert_int_equal(l.burst_ns, rows[i].cost_ns * rows[i].burst);
		rate_format(&l, text);
		assert_string_equal(text, rows[i].printed);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_non_null(rate_parse(wrong[i], &untouched));
		assert_int_equal(untouched.cost_ns, 7);
	}
}

static void every_rate_survives_printing(void **state)
{
	static const char units[] = "smh";

	(void)state;
	for (unsigned int n = 1; n <= RATE_MAX; n += 1 + n / 50) {
		for (const char *unit = units; *unit; unit++) {
			struct limit first, second;
			char text[RATE_TEXT];

			snprintf(text, sizeof(text), "%u/%c burst 1000000", n, *unit);
			assert_null(rate_parse(text, &first));
			rate_format(&first, text);
			assert_null(rate_parse(text, &second));
			assert_memory_equal(&first, &second, sizeof(first));
		}
	}
}

static void rates_compare(void **state)
{
	static const struct {
		const char *a, *b;
		bool looser;
	} rows[] = {
		{ "1/s burst 2", "1/s burst 2", false },
		{ "2/s burst 2", "1/s burst 2", true },
		{ "1/s burst 3", "2/s burst 2", true },
		{ "1/s burst 2", "2/s burst 3", false },
		{ "unlimited", "1/s", true },
		{ "1/s", "unlimited", false },
		{ "unlimited", "unlimited", false },
		{ "0", "1/h", false },
		{ "1/h", "0", true },
		{ "unlimited", "0", true },
		{ "0", "0", false },
	};
	struct limit a, b;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_null(rate_parse(rows[i].a, &a));
		assert_null(rate_parse(rows[i].b, &b));
		assert_int_equal(rate_looser(&a, &b), rows[i].looser);
	}
}

static void networks(void **state)
{
	static const struct {
		const char *text, *printed; /* NULL: refused */
		unsigned int length;
	} rows[] = {
		{ "10.0.0.0/8", "10.0.0.0/8", 104 },
		{ "10.1.2.3/8", "10.0.0.0/8", 104 },
		{ "203.0.127.255/20", "203.0.112.0/20", 116 },
		{ "203.0.113.129/31", "203.0.113.128/31", 127 },
		{ "192.0.2.7", "192.0.2.7", 128 },
		{ "192.0.2.7/32", "192.0.2.7", 128 },
		{ "0.0.0.0/0", "0.0.0.0/0", 96 },
		{ "::ffff:192.0.2.0/120", "192.0.2.0/24", 120 },
		{ "2001:db8::1", "2001:db8::1", 128 },
		{ "2001:DB8::1/32", "2001:db8::/32", 32 },
		{ "::/0", "::/0", 0 },
		{ "fd00::/9", "fd00::/9", 9 },
		{ "2001:db8:0:ffff::/51", "2001:db8:0:e000::/51", 51 },
		{ "10.0.0.0/33", NULL, 0 },
		{ "2001:db8::/129", NULL, 0 },
		{ "10.0.0.0/", NULL, 0 },
		{ "10.0.0.0/ 8", NULL, 0 },
		{ "10.0.0.0/-1", NULL, 0 },
		{ "10.0.0.0/0008", NULL, 0 },
		{ "10.0.0.0/8/8", NULL, 0 },
		{ "10.0.0", NULL, 0 },
		{ " 10.0.0.0", NULL, 0 },
		{ "", NULL, 0 },
		{ "/8", NULL, 0 },
		{ "fe80::1%eth0", NULL, 0 },
		{ "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb", NULL, 0 },
	};
	struct cidr cidr;
	char text[CIDR_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool good = cidr_parse(rows[i].text, &cidr);

		assert_int_equal(good, rows[i].printed != NULL);
		if (!good)
			continue;
		assert_int_equal(cidr.length, rows[i].length);
		cidr_format(&cidr, text);
		assert_string_equal(text, rows[i].printed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(every_rate_survives_printing),
		cmocka_unit_test(rates_compare),
		cmocka_unit_test(networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
