// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A server that speaks another protocol than its service says: which one is told by its
 * words, its players' moves pass under a limit, and both end when it speaks its own.
 */
#include "kern/kern_apply.h"
#include "detect.h"

#define MOVES 60

static const struct join {
	enum wire_family says; /* the service */
	enum wire_family speaks; /* the server */
	const char *words[2];
} joins[] = {
	{ FAMILY_QUAKEWORLD,
	  FAMILY_QUAKE3,
	  { "challengeResponse 7", "connectResponse 7" } },
	{ FAMILY_QUAKE2, FAMILY_QUAKE3, { "challengeResponse 7", "connectResponse 7" } },
	{ FAMILY_NETQUAKE, FAMILY_QUAKE3, { "challengeResponse 7", "connectResponse" } },
	{ FAMILY_QUAKE3, FAMILY_QUAKEWORLD, { "c12345", "j" } },
	{ FAMILY_QUAKE2, FAMILY_QUAKEWORLD, { "c-12345", "j" } },
	{ FAMILY_QUAKE3, FAMILY_QUAKE2, { "challenge 7", "client_connect" } },
	{ FAMILY_QUAKEWORLD, FAMILY_QUAKE2, { "challenge 7", "client_connect" } },
	{ FAMILY_NETQUAKE, FAMILY_QUAKE2, { "challenge 7", "client_connect" } },
	{ FAMILY_QUAKE3, FAMILY_NETQUAKE, { "challenge 7", "accept" } },
	{ FAMILY_QUAKE2, FAMILY_NETQUAKE, { "challenge 7", "accept" } },
};

static bool word(const char *text)
{
	char datagram[64] = OOB;

	strcat(datagram, text);
	return says(datagram, strlen(datagram));
}

static __u32 spoken_now(enum wire_family family)
{
	return detect_other(&kern.live->detected[0], family,
			    (__u32)(kern.live->clock_ns >> 30));
}

/* The @n th datagram of a game in @speaks, and the client's move; whether that passed. */
static bool turn(enum wire_family speaks, __u32 n)
{
	if (speaks == FAMILY_NETQUAKE) {
		nq_update(n, 0x41000000 + n, 200);
		return nq_moved(n, 0x41000000 + n, 9);
	}
	sent(n);
	if (speaks == FAMILY_QUAKE3)
		return q3_heard(link_.dport, n, 0x1234, n * 77);
	return qw_heard(link_.dport, n, n, 0x1234);
}

static unsigned int play(enum wire_family speaks, __u32 from)
{
	unsigned int passed = 0;

	for (__u32 n = from; n < from + MOVES; n++) {
		pass_time(SECOND / 30);
		passed += turn(speaks, n);
	}
	return passed;
}

static void players_of_a_server_of_another_protocol_play(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(joins); i++) {
		const struct join *j = &joins[i];
		unsigned int passed;

		serve(j->says);
		memset(&kern.live->detected, 0, sizeof(kern.live->detected));
		link_.dport = (__u16)(HERE + i);
		assert_true(word(j->words[0]));
		assert_true(word(j->words[1]));
		if (spoken_now(j->says) != 1u << j->speaks)
			print_error("%s on %s: %#x\n", j->words[1], family_name(j->says),
				    spoken_now(j->says));
		assert_int_equal(spoken_now(j->says), 1u << j->speaks);
		passed = play(j->speaks, 1);
		if (passed != MOVES)
			print_error("%s on %s: %u of %d moves passed\n",
				    family_name(j->speaks), family_name(j->says), passed,
				    MOVES);
		assert_int_equal(passed, MOVES);
	}
}

/* The remedy of the manual: a reload with the right protocol ends no game. */
static void players_play_on_once_the_protocol_is_corrected(void **state)
{
	struct config_service *s = add("lab", PORT);

	(void)state;
	for (size_t i = 0; i < COUNT(joins); i++) {
		const struct join *j = &joins[i];
		unsigned int passed;

		s->service.family = (__u8)j->says;
		s->service.budget[CLASS_NETCHAN].service = (struct limit){ SECOND, 0 };
		apply();
		memset(&kern.live->detected, 0, sizeof(kern.live->detected));
		link_.dport = (__u16)(HERE + i);
		assert_true(word(j->words[0]));
		assert_true(word(j->words[1]));
		assert_int_equal(play(j->speaks, 1), MOVES);
		s->service.family = (__u8)j->speaks;
		apply();
		passed = play(j->speaks, MOVES + 1);
		if (passed != MOVES)
			print_error("%s, from %s: %u of %d moves passed\n",
				    family_name(j->speaks), family_name(j->says), passed,
				    MOVES);
		assert_int_equal(passed, MOVES);
	}
}

