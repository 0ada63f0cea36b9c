// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both programs together, in the kernel: who becomes a player by what the server sends,
 * and what that is worth.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"
#include "shield/shield_internal.h"

static void the_server_says_who_plays(void **state)
{
	static const struct {
		const char *name;
		enum wire_family family;
		const char *said;
		size_t n;
		bool enters;
	} rows[] = {
		{ "connectResponse", FAMILY_QUAKE3, BYTES(OOB "connectResponse"), true },
		{ "connectResponse 7", FAMILY_QUAKE3, BYTES(OOB "connectResponse 7"),
		  true },
		{ "snapshot", FAMILY_QUAKE3, BYTES("\7\0\0\0snapshot"), true },
		{ "fragment", FAMILY_QUAKE3, BYTES("\7\0\0\x80gamestate"), true },
		{ "client_connect", FAMILY_QUAKE2, BYTES(OOB "client_connect"), true },
		{ "quake2 game", FAMILY_QUAKE2, BYTES("\1\0\0\0\1\0\0\0data"), true },
		{ "j", FAMILY_QUAKEWORLD, BYTES(OOB "j"), true },
		{ "quakeworld game", FAMILY_QUAKEWORLD, BYTES("\1\0\0\0\1\0\0\0data"),
		  true },
		{ "accept", FAMILY_NETQUAKE, BYTES(OOB "accept"), true },
		{ "netquake update", FAMILY_NETQUAKE,
		  BYTES("\0\x10\0\x0d\0\0\0\1\7\0\0\x80\x3f"), true },
		{ "DTLS data", FAMILY_QUAKE_ENHANCED,
		  BYTES("\x17\xfe\xfd\0\1\0\0\0\0\0\1\0\4data"), true },
		/* What strangers can draw. */
		{ "challengeResponse", FAMILY_QUAKE3, BYTES(OOB "challengeResponse 1"),
		  false },
		{ "statusResponse", FAMILY_QUAKE3, BYTES(OOB "statusResponse\n\\a\\b"),
		  false },
		{ "infoResponse", FAMILY_QUAKE3, BYTES(OOB "infoResponse\n\\a\\b"),
		  false },
		{ "print", FAMILY_QUAKE3, BYTES(OOB "print\nno"), false },
		{ "disconnect", FAMILY_QUAKE3, BYTES(OOB "disconnect"), false },
		{ "quake2 challenge", FAMILY_QUAKE2, BYTES(OOB "challenge 1"), false },
		{ "quake2 print", FAMILY_QUAKE2, BYTES(OOB "print\nno"), false },
		{ "quake2 ack", FAMILY_QUAKE2, BYTES(OOB "ack"), false },
		{ "quake2 info", FAMILY_QUAKE2, BYTES(OOB "info\nname"), false },
		{ "quakeworld challenge", FAMILY_QUAKEWORLD, BYTES(OOB "c123"), false },
		{ "quakeworld print", FAMILY_QUAKEWORLD, BYTES(OOB "nno\n"), false },
		{ "quakeworld ping's answer", FAMILY_QUAKEWORLD, BYTES("l"), false },
		{ "quakeworld log's answer", FAMILY_QUAKEWORLD, BYTES("m"), false },
		{ "darkplaces challenge", FAMILY_NETQUAKE, BYTES(OOB "challenge xyz"),
		  false },
		{ "darkplaces reject", FAMILY_NETQUAKE, BYTES(OOB "reject no"), false },
		{ "netquake info", FAMILY_NETQUAKE, BYTES("\x80\0\0\x09\x83tst\0"),
		  false },
		{ "netquake accept, same port", FAMILY_NETQUAKE,
		  BYTES("\x80\0\0\x09\x81\x38\x6d\0\0"), false },
		{ "DTLS cookie", FAMILY_QUAKE_ENHANCED,
		  BYTES("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x23\3\0\0\x17\0\0\0\0\0\0\0\x17"
			"\xfe\xff\x14"
			"01234567890123456789"),
		  false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player player;

		serve(rows[i].family);
		link_.dport = (__u16)(HERE + i);
		assert_true(says(rows[i].said, rows[i].n));
		if (player_read(link_.dport, &player) != rows[i].enters)
			print_error("%s\n", rows[i].name);
		assert_int_equal(player_read(link_.dport, &player), rows[i].enters);
	}
}

static void strangers_never_enter(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKE3, FAMILY_QUAKEWORLD,
						     FAMILY_QUAKE2, FAMILY_NETQUAKE };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		struct player player;

		serve(families[f]);
		for (__u32 i = 1; i <= 64; i++) {
			assert_false(q3_heard(HERE, i, 77, 0));
			assert_false(nq_moved(i, i, 9));
		}
		hear_from(PEER, HERE, BYTES(OOB "connect 28 77 1 \"\\name\\x\"\n"));
		hear_from(PEER, HERE, BYTES("\x80\0\0\x0c\1QUAKE\0\3"));
		assert_false(player_read(HERE, &player));
		for (size_t i = 0; i < COUNT(kern.live->players.tags); i++)
			assert_int_equal(kern.live->players.tags[i], 0);
	}
}

