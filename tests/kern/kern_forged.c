// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a forger can do to a player in the midst of a game, in the kernel: by address
 * alone, by address and port, and by the qport too. Default budgets; the player's own
 * datagrams are counted, and what of the others gets to the server.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_forger.h"

/*
 * By address alone: all qports, from ports that are not the player's, with a sequence
 * behind which the engine would take nothing any more; a thousand a second, which keeps
 * the budget of strangers spent, and forty, which never spends it.
 */
static void high_sequences_from_anywhere_end_nobody(void **state)
{
	static const unsigned int every_ms[] = { 1, 25 };

	(void)state;
	for (size_t i = 0; i < COUNT(games); i++)
		for (size_t r = 0; r < COUNT(every_ms); r++) {
			const struct game *g = &games[i];
			unsigned int lost = 0, let_in = 0;
			__u16 qport = qport_of(g) - 300;

			settle(g);
			for (unsigned int ms = 0; ms < 20000; ms++) {
				lost += play_ms(g, ms);
				if (ms % every_ms[r])
					continue;
				let_in += move_in(g, (__u16)(50000 + ms % 8), 0x3ffffff0,
						  told, qport++);
			}
			nobody_lost(g, lost, let_in);
		}
}

/* The very datagram that would do it, to the bit: from its port and from another. */
static void who_knows_the_qport_needs_the_sequence(void **state)
{
	static const __u32 far[] = { HEARD + 500, HEARD - 100, 1, 0x3ffffff0 };

	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];

		settle(g);
		for (size_t s = 0; s < COUNT(far); s++) {
			assert_int_equal(move_reason(g, HERE, far[s], told, qport_of(g)),
					 REASON_PLAYER_MISMATCH);
			assert_int_equal(move_reason(g, 50001, far[s], told, qport_of(g)),
					 REASON_PLAYER_MISMATCH);
		}
		/* And its own port is no place for another qport. */
		if (g->qports != NONE)
			assert_int_equal(move_reason(g, HERE, own + 1, told, 7),
					 REASON_PLAYER_MISMATCH);
		/* The next of its line, but from elsewhere while it plays. */
		assert_int_equal(move_reason(g, 50001, own + 1, told, qport_of(g)),
				 REASON_PLAYER_MISMATCH);
		assert_true(own_move(g, HERE));
	}
}

/*
 * By address and port, and the qport where there is one: 1,600 datagrams upward over all
 * sequences, by steps that the window was once wide. It stays with the player.
 */
static void a_sweep_carries_no_window(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];
		unsigned int lost = 0, let_in = 0, ms = 0;
		struct player player;

		settle(g);
		for (__u32 guess = 500; guess <= 200000; guess += 500) {
			for (__u32 ack = 0; ack <= TOLD; ack += 4000)
				let_in += move_in(g, HERE, guess, ack, qport_of(g));
			lost += play_ms(g, ms++);
		}
		assert_true(player_read(HERE, &player));
		assert_int_equal(player.heard_sequence, own);
		/* One that is within the eight ahead, or late, is let in. */
		nobody_lost(g, lost, let_in > 4 ? let_in : 0);
		for (ms = 0; ms < 5000; ms++)
			lost += play_ms(g, ms);
		nobody_lost(g, lost, 0);
	}
}

/*
 * Who knows all but the sequence sends them all, one by one or by eights: the line goes
 * with him as far as the player's budget does, and he leaves it behind.
 */
static void a_dense_sweep_carries_it_a_little(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++)
		for (__u32 step = 1; step <= 8; step *= 8) {
			const struct game *g = &games[i];
			unsigned int lost = 0;
			struct player player;

			settle(g);
			for (__u32 n = 0; n < 4000; n++) {
				if (n % 100 == 0)
					lost += play_ms(g, n / 100);
				move_in(g, HERE, HEARD - 300 + n * step, told,
					qport_of(g));
			}
			assert_true(player_read(HERE, &player));
			assert_in_range(player.heard_sequence - HEARD, 1,
					400 + 8 + 800 / 25);
			/* It is on its way again when its sequence has come so far. */
			own += 440;
			pass_time(440 * MS);
			for (int n = 0; n < 20; n++) {
				pass_time(33 * MS);
				lost += !own_move(g, HERE);
			}
			assert_in_range(lost, 0, 3);
		}
}

