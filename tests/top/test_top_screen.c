// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_top_screen.c - the terminal of `top`: what keys become, when it looks, what
 * becomes of messages meanwhile, and the one screen of --once. The terminal is a pty, and
 * time passes when somebody waits; model and drawing are the test's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <curses.h>

#include "stderr.h"
#include "top/top.h"

#define COUNT(a)  (sizeof(a) / sizeof(*(a)))
#define LOOKS	  8
#define ROWS_THEN 17 /* what the drawing said of its room */

static struct top *top;
static int master; /* of the pty; -1: hung up */
static __s64 now_ns;

/* What happened. */
static struct {
	int keys[32];
	size_t key_count, draws;
	bool rows_told;
	bool other_waits; /* for anything but keys */
	__s64 looks[LOOKS];
	size_t look_count;
	int waited[64];
	size_t wait_count;
	unsigned int slept_us;
	int lines, columns;
	char troubles[LOOKS][160]; /* as the drawing found them */
} seen;

/* What is to happen: at a look, or at a wait. */
static struct {
	const char *type_at_look[LOOKS + 1], *type_at_wait[64];
	const char *say_at_look[LOOKS + 1]; /* to stderr, and the look fails */
	const char *trouble_at_look[LOOKS + 1];
	size_t hang_up_at_look;
	const char *drawn[4]; /* in the lines 0, 2, of the last but one and the last */
} plan;

/* --- time ----------------------------------------------------------------------------
 */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	ret->tv_sec = now_ns / 1000000000;
	ret->tv_nsec = now_ns % 1000000000;
	return 0;
}

static void type(const char *keys)
{
	if (keys && write(master, keys, strlen(keys)) < 0)
		abort();
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct timespec none = { 0, 0 };
	const struct pollfd *at = fds;
	long n;

	/* Its declaration says that poll() does not read there, which it does. */
	__asm__("" : "+r"(at));
	if (timeout > 0)
		seen.other_waits |=
			count != 1 || at->fd != STDIN_FILENO || at->events != POLLIN;
	if (timeout > 0 && seen.wait_count < COUNT(seen.waited)) {
		type(plan.type_at_wait[seen.wait_count]);
		seen.waited[seen.wait_count++] = timeout;
	}
	n = syscall(SYS_ppoll, fds, count, &none, NULL, 0);
	if (!n && timeout > 0)
		now_ns += timeout * 1000000ll;
	return (int)n;
}

int usleep(useconds_t us)
{
	seen.slept_us += us;
	now_ns += us * 1000ll;
	return 0;
}

/* --- model and drawing
 * ------------------------------------------------------------------
 */

size_t top_draw(const struct top *t)
{
	const int places[] = { 0, 2, LINES - 2, LINES - 1 };

	if (seen.draws < LOOKS)
		memcpy(seen.troubles[seen.draws], t->trouble, sizeof(t->trouble));
	seen.draws++;
	seen.lines = LINES;
	seen.columns = COLS;
	erase();
	for (size_t i = 0; i < COUNT(places); i++)
		if (plan.drawn[i])
			mvaddstr(places[i], 0, plan.drawn[i]);
	refresh();
	return ROWS_THEN;
}

bool top_key(struct top *t, int key, size_t page_rows)
{
	if (seen.key_count < COUNT(seen.keys))
		seen.keys[seen.key_count++] = key;
	seen.rows_told &= page_rows == ROWS_THEN;
	if (key == ' ')
		t->paused = !t->paused;
	return key != 'q';
}

static bool look(struct top *t, __s64 at_ns, void *context)
{
	size_t n = seen.look_count;

	*t->trouble = 0;
	if (context != &plan || n >= LOOKS) {
		type("q");
		return true;
	}
	seen.looks[seen.look_count++] = at_ns;
	type(plan.type_at_look[n]);
	if (plan.hang_up_at_look == n + 1) {
		close(master);
		master = -1;
	}
	if (plan.trouble_at_look[n])
		strcpy(t->trouble, plan.trouble_at_look[n]);
	if (!plan.say_at_look[n])
		return true;
	fputs(plan.say_at_look[n], stderr);
	return false;
}

/* --- running ---------------------------------------------------------------------------
 */

static int begin(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	memset(&plan, 0, sizeof(plan));
	seen.rows_told = true;
	now_ns = 5000000000;
	top_coloured = false;
	top = calloc(1, sizeof(*top));
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("LINES");
	unsetenv("COLUMNS");
	alarm(20); /* whoever does not end must not hold the others up */
	return top ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	alarm(0);
	free(top);
	return 0;
}

