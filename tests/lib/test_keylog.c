// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Key logs: what is read, what is refused and how it is quoted.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/keylog.h"

#define RANDOM "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"

static int read_text(const char *text, struct keylog *ret, char *message, size_t size)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(file);
	err = keylog_read(file, ret, message, size);
	fclose(file);
	return err;
}

static void reads(void **state)
{
	const struct keylog_entry *entry;
	struct keylog keylog;
	uint8_t random[KEYLOG_RANDOM];
	char message[256];

	(void)state;
	for (unsigned int i = 0; i < KEYLOG_RANDOM; i++)
		random[i] = (uint8_t)i;
	assert_int_equal(read_text("# comment\r\n\nCLIENT_RANDOM " RANDOM " 00ff\n"
				   "OTHER " RANDOM " 01\nCLIENT_RANDOM " RANDOM
				   " abCD12\n",
				   &keylog, message, sizeof(message)),
			 0);
	assert_int_equal(keylog.count, 3);
	/* The last one counts. */
	entry = keylog_find(&keylog, "CLIENT_RANDOM", random);
	assert_non_null(entry);
	assert_int_equal(entry->secret_n, 3);
	assert_memory_equal(entry->secret, "\xab\xcd\x12", 3);
	assert_null(keylog_find(&keylog, "CLIENT", random));
	random[31]++;
	assert_null(keylog_find(&keylog, "CLIENT_RANDOM", random));
	assert_null(keylog_find(NULL, "CLIENT_RANDOM", random));
	keylog_free(&keylog);
}

static void refuses(void **state)
{
	static const char *const texts[] = {
		"\nCLIENT_RANDOM",
		"\nCLIENT_RANDOM " RANDOM,
		"\nCLIENT_RANDOM " RANDOM " ",
		"\nCLIENT_RANDOM " RANDOM " 123",
		"\nCLIENT_RANDOM " RANDOM "00 12",
		"\nCLIENT_RANDOM " RANDOM " 1g",
		"\n " RANDOM " 12",
		"\nRSA 0011223344556677 0011",
	};
	struct keylog keylog;
	char message[256];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(read_text(texts[i], &keylog, message, sizeof(message)),
				 -EBADMSG);
		assert_non_null(strstr(message, "line 2 "));
		assert_int_equal(keylog.count, 0);
	}
	assert_non_null(strstr(message, "'RSA 0011223344556677 0011'"));
}

/* So many count, and one more is too many; what does not count is no line of them. */
static void so_many_and_no_more(void **state)
{
	static const char line[] = "A " RANDOM " 00\n# no secret\n";
	const size_t n = sizeof(line) - 1;
	char *text = malloc(n * (KEYLOG_MAX + 1) + 1), message[256];
	struct keylog keylog;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i <= KEYLOG_MAX; i++)
		memcpy(text + i * n, line, n);
	text[n * KEYLOG_MAX] = 0;
	assert_int_equal(read_text(text, &keylog, message, sizeof(message)), 0);
	assert_int_equal(keylog.count, KEYLOG_MAX);
	keylog_free(&keylog);
	assert_int_equal(keylog.count, 0);
	assert_null(keylog.entries);
	text[n * KEYLOG_MAX] = 'A';
	text[n * (KEYLOG_MAX + 1)] = 0;
	assert_int_equal(read_text(text, &keylog, message, sizeof(message)), -ENOSPC);
	assert_string_equal(message, "line 131073: more than 65536 secrets");
	assert_int_equal(keylog.count, 0);
	assert_null(keylog.entries);
	assert_null(keylog_find(&keylog, "A", (const uint8_t *)text));
	assert_null(keylog_find(NULL, "A", (const uint8_t *)text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(so_many_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
