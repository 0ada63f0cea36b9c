/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_support.h - a configuration from a string, and what the reader says of it, in a
 * directory that goes away. Included once by a program.
 */
#ifndef CONFIG_SUPPORT_H
#define CONFIG_SUPPORT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/config.h"
#include "stderr.h"

#define FILE_NAME     "t.conf"
#define COUNT(a)      (sizeof(a) / sizeof(*(a)))
#define FFA	      "service \"ffa\" { protocol = quake3 port = 27960 }\n"
#define SERVICE(body) "service \"ffa\" {\nprotocol = quake3\nport = 27960\n" body "\n}\n"

static struct config config;

static inline void file_write(const char *text, size_t length)
{
	FILE *file = fopen(FILE_NAME, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* config_load() of @text; what it said is in @said. */
static inline int load(const char *text, struct config *ret, char *said, size_t size)
{
	int err;

	file_write(text, strlen(text));
	stderr_catch();
	err = config_load(FILE_NAME, ret);
	stderr_release(said, size);
	return err;
}

static inline void load_good(const char *text)
{
	char said[1024];
	int err = load(text, &config, said, sizeof(said));

	assert_string_equal(said, "");
	assert_int_equal(err, 0);
}

/* @from, printed and read again as @ret, is the same; but that all that is printed is
 * said. */
static inline void print_and_read(const struct config *from, struct config *ret)
{
	FILE *file = fopen(FILE_NAME, "we");

	assert_non_null(file);
	config_print(from, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(config_load(FILE_NAME, ret), 0);
	for (size_t i = 0; i < ret->service_count; i++) {
		assert_true(ret->services[i].validation_given);
		assert_true(ret->services[i].cache_given);
		ret->services[i].validation_given = from->services[i].validation_given;
		ret->services[i].cache_given = from->services[i].cache_given;
	}
	memcpy(ret->interface_lines, from->interface_lines, sizeof(ret->interface_lines));
	assert_memory_equal(ret, from, sizeof(*ret));
}

static char directory[] = "/tmp/test_config.XXXXXX";

static inline int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static inline int leave(void **state)
{
	(void)state;
	unlink(FILE_NAME);
	return chdir("/") || rmdir(directory);
}

#endif /* CONFIG_SUPPORT_H */
