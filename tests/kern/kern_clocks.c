// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake in the kernel, both programs together: the marks that updates carry in the low
 * bits of their clocks, and the players that name them.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"

static __u32 clock_at(double seconds)
{
	float f = (float)seconds;
	__u32 clock;

	memcpy(&clock, &f, sizeof(clock));
	return clock;
}

static double seconds_of(__u32 clock)
{
	float f;

	memcpy(&f, &clock, sizeof(f));
	return f;
}

/* A service with an anti-amplification limit: its clocks are marked. */
static void serve_marked(void)
{
	serve(FAMILY_NETQUAKE);
	amplification(16384, 20);
}

static __u8 flags_now(void)
{
	struct player player;

	assert_true(player_read(link_.dport, &player));
	return player.flags & (PLAYER_VERIFIED | PLAYER_SEQUENCE);
}

#define KNOWN (PLAYER_VERIFIED | PLAYER_SEQUENCE)

/*
 * A client names the clocks that it is told, wherever they stand in its moves: it is a
 * player after a few, the more of them the older the level is, and is told the server's
 * own clocks from then on. No clock moves by 2 ms, or by more than its last bit.
 */
static void a_client_that_names_marks_is_a_player(void **state)
{
	static const struct {
		double seconds;
		int at;
		__u32 clocks;
	} rows[] = {
		{ 1.5, 9, 4 },	   { 20, 13, 4 },    { 100, 11, 4 },   { 127.5, 9, 4 },
		{ 200, 9, 5 },	   { 500, 13, 6 },   { 600, 9, 7 },    { 1800, 11, 10 },
		{ 4000, 9, 14 },   { 8000, 13, 14 }, { 10000, 9, 28 }, { 40000, 11, 28 },
		{ 200000, 9, 28 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char peer[32];
		__u32 n = 0;

		serve_marked();
		snprintf(peer, sizeof(peer), "198.18.%zu.7", i);
		link_.peer = peer;
		for (; n < 40; n++) {
			double now = rows[i].seconds + n / 20.0;
			__u32 clock = clock_at(now);
			double moved;

			pass_time(SECOND / 20);
			assert_true(nq_update(n, clock, 60));
			moved = seconds_of(nq_told()) - seconds_of(clock);
			assert_true((moved < 0.002 && moved > -0.002) ||
				    (nq_told() ^ clock) <= 1);
			if (flags_now() == KNOWN)
				break;
			assert_true(nq_moved(n, nq_told(), rows[i].at));
		}
		if (n != rows[i].clocks)
			fail_msg("at %.1f s: %u clocks", rows[i].seconds, n);
		assert_true(nq_update(n + 1, clock_at(rows[i].seconds + 3), 60));
		assert_int_equal(nq_told(), clock_at(rows[i].seconds + 3));
	}
}

/* Another address, port or service has other marks: of 16 clocks not all are the same. */
static void each_player_has_its_own_marks(void **state)
{
	static const char *const peers[] = { PEER, STRANGER };
	__u32 told[3][16];

	(void)state;
	serve_marked();
	for (int p = 0; p < 3; p++)
		for (__u32 i = 0; i < 16; i++) {
			link_.peer = peers[p & 1];
			link_.dport = (__u16)(HERE + p / 2);
			assert_true(nq_update(i, clock_at(50 + i / 20.0), 60));
			told[p][i] = nq_told();
		}
	for (int p = 0; p < 3; p++)
		assert_memory_not_equal(told[p], told[(p + 1) % 3], sizeof(told[p]));
}

/* The sum of the 16-bit words of @n octets. */
static __u32 sum_of(const __u8 *at, size_t n)
{
	__u32 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i & 1 ? at[i] : (__u32)at[i] << 8;
	return sum;
}

/* The UDP checksum of @frame, with its field as it is: 0 if the field is right. */
static __u16 udp_sum(const __u8 *frame, bool ipv6, size_t payload)
{
	size_t udp = ipv6 ? 54 : 34, addresses = ipv6 ? 22 : 26;
	__u32 sum = sum_of(frame + addresses, udp - addresses) +
		    sum_of(frame + udp, 8 + payload) + IPPROTO_UDP + 8 + (__u32)payload;

	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum;
}

/* The checksum is right with the mark; one that is left away stays away. */
static void a_mark_keeps_the_checksum(void **state)
{
	(void)state;
	serve_marked();
	for (int i = 0; i < 64; i++) {
		char update[60];
		struct frame_spec s = { .payload = update,
					.n = sizeof(update),
					.ipv6 = i & 1,
					.sport = PORT,
					.dport = HERE,
					.from = i & 1 ? "2001:db8:2::1" : HOST,
					.to = i & 1 ? "2001:db8:3::7" : PEER };
		__u8 frame[FRAME_MAX];
		size_t n, udp = i & 1 ? 54 : 34;
		bool summed = i & 1 || i % 4 == 0;
		__u16 sum;

		nq_head(update, sizeof(update), 0x0010, (__u32)i);
		update[8] = 7;
		put32(update + 9, clock_at(30 + i / 20.0));
		n = frame_build(&s, frame);
		memset(frame + udp + 6, 0, 2);
		if (summed) {
			sum = udp_sum(frame, i & 1, sizeof(update));
			frame[udp + 6] = (__u8)(sum >> 8);
			frame[udp + 7] = (__u8)sum;
		}
		assert_int_equal(frame_out(frame, n), TC_ACT_UNSPEC);
		if (summed)
			assert_int_equal(udp_sum(left_, i & 1, sizeof(update)), 0);
		else
			assert_memory_equal(left_ + udp + 6, "\0\0", 2);
		/* Nothing but the lowest byte of the clock has changed. */
		frame[udp + 8 + 9] = left_[udp + 8 + 9];
		memcpy(frame + udp + 6, left_ + udp + 6, 2);
		assert_memory_equal(frame, left_, n);
	}
}

/* A small generator of its own: the same numbers each time. */
static __u32 dice(void)
{
	static __u32 seed = 12345;

	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/*
 * DarkPlaces names its own time as often as the server's: between the last two updates.
 * It is a player in a second or two all the same, at a level's usual age.
 */
static void a_client_that_interpolates_is_a_player(void **state)
{
	static const struct {
		double seconds;
		__u32 exact; /* of 100 moves */
		double within_s;
	} rows[] = {
		{ 10, 50, 1 },	 { 100, 30, 1.5 }, { 400, 50, 1 },    { 1000, 60, 1.5 },
		{ 2000, 80, 2 }, { 5000, 50, 10 }, { 20000, 50, 15 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int again = 0; again < 2; again++) {
			__u32 n = 0, before = 0;
			char peer[32];

			serve_marked();
			snprintf(peer, sizeof(peer), "198.18.%zu.%d", i, again);
			link_.peer = peer;
			for (; n < 1200; n++) {
				double now = rows[i].seconds + n / 60.0;
				__u32 named;

				pass_time(SECOND / 60);
				nq_update(n, clock_at(now), 200);
				if (flags_now() == KNOWN)
					break;
				named = dice() % 100 < rows[i].exact
						? before
						: clock_at(now - 0.009 +
							   (dice() % 1000) / 1e6 * 9);
				if (n)
					assert_true(nq_moved(n, named, 9));
				before = nq_told();
			}
			print_message("at %.0f s, %u %% exact: %.2f s\n", rows[i].seconds,
				      rows[i].exact, n / 60.0);
			assert_true(n / 60.0 <= rows[i].within_s);
		}
}

/*
 * The server's clocks without their marks, in the name of an address that did not see
 * them: no number of them makes it a player, at a level of any age.
 */
static void guesses_make_no_player(void **state)
{
	static const double ages[] = { 5, 500, 3000, 20000 };

	(void)state;
	for (size_t a = 0; a < COUNT(ages); a++) {
		serve_marked();
		link_.dport = (__u16)(HERE + a);
		for (__u32 i = 0; i < 600; i++) {
			__u32 clock = clock_at(ages[a] + i / 20.0);

			pass_time(SECOND / 800);
			nq_update(i, clock, 60);
			/* Its own guess, or just the clock. */
			nq_moved(i, i & 1 ? clock : (clock & ~255u) | (dice() & 255), 9);
			assert_int_equal(flags_now(), 0);
		}
	}
}

/*
 * All values that a clock may be told with, one move after the other and in both orders,
 * in the name of an address that did not see them: one guess counts for each clock, or
 * the first one that is not later than the mark would be the mark.
 */
static void all_marks_in_turn_make_no_player(void **state)
{
	static const struct {
		double seconds;
		__u32 mask, updates;
	} rows[] = { { 5, 255, 8 },
		     { 500, 63, 10 },
		     { 3000, 7, 40 },
		     { 5000, 3, 40 },
		     { 20000, 1, 40 } };

	(void)state;
	for (size_t a = 0; a < 2 * COUNT(rows); a++) {
		__u32 sequence = 0, mask = rows[a / 2].mask;

		serve_marked();
		link_.dport = (__u16)(HERE + a);
		for (__u32 i = 0; i < rows[a / 2].updates; i++) {
			__u32 clock = clock_at(rows[a / 2].seconds + i / 20.0);

			nq_update(i, clock, 60);
			for (__u32 low = 0; low <= mask; low++) {
				__u32 tried = a & 1 ? low : mask - low;

				pass_time(SECOND / 5120);
				nq_moved(sequence++, (clock & ~mask) | tried,
					 low & 1 ? 9 : 13);
				assert_int_equal(flags_now(), 0);
			}
		}
	}
}

#define MARK_BITS 255u /* of a clock below 128 s */

static __u8 score_now(void)
{
	struct player player;

	assert_true(player_read(link_.dport, &player));
	return player.proofs;
}

/* The first value that is named with a clock decides, right or wrong. */
static void one_guess_counts_for_each_mark(void **state)
{
	__u32 sequence = 0;

	(void)state;
	serve_marked();
	for (__u32 i = 0; i < 16; i++) {
		__u32 first, told;
		__u8 before;

		pass_time(SECOND / 20);
		assert_true(nq_update(i, clock_at(30 + i / 20.0), 60));
		told = nq_told();
		before = score_now();
		first = i & 1 ? told : told & ~MARK_BITS;
		assert_true(nq_moved(sequence++, first, 9));
		if (first == told)
			assert_int_equal(score_now(), before + 7);
		else
			assert_int_equal(score_now(), before ? before - 1 : 0);
		before = score_now();
		for (__u32 low = 0; low <= MARK_BITS && flags_now() != KNOWN; low += 15)
			assert_true(nq_moved(sequence++, (told & ~MARK_BITS) | low, 9));
		assert_true(nq_moved(sequence++, told, 9));
		if (flags_now() == KNOWN)
			return;
		assert_int_equal(score_now(), before);
	}
	fail();
}

/*
 * A client that has answered DarkPlaces' challenge is no victim. The shield follows its
 * sequence of moves, even if a forger with its address and port names clocks first.
 */
static void a_forger_does_not_take_a_joining_player(void **state)
{
	(void)state;
	for (int lead = 0; lead < 12; lead += 3) {
		struct player player;

		serve_marked();
		link_.dport = (__u16)(HERE + lead);
		assert_true(says(BYTES(OOB "accept")));
		for (__u32 i = 0; i < 30; i++) {
			pass_time(SECOND / 60);
			assert_true(nq_update(i, clock_at(60 + i / 60.0), 60));
			for (__u32 f = 0; f < 3; f++)
				nq_moved(100 + 3 * i + f,
					 clock_at(60 + i / 60.0 - 0.012 + 0.003 * f), 13);
			if (i >= (__u32)lead)
				nq_moved(1 + i, nq_told(), 13);
		}
		assert_int_equal(flags_now(), KNOWN);
		assert_true(player_read(link_.dport, &player));
		assert_int_equal(player.heard_sequence, 30);
		assert_true(nq_moved(31, 1, 13));
		assert_false(nq_moved(200, 1, 13));
	}
}

/*
 * A forger that is ahead of the client at each update, with a time of its own, does not
 * use up the marks that the client names, @lag updates later.
 */
static void a_forger_that_is_first_does_not_either(void **state)
{
	(void)state;
	for (__u32 lag = 0; lag <= 24; lag += 8) {
		__u32 told[30];
		struct player player;

		serve_marked();
		link_.dport = (__u16)(HERE + lag);
		assert_true(says(BYTES(OOB "accept")));
		for (__u32 i = 0; i < 30; i++) {
			assert_true(nq_update(i, clock_at(60 + i / 60.0), 60));
			told[i] = nq_told();
			for (__u32 f = 0; f < 3; f++) {
				pass_time(SECOND / 180);
				nq_moved(100 + 3 * i + f,
					 clock_at(60 + i / 60.0 - 0.004 + f / 1e3), 13);
			}
			if (i >= lag)
				nq_moved(1 + i, told[i - lag], 13);
		}
		assert_int_equal(flags_now(), KNOWN);
		assert_true(player_read(link_.dport, &player));
		assert_int_equal(player.heard_sequence, 30);
	}
}

/* And one whose client names its own times only: all of them count, one an update. */
static void a_joining_player_needs_no_mark(void **state)
{
	(void)state;
	serve_marked();
	assert_true(says(BYTES(OOB "accept")));
	for (__u32 i = 0; i < 60; i++) {
		pass_time(SECOND / 60);
		assert_true(nq_update(i, clock_at(60 + i / 60.0), 60));
		assert_true(nq_moved(i + 1, clock_at(60 + i / 60.0 - 0.004), 13));
	}
	assert_int_equal(flags_now(), KNOWN);
}

/*
 * While a service only observes, or has no anti-amplification limit, no clock is marked,
 * and three clocks are enough. A player that was accepted that way must return marks once
 * clocks are marked.
 */
static void an_unmarked_player_returns_marks_later(void **state)
{
	(void)state;
	for (int off = 0; off < 2; off++) {
		struct service s = kern_open_service(FAMILY_NETQUAKE);

		serve_marked();
		link_.dport = (__u16)(HERE + off);
		if (off)
			kern.live->amplification.byte_ns = 0;
		s.observe = !off;
		kern_service(&kern, 0, 0, &s);
		for (__u32 i = 0; i < 3; i++) {
			assert_true(nq_update(i, clock_at(60 + i), 60));
			assert_int_equal(nq_told(), clock_at(60 + i));
			assert_true(nq_moved(i, clock_at(60 + i), 9));
		}
		assert_int_equal(flags_now(), KNOWN);
		assert_true(nq_update(3, clock_at(63), 60));
		assert_int_equal(flags_now(), KNOWN);

		serve_marked();
		assert_true(nq_update(4, clock_at(64), 60));
		assert_int_equal(flags_now(), 0);
		for (__u32 i = 4; i < 8; i++) {
			assert_true(nq_update(i, clock_at(60 + i), 60));
			assert_true(nq_moved(i, nq_told(), 9));
		}
		assert_int_equal(flags_now(), KNOWN);
	}
}

/* The same clock again is no new one. */
static void a_clock_counts_once(void **state)
{
	struct player player;

	(void)state;
	serve_marked();
	for (__u32 i = 0; i < 3; i++)
		assert_true(nq_update(i, clock_at(60 + i / 20.0), 60));
	for (__u32 i = 0; i < 20; i++)
		assert_true(nq_moved(i, nq_told(), 9));
	assert_true(player_read(link_.dport, &player));
	assert_int_equal(player.proofs, 7);
}

/* A new level restarts the clock before the player is known: marks go on counting. */
static void the_next_level_goes_on(void **state)
{
	(void)state;
	serve_marked();
	for (__u32 i = 0; i < 2; i++) {
		assert_true(nq_update(i, clock_at(900 + i), 60));
		assert_true(nq_moved(i, nq_told(), 9));
	}
	for (__u32 i = 2; i < 6; i++) {
		assert_true(nq_update(i, clock_at(i), 60));
		assert_true(nq_moved(i, nq_told(), 9));
	}
	assert_int_equal(flags_now(), KNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_that_names_marks_is_a_player),
		TEST(each_player_has_its_own_marks),
		TEST(a_mark_keeps_the_checksum),
		TEST(a_client_that_interpolates_is_a_player),
		TEST(guesses_make_no_player),
		TEST(all_marks_in_turn_make_no_player),
		TEST(one_guess_counts_for_each_mark),
		TEST(a_forger_does_not_take_a_joining_player),
		TEST(a_forger_that_is_first_does_not_either),
		TEST(a_joining_player_needs_no_mark),
		TEST(an_unmarked_player_returns_marks_later),
		TEST(a_clock_counts_once),
		TEST(the_next_level_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
