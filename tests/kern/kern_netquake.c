// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake in the kernel, both programs together: the port of the game, and who proves to
 * be a player without a challenge.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"

static bool on_port(__u16 number)
{
	char move[32];

	nq_head(move, sizeof(move), 0x0010, 1);
	link_.sport = number;
	return !hear_from(link_.peer, link_.dport, move, sizeof(move)).other;
}

static void a_game_port_is_learned_and_forgotten(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	assert_false(on_port(45000));
	link_.sport = PORT;
	assert_true(says(BYTES("\x80\0\0\x09\x81\xc8\xaf\0\0"))); /* 45000 */
	assert_false(on_port(45000));
	link_.sport = 45000;
	assert_true(says(BYTES("\0\0\x81\x80\0\1\0\1\0\0\0\0"))); /* no game's */
	assert_false(on_port(45000));
	link_.sport = 45000;
	assert_true(nq_block(0, 40));
	assert_true(on_port(45000));
	assert_false(on_port(45001));
	link_.sport = 45000;
	pass_time(50 * SECOND);
	assert_true(nq_block(0, 40));
	pass_time(50 * SECOND);
	assert_true(on_port(45000));
	pass_time(20 * SECOND);
	assert_false(on_port(45000));

	/* Never over a service of the configuration, nor beyond 65535. */
	link_.sport = PORT;
	kern_port(&kern, 0, 45002, 3, false);
	assert_true(says(BYTES("\x80\0\0\x09\x81\xca\xaf\0\0")));
	assert_true(says(BYTES("\x80\0\0\x09\x81\xcb\xaf\1\0")));
	link_.sport = PORT;
	assert_false(on_port(45003));
}

/* Enter a player and let it prove itself; its last move is @sequence. */
static void settle(__u32 update, __u32 sequence)
{
	struct player player;

	nq_settle(update, sequence);
	assert_true(player_read(link_.dport, &player));
	assert_int_equal(player.flags & (PLAYER_VERIFIED | PLAYER_SEQUENCE),
			 PLAYER_VERIFIED | PLAYER_SEQUENCE);
	assert_int_equal(player.heard_sequence, sequence);
}

static void a_proven_player_moves_on(void **state)
{
	static const struct {
		__u32 sequence;
		__u64 silent_ms;
		bool fits;
	} rows[] = {
		{ 1001, 0, true },     { 1001, 0, true },     { 986, 0, true },
		{ 985, 0, false },     { 0, 0, false },	      { 1008, 0, true },
		{ 1016, 0, false },    { 1015, 0, true },     { 0xffffffff, 0, false },
		{ 1500, 0, false },    { 1500, 1100, false }, { 1501, 0, true },
		{ 2100, 1000, false }, { 1560, 120, true },
	};

	(void)state;
	serve(FAMILY_NETQUAKE);
	settle(0, 1000);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pass_time(rows[i].silent_ms << 20);
		assert_true(nq_update(NQ_PROOFS + (__u32)i, 0x42000000,
				      60)); /* is no more of use */
		if (nq_moved(rows[i].sequence, 1, 9) != rows[i].fits) {
			print_error("row %zu: %u\n", i, rows[i].sequence);
			fail();
		}
	}
}

/*
 * A forger with the player's own address and port: what he can make up spends a budget
 * that no move of the player's needs.
 */
static void a_forger_stops_no_move(void **state)
{
	struct service open = kern_open_service(FAMILY_NETQUAKE);
	char move[32];
	int passed = 0;

	(void)state;
	serve(FAMILY_NETQUAKE);
	settle(0, 1000);
	/* Nor does it get in as a stranger's, which would end the player's moves. */
	kern_service(&kern, 0, 0, &open);
	nq_head(move, sizeof(move), 0x0010, 66000);
	for (int tags = 0; tags < 2; tags++) {
		struct frame_spec s = { .payload = move,
					.n = sizeof(move),
					.tags = { tags ? ETH_P_8021Q : 0 },
					.sport = HERE,
					.dport = PORT,
					.from = PEER,
					.to = HOST };
		struct outcome o = kern_send(&kern, &s);

		assert_int_equal(o.action, XDP_DROP);
		assert_int_equal(o.reason, REASON_PLAYER_MISMATCH);
	}
	serve(FAMILY_NETQUAKE);
	for (__u32 i = 1; i <= 5000; i++) { /* 1000 acknowledgements a second */
		assert_false(nq_moved(i * 2654435761u, 1, 9));
		passed += nq_acked(i);
		if (i % 10 == 0)
			assert_true(nq_moved(1000 + i / 10, 1, 9));
		pass_time(SECOND / 1000);
	}
	/* 400 at once and 400 a second. */
	assert_in_range(passed, 2390, 2400);
}

