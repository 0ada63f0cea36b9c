// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_day.c - a day's history: its minutes, its file, and what a restart finds of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stats/day.h"
#include "stderr.h"

#define NOON 1795348800 /* a whole minute */

static char directory[] = "/tmp/test_day.XXXXXX";
static struct day day;

static int make_directory(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("STATE_DIRECTORY", directory, 1);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(day.path);
	return rmdir(directory);
}

static int begin(void **state)
{
	(void)state;
	day_load(&day, NULL, NOON);
	unlink(day.path);
	day_load(&day, NULL, NOON);
	assert_int_equal(day.count, 0);
	return 0;
}

static void look(time_t time, double dropped, size_t players)
{
	struct stats_rates rates = {
		.packets = { [VERDICT_PASS] = 10, [VERDICT_DROP] = dropped },
		.challenged = 2 * dropped,
		.bytes_in = 1000
	};

	day_add(&day, time, &rates, players);
}

static json_t *as_json(void)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *ret;

	assert_non_null(out);
	assert_int_equal(day_json(&day, out), 0);
	fclose(out);
	ret = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(ret);
	assert_int_equal(json_array_size(json_object_get(ret, "columns")), DAY_COLUMNS);
	return ret;
}

static double at(const json_t *json, size_t point, enum day_column column)
{
	return json_number_value(json_array_get(
		json_array_get(json_object_get(json, "points"), point), column));
}

static void a_minute_is_a_mean_and_a_height(void **state)
{
	json_t *json;

	(void)state;
	look(NOON, 0, 3);
	look(NOON + 20, 9000, 7);
	look(NOON + 59, 0, 5);
	assert_int_equal(day.count, 0); /* it is not over */
	look(NOON + 60, 1, 1);
	assert_int_equal(day.count, 1);
	json = as_json();
	assert_true(at(json, 0, DAY_TIME) == NOON);
	assert_true(at(json, 0, DAY_PASSED) == 10);
	assert_true(at(json, 0, DAY_DROPPED) == 3000);
	assert_true(at(json, 0, DAY_DROPPED_MOST) == 9000);
	assert_true(at(json, 0, DAY_BYTES_IN) == 1000);
	assert_true(at(json, 0, DAY_PLAYERS) == 7);
	assert_true(at(json, 0, DAY_CHALLENGED) == 6000);
	json_decref(json);
}

static void a_restart_finds_it(void **state)
{
	json_t *json;

	(void)state;
	for (int minute = 0; minute < 10; minute++)
		look(NOON + 60 * minute, minute * 100, 2);
	day_load(&day, NULL, NOON + 600);
	assert_int_equal(day.count, 9);
	json = as_json();
	assert_true(at(json, 8, DAY_DROPPED) == 800);
	assert_true(at(json, 8, DAY_CHALLENGED) == 1600);
	json_decref(json);
	/* What is older than a day, or from a clock that was wrong, is not. */
	day_load(&day, NULL, NOON + DAY_SECONDS + 239);
	assert_int_equal(day.count, 5);
	day_load(&day, NULL, NOON - 3600);
	assert_int_equal(day.count, 0);
}

/* An older version wrote no such column, and a day goes on over an upgrade. */
static void a_line_of_an_older_version(void **state)
{
	json_t *json;
	FILE *file;

	(void)state;
	look(NOON, 1, 1);
	look(NOON + 60, 2, 1);
	file = fopen(day.path, "a");
	assert_non_null(file);
	fprintf(file, "[%d,1.0,2.0,3.0,4.0,5.0,6.0,7]\n", NOON + 60);
	fclose(file);
	day_load(&day, NULL, NOON + 300);
	assert_int_equal(day.count, 2);
	json = as_json();
	assert_true(at(json, 0, DAY_CHALLENGED) == 2);
	assert_true(at(json, 1, DAY_PLAYERS) == 7);
	assert_true(at(json, 1, DAY_CHALLENGED) == 0);
	json_decref(json);
}

static void torn_and_strange_lines(void **state)
{
	FILE *file;

	(void)state;
	look(NOON, 1, 1);
	look(NOON + 60, 2, 1);
	file = fopen(day.path, "a");
	assert_non_null(file);
	fputs("{}\n[1,2]\n[\"a\",1,1,1,1,1,1,1]\n[1795348860,1.0,0", file);
	fclose(file);
	look(NOON + 120, 3, 1); /* on a line of its own */
	day_load(&day, NULL, NOON + 300);
	assert_int_equal(day.count, 2);
}

static void it_stays_within_a_day_and_its_file(void **state)
{
	char line[512];
	size_t lines = 0;
	FILE *file;

	(void)state;
	for (int minute = 0; minute < 5 * DAY_POINTS; minute++)
		look(NOON + 60 * minute, 1, 1);
	assert_int_equal(day.count, DAY_POINTS);
	file = fopen(day.path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		lines++;
	fclose(file);
	assert_in_range(lines, DAY_POINTS, 2 * DAY_POINTS);
	day_load(&day, NULL, NOON + 60 * 5 * DAY_POINTS);
	assert_in_range(day.count, DAY_POINTS - 2, DAY_POINTS);
}

/* How much is in the file, and does its last line end? */
static long size_of_file(bool *ret_ends)
{
	FILE *file = fopen(day.path, "r");
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, -1, SEEK_END), 0);
	*ret_ends = fgetc(file) == '\n';
	size = ftell(file);
	fclose(file);
	return size;
}

