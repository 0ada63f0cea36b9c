// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ledger's cells, in the kernel: what becomes of prefixes that share one, or both.
 */
#include "kern/kern_game.h"

static const char status[900] = OOB "statusResponse\n";

/* Where @net, a /24, is booked: in @cells[0] and @cells[1]. */
static void ledger_cells(__u32 net, __u32 cells[2])
{
	for (int i = 0; i < 2; i++) {
		__u64 keys[3] = { kern.live->keys[i], 0, kern.live->keys[2] };

		cells[i] = limit_cell(keys, net >> 8, 0, LEDGER_BITS);
	}
}

/* An address whose /24 is booked in each of @of's cells, too: @ret[0] and @ret[1]. */
static void find_sharers(const char *of, char ret[2][INET_ADDRSTRLEN])
{
	__u32 cells[2], theirs[2], here = ntohl(inet_addr(of)) & ~0xffu;

	ledger_cells(here, cells);
	ret[0][0] = ret[1][0] = 0;
	for (__u32 net = 0x01000000; net < 0xdf000000 && (!ret[0][0] || !ret[1][0]);
	     net += 0x100) {
		__be32 host = htonl(net | 1);

		if (net == here || net >> 24 == 127)
			continue;
		ledger_cells(net, theirs);
		for (int i = 0; i < 2; i++)
			if (!ret[i][0] && theirs[i] == cells[i] &&
			    theirs[!i] != cells[!i])
				inet_ntop(AF_INET, &host, ret[i], INET_ADDRSTRLEN);
	}
	assert_true(ret[0][0] && ret[1][0]);
}

/*
 * Both of a prefix's cells are shared, each with another that pays and is sent nothing.
 * Whoever spoofs enough prefixes brings that about for any victim.
 */
static void not_even_two_neighbours_pay(void **state)
{
	char pair[2][INET_ADDRSTRLEN];

	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		serve(FAMILY_QUAKE3);
		link_.peer = strict ? "198.51.100.7" : "203.0.113.7";
		if (strict)
			ledger_strict();
		else
			ledger(1000, 20);
		find_sharers(link_.peer, pair);
		assert_int_equal(says(status, sizeof(status)), !strict);
		for (int i = 0; i < 40; i++) {
			ask(pair[0], (__u16)(1000 + i));
			ask(pair[1], (__u16)(1000 + i));
		}
		assert_false(says(status, sizeof(status)));
		/* Who has paid has what it paid for, if nobody took its place. */
		if (strict) {
			link_.peer = pair[0];
			assert_true(says(status, sizeof(status)));
		}
	}
}

/* What the second cell refuses is taken back from the first: who shares that is not hurt.
 */
static void what_is_withheld_is_not_booked(void **state)
{
	char pair[2][INET_ADDRSTRLEN];

	(void)state;
	serve(FAMILY_QUAKE3);
	ledger(2500, 20);
	find_sharers("203.0.113.11", pair);
	link_.peer = pair[1];
	assert_true(says(status, sizeof(status)));
	assert_true(says(status, sizeof(status)));
	for (int debt = 0; debt < 2; debt++) {
		link_.peer = "203.0.113.11";
		for (int i = 0; i < 3; i++)
			assert_false(says(status, sizeof(status)));
		link_.peer = pair[0]; /* its own cell, then one with its debt */
		assert_true(says(status, sizeof(status)));
	}
}

/* A debt of two: neither pays for the other's half, time does for both. */
static void a_debt_of_two_is_paid_by_time(void **state)
{
	char pair[2][INET_ADDRSTRLEN];

	(void)state;
	serve(FAMILY_QUAKE3);
	ledger(2000, 20);
	link_.peer = "203.0.113.9";
	find_sharers(link_.peer, pair);
	assert_true(says(status, sizeof(status)));
	for (int i = 0; i < 2; i++) {
		link_.peer = pair[i];
		assert_true(says(status, sizeof(status)));
		for (int n = 0; n < 40; n++)
			ask(pair[i], (__u16)(1000 + n));
	}
	link_.peer = "203.0.113.9";
	assert_false(says(status, sizeof(status)));
	pass_time(10 * SECOND);
	assert_true(says(status, sizeof(status)));
	/* Now that it is alone, what it pays counts again. */
	pass_time(20 * SECOND);
	assert_true(says(status, sizeof(status)));
	assert_true(says(status, sizeof(status)));
	assert_false(says(status, sizeof(status)));
	for (int i = 0; i < 18; i++)
		ask(link_.peer, (__u16)(1000 + i));
	assert_true(says(status, sizeof(status)));
}

#define SHARERS (1u << LEDGER_BITS)

/* Of each cell a prefix that has no tag there of its own, but 1 in place of 0. */
static void find_untagged(int way, __u32 *ret)
{
	__u64 keys[3] = { kern.live->keys[way], 0, kern.live->keys[2] };

	for (__u32 net = 0x01000000; net < 0xdf000000; net += 0x100) {
		__u32 place = limit_cell(keys, net >> 8, 0, LEDGER_BITS + LEDGER_TAGS);

		if (place % (1 << LEDGER_TAGS) == 0 && net >> 24 != 127)
			ret[place >> LEDGER_TAGS] = net;
	}
}

/* Whose tag would be that of several is one, too: it pays nothing of a debt of two. */
static void nobodys_tag_is_that_of_several(void **state)
{
	__u32 *untagged[2] = { calloc(SHARERS, sizeof(__u32)),
			       calloc(SHARERS, sizeof(__u32)) };
	__u32 net, cells[2], pair[2] = { 0 };
	char peers[3][INET_ADDRSTRLEN];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_non_null(untagged[i]);
		find_untagged(i, untagged[i]);
	}
	for (net = 0x01000000; net < 0xdf000000; net += 0x100) {
		ledger_cells(net, cells);
		for (int i = 0; i < 2; i++)
			pair[i] = untagged[i][cells[i]];
		if (pair[0] && pair[1] && pair[0] != net && pair[1] != net)
			break;
	}
	assert_true(net < 0xdf000000);
	for (int i = 0; i < 3; i++) {
		__be32 host = htonl((i < 2 ? pair[i] : net) | 1);

		inet_ntop(AF_INET, &host, peers[i], INET_ADDRSTRLEN);
	}
	serve(FAMILY_QUAKE3);
	ledger(2000, 20);
	link_.peer = peers[2];
	assert_true(says(status, sizeof(status)));
	for (int i = 0; i < 2; i++) {
		link_.peer = peers[i];
		assert_true(says(status, sizeof(status)));
		for (int n = 0; n < 40; n++)
			ask(peers[i], (__u16)(1000 + n));
	}
	link_.peer = peers[2];
	assert_false(says(status, sizeof(status)));
	for (int i = 0; i < 2; i++)
		free(untagged[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(not_even_two_neighbours_pay),
		TEST(what_is_withheld_is_not_booked),
		TEST(a_debt_of_two_is_paid_by_time),
		TEST(nobodys_tag_is_that_of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