/* A line that somebody made up, and leaves, is the player's again after a second. */
static void a_line_is_won_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];
		__u32 forged;

		settle(g);
		for (forged = own; forged < HEARD + 900; forged += 1) {
			pass_time(2 * MS);
			assert_true(move_in(g, HERE, forged, told, qport_of(g)));
		}
		assert_false(own_move(g, HERE));
		pass_time(900 * MS);
		assert_false(own_move(g, HERE));
		assert_false(own_move(g, HERE));
		pass_time(400 * MS);
		assert_false(own_move(g, HERE));
		assert_true(own_move(g, HERE));
		assert_true(own_move(g, HERE));
	}
}

/* What was lost on the way, by the hundred, costs one datagram more. */
static void a_jump_counts_once_it_is_continued(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];

		settle(g);
		own += 7;
		assert_true(own_move(g, HERE)); /* 8 ahead */
		own += 300;
		assert_false(own_move(g, HERE)); /* no time has passed */
		pass_time(400 * MS);
		own += 9;
		assert_false(own_move(g, HERE)); /* noted */
		own += 8;
		assert_false(own_move(g, HERE)); /* does not go on from there */
		assert_true(own_move(g, HERE));
		assert_true(own_move(g, HERE));
		pass_time(30 * SECOND);
		own += 30 * 125;
		assert_false(own_move(g, HERE));
		assert_true(own_move(g, HERE));
		assert_true(own_move(g, HERE));
		/* 95 of them in 95 times 2^20 ns are noted, and one more is not. */
		for (__u32 more = 0; more < 2; more++) {
			pass_time(100 * MS);
			own += 94 + more;
			assert_false(own_move(g, HERE));
			pass_time(33 * MS);
			assert_int_equal(own_move(g, HERE), !more);
			assert_true(own_move(g, HERE));
		}
		/* More than a datagram each millisecond: nobody's. */
		pass_time(100 * MS);
		own += 120;
		assert_false(own_move(g, HERE));
		assert_false(own_move(g, HERE));
	}
}

/*
 * Egress is exchanged or put back: the server's datagrams of 300 ms were not seen, and a
 * server that answers moves sends nothing until one of them gets in.
 */
static void moves_that_acknowledge_unseen_datagrams_get_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];

		settle(g);
		pass_time(300 * MS);
		if (g->family != FAMILY_QUAKE3) {
			told += 400; /* more than the server can have sent */
			assert_false(own_move(g, HERE));
			told -= 400;
			own--;
		}
		told += 20;
		for (int n = 0; n < 5; n++)
			assert_true(own_move(g, HERE));
		assert_true(sent(++told));
		assert_true(own_move(g, HERE));
		if (g->family == FAMILY_QUAKE3)
			continue;
		told += 2;
		assert_false(own_move(g, HERE)); /* no time has passed */
	}
}

/*
 * A pause between two datagrams is no gap: who sends pairs that follow each other, each
 * once around all sequences, hits no more than the eight ahead.
 */
static void pairs_have_no_larger_target(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];
		struct player player;
		__u32 line;

		settle(g);
		line = own;
		for (__u32 ahead = 9; ahead < 60; ahead++) {
			pass_time(60 * MS);
			assert_false(move_in(g, HERE, own + ahead, told, qport_of(g)));
			assert_false(
				move_in(g, HERE, own + ahead + 1, told, qport_of(g)));
			assert_true(own_move(g, HERE));
		}
		assert_true(player_read(HERE, &player));
		assert_int_equal(player.heard_sequence, line + 51);
	}
}

