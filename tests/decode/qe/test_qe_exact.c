// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DTLS to the byte: what breaks a rule of the RFCs is malformed, and what was not read is
 * not called decoded.
 */
#include "decode/qe/qe_body.h"
#include "decode/qe/qe_session.h"
#include "decode/qe/qe_talk.h"
#include "decode/tape.h"

static void expect(const struct record *r, enum record_status status, const char *reason)
{
	assert_int_equal(r->status, status);
	if (reason)
		assert_string_equal(r->reason, reason);
}

/* --- bodies --------------------------------------------------------------------------
 */

#define RANDOM "0123456789abcdef0123456789abcdef"

/* Extensions that say something by being there have no data. */
static void test_empty_extensions(void **state)
{
	static const struct {
		const uint8_t *hello;
		size_t n;
		bool good;
	} rows[] = {
		{ BYTES("\xfe\xfd" RANDOM "\0\0\xa8\0\0\x08\0\x17\0\0\0\x16\0\0"), true },
		{ BYTES("\xfe\xfd" RANDOM "\0\0\xa8\0\0\5\0\x17\0\1x"), false },
		{ BYTES("\xfe\xfd" RANDOM "\0\0\xa8\0\0\5\0\x16\0\1x"), false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct qe_fields fields;
		struct record r;

		record_reset(&r, &tape);
		assert_int_equal(qe_body(QE_SERVER_HELLO, NULL,
					 (struct span){ rows[i].hello, rows[i].n }, &r,
					 &fields),
				 rows[i].good);
		expect(&r, rows[i].good ? RECORD_DECODED : RECORD_MALFORMED,
		       rows[i].good ? NULL : "data of an extension that has none");
	}
}

#define SIXTEEN "0123456789abcdef"

/* What is to be echoed is said; the padding is of 16 bytes at least. */
static void test_heartbeats(void **state)
{
	static const struct {
		const uint8_t *bytes;
		size_t n;
		const char *reason;
	} rows[] = {
		{ BYTES("\1\0\2hi" SIXTEEN), NULL },
		{ BYTES("\2\0\0" SIXTEEN), NULL },
		{ BYTES("\3\0\2hi" SIXTEEN),
		  "heartbeat is neither request nor response" },
		{ BYTES("\1\0\2h"), "heartbeat asks for more than it holds" },
		{ BYTES("\1\0\3hi" SIXTEEN),
		  "heartbeat with less than 16 bytes of padding" },
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct record r;

		record_reset(&r, &tape);
		qe_heartbeat((struct span){ rows[i].bytes, rows[i].n }, &r);
		expect(&r, rows[i].reason ? RECORD_MALFORMED : RECORD_DECODED,
		       rows[i].reason);
		text = strndup((const char *)tape.bytes, tape.bytes_used);
		assert_true(i > 0 || strstr(text, "hi") != NULL);
		free(text);
	}
}

/* Without the server's hello a key exchange may be any. */
static void test_unknown_suite(void **state)
{
	static const struct {
		uint8_t type;
		const uint8_t *bytes;
		size_t n;
		enum record_status status;
		const char *name;
	} rows[] = {
		{ QE_SERVER_KEY, BYTES("\0\4hint"), RECORD_DECODED, "hint" },
		{ QE_SERVER_KEY, BYTES("\0\4hint\3\0\x1d\2xy"), RECORD_PARTIAL, "hint" },
		{ QE_SERVER_KEY, BYTES("\3\0\x1d\4" SIXTEEN SIXTEEN), RECORD_PARTIAL,
		  "" },
		{ QE_SERVER_KEY,
		  BYTES("\0\x80" SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN
				SIXTEEN "\0\1\2"),
		  RECORD_PARTIAL, "" },
		{ QE_CLIENT_KEY, BYTES("\0\4name"), RECORD_DECODED, "name" },
		{ QE_CLIENT_KEY, BYTES("\x20" SIXTEEN SIXTEEN), RECORD_PARTIAL, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct qe_fields fields = { 0 };
		const struct span *name =
			rows[i].type == QE_SERVER_KEY ? &fields.hint : &fields.identity;
		struct record r;

		record_reset(&r, &tape);
		assert_true(qe_body(rows[i].type, NULL,
				    (struct span){ rows[i].bytes, rows[i].n }, &r,
				    &fields));
		expect(&r, rows[i].status,
		       rows[i].status == RECORD_PARTIAL ? "the cipher suite is not known"
							: NULL);
		assert_int_equal(name->n, strlen(rows[i].name));
		if (name->n)
			assert_memory_equal(name->bytes, rows[i].name, name->n);
	}
}

/* By whom the keys of an elliptic curve are: which curve, and the server's point. */
static void test_curve(void **state)
{
	static const uint8_t bytes[] = "\0\4hint\3\0\x1d\2xy";
	struct record_item *items = tape.items;
	struct qe_fields fields = { 0 };
	struct record r;

	(void)state;
	record_reset(&r, &tape);
	assert_true(qe_body(QE_SERVER_KEY, qe_suite_find(0xccac),
			    (struct span){ bytes, sizeof(bytes) - 1 }, &r, &fields));
	expect(&r, RECORD_DECODED, NULL);
	assert_int_equal(tape.items_used, 3);
	assert_string_equal(items[0].key, "hint");
	assert_string_equal(items[1].key, "curve");
	assert_int_equal(items[1].u, 29);
	assert_string_equal(items[2].key, "public");
	assert_int_equal(items[2].size, 2);
	assert_memory_equal(tape.bytes + items[2].at, "xy", 2);
}

/* Alerts by their numbers in RFC 5246, 7.2, and 4279, 6. */
static void test_alerts(void **state)
{
	static const struct {
		uint8_t code;
		const char *name; /* NULL: it has none here */
	} rows[] = {
		{ 0, "close_notify" },
		{ 10, "unexpected_message" },
		{ 20, "bad_record_mac" },
		{ 40, "handshake_failure" },
		{ 41, NULL },
		{ 47, "illegal_parameter" },
		{ 50, "decode_error" },
		{ 51, "decrypt_error" },
		{ 70, "protocol_version" },
		{ 71, "insufficient_security" },
		{ 80, "internal_error" },
		{ 90, "user_canceled" },
		{ 100, "no_renegotiation" },
		{ 115, "unknown_psk_identity" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (uint8_t level = 0; level < 4; level++) {
			uint8_t bytes[] = { level, rows[i].code, 0 };
			const struct record_item *name = &tape.items[2];
			bool good = level == 1 || level == 2;
			struct record r;

			record_reset(&r, &tape);
			qe_alert((struct span){ bytes, 2 }, &r);
			expect(&r, good ? RECORD_DECODED : RECORD_MALFORMED,
			       good ? NULL : "alert is neither a warning nor fatal");
			assert_int_equal(tape.items[0].u, level);
			assert_int_equal(tape.items[1].u, rows[i].code);
			assert_int_equal(tape.items_used, rows[i].name ? 3 : 2);
			if (rows[i].name) {
				assert_int_equal(name->size, strlen(rows[i].name));
				assert_memory_equal(tape.bytes + name->at, rows[i].name,
						    name->size);
			}
			record_reset(&r, &tape);
			qe_alert((struct span){ bytes, good ? 1 : 3 }, &r);
			expect(&r, RECORD_MALFORMED, "alert is not of 2 bytes");
		}
}

/* One byte behind a message is one too many. */
static void test_bytes_after(void **state)
{
	static const struct {
		const uint8_t *bytes;
		size_t n;
	} rows[] = { { BYTES("") }, { BYTES("x") }, { BYTES("xy") } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct qe_fields fields = { 0 };
		struct record r;

		record_reset(&r, &tape);
		assert_int_equal(qe_body(QE_HELLO_DONE, NULL,
					 (struct span){ rows[i].bytes, rows[i].n }, &r,
					 &fields),
				 !rows[i].n);
		expect(&r, rows[i].n ? RECORD_MALFORMED : RECORD_DECODED,
		       rows[i].n ? "bytes after a handshake message" : NULL);
	}
}

/*
 * Messages with certificates, from either side: who serves is not told by those that both
 * send.
 */
static void test_certificates(void **state)
{
	static const struct {
		uint8_t type;
		int side;
	} rows[] = {
		{ QE_CERTIFICATE, 0 },	      { QE_CERTIFICATE, 1 },
		{ QE_CERTIFICATE_VERIFY, 0 }, { QE_CERTIFICATE_REQUEST, 1 },
		{ QE_CERTIFICATE_URL, 0 },    { QE_CERTIFICATE_STATUS, 1 },
		{ QE_SUPPLEMENTAL, 0 },	      { QE_SUPPLEMENTAL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);
		json_t *all, *r;

		say_hello(&t, 0, &(struct enc_hello){ .ticket = false });
		flush(&t, 0);
		say(&t, rows[i].side, 0, rows[i].type, "abc", 3);
		flush(&t, rows[i].side);
		all = harness_close(t.h);
		r = json_array_get(all, 1);
		assert_string_equal(text_at(r, "direction"),
				    rows[i].side ? "s2c" : "c2s");
		assert_string_equal(text_at(r, "reason"),
				    "a handshake with certificates is not read");
		json_decref(all);
	}
}

static void test_record_too_long(void **state)
{
	static uint8_t record[13 + 20000] = { 22, 0xfe, 0xfd };

	(void)state;
	for (size_t n = 18432; n < 18434; n++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);
		json_t *all;

		say_hello(&t, 0, &(struct enc_hello){ .ticket = false });
		flush(&t, 0);
		record[4] = 1; /* the epoch */
		enc_put(record + 11, n, 2);
		deliver(&t, 0, record, 13 + n);
		all = harness_close(t.h);
		assert_string_equal(text_at(json_array_get(all, 1), "reason"),
				    n > 18432 ? "record longer than any"
					      : "the handshake was not seen");
		json_decref(all);
	}
}

/* --- associations --------------------------------------------------------------------
 */

/* A game whose key is another, behind one that was read: each record says so. */
static void test_other_key(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000), u;
	uint8_t noise[64] = { DATA, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 9, 9, 0, 51 };
	json_t *all;

	(void)state;
	begun(&t, &(struct enc_hello){ .ticket = false });
	play(&t, 0, 1);
	u = talk_of(t.h, &enc_suites[9], 5000);
	u.e.random[0][9] = 77;
	u.other_key = true;
	/* A hello alone may be forged: what does not open is no other game's. */
	say_hello(&u, 0, &(struct enc_hello){ .ticket = false });
	flush(&u, 0);
	deliver(&u, 0, noise, sizeof(noise));
	u = talk_of(t.h, &enc_suites[9], 5000);
	u.e.random[0][9] = 78;
	u.other_key = true;
	begun(&u, &(struct enc_hello){ .ticket = false });
	play(&u, 0, 1);
	play(&u, 1, 1);
	all = harness_close(t.h);
	assert_int_equal(count(all, "reason", "does not authenticate: forged or damaged"),
			 1);
	/* Both Finished, and what was played. */
	assert_int_equal(count(all, "reason", "the key does not fit this connection"), 4);
	assert_int_equal(count(all, "kind", "nq-unreliable"), 1);
	json_decref(all);
}

/* A Finished is lost on its way to the observer, not to who goes on from there. */
static void test_finished_lost(void **state)
{
	(void)state;
	for (int data = 0; data < 2; data++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000), u;
		struct enc_hello offer = { .ticket = true,
					   .session_id = session_id,
					   .session_id_n = 16,
					   .offer = ticket,
					   .offer_n = sizeof(ticket) };
		json_t *all;

		t.mute = FINISHED;
		begun(&t, &(struct enc_hello){ .ticket = true });
		if (data)
			play(&t, 0, 1);
		u = talk_of(t.h, t.e.suite, 5001);
		resumed(&u, &t.e, &offer);
		play(&u, 0, 1);
		all = harness_close(t.h);
		assert_int_equal(count(all, "kind", "nq-unreliable"), data ? 2 : 0);
		json_decref(all);
	}
}

/* Fragments whose message never comes are partial, and their bytes are shown. */
static void test_fragment_lost(void **state)
{
	struct enc_hello hello = { .ticket = true };
	uint8_t body[512], out[600];

	(void)state;
	for (unsigned int lost = 0; lost < 4; lost++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);
		size_t n, k;
		json_t *all, *r;

		say_hello(&t, 0, &hello);
		flush(&t, 0);
		n = enc_hello(&t.e, 0, &hello, body);
		for (unsigned int i = 0; i < 3; i++) {
			size_t at = i * 15, piece = i < 2 ? 15 : n - at;

			if (i == lost)
				continue;
			put(&t, 0, 0, HANDSHAKE, out,
			    enc_fragment(HELLO, 1, body, n, at, piece, out));
			flush(&t, 0);
		}
		put(&t, 1, 0, ALERT, "\2\x28", 2);
		flush(&t, 1);
		all = harness_close(t.h);
		assert_int_equal(json_array_size(all), lost < 3 ? 4 : 5);
		json_array_foreach (all, k, r) {
			bool piece = k && k + 1 < json_array_size(all);

			assert_string_equal(text_at(r, "status"),
					    lost < 3 && piece ? "partial" : "decoded");
			if (piece && (lost < 3 || k < 3))
				assert_int_not_equal(
					*text_at(r, "records.0.messages.0.data"), '(');
		}
		json_decref(all);
	}
}

