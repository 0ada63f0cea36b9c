// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whose socket speaks for a service: lines of the kernel's list, and the choice.
 */
#include "lib/udp_sockets.h"
#include "shield/shield_internal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

static void lines_of_the_list_are_read(void **state)
{
	static const struct {
		const char *line, *address;
		__u16 port;
		__u32 user;
	} rows[] = {
		{ "  12: 0100007F:6B6C 00000000:0000 07 00000000:00000000 00:00000000 "
		  "00000000  1001        0 23456 2 0000000000000000 0",
		  "::ffff:127.0.0.1", 27500, 1002 },
		{ "65535: 00000000:6590 00000000:0000 07 00000000:00000000 00:00000000 "
		  "00000000     0        0 1 2 0000000000000000 0",
		  "::", 26000, 1 },
		{ " 7: 000080FE00000000FF00000101000000:6D38 "
		  "00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 "
		  "00000000 65534        0 9 2 0000000000000000 0",
		  "fe80::100:ff:0:1", 27960, 65535 },
		{ "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when",
		  NULL, 0, 0 },
		{ " 7: 0100007F:6B6C", NULL, 0, 0 },
		{ "", NULL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct udp_socket s;
		__be32 address[4];

		assert_int_equal(udp_socket_read(rows[i].line, &s), !!rows[i].address);
		if (!rows[i].address)
			continue;
		assert_int_equal(inet_pton(AF_INET6, rows[i].address, address), 1);
		if (i != 2)
			assert_memory_equal(s.address, address, sizeof(address));
		assert_int_equal(s.port, rows[i].port);
		assert_int_equal(s.user, rows[i].user);
	}
}

static void peer_and_inode_are_read(void **state)
{
	static const struct {
		const char *line;
		bool ipv6, connected;
		__u64 inode;
	} rows[] = {
		{ " 1: 00000000:6D38 00000000:0000 07 00000000:00000000 00:00000000 "
		  "00000000  0        0 23456 2 0000000000000000 0",
		  false, false, 23456 },
		{ " 1: 0100007F:6D38 0100007F:0035 01 00000000:00000000 00:00000000 "
		  "00000000  0        0 4294967301 2 0000000000000000 0",
		  false, true, 4294967301 },
		{ " 1: 00000000000000000000000000000000:6D38 "
		  "00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 "
		  "00000000  0        0 7 2 0000000000000000 0",
		  true, false, 7 },
		{ " 1: 00000000000000000000000000000000:6D38 "
		  "000080FE00000000FF00000101000000:0035 01 00000000:00000000 00:00000000 "
		  "00000000  0        0 8 2 0000000000000000 0",
		  true, true, 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct udp_socket s;

		assert_true(udp_socket_read(rows[i].line, &s));
		assert_int_equal(s.ipv6, rows[i].ipv6);
		assert_int_equal(s.connected, rows[i].connected);
		assert_int_equal(s.inode, rows[i].inode);
	}
}

/* Each row goes on from what the one before has left. */
static void the_user_that_came_first_speaks(void **state)
{
	static const struct {
		__u32 seen[3]; /* users with sockets at the port, as uid + 1 */
		__u32 user, home;
	} rows[] = {
		{ { 0 }, 0, 0 },
		{ { 10, 11 }, 0, 0 }, /* of whom neither is known */
		{ { 10 }, 10, 10 },
		{ { 10, 11 }, 10, 10 },
		{ { 11, 10 }, 10, 10 },
		{ { 0 }, 10, 10 }, /* it is being started again */
		{ { 11 }, 11, 10 }, /* another server, or somebody who waited for that */
		{ { 11, 12 }, 11, 10 },
		{ { 12, 10, 11 }, 10, 10 },
		{ { 1, 10 }, 10, 10 },
		{ { 1, 12 }, 1, 10 }, /* root, of several */
	};
	struct owner o = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct users users = { 0 };

		for (int n = 0; n < 3 && rows[i].seen[n]; n++)
			users_note(&users, &o, rows[i].seen[n]);
		o = owner_choose(&o, &users, 1);
		assert_int_equal(o.user, rows[i].user);
		assert_int_equal(o.home, rows[i].home);
	}
}

/* The user of an earlier server loses its claim after a day. */
static void a_home_is_left_after_a_day(void **state)
{
	static const struct {
		__u32 hour, seen[2];
		__u32 user, home;
	} rows[] = {
		{ 1, { 10 }, 10, 10 },	    { 2, { 11 }, 11, 10 },
		{ 20, { 11, 10 }, 10, 10 }, /* home again: the day begins anew */
		{ 21, { 11 }, 11, 10 },	    { 44, { 0 }, 11, 10 },
		{ 45, { 11, 12 }, 11, 10 }, { 46, { 11 }, 11, 11 },
		{ 47, { 11, 10 }, 11, 11 }, { 48, { 10 }, 10, 11 },
		{ 49, { 10, 11 }, 11, 11 },
	};
	struct owner o = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct users users = { 0 };

		for (int n = 0; n < 2 && rows[i].seen[n]; n++)
			users_note(&users, &o, rows[i].seen[n]);
		o = owner_choose(&o, &users, rows[i].hour * 3600);
		if (o.user != rows[i].user || o.home != rows[i].home)
			fail_msg("row %zu: user %u, home %u", i, o.user, o.home);
	}
}

/* Two users with an address each are two servers: neither speaks for the other. */
static void users_with_an_address_each_are_all_believed(void **state)
{
	static const __be32 any[4], one[4] = { 0, 0, 0, 1 << 24 },
				    two[4] = { 0, 0, 0, 2 << 24 };
	struct owner o = { .user = 10, .home = 10 };
	struct users users = { 0 };

	(void)state;
	users_note(&users, &o, 10);
	users_note_at(&users, one, 10);
	users_note(&users, &o, 11);
	users_note_at(&users, any, 11);
	assert_int_equal(owner_choose(&o, &users, 1).user, 10);
	users_note_at(&users, one, 11);
	assert_int_equal(owner_choose(&o, &users, 1).user, 10);
	users_note_at(&users, two, 10);
	assert_int_equal(owner_choose(&o, &users, 1).user, 0);
	assert_int_equal(owner_choose(&o, &users, 1).home, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_list_are_read),
		cmocka_unit_test(peer_and_inode_are_read),
		cmocka_unit_test(the_user_that_came_first_speaks),
		cmocka_unit_test(a_home_is_left_after_a_day),
		cmocka_unit_test(users_with_an_address_each_are_all_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
