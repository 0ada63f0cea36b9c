// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_stats_collect.c - one snapshot of a shield whose slots are not the first ones, so
 * that a place in the list is never a slot by luck. The shield is the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "stats/stats.h"

static const struct row {
	__u32 slot;
	const char *name;
	size_t players;
} rows[] = { { 2, "ffa", 3 }, { 5, "duel", 0 }, { 200, "ctf", 1 } };

#define ROWS (sizeof(rows) / sizeof(*rows))

static int players_error;
static int readings[SERVICES_MAX]; /* of counters */
static __u64 more; /* datagrams of each service, since the beginning */

static const struct row *row_at(__u32 slot)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].slot == slot)
			return &rows[i];
	return NULL;
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	(void)shield;
	for (size_t i = 0; i < max; i++)
		ret[i] =
			(struct shield_link){ .program_id = (__u32)i, .attached = i % 2 };
	return max + 3; /* more than there is room for */
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	const struct row *row = row_at(slot);

	(void)shield;
	memset(ret, 0, sizeof(*ret));
	if (row)
		strcpy(ret->name, row->name);
	return row;
}

int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	(void)shield;
	assert_non_null(row_at(slot));
	readings[slot]++;
	ret_in->by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets = 1000 + slot + more;
	ret_out->by[KIND_STATUSRESPONSE][REASON_EXEMPT].packets = 2000 + slot;
	return 0;
}

__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families)
{
	(void)shield;
	*ret_families = slot == 1 ? 1u << FAMILY_QUAKE3 : 0;
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
	ret[slot % 3] = (struct cached_response){ .bytes = slot };
	return slot % 3 + 1;
}

int shield_limits_used(const struct shield *shield, __u32 slot, double ret[CLASS_BUDGETS])
{
	(void)shield;
	ret[CLASS_QUERY] = slot;
	return 0;
}

int shield_players(const struct shield *shield,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	struct player player = { .flags = 0 };
	struct player_key stray = { .slot = SERVICES_MAX };

	(void)shield;
	each(&stray, &player, context); /* of a table that lies: nobody's */
	for (size_t i = 0; i < ROWS; i++)
		for (size_t p = 0; p < rows[i].players; p++) {
			struct player_key key = { .slot = rows[i].slot };

			each(&key, &player, context);
		}
	return players_error;
}

int shield_others(const struct shield *shield, struct counter ret[OTHER_COUNT])
{
	(void)shield;
	ret[OTHER_NOT_IP].packets = 77;
	return 0;
}

int shield_sampled(const struct shield *shield, struct sampled ret[SAMPLER_COUNT])
{
	(void)shield;
	ret[SAMPLER_FOLLOW].taken = 88;
	return 0;
}

void shield_table_usage(const struct shield *shield, struct table_usage ret[TABLE_COUNT])
{
	(void)shield;
	memset(ret, 0, TABLE_COUNT * sizeof(*ret));
}

static __u32 generation = 99, turn, counted[SERVICES_MAX];

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return generation;
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return true;
}

__u32 shield_counters_turn(struct shield *shield)
{
	(void)shield;
	return turn;
}

bool shield_counters_changed(const struct shield *shield, __u32 slot, __u32 since)
{
	(void)shield;
	return counted[slot] >= since;
}

