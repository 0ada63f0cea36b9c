// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_input.c - files and pipes, plain and packed, whole and damaged: what begins
 * them, and all that is read of them.
 */
#include <errno.h>
#include <zlib.h>

#include "fuzz/held_text.h"
#include "lib/input.h"
#include "lib/util.h"

static char path[] = "/tmp/test_held_input.XXXXXX";
static unsigned int waited;

static bool enough(const uint8_t *bytes, size_t n)
{
	return n >= 5 && bytes[4] == 'E';
}

static void waits(void *context)
{
	assert_ptr_equal(context, &waited);
	waited++;
}

static void read_all(FILE *out, FILE *file, const uint8_t *prefix, size_t n)
{
	static char text[1 << 17];
	size_t got, all = 0;
	uint64_t sum = HELD_BEGIN;

	if (!file) {
		fprintf(out, "error %d\n", errno);
		return;
	}
	fprintf(out, "%zu %016" PRIx64 ":", n, held_sum(HELD_BEGIN, prefix, n));
	errno = 0;
	while ((got = fread(text, 1, 1000, file)) > 0) {
		sum = held_sum(sum, text, got);
		all += got;
	}
	fprintf(out, " %zu %016" PRIx64 " end %d error %d %d", all, sum, feof(file) != 0,
		ferror(file) != 0, ferror(file) ? errno : 0);
	/* Where it can be wound back it is the same again. */
	clearerr(file);
	if (!fseek(file, 2, SEEK_SET))
		fprintf(out, " again %zu at %ld", fread(text, 1, 7, file), ftell(file));
	fprintf(out, " closed %d\n", fclose(file));
}

static const struct input_how how = { enough, waits, &waited };

static void from_file(FILE *out, size_t size)
{
	uint8_t prefix[512];
	size_t n = 99;
	FILE *file = input_open(path, &how, prefix, size, &n);

	read_all(out, file, prefix, n);
}

/* All of it is there already, or none has come when somebody waits. */
static void from_pipe(FILE *out, const char *bytes, size_t n, size_t size)
{
	uint8_t prefix[512];
	size_t got = 99;
	int ends[2];
	char name[40];
	FILE *file;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, n), n);
	close(ends[1]);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	waited = 0;
	file = input_open(name, &how, prefix, size, &got);
	close(ends[0]);
	read_all(out, file, prefix, got);
	fprintf(out, "waited %u\n", waited);
}

static void say_input(FILE *out, const char *bytes, size_t n)
{
	static const size_t sizes[] = { 1, 5, 300 };
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		from_file(out, sizes[i]);
		from_pipe(out, bytes, n, sizes[i]);
	}
}

/* As gzip packs it. */
static size_t packed(const char *text, size_t n, char *ret, size_t room)
{
	z_stream z = { .next_in = (Bytef *)text,
		       .avail_in = (uInt)n,
		       .next_out = (Bytef *)ret,
		       .avail_out = (uInt)room };

	assert_int_equal(deflateInit2(&z, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static void inputs(void **state)
{
	static const size_t lengths[] = { 0, 1, 4, 5, 6, 299, 300, 301, 2000 };
	static char text[2000], gz[6000];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t n = packed(text, lengths[i], gz, sizeof(gz));

		held_input(say_input, text, lengths[i]);
		held_input(say_input, gz, n);
		held_beginnings(say_input, gz, n < 60 ? n : 60);
		/* Two members, and what is none behind them. */
		n += packed("ABCDEFG", 7, gz + n, sizeof(gz) - n);
		say_input(held.out, gz, n);
		memcpy(gz + n, "behind", 6);
		say_input(held.out, gz, n + 6);
	}
	text[4] = 'E';
	say_input(held.out, text, 2000);
	say_input(held.out, gz, packed(text, 2000, gz, sizeof(gz)));
	unlink(path);
	from_file(held.out, 5);
	held_end("tests/lib/held_input.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs),
	};
	int fd = mkstemp(path);

	if (fd < 0 || close(fd))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
