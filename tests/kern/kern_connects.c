// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who answers the server's challenge and names a qport is known by it from the first
 * datagram on, in the kernel's eyes; who only says one is not.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"
#include "lib/huffman.h"

static const enum wire_family families[] = { FAMILY_QUAKE3, FAMILY_QUAKEWORLD,
					     FAMILY_QUAKE2 };

/* The server's challenge to the peer, if @family sends one as a number. */
static void challenges(enum wire_family family, __s64 number)
{
	char word[64];
	int n = family == FAMILY_QUAKE3
			? snprintf(word, sizeof(word), OOB "challengeResponse %lld 5 71",
				   (long long)number)
		: family == FAMILY_QUAKEWORLD
			? snprintf(word, sizeof(word), OOB "c%lld", (long long)number) + 1
			: snprintf(word, sizeof(word), OOB "challenge %lld p=34,35,36",
				   (long long)number);

	assert_true(says(word, (size_t)n));
}

/* The peer's connect. @rest: of Quake III's userinfo, in front. */
static int connects_rest(enum wire_family family, __u16 qport, __s64 challenge,
			 const char *rest)
{
	char text[1100], word[2048];
	int n;

	if (family != FAMILY_QUAKE3) {
		n = snprintf(word, sizeof(word), OOB "connect %d %u %lld \"\\name\\a\"\n",
			     family == FAMILY_QUAKE2 ? 34 : 28, qport,
			     (long long)challenge);
	} else {
		n = snprintf(text, sizeof(text),
			     "\"%s\\challenge\\%lld\\qport\\%u\\name\\a\"", rest,
			     (long long)challenge, qport);
		memcpy(word, OOB "connect ", 12);
		n = huffman_adaptive_encode((uint8_t *)text, (size_t)n,
					    (uint8_t *)word + 12, sizeof(word) - 12);
		assert_true(n > 0);
		n += 12;
	}
	return hear_from(link_.peer, link_.dport, word, (size_t)n).action;
}

static void connects(enum wire_family family, __u16 qport, __s64 challenge)
{
	assert_int_equal(connects_rest(family, qport, challenge, ""), XDP_PASS);
}

static struct player accepts(enum wire_family family)
{
	struct player player = { 0 };
	const char *word = family == FAMILY_QUAKE3   ? OOB "connectResponse"
			   : family == FAMILY_QUAKE2 ? OOB "client_connect"
						     : OOB "j";

	assert_true(says(word, strlen(word)));
	assert_true(player_read(link_.dport, &player));
	return player;
}

static bool heard(enum wire_family family, __u32 sequence, __u16 qport)
{
	return family == FAMILY_QUAKE3 ? q3_heard(link_.dport, sequence, qport, 0)
				       : qw_heard(link_.dport, sequence, 0, qport);
}

/* Another peer for each, so that none meets what was said to the one before. */
static void next_peer(enum wire_family family)
{
	serve(family);
	link_.dport++;
}

static void known_from_the_first_datagram(void **state)
{
	static const __s64 challenges_of[] = { 1234567, 1, 4294967295 };

	(void)state;
	for (size_t i = 0; i < COUNT(families) * COUNT(challenges_of); i++) {
		enum wire_family family = families[i % COUNT(families)];
		__s64 challenge = challenges_of[i / COUNT(families)];
		struct player player;

		link_.ipv6 = i & 1;
		link_.peer = link_.ipv6 ? "2001:db8:1::1" : PEER;
		next_peer(family);
		challenges(family, challenge);
		connects(family, 40077, challenge);
		player = accepts(family);
		assert_true(player.flags & PLAYER_QPORT);
		assert_int_equal(player.qport, 40077);
		/* Somebody who knows the port, before the player's first word. */
		for (__u32 at = 1; at < 20; at++)
			assert_false(heard(family, at, 40078));
		for (__u32 at = 1; at < 5; at++)
			assert_true(heard(family, at, 40077));
		assert_false(heard(family, 5, 40078));
	}
}

