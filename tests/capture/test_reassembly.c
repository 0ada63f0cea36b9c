// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * IP fragments: in order, reversed, doubled, overlapping, contradicting, missing, too
 * late, too many. Rows of fragments in, one verdict out.
 */
#include "decode/decode_support.h"
#include "capture/reassembly.h"

#define SECOND 1000000000LL

static uint8_t pattern[65536];

static struct packet piece(size_t offset, size_t length, bool more, uint32_t id)
{
	struct packet packet = {
		.source = harness_address(1, 0),
		.destination = harness_address(2, 0),
		.protocol = 17,
		.bytes = pattern + offset,
		.captured = length,
		.length = length,
		.fragment = true,
		.more = more,
		.id = id,
		.offset = offset,
	};

	return packet;
}

struct part {
	size_t offset, length;
	bool more;
};

/* clang-format off */
static const struct {
	const char *name;
	struct part parts[6];
	size_t count;
	size_t whole; /* bytes when complete with the last part; 0: never */
} rows[] = {
	{ "in order", { { 0, 16, true }, { 16, 8, true }, { 24, 5, false } }, 3, 29 },
	{ "reversed", { { 24, 5, false }, { 16, 8, true }, { 0, 16, true } }, 3, 29 },
	{ "doubled", { { 0, 16, true }, { 0, 16, true }, { 16, 5, false } }, 3, 21 },
	{ "last doubled", { { 16, 5, false }, { 16, 5, false }, { 0, 16, true } }, 3, 21 },
	{ "overlapping, same bytes", { { 0, 24, true }, { 8, 24, true }, { 32, 5, false } }, 3, 37 },
	{ "a hole", { { 0, 16, true }, { 24, 5, false } }, 2, 0 },
	{ "no first", { { 16, 8, true }, { 24, 5, false } }, 2, 0 },
	{ "no last", { { 0, 16, true }, { 16, 8, true } }, 2, 0 },
	{ "largest", { { 0, 65528, true }, { 65528, 7, false } }, 2, 65535 },
};
/* clang-format on */

static void orders(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct reassembly *re = reassembly_create();
		struct packet whole = { .protocol = 0 };
		const char *reason = NULL;

		print_message("%s\n", rows[i].name);
		assert_non_null(re);
		for (size_t j = 0; j < rows[i].count; j++) {
			const struct part *part = &rows[i].parts[j];
			struct packet p =
				piece(part->offset, part->length, part->more, 7);
			enum reassembly_result result =
				reassembly_add(re, &p, j + 1, SECOND, &whole, &reason);
			bool last = j + 1 == rows[i].count && rows[i].whole;

			assert_int_equal(result,
					 last ? REASSEMBLY_WHOLE : REASSEMBLY_HELD);
		}
		if (rows[i].whole) {
			assert_null(reason);
			assert_int_equal(whole.captured, rows[i].whole);
			assert_int_equal(whole.length, rows[i].whole);
			assert_memory_equal(whole.bytes, pattern, rows[i].whole);
		}
		reassembly_free(re);
	}
}

static void refused(void **state)
{
	struct reassembly *re = reassembly_create();
	struct packet whole, empty = piece(8, 0, true, 1), odd = piece(0, 9, true, 1);
	struct packet beyond = piece(65528, 8, false, 1);
	const char *reason;

	(void)state;
	assert_int_equal(reassembly_add(re, &empty, 1, 0, &whole, &reason),
			 REASSEMBLY_BAD);
	assert_int_equal(reassembly_add(re, &odd, 1, 0, &whole, &reason), REASSEMBLY_BAD);
	assert_int_equal(reassembly_add(re, &beyond, 1, 0, &whole, &reason),
			 REASSEMBLY_BAD);
	reassembly_free(re);
}

/* Fragments that disagree make a packet that says so. */
static void contradiction(void **state)
{
	struct reassembly *re = reassembly_create();
	struct packet a = piece(0, 16, true, 1), b = piece(8, 8, true, 1);
	struct packet c = piece(16, 5, false, 1), whole;
	const char *reason = NULL;

	(void)state;
	b.bytes = pattern + 1000;
	assert_int_equal(reassembly_add(re, &a, 1, 0, &whole, &reason), REASSEMBLY_HELD);
	assert_int_equal(reassembly_add(re, &b, 2, 0, &whole, &reason), REASSEMBLY_HELD);
	assert_int_equal(reassembly_add(re, &c, 3, 0, &whole, &reason), REASSEMBLY_WHOLE);
	assert_string_equal(reason, "IP fragments overlap with different content");
	reassembly_free(re);
}