/* Of another handshake than that which is not over yet, as long as its hello was. */
static void test_fragment_of_another(void **state)
{
	struct enc_hello hello = { .ticket = true };
	uint8_t body[512], out[600];

	(void)state;
	for (int other = 0; other < 2; other++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);
		struct talk u = talk_of(t.h, t.e.suite, 5000);
		json_t *all;
		size_t n;

		t.mute = FINISHED;
		if (other)
			begun(&t, &hello);
		memset(u.e.random[0], 'u', sizeof(u.e.random[0]));
		say_hello(&u, 0, &(struct enc_hello){ .ticket = true });
		flush(&u, 0);
		say(&u, 1, 0, VERIFY, "\xfe\xff\4cook", 7);
		flush(&u, 1);
		hello.cookie = (const uint8_t *)"cook";
		hello.cookie_n = 4;
		n = enc_hello(&u.e, 0, &hello, body);
		put(&u, 0, 0, HANDSHAKE, out,
		    enc_fragment(HELLO, 1, body, n, 0, n - 5, out));
		flush(&u, 0);
		put(&u, 1, 0, ALERT, "\2\x28", 2);
		flush(&u, 1);
		all = harness_close(t.h);
		assert_string_equal(text_at(json_array_get(all, json_array_size(all) - 2),
					    "status"),
				    "partial");
		json_decref(all);
	}
}

