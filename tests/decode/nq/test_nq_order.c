// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Unreliable messages that come twice or late, and a connection that begins anew without
 * its first chunk.
 */
#include "decode/decode_support.h"

static void say(struct harness *h, uint32_t sequence)
{
	uint8_t bytes[] = { 0,
			    0x10,
			    0,
			    13,
			    (uint8_t)(sequence >> 24),
			    (uint8_t)(sequence >> 16),
			    (uint8_t)(sequence >> 8),
			    (uint8_t)sequence,
			    7,
			    0,
			    0,
			    0x80,
			    0x3f };

	harness_s2c(h, bytes, sizeof(bytes));
}

static void late_ones_say_so_until_eight_come_in_a_row(void **state)
{
	static const struct {
		uint32_t sequence;
		const char *mark; /* NULL: neither */
	} rows[] = {
		{ 300, NULL },
		{ 300, "repeated" },
		{ 299, "late" },
		{ 301, NULL },
		{ 200, "late" },
		{ 302, NULL },
		/* Seven in a row, and one that is not: they were late. */
		{ 100, "late" },
		{ 101, "late" },
		{ 102, "late" },
		{ 103, "late" },
		{ 104, "late" },
		{ 105, "late" },
		{ 106, "late" },
		{ 303, NULL },
		{ 107, "late" },
		/* Each soon after the last. */
		{ 10, "late" },
		{ 11, "late" },
		{ 13, "late" },
		{ 14, "late" },
		{ 15, "late" },
		{ 16, "late" },
		{ 17, "late" },
		{ 18, NULL },
		{ 18, "repeated" },
		{ 19, NULL },
		{ 304, NULL },
	};
	struct harness *h = harness_open(FAMILY_NETQUAKE);
	json_t *all;

	(void)state;
	h->told = DIRECTION_S2C;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(h, rows[i].sequence);
	all = harness_close(h);
	assert_int_equal(json_array_size(all), sizeof(rows) / sizeof(*rows));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *r = json_array_get(all, i);

		assert_string_equal(text_at(r, "kind"), "nq-unreliable");
		for (int k = 0; k < 2; k++) {
			const char *mark = k ? "late" : "repeated";
			bool is = rows[i].mark && !strcmp(rows[i].mark, mark);

			if (json_is_true(json_object_get(r, mark)) != is)
				fail_msg("row %zu: %s", i, mark);
		}
	}
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_ones_say_so_until_eight_come_in_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