/* Two last fragments that end at different places: one of them lies. */
static void two_ends(void **state)
{
	struct reassembly *re = reassembly_create();
	struct packet a = piece(0, 16, true, 1), b = piece(24, 5, false, 1);
	struct packet c = piece(16, 8, false, 1), whole;
	const char *reason = NULL;

	(void)state;
	assert_int_equal(reassembly_add(re, &a, 1, 0, &whole, &reason), REASSEMBLY_HELD);
	assert_int_equal(reassembly_add(re, &b, 2, 0, &whole, &reason), REASSEMBLY_HELD);
	assert_int_equal(reassembly_add(re, &c, 3, 0, &whole, &reason), REASSEMBLY_WHOLE);
	assert_non_null(reason);
	assert_string_equal(reason, "IP fragments overlap with different content");
	reassembly_free(re);
}

/* What lacks a fragment comes out at its time, as far as it goes; not before. */
static void given_up(void **state)
{
	struct reassembly *re = reassembly_create();
	struct packet a = piece(0, 16, true, 1), c = piece(24, 5, false, 1), whole;
	struct datagram when;
	const char *reason;

	(void)state;
	reassembly_add(re, &a, 11, SECOND, &whole, &reason);
	reassembly_add(re, &c, 12, SECOND, &whole, &reason);
	assert_false(reassembly_give_up(re, 30 * SECOND, false, &whole, &when, &reason));
	assert_true(reassembly_give_up(re, 31 * SECOND, false, &whole, &when, &reason));
	assert_int_equal(when.frame, 11);
	assert_int_equal(whole.captured, 16);
	assert_int_equal(whole.length, 29);
	assert_false(reassembly_give_up(re, 31 * SECOND, true, &whole, &when, &reason));
	reassembly_free(re);
}

/* Each is waited for from its own first fragment on, whatever came after it. */
static void the_older_one_is_given_up(void **state)
{
	struct reassembly *re = reassembly_create();
	struct packet a = piece(0, 8, true, 1), b = piece(0, 8, true, 2), whole;
	const int64_t first = 40 * SECOND, second = 69 * SECOND;
	struct datagram when;
	const char *reason;

	(void)state;
	assert_int_equal(reassembly_add(re, &a, 1, first, &whole, &reason),
			 REASSEMBLY_HELD);
	assert_int_equal(reassembly_add(re, &b, 2, second, &whole, &reason),
			 REASSEMBLY_HELD);
	assert_false(reassembly_give_up(re, second, false, &whole, &when, &reason));
	assert_true(reassembly_give_up(re, first + 31 * SECOND, false, &whole, &when,
				       &reason));
	assert_int_equal(when.frame, 1);
	assert_false(reassembly_give_up(re, first + 31 * SECOND, false, &whole, &when,
					&reason));
	reassembly_free(re);
}

static void bounded(void **state)
{
	struct reassembly *re = reassembly_create();
	struct packet whole, next = piece(0, 8, true, REASSEMBLY_SLOTS);
	struct datagram when;
	const char *reason;

	(void)state;
	for (uint32_t id = 0; id < REASSEMBLY_SLOTS; id++) {
		struct packet p = piece(0, 8, true, id);

		assert_false(reassembly_full(re));
		assert_int_equal(reassembly_add(re, &p, id + 1, id, &whole, &reason),
				 REASSEMBLY_HELD);
		assert_true(reassembly_holds(re, &p));
	}
	assert_true(reassembly_full(re));
	assert_false(reassembly_holds(re, &next));
	assert_true(reassembly_give_up(re, 0, true, &whole, &when, &reason));
	assert_int_equal(when.frame, 1);
	assert_int_equal(reassembly_add(re, &next, 99, 99, &whole, &reason),
			 REASSEMBLY_HELD);
	reassembly_free(re);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),
		cmocka_unit_test(refused),
		cmocka_unit_test(contradiction),
		cmocka_unit_test(given_up),
		cmocka_unit_test(two_ends),
		cmocka_unit_test(bounded),
		cmocka_unit_test(the_older_one_is_given_up),
	};

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + (i >> 8));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