/* Servers of Quake III and of QuakeWorld print numbers below 0, too. */
static void challenges_have_signs(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		next_peer(families[i]);
		challenges(families[i], -599707232);
		connects(families[i], 60703, -599707232);
		assert_true(accepts(families[i]).flags & PLAYER_QPORT);
		next_peer(families[i]);
		challenges(families[i], -599707232);
		connects(families[i], 60703, 599707232);
		assert_false(accepts(families[i]).flags & PLAYER_QPORT);
	}
}

/* Requests in the player's name draw challenges of their own: five of them count. */
static void others_may_ask_in_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		next_peer(families[i]);
		for (__s64 number = 101; number <= 105; number++)
			challenges(families[i], number);
		connects(families[i], 77, 101);
		assert_true(accepts(families[i]).flags & PLAYER_QPORT);
		next_peer(families[i]);
		for (__s64 number = 101; number <= 106; number++)
			challenges(families[i], number);
		connects(families[i], 77, 101);
		assert_false(accepts(families[i]).flags & PLAYER_QPORT);
		/* The same once more is no other one. */
		next_peer(families[i]);
		challenges(families[i], 101);
		for (int again = 0; again < 9; again++)
			challenges(families[i], 102);
		connects(families[i], 77, 101);
		assert_true(accepts(families[i]).flags & PLAYER_QPORT);
	}
}

/*
 * Between the server's word and the player's first datagram its line is at 0, and not
 * wherever somebody says, however few bits a qport has.
 */
static void nobody_begins_the_line_elsewhere(void **state)
{
	static const struct {
		enum wire_family family;
		const char *connect;
		__u16 qport;
		int qports; /* that are tried */
	} rows[] = {
		{ FAMILY_QUAKE2, OOB "connect 2023 0 1234567 \"\"", 0, 1 },
		{ FAMILY_QUAKE2, OOB "connect 36 0 1234567 \"\" 1390", 0, 1 },
		{ FAMILY_QUAKE2, OOB "connect 36 200 1234567 \"\" 1390", 200, 256 },
		{ FAMILY_QUAKEWORLD, OOB "connect 28 77 1234567 \"\"", 77, 256 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int in = 0;

		next_peer(rows[i].family);
		challenges(rows[i].family, 1234567);
		assert_int_equal(hear_from(link_.peer, link_.dport, rows[i].connect,
					   strlen(rows[i].connect))
					 .action,
				 XDP_PASS);
		assert_true(accepts(rows[i].family).flags & PLAYER_QPORT);
		for (int qport = 0; qport < rows[i].qports; qport++) {
			assert_false(heard(rows[i].family, 1000000, (__u16)qport));
			assert_false(heard(rows[i].family, 1000001, (__u16)qport));
		}
		for (__u32 at = 1; at < 200; at++) {
			pass_time(SECOND / 30);
			in += heard(rows[i].family, at, rows[i].qport);
		}
		assert_int_equal(in, 199);
	}
}

/* The shield's own challenge, for which the server's is put in later, is as good. */
static void our_challenge_is_as_good(void **state)
{
	struct validated_table *table = &kern.live->validation.validated;
	struct cookie_peer who = { { 0 } };
	struct validated_cell *cell;
	struct player_key key;
	struct player_id id;

	(void)state;
	next_peer(FAMILY_QUAKE2);
	player_at(link_.peer, link_.dport, &key);
	id = player_id(&key);
	who.word[0] = id.word[0];
	who.word[1] = id.word[1];
	who.word[2] = (__u32)id.word[2];
	cell = validated_enter(table, &who, kern.live->keys, kern.live->clock_ns);
	assert_non_null(cell);
	cell->cookie = 1234567890;
	connects(FAMILY_QUAKE2, 77, 1234567890);
	assert_false(accepts(FAMILY_QUAKE2).flags & PLAYER_QPORT);
	pass_time(2 * SECOND);
	cell->flags = VALIDATED_COOKIE | VALIDATED_NUMBER;
	connects(FAMILY_QUAKE2, 77, 1234567890);
	assert_true(accepts(FAMILY_QUAKE2).flags & PLAYER_QPORT);
	/* A number that is not said to be known is none: 0 here. */
	pass_time(2 * SECOND);
	cell->flags = VALIDATED_COOKIE;
	cell->cookie = 0;
	connects(FAMILY_QUAKE2, 77, 0);
	assert_false(accepts(FAMILY_QUAKE2).flags & PLAYER_QPORT);
}

static void a_wrong_challenge_is_a_hint(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		struct player player;

		next_peer(families[i]);
		challenges(families[i], 1234567);
		connects(families[i], 77, 1234568);
		player = accepts(families[i]);
		assert_false(player.flags & PLAYER_QPORT);
		assert_int_equal(player.qport, 77);
		assert_int_equal(player.proofs, 6);
		/* And so is one that nobody sent, for which Quake III's is not read. */
		next_peer(families[i]);
		connects(families[i], 77, 1234567);
		player = accepts(families[i]);
		assert_false(player.flags & PLAYER_QPORT);
		assert_int_equal(player.proofs, families[i] == FAMILY_QUAKE3 ? 0 : 6);
	}
}