/* Datagrams of a hundred fragments, without end. */
struct endless {
	struct ahead ahead;
	struct span payload;
	unsigned int looked;
};

static bool endless_next(struct ahead *ahead, struct span *ret)
{
	struct endless *e = (struct endless *)ahead;

	*ret = e->payload;
	return e->looked++ < 1000;
}

static size_t many_fragments(uint8_t type, uint16_t number, uint8_t *to)
{
	static const uint8_t body[200];
	struct enc e = { .suite = &enc_suites[9] };
	uint8_t text[1400];
	size_t n = 0;

	for (size_t i = 0; i < 100; i++)
		n += enc_fragment(type, number, body, sizeof(body), i, 1, text + n);
	return enc_record(&e, 0, 0, HANDSHAKE, text, n, to);
}

/* Only so many are looked at, whatever waits behind; and of numbers that have a place. */
static void test_fragments_without_end(void **state)
{
	static const struct {
		uint8_t type;
		uint16_t number;
		bool over; /* the handshake */
		enum family_wait wait;
		unsigned int looked;
	} rows[] = {
		{ HELLO, 1, false, WAIT_SLICES, 2 },
		{ HELLO, QE_MESSAGES - 1, false, WAIT_SLICES, 2 },
		{ HELLO, QE_MESSAGES, false, WAIT_NOTHING, 0 },
		{ HELLO, UINT16_MAX, false, WAIT_NOTHING, 0 },
		{ HELLO, 1, true, WAIT_SLICES, 2 },
		{ KEY, 1, true, WAIT_NOTHING, 0 },
	};
	struct qe_session s = { .keys = NULL };
	uint8_t bytes[1500];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t n = many_fragments(rows[i].type, rows[i].number, bytes);
		struct span payload = { bytes, n };
		struct endless e = { { endless_next }, payload, 0 };

		s.now.hand.over = rows[i].over;
		assert_int_equal(qe_session_waits(&s, 0, payload, &e.ahead),
				 rows[i].wait);
		assert_int_equal(e.looked, rows[i].looked);
	}
}

