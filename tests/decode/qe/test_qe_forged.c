// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What anybody may forge of DTLS, who knows a client's address and port: hellos, pieces
 * of messages, cookies. It ends nobody's game, and keeps none from being read.
 */
#include "decode/qe/qe_talk.h"
#include "rounds.h"

#define STEPS 5

/* A game of two messages, amid hellos of somebody else's. */
static void game_amid(struct talk *t, bool ems)
{
	t->e.ems = ems;
	begun(t, &(struct enc_hello){ .ticket = true });
	play(t, 0, 1);
	play(t, 1, 1);
}

/* Of the games in @h that many are read. */
static void assert_games(struct harness *h, unsigned int games, unsigned int forged)
{
	json_t *all = harness_close(h);

	if (count(all, "kind", "nq-unreliable") != 2 * games)
		fail_msg("hellos %#x", forged);
	assert_int_equal(verified(all), 2 * games);
	json_decref(all);
}

/* At whatever steps, and however many: whom the server has sent a cookie returns it. */
static void test_hello_amid(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4U << STEPS; i += rounds_step()) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);

		t.forged = i >> 2;
		t.forgers = i & 2 ? 5 : 0;
		game_amid(&t, i & 1);
		assert_games(t.h, 1, t.forged);
	}
}

/* Nor when a client comes back to the port of its last game. */
static void test_hello_amid_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4U << STEPS; i += rounds_step()) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000), u;

		game_amid(&t, i & 1);
		u = talk_of(t.h, t.e.suite, 5000);
		memset(u.e.random, 'u', sizeof(u.e.random));
		u.forged = i >> 2;
		u.forgers = i & 2 ? 5 : 0;
		game_amid(&u, i & 1);
		assert_games(t.h, 2, u.forged);
	}
}

/* Two games at a port, the second if @again or with @both amid what @like says. */
static void games_amid(const struct talk *like, bool again, bool both, bool ems)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000), u;

	for (int i = 0; i < 1 + again; i++) {
		u = talk_of(t.h, t.e.suite, 5000);
		memset(u.e.random, 'u' + i, sizeof(u.e.random));
		u.mute = like->mute;
		u.forged = i == again || both ? like->forged : 0;
		u.pieced = i == again || both ? like->pieced : 0;
		u.piece = like->piece;
		u.told = like->told;
		u.liar = like->liar;
		game_amid(&u, ems);
	}
	assert_games(t.h, 1 + again, like->forged | like->pieced << STEPS);
}

/* Nor do pieces of messages take the client's place, with other hellos or alone. */
static void test_pieces_amid(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 32U << STEPS; i += rounds_step()) {
		struct talk like = { .pieced = i >> 5,
				     .forged = i & 16 ? i >> 5 : 0,
				     .piece = i & 8 ? KEY : HELLO };

		games_amid(&like, i & 4, i & 2, i & 1);
	}
}

/* Without cookies those before the client's first hello do not. */
static void test_pieces_amid_uncooked(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct talk like = { .pieced = 1,
				     .piece = i & 4 ? KEY : HELLO,
				     .mute = VERIFY };

		games_amid(&like, i & 2, true, i & 1);
	}
}

/* Nor is what they say the client's. */
static void test_pieces_forgotten(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	json_t *all;

	(void)state;
	t.pieced = 1;
	t.piece = KEY;
	t.mute = KEY;
	handshake(&t, &(struct enc_hello){ .ticket = false });
	all = harness_close(t.h);
	assert_int_equal(count(all, "reason", "the client's key exchange was not seen"),
			 1);
	json_decref(all);
}

/* Of a hello in fragments the first comes last: what came before it stays. */
static void test_cookie_backwards(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);

	(void)state;
	t.most = 42;
	t.backwards = true;
	game_amid(&t, true);
	assert_games(t.h, 1, 0);
}

/* Between the cookie's return and the client's key they do, but only of this game. */
static void test_pieces_behind_cookie(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000), u;

		t.pieced = i & 8 ? 8 : 16;
		t.piece = i & 4 ? KEY : HELLO;
		t.key_too = true;
		t.mute = i & 2 ? VERIFY : 0;
		game_amid(&t, i & 1);
		u = talk_of(t.h, t.e.suite, 5000);
		memset(u.e.random, 'u', sizeof(u.e.random));
		game_amid(&u, i & 1);
		assert_games(t.h, 1, t.pieced);
	}
}