static void each_service_has_its_own(void **state)
{
	struct stats stats;
	struct timespec now;
	__s64 before_ms, steady_ms;

	(void)state;
	/* Late in a second of both, where a mistake in their parts is large. */
	do {
		clock_gettime(CLOCK_REALTIME, &now);
		before_ms = (__s64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
		clock_gettime(CLOCK_MONOTONIC, &now);
		steady_ms = (__s64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	} while (before_ms % 1000 < 100 || steady_ms % 1000 < 100);
	assert_int_equal(stats_collect(NULL, &stats), 0);
	assert_int_equal(stats.service_count, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		const struct stats_service *s = &stats.services[i];

		assert_string_equal(s->service.name, rows[i].name);
		assert_int_equal(s->slot, rows[i].slot);
		assert_int_equal(s->players, rows[i].players);
		assert_true(s->limits_used[CLASS_QUERY] == rows[i].slot);
		assert_int_equal(s->cached_count, s->slot % 3 + 1);
		assert_int_equal(s->cached[s->slot % 3].bytes, s->slot);
		assert_int_equal(s->in.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets,
				 1000 + rows[i].slot);
		assert_int_equal(s->out.by[KIND_STATUSRESPONSE][REASON_EXEMPT].packets,
				 2000 + rows[i].slot);
	}
	assert_int_equal(stats.link_count, CONFIG_INTERFACES);
	assert_int_equal(stats.links[3].program_id, 3);
	assert_int_equal(stats.others[OTHER_NOT_IP].packets, 77);
	assert_int_equal(stats.sampled[SAMPLER_FOLLOW].taken, 88);
	assert_int_equal(stats.generation, 99);
	assert_true(stats.time_ms >= before_ms && stats.time_ms < before_ms + 60000);
	assert_true(stats.steady_ms >= steady_ms && stats.steady_ms < steady_ms + 60000);
	stats_free(&stats);
}

/* How often the counters of each row have been read since the last time. */
static void assert_read(int first, int second, int third)
{
	const int expected[ROWS] = { first, second, third };

	for (size_t i = 0; i < ROWS; i++) {
		assert_int_equal(readings[rows[i].slot], expected[i]);
		readings[rows[i].slot] = 0;
	}
}

static __u64 passed_of(const struct stats_service *s)
{
	return s->in.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets;
}

/* Counters of a service without datagrams are neither read nor copied. */
static void counters_that_stay_are_not_read_again(void **state)
{
	struct stats now = { 0 }, kept = { 0 };

	(void)state;
	memset(readings, 0, sizeof(readings));
	turn = 10;
	assert_int_equal(stats_refresh(NULL, &now), 0);
	assert_read(1, 1, 1);
	assert_true(stats_keep(&kept, &now));
	more = 7;
	turn = 11;
	counted[5] = 10;
	assert_int_equal(stats_refresh(NULL, &now), 0);
	assert_read(0, 1, 0);
	assert_int_equal(passed_of(&now.services[0]), 1002);
	assert_int_equal(passed_of(&now.services[1]), 1012);
	assert_true(stats_unchanged(&now.services[0], &kept.services[0]));
	assert_false(stats_unchanged(&now.services[1], &kept.services[1]));
	/* The counters of an unchanged service are not copied: this one stays. */
	kept.services[2].in.by[0][0].packets = 55;
	assert_true(stats_keep(&kept, &now));
	assert_int_equal(passed_of(&kept.services[1]), 1012);
	assert_int_equal(kept.services[2].in.by[0][0].packets, 55);
	/* Another configuration: all services are read again. */
	generation++;
	assert_int_equal(stats_refresh(NULL, &now), 0);
	assert_read(1, 1, 1);
	assert_int_equal(now.generation, generation);
	for (size_t i = 0; i < ROWS; i++)
		assert_false(stats_unchanged(&now.services[i], &kept.services[i]));
	assert_int_equal(now.services[2].players, 1);
	assert_true(now.fallback);
	stats_free(&kept);
	/* Snapshots of stats_collect() are never taken for the same. */
	assert_int_equal(stats_collect(NULL, &kept), 0);
	assert_false(stats_unchanged(&kept.services[0], &kept.services[0]));
	generation--;
	more = 0;
	stats_free(&kept);
	stats_free(&now);
}

/* An error leaves nothing to free, and what was asked for as it was. */
static void an_error_leaves_nothing(void **state)
{
	struct stats stats = { .generation = 5 };

	(void)state;
	players_error = -EIO;
	assert_int_equal(stats_collect(NULL, &stats), -EIO);
	players_error = 0;
	assert_int_equal(stats.generation, 5);
	assert_null(stats.services);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_service_has_its_own),
		cmocka_unit_test(counters_that_stay_are_not_read_again),
		cmocka_unit_test(an_error_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
