// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_sinks.c - each way to write where output goes, what stands in its place
 * beforehand, what is said then, and what a reader of each sort gets; and messages as
 * long as a line has room for.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "fuzz/held_text.h"
#include "lib/log.h"
#include "lib/sink.h"
#include "lib/util.h"
#include "stderr.h"

static char root[] = "/tmp/test_held_sinks.XXXXXX";

/* What is said between the two, with nothing of this directory's name. */
static void said(char *text, size_t size)
{
	char *at;

	stderr_release(text, size);
	while ((at = strstr(text, root)))
		memmove(at, at + strlen(root), strlen(at + strlen(root)) + 1);
	held_printf("says: %zu %.200s%s", strlen(text), text, *text ? "" : "\n");
}

static void node_put(const char *name)
{
	struct stat st;

	if (lstat(name, &st))
		held_printf("%s: none\n", name);
	else
		held_printf("%s: %o, %lld bytes\n", name, st.st_mode,
			    S_ISREG(st.st_mode) ? (long long)st.st_size : 0);
}

static void stats_put(const struct sink *s)
{
	struct sink_stats t;

	sink_stats(s, &t);
	held_printf(
		"pieces %llu bytes %llu dropped %llu unheard %llu readers %u waits %d fd %d\n",
		(unsigned long long)t.pieces, (unsigned long long)t.bytes,
		(unsigned long long)t.dropped, (unsigned long long)t.no_reader, t.readers,
		sink_waits(s), sink_fd(s) >= 0);
}

static void place(const char *name, mode_t mode)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	switch (mode) {
	case S_IFREG:
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, "before", 6), 6);
		close(fd);
		break;
	case S_IFIFO:
		assert_int_equal(mkfifo(name, 0600), 0);
		break;
	case S_IFDIR:
		assert_int_equal(mkdir(name, 0700), 0);
		break;
	case S_IFSOCK:
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		strcpy(at.sun_path, name);
		assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
		close(fd);
		break;
	default:
		break;
	}
}

static void targets(void **state)
{
	static const mode_t before[] = { 0, S_IFREG, S_IFIFO, S_IFDIR, S_IFSOCK };
	static const char *const ways[] = { "%s/x",	 "|%s/x",      "unix:%s/x",
					    "unix@%s/x", "unix%s/x",   "||%s/x",
					    "%s/none/x", "|%s/none/x", "unix:%s/none/x",
					    "|",	 "",	       "unix:" };
	char target[128], text[1024];

	(void)state;
	held_begin();
	for (size_t w = 0; w < ARRAY_SIZE(ways); w++) {
		for (size_t b = 0; b < ARRAY_SIZE(before); b++) {
			struct sink *s = NULL;
			int err;

			place("x", before[b]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(target, sizeof(target), ways[w], root);
#pragma GCC diagnostic pop
			stderr_catch();
			err = sink_open(target, "head", 4, &s);
			held_printf("%s over %o: %d\n", ways[w], before[b], err);
			said(text, sizeof(text));
			if (!err) {
				stats_put(s);
				sink_put(s, "piece", 5);
				stats_put(s);
				sink_pump(s);
				stats_put(s);
				node_put("x");
				stderr_catch();
				sink_reopen(s);
				sink_close(s);
				said(text, sizeof(text));
			}
			node_put("x");
			if (unlink("x"))
				rmdir("x");
		}
	}
	for (size_t n = 105; n <= 109; n++) {
		struct sink *s = NULL;

		memcpy(target, "unix:", 5);
		memset(target + 5, 's', n);
		target[5 + n] = 0;
		stderr_catch();
		held_printf("a name of %zu: %d\n", n, sink_open(target, NULL, 0, &s));
		said(text, sizeof(text));
		sink_close(s);
	}
	sink_close(NULL);
	held_end("tests/lib/held_targets.txt");
}

/* --- readers -------------------------------------------------------------------------
 */

static int reader_of(bool fifo)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "x" };
	int fd;

	if (fifo)
		return open("x", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return connect(fd, (struct sockaddr *)&at, sizeof(at)) ? -1 : fd;
}

static void read_put(int fd)
{
	char text[64];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n < 0)
		held_printf("  error %d\n", errno == EAGAIN ? 1 : 2);
	else
		held_printf("  %zd '%.*s'\n", n, (int)n, text);
}

