// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Strangers that ask like a browser, in the midst of floods from pools of addresses: how
 * many of either are taken for one. Prints the table of docs/OPERATING.md; the floods of
 * a million a second take their time and want RECALL=all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recall.h"

#define SECOND	 1000000000ull
#define NOW	 (77 * SECOND)
#define HONEST	 500 /* addresses that ask once a second */
#define MEASURED 4 /* seconds, after as many to get into a steady state */

static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
			       0x165667b19e3779f9 };
static struct recall recall;
static __u64 random_state = 88172645463325252ull;

static __u64 dice(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static bool asks(__u64 net, __u64 now)
{
	__u32 other = recall_other(net, keys);
	__u64 hash = recall_hash(net, keys);

	return recall_open(&recall, other) &&
	       recall_fits(recall_seen(&recall.lines[hash >> (64 - RECALL_BITS)],
				       recall_mask(hash, other), now));
}

static void once_a_second_is_seen_from_the_third(void **state)
{
	(void)state;
	for (__u64 phase = 0; phase < 20; phase++) {
		__u64 net = 0xfd00000000000000ull + dice() % 1000000;

		for (__u64 second = 0; second < 60; second++)
			assert_int_equal(
				asks(net, NOW + phase * SECOND / 20 + second * SECOND),
				second >= 2);
	}
}

static void who_asks_faster_or_slower_is_not(void **state)
{
	static const struct {
		unsigned int ms;
		bool seen;
	} rows[] = { { 50, false },  { 250, false },  { 500, false }, { 800, true },
		     { 1500, true }, { 2100, false }, { 5000, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		__u64 net = dice() >> 32;
		bool seen = false;

		for (__u64 turn = 0; turn < 200; turn++)
			seen = asks(net, NOW + turn * rows[i].ms * (SECOND / 1000));
		assert_int_equal(seen, rows[i].seen);
	}
}

/* Of a flood of @rate from 2^@pool addresses: how many pass, and how many honest do. */
static void flood(unsigned int pool, unsigned int rate)
{
	__u64 asked = 0, honest = 0, passed = 0;
	const __u64 count = (__u64)rate * 2 * MEASURED;
	unsigned int turn = 0;

	memset(&recall, 0, sizeof(recall));
	for (__u64 i = 0; i < count; i++) {
		__u64 now = NOW + i * SECOND / rate;
		bool measured = i >= count / 2, seen;

		/* IPv4 below, /64s above. */
		seen = asks(pool == 64 ? 0xfd00000000000000ull + (dice() >> 8)
				       : 0x0a000000 + (dice() >> (64 - pool)),
			    now);
		passed += measured && seen;
		if (i % (rate / HONEST))
			continue;
		seen = asks(0xc6000000 + turn++ % HONEST, now);
		asked += measured;
		honest += measured && seen;
	}
	if (pool == 64)
		print_message("| fd00::/8 | ");
	else
		print_message("| 2^%u | ", pool);
	print_message("%u | %llu | %.1f %% |\n", rate, passed / MEASURED,
		      100. * (double)honest / (double)asked);
	if (pool >= 24)
		assert_true(honest * 100 >= asked * 95);
	if (pool == 64)
		assert_true(passed / MEASURED <= rate / 100);
}

static void what_a_flood_makes_of_it(void **state)
{
	static const unsigned int pools[] = { 16, 18, 20, 22, 24, 64 };
	static const unsigned int rates[] = { 100000, 1000000 };
	size_t count = getenv("RECALL") ? 2 : 1;

	(void)state;
	for (size_t r = 0; r < count; r++)
		for (size_t p = 0; p < sizeof(pools) / sizeof(*pools); p++)
			flood(pools[p], rates[r]);
}

static void the_window_follows_the_rate(void **state)
{
	__u32 shut = 0;

	(void)state;
	assert_int_equal(recall_shut(0, 0), 0);
	assert_int_equal(recall_shut(0, RECALL_RATE), 0);
	/* Ten times as many: a tenth is open, and of that as many are written down. */
	shut = recall_shut(0, 10 * RECALL_RATE);
	assert_in_range(~shut, (1ull << 32) / 11, (1ull << 32) / 9);
	assert_in_range(recall_shut(shut, RECALL_RATE), shut - (shut >> 8),
			shut + (shut >> 8));
	/* It opens again, at once or bit by bit. */
	assert_int_equal(recall_shut(shut, RECALL_RATE / 20), 0);
	/* Never so narrow that it stands still. */
	assert_true(~recall_shut(0, 1ull << 40) >= (1u << 20) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_a_second_is_seen_from_the_third),
		cmocka_unit_test(who_asks_faster_or_slower_is_not),
		cmocka_unit_test(what_a_flood_makes_of_it),
		cmocka_unit_test(the_window_follows_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
