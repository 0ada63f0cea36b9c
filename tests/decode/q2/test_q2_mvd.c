// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_q2_mvd.c - multi-view recordings by hand: of which version they are, the order of
 * what is in a frame, and what one client is sent in the midst of them.
 */
#include "decode/q2/q2_mvd.h"
#include "decode/q2/q2_support.h"

static void play(struct q2_session *q, const char *hex, struct record *r)
{
	struct q2_bytes b = q2_hex(hex);
	struct demo_block block = {
		.format = DEMO_MVD2,
		.kind = "demo-message",
		.bytes = b.bytes,
		.n = b.n,
	};

	record_reset(r, q2_tape());
	q2_session_demo(q, &block, r);
}

/* serverdata: no strings, and a frame without portals, players and entities. */
#define MVD_BEGIN(version)              \
	"04"                            \
	"25000000" version "0100000000" \
	"ffff"                          \
	"2008"                          \
	"00"                            \
	"ff"                            \
	"0000"
#define MVD_FRAME \
	"06"      \
	"00"      \
	"ff"      \
	"0000"

/* Nothing of a version that is not known is taken for one that is. */
static void test_mvd_version(void **state)
{
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	play(&q, MVD_BEGIN("de07"), &r);
	assert_int_equal(r.status, RECORD_OPAQUE);
	play(&q, MVD_FRAME, &r);
	assert_int_equal(r.status, RECORD_OPAQUE);
	play(&q, MVD_BEGIN("da07"), &r);
	assert_int_equal(r.status, RECORD_DECODED);
	play(&q, MVD_FRAME, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	q2_session_drop(&q);
}

/* Players, and entities, come by number. */
static void test_mvd_order(void **state)
{
	static const struct {
		const char *frame, *reason; /* NULL: it is right */
	} rows[] = {
		{ "0600020000030000ff0000", NULL },
		{ "0600030000020000ff0000", "players out of order" },
		{ "0600020000020000ff0000", "players out of order" },
		{ "0600000000000000ff0000", "players out of order" },
		{ "0600ff000200030000", NULL },
		{ "0600ff000300020000", "entities out of order" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct q2_session q = { .game = NULL };
		struct record r;

		play(&q, MVD_BEGIN("da07"), &r);
		play(&q, rows[i].frame, &r);
		if (!rows[i].reason && r.status != RECORD_DECODED)
			fail_msg("%s: %s", rows[i].frame, r.reason);
		if (rows[i].reason) {
			assert_int_equal(r.status, RECORD_MALFORMED);
			assert_string_equal(r.reason, rows[i].reason);
		}
		q2_session_drop(&q);
	}
}

/* What one client is sent is no other protocol's beginning, nor its frame. */
static void test_mvd_within(void **state)
{
	static const char *const rows[] = {
		"08"
		"12"
		"00"
		"0c"
		"22000000"
		"01000000"
		"00"
		"00"
		"0000"
		"6100"
		"060606",
		"08"
		"1a"
		"00"
		"14"
		"01000000"
		"ffffffff"
		"00"
		"00"
		"11"
		"0000"
		"00000000"
		"12"
		"0000"
		"0606060606",
	};
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	play(&q, MVD_BEGIN("da07"), &r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		play(&q, rows[i], &r);
		assert_int_equal(r.status, RECORD_MALFORMED);
		assert_true(strstr(r.reason, "within a multi-view recording") != NULL);
		assert_int_equal(q.dialect.protocol, Q2_PROTOCOL_MVD);
	}
	play(&q, MVD_FRAME, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	q2_session_drop(&q);
}

/* The upper bits of the first byte are serverdata's own. */
static void test_mvd_begins(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		uint8_t byte = (uint8_t)i;

		assert_int_equal(q2_mvd_begins((struct span){ &byte, 1 }), i % 32 == 4);
	}
	assert_false(q2_mvd_begins((struct span){ NULL, 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mvd_begins),
		cmocka_unit_test(test_mvd_version),
		cmocka_unit_test(test_mvd_order),
		cmocka_unit_test(test_mvd_within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