/* What a forger says between the player's connect and the server's word changes nothing.
 */
static void a_forged_connect_takes_nobody_s_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		struct player player;

		next_peer(families[i]);
		challenges(families[i], 1234567);
		connects(families[i], 77, 1234567);
		connects(families[i], 99, 7);
		assert_int_equal(hear_from(link_.peer, link_.dport,
					   BYTES(OOB "connect 28 x"))
					 .action,
				 XDP_PASS);
		player = accepts(families[i]);
		assert_true(player.flags & PLAYER_QPORT);
		assert_int_equal(player.qport, 77);
		/* The player's next one does. */
		pass_time(2 * SECOND);
		challenges(families[i], 7654321);
		connects(families[i], 78, 7654321);
		connects(families[i], 79, 7654321);
		player = accepts(families[i]);
		assert_true(player.flags & PLAYER_QPORT);
		assert_int_equal(player.qport, 79);
	}
}

/* A connect is for the server's next word, and for a quarter of a minute. */
static void a_connect_is_used_once_and_soon(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		struct player player;

		next_peer(families[i]);
		challenges(families[i], 1234567);
		connects(families[i], 77, 1234567);
		assert_true(accepts(families[i]).flags & PLAYER_QPORT);
		/* Also where the server says it twice at once. */
		connects(families[i], 77, 1234567);
		accepts(families[i]);
		pass_time(2 * SECOND);
		player = accepts(families[i]);
		assert_false(player.flags & PLAYER_QPORT);
		assert_int_equal(player.proofs, 0);

		next_peer(families[i]);
		challenges(families[i], 1234567);
		connects(families[i], 77, 1234567);
		pass_time(15 * SECOND);
		assert_true(accepts(families[i]).flags & PLAYER_QPORT);

		next_peer(families[i]);
		challenges(families[i], 1234567);
		connects(families[i], 77, 1234567);
		pass_time(19 * SECOND);
		player = accepts(families[i]);
		assert_false(player.flags & PLAYER_QPORT);
		assert_int_equal(player.proofs, 0);
		/* What is over gives way to what is only said. */
		challenges(families[i], 1234567);
		connects(families[i], 88, 5);
		pass_time(2 * SECOND);
		player = accepts(families[i]);
		assert_int_equal(player.qport, 88);
		assert_int_equal(player.proofs, 6);
	}
}