/* One who plays says nothing about the port beside, the address beside, another slot. */
static void a_player_is_one_port(void **state)
{
	char move[40] = { 1 };

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	assert_true(q3_heard(HERE, 1, 77, 0));
	assert_false(q3_heard(HERE + 1, 1, 77, 0));
	assert_false(is_player(STRANGER, HERE, move, sizeof(move)));
	link_.ipv6 = true;
	assert_false(is_player("2001:db8:1::1", HERE, move, sizeof(move)));
	link_.peer = "2001:db8:1::1";
	assert_true(sent(1));
	assert_true(is_player("2001:db8:1::1", HERE, move, sizeof(move)));
}

static void silence_ends_it(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	pass_time(59 * SECOND);
	assert_true(q3_heard(HERE, 1, 77, 0));
	pass_time(2 * SECOND);
	assert_false(q3_heard(HERE, 2, 77, 0)); /* the peer alone keeps nothing alive */
	assert_true(sent(2));
	assert_true(q3_heard(HERE, 3, 99, 0)); /* and nothing that was learned is left */
}

static void a_player_has_a_budget(void **state)
{
	int passed = 0;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	for (__u32 i = 1; i <= 1000; i++)
		passed += q3_heard(HERE, i, 77, 0);
	assert_int_equal(passed, 400);
	assert_int_equal(hear_from(PEER, HERE, BYTES("\x91\1\0\0\x4d\0moves")).reason,
			 REASON_PLAYER_LIMIT);
	pass_time(SECOND / 8);
	passed = 0;
	for (__u32 i = 401; i <= 1400; i++)
		passed += q3_heard(HERE, i, 77, 0);
	assert_int_equal(passed, 100);
}

/* --- the table ------------------------------------------------------------------------
 */

/* Keys that put all of one address into one bucket, eight to it. */
static void one_bucket(void)
{
	for (size_t i = 0; i < COUNT(kern.live->keys); i++)
		kern.live->keys[i] = 1;
}

static void a_full_bucket_refuses(void **state)
{
	struct player player;

	(void)state;
	one_bucket();
	serve(FAMILY_QUAKE3);
	for (__u16 i = 0; i < 8; i++) {
		link_.dport = HERE + i;
		assert_true(sent(1));
	}
	link_.dport = HERE + 8;
	assert_true(sent(1));
	assert_false(player_read(HERE + 8, &player));
	assert_false(q3_heard(HERE + 8, 1, 77, 0));
	for (__u16 i = 0; i < 8; i++)
		assert_true(q3_heard(HERE + i, 1, 77, 0));

	/* Who left makes room, daemon or not; who stays does not. */
	pass_time(40 * SECOND);
	for (__u16 i = 0; i < 7; i++) {
		link_.dport = HERE + i;
		assert_true(sent(2));
	}
	pass_time(40 * SECOND);
	link_.dport = HERE + 8;
	assert_true(sent(1));
	assert_true(q3_heard(HERE + 8, 1, 77, 0));
	assert_false(player_read(HERE + 7, &player));
	for (__u16 i = 0; i < 7; i++)
		assert_true(q3_heard(HERE + i, 2, 77, 0));
}

static void count_one(const struct player_key *key, const struct player *player,
		      void *context)
{
	(void)key;
	(void)player;
	++*(int *)context;
}

/* shield_clock() is the kernel's, so here the players' own clock is what is moved. */
static void the_daemon_sweeps(void **state)
{
	struct shield view = {
		.qports = bpf_map__fd(kern.skel->maps.qports),
		.shared = kern.live,
	};
	struct player_key key;
	struct player player;
	unsigned int moved = 0;
	__u64 now = shield_clock();
	int count = 0;

	(void)state;
	kern.live->clock_ns = now - 61 * SECOND;
	serve(FAMILY_QUAKE3);
	for (__u16 i = 0; i < 300; i++) {
		link_.dport = HERE + i;
		if (i == 200)
			kern.live->clock_ns = now;
		assert_true(sent(1));
		for (__u32 n = 1; n < 12; n++)
			assert_true(q3_heard(HERE + i, n, i, 0));
	}
	shield_players(&view, count_one, &count);
	assert_int_equal(count, 100);
	shield_maintain(&view);
	assert_false(player_read(HERE, &player));
	assert_true(player_read(HERE + 200, &player));
	for (__u32 i = 0; i < COUNT(kern.live->players.cells); i++)
		count += kern.live->players.cells[i].state != PLAYER_NONE;
	assert_int_equal(count, 200);
	for (count = 0; !bpf_map_get_next_key(view.qports, count ? &key : NULL, &key);)
		count++;
	assert_int_equal(count, 100);
	for (__u32 i = 0; i < COUNT(kern.live->moved); i++)
		moved += kern.live->moved[i];
	assert_int_equal(moved, 100);

	/* Accepted anew, with another qport: the old one leads nowhere. */
	kern.live->clock_ns += 2 * SECOND;
	assert_true(says(BYTES(OOB "connectResponse")));
	for (__u32 n = 1; n < 12; n++)
		assert_true(q3_heard(link_.dport, n, 7777, 0));
	shield_maintain(&view);
	for (count = 0; !bpf_map_get_next_key(view.qports, count ? &key : NULL, &key);)
		count++;
	assert_int_equal(count, 100);
	moved = 0;
	for (__u32 i = 0; i < COUNT(kern.live->moved); i++)
		moved += kern.live->moved[i];
	assert_int_equal(moved, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_server_says_who_plays), TEST(strangers_never_enter),
		TEST(a_player_is_one_port),	 TEST(silence_ends_it),
		TEST(a_player_has_a_budget),	 TEST(a_full_bucket_refuses),
		TEST(the_daemon_sweeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
