// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_tables.c - what a process that can send from a service's port may do to the tables
 * that all services share: another customer's server, and another user of this host.
 */
#include "kern/kern_game.h"

#define THEIRS 26000 /* the port of the NetQuake service beside Quake III's */

static void serve_two(enum wire_family family)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	s.family = (__u8)family;
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, THEIRS, 1, false);
}

/* To one of many addresses. */
static void update_to(__u32 n)
{
	char update[60], to[64];
	__u8 frame[FRAME_MAX];
	struct frame_spec s = { .payload = update,
				.n = sizeof(update),
				.ipv6 = true,
				.sport = THEIRS,
				.dport = (__u16)(1024 + n % 60000),
				.from = "2001:db8:2::1",
				.to = to };

	snprintf(to, sizeof(to), "2001:db8:%x:%x::1", n >> 16 & 0xffff, n & 0xffff);
	nq_head(update, sizeof(update), 0x0010, 1);
	update[8] = 7;
	frame_out(frame, frame_build(&s, frame));
}

static __u32 cells_of(__u16 slot)
{
	const struct player_table *t = &kern.live->players;
	__u32 count = 0;

	for (int i = 0; i < PLAYERS_MAX; i++)
		count += t->cells[i].state == PLAYER_HERE && t->cells[i].key.slot == slot;
	return count;
}

static void one_service_has_its_share_of_players(void **state)
{
	__u32 entered = 0, anew = 0;

	(void)state;
	serve_two(FAMILY_NETQUAKE);
	/* Most of them at once, as the program enters them. */
	for (__u32 n = 0; kern.live->players.count[1] < PLAYERS_SHARE - 50; n++) {
		const struct player fresh = { .sent_ns = kern.live->clock_ns };
		struct player_id id = { { n, 1, PLAYER_WORD_HERE | 1 << 16 } };

		assert_true(n < PLAYERS_SHARE);
		players_enter(&kern.live->players, &id, kern.live->keys, &fresh,
			      kern.live->clock_ns);
	}
	for (__u32 n = 0; n < 200; n++)
		update_to(n * 2654435761u);
	assert_int_equal(cells_of(1), PLAYERS_SHARE);
	assert_int_equal(kern.live->players.count[1], cells_of(1));
	for (int i = 0; i < 30; i++) {
		char peer[32];
		struct player player;

		snprintf(peer, sizeof(peer), "198.18.%d.7", i);
		link_.peer = peer;
		says(BYTES(OOB "connectResponse 1234567"));
		entered += player_read(HERE, &player);
	}
	assert_int_equal(entered, 30);
	assert_int_equal(kern.live->players.count[0], 30);
	/* Those that left make room for others of their service. */
	pass_time(70 * SECOND);
	for (__u32 n = 0; n < 200; n++)
		update_to(n * 2246822519u + 1);
	for (int i = 0; i < PLAYERS_MAX; i++)
		anew += kern.live->players.cells[i].state == PLAYER_HERE &&
			player_alive(&kern.live->players.cells[i].player,
				     kern.live->clock_ns);
	assert_in_range(anew, 20, 200);
	assert_int_equal(kern.live->players.count[1], PLAYERS_SHARE);
	assert_int_equal(cells_of(1), PLAYERS_SHARE);
}

static bool is_ours(__u16 port)
{
	static const char data[40] = "\1\2\3\4 an answer, a handshake, whatever";

	link_.sport = port;
	return !hear_from(PEER, 53, data, sizeof(data)).other;
}

static void name_port(__u16 number)
{
	char accept[] = "\x80\0\0\x09\x81\0\0\0\0";

	put16(accept + 5, number);
	link_.sport = THEIRS;
	assert_true(says(accept, 9));
}

