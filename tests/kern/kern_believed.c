// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is believed in a player's name, in the kernel: qport, sequence, acknowledgement,
 * checksum, and a port that changes.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"

/* Enter a player, and let it prove @qport by datagrams @first .. */
static void q3_settle(__u32 first, __u16 qport)
{
	assert_true(sent(1));
	for (__u32 i = 0; i < 10; i++)
		assert_true(q3_heard(HERE, first + i, qport, 0));
}

static void a_qport_is_learned_and_held_to(void **state)
{
	struct player player;

	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	/* Before that, any. */
	for (__u32 i = 1; i <= 6; i++)
		assert_true(q3_heard(HERE, i, i % 2 ? 77 : 88, 0));
	assert_true(player_read(HERE, &player));
	assert_false(player.flags & PLAYER_QPORT);
	q3_settle(7, 77);
	assert_true(player_read(HERE, &player));
	assert_true(player.flags & PLAYER_QPORT);
	assert_int_equal(player.qport, 77);
	assert_false(q3_heard(HERE, 17, 78, 0));
	assert_true(q3_heard(HERE, 17, 77, 0));
}

/* One forged datagram with a sequence far away must not shut the player out. */
static void a_forged_start_does_not_stick(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	assert_true(sent(1));
	assert_true(q3_heard(HERE, 0x7ffffff0, 99, 0));
	for (__u32 i = 5; i < 20; i++)
		assert_true(q3_heard(HERE, i, 77, 0));
	assert_false(q3_heard(HERE, 20, 99, 0));

	/*
	 * A row of them before the player's ninth does, until it connects anew: see "What
	 * it cannot do" in docs/explain/what-it-cannot-do.md.
	 */
	link_.dport = HERE + 2;
	assert_true(sent(1));
	for (__u32 i = 500; i < 509; i++)
		assert_true(q3_heard(HERE + 2, i, 99, 0));
	assert_false(q3_heard(HERE + 2, 5, 77, 0));
	pass_time(2 * SECOND);
	assert_true(says(BYTES(OOB "connectResponse")));
	assert_true(q3_heard(HERE + 2, 5, 77, 0));

	/* The same datagram over and over proves nothing. */
	link_.dport = HERE + 1;
	assert_true(sent(1));
	for (int i = 0; i < 50; i++)
		assert_true(q3_heard(HERE + 1, 7, 99, 0));
	assert_true(q3_heard(HERE + 1, 8, 77, 0));
}

static void sequences_fit_a_window(void **state)
{
	static const struct {
		__u32 sequence;
		__u64 silent_ms;
		bool fits;
	} rows[] = {
		{ 1010, 0, true },
		{ 1010, 0, true },
		{ 947, 0, true },
		{ 946, 0, false },
		{ 1, 0, false },
		{ 1018, 0, true },
		{ 1027, 0, false },
		{ 0x7fffffff, 0, false },
		/* In 509 ms no more than 517 further, and only if it goes on. */
		{ 1536, 509, false },
		{ 1537, 0, false },
		{ 1535, 0, false },
		{ 1544, 0, false },
		{ 1545, 500, false },
		{ 1553, 0, true },
		{ 1500, 0, true },
		{ 1561, 0, true },
	};

	(void)state;
	serve(FAMILY_QUAKE3);
	q3_settle(1000, 77); /* .. 1009 */
	for (size_t i = 0; i < COUNT(rows); i++) {
		pass_time(rows[i].silent_ms << 20);
		if (q3_heard(HERE, rows[i].sequence, 77, 0) != rows[i].fits) {
			print_error("row %zu: %u\n", i, rows[i].sequence);
			fail();
		}
	}
}