#define SHAPE(text)                                                  \
	{                                                            \
		text, BYTES(text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") \
	}

/*
 * To a server that finds its clients by address and qport, whatever has no marker is
 * theirs, and most shapes of other families are high sequences with room for any qport.
 */
static void other_shapes_end_nobody(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t n;
	} shapes[] = {
		SHAPE("\0\x10\0\x18\0\0\0\7"), /* NetQuake: a move */
		SHAPE("\0\x01\0\x18\0\0\0\7"), /* a block */
		SHAPE("\0\x09\0\x18\0\0\0\7"), /* and its end */
		{ "ack", BYTES("\0\2\0\x08\0\0\0\7") },
		{ "server info", BYTES("\x80\0\0\x0c\2QUAKE\0\3") },
		{ "connect", BYTES("\x80\0\0\x0c\1QUAKE\0\3") },
		{ "rcon", BYTES("\x80\0\0\x0c\5QUAKE\0\3") },
		SHAPE("\x14\xfe\xfd\0\0\0\0\0\0\0\1\0\1\1"), /* DTLS */
		SHAPE("\x15\xfe\xfd\0\0\0\0\0\0\0\1\0\2\1\1"),
		SHAPE("\x16\xfe\xfd\0\0\0\0\0\0\0\1\0\x10\1"),
		SHAPE("\x16\xfe\xfd\0\1\0\0\0\0\0\1\0\x10\1"),
		SHAPE("\x17\xfe\xfd\0\1\0\0\0\0\0\1\0\x10\1"),
		SHAPE("\x18\xfe\xfd\0\1\0\0\0\0\0\1\0\x10\1"),
		SHAPE("a\n12\n4\n"), /* masters and logs */
		SHAPE("stdlog 1\n"),
		{ "k", BYTES("k\0") },
		{ "C", BYTES("C\n") },
		{ "query", BYTES("query   ") },
	};
	static const __u16 ports[] = { 50001, HERE };

	(void)state;
	for (size_t i = 0; i < COUNT(games); i++)
		for (size_t s = 0; s < COUNT(shapes); s++)
			for (size_t p = 0; p < COUNT(ports); p++) {
				settle(&games[i]);
				if (gets_in(ports[p], shapes[s].bytes, shapes[s].n)) {
					print_error("%s: shape %zu\n", games[i].name, s);
					fail();
				}
				assert_true(own_move(&games[i], HERE));
			}
}

/* Not even in the name of a friend, who has budgets beyond those of strangers. */
static void nor_in_a_friends_name(void **state)
{
	static const char move[32] = "\0\x10\0\x20\0\0\0\7";

	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		settle(&games[i]);
		kern_list(&kern, true, PEER, 128);
		assert_false(gets_in(50001, move, sizeof(move)));
		assert_false(gets_in(HERE, move, sizeof(move)));
		assert_false(gets_in(50001, BYTES("\x80\0\0\x0c\1QUAKE\0\3")));
		assert_false(gets_in(50001, BYTES("stdlog 1\n       ")));
		assert_true(own_move(&games[i], HERE));
		assert_true(gets_in(50001, BYTES(OOB "getstatus")));
	}
}

/* A NAT that has lost its mapping: from now on all come from another port. */
static void a_new_port_is_followed_after_silence(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];
		unsigned int lost = 0, passed = 0;

		settle(g);
		for (int ms = 0; ms < 2000; ms += 16) {
			bool in = own_move(g, HERE + 5);

			lost += !in;
			passed += in;
			pass_time(16 * MS);
			/* The server follows with its next update. */
			if (in && passed == 4) {
				link_.dport = HERE + 5;
				assert_true(sent(++told));
			}
		}
		link_.dport = HERE;
		if (g->qports == NONE) {
			assert_int_equal(passed, 0);
			continue;
		}
		assert_in_range(lost, 16, 18); /* 256 ms and one */
		assert_true(passed > 100);
	}
}

/* Somebody else at that address is a stranger no more once the server says so. */
static void who_joins_from_there_is_accepted_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(games); i++) {
		const struct game *g = &games[i];
		char move[40];

		settle(g);
		assert_int_equal(move_reason(g, HERE + 9, 1, 0, 7),
				 REASON_PLAYER_MISMATCH);
		link_.dport = HERE + 9;
		accept_player(g);
		for (__u32 n = 1; n < 30; n++) {
			pass_time(33 * MS);
			assert_true(move_in(g, HERE + 9, n, 0, 7));
		}
		link_.dport = HERE;
		/* Another address, or this one once the player is gone. */
		move_build(g, 1, 0, 7, move);
		assert_int_equal(judged(STRANGER, HERE, move, sizeof(move)),
				 REASON_WITHIN_LIMITS);
		pass_time(70 * SECOND);
		assert_int_equal(move_reason(g, HERE + 10, 1, 0, 7),
				 REASON_WITHIN_LIMITS);
	}
}

static unsigned int addresses_kept(void)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < COUNT(kern.live->player_addresses); i++)
		kept += kern.live->player_addresses[i].tag != 0;
	return kept;
}

