// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tests/data: each capture's JSON, byte for byte. UPDATE=1 rewrites what is expected.
 */
#include <glob.h>

#include "capture/capture.h"
#include "decode/decode_support.h"

static void sink(void *context, const struct record *r)
{
	jsonl_record(context, r);
}

static char *render(const char *path, size_t *n)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	struct capture *capture;
	struct decoder *decoder;
	struct datagram dg;
	struct jsonl json;
	char message[256], *text = NULL;
	FILE *file = fopen(path, "rb"), *out = open_memstream(&text, n);
	int result;

	assert_non_null(file);
	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	jsonl_init(&json, out);
	decoder = decoder_create(&options, sink, &json);
	while ((result = capture_next(capture, &dg)) == 1)
		decoder_datagram(decoder, &dg);
	assert_int_equal(result, 0);
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	assert_int_equal(jsonl_flush(&json), 0);
	fclose(out);
	return text;
}

static void compare(const char *path, const char *text, size_t n)
{
	char *line = NULL;
	size_t size = 0, at = 0;
	unsigned int number = 0;
	FILE *file = fopen(path, "rb");
	ssize_t length;

	if (!file)
		fail_msg("%s is missing: UPDATE=1 makes it", path);
	while ((length = getline(&line, &size, file)) > 0) {
		number++;
		if (at + (size_t)length > n ||
		    memcmp(text + at, line, (size_t)length) != 0)
			fail_msg("%s:%u: expected %s, got %.*s", path, number, line,
				 (int)strcspn(text + at, "\n"), text + at);
		at += (size_t)length;
	}
	assert_int_equal(at, n);
	free(line);
	fclose(file);
}

static void golden(void **state)
{
	glob_t paths;
	char expected[1024];

	(void)state;
	assert_int_equal(glob("tests/data/*/*.pcap", 0, NULL, &paths), 0);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		const char *path = paths.gl_pathv[i];
		size_t n;
		char *text = render(path, &n);

		print_message("%s\n", path);
		snprintf(expected, sizeof(expected), "%.*s.jsonl", (int)strlen(path) - 5,
			 path);
		if (getenv("UPDATE")) {
			FILE *file = fopen(expected, "wb");

			assert_non_null(file);
			assert_int_equal(fwrite(text, 1, n, file), n);
			fclose(file);
		}
		compare(expected, text, n);
		free(text);
	}
	globfree(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
