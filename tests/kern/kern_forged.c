// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a forger can do to a player in the midst of a game, in the kernel: by address
 * alone, by address and port, and by the qport too. Default budgets; the player's own
 * datagrams are counted, and what of the others gets to the server.
 */
#include "config/config.h"
#include "kern/kern_game.h"

#define MS	   1000000ull
#define OWN_QPORT  0x9c41
#define OWN_NARROW 0x41
#define HEARD	   36000 /* where the player's sequence stands after settle() */
#define TOLD	   12000 /* and the server's */

enum qports {
	WIDE, /* 16 bits */
	NARROW, /* 8: Quake II, protocols 35 and 36 */
	NONE,
};

/* A player of each way to be known, and the one who plays it here. */
static const struct game {
	const char *name;
	enum wire_family family;
	enum qports qports;
	const char *connect; /* what its client says, if that is read */
} games[] = {
	{ "Quake III", FAMILY_QUAKE3, WIDE, NULL },
	{ "QuakeWorld", FAMILY_QUAKEWORLD, WIDE, "connect 28 40001 77 \"\\name\\x\"\n" },
	{ "QuakeWorld, no connect seen", FAMILY_QUAKEWORLD, WIDE, NULL },
	{ "Quake II, 34", FAMILY_QUAKE2, WIDE, "connect 34 40001 77 \"\\name\\x\"\n" },
	{ "Quake II, 36", FAMILY_QUAKE2, NARROW,
	  "connect 36 65 77 \"\\name\\x\" 1390 1\n" },
	{ "Quake II, 36, no qport", FAMILY_QUAKE2, NONE, "connect 36 0 77 \"\\n\\x\"\n" },
	{ "Quake II, no connect seen", FAMILY_QUAKE2, NONE, NULL },
};

static __u32 own, told; /* where the two sequences stand */

static void serve_default(enum wire_family family)
{
	struct service s = { .family = (__u8)family, .active = 1 };
	struct qport_key by;

	config_service_defaults(family, &s);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	memset(&kern.live->players, 0, sizeof(kern.live->players));
	memset(kern.live->playing, 0, sizeof(kern.live->playing));
	memset(kern.live->moved, 0, sizeof(kern.live->moved));
	while (!bpf_map_get_next_key(bpf_map__fd(kern.skel->maps.qports), NULL, &by))
		bpf_map_delete_elem(bpf_map__fd(kern.skel->maps.qports), &by);
	link_.dport = HERE;
	pass_time(600 * SECOND);
}

/* Does it get to the server? No counters are read, so it is fast. */
static bool gets_in(__u16 port, const char *payload, size_t n)
{
	struct frame_spec s = { .payload = payload,
				.n = n,
				.sport = port,
				.dport = PORT,
				.from = PEER,
				.to = HOST };
	__u8 frame[FRAME_MAX];

	return kern_action(&kern, frame, frame_build(&s, frame)) == XDP_PASS;
}

/* The same, and why. What came before was not counted. */
static enum reason judged(const char *from, __u16 port, const char *payload, size_t n)
{
	kern_sum(&kern, 0, &kern.seen[0]);
	for (__u32 i = 0; i < CLASS_BUDGETS; i++)
		kern.due[0][i] = kern.live->globals[budget_index(0, i)];
	return hear_from(from, port, payload, n).reason;
}

static size_t move_build(const struct game *g, __u32 sequence, __u32 ack, __u16 qport,
			 char move[40])
{
	memset(move, 0, 40);
	put32(move, sequence);
	if (g->family == FAMILY_QUAKE3) {
		put16(move + 4, qport);
		return 40;
	}
	put32(move + 4, ack);
	if (g->qports == WIDE) {
		put16(move + 8, qport);
		return 40;
	}
	/* What follows is what the player does, and changes. */
	move[8] = g->qports == NARROW ? (char)qport : (char)(2 + sequence % 3);
	move[9] = (char)(sequence * 7);
	return 40;
}

static bool move_in(const struct game *g, __u16 port, __u32 sequence, __u32 ack,
		    __u16 qport)
{
	char move[40];
	size_t n = move_build(g, sequence, ack, qport, move);

	return gets_in(port, move, n);
}

static enum reason move_reason(const struct game *g, __u16 port, __u32 sequence,
			       __u32 ack, __u16 qport)
{
	char move[40];
	size_t n = move_build(g, sequence, ack, qport, move);

	return judged(PEER, port, move, n);
}

static __u16 qport_of(const struct game *g)
{
	return g->qports == WIDE ? OWN_QPORT : g->qports == NARROW ? OWN_NARROW : 0;
}

static bool own_move(const struct game *g, __u16 port)
{
	return move_in(g, port, ++own, told, qport_of(g));
}

static void accept_player(const struct game *g)
{
	if (g->connect) {
		char request[200] = OOB;

		strcpy(request + 4, g->connect);
		assert_true(gets_in(link_.dport, request, strlen(request + 4) + 4));
	}
	if (g->family == FAMILY_QUAKE3)
		says(BYTES(OOB "connectResponse"));
	else if (g->family == FAMILY_QUAKE2)
		says(BYTES(OOB "client_connect"));
	else
		says(BYTES(OOB "j"));
}

