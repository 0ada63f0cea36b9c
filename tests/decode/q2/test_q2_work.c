// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A few deflated bytes of a connection joined in the middle cost no more than a long
 * message does. The tests count the bytes that all walks read, not seconds.
 */
#include <dlfcn.h>

#include "decode/message.h"
#include "decode/q2/q2_parcel.h"

typedef uint8_t walk(struct message *m, const struct op *table, void *context);

static uint64_t walks, walked;

/* The library's calls come here, too. */
uint8_t message_ops(struct message *m, const struct op *table, void *context)
{
	/* POSIX requires the cast. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	walk *next = (walk *)(uintptr_t)dlsym(RTLD_NEXT, "message_ops");

	walks++;
	walked += m->bytes.n;
	return next(m, table, context);
}

/* Deflated packets of 32768 bytes, each @byte. */
static struct parcel bombs(unsigned int count, uint8_t byte)
{
	static uint8_t plain[Q2_MESSAGE_MAX];
	uint8_t packed[256];
	struct parcel p = header(500, 300);
	z_stream z;
	size_t n;

	memset(plain, byte, sizeof(plain));
	deflate_begin(&z);
	n = deflate_part(&z, plain, sizeof(plain), packed, sizeof(packed));
	deflateEnd(&z);
	for (unsigned int i = 0; i < count; i++) {
		put(&p, "\x15", 1);
		put16(&p, (unsigned int)n);
		put16(&p, sizeof(plain));
		put(&p, packed, n);
	}
	return p;
}

static void a_guess_reads_no_more_than_a_long_message(void **state)
{
	(void)state;
	for (unsigned int count = 1; count <= 20; count += 19) {
		struct parcel p = bombs(count, 6);
		struct q2_session q = { .game = NULL };

		walked = 0;
		q2_guess(&q, DIRECTION_S2C, (struct span){ p.bytes, p.n });
		assert_in_range(walked, Q2_MESSAGE_MAX, 2 * Q2_MESSAGE_MAX);
		walked = 0;
		q2_guess(NULL, DIRECTION_UNKNOWN, (struct span){ p.bytes, p.n });
		assert_in_range(walked, Q2_MESSAGE_MAX, 2 * Q2_MESSAGE_MAX);
	}
}

static void a_message_inflates_to_a_bounded_length(void **state)
{
	struct parcel p = bombs(20, 6);
	struct q2_session q;
	struct record r;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	walked = 0;
	q2_run_message(&q, DIRECTION_S2C, p.bytes + 8, p.n - 8, &r);
	/* Parsed, and once more to commit. */
	assert_in_range(walked, Q2_INFLATE_MAX, 2 * (Q2_INFLATE_MAX + p.n));
	assert_int_equal(r.status, RECORD_PARTIAL);
	assert_string_equal(r.reason, "a message that inflates to over 256 KiB");
	q2_session_drop(&q);
	p = bombs(8, 6);
	q2_begin(&q, 36, 1026, 0);
	q2_run_message(&q, DIRECTION_S2C, p.bytes + 8, p.n - 8, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	q2_session_drop(&q);
}

/* A datagram too long to be read by all ways leaves open those that have not read it. */
static void ways_that_were_not_tried_stay_open(void **state)
{
	struct q2_session q = { .game = NULL };
	struct parcel p = bombs(1, 6);
	struct q2_guess g = q2_guess(&q, DIRECTION_S2C, (struct span){ p.bytes, p.n });

	(void)state;
	assert_int_equal(g.direction, DIRECTION_S2C);
	assert_false(g.agreed);
	assert_true(g.fit & q2_guess_protocol(36) && g.fit & q2_guess_protocol(35));
}

/* While a datagram waits, those of other connections do not have it read again. */
static void a_datagram_that_waits_is_not_guessed_for_others(void **state)
{
	struct harness *h = harness_open(FAMILY_QUAKE2);
	struct parcel p = header(500, 300);
	uint64_t before;

	(void)state;
	put_full_frame(&p);
	h->told = DIRECTION_S2C;
	s2c(h, &p);
	h->told = DIRECTION_UNKNOWN;
	before = walks;
	for (uint16_t i = 0; i < 100; i++)
		harness_send(h, harness_address(3, 7000), harness_address(4, 7001),
			     BYTES(MARK "getinfo xxx"));
	assert_in_range(walks - before, 0, 40);
	json_decref(harness_close(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guess_reads_no_more_than_a_long_message),
		cmocka_unit_test(a_message_inflates_to_a_bounded_length),
		cmocka_unit_test(ways_that_were_not_tried_stay_open),
		cmocka_unit_test(a_datagram_that_waits_is_not_guessed_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
