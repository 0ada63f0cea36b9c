// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_drop_sources.c - the heaviest senders among many, in bounded space.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/config.h"
#include "lib/drop_sources.h"

static struct drop_sources w;

static int begin(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	return 0;
}

static struct record_address v4(__u32 address)
{
	return (struct record_address){
		.length = 4,
		.bytes = { (uint8_t)(address >> 24), (uint8_t)(address >> 16),
			   (uint8_t)(address >> 8), (uint8_t)address },
	};
}

static void add(__u32 slot, __u32 address, int times)
{
	struct record_address a = v4(address);

	while (times--)
		drop_sources_add(&w, slot, &a);
}

static const char *text(const struct drop_sources_row *row)
{
	static char ret[CIDR_TEXT];

	cidr_format(&row->prefix, ret);
	return ret;
}

static void prefixes_are_counted_together(void **state)
{
	struct record_address v6 = { .length = 16,
				     .bytes = { 0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4 } };
	struct drop_sources_row rows[DROP_SOURCES_PLACES];

	(void)state;
	add(0, 0x0a010203, 10);
	add(0, 0x0a0102ff, 20);
	add(1, 0x0a010203, 5);
	add(0, 0x0a010303, 2);
	for (int i = 0; i < 8; i++) {
		v6.bytes[7] = v6.bytes[15] = (uint8_t)i;
		drop_sources_add(&w, 0, &v6);
	}
	assert_int_equal(w.total, 45);
	/* 2 of 45 is less than a twentieth. */
	assert_int_equal(drop_sources_list(&w, rows, DROP_SOURCES_PLACES), 3);
	assert_string_equal(text(&rows[0]), "10.1.2.0/24");
	assert_int_equal(rows[0].count, 30);
	assert_int_equal(rows[0].slot, 0);
	assert_string_equal(text(&rows[1]), "2001:db8:102:300::/56");
	assert_int_equal(rows[1].count, 8);
	assert_int_equal(rows[2].slot, 1);
	assert_int_equal(drop_sources_list(&w, rows, 1), 1);
}

/* A crowd a hundred times as large as the table, and two who send a lot. */
static void heavy_ones_are_found_in_a_crowd(void **state)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];

	(void)state;
	for (__u32 i = 0; i < 6400; i++) {
		add(0, 0x0b000000 + (i << 8), 1);
		add(0, 0xc0000201, i % 4 == 0); /* 1600: a sixth of all */
		add(0, 0xc6336401, i % 4 == 1);
	}
	assert_int_equal(drop_sources_list(&w, rows, DROP_SOURCES_PLACES), 2);
	assert_string_equal(text(&rows[0]), "192.0.2.0/24");
	assert_string_equal(text(&rows[1]), "198.51.100.0/24");
	for (int i = 0; i < 2; i++)
		assert_in_range(rows[i].count, 1600,
				1600 + w.total / DROP_SOURCES_PLACES);
}

static void a_crowd_alone_names_nobody(void **state)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];

	(void)state;
	for (__u32 i = 0; i < 100000; i++)
		add(0, 0x0b000000 + (i << 8), 1);
	assert_int_equal(drop_sources_list(&w, rows, DROP_SOURCES_PLACES), 0);
}

static void the_past_fades(void **state)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];

	(void)state;
	add(0, 0x0a010203, 1000);
	for (int i = 0; i < 11; i++)
		drop_sources_fade(&w);
	assert_int_equal(w.total, 0);
	assert_int_equal(drop_sources_list(&w, rows, DROP_SOURCES_PLACES), 0);
	/* Too few samples say nothing. */
	add(0, 0x0a010203, 19);
	assert_int_equal(drop_sources_list(&w, rows, DROP_SOURCES_PLACES), 0);
	add(0, 0x0a010203, 1);
	assert_int_equal(drop_sources_list(&w, rows, DROP_SOURCES_PLACES), 1);
}

/* A count that a row took over is not its own, and two samples are not enough. */
static void only_what_is_sure_is_named(void **state)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];
	struct cidr at = { .length = 128 };

	(void)state;
	for (__u32 i = 0; i < 2000; i++) {
		at.addr[3] = i % 20 ? i : 7;
		drop_sources_put(&w, 0, &at, i % 20 ? 1 : 2, i % 3 ? 4 : 9);
	}
	/* A tenth, less what it began with: 201 of 2101. */
	assert_int_equal(drop_sources_sure(&w, rows, DROP_SOURCES_PLACES), 1);
	assert_int_equal(rows[0].prefix.addr[3], 7);
	assert_in_range(rows[0].count, 150, 201);
	assert_int_equal(rows[0].reason, 4);
	assert_int_equal(drop_sources_sure(&w, rows, 0), 0);
	/* Rows that were taken over again and again have large counts, and are no one's.
	 */
	memset(&w, 0, sizeof(w));
	for (__u32 i = 1; i < 65; i++) {
		at.addr[3] = i;
		drop_sources_put(&w, 0, &at, 1000, 4);
	}
	/* 3400 of 66400 with what it took over, 2400 without. */
	at.addr[3] = 100;
	for (int i = 0; i < 3; i++)
		drop_sources_put(&w, 0, &at, 800, 4);
	assert_int_equal(drop_sources_sure(&w, rows, DROP_SOURCES_PLACES), 0);
	drop_sources_put(&w, 0, &at, 1000, 4);
	assert_int_equal(drop_sources_sure(&w, rows, DROP_SOURCES_PLACES), 1);
	assert_int_equal(rows[0].count, 3400);
}

/* Two that vote alternately for another reason, and one for which most do. */
static void the_reason_of_most_is_kept(void **state)
{
	static const __u8 votes[] = { 3, 5, 5, 3, 5, 5, 6, 5 };
	struct drop_sources_row rows[1];
	struct cidr at = { .length = 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(votes); i++)
		drop_sources_put(&w, 0, &at, 1, votes[i]);
	assert_int_equal(drop_sources_sure(&w, rows, 1), 1);
	assert_int_equal(rows[0].reason, 5);
	assert_int_equal(rows[0].samples, sizeof(votes));
}

static void no_address_no_row(void **state)
{
	struct record_address none = { .length = 0 };

	(void)state;
	drop_sources_add(&w, 0, &none);
	assert_int_equal(w.total, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(prefixes_are_counted_together, begin),
		cmocka_unit_test_setup(heavy_ones_are_found_in_a_crowd, begin),
		cmocka_unit_test_setup(a_crowd_alone_names_nobody, begin),
		cmocka_unit_test_setup(the_past_fades, begin),
		cmocka_unit_test_setup(only_what_is_sure_is_named, begin),
		cmocka_unit_test_setup(the_reason_of_most_is_kept, begin),
		cmocka_unit_test_setup(no_address_no_row, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