/* What was forgotten makes room for as much. */
static void test_bytes_forgotten(void **state)
{
	static const uint8_t body[100];
	struct qe_fragment f = { .type = HELLO,
				 .length = sizeof(body),
				 .body = { body, sizeof(body) } };
	struct qe_hand h = { .bytes = 0 };
	struct span whole;

	(void)state;
	assert_int_equal(qe_hand_put(&h, 0, &f, &whole), QE_WHOLE);
	assert_int_not_equal(h.bytes, 0);
	qe_hand_forget_client(&h);
	assert_int_equal(h.bytes, 0);
}

/* Of three messages begun in one datagram two become whole: that is not enough. */
static void test_fragments_of_three(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	struct enc_hello hello = { .ticket = true };
	uint8_t body[512], out[600];
	size_t n;
	json_t *all;

	(void)state;
	say_hello(&t, 0, &hello);
	flush(&t, 0);
	n = enc_hello(&t.e, 0, &hello, body);
	for (unsigned int half = 0; half < 2; half++) {
		for (unsigned int number = 1; number <= 3U - half; number++)
			put(&t, 0, 0, HANDSHAKE, out,
			    enc_fragment(HELLO, number, body, n, half * 20,
					 half ? n - 20 : 20, out));
		flush(&t, 0);
	}
	all = harness_close(t.h);
	assert_string_equal(text_at(json_array_get(all, 1), "status"), "partial");
	assert_string_equal(text_at(json_array_get(all, 2), "status"), "decoded");
	json_decref(all);
}

