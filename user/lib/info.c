// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * info.c - see info.h.
 */
#include <stdio.h>
#include <strings.h>

#include "lib/info.h"

#define INFO_KEY_MAX 256 /* longer keys are shown cut; no engine takes 64 */

static struct span info_token(struct info *it)
{
	struct span token = { it->pos, 0 };
	const uint8_t *stop = memchr(it->pos, '\\', (size_t)(it->end - it->pos));

	if (!stop)
		stop = it->end;
	token.n = (size_t)(stop - it->pos);
	it->pos = stop;
	return token;
}

bool info_next(struct info *it, struct span *key, struct span *value)
{
	if (it->failed || it->pos == it->end)
		return false;
	if (*it->pos != '\\') {
		it->failed = true;
		return false;
	}
	it->pos++;
	*key = info_token(it);
	if (it->pos == it->end) {
		it->failed = true;
		return false;
	}
	it->pos++;
	*value = info_token(it);
	return true;
}

static bool key_equal(struct span key, const char *name, size_t n)
{
	return key.n == n && !strncasecmp((const char *)key.bytes, name, n);
}

bool info_find(const void *bytes, size_t n, const char *key, struct span *ret)
{
	struct info it = info_of(bytes, n);
	size_t length = strlen(key);
	struct span name, value;

	while (info_next(&it, &name, &value))
		if (key_equal(name, key, length)) {
			*ret = value;
			return true;
		}
	return false;
}

/* How often @key came before @end. Info strings are short: counting costs nothing. */
static unsigned int key_repeats(const void *bytes, const uint8_t *end, struct span key)
{
	struct info it = info_of(bytes, (size_t)(end - (const uint8_t *)bytes));
	struct span name, value;
	unsigned int repeats = 0;

	while (info_next(&it, &name, &value))
		if (name.bytes < key.bytes &&
		    key_equal(name, (const char *)key.bytes, key.n))
			repeats++;
	return repeats;
}

static void record_info_pair(struct record *r, const void *start, struct span key,
			     struct span value)
{
	unsigned int repeats = key_repeats(start, value.bytes + value.n, key);
	char name[INFO_KEY_MAX + 16];
	int n;

	if (!repeats) {
		record_pair(r, key.bytes, key.n, value.bytes, value.n);
		return;
	}
	n = snprintf(name, sizeof(name), "%.*s#%u",
		     (int)(key.n < INFO_KEY_MAX ? key.n : INFO_KEY_MAX),
		     (const char *)key.bytes, repeats + 1);
	record_pair(r, name, (size_t)n, value.bytes, value.n);
}

bool record_info(struct record *r, const char *key, const void *bytes, size_t n)
{
	struct info it = info_of(bytes, n);
	struct span name, value;

	record_open_object(r, key);
	while (info_next(&it, &name, &value))
		if (RECORD_WANTED(r))
			record_info_pair(r, bytes, name, value);
	record_close(r);
	return !it.failed;
}
