// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `stats`, whole: what it reads, the shield's counters or the history of the last day, in
 * which form it prints them, and its exit status. The counters and the history are this
 * file's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>

#include "cmd/cmd_print.h"
#include "cmd/cmd_support.h"
#include "cmd/commands.h"
#include "cmd/fake_in_force.h"
#include "lag/lag_file.h"
#include "stats/day.h"
#include "stats/stats.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PIN	 "/sys/fs/bpf/lab"

const struct command commands[] = {
	{
		.name = "stats",
		.run = cmd_stats,
		.options = OPTION_BIT(HISTORY) | OPTION_BIT(JSON) | OPTION_BIT(PIN),
		.operands = "",
	},
	{ .name = NULL },
};

static struct {
	int open_status; /* of call_open() */
	int collect_err, write_err;
	bool decoded; /* the daemon has written its figures */
} now;

static struct {
	int opened, closed, collected, freed;
	__s64 decoded_ns; /* the time as of which the figures were read */
} seen;

int call_open(const struct call *call, struct shield **ret)
{
	(void)call;
	*ret = NULL;
	seen.opened += !now.open_status;
	return now.open_status;
}

void shield_close(struct shield *shield)
{
	(void)shield;
	seen.closed++;
}

int stats_collect(const struct shield *shield, struct stats *ret)
{
	(void)shield;
	if (now.collect_err)
		return now.collect_err;
	memset(ret, 0, sizeof(*ret));
	ret->generation = 17;
	seen.collected++;
	return 0;
}

void stats_free(struct stats *stats)
{
	assert_int_equal(stats->generation, 17);
	seen.freed++;
}

int stats_json(const struct stats *stats, const json_t *decoded, FILE *out)
{
	assert_int_equal(stats->generation, 17);
	fprintf(out, "as JSON, %s\n", decoded ? json_string_value(decoded) : "nothing");
	return now.write_err;
}

int stats_text(const struct stats *stats, FILE *out)
{
	assert_int_equal(stats->generation, 17);
	fprintf(out, "as text\n");
	return now.write_err;
}

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	snprintf(ret, LAG_FILE_PATH_MAX, "figures of %s", pin_dir ? pin_dir : "default");
}

json_t *lag_file_read_decoded(const char *path, int64_t now_ns)
{
	seen.decoded_ns = now_ns;
	return now.decoded ? json_string(path) : NULL;
}

void day_load(struct day *d, const char *pin, time_t time_now)
{
	snprintf(d->path, sizeof(d->path), "%s", pin ? pin : "default");
	d->count = time_now >= time(NULL) - 60 && time_now <= time(NULL);
}

int day_json(const struct day *d, FILE *out)
{
	fprintf(out, "JSON of %s%s\n", d->path, d->count ? "" : ", at another time");
	return now.write_err;
}

int day_text(const struct day *d, FILE *out)
{
	fprintf(out, "text of %s%s\n", d->path, d->count ? "" : ", at another time");
	return now.write_err;
}

static int begin(void **state)
{
	(void)state;
	memset(&now, 0, sizeof(now));
	memset(&seen, 0, sizeof(seen));
	return 0;
}

/* Fail unless the command ends with @status and prints exactly @out and @err. */
static void shows(const char *words, int status, const char *out, const char *err)
{
	int was = say(words);

	if (was != status || strcmp(said_out, out) != 0 || strcmp(said_err, err) != 0)
		fail_msg("'%s': %d, \"%s\", \"%s\"", words, was, said_out, said_err);
	assert_int_equal(seen.opened, seen.closed);
}

static void a_shield_that_cannot_be_opened_gives_the_status(void **state)
{
	static const char *const words[] = { "stats", "stats --json" };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		now.open_status = EXIT_NOT_LOADED;
		shows(words[i], EXIT_NOT_LOADED, "", "");
		now.open_status = EXIT_DENIED;
		shows(words[i], EXIT_DENIED, "", "");
	}
	assert_int_equal(seen.closed, 0);
}

/* As the command does: time() lags behind by up to a tick. */
static __s64 real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void stats_prints_counters_in_one_form(void **state)
{
	__s64 from;

	(void)state;
	shows("stats", 0, "as text\n", "");
	shows("stats --json", 0, "as JSON, nothing\n", "");
	now.decoded = true;
	shows("stats --json", 0, "as JSON, figures of default\n", "");
	from = real_ns();
	shows("stats --json --pin " PIN, 0, "as JSON, figures of " PIN "\n", "");
	assert_in_range(seen.decoded_ns, from, real_ns());
	/* A time of whole seconds would show as such each time. */
	for (int i = 0; i < 3 && !(seen.decoded_ns % 1000000000); i++)
		say("stats --json");
	assert_true(seen.decoded_ns % 1000000000);
	assert_int_equal(seen.collected, seen.freed);
	assert_int_equal(seen.opened, seen.closed);
}

static void a_failure_is_reported_once(void **state)
{
	(void)state;
	now.collect_err = -EPERM;
	shows("stats", EXIT_DENIED, "", "");
	now.collect_err = -EIO;
	shows("stats --json", EXIT_REST, "", "");
	assert_int_equal(seen.freed, 0);
	now.collect_err = 0;
	now.write_err = -EIO;
	shows("stats", EXIT_REST, "as text\n",
	      "quakeshield: stats: cannot write: Input/output error\n");
	shows("stats --json", EXIT_REST, "as JSON, nothing\n",
	      "quakeshield: stats: cannot write: Input/output error\n");
	assert_int_equal(seen.freed, 2);
}

/* The history of the last day is a file: the shield may be absent. */
static void history_needs_no_shield(void **state)
{
	(void)state;
	now.open_status = EXIT_NOT_LOADED;
	shows("stats --history", 0, "text of default\n", "");
	shows("stats --history --pin " PIN, 0, "text of " PIN "\n", "");
	shows("stats --history --json", 0, "JSON of default\n", "");
	shows("stats --json --history --pin " PIN, 0, "JSON of " PIN "\n", "");
	now.write_err = -ENOSPC;
	shows("stats --history", EXIT_REST, "text of default\n",
	      "quakeshield: stats: cannot write: No space left on device\n");
	now.write_err = -EACCES;
	shows("stats --history --json", EXIT_DENIED, "JSON of default\n",
	      "quakeshield: stats: cannot write: Permission denied\n");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_shield_that_cannot_be_opened_gives_the_status),
		TEST(stats_prints_counters_in_one_form),
		TEST(a_failure_is_reported_once),
		TEST(history_needs_no_shield),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