/* A pty in the place of stdin and stdout. */
static int run(void)
{
	int saved[2] = { dup(0), dup(1) }, slave, ret;

	fflush(stdout);
	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	dup2(slave, 0);
	dup2(slave, 1);
	ret = top_run(top, look, &plan);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	close(slave);
	if (master >= 0)
		close(master);
	return ret;
}

/* top_once() with stdout in @ret. */
static int once(char *ret, size_t size)
{
	int saved = dup(1), err;
	FILE *out = tmpfile();

	assert_non_null(out);
	fflush(stdout);
	dup2(fileno(out), 1);
	err = top_once(top, look, &plan);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(out);
	ret[fread(ret, 1, size - 1, out)] = 0;
	fclose(out);
	return err;
}

/* --- the terminal
 * --------------------------------------------------------------------------
 */

static void keys_are_what_was_typed(void **state)
{
	static const int keys[] = {
		TOP_KEY_UP, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, 0, 'x', 'q',
	};

	(void)state;
	plan.type_at_look[0] = "\033OA\033OB\033[5~\033[6~\033OPxq";
	assert_int_equal(run(), 0);
	assert_int_equal(seen.key_count, COUNT(keys));
	assert_memory_equal(seen.keys, keys, sizeof(keys));
	assert_true(seen.rows_told);
	assert_false(seen.other_waits);
	assert_int_equal(seen.look_count, 1);
	/* At once, and again at each key but the last. */
	assert_int_equal(seen.draws, COUNT(keys));
}

static void it_looks_once_a_second(void **state)
{
	(void)state;
	plan.type_at_look[3] = "q";
	plan.type_at_wait[1] = "x"; /* a key is no reason to look */
	assert_int_equal(run(), 0);
	assert_int_equal(seen.look_count, 4);
	for (int i = 1; i < 4; i++) {
		__s64 between = seen.looks[i] - seen.looks[i - 1];

		assert_in_range(between, 1000000000, 1005000000);
	}
	assert_int_equal(seen.draws, 5);
	assert_int_equal(seen.key_count, 2);
}

/* Then the terminal is all that it waits for, and keys are heard. */
static void a_pause_looks_no_more(void **state)
{
	(void)state;
	plan.type_at_look[0] = " ";
	plan.type_at_wait[8] = "x";
	plan.type_at_wait[20] = " ";
	plan.type_at_look[1] = "q";
	assert_int_equal(run(), 0);
	assert_int_equal(seen.look_count, 2);
	assert_in_range(seen.wait_count, 20, 24);
	assert_int_equal(seen.key_count, 4);
	assert_int_equal(seen.draws, 5); /* nothing else changes what is shown */
	for (size_t i = 1; i < 20; i++)
		assert_int_equal(seen.waited[i], 1000);
}

static void a_terminal_that_goes_ends_it(void **state)
{
	(void)state;
	plan.hang_up_at_look = 2;
	assert_int_equal(run(), 0);
	assert_int_equal(seen.look_count, 2);
	assert_int_equal(seen.key_count, 0);
}

/* Kept from the screen: the first line of what was said since the last look. */
static void messages_are_kept_from_the_screen(void **state)
{
	char said[256];

	(void)state;
	plan.say_at_look[0] = "first, which is long\nsecond\n";
	plan.say_at_look[1] = "short\n";
	plan.trouble_at_look[2] = "not loaded";
	plan.say_at_look[3] = "";
	plan.type_at_look[4] = "q";
	stderr_catch();
	assert_int_equal(run(), 0);
	fputs("and again\n", stderr);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, "and again\n");
	assert_string_equal(seen.troubles[0], "first, which is long");
	assert_string_equal(seen.troubles[1], "short");
	assert_string_equal(seen.troubles[2], "not loaded");
	assert_string_equal(seen.troubles[3], "");
	assert_string_equal(seen.troubles[4], "");
}