static void acks_fit_a_window(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKEWORLD, FAMILY_QUAKE2 };

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		serve(families[f]);
		link_.dport = (__u16)(HERE + f);
		assert_true(sent(10000));
		assert_true(qw_heard(link_.dport, 1, 10000, 77));
		assert_true(qw_heard(link_.dport, 2, 9990, 77));
		assert_false(qw_heard(link_.dport, 3, 10001, 77)); /* not sent yet */
		assert_false(qw_heard(link_.dport, 3, 10000 - 4096, 77));
		assert_false(qw_heard(link_.dport, 3, 0x40000000 - 1, 77));
		assert_true(qw_heard(link_.dport, 3, 0x80000000u | 10000, 77));
		assert_true(sent(10001));
		assert_true(qw_heard(link_.dport, 4, 10001, 77));
	}
	/* Quake II: any qport, 8 bits, 16 or none. */
	assert_true(qw_heard(link_.dport, 5, 10001, 1));
	assert_true(qw_heard(link_.dport, 6, 10001, 2));
}

static __u32 checksum71(__u32 challenge, __u32 sequence)
{
	return challenge ^ sequence * challenge;
}

static void checksums_are_held_to_once_seen(void **state)
{
	static const struct {
		const char *said;
		size_t n;
		__u32 challenge;
	} rows[] = {
		{ BYTES(OOB "connectResponse 1234567"), 1234567 },
		{ BYTES(OOB "connectResponse -98765"), (__u32)-98765 },
		{ BYTES(OOB "connectResponse -2147483647"), (__u32)-2147483647 },
	};
	__u32 c, i;

	(void)state;
	serve(FAMILY_QUAKE3);
	for (size_t r = 0; r < COUNT(rows); r++) {
		link_.dport = (__u16)(HERE + r);
		assert_true(says(rows[r].said, rows[r].n));
		c = rows[r].challenge;
		for (i = 1; i <= 26; i++)
			assert_true(q3_heard(link_.dport, i, 77, checksum71(c, i)));
		assert_false(q3_heard(link_.dport, i, 77, checksum71(c, i) ^ 1));
		assert_false(q3_heard(link_.dport, i, 77, 0));
		assert_true(q3_heard(link_.dport, i, 77, checksum71(c, i)));
		/* The fragment bit is not part of it. */
		assert_true(q3_heard(link_.dport, i | 0x80000000u, 77, checksum71(c, i)));
	}
	/* OpenArena's 71 has none: there other bytes stand in that place. */
	link_.dport = HERE + 7;
	assert_true(says(BYTES(OOB "connectResponse 1234567")));
	for (i = 1; i <= 100; i++)
		assert_true(q3_heard(HERE + 7, i, 77, i * 2654435761u));
}

static void a_port_may_change_with_the_qport(void **state)
{
	struct player player;
	__u32 heard;

	(void)state;
	serve(FAMILY_QUAKE3);
	q3_settle(1, 77);
	assert_false(q3_heard(HERE + 5, 11, 78, 0));
	assert_false(q3_heard(HERE + 5, 99999, 77, 0));
	assert_false(q3_heard(HERE + 5, 11, 77, 0)); /* the old one spoke just now */
	pass_time(300 * SECOND / 1000);
	assert_false(q3_heard(HERE + 5, 12, 77, 0));
	assert_true(player_read(HERE, &player));
	heard = player.packets;
	assert_true(q3_heard(HERE + 5, 13, 77, 0));
	assert_false(
		player_read(HERE + 5, &player)); /* the server has not followed yet */
	assert_true(player_read(HERE, &player));
	assert_int_equal(player.packets, heard + 1);
	link_.dport = HERE + 5;
	assert_true(sent(2));
	assert_true(player_read(HERE + 5, &player));
	for (__u32 i = 14; i < 26; i++)
		assert_true(q3_heard(HERE + 5, i, 77, 0));
	pass_time(300 * SECOND / 1000);
	assert_false(q3_heard(HERE + 6, 26, 77, 0)); /* and again */
	assert_true(q3_heard(HERE + 6, 27, 77, 0));
}

/* Accepted anew: the old qport and sequence are of a game that is over. */
static void a_reconnect_starts_over(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	q3_settle(5000, 77);
	assert_false(q3_heard(HERE, 1, 88, 0));
	pass_time(2 * SECOND);
	assert_true(says(BYTES(OOB "connectResponse")));
	assert_true(q3_heard(HERE, 1, 88, 0));
}

