// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_spool.c - what a command is to be told of: in order, bounded, and in a directory
 * that is missing, full, a link, or has what is not ours in it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/spool.h"

static char root[] = "/tmp/test_spool.XXXXXX";
static char dir[64], name[SPOOL_NAME];

static bool no_memory; /* for fdopendir() */

DIR *fdopendir(int fd)
{
	DIR *(*open)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");

	if (!no_memory)
		return open(fd);
	errno = ENOMEM;
	return NULL;
}

static void sweep(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s/run", root);
	assert_int_equal(system(command), 0);
}

static int make_root(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(dir, sizeof(dir), "%s/run/on-attack", root);
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	sweep();
	return rmdir(root);
}

static int begin(void **state)
{
	(void)state;
	sweep();
	return 0;
}

static int put(const char *as, const char *text)
{
	json_t *object = json_pack("{s:s}", "id", text);
	int err = spool_put(dir, as, object);

	json_decref(object);
	return err;
}

/* The name of the file, its age set to @seconds. */
static const char *file(const char *as, int seconds)
{
	static char path[128];
	struct timespec times[2] = { 0 };

	snprintf(path, sizeof(path), "%s/%s", dir, as);
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= seconds;
	times[0] = times[1];
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
	return path;
}

static void expect(const char *as, const char *text)
{
	char found[256] = { 0 };
	int fd = spool_take(dir, NULL, NULL, name);

	assert_true(fd >= 0);
	assert_string_equal(name, as);
	assert_true(read(fd, found, sizeof(found) - 1) > 0);
	close(fd);
	assert_string_equal(found, text);
}

