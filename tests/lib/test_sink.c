// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_sink.c - files that move away, readers that come, go and dawdle: whole pieces for
 * everyone, no waiting, and nothing missing that was not counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/sink.h"
#include "stderr.h"

#define PIECE 1000 /* bytes; the last is a line's end */

static char directory[] = "/tmp/test_sink.XXXXXX";

/* "<prefix><directory>/<name>" */
static const char *target(const char *prefix, const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s%s/%s", prefix, directory, name);
	return text;
}

static struct sink *opened(const char *where, const char *preamble)
{
	struct sink *s;

	assert_int_equal(sink_open(where, preamble, strlen(preamble), &s), 0);
	return s;
}

static void put(struct sink *s, const char *text)
{
	sink_put(s, text, strlen(text));
}

/* Piece number @n: its number, dots, a line's end. */
static void put_piece(struct sink *s, unsigned int n)
{
	char piece[PIECE + 1];

	memset(piece, '.', PIECE);
	snprintf(piece, sizeof(piece), "%08u", n);
	piece[8] = '.';
	piece[PIECE - 1] = '\n';
	sink_put(s, piece, PIECE);
}

/* All that can be read now. */
static size_t read_all(int fd, char *to, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size && (n = read(fd, to + used, size - used)) > 0)
		used += (size_t)n;
	return used;
}

static void file_holds(const char *path, const char *expected)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	read_all(fd, text, sizeof(text) - 1);
	close(fd);
	assert_string_equal(text, expected);
}

static struct sink_stats stats_of(const struct sink *s)
{
	struct sink_stats stats;

	sink_stats(s, &stats);
	return stats;
}

static void file_is_appended_to_and_rotated(void **state)
{
	char path[128], moved[140];
	struct sink *s;

	(void)state;
	snprintf(path, sizeof(path), "%s", target("", "file"));
	snprintf(moved, sizeof(moved), "%s.1", path);
	s = opened(path, "head\n");
	put(s, "one\n");
	sink_close(s);
	s = opened(path, "head\n");
	put(s, "two\n");
	assert_int_equal(rename(path, moved), 0);
	sink_reopen(s);
	put(s, "three\n");
	sink_pump(s);
	file_holds(moved, "head\none\nhead\ntwo\n");
	file_holds(path, "head\nthree\n");
	assert_int_equal(stats_of(s).pieces, 2);
	assert_int_equal(stats_of(s).dropped, 0);
	sink_close(s);
	unlink(path);
	unlink(moved);
}

static int fifo_reader(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	assert_true(fd >= 0);
	return fd;
}

static void fifo_readers_come_and_go(void **state)
{
	char path[128], text[64] = "";
	struct sink *s;
	int fd;

	(void)state;
	s = opened(target("|", "fifo"), "head\n");
	snprintf(path, sizeof(path), "%s", target("", "fifo"));
	put(s, "nobody\n");
	assert_int_equal(stats_of(s).no_reader, 1);
	fd = fifo_reader(path);
	sink_pump(s);
	put(s, "one\n");
	sink_pump(s);
	read_all(fd, text, sizeof(text) - 1);
	assert_string_equal(text, "head\none\n");
	close(fd);
	put(s, "two\n");
	sink_pump(s);
	assert_int_equal(stats_of(s).dropped, 1);
	assert_int_equal(stats_of(s).readers, 0);
	fd = fifo_reader(path);
	sink_pump(s);
	put(s, "three\n");
	sink_pump(s);
	memset(text, 0, sizeof(text));
	read_all(fd, text, sizeof(text) - 1);
	assert_string_equal(text, "head\nthree\n");
	close(fd);
	sink_close(s);
	unlink(path);
}

