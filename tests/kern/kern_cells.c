// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_cells.c - the cells of the anti-amplification limit, in the kernel: what becomes
 * of prefixes whose cells are in one line.
 * stubs: shield_cache shield_joined
 */
#include "kern/kern_game.h"

#define SHARERS 6

static const char status[900] = OOB "statusResponse\n";

static __u32 place_of(__u32 net)
{
	return limit_place(kern.live->keys, net >> 8,
			   AMPLIFICATION_BITS + AMPLIFICATION_TAG_BITS);
}

/* The address of a host in @net. */
static void host_of(__u32 net, char ret[INET_ADDRSTRLEN])
{
	__be32 host = htonl(net | 1);

	inet_ntop(AF_INET, &host, ret, INET_ADDRSTRLEN);
}

/* Hosts in /24s whose cells are all in the line of the first, @of. */
static void find_sharers(const char *of, char ret[SHARERS][INET_ADDRSTRLEN])
{
	__u32 here = ntohl(inet_addr(of)) & ~0xffu, found = 1;

	strcpy(ret[0], of);
	for (__u32 net = 0x01000000; net < 0xdf000000 && found < SHARERS; net += 0x100)
		if (net != here && net >> 24 != 127 &&
		    place_of(net) >> AMPLIFICATION_TAG_BITS ==
			    place_of(here) >> AMPLIFICATION_TAG_BITS)
			host_of(net, ret[found++]);
	assert_int_equal(found, SHARERS);
}

static bool says_to(const char *peer)
{
	link_.peer = peer;
	return says(status, sizeof(status));
}

/* Forty questions, which are more bytes than one answer. */
static void pay(const char *peer)
{
	for (int i = 0; i < 40; i++)
		ask(peer, (__u16)(1000 + i));
}

/* What others of its line pay is not a prefix's own. */
static void no_neighbour_pays(void **state)
{
	char peers[SHARERS][INET_ADDRSTRLEN];

	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		serve(FAMILY_QUAKE3);
		if (strict)
			amplification_strict();
		else
			amplification(1000, 20);
		find_sharers(strict ? "198.51.100.7" : "203.0.113.7", peers);
		assert_int_equal(says_to(peers[0]), !strict);
		for (int i = 1; i < AMPLIFICATION_WAYS; i++)
			pay(peers[i]);
		assert_false(says_to(peers[0]));
		/* A prefix that has paid has what it paid for. */
		for (int i = 1; i < AMPLIFICATION_WAYS; i++)
			assert_true(says_to(peers[i]));
	}
}

/* Each prefix of a line owes for itself, and pays for itself. */
static void a_line_has_four_debts(void **state)
{
	char peers[SHARERS][INET_ADDRSTRLEN];

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification(2000, 20);
	find_sharers("203.0.113.9", peers);
	for (int i = 0; i < AMPLIFICATION_WAYS; i++) {
		assert_true(says_to(peers[i]));
		assert_true(says_to(peers[i]));
		assert_false(says_to(peers[i]));
	}
	pay(peers[2]);
	for (int i = 0; i < AMPLIFICATION_WAYS; i++)
		assert_int_equal(says_to(peers[i]), i == 2);
	/* Half a window is one answer, for each of them. */
	pass_time(10 * SECOND);
	for (int i = 0; i < AMPLIFICATION_WAYS; i++) {
		assert_true(says_to(peers[i]));
		assert_int_equal(says_to(peers[i]), i == 2);
	}
}

/* Where all four owe, nothing is sent to a fifth until one of them has paid. */
static void a_fifth_waits_for_a_cell(void **state)
{
	char peers[SHARERS][INET_ADDRSTRLEN];

	(void)state;
	for (int by_time = 0; by_time < 2; by_time++) {
		serve(FAMILY_QUAKE3);
		amplification(2000, 20);
		find_sharers(by_time ? "203.0.115.10" : "203.0.114.10", peers);
		for (int i = 0; i < AMPLIFICATION_WAYS; i++)
			assert_true(says_to(peers[i]));
		assert_false(says_to(peers[4]));
		pay(peers[4]); /* which is no credit, and takes no cell */
		assert_false(says_to(peers[4]));
		if (by_time)
			pass_time(20 * SECOND);
		else
			pay(peers[3]);
		assert_true(says_to(peers[4]));
		/* The others' debts are what they were. */
		assert_int_equal(says_to(peers[5]), by_time);
	}
}

/* Strict: a prefix that pays takes an empty cell, then that of the one with least left.
 */
static void the_least_credit_makes_room(void **state)
{
	char peers[SHARERS][INET_ADDRSTRLEN];

	(void)state;
	serve(FAMILY_QUAKE3);
	amplification_strict();
	find_sharers("198.51.100.9", peers);
	for (int i = 0; i < AMPLIFICATION_WAYS; i++)
		for (int times = 0; times < (i == 1 ? 1 : 2); times++)
			pay(peers[i]);
	pay(peers[4]);
	assert_true(says_to(peers[4]));
	for (int i = 0; i < AMPLIFICATION_WAYS; i++)
		assert_int_equal(says_to(peers[i]), i != 1);
}

/* A cell that was never taken has tag 0, and is no prefix's: it would be all credit. */
static void an_empty_cell_is_no_credit(void **state)
{
	char peer[INET_ADDRSTRLEN];
	__u32 net = 0x01000000;

	(void)state;
	while (place_of(net) % (1 << AMPLIFICATION_TAG_BITS))
		net += 0x100;
	assert_true(net < 0xdf000000);
	host_of(net, peer);
	serve(FAMILY_QUAKE3);
	amplification_strict();
	assert_false(says_to(peer));
	pay(peer);
	assert_true(says_to(peer));
}

/*
 * An attacker that has found a distance at which prefixes are in its own line must not
 * know those in the line of another prefix: by limit_cell() alone it would.
 */
static void no_distance_is_one_line_everywhere(void **state)
{
	const __u64 *keys = kern.live->keys;
	__u32 here = 0xcb007100 >> 8, far = 0, same;
	char peer[INET_ADDRSTRLEN];

	(void)state;
	do {
		far++;
		same = 0;
		for (__u32 i = 1; i <= AMPLIFICATION_WAYS; i++)
			same += limit_cell(keys, here - i * far, 0, AMPLIFICATION_BITS) ==
				limit_cell(keys, here, 0, AMPLIFICATION_BITS);
	} while (same < AMPLIFICATION_WAYS && far < here / AMPLIFICATION_WAYS - 0x010000);
	assert_int_equal(same, AMPLIFICATION_WAYS);
	serve(FAMILY_QUAKE3);
	amplification(2000, 20);
	for (__u32 i = AMPLIFICATION_WAYS + 1; i; i--) {
		host_of((here - (i - 1) * far) << 8, peer);
		assert_true(says_to(peer));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_neighbour_pays),
		TEST(a_line_has_four_debts),
		TEST(a_fifth_waits_for_a_cell),
		TEST(the_least_credit_makes_room),
		TEST(an_empty_cell_is_no_credit),
		TEST(no_distance_is_one_line_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
