// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parts of deflated files that come again or are of another file, and packets of which
 * something is missing.
 */
#include "decode/q2/q2_parcel.h"

static const char text[] = "what is said twice is said twice is short";

static void send_to(struct q2_session *q, enum direction direction,
		    const struct parcel *p, struct record *r)
{
	q2_run_datagram(q, direction, p->bytes, p->n, r);
}

/* Does @r have @what in it, said as JSON? */
static bool says(const struct record *r, const char *what)
{
	char *json = q2_json(r);
	bool found = strstr(json, what) != NULL;

	free(json);
	return found;
}

static void expect_text(const struct record *r)
{
	char hex[3 * sizeof(text)] = "\"data\":\"";
	size_t n = strlen(hex);

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		n += (size_t)sprintf(hex + n, "%02x", (unsigned int)text[i]);
	assert_int_equal(r->status, RECORD_DECODED);
	assert_true(says(r, hex));
}

static struct parcel part_of(z_stream *z, uint32_t sequence, char percent)
{
	struct parcel p = header(sequence | 1U << 31, 1);

	put_zdownload(&p, z, percent);
	return p;
}

static void number(struct parcel *p, uint8_t sequence)
{
	p->bytes[0] = sequence;
}

/* Lost behind the observer: the same part under new sequences, the last one too. */
static void test_part_again(void **state)
{
	struct q2_session q;
	struct parcel p;
	struct record r;
	z_stream z;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	deflate_begin(&z);
	p = part_of(&z, 2, 30);
	send_to(&q, DIRECTION_S2C, &p, &r);
	expect_text(&r);
	number(&p, 3);
	send_to(&q, DIRECTION_S2C, &p, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(says(&r, "\"repeated\":true"));
	p = part_of(&z, 4, 60);
	send_to(&q, DIRECTION_S2C, &p, &r);
	expect_text(&r);
	/* The one that came late, of which a copy of the stream knows nothing. */
	number(&p, 3);
	p.bytes[11] = 59;
	send_to(&q, DIRECTION_S2C, &p, &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	p = part_of(&z, 5, 100);
	send_to(&q, DIRECTION_S2C, &p, &r);
	expect_text(&r);
	number(&p, 6);
	send_to(&q, DIRECTION_S2C, &p, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(says(&r, "\"repeated\":true"));
	deflateEnd(&z);
	q2_session_drop(&q);
}

/* What the client asks for is a part of its own, though it is like the last one. */
static void test_part_asked_for(void **state)
{
	struct q2_session q;
	struct parcel p, ask = header(1U << 31 | 1, 1);
	struct record r;
	z_stream z;

	(void)state;
	put(&ask, "\x31\4nextdl", 9);
	q2_begin(&q, 36, 1026, 0);
	deflate_begin(&z);
	for (uint8_t i = 1; i < 5; i++) {
		number(&ask, i);
		send_to(&q, DIRECTION_C2S, &ask, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		p = part_of(&z, i + 1U, 30);
		send_to(&q, DIRECTION_S2C, &p, &r);
		expect_text(&r);
	}
	deflateEnd(&z);
	q2_session_drop(&q);
}

/* A file that was given up, by either side, leaves the next one alone. */
static void test_given_up(void **state)
{
	struct parcel ask = header(1U << 31 | 1, 1), refusal = header(1U << 31 | 3, 1), p;
	struct q2_session q;
	struct record r;
	z_stream z;

	(void)state;
	put(&ask, "\x31\4download b.pcx", 16);
	put(&refusal, "\x10\xff\xff\0", 4);
	for (int client = 0; client < 2; client++) {
		q2_begin(&q, 36, 1026, 0);
		deflate_begin(&z);
		p = part_of(&z, 2, 30);
		deflateEnd(&z);
		/* Parts end anywhere, in the middle of a block too. */
		p.n -= 8;
		p.bytes[9] -= 8;
		send_to(&q, DIRECTION_S2C, &p, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		send_to(&q, client ? DIRECTION_C2S : DIRECTION_S2C,
			client ? &ask : &refusal, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		deflate_begin(&z);
		p = part_of(&z, 4, 30);
		send_to(&q, DIRECTION_S2C, &p, &r);
		expect_text(&r);
		p = part_of(&z, 5, 60);
		send_to(&q, DIRECTION_S2C, &p, &r);
		expect_text(&r);
		deflateEnd(&z);
		q2_session_drop(&q);
	}
}

/* A packet is named after what is in it, and holds what it says. */
static void test_zpacket(void **state)
{
	struct parcel inner = { .n = 0 }, p = { .n = 0 };
	struct q2_session q;
	struct record r;

	(void)state;
	put(&inner,
	    "\x0d\x1e\0"
	    "8\0",
	    5);
	put_zpacket(&p, &inner);
	q2_begin(&q, 36, 1026, 0);
	q2_run_message(&q, DIRECTION_S2C, p.bytes, p.n, &r);
	assert_string_equal(r.kind, "gamestate");
	inner.n = 0;
	put_full_frame(&inner);
	p.n = 0;
	put_zpacket(&p, &inner);
	q2_run_message(&q, DIRECTION_S2C, p.bytes, p.n, &r);
	assert_string_equal(r.kind, "frame");
	q2_run_message(&q, DIRECTION_S2C, BYTES("\x15\3\0\0\0abc"), &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	q2_session_drop(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_again),
		cmocka_unit_test(test_part_asked_for),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_zpacket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