/*
 * Silent for as long as it likes (a level is loaded, the line lags), a player is not
 * ended by moves that do not continue its own, nor does it lose them.
 */
static void a_silent_player_is_not_ended(void **state)
{
	struct player player;

	(void)state;
	for (int silent = 3; silent <= 40; silent += 30) {
		serve(FAMILY_NETQUAKE);
		settle(0, 100000);
		for (int s = 0; s < silent; s++) {
			pass_time(SECOND);
			assert_true(nq_block(50 + (__u32)s, 1032));
			assert_true(nq_acked(50 + (__u32)s));
		}
		for (__u32 i = 0; i < 50; i++) {
			pass_time(SECOND / 20);
			assert_false(nq_moved(0x7ffffff0 + i % 3, 1, 9));
			assert_false(nq_moved(i, 1, 9));
			assert_false(nq_moved(100000 + 500 * (__u32)silent + 3000 + 9 * i,
					      1, 9));
		}
		assert_true(nq_moved(100001, 1, 9));
		/* Ahead by what was lost on the way, and one more. */
		pass_time(5 * SECOND);
		assert_false(nq_moved(100001 + 5 * 72, 1, 9));
		assert_true(nq_moved(100001 + 5 * 72 + 1, 1, 9));
		assert_true(player_read(HERE, &player));
		assert_true(player.flags & PLAYER_VERIFIED);
		leave(state);
		enter(state);
	}
}

/* The server counts from 0 again: it is another connection, which proves itself anew. */
static void a_new_connection_proves_itself_anew(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_NETQUAKE);
	settle(1000, 1000000);
	assert_false(nq_moved(1, 1, 9));
	pass_time(4 * SECOND);
	assert_false(nq_moved(2, 1, 9));
	/* It signs on: what anybody could acknowledge has a budget of its own. */
	for (__u32 i = 0; i < 1000; i++)
		nq_acked(i);
	assert_false(nq_moved(3, 1, 9));
	assert_true(nq_update(0, 0x41000000, 60));
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.flags & (PLAYER_VERIFIED | PLAYER_SEQUENCE), 0);
	assert_true(nq_moved(4, 1, 9));
	settle(1, 40);
	assert_false(nq_moved(1000001, 1, 9));
}

static __u32 clock_of(__u32 update)
{
	float seconds = 42 + (float)update / 60;
	__u32 bits;

	memcpy(&bits, &seconds, sizeof(bits));
	return bits;
}

/*
 * Another line of moves beside the player's own: it neither counts nor harms. Once the
 * player's own has stopped for a second, that one may be it.
 */
static void one_line_of_moves_counts(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_NETQUAKE);
	amplification(16384, 20);
	for (__u32 i = 0; i < 20; i++) {
		pass_time(SECOND / 20);
		assert_true(nq_update(i, clock_of(600000 + 3 * i), 60));
		assert_true(nq_moved(100 + i, nq_told(), 9));
		nq_moved(5000 + i, nq_told(), 9);
	}
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.proofs, 20);
	assert_int_equal(player.heard_sequence, 119);
	pass_time(2 * SECOND);
	for (__u32 i = 20; i < 60; i++) {
		assert_true(nq_update(i, clock_of(600000 + 3 * i), 60));
		assert_true(nq_moved(9000 + i, nq_told(), 9));
	}
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.heard_sequence, 9059);
}

/* What begins with something else than a time tells none. */
static void only_a_time_is_a_clock(void **state)
{
	char message[60];
	struct player player;

	(void)state;
	serve(FAMILY_NETQUAKE);
	nq_head(message, sizeof(message), 0x0010, 1);
	message[8] = 1; /* svc_nop */
	put32(message + 9, 0x41000000);
	assert_true(says(message, sizeof(message)));
	assert_true(player_read(HERE, &player));
	assert_false(player.flags & PLAYER_CLOCKS);
}

/* A game's updates a second, its client's moves, and how big an update is. */
struct pace_of_game {
	__u32 hz, moves, lag_ms, size, seconds;
};

/*
 * After how many seconds an honest client is verified that names the clocks that it was
 * told, @lag_ms ago. No update is lost until then.
 */
static double seconds_to_proof(const struct pace_of_game *g)
{
	__u32 got[4096] = { 0 }, next = 0, moved = 0;
	struct player player;

	for (__u32 i = 1; i < COUNT(got); i++) {
		__u32 then = g->lag_ms * g->hz / 1000;

		pass_time(SECOND / g->hz);
		assert_true(nq_update(i, clock_of(i), g->size));
		got[i] = nq_told();
		if (i <= then || !got[i - then] || i * g->moves < next * g->hz)
			continue;
		next = i * g->moves / g->hz + 1;
		assert_true(nq_moved(++moved, got[i - then], 13));
		assert_true(player_read(link_.dport, &player));
		if (player.flags & PLAYER_VERIFIED)
			return (double)i / g->hz;
	}
	return 1e9;
}

