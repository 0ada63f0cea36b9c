// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What anybody may forge of Quake II's words, who knows a client's address: it neither
 * begins another game nor keeps the client's from being read.
 */
#include "decode/q2/q2_parcel.h"

#define SERVERDATA "0c2200000051070000000000005400"
#define EMPTY_VIEW "000011000000000000120000"

/* From the client's address or from the server's; @told: so the capture says. */
static void send_word(struct harness *h, bool server, bool told, const char *word)
{
	struct parcel p = { .n = 0 };

	h->told = !told ? DIRECTION_UNKNOWN : server ? DIRECTION_S2C : DIRECTION_C2S;
	put(&p, MARK, 4);
	put(&p, word, strlen(word));
	server ? s2c(h, &p) : c2s(h, &p);
}

/* Frames on frames, and the client's words between. */
static void play_on(struct harness *h, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct parcel p = header(i, 1);
		char hex[64];

		snprintf(hex, sizeof(hex), "14%02x000000%s" EMPTY_VIEW, i,
			 i == 2 ? "ffffffff" : "");
		if (i > 2)
			snprintf(hex, sizeof(hex), "14%02x000000%02x000000" EMPTY_VIEW, i,
				 i - 1);
		put_hex(&p, hex);
		if (h->told)
			h->told = DIRECTION_S2C;
		s2c(h, &p);
		p = header(i, i);
		put16(&p, 4660);
		put(&p, "\4say\0", 5);
		if (h->told)
			h->told = DIRECTION_C2S;
		c2s(h, &p);
	}
}

/*
 * A game of 34: forged words before the client's connect (@first), before the server
 * accepts it (@joining), and amid its frames (@playing), where those with an `s` before
 * them are from the server's address; NULL: none.
 */
static json_t *game(bool told, const char *first, const char *const *joining,
		    const char *const *playing)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel p = header(1 | 1U << 31, 1);

	send_word(h, false, told, "getchallenge\n");
	if (first)
		send_word(h, false, told, first);
	send_word(h, true, told, "challenge 7 p=34,35,36");
	send_word(h, false, told, "connect 34 4660 7 \"\\name\\bo\"\n");
	for (; joining && *joining; joining++)
		send_word(h, **joining == 's', told, *joining + (**joining == 's'));
	send_word(h, true, told, "client_connect");
	put_hex(&p, SERVERDATA);
	s2c(h, &p);
	play_on(h, 2, 4);
	for (; playing && *playing; playing++)
		send_word(h, **playing == 's', told, *playing + (**playing == 's'));
	play_on(h, 4, 8);
	return harness_close(h);
}

/* All that is none of @words is decoded, and of the kind and direction it has. */
static void assert_read(json_t *all)
{
	size_t frames = 0, said = 0, i;
	json_t *r;

	json_array_foreach (all, i, r) {
		if (!strcmp(text_at(r, "status"), "decoded")) {
			frames += !strcmp(text_at(r, "kind"), "frame");
			said += !strcmp(text_at(r, "kind"), "client-command");
			continue;
		}
		fail_msg("%zu: %s", i, json_dumps(r, JSON_COMPACT));
	}
	assert_int_equal(frames, 6);
	assert_int_equal(said, 6);
	json_decref(all);
}