/* --- what was said in connect ---------------------------------------------------------
 */

static struct player accepted(const char *connect, const char *accept)
{
	struct player player = { 0 };

	if (connect)
		assert_int_equal(
			hear_from(PEER, link_.dport, connect, strlen(connect)).action,
			XDP_PASS);
	assert_true(says(accept, strlen(accept)));
	assert_true(player_read(link_.dport, &player));
	return player;
}

/* As far as each protocol has one: of 16 bits, of 8, or none. */
static void a_connect_names_the_qport(void **state)
{
	static const struct {
		enum wire_family family;
		const char *connect;
		__u16 qport;
		__u32 mask; /* Quake II's */
		bool noted;
	} rows[] = {
		{ FAMILY_QUAKEWORLD, OOB "connect 28 65535 7 \"\"", 65535, 0, true },
		{ FAMILY_QUAKEWORLD, OOB "connect 28 40000 7 \"\"", 40000, 0, true },
		{ FAMILY_QUAKEWORLD, OOB "connect 28 65536 7 \"\"", 0, 0, false },
		{ FAMILY_QUAKEWORLD, OOB "connect 28 x 7 \"\"", 0, 0, false },
		{ FAMILY_QUAKE2, OOB "connect 34 40000 7 \"\"", 40000, 0xffff, true },
		{ FAMILY_QUAKE2, OOB "connect 35 200 7 \"\"", 200, 0xff, true },
		{ FAMILY_QUAKE2, OOB "connect 36 200 7 \"\"", 200, 0xff, true },
		{ FAMILY_QUAKE2, OOB "connect 35 0 7 \"\"", 0, 0, true },
		{ FAMILY_QUAKE2, OOB "connect 36 256 7 \"\"", 0, 0, true },
		{ FAMILY_QUAKE2, OOB "connect 37 200 7 \"\"", 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool quake2 = rows[i].family == FAMILY_QUAKE2;
		struct player player;

		serve(rows[i].family);
		link_.dport = (__u16)(HERE + i);
		player = accepted(rows[i].connect,
				  quake2 ? OOB "client_connect" : OOB "j");
		assert_int_equal(player.qport, rows[i].qport);
		/* Two that agree are enough then, of eight. */
		assert_int_equal(player.proofs, rows[i].noted ? 6 : 0);
		if (quake2)
			assert_int_equal(player.qport_mask, rows[i].mask);
	}
}

/* Two who connect share a place for what they said: it is still each one's own. */
static void a_connect_is_one_port_s(void **state)
{
	struct player_key key;
	struct player_id id;
	struct player player;
	__u32 at, other;
	__u16 port = HERE;

	(void)state;
	serve(FAMILY_QUAKEWORLD);
	player_at(PEER, port, &key);
	id = player_id(&key);
	at = players_hash(&id, kern.live->keys) >> (64 - CONNECT_BITS);
	do {
		player_at(PEER, ++port, &key);
		id = player_id(&key);
		other = players_hash(&id, kern.live->keys) >> (64 - CONNECT_BITS);
	} while (other != at && port != HERE);
	assert_int_not_equal(port, HERE);
	assert_int_equal(hear_from(PEER, HERE, BYTES(OOB "connect 28 777 7 \"\"")).action,
			 XDP_PASS);
	link_.dport = port;
	player = accepted(NULL, OOB "j");
	assert_int_equal(player.qport, 0);
	assert_int_equal(player.proofs, 0);
	link_.dport = HERE;
	player = accepted(NULL, OOB "j");
	assert_int_equal(player.qport, 777);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_qport_is_learned_and_held_to),
		TEST(a_forged_start_does_not_stick),
		TEST(sequences_fit_a_window),
		TEST(acks_fit_a_window),
		TEST(checksums_are_held_to_once_seen),
		TEST(a_port_may_change_with_the_qport),
		TEST(a_reconnect_starts_over),
		TEST(a_connect_names_the_qport),
		TEST(a_connect_is_one_port_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
