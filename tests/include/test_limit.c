// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi.h"

#define SECOND 1000000000ull
#define TICK   4000000ull /* HZ=250, the coarsest that is common */
#define START  (1ull << 40) /* any machine has been up for a while */

static struct limit rate(__u64 per_second, __u64 burst)
{
	__u64 cost = SECOND / per_second;

	struct limit ret = { .cost_ns = cost, .burst_ns = burst * cost };

	limit_normal(&ret);
	return ret;
}

/* How many of @tries pass at @now. */
static unsigned int drain(const struct limit *l, __u64 *due, __u64 now,
			  unsigned int tries)
{
	unsigned int passed = 0;

	for (unsigned int i = 0; i < tries; i++) {
		bool peek = !limit_exceeded(l, *due, now);
		bool take = limit_take(l, due, now);

		assert_int_equal(peek, take);
		passed += take;
	}
	return passed;
}

static void a_burst_and_no_more(void **state)
{
	static const __u64 bursts[] = { 1, 2, 10, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(bursts) / sizeof(*bursts); i++) {
		struct limit l = rate(50, bursts[i]);
		__u64 due = 0;

		assert_int_equal(drain(&l, &due, START, 2000), bursts[i]);
		assert_int_equal(drain(&l, &due, START, 10), 0);
		/* One more for each interval, not before it is over. */
		assert_int_equal(drain(&l, &due, START + SECOND / 50 - 1, 10), 0);
		assert_int_equal(drain(&l, &due, START + SECOND / 50, 10), 1);
		/* Rest does not buy more than the burst. */
		assert_int_equal(drain(&l, &due, START + 3600 * SECOND, 2000), bursts[i]);
	}
}

static void the_rate_holds_on_a_coarse_clock(void **state)
{
	static const struct {
		__u64 per_second, burst;
	} limits[] = { { 1, 1 }, { 10, 10 }, { 100, 5 }, { 777, 20 }, { 10000, 100 } };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct limit l = rate(limits[i].per_second, limits[i].burst);
		__u64 due = 0, now = START, passed = 0;

		/* Ten seconds, twenty times as many requests as may pass. */
		for (; now < START + 10 * SECOND; now += TICK) {
			unsigned int tries =
				(unsigned int)(limits[i].per_second * 20 / 250 + 1);

			passed += drain(&l, &due, now, tries);
		}
		assert_in_range(passed, limits[i].per_second * 10 - 1,
				limits[i].per_second * 10 + limits[i].burst);
	}
}

static void limits_that_are_none(void **state)
{
	struct limit none = { 0, 0 };
	struct limit never = { SECOND, SECOND - 1 };
	struct limit zero_burst = { SECOND, 0 };
	__u64 due = 0;

	(void)state;
	limit_normal(&none);
	limit_normal(&never);
	limit_normal(&zero_burst);
	assert_int_equal(drain(&none, &due, START, 100000), 100000);
	assert_int_equal(due, 0);
	assert_int_equal(drain(&never, &due, START, 100), 0);
	assert_int_equal(drain(&zero_burst, &due, START, 100), 0);
	assert_int_equal(due, 0);
}

static void refusals_cost_nothing(void **state)
{
	struct limit l = rate(10, 1);
	__u64 due = 0;

	(void)state;
	assert_true(limit_take(&l, &due, START));
	for (int i = 0; i < 1000; i++)
		assert_false(limit_take(&l, &due, START + SECOND / 20));
	assert_true(limit_take(&l, &due, START + SECOND / 10));
}

#define THREADS 8
#define TRIES	200000

struct crowd {
	struct limit limit;
	__u64 due;
	pthread_barrier_t gate;
};

static void *hammer(void *argument)
{
	struct crowd *crowd = argument;
	size_t passed = 0;

	pthread_barrier_wait(&crowd->gate);
	for (int i = 0; i < TRIES; i++)
		passed += limit_take(&crowd->limit, &crowd->due, START);
	return (void *)passed; /* NOLINT(performance-no-int-to-ptr): a thread's result */
}

