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

static FILE *archived; /* open while the archive is */

/* The archive at path[]. */
static struct zip *archive_open(void)
{
	archived = fopen(path, "rb");
	assert_non_null(archived);
	return zip_open(archived);
}

static void archive_close(struct zip *zip)
{
	zip_close(zip);
	fclose(archived);
}

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
	zip = archive_open();
	assert_non_null(zip);
	expect(zip, "stored", "as it is", 8);
	expect(zip, "d/deflated", large, sizeof(large));
	expect(zip, "empty", "", 0);
	expect(zip, "b?e?l?", "x", 1);
	assert_int_equal(zip_next(zip, &name), 0);
	archive_close(zip);
}

static void archives_by_their_first_bytes(void **state)
{
	(void)state;
	assert_true(zip_recognise((const uint8_t *)"PK\3\4", 4));
	assert_true(zip_recognise((const uint8_t *)"PK\5\6", 4));
	assert_false(zip_recognise((const uint8_t *)"PK\3\4", 3));
	assert_false(zip_recognise((const uint8_t *)"PK\3\5", 4));
}

/* Read all that can be read; the number of files that were whole. */
static int walk(void)
{
	static char got[4096];
	struct zip *zip = archive_open();
	uint8_t prefix[PREFIX];
	const char *name;
	int whole = 0;
	size_t n;

	while (zip && zip_next(zip, &name) == 1) {
		FILE *file;

		errno = 0;
		file = zip_file(zip, prefix, sizeof(prefix), &n);
		if (!file) {
			assert_int_equal(errno, EBADMSG);
			continue;
		}
		errno = 0;
		while (fread(got, 1, sizeof(got), file) > 0)
			;
		if (ferror(file))
			assert_int_equal(errno, EBADMSG);
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

/* The directory promises more bytes than are packed: their sum is then not compared. */
static void a_stream_that_ends_early_is_damage(void **state)
{
	static uint8_t bytes[4096];
	zipFile to = zipOpen64(path, APPEND_STATUS_CREATE);
	uint32_t entry;
	FILE *file;
	size_t n;

	(void)state;
	assert_non_null(to);
	put(to, "deflated", large, sizeof(large), 6);
	assert_int_equal(zipClose(to, NULL), ZIP_OK);
	assert_int_equal(walk(), 1);
	file = fopen(path, "rb");
	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(n > END_SIZE && n < sizeof(bytes));
	memcpy(&entry, bytes + n - END_SIZE + 16, sizeof(entry));
	bytes[6] |= 8; /* the sizes in front of the file do not count */
	bytes[entry + 25]++; /* 256 more */
	file = fopen(path, "wb");
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	assert_int_equal(walk(), 0);
}

#define BOMB  (4 << 20) /* bytes of zeros */
#define TIMES 10 /* that the directory names them */

/* Many names for the same packed bytes: no more comes out than deflate could hold. */
static void files_that_overlap_are_bounded(void **state)
{
	static uint8_t bytes[65536], bomb[BOMB];
	size_t n, entry, got = 0, size;
	const char *name;
	struct zip *zip;
	zipFile to = zipOpen64(path, APPEND_STATUS_CREATE);
	FILE *file;

	(void)state;
	put(to, "bomb", (const char *)bomb, sizeof(bomb), 9);
	assert_int_equal(zipClose(to, NULL), ZIP_OK);
	file = fopen(path, "rb");
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	memcpy(&entry, bytes + n - END_SIZE + 16, 4);
	entry &= 0xffffffff;
	size = n - END_SIZE - entry;
	/* The directory once more and again, and the record at the end behind it. */
	memmove(bytes + entry + TIMES * size, bytes + n - END_SIZE, END_SIZE);
	for (size_t i = 1; i < TIMES; i++)
		memcpy(bytes + entry + i * size, bytes + entry, size);
	n = entry + TIMES * size;
	bytes[n + 8] = bytes[n + 10] = TIMES;
	size *= TIMES;
	memcpy(bytes + n + 12, &size, 4);
	n += END_SIZE;
	file = fopen(path, "wb");
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	zip = archive_open();
	assert_non_null(zip);
	for (size_t i = 0; i < TIMES; i++) {
		size_t prefix_n;

		assert_int_equal(zip_next(zip, &name), 1);
		file = zip_file(zip, bytes, 16, &prefix_n);
		if (!file)
			continue;
		got += fread(bomb, 1, sizeof(bomb), file);
		fclose(file);
	}
	assert_int_equal(zip_next(zip, &name), 0);
	archive_close(zip);
	assert_true(got >= BOMB && got <= n * 1032);
}

/* What cannot be read in any order is refused, and not waited for. */
static void archives_in_a_pipe_are_refused(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	archived = fdopen(ends[0], "rb");
	assert_non_null(archived);
	assert_null(zip_open(archived));
	assert_int_equal(errno, ESPIPE);
	fclose(archived);
	close(ends[1]);
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
		cmocka_unit_test(a_stream_that_ends_early_is_damage),
		cmocka_unit_test(files_that_overlap_are_bounded),
		cmocka_unit_test(archives_in_a_pipe_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
