// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_cmd_top.c - what `top` looks at once a second, and what it says where it cannot.
 * The shield, the files of the daemon and the screen are the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cmd/commands.h"
#include "cmd/fake_in_force.h"
#include "daemon/pidfile.h"
#include "incident/incident_now.h"
#include "shield/shield.h"
#include "stderr.h"
#include "top/top.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PIN	 "/sys/fs/bpf/lab"

static struct {
	bool terminal[2]; /* stdin, stdout */
	int open_err, stats_err, screen_err;
	int figures_err;
	__s64 figures_age_ns;
} plan;

static struct {
	int opened, closed, screens, onces;
	bool collected; /* what collect() returned */
	__s64 asked_ms; /* the time that attacks were asked for */
	bool has_figures, has_attacks;
	size_t players;
	char trouble[160];
	int daemon;
	__u64 clock_ns;
	__s64 fed_ns;
} seen;

/* No other command has a part in it. */
const struct command commands[] = { { 0 } };

static __s64 wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* --- what is looked at ----------------------------------------------------------------
 */

int isatty(int fd)
{
	return fd < 2 ? plan.terminal[fd] : 0;
}

int shield_open(const char *pin_dir, struct shield **ret)
{
	assert_string_equal(pin_dir, PIN);
	*ret = NULL;
	if (!plan.open_err)
		seen.opened++;
	return plan.open_err;
}

void shield_close(struct shield *shield)
{
	(void)shield;
	seen.closed++;
}

int shield_players(const struct shield *shield,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	struct player player = { .since_ns = 1 };

	(void)shield;
	for (__u16 i = 0; i < 3; i++) {
		struct player_key key = { .port = i };

		each(&key, &player, context);
	}
	return 0;
}

__u64 shield_clock(void)
{
	return 4711;
}

int stats_collect(const struct shield *shield, struct stats *ret)
{
	(void)shield;
	memset(ret, 0, sizeof(*ret));
	return plan.stats_err;
}

void stats_free(struct stats *s)
{
	memset(s, 0, sizeof(*s));
}

pid_t pidfile_pid(const char *pin_dir)
{
	assert_string_equal(pin_dir, PIN);
	return 99;
}

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	assert_string_equal(pin_dir, PIN);
	strcpy(ret, "the figures");
}

int lag_file_read(const char *path, struct lag_file **ret)
{
	assert_string_equal(path, "the figures");
	if (plan.figures_err)
		return plan.figures_err;
	*ret = calloc(1, sizeof(**ret));
	assert_non_null(*ret);
	(*ret)->time_ns = wall_ns() - plan.figures_age_ns;
	return 0;
}

void incident_now_path(const char *pin_dir, char *ret)
{
	assert_string_equal(pin_dir, PIN);
	strcpy(ret, "the attacks");
}

json_t *incident_now_read(const char *path, int64_t now_ms)
{
	assert_string_equal(path, "the attacks");
	seen.asked_ms = now_ms;
	return json_array();
}

/* --- the screen
 * ---------------------------------------------------------------------------
 */

/* Twice: what one look has left must not be in the way of the next. */
static void look(struct top *top, top_collect *collect, void *context)
{
	for (int i = 0; i < 2; i++)
		seen.collected = collect(top, 1000 + i, context);
	seen.has_figures = top->figures;
	seen.has_attacks = top->attacks;
	seen.players = top->player_count;
	seen.daemon = top->daemon;
	seen.clock_ns = top->clock_ns;
	seen.fed_ns = top->now_ns;
	memcpy(seen.trouble, top->trouble, sizeof(seen.trouble));
}

int top_run(struct top *top, top_collect *collect, void *context)
{
	seen.screens++;
	look(top, collect, context);
	return plan.screen_err;
}

int top_once(struct top *top, top_collect *collect, void *context)
{
	seen.onces++;
	look(top, collect, context);
	return plan.screen_err;
}

static int begin(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	memset(&plan, 0, sizeof(plan));
	plan.terminal[0] = plan.terminal[1] = true;
	return 0;
}

/* The exit status of `top --pin PIN`, with --once or without. */
static int run_top(bool once)
{
	char dir[] = PIN;
	struct given given[] = {
		{ .option = OPTION_PIN, .value = dir },
		{ .option = OPTION_ONCE },
	};
	struct call call = { .given = given, .given_count = once ? 2 : 1 };

	return cmd_top(&call);
}

/* --- tests
 * ------------------------------------------------------------------------------- */

