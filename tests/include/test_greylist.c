// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_greylist.c - requests that come twice at a client's pace, and what a flood makes
 * of that, all of it at one processor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "greylist.h"

#define MS  1000000ull
#define NOW (1ull << 50)

static struct greylist_bucket buckets[1 << GREYLIST_BITS];
static unsigned int random_state = 20261122;

static __u64 dice(void)
{
	__u64 v = 0;

	for (int i = 0; i < 5; i++)
		v = v << 15 ^ (__u64)rand_r(&random_state);
	return v;
}

#define NETQUAKE false /* of a CCREQ_CONNECT, or of a ClientHello */
#define HELLO	 true

static bool pace = NETQUAKE;

static bool seen(__u64 hash, __u64 now)
{
	return greylist_seen(&buckets[greylist_at(hash)], hash, pace, now, false);
}

static void who_repeats_at_a_clients_pace_is_seen(void **state)
{
	static const struct {
		bool pace;
		__u64 after_ms;
		bool seen;
	} rows[] = {
		{ NETQUAKE, 0, false },	   { NETQUAKE, 100, false },
		{ NETQUAKE, 800, false },  { NETQUAKE, 1000, true },
		{ NETQUAKE, 2500, true },  { NETQUAKE, 8000, true },
		{ NETQUAKE, 8500, false }, { NETQUAKE, 30000, false },
		{ HELLO, 0, false },	   { HELLO, 400, false },
		{ HELLO, 560, true },	   { HELLO, 1000, true },
		{ HELLO, 4000, true },	   { HELLO, 5000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		__u64 hash = dice();

		pace = rows[i].pace;
		assert_false(seen(hash, NOW));
		assert_int_equal(seen(hash, NOW + rows[i].after_ms * MS), rows[i].seen);
	}
	pace = NETQUAKE;
}

/* To the unit: the least and the most are at a pace. */
static void both_ends_are_at_its_pace(void **state)
{
	static const struct greylist_timing *const paces[] = { &greylist_netquake,
							       &greylist_hello };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		__u64 least = paces[i]->least, most = paces[i]->most;
		const __u64 after[] = { least - 1, least, most, most + 1 };

		pace = i;
		for (int end = 0; end < 4; end++) {
			__u64 hash = dice();

			assert_false(seen(hash, NOW));
			assert_int_equal(seen(hash,
					      NOW + (after[end] << GREYLIST_UNIT_BITS)),
					 end == 1 || end == 2);
		}
	}
	pace = NETQUAKE;
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

/* A look at a request that is at its pace changes nothing; any other look is a request.
 */
static void a_look_leaves_what_is_at_its_pace(void **state)
{
	__u64 hash = dice();
	struct greylist_bucket *bucket = &buckets[greylist_at(hash)];

	(void)state;
	assert_false(greylist_seen(bucket, hash, pace, NOW, true));
	assert_true(greylist_seen(bucket, hash, pace, NOW + 2500 * MS, true));
	assert_true(greylist_seen(bucket, hash, pace, NOW + 2500 * MS, true));
	assert_true(greylist_seen(bucket, hash, pace, NOW + 2500 * MS, false));
	assert_false(greylist_seen(bucket, hash, pace, NOW + 3000 * MS, true));
	assert_false(greylist_seen(bucket, hash, pace, NOW + 3800 * MS, true));
}

/* An old request counts no more, until the time of its cell has come round. */
static void an_old_request_is_no_first_one(void **state)
{
	(void)state;
	for (__u64 ms = 8500; ms < 137000; ms += 100) {
		__u64 hash = dice();

		assert_false(seen(hash, NOW));
		assert_false(seen(hash, NOW + ms * MS));
	}
}

/* At the clock's zero, and once a cell's time has come round. */
static void an_empty_cell_is_taken_at_any_time(void **state)
{
	(void)state;
	for (__u64 ms = 0; ms < 40000; ms += 100) {
		__u64 hash = dice();

		assert_false(seen(hash, ms * MS));
		assert_true(seen(hash, (ms + 2500) * MS));
	}
}

#define CLIENTS 1000

/* Clients that pass by their second and third try, and requests of the flood that pass.
 */
struct passed {
	int second, third, forged;
};

/*
 * Twenty seconds of a flood from everywhere, of @rate requests a second, and clients that
 * begin at all moments of ten of these seconds, and repeat after @gaps, in ms.
 */
static struct passed clients_in_a_flood(bool hello, __u64 rate, const __u64 gaps[2])
{
	static __u64 clients[CLIENTS], next[CLIENTS];
	__u64 now, begin = (NOW << 1) + dice() % (1000 * MS);
	int tries[CLIENTS] = { 0 };
	struct passed ret = { 0 };

	pace = hello;
	memset(buckets, 0, sizeof(buckets));
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = dice();
		next[i] = begin + 4000 * MS + (__u64)i * 10 * MS;
	}
	for (__u64 i = 0; i < 20 * rate; i++) {
		int client = (int)(i % CLIENTS);

		now = begin + i * 1000 * MS / rate;
		ret.forged += seen(dice(), now);
		if (tries[client] > 2 || now < next[client])
			continue;
		if (seen(clients[client], now)) {
			ret.second += tries[client] == 1;
			ret.third++;
			tries[client] = 3;
			continue;
		}
		next[client] += tries[client] < 2 ? gaps[tries[client]] * MS : 0;
		tries[client]++;
	}
	pace = NETQUAKE;
	return ret;
}

