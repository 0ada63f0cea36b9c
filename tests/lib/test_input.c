// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plain and gzip files, whole and broken off; and those that are not there.
 */
#include <errno.h>
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
	FILE *file = input_open(name, prefix, sizeof(prefix), &n);

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

static void absent(void **state)
{
	uint8_t prefix[4];
	size_t n;

	(void)state;
	assert_null(input_open("/nonexistent/file", prefix, sizeof(prefix), &n));
	assert_int_equal(errno, ENOENT);
	assert_null(input_open("/tmp", prefix, sizeof(prefix), &n));
	assert_int_equal(errno, EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(packed),
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