static void a_look_has_all_that_there_is(void **state)
{
	(void)state;
	assert_int_equal(run_top(false), 0);
	assert_int_equal(seen.screens, 1);
	assert_int_equal(seen.onces, 0);
	assert_true(seen.collected);
	assert_string_equal(seen.trouble, "");
	assert_int_equal(seen.daemon, 99);
	assert_int_equal(seen.players, 3);
	assert_int_equal(seen.clock_ns, 4711);
	assert_int_equal(seen.fed_ns, 1001);
	assert_true(seen.has_figures && seen.has_attacks);
	/* Once before the screen, once for each look. */
	assert_int_equal(seen.opened, 3);
	assert_int_equal(seen.closed, 3);
	/* In milliseconds, with those of the second. */
	assert_in_range(wall_ns() / 1000000 - seen.asked_ms, 0, 300);
}

static void old_figures_are_nobodys(void **state)
{
	static const struct {
		__s64 age_ns;
		int err;
		bool kept;
	} rows[] = {
		{ 0, 0, true },
		{ 4500000000, 0, true },
		{ 5500000000, 0, false },
		{ -4500000000, 0, true },
		{ -5500000000, 0, false },
		{ 0, -ENOENT, false },
		{ 0, -EBADMSG, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(NULL);
		plan.figures_age_ns = rows[i].age_ns;
		plan.figures_err = rows[i].err;
		assert_int_equal(run_top(true), 0);
		assert_int_equal(seen.has_figures, rows[i].kept);
	}
}

/* That nothing is loaded may change; all else is an end, or is shown. */
static void nothing_loaded_is_looked_for_again(void **state)
{
	(void)state;
	plan.open_err = -ENOENT;
	assert_int_equal(run_top(false), 0);
	assert_int_equal(seen.screens, 1);
	assert_true(seen.collected);
	assert_string_equal(seen.trouble, "nothing is loaded: start `quakeshield run`");
	assert_int_equal(seen.daemon, 99);
	assert_int_equal(seen.closed, 0);

	begin(NULL);
	plan.stats_err = -EIO;
	assert_int_equal(run_top(false), 0);
	assert_false(seen.collected);
	assert_string_equal(seen.trouble, "");
	assert_int_equal(seen.players, 0);
	assert_int_equal(seen.opened, seen.closed);

	begin(NULL);
	plan.stats_err = -EIO;
	assert_int_equal(run_top(true), 0);
	assert_false(seen.collected);
	assert_string_equal(seen.trouble, "");
}

static void statuses_say_what_was_wrong(void **state)
{
	static const struct {
		bool once;
		int open_err, screen_err, status, screens;
	} rows[] = {
		{ false, -EPERM, 0, EXIT_DENIED, 0 },
		{ false, -EIO, 0, EXIT_REST, 0 },
		{ false, -ENOENT, 0, 0, 1 },
		{ false, 0, -ENOTTY, EXIT_REST, 1 },
		{ true, 0, 0, 0, 1 },
		{ true, 0, -ENOENT, EXIT_NOT_LOADED, 1 },
		{ true, 0, -EIO, EXIT_REST, 1 },
		{ true, 0, -EPERM, EXIT_DENIED, 1 },
		{ true, -EPERM, 0, EXIT_DENIED, 0 },
		{ true, -ENOENT, -ENOENT, EXIT_NOT_LOADED, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(NULL);
		plan.open_err = rows[i].open_err;
		plan.screen_err = rows[i].screen_err;
		assert_int_equal(run_top(rows[i].once), rows[i].status);
		assert_int_equal(seen.screens, rows[i].once ? 0 : rows[i].screens);
		assert_int_equal(seen.onces, rows[i].once ? rows[i].screens : 0);
	}
}

static void a_screen_needs_a_terminal_at_both_ends(void **state)
{
	char said[256];

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(NULL);
		plan.terminal[0] = i == 1;
		plan.terminal[1] = i == 2;
		stderr_catch();
		assert_int_equal(run_top(false), EXIT_REST);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(said, "needs a terminal, or --once"));
		assert_int_equal(seen.screens + seen.opened, 0);
		assert_int_equal(run_top(true), 0);
		assert_int_equal(seen.onces, 1);
	}
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_look_has_all_that_there_is),
		TEST(old_figures_are_nobodys),
		TEST(nothing_loaded_is_looked_for_again),
		TEST(statuses_say_what_was_wrong),
		TEST(a_screen_needs_a_terminal_at_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
