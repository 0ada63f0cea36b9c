// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DTLS by an encoder of our own (qe_encoder.h): every way that a plain PSK suite closes
 * records, resumption by ticket and by session id, fragments in any order, replays, late
 * and forged records, messages that were lost, every truncation.
 */
#include "decode/qe/qe_talk.h"

/* --- tests ------------------------------------------------------------------------- */

static void test_suites(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENC_SUITES; i++) {
		for (int bits = 0; bits < 4; bits++) {
			struct talk t = talk_of(begin(), &enc_suites[i], 5000);
			json_t *all;

			t.e.etm = bits & 1;
			t.e.ems = bits & 2;
			begun(&t, &(struct enc_hello){ .ticket = bits & 2 });
			for (uint32_t k = 0; k < 3; k++) {
				play(&t, 0, k);
				play(&t, 1, k);
			}
			all = harness_close(t.h);
			assert_whole(all, 6);
			json_decref(all);
		}
	}
}

/* Of every length: CBC's padding takes each of its values. */
static void test_lengths(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENC_SUITES; i++) {
		struct talk t = talk_of(begin(), &enc_suites[i], 5000);
		uint8_t text[80] = "\0\x10\0";
		json_t *all;

		t.e.etm = i & 1;
		begun(&t, &(struct enc_hello){ .ticket = false });
		memset(text + 8, 1, sizeof(text) - 8);
		for (size_t n = 9; n < sizeof(text); n++) {
			text[3] = (uint8_t)n;
			text[7] = (uint8_t)n;
			put(&t, 1, 1, DATA, text, n);
			flush(&t, 1);
		}
		all = harness_close(t.h);
		assert_whole(all, sizeof(text) - 9);
		json_decref(all);
	}
}

static void test_resumed(void **state)
{
	static const struct enc_hello ways[] = {
		{ .ticket = true },
		{ .session_id = session_id, .session_id_n = sizeof(session_id) },
	};

	(void)state;
	for (int way = 0; way < 2; way++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000), u, v;
		struct enc_hello offer = ways[way];
		json_t *all;

		begun(&t, &ways[way]);
		u = talk_of(t.h, t.e.suite, 5001);
		v = talk_of(t.h, t.e.suite, 5002);
		if (!way) {
			offer.session_id = session_id;
			offer.session_id_n = 16;
			offer.offer = ticket;
			offer.offer_n = sizeof(ticket);
		}
		resumed(&u, &t.e, &offer);
		play(&u, 0, 1);
		play(&u, 1, 1);
		/* By what nobody has seen. */
		offer.session_id = ticket;
		offer.session_id_n = 20;
		offer.offer = session_id;
		offer.offer_n = offer.ticket ? sizeof(session_id) : 0;
		resumed(&v, &t.e, &offer);
		play(&v, 0, 1);
		all = harness_close(t.h);
		assert_int_equal(count(all, "kind", "nq-unreliable"), 2);
		assert_int_equal(verified(all), 4);
		assert_int_equal(count(all, "reason",
				       "it goes on a session whose keys are not known"),
				 3);
		json_decref(all);
	}
}

static void test_fragments(void **state)
{
	(void)state;
	for (size_t most = 1; most < 60; most += 7) {
		for (int bits = 0; bits < 4; bits++) {
			struct talk t = talk_of(begin(), &enc_suites[9], 5000);
			json_t *all;

			t.most = most;
			t.backwards = bits & 1;
			t.e.ems = bits & 2;
			begun(&t, &(struct enc_hello){ .ticket = true });
			play(&t, 0, 1);
			play(&t, 1, 1);
			all = harness_close(t.h);
			assert_whole(all, 2);
			json_decref(all);
		}
	}
}

static void test_conflict(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	uint8_t body[512], out[600];
	size_t n = enc_hello(&t.e, 0, &(struct enc_hello){ .ticket = true }, body);
	json_t *all;

	(void)state;
	put(&t, 0, 0, HANDSHAKE, out, enc_fragment(HELLO, 0, body, n, 0, 40, out));
	flush(&t, 0);
	body[39] ^= 1;
	put(&t, 0, 0, HANDSHAKE, out, enc_fragment(HELLO, 0, body, n, 39, n - 39, out));
	flush(&t, 0);
	all = harness_close(t.h);
	assert_int_equal(
		count(all, "reason", "handshake message sent again with other bytes"), 1);
	assert_int_equal(count(all, "status", "malformed"), 1);
	json_decref(all);
}

static void test_replayed(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	uint8_t kept[100][128], text[16];
	size_t n[100];
	json_t *all;

	(void)state;
	begun(&t, &(struct enc_hello){ .ticket = false });
	for (uint32_t i = 0; i < 100; i++)
		n[i] = enc_record(&t.e, 0, 1, DATA, text, nop(i + 1, text), kept[i]);
	deliver(&t, 0, kept[2], n[2]);
	deliver(&t, 0, kept[0], n[0]); /* late */
	deliver(&t, 0, kept[2], n[2]); /* again */
	deliver(&t, 0, kept[0], n[0]); /* again */
	deliver(&t, 0, kept[1], n[1]); /* late */
	deliver(&t, 0, kept[80], n[80]);
	deliver(&t, 0, kept[17], n[17]); /* 63 back: the window's end */
	deliver(&t, 0, kept[16], n[16]); /* beyond */
	all = harness_close(t.h);
	assert_int_equal(count(all, "status", "decoded"), json_array_size(all));
	assert_int_equal(count(all, "records.0.repeated", "true"), 3);
	assert_int_equal(count(all, "kind", "nq-unreliable"), 5);
	json_decref(all);
}