/* The server sends to the @number of addresses that share a bucket of four. */
static void note_neighbour(unsigned int number)
{
	char peer[32];

	/* All in one bucket, and told apart by their lower half. */
	for (size_t i = 0; i < COUNT(kern.live->keys); i++)
		kern.live->keys[i] = 1;
	/* The first word of 64 bits, where the key is 1: no carry to the bucket. */
	snprintf(peer, sizeof(peer), "::%u:0:0", number);
	link_.ipv6 = true;
	link_.peer = peer;
	assert_true(sent(1));
	link_.ipv6 = false;
	link_.peer = PEER;
}

/* An old note counts for a master server, so that a new one takes a free cell. */
static void an_old_note_stays_while_a_cell_is_free(void **state)
{
	const struct player_address *at = kern.live->player_addresses, *oldest = NULL;
	__u32 tag;

	(void)state;
	serve_default(FAMILY_QUAKE3);
	for (unsigned int i = 1; i <= PLAYER_ADDRESS_WAYS; i++) {
		note_neighbour(i);
		assert_int_equal(addresses_kept(), i);
		pass_time(70 * SECOND);
	}
	for (size_t i = 0; i < COUNT(kern.live->player_addresses); i++)
		if (at[i].tag && (!oldest || at[i].seen_s < oldest->seen_s))
			oldest = &at[i];
	assert_non_null(oldest);
	tag = oldest->tag;
	note_neighbour(PLAYER_ADDRESS_WAYS + 1);
	assert_int_equal(addresses_kept(), PLAYER_ADDRESS_WAYS);
	assert_int_not_equal(oldest->tag, tag);
}

/* Another processor has just noted a cell, and its clock is one unit ahead. */
static void a_note_of_the_next_unit_stays(void **state)
{
	struct player_address *at = kern.live->player_addresses;

	(void)state;
	serve_default(FAMILY_QUAKE3);
	note_neighbour(1);
	for (size_t i = 0; i < COUNT(kern.live->player_addresses); i++)
		at[i].seen_s += at[i].tag != 0;
	note_neighbour(2);
	assert_int_equal(addresses_kept(), 2);
}

/* And it counts in that unit. */
static void a_note_of_the_next_unit_protects(void **state)
{
	struct player_address *at = kern.live->player_addresses;
	char move[40];

	(void)state;
	serve_default(FAMILY_QUAKE3);
	move_build(&games[0], 5, 0, 7, move);
	assert_true(sent(1));
	for (size_t i = 0; i < COUNT(kern.live->player_addresses); i++)
		at[i].seen_s += at[i].tag != 0;
	assert_int_equal(judged(PEER, HERE + 1, move, sizeof(move)),
			 REASON_PLAYER_MISMATCH);
}

/* A bucket of addresses with players holds four; one more is as if nobody played there.
 */
static void a_full_bucket_of_addresses_protects_four(void **state)
{
	char move[40];

	(void)state;
	serve_default(FAMILY_QUAKE3);
	move_build(&games[0], 5, 0, 7, move);
	for (unsigned int i = 1; i <= PLAYER_ADDRESS_WAYS + 1; i++)
		note_neighbour(i);
	assert_int_equal(addresses_kept(), PLAYER_ADDRESS_WAYS);
	/* Who has left makes room. */
	pass_time(70 * SECOND);
	link_.peer = PEER;
	assert_true(sent(1));
	assert_int_equal(judged(PEER, HERE + 1, move, sizeof(move)),
			 REASON_PLAYER_MISMATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(high_sequences_from_anywhere_end_nobody),
		TEST(who_knows_the_qport_needs_the_sequence),
		TEST(a_sweep_carries_no_window),
		TEST(a_dense_sweep_carries_it_a_little),
		TEST(a_line_is_won_back),
		TEST(a_jump_counts_once_it_is_continued),
		TEST(moves_that_acknowledge_unseen_datagrams_get_in),
		TEST(pairs_have_no_larger_target),
		TEST(other_shapes_end_nobody),
		TEST(nor_in_a_friends_name),
		TEST(a_new_port_is_followed_after_silence),
		TEST(who_joins_from_there_is_accepted_first),
		TEST(an_old_note_stays_while_a_cell_is_free),
		TEST(a_note_of_the_next_unit_stays),
		TEST(a_note_of_the_next_unit_protects),
		TEST(a_full_bucket_of_addresses_protects_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
