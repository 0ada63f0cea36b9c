// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake in the kernel, both programs together: the port of the game, and who proves to
 * be a player without a challenge.
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

/* Who names the clock that only the receiver was told is verified, and stays it. */
static void the_clock_proves_a_netquake_player(void **state)
{
	static const int places[] = { 9, 13 };

	(void)state;
	serve(FAMILY_NETQUAKE);
	for (size_t p = 0; p < COUNT(places); p++) {
		struct player player;
		__u32 clock = 0x41234567;

		link_.dport = (__u16)(HERE + p);
		for (__u32 i = 0; i < 3; i++) {
			assert_true(player_read(link_.dport, &player) ? true : !i);
			assert_true(nq_update(i, clock + i, 60));
			assert_true(player_read(link_.dport, &player));
			assert_false(player.flags & PLAYER_VERIFIED);
			assert_true(nq_moved(i, clock + i + 1, places[p]));
			assert_true(nq_moved(i, clock + i, places[p]));
			assert_true(nq_moved(i, clock + i, places[p]));
		}
		assert_true(player_read(link_.dport, &player));
		assert_true(player.flags & PLAYER_VERIFIED);
	}
}

/* Enter a player and let it prove itself; its last move is @sequence. */
static void settle(__u32 sequence)
{
	struct player player;

	for (__u32 i = 0; i < 3; i++) {
		assert_true(nq_update(i, 0x41000000 + i, 60));
		assert_true(nq_moved(sequence - 2 + i, 0x41000000 + i, 9));
	}
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
		{ 1001, 0, true },  { 1001, 0, true },	  { 986, 0, true },
		{ 985, 0, false },  { 0, 0, false },	  { 1008, 0, true },
		{ 1016, 0, false }, { 1015, 0, true },	  { 0xffffffff, 0, false },
		{ 1500, 0, false }, { 1500, 1100, true }, { 2100, 1000, false },
		{ 2000, 0, true },
	};

	(void)state;
	serve(FAMILY_NETQUAKE);
	settle(1000);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pass_time(rows[i].silent_ms << 20);
		assert_true(nq_update((__u32)i, 0x42000000, 60)); /* is no more of use */
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
	settle(1000);
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
		assert_int_equal(o.reason, REASON_FORGED);
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

/* It connected anew and counts from 0: it is believed again once it has proven itself. */
static void who_counts_anew_proves_itself_anew(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_NETQUAKE);
	settle(1000000);
	assert_false(nq_moved(1, 1, 9));
	pass_time(2 * SECOND);
	assert_false(nq_moved(2, 1, 9));
	assert_true(nq_moved(1000001, 1, 9));
	pass_time(4 * SECOND);
	assert_false(nq_moved(3, 1, 9));
	assert_true(player_read(HERE, &player));
	assert_true(player.flags & PLAYER_VERIFIED);
	/* What anybody could acknowledge in its name meanwhile hinders no move. */
	for (__u32 i = 0; i < 1000; i++)
		nq_acked(i);
	assert_true(nq_moved(4, 1, 9));
	settle(7);
	assert_false(nq_moved(1000001, 1, 9));
}

/* The clock asked about is at most a second old, so that a lost one is no dead end. */
static void the_clock_is_renewed(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_NETQUAKE);
	assert_true(nq_update(1, 1111, 60));
	assert_true(nq_update(2, 2222, 60));
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.clock_asked, 1111);
	pass_time(2 * SECOND);
	assert_true(nq_update(3, 3333, 60));
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.clock_asked, 3333);
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

static __u32 clock_of(__u32 update)
{
	float seconds = 42 + (float)update / 60;
	__u32 bits;

	memcpy(&bits, &seconds, sizeof(bits));
	return bits;
}

/*
 * A Nexuiz server sends 60 updates a second; its client moves 10 to 20 times a second and
 * names the last that it got, of @lag updates ago. Returns after how many of them it was
 * verified.
 */
static __u32 updates_to_proof(__u32 lag)
{
	__u32 random = link_.dport, next = 0, i;
	struct player player;

	for (i = 1; i < 60 * 60; i++) {
		pass_time(SECOND / 60);
		assert_true(nq_update(i, clock_of(i), 60));
		if (i < next || i <= lag)
			continue;
		random = random * 1664525 + 1013904223;
		next = i + 3 + (random >> 16) % 4;
		assert_true(nq_moved(i, clock_of(i - lag), 13));
		assert_true(player_read(link_.dport, &player));
		if (player.flags & PLAYER_VERIFIED)
			break;
	}
	return i;
}

static void who_seldom_moves_is_proven_in_time(void **state)
{
	static const struct {
		__u32 lag, seconds;
	} rows[] = { { 0, 3 }, { 3, 3 }, { 6, 4 }, { 12, 6 }, { 30, 12 } };

	(void)state;
	serve(FAMILY_NETQUAKE);
	for (size_t i = 0; i < COUNT(rows); i++) {
		link_.dport = (__u16)(HERE + i);
		for (int again = 0; again < 8; again++) {
			assert_true(updates_to_proof(rows[i].lag) <=
				    rows[i].seconds * 60);
			link_.dport += COUNT(rows);
		}
	}
}

/* An acknowledgement buys one block, once, and only before the game has begun. */
static void acks_buy_one_block_each(void **state)
{
	(void)state;
	serve(FAMILY_NETQUAKE);
	ledger(3000, 20);
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
	assert_true(nq_update(1, 1234, 100));
	assert_true(nq_acked(5));
	assert_true(nq_block(6, 1400));
	assert_true(nq_acked(6));
	assert_false(nq_block(7, 1400));

	/* Strict: not even that. */
	ledger_strict();
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
		TEST(the_clock_proves_a_netquake_player),
		TEST(the_clock_is_renewed),
		TEST(only_a_time_is_a_clock),
		TEST(a_proven_player_moves_on),
		TEST(a_forger_stops_no_move),
		TEST(who_counts_anew_proves_itself_anew),
		TEST(who_seldom_moves_is_proven_in_time),
		TEST(acks_buy_one_block_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