/* The limit: no more than so many in a player's name, whatever they look like. */
static void moves_in_doubt_have_a_limit(void **state)
{
	unsigned int passed = 0;

	(void)state;
	serve(FAMILY_QUAKEWORLD);
	assert_true(word("connectResponse 7"));
	assert_true(sent(1));
	for (__u32 n = 0; n < 2000; n++)
		passed += qw_heard(HERE, n * 7919, n * 104729, (__u16)n);
	assert_in_range(passed, 300, 500);
}

/* With the right protocol a datagram that does not fit stays forged. */
static void what_is_forged_stays_forged(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(word("challengeResponse 7"));
	assert_true(word("connectResponse 7"));
	assert_int_equal(play(FAMILY_QUAKE3, 1), MOVES);
	assert_false(q3_heard(HERE, MOVES + 1, 0x4321, 0));
	assert_int_equal(spoken_now(FAMILY_QUAKE3), 0);
}

/* No client brings a service into doubt: it cannot make the server say the words. */
static void what_clients_send_is_no_evidence(void **state)
{
	(void)state;
	serve(FAMILY_QUAKEWORLD);
	for (int n = 0; n < 10; n++) {
		hear_from(PEER, HERE, BYTES(OOB "connectResponse 7"));
		hear_from(PEER, HERE, BYTES(OOB "client_connect"));
		pass_time(SECOND);
	}
	assert_int_equal(spoken_now(FAMILY_QUAKEWORLD), 0);
	assert_int_equal(kern.live->detected[0].words, 0);
}

/* The fault ends: the protocol is corrected, or the server, or nothing is said of it. */
static void the_doubt_ends_with_the_fault(void **state)
{
	(void)state;
	serve(FAMILY_QUAKEWORLD);
	assert_true(word("challengeResponse 7"));
	assert_true(word("connectResponse 7"));
	assert_int_equal(spoken_now(FAMILY_QUAKEWORLD), Q3);
	assert_int_equal(spoken_now(FAMILY_QUAKE3), 0); /* a reload with `quake3` */
	assert_true(word("statusResponse\n")); /* which both have */
	assert_int_equal(spoken_now(FAMILY_QUAKEWORLD), Q3);
	assert_true(word("c12345"));
	assert_int_equal(spoken_now(FAMILY_QUAKEWORLD), 0);
	/* Now by its rules again. */
	assert_true(word("j"));
	assert_true(sent(1));
	assert_int_equal(play(FAMILY_QUAKEWORLD, 2), MOVES);
	assert_false(qw_heard(HERE, MOVES + 2, MOVES, 0x4321));

	assert_true(word("connectResponse 7"));
	assert_int_equal(spoken_now(FAMILY_QUAKEWORLD), Q3);
	pass_time((DETECT_AGE_S + 2ull) << 30);
	assert_int_equal(spoken_now(FAMILY_QUAKEWORLD), 0);
}

/* NetQuake without words, and DTLS, are known by their shapes. */
static void shapes_tell_it_too(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	for (__u32 n = 1; n <= 2; n++)
		assert_true(nq_update(n, 0x41000000, 60));
	assert_int_equal(spoken_now(FAMILY_QUAKE3), NQ);
	assert_true(word("challengeResponse 7"));
	assert_int_equal(spoken_now(FAMILY_QUAKE3), 0);
	for (int n = 0; n < 2; n++)
		assert_true(says(BYTES("\x17\xfe\xfd\0\x01\0\0\0\0\0\x09\0\x05"
				       "12345678901234567890")));
	assert_int_equal(spoken_now(FAMILY_QUAKE3), QE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(players_of_a_server_of_another_protocol_play),
		cmocka_unit_test_setup_teardown(
			players_play_on_once_the_protocol_is_corrected, begin, end),
		TEST(moves_in_doubt_have_a_limit),
		TEST(what_is_forged_stays_forged),
		TEST(what_clients_send_is_no_evidence),
		TEST(the_doubt_ends_with_the_fault),
		TEST(shapes_tell_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