/* Any number of CPUs share one budget: never one request too many, nor too few. */
static void a_crowd_shares_one_budget(void **state)
{
	struct crowd crowd = { .limit = rate(1000, 100000) };
	pthread_t threads[THREADS];
	size_t total = 0;

	(void)state;
	pthread_barrier_init(&crowd.gate, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, &crowd), 0);
	for (int i = 0; i < THREADS; i++) {
		void *passed;

		pthread_join(threads[i], &passed);
		total += (size_t)passed;
	}
	pthread_barrier_destroy(&crowd.gate);
	assert_int_equal(total, 100000);
	assert_true(crowd.due == START + 100000 * crowd.limit.cost_ns);
}

static __u64 random_u64(unsigned int *seed)
{
	__u64 v = 0;

	for (int i = 0; i < 4; i++)
		v = v << 16 ^ (__u64)rand_r(seed);
	return v;
}

static void draw_keys(unsigned int *seed, __u64 keys[3])
{
	for (int i = 0; i < 3; i++)
		keys[i] = random_u64(seed) | 1;
}

/*
 * The promise of limit_cell(): two inputs meet with probability at most 2^(1-bits) over
 * the keys, whatever an attacker picks who does not know them.
 */
static void strangers_rarely_meet(void **state)
{
	enum {
		BITS = 10,
		KEYS = 200000
	};
	static const struct {
		__u64 net, tag; /* how far apart */
	} apart[] = {
		{ 1, 0 },	   { 2, 0 },	      { 256, 0 },   { 0x10000, 0 },
		{ 1ull << 32, 0 }, { 1ull << 40, 0 }, { ~0ull, 0 }, { 0, 1 },
		{ 0, 2 },	   { 0, 12 },	      { 0, 3071 },  { 1, 1 },
		{ 256, 12 },	   { ~0ull, 2 },
	};
	unsigned int seed = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(apart) / sizeof(*apart); i++) {
		unsigned int met = 0;

		for (int k = 0; k < KEYS; k++) {
			__u64 keys[3], net = random_u64(&seed);

			draw_keys(&seed, keys);
			met += limit_cell(keys, net, 5, BITS) ==
			       limit_cell(keys, net + apart[i].net, 5 + apart[i].tag,
					  BITS);
		}
		/* 2^-9 of them, and five standard deviations. */
		assert_in_range(met, 0, KEYS / 512 + 100);
	}
}

/* Neighbours fill the table rather than a corner of it. */
static void cells_are_used(void **state)
{
	enum {
		BITS = 12,
		CELLS = 1 << BITS,
		ROUNDS = 64
	};
	static const __u64 steps[] = { 1, 256, 65536, 1ull << 32, 0x10001 };
	unsigned int seed = 11;

	(void)state;
	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
		unsigned int used = 0;

		for (int round = 0; round < ROUNDS; round++) {
			static bool hit[CELLS];
			__u64 keys[3];

			memset(hit, 0, sizeof(hit));
			draw_keys(&seed, keys);
			for (__u64 i = 0; i < 4 * CELLS; i++) {
				__u32 cell = limit_cell(keys, 0x0a000000 + i * steps[s],
							6, BITS);

				assert_true(cell < CELLS);
				used += !hit[cell];
				hit[cell] = true;
			}
		}
		assert_in_range(used, ROUNDS * CELLS / 10 * 8, ROUNDS * CELLS);
	}
}

static void every_width_stays_in_its_table(void **state)
{
	unsigned int seed = 13;

	(void)state;
	for (__u32 bits = 1; bits <= 32; bits++) {
		for (int i = 0; i < 1000; i++) {
			__u64 keys[3];

			draw_keys(&seed, keys);
			assert_true((__u64)limit_cell(keys, random_u64(&seed),
						      random_u64(&seed),
						      bits) < 1ull << bits);
		}
	}
}