/* Named by CCREP_ACCEPT, it goes on with what it does, which is no game. */
static void the_port_of_another_program_is_not_taken(void **state)
{
	static const struct {
		__u16 port;
		const char *says;
		size_t n;
	} rows[] = {
		{ 53, BYTES("\x12\x34\x81\x80\0\1\0\1\0\0\0\0\7example\3com\0\0\1\0\1") },
		{ 123, BYTES("\x24\1\3\xec\0\0\0\0\0\0\0\0\0\0\0\0") },
		{ 443, BYTES("\x40\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf") },
		{ 51820, BYTES("\4\0\0\0\1\2\3\4\0\0\0\0\0\0\0\0") },
	};

	(void)state;
	serve_two(FAMILY_NETQUAKE);
	for (size_t i = 0; i < COUNT(rows); i++) {
		name_port(rows[i].port);
		for (int s = 0; s < 12; s++) {
			link_.sport = rows[i].port;
			assert_true(says(rows[i].says, rows[i].n));
			assert_false(is_ours(rows[i].port));
			pass_time(SECOND);
		}
		/* Nor is it later, by chance. */
		link_.sport = rows[i].port;
		assert_true(nq_block(0, 40));
		assert_false(is_ours(rows[i].port));
	}
	/* A game that goes on is not renamed, nor kept by what is no game's. */
	name_port(45000);
	link_.sport = 45000;
	assert_true(nq_block(0, 40));
	name_port(45000);
	assert_true(is_ours(45000));
	for (int s = 0; s < 70; s += 10) {
		link_.sport = 45000;
		assert_true(says(rows[3].says, rows[3].n));
		pass_time(10 * SECOND);
	}
	assert_false(is_ours(45000));
}

static void only_netquake_names_ports(void **state)
{
	(void)state;
	serve_two(FAMILY_AUTO);
	name_port(45000);
	link_.sport = 45000;
	assert_true(nq_block(0, 40));
	assert_false(is_ours(45000));
}

static void one_server_marks_few_masters(void **state)
{
	int marked = 0;

	(void)state;
	serve_two(FAMILY_QUAKE3);
	for (__u32 i = 0; i < 100; i++) {
		char peer[32];

		snprintf(peer, sizeof(peer), "9.%u.9.9", i);
		link_.peer = peer;
		assert_true(says(BYTES(OOB "heartbeat QuakeArena-1\n")));
	}
	for (int i = 0; i < ACL_PREFILTER_CELLS; i++)
		marked += !!(kern.live->acl_prefilter[i] & LISTS_MASTER);
	assert_in_range(marked, 60, 64);
	/* The other service has its own. */
	link_.sport = THEIRS;
	link_.peer = "203.0.113.9";
	assert_true(says(BYTES(OOB "heartbeat QuakeArena-1\n")));
	for (int i = 0; i < ACL_PREFILTER_CELLS; i++)
		marked -= !!(kern.live->acl_prefilter[i] & LISTS_MASTER);
	assert_int_equal(marked, -1);
}

/* The socket of a test run is root's. */
static void another_users_socket_is_no_evidence(void **state)
{
	static const struct {
		__u32 user;
		bool believed;
	} rows[] = { { 0, true }, { 1, true }, { 1001, false }, { 65535, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct counters out;
		struct player_key key;
		struct player_id id;

		serve_two(FAMILY_NETQUAKE);
		amplification(2000, 20);
		kern.live->owners[1].user = rows[i].user;
		link_.sport = THEIRS;
		for (__u32 n = 0; n < 10; n++)
			assert_true(nq_block(n, 600) || rows[i].believed);
		player_at(PEER, HERE, &key);
		key.slot = 1;
		id = player_id(&key);
		assert_int_equal(players_find(&kern.live->players, &id, kern.live->keys) <
					 PLAYERS_MAX,
				 rows[i].believed);
		amplification(1000000, 20);
		name_port(45000);
		link_.sport = 45000;
		assert_true(nq_block(0, 8));
		assert_int_equal(is_ours(45000), rows[i].believed);
		kern_sum_way(&kern, 1, DIRECTION_S2C, &out);
		assert_int_equal(out.by[KIND_NQ_RELIABLE][REASON_OTHER_SOCKET].packets,
				 rows[i].believed ? 0 : 10);
		leave(state);
		enter(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_service_has_its_share_of_players),
		TEST(the_port_of_another_program_is_not_taken),
		TEST(only_netquake_names_ports),
		TEST(one_server_marks_few_masters),
		TEST(another_users_socket_is_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