/*
 * The table of docs/explain/address-validation.md, in parts of a thousand. A flood faster
 * than there is room for hinders some clients, and pushes none out.
 */
static void a_flood_hinders_as_many_as_the_manual_says(void **state)
{
	static const __u64 gaps[2][2] = { { 2500, 2500 }, { 1000, 2000 } };
	static const struct {
		bool hello;
		__u64 rate;
		int second, third;
	} rows[] = {
		{ NETQUAKE, 40000, 990, 1000 }, { NETQUAKE, 100000, 740, 950 },
		{ NETQUAKE, 200000, 420, 690 }, { HELLO, 40000, 1000, 1000 },
		{ HELLO, 100000, 970, 980 },	{ HELLO, 200000, 780, 810 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct passed r = clients_in_a_flood(rows[i].hello, rows[i].rate,
						     gaps[rows[i].hello]);

		assert_in_range(r.second, rows[i].second - 40, rows[i].second + 40);
		assert_in_range(r.third, rows[i].third - 40, rows[i].third + 40);
		assert_in_range(r.forged, 0, rows[i].rate / 2500);
	}
}

/*
 * The cells of ClientHellos are kept for a shorter time. A flood of them takes none of a
 * CCREQ_CONNECT that is kept.
 */
static void a_flood_of_hellos_pushes_no_connect_out(void **state)
{
	__u64 clients[100], now = NOW;

	(void)state;
	memset(buckets, 0, sizeof(buckets));
	for (int i = 0; i < 100; i++) {
		clients[i] = dice();
		assert_false(seen(clients[i], now));
	}
	for (__u64 i = 0; i < 2500000; i++) {
		now = NOW + i * 1000;
		greylist_seen(&buckets[greylist_at(i * 0x9e3779b97f4a7c15)],
			      i * 0x9e3779b97f4a7c15, HELLO, now, false);
	}
	for (int i = 0; i < 100; i++)
		assert_true(seen(clients[i], NOW + 2500 * MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_repeats_at_a_clients_pace_is_seen),
		cmocka_unit_test(both_ends_are_at_its_pace),
		cmocka_unit_test(who_goes_on_is_seen_again),
		cmocka_unit_test(who_comes_too_soon_begins_anew),
		cmocka_unit_test(a_look_leaves_what_is_at_its_pace),
		cmocka_unit_test(an_old_request_is_no_first_one),
		cmocka_unit_test(an_empty_cell_is_taken_at_any_time),
		cmocka_unit_test(a_flood_hinders_as_many_as_the_manual_says),
		cmocka_unit_test(a_flood_of_hellos_pushes_no_connect_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