/* Who does not know what the server has challenged the client with. */
static void test_connect_amid(void **state)
{
	static const char *const words[][2] = {
		{ "connect 36 1 999 \"\\name\\evil\" 1390 1 1 1026\n" },
		{ "connect 31 1 999 \"\\name\\evil\"\n" },
		{ "connect 34 1 999 \"\\name\\evil\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (int told = 0; told < 2; told++)
			assert_read(game(told, NULL, words[i], NULL));
}

/* The server's words from the client's address do not begin another game. */
static void test_accept_within(void **state)
{
	static const char *const words[] = { "connect 34 1 999 \"\\name\\evil\"\n",
					     "client_connect", NULL };

	(void)state;
	assert_read(game(false, NULL, words, words));
	assert_read(game(true, NULL, words, words));
}

/* Nor does a challenge, where it is told who serves. */
static void test_challenge_of_client(void **state)
{
	static const char *const words[] = {
		"connect 36 1 999 \"\\name\\evil\" 1390 1 1 1026\n", NULL
	};

	(void)state;
	assert_read(game(true, "challenge 999", words, NULL));
}

/* Who comes again is believed, though the server's challenge was not seen, and of so
 * many challenges the last ones. */
static void test_connect_again(void **state)
{
	struct q2_session q = { .game = NULL };
	char word[64];

	(void)state;
	for (int i = 0; i < 6; i++) {
		int n = snprintf(word, sizeof(word), "%d p=34", i - 3);

		q2_session_on_challenge(&q, (struct span){ (const uint8_t *)word,
							   (size_t)n });
	}
	q2_session_on_connect(&q, (struct span){ BYTES("34 9 -2 \"\\name\\x\"\n") });
	assert_false(q.offer.has_connect);
	q2_session_on_connect(&q, (struct span){ BYTES("34 9 -1 \"\\name\\x\"\n") });
	assert_int_equal(q.offer.challenge, -1);
	q2_session_on_connect(&q, (struct span){ BYTES("34 9 2 \"\\name\\x\"\n") });
	assert_int_equal(q.offer.challenge, 2);
	q2_session_on_accept(&q, (struct span){ NULL, 0 });
	q2_session_on_connect(&q, (struct span){ BYTES("35 9 77 \"\\name\\x\"\n") });
	assert_int_equal(q.offer.protocol, 35);
	q2_session_drop(&q);
}

/*
 * Who was refused comes again, in another protocol: that the next challenge was not seen
 * makes no game unread. A print in the client's name refuses nobody.
 */
static void test_connect_refused(void **state)
{
	struct q2_session q = { .game = NULL };

	(void)state;
	q2_session_on_challenge(&q, (struct span){ BYTES("7 p=34") });
	q2_session_on_connect(&q, (struct span){ BYTES("36 9 7 \"\\name\\x\"\n") });
	q2_session_on_print(&q, DIRECTION_C2S);
	q2_session_on_connect(&q, (struct span){ BYTES("35 9 8 \"\\name\\x\"\n") });
	assert_int_equal(q.offer.protocol, 36);
	q2_session_drop(&q);
	for (int told = 0; told < 2; told++) {
		static const char *const refused[] = {
			"connect 36 1 7 \"\\name\\bo\" 1390 1 1 1026\n",
			"sprint\nServer is full.\n", "connect 34 4660 8 \"\\name\\bo\"\n",
			NULL
		};

		assert_read(game(told, NULL, refused, NULL));
	}
}

/* A connect in the name of a server that speaks makes no client of it. */
static void test_connect_of_server(void **state)
{
	static const char *const words[] = { "sconnect 34 1 999 \"\\name\\evil\"\n",
					     NULL };

	(void)state;
	assert_read(game(false, NULL, NULL, words));
	assert_read(game(true, NULL, NULL, words));
}

/* What the server says to a forged connect opens no door to the next. */
static void test_refused_other(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel p = header(1 | 1U << 31, 1);

	(void)state;
	send_word(h, false, true, "getchallenge\n");
	send_word(h, true, true, "challenge 7 p=34,35,36");
	send_word(h, false, true, "connect 34 1 999 \"\\name\\evil\"\n");
	send_word(h, true, true, "print\nBad challenge.\n");
	send_word(h, false, true, "connect 34 4660 7 \"\\name\\bo\"\n");
	send_word(h, false, true, "print\nServer is full.\n");
	send_word(h, false, true, "connect 36 1 999 \"\\name\\evil\" 1390 1 1 1026\n");
	send_word(h, true, true, "client_connect");
	put_hex(&p, SERVERDATA);
	s2c(h, &p);
	play_on(h, 2, 8);
	assert_read(harness_close(h));
}

/* Nor after the client's own connect, which is not what the server refused. */
static void test_refused_after(void **state)
{
	static const char *const words[] = {
		"connect 34 1 999 \"\\name\\evil\"\n",
		"sprint\nBad challenge.\n",
		"connect 36 1 999 \"\\name\\evil\" 1390 1 1 1026\n",
		NULL,
	};

	(void)state;
	assert_read(game(false, NULL, words, NULL));
	assert_read(game(true, NULL, words, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect_amid),
		cmocka_unit_test(test_accept_within),
		cmocka_unit_test(test_challenge_of_client),
		cmocka_unit_test(test_connect_again),
		cmocka_unit_test(test_connect_refused),
		cmocka_unit_test(test_connect_of_server),
		cmocka_unit_test(test_refused_other),
		cmocka_unit_test(test_refused_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