/* Of what is written again, its last octet: all the rest has been taken by then. */
static void a_disk_that_is_full_at_the_end(void **state)
{
	struct rlimit had, less;
	char said[1024], fresh[DAY_PATH + 8];
	int minute = 0;
	bool ends;
	long size;

	(void)state;
	while (day.lines < 2 * DAY_POINTS)
		look(NOON + 60 * minute++, 1, 1);
	size = size_of_file(&ends);
	assert_true(ends);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &had), 0);
	less = had;
	less.rlim_cur = (rlim_t)size / 2 - 1;
	stderr_catch();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	look(NOON + 60 * minute++, 1, 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &had), 0);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot keep history in"));
	assert_non_null(strstr(said, strerror(EFBIG)));
	/* What was there is there. */
	assert_int_equal(size_of_file(&ends), size);
	snprintf(fresh, sizeof(fresh), "%s.new", day.path);
	assert_int_not_equal(access(fresh, F_OK), 0);
	/* The next minute finds room. */
	look(NOON + 60 * minute, 1, 1);
	assert_int_equal(size_of_file(&ends), size / 2);
	assert_true(ends);
	assert_false(day.failed);
}

static void a_clock_that_goes_back(void **state)
{
	json_t *json;

	(void)state;
	for (int minute = 0; minute < 5; minute++)
		look(NOON + 60 * minute, 1, 1);
	for (int minute = 0; minute < 4; minute++)
		look(NOON - 3600 + 60 * minute, 1, 1);
	json = as_json();
	for (size_t i = 1; i < day.count; i++)
		assert_true(at(json, i, DAY_TIME) > at(json, i - 1, DAY_TIME));
	assert_int_equal(day.count, 3);
	json_decref(json);
}

static void step_back_keeps_what_lies_before(void **state)
{
	static const int minutes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9, 10 };
	json_t *json;

	(void)state;
	for (size_t i = 0; i < sizeof(minutes) / sizeof(*minutes); i++)
		look(NOON + 60 * minutes[i], (double)i, 1);
	json = as_json();
	assert_int_equal(json_array_size(json_object_get(json, "points")), 10);
	assert_true(at(json, 0, DAY_TIME) == NOON);
	assert_true(at(json, 6, DAY_DROPPED) == 6);
	assert_true(at(json, 7, DAY_TIME) == NOON + 420);
	assert_true(at(json, 7, DAY_DROPPED) == 10);
	json_decref(json);
	day_load(&day, NULL, NOON + 600);
	assert_int_equal(day.count, 10);
}

/* Points from before are no part of the day, until the clock is put back. */
static void step_forward_shows_one_day(void **state)
{
	json_t *json;

	(void)state;
	for (int minute = 0; minute < 10; minute++)
		look(NOON + 60 * minute, 1, 1);
	for (int minute = 0; minute < 3; minute++)
		look(NOON + 2 * DAY_SECONDS + 60 * minute, 1, 1);
	json = as_json();
	assert_int_equal(json_array_size(json_object_get(json, "points")), 2);
	assert_true(at(json, 0, DAY_TIME) == NOON + 2 * DAY_SECONDS);
	json_decref(json);
	for (int minute = 10; minute < 12; minute++)
		look(NOON + 60 * minute, 1, 1);
	json = as_json();
	assert_int_equal(json_array_size(json_object_get(json, "points")), 11);
	json_decref(json);
}

/* Said once; what is in memory stays. */
static void a_name_that_is_too_long(void **state)
{
	char deep[600] = "/", said[1024];

	(void)state;
	memset(deep + 1, 'd', sizeof(deep) - 2);
	setenv("STATE_DIRECTORY", deep, 1);
	stderr_catch();
	day_load(&day, NULL, NOON);
	for (int minute = 0; minute < 3; minute++)
		look(NOON + 60 * minute, 1, 1);
	stderr_release(said, sizeof(said));
	setenv("STATE_DIRECTORY", directory, 1);
	assert_string_equal(said, "quakeshield: warning: history is not kept: the path "
				  "would be too long (STATE_DIRECTORY, --pin)\n");
	assert_string_equal(day.path, "");
	assert_int_equal(day.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_minute_is_a_mean_and_a_height, begin),
		cmocka_unit_test_setup(a_restart_finds_it, begin),
		cmocka_unit_test_setup(a_line_of_an_older_version, begin),
		cmocka_unit_test_setup(torn_and_strange_lines, begin),
		cmocka_unit_test_setup(it_stays_within_a_day_and_its_file, begin),
		cmocka_unit_test_setup(a_disk_that_is_full_at_the_end, begin),
		cmocka_unit_test_setup(a_clock_that_goes_back, begin),
		cmocka_unit_test_setup(step_back_keeps_what_lies_before, begin),
		cmocka_unit_test_setup(step_forward_shows_one_day, begin),
		cmocka_unit_test_setup(a_name_that_is_too_long, begin),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
