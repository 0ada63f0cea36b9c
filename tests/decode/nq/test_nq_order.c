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
		bool strange; /* it may be of another connection */
	} rows[] = {
		{ 300, NULL, false },
		{ 300, "repeated", false },
		{ 299, "late", false },
		{ 301, NULL, false },
		{ 200, "late", true },
		{ 302, NULL, false },
		/* Seven in a row, and one that is not: they were late. */
		{ 100, "late", true },
		{ 101, "late", true },
		{ 102, "late", true },
		{ 103, "late", true },
		{ 104, "late", true },
		{ 105, "late", true },
		{ 106, "late", true },
		{ 303, NULL, false },
		{ 107, "late", true },
		/* Each soon after the last. */
		{ 10, "late", true },
		{ 11, "late", true },
		{ 13, "late", true },
		{ 14, "late", true },
		{ 15, "late", true },
		{ 16, "late", true },
		{ 17, "late", true },
		{ 18, NULL, false },
		{ 18, "repeated", false },
		{ 19, NULL, false },
		{ 304, NULL, false },
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
		assert_string_equal(text_at(r, "status"),
				    rows[i].strange ? "partial" : "decoded");
		for (int k = 0; k < 2; k++) {
			const char *mark = k ? "late" : "repeated";
			bool is = rows[i].mark && !strcmp(rows[i].mark, mark);

			if (json_is_true(json_object_get(r, mark)) != is)
				fail_msg("row %zu: %s", i, mark);
		}
	}
	json_decref(all);
}

/* The dialect of the connection that has begun unseen is not known, either. */
static void another_connection_has_no_dialect_yet(void **state)
{
	static const char serverinfo[] = "\0\x09\0\x16\0\0\0\0"
					 "\x0b\x9a\2\0\0\4\1Hi\0m\0\0\0";
	static const char ack[] = "\0\2\0\x08\0\0\0\x01";
	struct harness *h = harness_open(FAMILY_NETQUAKE);
	json_t *all;

	(void)state;
	h->told = DIRECTION_S2C;
	harness_s2c(h, BYTES(serverinfo));
	harness_s2c(h, BYTES(ack));
	say(h, 1000);
	for (uint32_t i = 1; i <= 8; i++)
		say(h, i);
	harness_s2c(h, BYTES(ack));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 0), "status"), "decoded");
	assert_string_equal(text_at(json_array_get(all, 1), "dialect"), "fitzquake666");
	assert_string_equal(text_at(json_array_get(all, 11), "kind"), "nq-ack");
	assert_false(json_is_string(at_path(json_array_get(all, 11), "dialect")));
	json_decref(all);
}

/* Another chunk 0 begins another connection, however short the last one was. */
static void a_short_connection_is_followed_by_another(void **state)
{
	static const char first[] = "\0\x09\0\x16\0\0\0\0"
				    "\x0b\x9a\2\0\0\4\1Hi\0m\0\0\0";
	static const char second[] = "\0\x09\0\x16\0\0\0\0"
				     "\x0b\xe7\3\0\0\0\0\0\0\4\1\0\0\0";
	static const char nop[] = "\0\x09\0\x09\0\0\0\x01\x01";
	struct harness *h = harness_open(FAMILY_NETQUAKE);
	json_t *all;

	(void)state;
	h->told = DIRECTION_S2C;
	harness_s2c(h, BYTES(first));
	harness_s2c(h, BYTES(nop));
	harness_s2c(h, BYTES(first));
	harness_s2c(h, BYTES(second));
	harness_s2c(h, BYTES(nop));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 1), "dialect"), "fitzquake666");
	assert_string_equal(text_at(json_array_get(all, 2), "repeated"), "true");
	for (size_t i = 3; i < 5; i++) {
		json_t *r = json_array_get(all, i);

		assert_string_equal(text_at(r, "status"), "decoded");
		assert_string_equal(text_at(r, "dialect"), "rmq999");
		assert_null(at_path(r, "repeated"));
	}
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_ones_say_so_until_eight_come_in_a_row),
		cmocka_unit_test(another_connection_has_no_dialect_yet),
		cmocka_unit_test(a_short_connection_is_followed_by_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