static void an_honest_client_is_proven_in_time(void **state)
{
	static const struct pace_of_game rows[] = {
		{ 60, 60, 20, 600, 1 },	 { 60, 15, 20, 600, 1 }, { 60, 15, 300, 400, 1 },
		{ 72, 72, 50, 1024, 1 }, { 20, 60, 20, 300, 1 }, { 20, 20, 200, 1000, 1 },
		{ 72, 30, 300, 500, 1 },
	};

	(void)state;
	serve(FAMILY_NETQUAKE);
	amplification(16384, 20);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int again = 0; again < 2; again++) {
			char peer[32];
			double s;

			snprintf(peer, sizeof(peer), "198.18.%zu.7",
				 i * 3 + (size_t)again);
			link_.peer = peer;
			s = seconds_to_proof(&rows[i]);
			print_message(
				"%u updates, %u moves a second, lag %u ms: %.1f s\n",
				rows[i].hz, rows[i].moves, rows[i].lag_ms, s);
			assert_true(s <= rows[i].seconds);
		}
}

/*
 * A seat in a victim's name, by somebody with a seat of his own: all clocks are known,
 * acknowledgements are foretold. What leaves to the victim in a minute.
 */
static void no_stream_is_reflected(void **state)
{
	static const struct {
		__u32 moves; /* a second; 0: one in five */
		double times;
	} rows[] = { { 60, 4 }, { 20, 4 }, { 120, 4 }, { 0, 1e9 } };

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		__u64 in = 0, out = 0, moved = 0;
		struct player player;

		serve(FAMILY_NETQUAKE);
		amplification(16384, 20);
		link_.peer = "203.0.113.66";
		for (__u32 i = 0; i < 4; i++) {
			out += nq_block(i, 1032) ? 1032 + 42 : 0;
			nq_acked(i);
			in += 60;
		}
		for (__u32 i = 1; i <= 60 * 20; i++) {
			pass_time(SECOND / 20);
			out += nq_update(i, clock_of(3 * i), 1400) ? 1400 + 42 : 0;
			for (; rows[r].moves ? moved * 20 < (__u64)i * rows[r].moves
					     : moved * 100 < i;
			     in += 74)
				nq_moved((__u32)++moved, clock_of(3 * i), 9);
			assert_true(player_read(link_.dport, &player));
			assert_false(player.flags & PLAYER_VERIFIED);
		}
		print_message("%u moves a second: in %llu, out %llu, %.2f times\n",
			      rows[r].moves, in, out, (double)out / (double)in);
		assert_true((double)out <= rows[r].times * (double)in);
		assert_true(out <= 3 * in + 16384 * (1 + 60 / 20) + 4 * 1074);
		leave(state);
		enter(state);
	}
}

/* An acknowledgement buys one block, once, and only before the game has begun. */
static void acks_buy_one_block_each(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	amplification(3000, 20);
	for (__u32 i = 0; i < 3; i++) {
		assert_true(nq_block(i, 900));
		assert_true(nq_acked(i));
	}
	assert_true(nq_block(3, 1400));
	assert_false(nq_block(3, 1400)); /* again: nobody paid for it */
	assert_true(nq_acked(2)); /* late, and acknowledged before */
	assert_false(nq_block(3, 1400));
	assert_false(nq_block(4, 1400)); /* not acknowledged: 3 */
	assert_true(nq_acked(4));
	assert_true(nq_block(5, 1400));

	/* In the game, with a clock, none counts. */
	pass_time(21 * SECOND);
	nq_update(1, 0x41000000, 100); /* or withheld */
	assert_true(nq_acked(5));
	assert_true(nq_block(6, 1400));
	assert_true(nq_acked(6));
	nq_block(7, 1400);
	assert_true(nq_acked(7));
	assert_false(nq_block(8, 1400));

	/* Strict: not even that. */
	amplification_strict();
	link_.peer = "203.0.113.1";
	for (int i = 0; i < 4; i++)
		ask(link_.peer, HERE);
	for (__u32 i = 0; i < 3; i++) {
		assert_true(nq_block(i, 8));
		assert_true(nq_acked(i));
	}
	assert_false(nq_block(3, 1400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_game_port_is_learned_and_forgotten),
		TEST(only_a_time_is_a_clock),
		TEST(a_proven_player_moves_on),
		TEST(a_forger_stops_no_move),
		TEST(a_silent_player_is_not_ended),
		TEST(a_new_connection_proves_itself_anew),
		TEST(one_line_of_moves_counts),
		TEST(an_honest_client_is_proven_in_time),
		TEST(no_stream_is_reflected),
		TEST(acks_buy_one_block_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
