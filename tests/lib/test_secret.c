// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_secret.c - a key's file must be root's alone, and hold hex; no complaint repeats
 * what is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/secret.h"

#define NAME "t.psk"

static char message[256];

static int read_file(const char *text, mode_t mode, uid_t owner, struct secret_key *ret)
{
	int fd = open(NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	if (owner)
		assert_int_equal(fchown(fd, owner, owner), 0);
	close(fd);
	message[0] = 0;
	err = secret_key_read(NAME, ret, message, sizeof(message));
	unlink(NAME);
	assert_null(strstr(message, "00ff"));
	return err;
}

static void good(void **state)
{
	struct secret_key key;

	(void)state;
	if (geteuid()) {
		print_message("skip: not root\n");
		return;
	}
	assert_int_equal(read_file("00ff10Ab\n", 0600, 0, &key), 0);
	assert_int_equal(key.n, 4);
	assert_memory_equal(key.bytes, "\0\xff\x10\xab", 4);
	assert_int_equal(read_file("00ff", 0400, 0, &key), 0);
	assert_int_equal(key.n, 2);
	/* Whatever editor ended the line. */
	assert_int_equal(read_file("00ff10Ab\r\n", 0600, 0, &key), 0);
	assert_int_equal(key.n, 4);
	assert_int_equal(read_file("00ff \t", 0600, 0, &key), 0);
	assert_int_equal(key.n, 2);
}

static void others_may_read(void **state)
{
	struct secret_key key;

	(void)state;
	if (geteuid()) {
		print_message("skip: not root\n");
		return;
	}
	assert_int_equal(read_file("00ff", 0640, 0, &key), -EPERM);
	assert_string_equal(message, "can be read by others than root: chmod 600");
	assert_int_equal(read_file("00ff", 0604, 0, &key), -EPERM);
	assert_int_equal(read_file("00ff", 0600, 65534, &key), -EPERM);
	assert_string_equal(message, "is not owned by root: others may read the key");
	assert_int_equal(secret_key_read("/dev/null", &key, message, sizeof(message)),
			 -EPERM);
	assert_string_equal(message, "is not a file");
	assert_int_equal(secret_key_read("/no/such", &key, message, sizeof(message)),
			 -ENOENT);
	assert_int_equal(key.n, 0);
}

/* A file of root's alone, which cannot be read at its beginning. */
static void what_cannot_be_read_says_why(void **state)
{
	struct secret_key key;

	(void)state;
	if (geteuid()) {
		print_message("skip: not root\n");
		return;
	}
	assert_int_equal(
		secret_key_read("/proc/self/mem", &key, message, sizeof(message)), -EIO);
	assert_string_equal(message, "Input/output error");
	assert_int_equal(key.n, 0);
	assert_int_equal(read_file("00f", 0600, 0, &key), -EINVAL);
	assert_non_null(strstr(message, "an even number of hex digits"));
}

static void no_hex(void **state)
{
	static const char *const texts[] = { "",     "\n",    "0",    "00f",
					     "00fg", "00 ff", "0x00", "00ff\n\nx" };
	struct secret_key key;
	char much[2 * SECRET_KEY_MAX + 3];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(secret_key_parse(texts[i], &key), -EINVAL);
	memset(much, 'a', sizeof(much));
	much[2 * SECRET_KEY_MAX] = 0;
	assert_int_equal(secret_key_parse(much, &key), 0);
	assert_int_equal(key.n, SECRET_KEY_MAX);
	much[2 * SECRET_KEY_MAX] = 'a';
	much[2 * SECRET_KEY_MAX + 2] = 0;
	assert_int_equal(secret_key_parse(much, &key), -EINVAL);
	if (geteuid())
		return;
	assert_int_equal(read_file("00ffx", 0600, 0, &key), -EINVAL);
	assert_int_equal(read_file("", 0600, 0, &key), -EINVAL);
}

/* A page that is wiped before it is given back cannot be looked at: the next best. */
static void locked(void **state)
{
	uint8_t *memory = secret_alloc(100);

	(void)state;
	assert_non_null(memory);
	for (int i = 0; i < 100; i++)
		assert_int_equal(memory[i], 0);
	memset(memory, 7, 100);
	secret_free(memory, 100);
	secret_free(NULL, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(others_may_read),
		cmocka_unit_test(what_cannot_be_read_says_why),
		cmocka_unit_test(no_hex),
		cmocka_unit_test(locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
