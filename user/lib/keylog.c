// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * keylog.c - see keylog.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/keylog.h"

#define QUOTE_MAX 60 /* of a line, in an error */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* All of @text, an even number of digits for at most @max bytes; how many, 0: it is not
 * that. */
static size_t hex_read(const char *text, uint8_t *to, size_t max)
{
	size_t n = strlen(text);

	if (!n || n % 2 || n / 2 > max)
		return 0;
	for (size_t i = 0; i < n; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			return 0;
		to[i / 2] = (uint8_t)(high << 4 | low);
	}
	return n / 2;
}

static bool line_read(char *line, struct keylog_entry *ret)
{
	char *rest = line, *label = strsep(&rest, " "), *random = strsep(&rest, " ");

	memset(ret, 0, sizeof(*ret));
	if (!random || !rest || strlen(label) >= sizeof(ret->label) || !*label)
		return false;
	strcpy(ret->label, label);
	ret->secret_n = hex_read(rest, ret->secret, sizeof(ret->secret));
	return ret->secret_n &&
	       hex_read(random, ret->random, KEYLOG_RANDOM) == KEYLOG_RANDOM;
}

static int add(struct keylog *keylog, const struct keylog_entry *entry)
{
	struct keylog_entry *entries;

	if (keylog->count == KEYLOG_MAX)
		return -ENOSPC;
	/* In powers of two, from 16 on. */
	if (keylog->count < 16 ? !keylog->count
			       : !(keylog->count & (keylog->count - 1))) {
		size_t room = keylog->count ? 2 * keylog->count : 16;

		entries = realloc(keylog->entries, room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		keylog->entries = entries;
	}
	keylog->entries[keylog->count++] = *entry;
	return 0;
}

static int one(struct keylog *keylog, char *line, unsigned int number, char *message,
	       size_t size)
{
	struct keylog_entry entry;
	char quote[QUOTE_MAX + 1];
	int err;

	line[strcspn(line, "\r\n")] = 0;
	if (!*line || *line == '#')
		return 0;
	snprintf(quote, sizeof(quote), "%s", line);
	if (!line_read(line, &entry)) {
		snprintf(message, size,
			 "line %u is no <label> <client random> <secret>: '%s'", number,
			 quote);
		return -EBADMSG;
	}
	err = add(keylog, &entry);
	snprintf(message, size, "line %u: %s", number,
		 err == -ENOSPC ? "more than 65536 secrets" : "out of memory");
	return err;
}

int keylog_read(FILE *file, struct keylog *ret, char *message, size_t size)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	*ret = (struct keylog){ .count = 0 };
	while (!err && getline(&line, &room, file) >= 0)
		err = one(ret, line, ++number, message, size);
	if (!err && ferror(file)) {
		err = -errno;
		snprintf(message, size, "%s", strerror(errno));
	}
	free(line);
	if (err)
		keylog_free(ret);
	return err;
}

void keylog_free(struct keylog *keylog)
{
	free(keylog->entries);
	*keylog = (struct keylog){ .count = 0 };
}

const struct keylog_entry *keylog_find(const struct keylog *keylog, const char *label,
				       const uint8_t random[KEYLOG_RANDOM])
{
	for (size_t i = keylog ? keylog->count : 0; i; i--)
		if (!memcmp(keylog->entries[i - 1].random, random, KEYLOG_RANDOM) &&
		    !strcmp(keylog->entries[i - 1].label, label))
			return &keylog->entries[i - 1];
	return NULL;
}
