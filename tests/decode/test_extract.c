// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files put together from pieces: whole or .part, under harmless names, in one directory,
 * within bounds.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/decode_support.h"
#include "decode/extract.h"
#include "recordings.h"

static char directory[64];
static char said[4096];

static void say(void *context, const char *name, const char *what)
{
	size_t n = strlen(said);

	(void)context;
	snprintf(said + n, sizeof(said) - n, "%s: %s\n", name, what);
}

static struct extract *begin(void)
{
	struct extract *e = NULL;

	said[0] = 0;
	assert_int_equal(extract_open(directory, say, NULL, &e), 0);
	return e;
}

/* A record of the connection from @port with one piece. */
static void give(struct extract *e, uint16_t port, struct record_piece piece)
{
	struct record r;

	record_reset(&r, NULL);
	r.source = harness_address(1, 6000);
	r.destination = harness_address(9, port);
	record_piece(&r, &piece);
	extract_record(e, &r);
}

static void give_begin(struct extract *e, const char *name, int64_t size)
{
	give(e, 1,
	     (struct record_piece){ .type = PIECE_BEGIN,
				    .name = (const uint8_t *)name,
				    .name_n = strlen(name),
				    .size = size });
}

static void give_at(struct extract *e, uint64_t offset, const void *bytes, size_t n)
{
	give(e, 1,
	     (struct record_piece){
		     .type = PIECE_AT, .offset = offset, .bytes = bytes, .n = n });
}

static void give_next(struct extract *e, uint16_t port, const char *bytes, bool last)
{
	give(e, port,
	     (struct record_piece){ .type = PIECE_NEXT,
				    .name = (const uint8_t *)"a/b",
				    .name_n = 3,
				    .bytes = (const uint8_t *)bytes,
				    .n = strlen(bytes),
				    .last = last });
}

static bool holds(const char *name, const void *bytes, size_t n)
{
	char path[256];
	uint8_t *found = malloc(n + 1);
	FILE *file;
	bool same;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	same = file && fread(found, 1, n + 1, file) == n && !memcmp(found, bytes, n);
	if (file)
		fclose(file);
	free(found);
	return same;
}

static void names(void **state)
{
	static const struct {
		const char *asked, *called;
	} rows[] = {
		{ "maps/dm3.bsp", "maps_dm3.bsp" },
		{ "../../etc/passwd", "_._.._etc_passwd" },
		{ "/etc/passwd", "_etc_passwd" },
		{ ".hidden", "_hidden" },
		{ "..", "_." },
		{ "a\nb\x1b[2J\xff", "a_b__2J_" },
		{ "", "download" },
	};
	char name[EXTRACT_NAME_MAX + 1], longest[400];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		extract_harmless((const uint8_t *)rows[i].asked, strlen(rows[i].asked),
				 name);
		assert_string_equal(name, rows[i].called);
	}
	memset(longest, 'x', sizeof(longest));
	memcpy(longest + sizeof(longest) - 4, ".bsp", 4);
	extract_harmless((const uint8_t *)longest, sizeof(longest), name);
	assert_int_equal(strlen(name), EXTRACT_NAME_MAX);
	assert_string_equal(name + EXTRACT_NAME_MAX - 5, "x.bsp");
}

static void in_chunks(void **state)
{
	uint8_t bytes[2500], chunk[EXTRACT_CHUNK] = { 0 };
	struct extract *e = begin();

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	memcpy(chunk, bytes + 2048, 452);
	give_at(e, 0, bytes, 1024); /* nothing has begun */
	give_begin(e, "../m.bsp", sizeof(bytes));
	give_at(e, 2048, chunk, 1024);
	give_at(e, 2048, bytes, 1024); /* the first counts */
	give_begin(e, "../m.bsp", sizeof(bytes));
	give_at(e, 1, bytes, 1024); /* no chunk begins here */
	give_at(e, 3072, bytes, 1024); /* nor behind the end */
	give_at(e, 1024, bytes + 1024, 1024);
	assert_false(holds("_._m.bsp", bytes, sizeof(bytes)));
	give_at(e, 0, bytes, 1024);
	assert_true(holds("_._m.bsp", bytes, sizeof(bytes)));
	assert_true(extract_close(e));
	assert_string_equal(said, "_._m.bsp: 2500 bytes\n");
	/* The same name does not replace it. */
	e = begin();
	give_begin(e, "../m.bsp", 3);
	give_at(e, 0, "abc", 3);
	assert_true(extract_close(e));
	assert_true(holds("_._m.bsp.1", "abc", 3));
	assert_true(holds("_._m.bsp", bytes, sizeof(bytes)));
}

