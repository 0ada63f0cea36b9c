// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_zip.c - files out of archives that minizip has written: stored and deflated, empty
 * ones, directories, names for no terminal, damage at each byte.
 */
#include <errno.h>
#include <minizip/zip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/zip.h"

#define PREFIX	 16
#define END_SIZE 22 /* of the record at an archive's end */

static char path[] = "/tmp/test_zip.XXXXXX";
static char large[20000];

static void put(zipFile to, const char *name, const char *bytes, size_t n, int level)
{
	assert_int_equal(zipOpenNewFileInZip(to, name, NULL, NULL, 0, NULL, 0, NULL,
					     level ? Z_DEFLATED : 0, level),
			 ZIP_OK);
	assert_int_equal(zipWriteInFileInZip(to, bytes, (unsigned int)n), ZIP_OK);
	assert_int_equal(zipCloseFileInZip(to), ZIP_OK);
}

static void archive_write(void)
{
	zipFile to = zipOpen64(path, APPEND_STATUS_CREATE);

	assert_non_null(to);
	put(to, "stored", "as it is", 8, 0);
	put(to, "d/", "", 0, 0);
	put(to, "d/deflated", large, sizeof(large), 6);
	put(to, "empty", "", 0, 0);
	put(to, "b\ne\x1bl\x7f", "x", 1, 0);
	assert_int_equal(zipClose(to, NULL), ZIP_OK);
}

static void expect(struct zip *zip, const char *name, const char *bytes, size_t n)
{
	static char got[sizeof(large) + 1];
	uint8_t prefix[PREFIX];
	const char *is;
	size_t prefix_n;
	FILE *file;

	assert_int_equal(zip_next(zip, &is), 1);
	assert_string_equal(is, name);
	file = zip_file(zip, prefix, sizeof(prefix), &prefix_n);
	assert_non_null(file);
	assert_int_equal(prefix_n, n < PREFIX ? n : PREFIX);
	assert_memory_equal(prefix, bytes, prefix_n);
	assert_int_equal(fread(got, 1, sizeof(got), file), n);
	assert_memory_equal(got, bytes, n);
	assert_true(feof(file) && !ferror(file));
	assert_int_equal(fread(got, 1, sizeof(got), file), 0);
	assert_false(ferror(file));
	fclose(file);
}

static void files_in_their_order(void **state)
{
	const char *name;
	struct zip *zip;

	(void)state;
	archive_write();
	zip = zip_open(path);
	assert_non_null(zip);
	expect(zip, "stored", "as it is", 8);
	expect(zip, "d/deflated", large, sizeof(large));
	expect(zip, "empty", "", 0);
	expect(zip, "b?e?l?", "x", 1);
	assert_int_equal(zip_next(zip, &name), 0);
	zip_close(zip);
}

static void archives_by_their_first_bytes(void **state)
{
	(void)state;
	assert_true(zip_recognise((const uint8_t *)"PK\3\4", 4));
	assert_true(zip_recognise((const uint8_t *)"PK\5\6", 4));
	assert_false(zip_recognise((const uint8_t *)"PK\3\4", 3));
	assert_false(zip_recognise((const uint8_t *)"PK\3\5", 4));
	assert_null(zip_open("/nonexistent"));
}

/* Read all that can be read; the number of files that were whole. */
static int walk(void)
{
	static char got[4096];
	struct zip *zip = zip_open(path);
	uint8_t prefix[PREFIX];
	const char *name;
	int whole = 0;
	size_t n;

	while (zip && zip_next(zip, &name) == 1) {
		FILE *file = zip_file(zip, prefix, sizeof(prefix), &n);

		if (!file) {
			assert_int_equal(errno, EBADMSG);
			continue;
		}
		while (fread(got, 1, sizeof(got), file) > 0)
			;
		whole += !ferror(file);
		fclose(file);
	}
	zip_close(zip);
	return whole;
}

static void damage_is_noticed(void **state)
{
	static uint8_t bytes[4096];
	FILE *file;
	size_t n;

	(void)state;
	archive_write();
	assert_int_equal(walk(), 4);
	file = fopen(path, "rb");
	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(n > 100 && n < sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		file = fopen(path, "wb");
		bytes[i] ^= 0x41;
		assert_int_equal(fwrite(bytes, 1, n, file), n);
		fclose(file);
		bytes[i] ^= 0x41;
		assert_true(walk() <= 5);
		/* What is stored stands behind its head of 30 bytes and a name. */
		if (i >= 36 && i < 44)
			assert_int_equal(walk(), 3);
		assert_int_equal(truncate(path, (off_t)i), 0);
		if (i + END_SIZE <= n)
			assert_int_equal(walk(), 0);
	}
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (char)(i % 7 + i / 5000);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_in_their_order),
		cmocka_unit_test(archives_by_their_first_bytes),
		cmocka_unit_test(damage_is_noticed),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