static void colours_are_where_they_are_wanted(void **state)
{
	static const struct {
		const char *term, *unwanted;
		bool coloured;
	} rows[] = {
		{ "xterm", NULL, true },
		{ "xterm", "", true },
		{ "xterm", "1", false },
		{ "vt100", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
		setenv("TERM", rows[i].term, 1);
		if (rows[i].unwanted)
			setenv("NO_COLOR", rows[i].unwanted, 1);
		plan.type_at_look[0] = "q";
		assert_int_equal(run(), 0);
		assert_int_equal(top_coloured, rows[i].coloured);
	}
}

/* It could draw nothing there, or everything below one another. */
static void a_terminal_without_a_cursor_is_refused(void **state)
{
	char said[256];

	(void)state;
	setenv("TERM", "dumb", 1);
	plan.type_at_look[0] = "q";
	stderr_catch();
	assert_int_equal(run(), -ENOTTY);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'dumb' has no cursor to place: use --once"));
	assert_int_equal(seen.draws, 0);
}

/* In a process of its own: what curses had begun it never lets go of. */
static void no_terminal_is_said(void **state)
{
	char said[256];
	int status;
	pid_t pid;

	(void)state;
	setenv("TERM", "no-such", 1);
	stderr_catch();
	pid = fork();
	if (!pid)
		_exit(run() != -ENOTTY || seen.look_count);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	stderr_release(said, sizeof(said));
	assert_int_equal(status, 0);
	assert_non_null(strstr(said, "no such terminal: 'no-such' (set TERM)"));
}

/* --- one screen as text
 * -----------------------------------------------------------------------
 */

static void once_is_the_screen_without_its_keys(void **state)
{
	char out[8192];

	(void)state;
	plan.drawn[0] = "first";
	plan.drawn[1] = "  third  x   ";
	plan.drawn[3] = "q quits";
	assert_int_equal(once(out, sizeof(out)), 0);
	assert_string_equal(out, "first\n\n  third  x\n");
	assert_int_equal(seen.look_count, 2);
	assert_int_equal(seen.looks[1] - seen.looks[0], 1000000000);
	assert_int_equal(seen.slept_us, 1000000);
	assert_int_equal(seen.draws, 1);
	assert_int_equal(seen.lines, 60);
	assert_int_equal(seen.columns, 80);
}

static void once_is_as_large_as_was_said(void **state)
{
	char out[8192];

	(void)state;
	setenv("LINES", "5", 1);
	setenv("COLUMNS", "132", 1);
	plan.drawn[1] = "2";
	plan.drawn[2] = "3";
	plan.drawn[3] = "4";
	assert_int_equal(once(out, sizeof(out)), 0);
	assert_string_equal(out, "\n\n2\n3\n");
	assert_int_equal(seen.lines, 5);
	assert_int_equal(seen.columns, 132);
}

static void once_says_what_is_wrong(void **state)
{
	static const struct {
		size_t at; /* which look */
		const char *say, *trouble;
		int err;
		const char *said;
	} rows[] = {
		{ 0, "broken\n", NULL, -EIO, "broken\n" },
		{ 1, "broken\n", NULL, -EIO, "broken\n" },
		{ 0, NULL, "not loaded", -ENOENT, "top: not loaded\n" },
		{ 1, NULL, "not loaded", -ENOENT, "top: not loaded\n" },
	};
	char out[8192], said[256];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
		plan.say_at_look[rows[i].at] = rows[i].say;
		plan.trouble_at_look[rows[i].at] = rows[i].trouble;
		stderr_catch();
		assert_int_equal(once(out, sizeof(out)), rows[i].err);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(said, rows[i].said));
		assert_string_equal(out, "");
		assert_int_equal(seen.draws, 0);
		assert_int_equal(seen.look_count, rows[i].at + 1);
		assert_int_equal(seen.slept_us, rows[i].at * 1000000);
	}
}

static void a_full_disk_is_said(void **state)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), saved = dup(1), err;
	char said[256];

	(void)state;
	if (full < 0) {
		print_message("skipped: no /dev/full here\n");
		skip();
	}
	fflush(stdout);
	dup2(full, 1);
	stderr_catch();
	err = top_once(top, look, &plan);
	stderr_release(said, sizeof(said));
	dup2(saved, 1);
	clearerr(stdout);
	close(saved);
	close(full);
	assert_int_equal(err, -ENOSPC);
	assert_non_null(strstr(said, "top: cannot write: No space left on device"));
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_are_what_was_typed),
		TEST(it_looks_once_a_second),
		TEST(a_pause_looks_no_more),
		TEST(a_terminal_that_goes_ends_it),
		TEST(messages_are_kept_from_the_screen),
		TEST(colours_are_where_they_are_wanted),
		TEST(a_terminal_without_a_cursor_is_refused),
		TEST(no_terminal_is_said),
		TEST(once_is_the_screen_without_its_keys),
		TEST(once_is_as_large_as_was_said),
		TEST(once_says_what_is_wrong),
		TEST(a_full_disk_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
