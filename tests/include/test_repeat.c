// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who asks twice at a client's pace, and what a flood makes of that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "repeat.h"

#define MS    1000000ull
#define NOW   (1ull << 50)
#define CELLS (1 << REPEAT_BITS)

static __u64 cells[CELLS];
static unsigned int random_state = 20261122;

static __u64 dice(void)
{
	__u64 v = 0;

	for (int i = 0; i < 5; i++)
		v = v << 15 ^ (__u64)rand_r(&random_state);
	return v;
}

static bool seen(__u64 hash, __u64 now)
{
	return repeat_seen(&cells[repeat_cell(hash)], hash, now);
}

static void who_repeats_at_a_clients_pace_is_seen(void **state)
{
	static const struct {
		__u64 after_ms;
		bool seen;
	} rows[] = { { 0, false },   { 100, false },  { 900, false },
		     { 1000, true }, { 2500, true },  { 3000, true },
		     { 8000, true }, { 8500, false }, { 60000, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		__u64 hash = dice();

		assert_false(seen(hash, NOW));
		assert_int_equal(seen(hash, NOW + rows[i].after_ms * MS), rows[i].seen);
	}
}

/* As often as it repeats, whatever became of the answers. */
static void who_goes_on_is_seen_again(void **state)
{
	__u64 hash = dice();

	(void)state;
	assert_false(seen(hash, NOW));
	for (__u64 i = 1; i < 10; i++)
		assert_true(seen(hash, NOW + i * 2500 * MS));
}

static void who_comes_too_soon_begins_anew(void **state)
{
	__u64 hash = dice();

	(void)state;
	for (__u64 i = 0; i < 1000; i++)
		assert_false(seen(hash, NOW + i * 60 * MS));
}

/* Ten seconds of a flood from everywhere, 100000 a second, and a hundred clients. */
static void a_flood_hinders_some_and_lets_in_none(void **state)
{
	enum {
		RATE = 100000,
		CLIENTS = 100
	};
	__u64 clients[CLIENTS], now = NOW << 1;
	int forged = 0, in[CLIENTS] = { 0 }, joined = 0;

	(void)state;
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = dice();
	for (int i = 0; i < 10 * RATE; i++, now += 1000 * MS / RATE) {
		forged += seen(dice(), now);
		/* Each at another time, every 2.5 s, as long as a client tries. */
		if (i % (RATE / 40) == 0 && i < 8 * RATE) {
			int who = i / (RATE / 40) % CLIENTS;

			in[who] += seen(clients[who], now);
		}
	}
	for (int i = 0; i < CLIENTS; i++)
		joined += in[i] > 0;
	assert_in_range(forged, 0, 1);
	assert_in_range(joined, CLIENTS / 4, CLIENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_repeats_at_a_clients_pace_is_seen),
		cmocka_unit_test(who_goes_on_is_seen_again),
		cmocka_unit_test(who_comes_too_soon_begins_anew),
		cmocka_unit_test(a_flood_hinders_some_and_lets_in_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