/* The rule, case by case: no limit, nothing passes, full, and partly spent. */
static void spent_means_that_a_request_has_no_room(void **state)
{
	unsigned int seed = 3;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct limit l = { (__u64)rand_r(&seed) % 5, (__u64)rand_r(&seed) % 40 };
		const __u64 cost = l.cost_ns, burst = l.burst_ns;
		__u64 due = (__u64)rand_r(&seed) % 200, now = (__u64)rand_r(&seed) % 200;
		__u64 owed = due > now ? due - now : 0;

		limit_normal(&l);
		assert_int_equal(limit_exceeded(&l, due, now),
				 cost && (burst < cost || owed + cost > burst));
		limit_normal(&l);
		assert_int_equal(limit_exceeded(&l, due, now),
				 cost && (burst < cost || owed + cost > burst));
	}
}

/* A request that counts as several: at most a burst, so that it comes at all. */
static void a_dear_request_still_comes(void **state)
{
	static const struct {
		struct limit of;
		__u32 cost;
		__u64 scaled_ns;
	} scaled[] = {
		{ { 10, 40 }, 16, 10 },	 { { 10, 40 }, 24, 15 },  { { 10, 40 }, 64, 40 },
		{ { 10, 40 }, 65, 40 },	 { { 10, 40 }, 640, 40 }, { { 40, 40 }, 32, 40 },
		{ { 50, 40 }, 16, 50 }, /* nothing ever passes this one */
		{ { 50, 40 }, 32, 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scaled) / sizeof(*scaled); i++) {
		struct limit l = limit_scaled(&scaled[i].of, scaled[i].cost, 16);
		__u64 due = 0;

		assert_true(l.cost_ns == scaled[i].scaled_ns);
		assert_true(l.burst_ns == scaled[i].of.burst_ns);
		limit_normal(&l);
		assert_int_equal(limit_take(&l, &due, START),
				 scaled[i].scaled_ns <= scaled[i].of.burst_ns);
	}
}

/* Where there is no limit nothing is spent, whatever a shared cell says. */
static void no_limit_is_never_spent(void **state)
{
	const __u64 keys[3] = { 1, 1, 1 }, now = 1ull << 60;
	static struct service s;

	(void)state;
	service_finish(&s, 3, keys);
	for (__u32 c = 0; c < CLASS_BUDGETS; c++) {
		assert_false(
			limit_exceeded(&s.budget[c].source, now + (1ull << 50), now));
		assert_false(
			limit_exceeded(&s.budget[c].service, now + (1ull << 50), now));
	}
}

/* The seed of a budget is worth what its service and class are to limit_cell(). */
static void seeds_keep_budgets_apart(void **state)
{
	const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
				0x165667b19e3779f9 };
	static struct service s = { .family = FAMILY_QUAKE3 };

	(void)state;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot += 17) {
		service_finish(&s, slot, keys);
		for (__u32 c = 0; c < CLASS_BUDGETS; c++) {
			__u64 index = budget_index(slot, c);

			for (__u32 v6 = 0; v6 < 2; v6++)
				assert_int_equal(
					budget_cell(&s.budget[c], keys, SET_UNVALIDATED,
						    0x0a000001, v6, SOURCE_BITS),
					limit_cell(keys, 0x0a000001, index << 1 | v6,
						   SOURCE_BITS));
		}
	}
	assert_int_equal(s.class_of[KIND_GETSTATUS], CLASS_QUERY);
	assert_int_equal(s.class_of[KIND_STATUS], CLASS_UNKNOWN);
	assert_int_equal(s.class_of[KIND_COUNT], CLASS_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_and_no_more),
		cmocka_unit_test(the_rate_holds_on_a_coarse_clock),
		cmocka_unit_test(limits_that_are_none),
		cmocka_unit_test(refusals_cost_nothing),
		cmocka_unit_test(a_crowd_shares_one_budget),
		cmocka_unit_test(strangers_rarely_meet),
		cmocka_unit_test(cells_are_used),
		cmocka_unit_test(every_width_stays_in_its_table),
		cmocka_unit_test(spent_means_that_a_request_has_no_room),
		cmocka_unit_test(a_dear_request_still_comes),
		cmocka_unit_test(no_limit_is_never_spent),
		cmocka_unit_test(seeds_keep_budgets_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
