// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of Quake III, each cut at every length and with every bit flipped. */
#include "decode/q3/q3_vectors.h"

static void begin_for(struct q3_session *s, const char *hex)
{
	struct record r;

	if (hex == client_a)
		begin_a(s);
	else if (hex == client_b || hex == client_c)
		begin_b(s);
	else
		begin_server(s);
	if (hex == server_2 || hex == server_3)
		give_hex(s, DIRECTION_S2C, server_1, &r);
	if (hex == server_3)
		give_hex(s, DIRECTION_S2C, server_2, &r);
}

static const struct {
	const char *hex;
	enum direction direction;
} datagrams[] = {
	{ client_a, DIRECTION_C2S }, { client_b, DIRECTION_C2S },
	{ client_c, DIRECTION_C2S }, { server_1, DIRECTION_S2C },
	{ server_2, DIRECTION_S2C }, { server_3, DIRECTION_S2C },
};

/* Cut anywhere: never decoded, and nothing of it is kept. One byte more than there
 * should be is odd; two are not a message. */
static void test_every_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(datagrams); i++) {
		uint8_t bytes[260] = { 0 };
		size_t n = from_hex(datagrams[i].hex, bytes, 256);
		struct q3_session s;
		struct record r;

		begin_for(&s, datagrams[i].hex);
		for (size_t cut = 0; cut < n; cut++) {
			give(&s, datagrams[i].direction, bytes, cut, &r);
			assert_int_not_equal(r.status, RECORD_DECODED);
			assert_int_not_equal(r.status, RECORD_PARTIAL);
			assert_non_null(r.reason);
		}
		assert_null(q3_snapshot_find(s.game, 4));
		/* So many in a row may be another connection's, with another key. */
		give(&s, datagrams[i].direction, bytes, n + 1, &r);
		assert_int_equal(r.status, RECORD_PARTIAL);
		assert_string_equal(r.reason,
				    "its key may be that of an earlier connection");
		q3_session_drop(&s);
		begin_for(&s, datagrams[i].hex);
		give(&s, datagrams[i].direction, bytes, n + 1, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_int_equal(find_int(&r, NULL, "extraBytes"), 1);
		give(&s, datagrams[i].direction, bytes, n + 2, &r);
		assert_int_equal(r.status, RECORD_MALFORMED);
		assert_string_equal(r.reason, "bytes after the end of the message");
		q3_session_drop(&s);
	}
}

/* Any bit wrong: whatever it then is, no crash, no overflow, a kind and a reason. */
static void test_every_bit_flipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < Q3_COUNT(datagrams); i++) {
		uint8_t bytes[256];
		size_t n = from_hex(datagrams[i].hex, bytes, sizeof(bytes));

		for (size_t bit = 0; bit < n * 8; bit++) {
			struct q3_session s;
			struct record r;

			begin_for(&s, datagrams[i].hex);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			give(&s, datagrams[i].direction, bytes, n, &r);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_non_null(r.kind);
			assert_int_equal(r.status == RECORD_DECODED, r.reason == NULL);
			q3_session_drop(&s);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_every_bit_flipped),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
