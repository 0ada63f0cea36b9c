// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Clients that ask like a browser, during floods from pools of addresses: how many of
 * either are taken for a browser. Prints the table of
 * docs/measurements/2026-11-26-recent.md. The floods of four million queries per second
 * take long, and run only with RECENT=all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recent.h"

#define SECOND 1000000000ull
#define NOW    (77 * SECOND)
#define HONEST 500 /* addresses that ask once a second */
#define SETTLING \
	6 /* seconds until the window has its width, and no mark is from before */
#define MEASURED 4 /* seconds after that */

static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
			       0x165667b19e3779f9 };
static struct recent recent;
static struct recent_window window;
static __u32 marked;
static __u64 random_state = 88172645463325252ull;

static __u64 dice(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static bool asks(__u64 net, __u64 now)
{
	__u64 hash = recent_hash(net, keys);

	return recent_open(&window, recent_turn(net, keys)) &&
	       recent_seen(&recent.lines[recent_at(hash)], hash, now, &marked);
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

static void a_faster_or_slower_source_is_not_seen(void **state)
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

/*
 * One processor under a flood of @rate questions a second from 2^@pool addresses, with
 * the mark window that the daemon would set: how many of the flood's are seen, how much
 * of the sources is inside the window, and how many honest questions from there are seen.
 */
static void flood(unsigned int pool, unsigned int rate)
{
	__u64 asked = 0, honest = 0, passed = 0;
	const __u64 count = (__u64)rate * (SETTLING + MEASURED);
	unsigned int turn = 0;

	memset(&recent, 0, sizeof(recent));
	window.shut = 0;
	marked = 0;
	for (__u64 i = 0; i < count; i++) {
		__u64 now = NOW + i * SECOND / rate;
		bool measured = i >= (__u64)rate * SETTLING, seen;

		if (i && i % rate == 0) {
			window.shut = recent_widen(
				window.shut, recent_shut(recent_all(window.shut, marked),
							 RECENT_RATE));
			marked = 0;
		}
		/* IPv4 below, /64s above. */
		seen = asks(pool == 64 ? 0xfd00000000000000ull + (dice() >> 8)
				       : 0x0a000000 + (dice() >> (64 - pool)),
			    now);
		passed += measured && seen;
		if (i % (rate / HONEST))
			continue;
		turn++;
		seen = asks(0xc6000000 + turn % HONEST, now);
		measured &= recent_open(&window,
					recent_turn(0xc6000000 + turn % HONEST, keys));
		asked += measured;
		honest += measured && seen;
	}
	if (pool == 64)
		print_message("| fd00::/8 | ");
	else
		print_message("| 2^%u | ", pool);
	print_message("%u | %.1f %% | %llu | %.1f %% |\n", rate,
		      100. * (double)recent_width(window.shut) / (1ull << 32),
		      passed / MEASURED, 100. * (double)honest / (double)asked);
	assert_true(asked);
	if (pool >= 24)
		assert_true(honest * 100 >= asked * 95);
	if (pool == 64)
		assert_true(passed / MEASURED <= 400);
}

static void honest_sources_are_seen_in_a_flood(void **state)
{
	static const unsigned int pools[] = { 16, 18, 20, 22, 24, 64 };
	static const unsigned int rates[] = { 70000, 500000, 4000000 };
	size_t count = getenv("RECENT") ? 3 : 2;

	(void)state;
	for (size_t r = 0; r < count; r++)
		for (size_t p = 0; p < sizeof(pools) / sizeof(*pools); p++)
			flood(pools[p], rates[r]);
	window.shut = 0;
}

/*
 * A flood that stops and begins again every four seconds, for one second or two, in names
 * that are not repeated. While it lasts the table must not fill up in some slices and not
 * in others, or all names would look like a browser's.
 */
static void a_flood_in_pulses_passes_for_no_browser(void **state)
{
	const unsigned int rate = 2000000;

	(void)state;
	for (unsigned int on = 1; on <= 2; on++) {
		__u64 asked = 0, passed = 0;

		memset(&recent, 0, sizeof(recent));
		window.shut = 0;
		marked = 0;
		for (__u64 i = 0; i < 24ull * rate; i++) {
			__u64 now = NOW + i * SECOND / rate, second = i / rate;

			if (i && i % rate == 0) {
				window.shut = recent_widen(
					window.shut,
					recent_shut(recent_all(window.shut, marked),
						    RECENT_RATE));
				marked = 0;
			}
			if (second % 4 >= on)
				continue;
			asked += second >= 8;
			passed += asks(0xfd00000000000000ull + (dice() >> 8), now) &&
				  second >= 8;
		}
		print_message("on for %u s of 4: %llu of %llu\n", on, passed, asked);
		assert_true(passed <= asked / 200);
	}
	window.shut = 0;
}

/* A line has no marks left if its time was set back, or is long past. */
static void marks_end_with_their_slices(void **state)
{
	static const __u64 gaps[] = { 8, 9, 15, 16, 64, 256, 1u << 16, -1ull, -8ull };

	(void)state;
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		__u64 net = dice() >> 32, slice = 1ull << RECENT_SHIFT;

		for (__u64 turn = 0; turn < 4; turn++)
			asks(net, NOW + 2 * turn * slice);
		assert_false(asks(net, NOW + (6 + gaps[i]) * slice));
	}
}

/* The bits of slices 0, 1 and 2 are later those of 8, 9 and 10. */
static void a_slice_takes_over_no_marks(void **state)
{
	static const __u64 slices[] = { 0, 1, 2, 5, 10 };
	static const bool seen[] = { false, false, true, true, false };
	__u64 base = (NOW >> (RECENT_SHIFT + 3)) << (RECENT_SHIFT + 3);

	(void)state;
	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++)
		assert_int_equal(asks(0x0a000002, base + (slices[i] << RECENT_SHIFT)),
				 seen[i]);
}

static void sources_are_counted_once_in_a_slice(void **state)
{
	__u64 now = NOW >> RECENT_SHIFT << RECENT_SHIFT;

	(void)state;
	memset(&recent, 0, sizeof(recent));
	marked = 0;
	for (__u64 i = 0; i < 100; i++)
		asks(0x0a000001, now + (i << (RECENT_SHIFT - 4)));
	assert_int_equal(marked, 7);
}

static void the_window_follows_the_rate(void **state)
{
	__u32 shut;

	(void)state;
	assert_int_equal(recent_shut(0, RECENT_RATE), 0);
	assert_int_equal(recent_shut(RECENT_RATE, RECENT_RATE), 0);
	/* Ten times as many: a tenth is open, and of that as many are marked. */
	shut = recent_shut(10 * RECENT_RATE, RECENT_RATE);
	assert_in_range(~shut, (1ull << 32) / 11, (1ull << 32) / 9);
	assert_in_range(recent_all(shut, RECENT_RATE), 10 * RECENT_RATE - 10,
			10 * RECENT_RATE + 10);
	assert_int_equal(recent_all(0, 12345), 12345);
	/* Never so narrow that it stands still. */
	assert_true(~recent_shut(1ull << 40, RECENT_RATE) >= (1u << 20) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_a_second_is_seen_from_the_third),
		cmocka_unit_test(a_faster_or_slower_source_is_not_seen),
		cmocka_unit_test(honest_sources_are_seen_in_a_flood),
		cmocka_unit_test(a_flood_in_pulses_passes_for_no_browser),
		cmocka_unit_test(marks_end_with_their_slices),
		cmocka_unit_test(a_slice_takes_over_no_marks),
		cmocka_unit_test(sources_are_counted_once_in_a_slice),
		cmocka_unit_test(the_window_follows_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