/* More come than there is room for, some leave, and others take their places. */
static void readers(void **state)
{
	(void)state;
	held_begin();
	for (int fifo = 0; fifo < 2; fifo++) {
		char target[64];
		int fds[SINK_READERS + 2];
		struct sink *s;

		snprintf(target, sizeof(target), "%s%s/x", fifo ? "|" : "unix:", root);
		assert_int_equal(sink_open(target, "head;", 5, &s), 0);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
			fds[i] = fifo && i ? -1 : reader_of(fifo);
		sink_put(s, "first;", 6);
		stats_put(s);
		sink_pump(s);
		stats_put(s);
		sink_put(s, "second;", 7);
		sink_pump(s);
		stats_put(s);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
			read_put(fds[i]);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i += 3)
			if (fds[i] >= 0)
				close(fds[i]);
		sink_put(s, "third;", 6);
		stats_put(s);
		sink_pump(s);
		stats_put(s);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i += 3)
			fds[i] = fifo && i ? -1 : reader_of(fifo);
		sink_pump(s);
		stats_put(s);
		sink_put(s, "fourth;", 7);
		sink_pump(s);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
			read_put(fds[i]);
		stats_put(s);
		sink_reopen(s);
		sink_put(s, "last;", 5);
		sink_close(s);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
			read_put(fds[i]);
			if (fds[i] >= 0)
				close(fds[i]);
		}
		node_put("x");
		unlink("x");
	}
	held_end("tests/lib/held_readers.txt");
}

/* A buffer has room for so much, and no piece is torn. */
static void rooms(void **state)
{
	static char piece[SINK_BUFFER + 1];
	char target[64], text[1024];
	struct sink *s;

	(void)state;
	memset(piece, 'p', sizeof(piece));
	held_begin();
	/* Nothing can be written: all waits. */
	snprintf(target, sizeof(target), "/dev/full");
	assert_int_equal(sink_open(target, "head", 4, &s), 0);
	for (int i = 0; i < 6; i++) {
		static const size_t sizes[] = {
			SINK_BUFFER + 1, SINK_BUFFER - 4, 1, 1000, 0, SINK_BUFFER - 5
		};

		stderr_catch();
		sink_put(s, piece, sizes[i]);
		sink_pump(s);
		said(text, sizeof(text));
		stats_put(s);
	}
	stderr_catch();
	sink_close(s);
	said(text, sizeof(text));
	/* A file takes all, however often it has been moved away. */
	snprintf(target, sizeof(target), "%s/x", root);
	assert_int_equal(sink_open(target, "head", 4, &s), 0);
	for (int i = 0; i < 5; i++) {
		sink_put(s, piece, 300000 + (size_t)i);
		stats_put(s);
		if (i % 2)
			continue;
		rename("x", "y");
		sink_reopen(s);
		stats_put(s);
		node_put("x");
		node_put("y");
	}
	sink_close(s);
	node_put("x");
	unlink("x");
	unlink("y");
	held_end("tests/lib/held_rooms.txt");
}

/* --- messages ------------------------------------------------------------------------
 */

static void messages(void **state)
{
	static char text[9000], got[20000];

	(void)state;
	held_begin();
	for (int verbose = 0; verbose < 2; verbose++) {
		stderr_catch();
		log_info("info %d\n\x1b", verbose);
		log_warn("warn\n%s", "\xc3\xa9\x85\t");
		log_error("error %s\n", "x");
		log_plain("plain\n%s\x01", "y");
		log_at("path", 0, false, "me\nssage");
		log_at("path", 7, true, "message");
		log_at("path", 7, false, "message");
		log_at("path", 0, true, "message");
		stderr_release(got, sizeof(got));
		held_printf("%s", got);
		log_verbose();
	}
	for (size_t n = 1021; n <= 1025; n++) {
		memset(text, 'e', n);
		text[n] = 0;
		stderr_catch();
		log_error("%s", text);
		said(got, sizeof(got));
	}
	for (size_t n = 8189; n <= 8193; n++) {
		memset(text, 'p', n);
		text[n] = 0;
		stderr_catch();
		log_plain("%s", text);
		said(got, sizeof(got));
	}
	held_end("tests/lib/held_messages.txt");
}

static int begin(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	unsetenv("JOURNAL_STREAM");
	return mkdtemp(root) && !chdir(root) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return chdir("/") || rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets),
		cmocka_unit_test(readers),
		cmocka_unit_test(rooms),
		cmocka_unit_test(messages),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
