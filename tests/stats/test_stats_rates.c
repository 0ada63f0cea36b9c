// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_stats_rates.c - from counters to paces, ten minutes of them, and the programs'
 * clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>

#include "shield/shield_clock.h"
#include "stats/history.h"
#include "stats/stats_rates.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void counters_grow(void **state)
{
	static const struct {
		struct counter now, before;
		double seconds, packets, bytes;
	} rows[] = {
		{ { 100, 6000 }, { 40, 2400 }, 2, 30, 1800 },
		{ { 40, 2400 }, { 40, 2400 }, 2, 0, 0 },
		/* began again from zero */
		{ { 10, 600 }, { 40, 2400 }, 2, 5, 300 },
		/* no time, no pace */
		{ { 100, 6000 }, { 40, 2400 }, 0, 0, 0 },
		{ { 100, 6000 }, { 40, 2400 }, -1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stats_pace_counter t = stats_pace_counter(
			&rows[i].now, &rows[i].before, rows[i].seconds);

		assert_true(t.packets == rows[i].packets);
		assert_true(t.bytes == rows[i].bytes);
	}
}

static struct stats_service *service(struct stats_service *s, const char *name)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->service.name, name);
	return s;
}

/* Services have changed places, one is new, one is gone. */
static void services_are_matched_by_name(void **state)
{
	struct stats_service *all = calloc(5, sizeof(*all));
	struct stats before = { .services = &all[0], .service_count = 2 };
	struct stats now = { .services = &all[2], .service_count = 3 };
	struct stats_rates rates;

	(void)state;
	assert_non_null(all);
	service(&all[0], "ffa")->in.by[KIND_GETSTATUS][REASON_SOURCE_LIMIT] =
		(struct counter){ 100, 6000 };
	service(&all[1], "gone")->in.by[KIND_GETINFO][REASON_WITHIN_LIMITS] =
		(struct counter){ 900, 9000 };
	service(&all[2], "new")->in.by[KIND_GETINFO][REASON_WITHIN_LIMITS] =
		(struct counter){ 77, 7700 };
	service(&all[3], "ffa");
	all[3].in.by[KIND_GETSTATUS][REASON_SOURCE_LIMIT] =
		(struct counter){ 300, 18000 };
	all[3].in.by[KIND_NETCHAN][REASON_PLAYER] = (struct counter){ 50, 5000 };
	all[3].in.by[KIND_GETINFO][REASON_CHALLENGED] = (struct counter){ 40, 2800 };
	all[3].in.by[KIND_GETINFO][REASON_CACHED_KNOWN] = (struct counter){ 6, 420 };
	all[3].out.by[KIND_NETCHAN][REASON_PLAYER] = (struct counter){ 20, 4000 };
	all[3].out.by[KIND_STATUSRESPONSE][REASON_AMPLIFICATION] =
		(struct counter){ 4, 4000 };
	service(&all[4], "ff");

	assert_ptr_equal(stats_rates_match(&before, &now.services[1]), &all[0]);
	assert_null(stats_rates_match(&before, &now.services[0]));
	assert_null(stats_rates_match(&before, &now.services[2]));

	stats_rates_service(&now.services[1], &all[0], 2, &rates);
	assert_true(rates.packets[VERDICT_DROP] == 100);
	assert_true(rates.packets[VERDICT_PASS] == 25);
	/* What is asked for proof of address got no answer. */
	assert_true(rates.packets[VERDICT_RESPOND] == 3);
	assert_true(rates.challenged == 20);
	assert_true(rates.bytes_in == 10110);
	assert_true(rates.sent == 10);
	assert_true(rates.withheld == 2);
	assert_true(rates.bytes_out == 2000);

	/* Observed, it withholds nothing; verdicts on what it receives count. */
	all[3].service.observe = 1;
	stats_rates_service(&now.services[1], &all[0], 2, &rates);
	assert_true(rates.packets[VERDICT_DROP] == 100);
	assert_true(rates.sent == 12);
	assert_true(rates.withheld == 0);
	assert_true(rates.bytes_out == 4000);

	stats_rates_total(&now, &before, 2, &rates);
	assert_true(rates.packets[VERDICT_DROP] == 100);
	assert_true(rates.packets[VERDICT_PASS] == 25);
	assert_true(rates.packets[VERDICT_RESPOND] == 3);
	assert_true(rates.challenged == 20);
	free(all);
}