/* Somebody plays, and has for some minutes: 30 moves a second, 20 updates. */
static void settle(const struct game *g)
{
	struct player player;

	serve_default(g->family);
	accept_player(g);
	own = 0;
	told = TOLD - 40;
	for (int i = 0; i < 40; i++) {
		pass_time(33 * MS);
		assert_true(sent(++told));
		assert_true(own_move(g, HERE));
	}
	/* As if they had gone on. */
	own = HEARD;
	assert_true(player_read(HERE, &player));
	assert_true(player.flags & PLAYER_QPORT);
	for (__u32 i = 0; i < COUNT(kern.live->players.cells); i++)
		if (kern.live->players.cells[i].state == PLAYER_HERE)
			kern.live->players.cells[i].player.heard_sequence = HEARD;
	assert_true(own_move(g, HERE));
}

static __u32 next_random(void)
{
	static __u64 x = 88172645463325252ull;
	__u64 z = x += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (__u32)((z ^ (z >> 31)) >> 32);
}

/* A millisecond of the game. Returns how many of the player's moves were lost. */
static unsigned int play_ms(const struct game *g, unsigned int ms)
{
	pass_time(MS);
	if (ms % 50 == 0)
		sent(++told);
	return ms % 33 == 0 && !own_move(g, HERE);
}

static void nobody_lost(const struct game *g, unsigned int lost, unsigned int let_in)
{
	if (lost || let_in)
		print_error("%s: %u of the player's lost, %u forged let in\n", g->name,
			    lost, let_in);
	assert_int_equal(lost, 0);
	assert_int_equal(let_in, 0);
}

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
					 REASON_FORGED);
			assert_int_equal(move_reason(g, 50001, far[s], told, qport_of(g)),
					 REASON_FORGED);
		}
		/* And its own port is no place for another qport. */
		if (g->qports != NONE)
			assert_int_equal(move_reason(g, HERE, own + 1, told, 7),
					 REASON_FORGED);
		/* The next of its line, but from elsewhere while it plays. */
		assert_int_equal(move_reason(g, 50001, own + 1, told, qport_of(g)),
				 REASON_FORGED);
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
		/* More than a datagram each millisecond: nobody's. */
		pass_time(100 * MS);
		own += 120;
		assert_false(own_move(g, HERE));
		assert_false(own_move(g, HERE));
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
		assert_int_equal(move_reason(g, HERE + 9, 1, 0, 7), REASON_FORGED);
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
				 REASON_WITHIN_BUDGET);
		pass_time(70 * SECOND);
		assert_int_equal(move_reason(g, HERE + 10, 1, 0, 7),
				 REASON_WITHIN_BUDGET);
	}
}

/* A bucket of addresses with players holds four; one more is as if nobody played there.
 */
static void a_full_bucket_of_addresses_protects_four(void **state)
{
	unsigned int kept = 0;
	char move[40];

	(void)state;
	/* All addresses in one bucket, and told apart by their lower half. */
	for (size_t i = 0; i < COUNT(kern.live->keys); i++)
		kern.live->keys[i] = 1;
	serve_default(FAMILY_QUAKE3);
	move_build(&games[0], 5, 0, 7, move);
	for (unsigned int i = 0; i < 5; i++) {
		char peer[32];

		/* The first word of 64 bits, where the key is 1: no carry to the bucket.
		 */
		snprintf(peer, sizeof(peer), "::%u:0:0", i + 1);
		link_.ipv6 = true;
		link_.peer = peer;
		assert_true(sent(1));
		link_.ipv6 = false;
	}
	for (unsigned int i = 0; i < COUNT(kern.live->playing); i++)
		kept += kern.live->playing[i].tag != 0;
	assert_int_equal(kept, PLAYING_WAYS);
	/* Who has left makes room. */
	pass_time(70 * SECOND);
	link_.peer = PEER;
	assert_true(sent(1));
	assert_int_equal(judged(PEER, HERE + 1, move, sizeof(move)), REASON_FORGED);
}

/* --- NetQuake ------------------------------------------------------------------------
 */

static enum reason ccreq(const char *from, __u16 port)
{
	return judged(from, port, BYTES("\x80\0\0\x0c\x01QUAKE\0\x03"));
}

static void nq_settle(void)
{
	for (__u32 i = 0; i < 3; i++) {
		assert_true(nq_update(i, 0x41000000 + i, 60));
		assert_true(nq_moved(998 + i, 0x41000000 + i, 9));
	}
}

