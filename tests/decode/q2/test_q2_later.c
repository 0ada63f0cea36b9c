// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What comes again, too late, in another form than was thought, or from somebody else:
 * parts of deflated files, connections of 35 and 36 that were joined in the middle,
 * serverdata that nobody has sent.
 */
#include "decode/q2/q2_parcel.h"

#define PLAIN_MOVE   "0265000000001040001040001040"
#define COMPACT_MOVE "02650000005b0d80fd004050d81040001040001140"
#define BATCHED_MOVE "2bd204000040e1624e0040902988531542c059"

static const char text[] = "what is said twice is said twice is short";

static void send_to(struct q2_session *q, enum direction direction,
		    const struct parcel *p, struct record *r)
{
	q2_run_datagram(q, direction, p->bytes, p->n, r);
}

static void expect_text(const struct record *r)
{
	char hex[3 * sizeof(text)] = "\"data\":\"";
	size_t n = strlen(hex);

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		n += (size_t)sprintf(hex + n, "%02x", (unsigned int)text[i]);
	assert_int_equal(r->status, RECORD_DECODED);
	assert_true(q2_says(r, hex));
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
	assert_true(q2_says(&r, "\"repeated\":true"));
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
	assert_true(q2_says(&r, "\"repeated\":true"));
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

/* A protocol that was never agreed on, in a datagram of somebody else's. */
static void test_forged_serverdata(void **state)
{
	struct parcel p = header(0x80000005, 1);
	struct q2_session q;
	struct record r;

	(void)state;
	put_hex(&p, "0c6300000051070000000000000000");
	q2_begin(&q, 34, 0, 0);
	send_to(&q, DIRECTION_S2C, &p, &r);
	assert_int_equal(r.status, RECORD_OPAQUE);
	p = header(6, 1);
	put(&p, "\x0a\2hi", 5);
	send_to(&q, DIRECTION_S2C, &p, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(r.kind, "server-command");
	q2_session_drop(&q);
}

static void test_sequence_zero(void **state)
{
	struct parcel p = header(0x80000000, 1);
	struct q2_session q;
	struct record r;

	(void)state;
	put(&p, "\x0a\2hi", 5);
	q2_begin(&q, 34, 0, 0);
	send_to(&q, DIRECTION_S2C, &p, &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	q2_session_drop(&q);
}

/* --- joined in the middle ----------------------------------------------------------- */

/* As put_full_frame(), and whose eyes it is seen with: 16 bits from minor 1022 on. */
static void put_seen_frame(struct parcel *p)
{
	put(p, "\xd4\x64\0\0\xf8\x90\0", 7);
	put_hex(p, PLAYER_FULL);
	put_hex(p, "0500"
		   "030108000800030208000800"
		   "0000");
}

/* The first frames fit many minors; later ones say which it is. */
static void test_minor_told_late(void **state)
{
	struct q2_session q = { .game = NULL };
	struct parcel p;
	struct record r;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		p = header(500 + i, 300);
		if (i < 3)
			put_full_frame(&p);
		else
			put_seen_frame(&p);
		send_to(&q, DIRECTION_S2C, &p, &r);
		assert_string_equal(r.dialect, "q2pro-36");
		assert_string_equal(r.kind, "frame");
		assert_int_not_equal(r.status, RECORD_MALFORMED);
		assert_true(i < 3 || q2_says(&r, "\"clientnum\":5"));
	}
	q2_session_drop(&q);
}

/* Moves without buttons are alike in 35 and 36. */
static void test_r1q2_told_late(void **state)
{
	struct q2_session q = { .game = NULL };
	struct parcel p;
	struct record r;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		p = header(300 + i, 500);
		put(&p, "\x31", 1);
		put_hex(&p, i < 3 ? PLAIN_MOVE : COMPACT_MOVE);
		send_to(&q, DIRECTION_C2S, &p, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_string_equal(r.kind, "client-move");
		assert_true(i < 3 || q2_says(&r, "\"dialect\":\"r1q2-35\""));
	}
	assert_true(q2_says(&r, "\"forwardmove\":400"));
	/* What a handshake has agreed on stays. */
	q.guessed = false;
	p = header(310, 500);
	put(&p, "\x31", 1);
	put_hex(&p, BATCHED_MOVE);
	send_to(&q, DIRECTION_C2S, &p, &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	q2_session_drop(&q);
}

/* The qport's width by what the datagram can be, before a move has settled it. */
static void test_width_unknown(void **state)
{
	static const struct {
		const char *behind; /* the two words of the header, in hex */
		const char *kind;
	} rows[] = {
		{ "", "client-idle" },
		{ "31", "client-idle" },
		{ "31"
		  "04736179206800",
		  "client-command" },
		{ "3132", "client-idle" },
		{ "3104", "client-idle" },
		{ "3132"
		  "04736179206800",
		  "client-command" },
	};
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct q2_session q = { .game = NULL };
		struct parcel p = header(300, 500);

		put_hex(&p, rows[i].behind);
		send_to(&q, DIRECTION_C2S, &p, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_string_equal(r.kind, rows[i].kind);
		q2_session_drop(&q);
	}
}

/* The new netchan without its handshake. */
static void test_slices_unasked(void **state)
{
	struct q2_session q = { .game = NULL };
	struct parcel p, frame = { .n = 0 };
	struct record r;

	(void)state;
	put_full_frame(&frame);
	for (uint32_t i = 0; i < 3; i++) {
		p = header(500 + 2 * i, 300);
		put_full_frame(&p);
		send_to(&q, DIRECTION_S2C, &p, &r);
		assert_string_equal(r.kind, "frame");
		p = header(1U << 30 | (501 + 2 * i), 300);
		put16(&p, 0x8000);
		put(&p, frame.bytes, 20);
		send_to(&q, DIRECTION_S2C, &p, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_string_equal(r.kind, "fragment");
		p = header(1U << 30 | (501 + 2 * i), 300);
		put16(&p, 20);
		put(&p, frame.bytes + 20, frame.n - 20);
		send_to(&q, DIRECTION_S2C, &p, &r);
		assert_string_equal(r.kind, "frame");
		assert_int_not_equal(r.status, RECORD_MALFORMED);
	}
	q2_session_drop(&q);
}

#define EMPTY_FRAME(number, base) "14" number "000000" base "000011000000000000120000"

/* One on another of the same message is as incomplete as that. */
static void test_frames_in_one(void **state)
{
	static const struct {
		const char *hex;
		enum record_status status;
	} rows[] = {
		{ "0c2200000051070000000000005400", RECORD_DECODED },
		{ EMPTY_FRAME("64", "63000000") EMPTY_FRAME("65", "64000000"),
		  RECORD_PARTIAL },
		{ EMPTY_FRAME("66", "65000000"), RECORD_PARTIAL },
		{ EMPTY_FRAME("67", "ffffffff") EMPTY_FRAME("68", "67000000"),
		  RECORD_DECODED },
		{ EMPTY_FRAME("69", "68000000"), RECORD_DECODED },
	};
	struct q2_session q;
	struct record r;

	(void)state;
	q2_begin(&q, 34, 0, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct q2_bytes b = q2_hex(rows[i].hex);

		q2_run_message(&q, DIRECTION_S2C, b.bytes, b.n, &r);
		assert_int_equal(r.status, rows[i].status);
	}
	q2_session_drop(&q);
}

static void send_slice(struct q2_session *q, uint32_t sequence,
		       const struct parcel *whole, bool second, struct record *r)
{
	size_t half = whole->n / 2;
	struct parcel p = header(1U << 30 | sequence, 300);

	put16(&p, second ? (unsigned int)half : 0x8000);
	put(&p, whole->bytes + (second ? half : 0), second ? whole->n - half : half);
	send_to(q, DIRECTION_S2C, &p, r);
}

/* One of the message before, once more, amid the slices of the next. */
static void test_slice_again(void **state)
{
	struct parcel print = { .n = 0 };
	struct q2_session q;
	struct record r;

	(void)state;
	put(&print, "\x0a\2what is long", 15);
	q2_begin(&q, 36, 1026, 0);
	q.now.has_connect = q.now.new_netchan = true;
	send_slice(&q, 10, &print, false, &r);
	send_slice(&q, 10, &print, true, &r);
	assert_string_equal(r.kind, "server-command");
	send_slice(&q, 11, &print, false, &r);
	assert_string_equal(r.kind, "fragment");
	send_slice(&q, 10, &print, true, &r);
	assert_string_equal(r.kind, "fragment");
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"repeated\":true"));
	assert_true(q2_says(&r, "\"data\":\"697320"));
	send_slice(&q, 11, &print, false, &r);
	assert_true(q2_says(&r, "\"repeated\":true,\"data\":\"0a0277"));
	send_slice(&q, 11, &print, true, &r);
	assert_string_equal(r.kind, "server-command");
	assert_int_equal(r.status, RECORD_DECODED);
	q2_session_drop(&q);
}

/* By a qport of one byte, even if nothing follows it. */
static void test_owns(void **state)
{
	struct q2_session q;

	(void)state;
	q2_begin(&q, 36, 1026, 0);
	q.now.qport = 0x31;
	assert_true(quake2_family.owns(&q, (struct span){ BYTES("12345678\x31") }));
	assert_false(quake2_family.owns(&q, (struct span){ BYTES("12345678\x32") }));
	assert_false(quake2_family.owns(&q, (struct span){ BYTES("12345678") }));
	q.qport_size = 3;
	assert_false(quake2_family.owns(&q, (struct span){ BYTES("12345678\x31") }));
	assert_true(quake2_family.owns(&q, (struct span){ BYTES("12345678\x31\0") }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_again),
		cmocka_unit_test(test_part_asked_for),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_zpacket),
		cmocka_unit_test(test_forged_serverdata),
		cmocka_unit_test(test_sequence_zero),
		cmocka_unit_test(test_minor_told_late),
		cmocka_unit_test(test_r1q2_told_late),
		cmocka_unit_test(test_width_unknown),
		cmocka_unit_test(test_slices_unasked),
		cmocka_unit_test(test_frames_in_one),
		cmocka_unit_test(test_slice_again),
		cmocka_unit_test(test_owns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