static void what_is_put_is_taken_once(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(spool_take(dir, NULL, NULL, name), -ENOENT); /* no directory */
	assert_int_equal(put("a.start", "x"), 0);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(file("a.start.json", 0), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	expect("a.start.json", "{\"id\":\"x\"}\n");
	assert_int_equal(spool_take(dir, NULL, NULL, name), -ENOENT);
}

static void the_oldest_goes_first(void **state)
{
	(void)state;
	put("c.start", "1");
	put("a.start", "3");
	put("b.start", "2");
	file("c.start.json", 9);
	file("b.start.json", 8);
	file("a.start.json", 7);
	expect("c.start.json", "{\"id\":\"1\"}\n");
	expect("b.start.json", "{\"id\":\"2\"}\n");
	expect("a.start.json", "{\"id\":\"3\"}\n");
}

/* Two of one second: a start, and its end right behind it. */
static void also_within_a_second(void **state)
{
	static const char *const names[] = { "b.start", "c.start", "a.start" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

		put(names[i], "x");
		snprintf(path, sizeof(path), "%s/%s.json", dir, names[i]);
		times[1].tv_nsec = (long)(i + 1) * 100000000;
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s.json", names[i]);
		expect(path, "{\"id\":\"x\"}\n");
	}
}

static bool is_of_a(const void *context, const char *what)
{
	(void)context;
	return *what == 'a';
}

static void who_waits_is_passed_over(void **state)
{
	int fd;

	(void)state;
	put("a.end", "1");
	put("b.start", "2");
	file("a.end.json", 9);
	fd = spool_take(dir, is_of_a, NULL, name);
	assert_true(fd >= 0);
	close(fd);
	assert_string_equal(name, "b.start.json");
	assert_int_equal(spool_take(dir, is_of_a, NULL, name), -ENOENT);
	expect("a.end.json", "{\"id\":\"1\"}\n");
}

static void so_many_and_no_more(void **state)
{
	(void)state;
	for (int i = 0; i < SPOOL_MAX; i++) {
		char as[16];

		snprintf(as, sizeof(as), "%d.start", i);
		assert_int_equal(put(as, "x"), 0);
	}
	assert_int_equal(put("late.start", "x"), -EDQUOT);
	assert_int_equal(spool_discard(dir), SPOOL_MAX);
	assert_int_equal(put("late.start", "x"), 0);
}

static void what_is_too_long_is_not_put(void **state)
{
	char text[SPOOL_BYTES];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(put("a.start", text), -EMSGSIZE);
	assert_int_equal(spool_discard(dir), 0);
	text[sizeof(text) - 11] = 0; /* {"id":""} and a line's end more */
	assert_int_equal(put("a.start", text), 0);
}

/* A disk that is full has written a part; that is not there, and why is said. */
static void a_full_disk_leaves_no_half(void **state)
{
	struct rlimit before, none = { 0 };
	char path[128];
	int err;

	(void)state;
	put("a.start", "x");
	assert_int_equal(spool_discard(dir), 1);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	err = put("a.start", "x");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	snprintf(path, sizeof(path), "%s/.a.start.new", dir);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(spool_discard(dir), 0);
}

/* Where the directory, or a file in it, points somewhere else, nobody follows. */
static void links_are_not_followed(void **state)
{
	char other[64], path[128];

	(void)state;
	put("a.start", "x");
	snprintf(other, sizeof(other), "%s/run/other", root);
	assert_int_equal(rename(dir, other), 0);
	assert_int_equal(symlink(other, dir), 0);
	assert_int_equal(put("b.start", "x"), -ENOTDIR);
	assert_int_equal(spool_take(dir, NULL, NULL, name), -ENOTDIR);
	assert_int_equal(spool_discard(dir), 0);
	assert_false(spool_is_stale(dir));
	assert_int_equal(unlink(dir), 0);
	assert_int_equal(rename(other, dir), 0);
	snprintf(path, sizeof(path), "%s/0.json", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/1.json", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect("a.start.json", "{\"id\":\"x\"}\n");
	assert_int_equal(spool_take(dir, NULL, NULL, name), -ENOENT);
}

/* What the daemon is still writing, and what is none of ours. */
static void other_names_are_let_alone(void **state)
{
	char path[128];
	FILE *other;

	(void)state;
	put("a.start", "x");
	snprintf(path, sizeof(path), "%s/.b.start.new", dir);
	other = fopen(path, "w");
	assert_non_null(other);
	fclose(other);
	snprintf(path, sizeof(path), "%s/.json", dir);
	other = fopen(path, "w");
	assert_non_null(other);
	fclose(other);
	assert_int_equal(spool_discard(dir), 1);
	assert_int_equal(access(path, F_OK), 0);
}

static void nobody_takes_it(void **state)
{
	(void)state;
	assert_false(spool_is_stale(dir));
	put("a.start", "x");
	file("a.start.json", SPOOL_PATIENCE - 2);
	assert_false(spool_is_stale(dir));
	file("a.start.json", SPOOL_PATIENCE + 1);
	assert_true(spool_is_stale(dir));
	file("a.start.json", -3600); /* the clock was set back */
	assert_false(spool_is_stale(dir));
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The daemon looks for months: a descriptor lost each time ends it. */
static void a_directory_that_cannot_be_read_costs_no_descriptor(void **state)
{
	int before = descriptors();

	(void)state;
	assert_int_equal(put("a.start", "x"), 0);
	no_memory = true;
	assert_false(spool_is_stale(dir));
	assert_int_equal(spool_take(dir, NULL, NULL, name), -ENOENT);
	no_memory = false;
	assert_int_equal(descriptors(), before);
	close(spool_take(dir, NULL, NULL, name));
	assert_string_equal(name, "a.start.json");
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, begin)
	const struct CMUnitTest tests[] = {
		T(what_is_put_is_taken_once),
		T(the_oldest_goes_first),
		T(also_within_a_second),
		T(who_waits_is_passed_over),
		T(so_many_and_no_more),
		T(what_is_too_long_is_not_put),
		T(a_full_disk_leaves_no_half),
		T(links_are_not_followed),
		T(other_names_are_let_alone),
		T(nobody_takes_it),
		T(a_directory_that_cannot_be_read_costs_no_descriptor),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