/* A whole handshake in fragments, sent again when it is over. */
static void test_fragment_behind(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	uint8_t body[512] = { 0 }, out[600];
	json_t *all, *r;

	(void)state;
	begun(&t, &(struct enc_hello){ .ticket = false });
	put(&t, 1, 0, HANDSHAKE, out,
	    enc_fragment(SERVER_HELLO, 1, body, 90, 3, 40, out));
	flush(&t, 1);
	play(&t, 0, 1);
	all = harness_close(t.h);
	r = json_array_get(all, json_array_size(all) - 2);
	assert_string_equal(text_at(r, "status"), "partial");
	assert_int_equal(strlen(text_at(r, "records.0.messages.0.data")), 80);
	assert_int_equal(count(all, "kind", "nq-unreliable"), 1);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_extensions),
		cmocka_unit_test(test_heartbeats),
		cmocka_unit_test(test_unknown_suite),
		cmocka_unit_test(test_curve),
		cmocka_unit_test(test_alerts),
		cmocka_unit_test(test_bytes_after),
		cmocka_unit_test(test_certificates),
		cmocka_unit_test(test_record_too_long),
		cmocka_unit_test(test_other_key),
		cmocka_unit_test(test_finished_lost),
		cmocka_unit_test(test_fragments_of_three),
		cmocka_unit_test(test_fragment_lost),
		cmocka_unit_test(test_fragment_of_another),
		cmocka_unit_test(test_fragments_without_end),
		cmocka_unit_test(test_bytes_forgotten),
		cmocka_unit_test(test_fragment_behind),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