/* What a dawdler gets are whole pieces in order; what it does not get was counted. */
static void slow_reader_misses_whole_pieces(void **state)
{
	enum {
		PIECES = 4000
	};
	char *text = malloc((size_t)PIECES * PIECE);
	size_t used = 0, more;
	unsigned int last = 0;
	char path[128];
	struct sink *s;
	int fd;

	(void)state;
	assert_non_null(text);
	s = opened(target("|", "slow"), "");
	snprintf(path, sizeof(path), "%s", target("", "slow"));
	fd = fifo_reader(path);
	sink_pump(s);
	for (unsigned int i = 1; i <= PIECES; i++)
		put_piece(s, i);
	do {
		sink_pump(s);
		more = read_all(fd, text + used, (size_t)PIECES * PIECE - used);
		used += more;
	} while (more);
	assert_int_equal(used % PIECE, 0);
	for (size_t at = 0; at < used; at += PIECE) {
		unsigned int n = (unsigned int)strtoul(text + at, NULL, 10);

		assert_true(n > last && n <= PIECES);
		assert_int_equal(text[at + PIECE - 1], '\n');
		last = n;
	}
	assert_true(used / PIECE >= SINK_BUFFER / PIECE);
	assert_true(stats_of(s).dropped > 0);
	assert_int_equal(used / PIECE + stats_of(s).dropped, PIECES);
	close(fd);
	sink_close(s);
	unlink(path);
	free(text);
}

