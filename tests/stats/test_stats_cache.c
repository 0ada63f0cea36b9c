// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_stats_cache.c - how old a snapshot may be that is shown, and the points of
 * history. Shield and clock are the test's own: a snapshot takes as long as is said here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "stats/stats_cache.h"

#define MS 1000000ll

static int64_t now_ns;
static int64_t spent_ns; /* of a processor's time, by this thread */
static int64_t takes_ns; /* a snapshot, of a processor's time */
static int64_t waits_ns; /* and this long for a processor */
static int taken; /* snapshots */
static __u64 passed, dropped; /* datagrams since the beginning */
static int fails;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? spent_ns : now_ns;

	ret->tv_sec = ns / 1000000000;
	ret->tv_nsec = ns % 1000000000;
	return 0;
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	(void)shield;
	(void)ret;
	(void)max;
	taken++;
	now_ns += takes_ns + waits_ns;
	spent_ns += takes_ns;
	return 0;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	memset(ret, 0, sizeof(*ret));
	strcpy(ret->name, "ffa");
	return slot == 3;
}

int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	(void)shield;
	(void)slot;
	(void)ret_out;
	ret_in->by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets = passed;
	ret_in->by[KIND_GETSTATUS][REASON_SERVICE_LIMIT].packets = dropped;
	return fails;
}

__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families)
{
	(void)shield;
	*ret_families = 0;
	(void)slot;
	return *ret_families != 0;
}

enum judged shield_judged(const struct shield *shield, __u32 slot, __u64 received,
			  char ret_interface[IF_NAMESIZE])
{
	(void)shield;
	(void)slot;
	*ret_interface = '\0';
	return received ? JUDGED_YES : JUDGED_UNKNOWN;
}

size_t shield_cached_responses(const struct shield *shield, __u32 slot,
			       struct cached_response ret[CACHE_FORMS])
{
	(void)shield;
	(void)slot;
	(void)ret;
	return 0;
}

int shield_limits_used(const struct shield *shield, __u32 slot, double ret[CLASS_BUDGETS])
{
	(void)shield;
	(void)slot;
	ret[0] = 0;
	return 0;
}

int shield_players(const struct shield *shield,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	const struct player_key key = { .slot = 3 };
	const struct player player = { .flags = 0 };

	(void)shield;
	each(&key, &player, context);
	each(&key, &player, context);
	return 0;
}

int shield_others(const struct shield *shield, struct counter ret[OTHER_COUNT])
{
	(void)shield;
	ret[0].packets = 0;
	return 0;
}

int shield_sampled(const struct shield *shield, struct sampled ret[SAMPLER_COUNT])
{
	(void)shield;
	ret[0].taken = 0;
	return 0;
}

void shield_table_usage(const struct shield *shield, struct table_usage ret[TABLE_COUNT])
{
	(void)shield;
	memset(ret, 0, TABLE_COUNT * sizeof(*ret));
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return false;
}

__u32 shield_counters_turn(struct shield *shield)
{
	(void)shield;
	return 1;
}

bool shield_counters_changed(const struct shield *shield, __u32 slot, __u32 turn)
{
	(void)shield, (void)slot, (void)turn;
	return true;
}

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return 1;
}

static struct stats_cache *begin(void)
{
	struct stats_cache *w;

	/* No day of the machine's own. */
	setenv("STATE_DIRECTORY", "/dev/null/none", 1);
	w = stats_cache_new(NULL, NULL);
	assert_non_null(w);
	now_ns = 5000 * MS;
	spent_ns = 100 * MS;
	takes_ns = 4 * MS;
	waits_ns = 0;
	taken = fails = 0;
	passed = dropped = 0;
	return w;
}

/* An attack keeps the processors busy: what is waited for them makes nobody blind. */
static void waiting_for_a_processor_is_no_cost(void **state)
{
	struct stats_cache *w = begin();

	(void)state;
	waits_ns = 150 * MS;
	assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 1);
	now_ns += 159 * MS;
	assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 1);
	now_ns += MS;
	assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 2);
	stats_cache_free(w);
}

/* Forty times as long as it took: one part in forty of a processor, however often. */
static void a_snapshot_rests_as_long_as_it_cost(void **state)
{
	struct stats_cache *w = begin();
	int64_t end;

	(void)state;
	assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 1);
	for (end = now_ns + 159 * MS; now_ns < end; now_ns += MS)
		assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 1);
	now_ns += MS;
	assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 2);
	/* It costs nothing any more: the next but one is fresh. */
	takes_ns = 0;
	now_ns += 160 * MS;
	assert_non_null(stats_cache_stats(w));
	assert_non_null(stats_cache_stats(w));
	assert_int_equal(taken, 4);
	stats_cache_free(w);
}

static void what_cannot_be_read_is_not_kept(void **state)
{
	struct stats_cache *w = begin();

	(void)state;
	fails = -1;
	assert_null(stats_cache_stats(w));
	stats_cache_tick(w);
	assert_int_equal(stats_cache_history(w)->count, 0);
	fails = 0;
	assert_non_null(stats_cache_stats(w));
	stats_cache_free(w);
}

/* The first is what the second is compared with; from then on a point each time. */
static void each_tick_is_a_point(void **state)
{
	struct stats_cache *w = begin();
	const struct history *h = stats_cache_history(w);

	(void)state;
	passed = 1000;
	stats_cache_tick(w);
	assert_int_equal(h->count, 0);
	for (size_t i = 1; i < 4; i++) {
		const struct history_point *p = &h->points[i - 1];

		now_ns += 2000 * MS - takes_ns;
		passed += 600 * i;
		dropped += 40;
		stats_cache_tick(w);
		assert_int_equal(h->count, i);
		assert_float_equal(p->rates.packets[VERDICT_PASS], 300.0 * (double)i,
				   1e-6);
		assert_float_equal(p->rates.packets[VERDICT_DROP], 20.0, 1e-6);
		assert_int_equal(p->players, 2);
	}
	/* Nothing new has been read: no point, or it would be one of zeros. */
	stats_cache_tick(w);
	assert_int_equal(h->count, 3);
	stats_cache_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snapshot_rests_as_long_as_it_cost),
		cmocka_unit_test(waiting_for_a_processor_is_no_cost),
		cmocka_unit_test(what_cannot_be_read_is_not_kept),
		cmocka_unit_test(each_tick_is_a_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