/* Each bit of a record turned: none opens, and the session goes on. */
static void test_forged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENC_SUITES; i++) {
		struct talk t = talk_of(begin(), &enc_suites[i], 5000);
		uint8_t record[200], text[16];
		json_t *all;
		size_t n;

		begun(&t, &(struct enc_hello){ .ticket = false });
		n = enc_record(&t.e, 0, 1, DATA, text, nop(1, text), record);
		for (size_t bit = 13 * 8; bit < 8 * n; bit++) {
			record[bit / 8] ^= (uint8_t)(1U << bit % 8);
			deliver(&t, 0, record, n);
			record[bit / 8] ^= (uint8_t)(1U << bit % 8);
		}
		deliver(&t, 0, record, n);
		all = harness_close(t.h);
		assert_int_equal(count(all, "reason",
				       "does not authenticate: forged or damaged"),
				 8 * (n - 13));
		assert_int_equal(count(all, "kind", "nq-unreliable"), 1);
		json_decref(all);
	}
}

/* Hellos that anybody may forge end nobody's game; a handshake that is whole does. */
static void test_hello_within(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000), u;
	json_t *all;

	(void)state;
	begun(&t, &(struct enc_hello){ .ticket = false });
	play(&t, 0, 1);
	for (int i = 0; i < 5; i++) {
		u = talk_of(t.h, &enc_suites[i], 5000);
		u.e.random[0][9] = (uint8_t)i;
		say_hello(&u, 0, &(struct enc_hello){ .ticket = false });
		flush(&u, 0);
		play(&t, 0, 2 + (uint32_t)i);
		play(&t, 1, 2 + (uint32_t)i);
	}
	u = talk_of(t.h, &enc_suites[12], 5000);
	u.e.random[0][9] = 77;
	begun(&u, &(struct enc_hello){ .ticket = false });
	play(&u, 0, 1);
	play(&t, 0, 9); /* of the one that is over */
	all = harness_close(t.h);
	assert_int_equal(verified(all), 4);
	assert_int_equal(count(all, "kind", "nq-unreliable"), 12);
	assert_int_equal(count(all, "reason", "does not authenticate: forged or damaged"),
			 1);
	json_decref(all);
}

static void test_lost(void **state)
{
	static const struct {
		uint8_t mute;
		bool ems;
		const char *reason; /* NULL: it opens all the same */
	} cases[] = {
		{ HELLO, false, "the handshake was not seen" },
		{ SERVER_HELLO, false, "the handshake was not seen" },
		{ KEY, false, "the client's key exchange was not seen" },
		{ DONE, false, NULL },
		{ DONE, true, "a message of the handshake was not seen" },
		{ FINISHED, true, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);
		json_t *all;

		t.e.ems = cases[i].ems;
		t.mute = cases[i].mute;
		begun(&t, &(struct enc_hello){ .ticket = false });
		play(&t, 0, 1);
		play(&t, 1, 1);
		all = harness_close(t.h);
		assert_int_equal(verified(all), 0);
		assert_int_equal(count(all, "kind", "nq-unreliable"),
				 cases[i].reason ? 0 : 2);
		if (cases[i].reason)
			assert_true(count(all, "reason", cases[i].reason) >= 2);
		json_decref(all);
	}
}

static void test_many_in_one(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	uint8_t text[16];
	json_t *all, *last;

	(void)state;
	begun(&t, &(struct enc_hello){ .ticket = false });
	for (uint32_t i = 0; i < KEYS_PLAINS; i++)
		put(&t, 0, 1, DATA, text, nop(i + 1, text));
	flush(&t, 0);
	for (uint32_t i = 0; i <= KEYS_PLAINS; i++)
		put(&t, 0, 1, DATA, text, nop(100 + i, text));
	flush(&t, 0);
	all = harness_close(t.h);
	last = json_array_get(all, json_array_size(all) - 2);
	assert_string_equal(text_at(last, "status"), "decoded");
	assert_string_equal(text_at(last, "datagrams"), "[64]");
	last = json_array_get(all, json_array_size(all) - 1);
	assert_string_equal(text_at(last, "status"), "partial");
	assert_string_equal(text_at(last, "reason"),
			    "more records in a datagram than are read");
	json_decref(all);
}

/* Every truncation of the client's datagrams in front of the whole one. */
static void test_cuts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENC_SUITES; i += 4) {
		struct talk t = talk_of(begin(), &enc_suites[i], 5000);
		uint8_t record[200], text[16];
		json_t *all;
		size_t n;

		begun(&t, &(struct enc_hello){ .ticket = false });
		n = enc_record(&t.e, 0, 1, DATA, text, nop(1, text), record);
		for (size_t cut = 1; cut < n; cut++) {
			deliver(&t, 0, record, cut);
			if (cut < 14)
				continue;
			enc_put(record + 11, cut - 13, 2);
			deliver(&t, 0, record, cut);
			enc_put(record + 11, n - 13, 2);
		}
		deliver(&t, 0, record, n);
		all = harness_close(t.h);
		assert_int_equal(count(all, "kind", "nq-unreliable"), 1);
		assert_int_equal(count(all, "status", "malformed"), n - 1 + n - 14);
		json_decref(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suites),	 cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_resumed),	 cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_conflict), cmocka_unit_test(test_replayed),
		cmocka_unit_test(test_forged),	 cmocka_unit_test(test_hello_within),
		cmocka_unit_test(test_lost),	 cmocka_unit_test(test_many_in_one),
		cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