/* A hello that comes again behind the key, when its cookie is known at last. */
static void test_cookie_behind_key(void **state)
{
	struct enc_hello hello = { .ticket = true,
				   .cookie = (const uint8_t *)"cook",
				   .cookie_n = 4 };
	struct talk t = talk_of(begin(), &enc_suites[9], 5000), late;

	(void)state;
	t.e.ems = true;
	t.mute = VERIFY;
	handshake(&t, &(struct enc_hello){ .ticket = true });
	late = t;
	late.mute = 0;
	late.n[1] = 0;
	late.e.number[0] = 1;
	late.e.number[1] = 0;
	say(&late, 1, 0, VERIFY, "\xfe\xff\4cook", 7);
	flush(&late, 1);
	say_hello(&late, 0, &hello);
	flush(&late, 0);
	say_finished(&t, 1);
	flush(&t, 1);
	play(&t, 0, 1);
	play(&t, 1, 1);
	assert_games(t.h, 1, 0);
}

/* The hello with the cookie, sent again, is said to be so. */
static void test_cookie_again(void **state)
{
	struct enc_hello hello = { .cookie = (const uint8_t *)"cook", .cookie_n = 4 };
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	json_t *all;

	(void)state;
	say_hello(&t, 0, &(struct enc_hello){ .ticket = false });
	flush(&t, 0);
	say(&t, 1, 0, VERIFY, "\xfe\xff\4cook", 7);
	flush(&t, 1);
	for (int i = 0; i < 2; i++) {
		t.e.number[0] = 1;
		say_hello(&t, 0, &hello);
		flush(&t, 0);
	}
	all = harness_close(t.h);
	assert_int_equal(count(all, "records.0.messages.0.repeated", "true"), 1);
	assert_int_equal(count(all, "status", "decoded"), 4);
	json_decref(all);
}

/* Where it is told who serves, the server's words from a client are not the server's. */
static void test_cookie_of_client(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4U << STEPS; i += rounds_step()) {
		struct talk like = { .forged = i >> 2, .told = true, .liar = true };

		games_amid(&like, i & 2, false, i & 1);
	}
}

/* Nor do the server's words, from the client's address, turn a game around. */
static void test_words_within(void **state)
{
	static const uint8_t types[] = { 0, 2, 3, 4, 12, 13, 14, 22 };

	(void)state;
	for (size_t i = 0; i < sizeof(types); i++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);
		json_t *all;

		game_amid(&t, true);
		forge_word(&t, types[i], 0, 0);
		for (uint32_t k = 2; k < 6; k++) {
			play(&t, 0, k);
			play(&t, 1, k);
		}
		all = harness_close(t.h);
		assert_int_equal(count(all, "kind", "nq-unreliable"), 10);
		assert_int_equal(count(all, "status", "malformed"), 1);
		json_decref(all);
	}
}

/* Nor during the handshake: who has said hello is the client. */
static void test_words_amid(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4U << STEPS; i += rounds_step()) {
		struct talk like = { .forged = i >> 2 & ~1U, .liar = true };

		games_amid(&like, i & 2, false, i & 1);
	}
}

/* A Finished that is not encrypted is none, and takes the place of none. */
static void test_finished_clear(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	json_t *all;

	(void)state;
	t.word = FINISHED;
	game_amid(&t, true);
	all = harness_close(t.h);
	assert_int_equal(count(all, "reason", "Finished before there are keys"), 1);
	assert_int_equal(count(all, "status", "malformed"), 1);
	assert_int_equal(count(all, "kind", "nq-unreliable"), 2);
	assert_int_equal(verified(all), 2);
	json_decref(all);
}

/* Who has returned a cookie is answered: a hello behind his takes no key exchange. */
static void test_hello_behind_cookie(void **state)
{
	static const struct enc_suite ecdhe = { 0xc037, ENC_CBC,  "AES-128-CBC", 16,
						32,	"SHA256", false };
	static const char point[] = "\3\0\x1d\x20"
				    "0123456789abcdef0123456789abcdef";
	struct enc_hello hello = { .cookie = (const uint8_t *)"cook", .cookie_n = 4 };

	(void)state;
	for (int forged = 0; forged < 2; forged++) {
		struct talk t = talk_of(begin(), &ecdhe, 5000);
		uint8_t body[64];
		json_t *all;

		say_hello(&t, 0, &(struct enc_hello){ .ticket = false });
		flush(&t, 0);
		say(&t, 1, 0, VERIFY, "\xfe\xff\4cook", 7);
		flush(&t, 1);
		say_hello(&t, 0, &hello);
		flush(&t, 0);
		say_hello(&t, 1, &(struct enc_hello){ .ticket = false });
		flush(&t, 1);
		t.forged = (unsigned int)forged;
		forge_hello(&t, 0);
		memcpy(body, "\0\4hint", 6);
		memcpy(body + 6, point, sizeof(point) - 1);
		say(&t, 1, 0, 12, body, 6 + sizeof(point) - 1);
		say(&t, 1, 0, DONE, NULL, 0);
		flush(&t, 1);
		memcpy(body + 2, "name", 4);
		memcpy(body + 6, point + 3, sizeof(point) - 4);
		say(&t, 0, 0, KEY, body, 6 + sizeof(point) - 4);
		flush(&t, 0);
		all = harness_close(t.h);
		assert_int_equal(json_array_size(all), 6 + forged);
		assert_int_equal(count(all, "status", "decoded"), 6 + forged);
		json_decref(all);
	}
}