static json_t *history_parse(const struct history *h)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *root;

	assert_non_null(out);
	assert_int_equal(history_json(h, out), 0);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

/* A ring: the oldest go, the order stays, and points have as many columns as said. */
static void history_is_a_ring(void **state)
{
	static struct history h;
	static const size_t counts[] = {
		0, 1, 2, HISTORY_POINTS, HISTORY_POINTS + 7, 3 * HISTORY_POINTS + 1
	};

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		size_t kept = counts[i] < HISTORY_POINTS ? counts[i] : HISTORY_POINTS;
		json_t *root, *points, *point;
		size_t at;

		memset(&h, 0, sizeof(h));
		for (size_t n = 0; n < counts[i]; n++) {
			struct stats_rates rates = { .packets = { [VERDICT_DROP] =
									  n + 0.5 },
						     .challenged = n + 1.5 };

			history_add(&h, (time_t)(1000 + 2 * n), &rates, n % 5);
		}
		root = history_parse(&h);
		points = json_object_get(root, "points");
		assert_int_equal(json_array_size(points), kept);
		json_array_foreach (points, at, point) {
			size_t n = counts[i] - kept + at;

			assert_int_equal(
				json_array_size(point),
				json_array_size(json_object_get(root, "columns")));
			assert_int_equal(json_integer_value(json_array_get(point, 0)),
					 1000 + 2 * n);
			assert_true(json_real_value(json_array_get(point, 3)) == n + 0.5);
			assert_int_equal(json_integer_value(json_array_get(point, 8)),
					 n % 5);
			assert_true(json_number_value(json_array_get(point, 9)) ==
				    n + 1.5);
		}
		json_decref(root);
	}
}

static void timer_lists(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "Timer List Version: v0.9\nnow at 5000000000 nsecs\n\ncpu: 0\n"
		  " active timers:\n  .idle_jiffies   : 7\njiffies: 4294893546\n\n"
		  "cpu: 1\njiffies: 1\n",
		  true },
		{ "now at 5000000000 nsecs\n", false },
		{ "jiffies: 4294893546\n", false },
		{ "now at nsecs\njiffies: x\n", false },
		{ "\n", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		FILE *list = tmpfile();
		__u64 now = 1, jiffies = 2;

		assert_non_null(list);
		fputs(rows[i].text, list);
		rewind(list);
		assert_int_equal(shield_clock_read_list(list, &now, &jiffies),
				 rows[i].good);
		assert_int_equal(now, rows[i].good ? 5000000000 : 1);
		assert_int_equal(jiffies, rows[i].good ? 4294893546 : 2);
		fclose(list);
	}
}

/* INITIAL_JIFFIES of linux/jiffies.h, at 250 and 1000 Hz. */
static void assumed_clock(void **state)
{
	(void)state;
	assert_int_equal(shield_clock_assumed(0, 4000000),
			 (4294967296 - 75000) * 4000000);
	assert_int_equal(shield_clock_assumed(8000001, 4000000),
			 (4294967296 - 75000) * 4000000 + 8000001);
	assert_int_equal(shield_clock_assumed(0, 1000000),
			 (4294967296 - 300000) * 1000000);
	/* 300 Hz: 3333333 ns */
	assert_int_equal(shield_clock_assumed(0, 3333333),
			 (4294967296 - 90000) * 3333333);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_grow),
		cmocka_unit_test(services_are_matched_by_name),
		cmocka_unit_test(history_is_a_ring),
		cmocka_unit_test(timer_lists),
		cmocka_unit_test(assumed_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