static int socket_reader(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	strcpy(to.sun_path, path);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void socket_serves_many(void **state)
{
	char path[128], text[SINK_READERS + 1][64] = { 0 };
	int fd[SINK_READERS + 1];
	struct sink *s;

	(void)state;
	s = opened(target("unix:", "socket"), "head\n");
	snprintf(path, sizeof(path), "%s", target("", "socket"));
	for (size_t i = 0; i < SINK_READERS; i++)
		fd[i] = socket_reader(path);
	sink_pump(s);
	assert_int_equal(stats_of(s).readers, SINK_READERS);
	fd[SINK_READERS] = socket_reader(path);
	sink_pump(s);
	put(s, "one\n");
	close(fd[0]);
	sink_pump(s);
	assert_int_equal(stats_of(s).readers, SINK_READERS - 1);
	for (size_t i = 1; i <= SINK_READERS; i++) {
		read_all(fd[i], text[i], sizeof(text[i]) - 1);
		/* One too many is turned away, with nothing. */
		assert_string_equal(text[i], i < SINK_READERS ? "head\none\n" : "");
		close(fd[i]);
	}
	sink_close(s);
	assert_int_equal(access(path, F_OK), -1);
}

static bool told(const struct sink *s)
{
	struct pollfd at = { .fd = sink_fd(s), .events = POLLIN };

	return poll(&at, 1, 0) == 1;
}

/* Between two readers of a FIFO nothing need be written for it to be noticed. */
static void fifo_begins_anew(void **state)
{
	const char *path;
	char text[64] = "";
	struct sink *s;
	int fd;

	(void)state;
	s = opened(target("|", "anew"), "head\n");
	assert_false(told(s));
	path = target("", "anew");
	fd = open(path, O_RDONLY | O_NONBLOCK);
	sink_pump(s);
	assert_false(told(s));
	close(fd);
	assert_true(told(s));
	sink_pump(s);
	assert_false(told(s));
	fd = open(path, O_RDONLY | O_NONBLOCK);
	sink_pump(s);
	put(s, "one\n");
	sink_pump(s);
	read_all(fd, text, sizeof(text) - 1);
	assert_string_equal(text, "head\none\n");
	close(fd);
	sink_close(s);
	unlink(path);
}

/* Who comes, leaves or speaks is told once; who is idle is not asked. */
static void comings_and_goings_are_told(void **state)
{
	struct sink *s, *file;
	int fd;

	(void)state;
	file = opened(target("", "told"), "head\n");
	assert_int_equal(sink_fd(file), -1);
	assert_true(sink_waits(file));
	sink_pump(file);
	assert_false(sink_waits(file));
	sink_close(file);
	unlink(target("", "told"));

	s = opened(target("unix:", "told.socket"), "");
	assert_false(told(s));
	fd = socket_reader(target("", "told.socket"));
	assert_true(told(s));
	sink_pump(s);
	assert_false(told(s));
	assert_int_equal(stats_of(s).readers, 1);
	put(s, "one\n");
	assert_true(sink_waits(s));
	sink_pump(s);
	assert_false(sink_waits(s) || told(s));
	assert_int_equal(write(fd, "?", 1), 1);
	assert_true(told(s));
	sink_pump(s);
	assert_false(told(s));
	close(fd);
	assert_true(told(s));
	sink_pump(s);
	assert_false(told(s));
	assert_int_equal(stats_of(s).readers, 0);
	sink_close(s);
}

/* The daemon's next life takes the name over; its last breath must not take it away. */
static void socket_name_is_taken_over(void **state)
{
	char path[128], text[64] = "";
	struct sink *old, *fresh;
	int fd;

	(void)state;
	old = opened(target("unix:", "again"), "");
	fresh = opened(target("unix:", "again"), "");
	sink_close(old);
	snprintf(path, sizeof(path), "%s", target("", "again"));
	fd = socket_reader(path);
	sink_pump(fresh);
	put(fresh, "one\n");
	sink_pump(fresh);
	read_all(fd, text, sizeof(text) - 1);
	assert_string_equal(text, "one\n");
	close(fd);
	sink_close(fresh);
}

static void what_cannot_be_opened(void **state)
{
	static const struct {
		const char *target;
		const char *said; /* part of it */
	} rows[] = {
		{ "/nonexistent/file", "cannot open '/nonexistent/file': No such file" },
		{ "|/nonexistent/fifo",
		  "cannot open '|/nonexistent/fifo': No such file" },
		{ "unix:/nonexistent/s",
		  "cannot open 'unix:/nonexistent/s': No such file" },
		{ "|/dev/null", "cannot open '|/dev/null': there is something else" },
		{ "unix:/dev/null", "cannot open 'unix:/dev/null': Address already" },
		/* Without a name it would be found by nobody. */
		{ "unix:", "cannot open 'unix:': Invalid argument" },
		{ "|", "cannot open '|': Invalid argument" },
		{ "", "cannot open '': Invalid argument" },
	};
	char said[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sink *s;

		stderr_catch();
		assert_true(sink_open(rows[i].target, NULL, 0, &s) < 0);
		stderr_release(said, sizeof(said));
		assert_non_null(strstr(said, rows[i].said));
	}
}

/*
 * What does not fit is not begun: the file ends with a whole piece, and goes on with one
 * when there is room again.
 */
static void a_full_disk_tears_nothing(void **state)
{
	struct rlimit before, small;
	char path[128], said[256];
	struct stat st;
	struct sink *s;

	(void)state;
	snprintf(path, sizeof(path), "%s", target("", "full"));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = PIECE + 10; /* of which what is said goes into a file, too */
	signal(SIGXFSZ, SIG_IGN);
	s = opened(path, "");
	put_piece(s, 1);
	sink_pump(s);
	stderr_catch();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	put(s, "second\n");
	put(s, "third\n");
	sink_pump(s);
	sink_pump(s);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot write to '"));
	assert_null(strstr(strstr(said, "cannot") + 1, "cannot")); /* once */
	assert_int_equal(st.st_size, PIECE);
	sink_pump(s);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, PIECE + strlen("second\nthird\n"));
	assert_int_equal(stats_of(s).dropped, 0);
	sink_close(s);
	unlink(path);
	signal(SIGXFSZ, SIG_DFL);
}

static int enter(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return mkdtemp(directory) ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_is_appended_to_and_rotated),
		cmocka_unit_test(fifo_readers_come_and_go),
		cmocka_unit_test(slow_reader_misses_whole_pieces),
		cmocka_unit_test(socket_serves_many),
		cmocka_unit_test(fifo_begins_anew),
		cmocka_unit_test(comings_and_goings_are_told),
		cmocka_unit_test(socket_name_is_taken_over),
		cmocka_unit_test(what_cannot_be_opened),
		cmocka_unit_test(a_full_disk_tears_nothing),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