/* The server would drop who plays, by address alone. */
static void nobody_connects_over_a_player(void **state)
{
	struct service open = kern_open_service(FAMILY_NETQUAKE);
	__u64 waited;

	(void)state;
	serve_default(FAMILY_NETQUAKE);
	kern_service(&kern, 0, 0, &open);
	assert_int_equal(ccreq(PEER, HERE), REASON_WITHIN_BUDGET);
	nq_settle();
	assert_true(nq_update(3, 0x41000003, 60));
	for (__u32 i = 1; i < 200; i++) {
		pass_time(50 * MS);
		assert_true(nq_update(3 + i, 0x41000003 + i, 60));
		assert_true(nq_moved(1000 + i, 1, 9));
		if (i % 50)
			continue;
		assert_int_equal(ccreq(PEER, HERE), REASON_PLAYING);
		assert_int_equal(ccreq(PEER, 50001), REASON_PLAYING);
	}
	assert_int_equal(ccreq(STRANGER, HERE), REASON_WITHIN_BUDGET);
	/* It has crashed, and the server goes on: in 6 s it may come back. */
	for (waited = 0; waited < 20000; waited += 500) {
		pass_time(500 * MS);
		assert_true(nq_update(1000 + (__u32)waited, 0x42000000, 60));
		if (waited % 2500 == 0 && ccreq(PEER, 50002) == REASON_WITHIN_BUDGET)
			break;
	}
	assert_in_range(waited, 2500, 6000);
}

/* Whose moves are not known has not played; and what anybody could say is no move. */
static void only_a_proven_player_keeps_its_address(void **state)
{
	(void)state;
	serve_default(FAMILY_NETQUAKE);
	assert_true(nq_update(1, 0x41000000, 60));
	assert_true(nq_moved(1, 1, 9));
	assert_true(nq_update(2, 0x41000001, 60));
	assert_int_equal(ccreq(PEER, HERE), REASON_WITHIN_BUDGET);
	nq_settle();
	pass_time(10 * SECOND);
	assert_true(nq_acked(7));
	assert_true(nq_update(3, 0x41000003, 60));
	assert_int_equal(ccreq(PEER, HERE), REASON_WITHIN_BUDGET);
}

/* --- DTLS, and what nobody has named -------------------------------------------------
 */

static size_t record_build(__u16 epoch, __u64 number, char data[60])
{
	memset(data, 'x', 60);
	memcpy(data, "\x17\xfe\xfd", 3);
	put16(data + 3, htons(epoch));
	put16(data + 5, htons((__u16)(number >> 32)));
	put32be(data + 7, (__u32)number);
	put16(data + 11, htons(47));
	return 60;
}

static bool record_in(__u16 epoch, __u64 number)
{
	char data[60];

	return gets_in(HERE, data, record_build(epoch, number, data));
}

static void record_out(__u64 number)
{
	char data[60];

	assert_true(says(data, record_build(1, number, data)));
}

/* The last of a server's handshake, which only who is there can bring about. */
static void ccs_out(void)
{
	assert_true(says(BYTES("\x14\xfe\xfd\0\0\0\0\0\0\0\7\0\1\1")));
}

static void records_are_counted(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKE_ENHANCED, FAMILY_AUTO,
						     FAMILY_QUAKEWORLD, FAMILY_NETQUAKE };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		unsigned int lost = 0, let_in = 0, tried = 0;
		__u64 number = 0;
		struct player player;

		serve_default(families[f]);
		ccs_out();
		for (int i = 0; i < 20; i++) {
			pass_time(33 * MS);
			assert_true(record_in(1, ++number));
			record_out(number);
		}
		assert_true(player_read(HERE, &player));
		assert_true(player.flags & PLAYER_QPORT);
		/* By address and port, 20,000 a second. */
		for (unsigned int i = 0; i < 40000; i++) {
			pass_time(MS / 20);
			let_in += record_in((__u16)(next_random() % 4),
					    next_random() % 1000000);
			tried++;
			if (i % 660 == 0) {
				lost += !record_in(1, ++number);
				record_out(number);
			}
		}
		assert_int_equal(lost, 0);
		assert_in_range(let_in, 0, tried / 4 / 1000);
		/* New keys, from the same port: counted anew. */
		assert_false(record_in(1, 1));
		ccs_out();
		for (number = 1; number < 20; number++)
			assert_true(record_in(1, number));
		assert_false(record_in(1, 1000));
	}
}

static void auto_keeps_a_line_of_sequences(void **state)
{
	static const struct game g = { "auto", FAMILY_AUTO, NONE, NULL };
	unsigned int lost = 0, let_in = 0;

	(void)state;
	serve_default(FAMILY_AUTO);
	own = 1000;
	told = 50;
	for (int i = 0; i < 40; i++) {
		pass_time(33 * MS);
		assert_true(sent(++told));
		assert_true(own_move(&g, HERE));
	}
	for (unsigned int i = 0; i < 40000; i++) {
		pass_time(MS / 20);
		let_in += move_in(&g, HERE, next_random(), told, 1);
		if (i % 20 == 0)
			lost += play_ms(&g, i / 20);
	}
	nobody_lost(&g, lost, let_in > 1 ? let_in : 0);
	/* Nor from other ports. */
	assert_int_equal(move_reason(&g, 50001, 0x3ffffff0, told, 1), REASON_FORGED);
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
		TEST(a_new_port_is_followed_after_silence),
		TEST(who_joins_from_there_is_accepted_first),
		TEST(a_full_bucket_of_addresses_protects_four),
		TEST(nobody_connects_over_a_player),
		TEST(only_a_proven_player_keeps_its_address),
		TEST(records_are_counted),
		TEST(auto_keeps_a_line_of_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