static void in_order(void **state)
{
	struct extract *e = begin();

	(void)state;
	give_next(e, 1, "ab", false);
	give_next(e, 2, "xy", false); /* another connection */
	give_next(e, 1, "cd", true);
	assert_false(extract_close(e));
	assert_true(holds("a_b", "abcd", 4));
	assert_true(holds("a_b.1.part", "xy", 2));
	assert_string_equal(said, "a_b: 4 bytes\n"
				  "a_b.1: incomplete: 2 bytes, kept as .part\n");
}

static void bounds(void **state)
{
	struct extract *e = begin();
	char path[128], target[128];

	(void)state;
	give_begin(e, "huge", EXTRACT_FILE_MAX + 1);
	assert_non_null(strstr(said, "huge: too large"));
	/* All together. */
	said[0] = 0;
	for (int i = 0; i < EXTRACT_TOTAL_MAX / EXTRACT_FILE_MAX; i++)
		give_begin(e, i % 2 ? "one" : "other", EXTRACT_FILE_MAX);
	assert_null(strstr(said, "too large"));
	give_begin(e, "last", 1);
	assert_non_null(strstr(said, "last: too large"));
	assert_false(extract_close(e));
	/* A link that waits there is not followed. */
	snprintf(path, sizeof(path), "%s/link.part", directory);
	snprintf(target, sizeof(target), "%s/victim", directory);
	assert_int_equal(symlink(target, path), 0);
	e = begin();
	give_begin(e, "link", 1);
	give_at(e, 0, "x", 1);
	extract_close(e);
	assert_int_equal(access(target, F_OK), -1);
	assert_true(holds("link.1", "x", 1));
	assert_int_equal(extract_open("/nonexistent/directory", say, NULL, &e), -ENOENT);
}

static void malformed_gives_nothing(void **state)
{
	struct extract *e = begin();
	struct record r;

	(void)state;
	record_reset(&r, NULL);
	record_piece(&r, &(struct record_piece){ .type = PIECE_BEGIN,
						 .name = (const uint8_t *)"n",
						 .name_n = 1 });
	record_malformed(&r, "broken");
	extract_record(e, &r);
	assert_true(extract_close(e));
	assert_string_equal(said, "");
}

static void sink(void *context, const struct record *r)
{
	extract_record(context, r);
}

/* The map of the recording is as long as its own directory says. */
static void a_real_map(void **state)
{
	struct decoder_options options = { .forced = FAMILY_AUTO };
	struct capture *capture = recording_live("qw-mvdsv-ezquake-download");
	struct datagram dg;
	struct extract *e;
	struct decoder *d;
	struct stat st;
	char path[512];
	FILE *file;

	(void)state;
	if (!capture)
		skip();
	e = begin();
	d = decoder_create(&options, sink, e);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(d, &dg);
	decoder_flush(d);
	decoder_free(d);
	capture_close(capture);
	assert_true(extract_close(e));
	assert_string_equal(said, "maps_lqdm12.bsp: 378164 bytes\n");
	snprintf(path, sizeof(path), "%s/maps_lqdm12.bsp", directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 378164);
	file = fopen(path, "rb");
	assert_int_equal(getc(file), 29); /* the version of the format */
	fclose(file);
}

static int prepare(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/extract.XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int clear(void **state)
{
	DIR *all = opendir(directory);
	struct dirent *one;

	(void)state;
	while ((one = readdir(all)))
		unlinkat(dirfd(all), one->d_name, 0);
	closedir(all);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test_setup_teardown(in_chunks, prepare, clear),
		cmocka_unit_test_setup_teardown(in_order, prepare, clear),
		cmocka_unit_test_setup_teardown(bounds, prepare, clear),
		cmocka_unit_test_setup_teardown(malformed_gives_nothing, prepare, clear),
		cmocka_unit_test_setup_teardown(a_real_map, prepare, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
