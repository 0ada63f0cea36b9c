// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plain and gzip files, whole and broken off; and those that are not there.
 */
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "decode/decode_support.h"
#include "lib/input.h"

#define SIZE 300000

static uint8_t content[SIZE];
static char name[] = "/tmp/test_input.XXXXXX";

static size_t read_all(FILE *file, uint8_t *to)
{
	size_t n = fread(to, 1, SIZE, file);

	fclose(file);
	return n;
}

static void check(size_t expected)
{
	static uint8_t got[SIZE];
	uint8_t prefix[1000];
	size_t n = 0;
	FILE *file = input_open(name, NULL, prefix, sizeof(prefix), &n);

	assert_non_null(file);
	assert_int_equal(n, sizeof(prefix));
	assert_memory_equal(prefix, content, sizeof(prefix));
	n = read_all(file, got);
	assert_true(expected ? n == expected : n < SIZE);
	assert_memory_equal(got, content, n);
}

static void plain(void **state)
{
	FILE *file = fopen(name, "wb");

	(void)state;
	assert_non_null(file);
	assert_int_equal(fwrite(content, 1, SIZE, file), SIZE);
	fclose(file);
	check(SIZE);
}

static void packed(void **state)
{
	gzFile file = gzopen(name, "wb");
	FILE *whole;
	long size;

	(void)state;
	assert_non_null(file);
	assert_int_equal(gzwrite(file, content, SIZE), SIZE);
	assert_int_equal(gzclose(file), Z_OK);
	check(SIZE);
	whole = fopen(name, "rb");
	assert_non_null(whole);
	fseek(whole, 0, SEEK_END);
	size = ftell(whole);
	fclose(whole);
	assert_int_equal(truncate(name, size / 2), 0);
	check(0);
}

static unsigned int waited;
static int go; /* a byte into it lets the child of through_pipe() write a part */

static void on_wait(void *context)
{
	assert_ptr_equal(context, &waited);
	if (!waited++)
		assert_int_equal(write(go, "", 1), 1);
}

/* Wait for a byte from @fd, but no longer than two seconds. */
static void await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	if (poll(&p, 1, 2000) == 1 && read(fd, &byte, 1) != 1)
		_exit(1);
}

static bool enough(const uint8_t *bytes, size_t n)
{
	(void)bytes;
	return n >= 4;
}

/*
 * Through a pipe: a child writes @bytes, the first part once the reader waits, and the
 * rest once the file is open.
 */
static void through_pipe(const uint8_t *bytes, size_t n, bool whole)
{
	const struct input_how how = { enough, on_wait, &waited };
	static uint8_t got[SIZE];
	uint8_t prefix[1000];
	size_t had = 0, size;
	int ends[2], signals[2], kept;
	FILE *file;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(signals), 0);
	go = signals[1];
	child = fork();
	if (!child) {
		await(signals[0]);
		if (write(ends[1], bytes, 100) != 100)
			_exit(1);
		await(signals[0]);
		for (size_t at = 100; at < n;) {
			ssize_t put = write(ends[1], bytes + at, n - at);

			if (put <= 0)
				_exit(1);
			at += (size_t)put;
		}
		_exit(0);
	}
	close(ends[1]);
	kept = dup(STDIN_FILENO);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	waited = 0;
	file = input_open("-", &how, prefix, sizeof(prefix), &had);
	assert_non_null(file);
	assert_int_equal(write(go, "", 1), 1);
	/* What came first is enough: the rest is not waited for. */
	assert_in_range(had, 4, 999);
	assert_memory_equal(prefix, content, had);
	size = fread(got, 1, SIZE, file);
	assert_int_equal(ferror(file) != 0, !whole);
	assert_true(whole ? size == SIZE : size < SIZE);
	assert_memory_equal(got, content, size);
	assert_true(waited >= 1);
	fclose(file);
	dup2(kept, STDIN_FILENO);
	close(kept);
	waitpid(child, NULL, 0);
	close(signals[0]);
	close(signals[1]);
}

static void piped(void **state)
{
	static uint8_t bytes[2 * SIZE];
	gzFile gz = gzopen(name, "wb");
	FILE *file;
	size_t n;

	(void)state;
	through_pipe(content, SIZE, true);
	assert_int_equal(gzwrite(gz, content, SIZE), SIZE);
	assert_int_equal(gzclose(gz), Z_OK);
	file = fopen(name, "rb");
	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	through_pipe(bytes, n, true);
	through_pipe(bytes, n / 2, false);
}

static void absent(void **state)
{
	uint8_t prefix[4];
	size_t n;

	(void)state;
	assert_null(input_open("/nonexistent/file", NULL, prefix, sizeof(prefix), &n));
	assert_int_equal(errno, ENOENT);
	assert_null(input_open("/tmp", NULL, prefix, sizeof(prefix), &n));
	assert_int_equal(errno, EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(packed),
		cmocka_unit_test(piped),
		cmocka_unit_test(absent),
	};
	uint32_t random = 1;
	int failed, fd = mkstemp(name);

	if (fd < 0)
		return 1;
	close(fd);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(name);
	return failed;
}