/* Behind a NAT that gives it another port at once, it is found by what it said. */
static void a_port_may_change_at_once(void **state)
{
	(void)state;
	next_peer(FAMILY_QUAKE3);
	challenges(FAMILY_QUAKE3, 1234567);
	connects(FAMILY_QUAKE3, 77, 1234567);
	accepts(FAMILY_QUAKE3);
	assert_true(q3_heard(link_.dport, 1, 77, 0));
	pass_time(300 * SECOND / 1000);
	assert_false(q3_heard(link_.dport + 1000, 2, 77, 0));
	assert_true(q3_heard(link_.dport + 1000, 3, 77, 0));
	assert_false(q3_heard(link_.dport + 1000, 4, 78, 0));
}

/* Quake II's protocols 35 and 36 have 8 bits or none. */
static void quake2_has_masks(void **state)
{
	static const struct {
		const char *connect;
		__u32 mask;
		__u16 qport;
	} rows[] = {
		{ OOB "connect 34 40000 1234567 \"\"", 0xffff, 40000 },
		{ OOB "connect 35 200 1234567 \"\"", 0xff, 200 },
		{ OOB "connect 36 200 1234567 \"\" 1390", 0xff, 200 },
		{ OOB "connect 2023 200 1234567 \"\"", 0, 0 },
		{ OOB "connect 290 200 1234567 \"\"", 0, 0 }, /* 34 in its lower octet */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player player;

		next_peer(FAMILY_QUAKE2);
		challenges(FAMILY_QUAKE2, 1234567);
		assert_int_equal(hear_from(link_.peer, link_.dport, rows[i].connect,
					   strlen(rows[i].connect))
					 .action,
				 XDP_PASS);
		player = accepts(FAMILY_QUAKE2);
		assert_true(player.flags & PLAYER_QPORT);
		assert_int_equal(player.qport_mask, rows[i].mask);
		assert_int_equal(player.qport, rows[i].qport);
	}
}

/* However many are let in, so many of Quake III's are read in a second. */
static void reading_has_a_pace(void **state)
{
	int read = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		next_peer(FAMILY_QUAKE3);
		challenges(FAMILY_QUAKE3, 4);
		connects(FAMILY_QUAKE3, 77, 5);
		read += accepts(FAMILY_QUAKE3).proofs == 6;
	}
	assert_in_range(read, 9, 11);
	pass_time(SECOND / 33);
	for (read = 0; link_.dport < HERE + 400;) {
		next_peer(FAMILY_QUAKE3);
		challenges(FAMILY_QUAKE3, 4);
		connects(FAMILY_QUAKE3, 77, 5);
		read += accepts(FAMILY_QUAKE3).proofs == 6;
	}
	assert_in_range(read, 5, 7);
}

/* The longest userinfo, with all that counts at its end, as Quake3e writes it. */
static void the_longest_userinfo_is_read(void **state)
{
	char rest[1000] = "\\x\\";
	struct player player;

	(void)state;
	for (size_t i = 3; i < 900; i++)
		rest[i] = (char)('a' + i * i % 26);
	next_peer(FAMILY_QUAKE3);
	challenges(FAMILY_QUAKE3, 1234567);
	assert_int_equal(connects_rest(FAMILY_QUAKE3, 77, 1234567, rest), XDP_PASS);
	player = accepts(FAMILY_QUAKE3);
	assert_true(player.flags & PLAYER_QPORT);
	assert_int_equal(player.qport, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(known_from_the_first_datagram),
		TEST(challenges_have_signs),
		TEST(others_may_ask_in_its_name),
		TEST(nobody_begins_the_line_elsewhere),
		TEST(our_challenge_is_as_good),
		TEST(a_wrong_challenge_is_a_hint),
		TEST(a_forged_connect_takes_nobody_s_place),
		TEST(a_connect_is_used_once_and_soon),
		TEST(a_port_may_change_at_once),
		TEST(quake2_has_masks),
		TEST(reading_has_a_pace),
		TEST(the_longest_userinfo_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