/* Fragments of a hello that is nobody's are not called read. */
static void test_fragments_of_nobody(void **state)
{
	struct enc_hello hello = { .cookie = (const uint8_t *)"cook", .cookie_n = 4 };
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	struct talk forger = talk_of(t.h, t.e.suite, 5000);
	json_t *all;

	(void)state;
	say_hello(&t, 0, &(struct enc_hello){ .ticket = false });
	flush(&t, 0);
	say(&t, 1, 0, VERIFY, "\xfe\xff\4cook", 7);
	flush(&t, 1);
	say_hello(&t, 0, &hello);
	flush(&t, 0);
	memset(forger.e.random[0], 9, sizeof(forger.e.random[0]));
	forger.most = 36;
	forger.e.number[0] = 2;
	say_hello(&forger, 0, &(struct enc_hello){ .ticket = false });
	flush(&forger, 0);
	all = harness_close(t.h);
	assert_int_equal(
		count(all, "reason", "a fragment of a session that is not followed"), 1);
	json_decref(all);
}

/* Without cookies one hello of somebody else's does not keep a game from being read. */
static void test_hello_amid_uncooked(void **state)
{
	static const unsigned int forged[] = { 0, 1, 2, 4, 8, 16, 24 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(forged) / sizeof(*forged); i++) {
		struct talk t = talk_of(begin(), &enc_suites[9], 5000);

		t.forged = forged[i / 2];
		t.mute = VERIFY;
		game_amid(&t, i & 1);
		assert_games(t.h, 1, t.forged);
	}
}

/* One game after the other, each with another cookie; the last without any. */
static void test_hello_amid_games(void **state)
{
	struct harness *h = begin();

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct talk t = talk_of(h, &enc_suites[9], 5000);

		memset(t.e.random, 'a' + i, sizeof(t.e.random));
		memset(t.cookie, 'a' + i, 4);
		t.forged = i < 7 ? (1U << STEPS) - 1 : 0;
		t.late = true;
		t.mute = i < 7 ? 0 : VERIFY;
		game_amid(&t, true);
	}
	assert_games(h, 8, 0);
}

/* A hello that is nobody's who is followed is read all the same. */
static void test_hello_lone(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000);
	json_t *all, *r;
	size_t i;

	(void)state;
	t.forged = 1U | 1U << 4;
	begun(&t, &(struct enc_hello){ .ticket = true });
	all = harness_close(t.h);
	json_array_foreach (all, i, r) {
		assert_string_equal(text_at(r, "status"), "decoded");
	}
	assert_int_equal(count(all, "records.0.messages.0.cookie", "666f72676564"), 2);
	json_decref(all);
}

/* Who has returned a cookie gives way to who returns another, with its game unread. */
static void test_hello_of_two(void **state)
{
	struct talk t = talk_of(begin(), &enc_suites[9], 5000), u, v;

	(void)state;
	game_amid(&t, true);
	u = talk_of(t.h, t.e.suite, 5000);
	memset(u.e.random, 'u', sizeof(u.e.random));
	u.forged = 1U << 3;
	u.mute = FINISHED;
	handshake(&u, &(struct enc_hello){ .ticket = false });
	v = talk_of(t.h, t.e.suite, 5000);
	memset(v.e.random, 'v', sizeof(v.e.random));
	v.forged = 1U << 4;
	game_amid(&v, true);
	assert_games(t.h, 2, v.forged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello_amid),
		cmocka_unit_test(test_hello_amid_again),
		cmocka_unit_test(test_pieces_amid),
		cmocka_unit_test(test_pieces_amid_uncooked),
		cmocka_unit_test(test_pieces_forgotten),
		cmocka_unit_test(test_cookie_backwards),
		cmocka_unit_test(test_pieces_behind_cookie),
		cmocka_unit_test(test_cookie_behind_key),
		cmocka_unit_test(test_cookie_again),
		cmocka_unit_test(test_cookie_of_client),
		cmocka_unit_test(test_words_within),
		cmocka_unit_test(test_words_amid),
		cmocka_unit_test(test_finished_clear),
		cmocka_unit_test(test_hello_behind_cookie),
		cmocka_unit_test(test_fragments_of_nobody),
		cmocka_unit_test(test_hello_amid_uncooked),
		cmocka_unit_test(test_hello_amid_games),
		cmocka_unit_test(test_hello_lone),
		cmocka_unit_test(test_hello_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
