// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * info.c - see info.h.
 */
#include <string.h>
#include <strings.h>

#include "lib/digits.h"
#include "lib/info.h"

#define INFO_KEY_MAX 256 /* longer keys are shown cut; no engine takes 64 */
#define INFO_TOLD    256 /* keys that are compared; no engine has so many */

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

/* Return the number of the first @n keys that are equal to @key. */
static size_t key_repeats(const struct span *keys, size_t n, struct span key)
{
	size_t repeats = 0;

	for (size_t i = 0; i < n; i++)
		repeats += key_equal(keys[i], (const char *)key.bytes, key.n);
	return repeats;
}

/* @repeats: the number of earlier pairs with this key. */
static void record_info_pair(struct record *r, size_t repeats, struct span key,
			     struct span value)
{
	char name[INFO_KEY_MAX + 1 + DIGITS_ROOM], *end;

	if (!repeats) {
		record_pair(r, key.bytes, key.n, value.bytes, value.n);
		return;
	}
	end = mempcpy(name, key.bytes,
		      strnlen((const char *)key.bytes,
			      key.n < INFO_KEY_MAX ? key.n : INFO_KEY_MAX));
	*end++ = '#';
	end = digits_uint(end, repeats + 1);
	record_pair(r, name, (size_t)(end - name), value.bytes, value.n);
}

bool record_info(struct record *r, const char *key, const void *bytes, size_t n)
{
	struct info it = info_of(bytes, n);
	struct span keys[INFO_TOLD], name, value;

	record_open_object(r, key);
	for (size_t i = 0; info_next(&it, &name, &value); i++) {
		if (!RECORD_WANTED(r))
			continue;
		record_info_pair(r, i < INFO_TOLD ? key_repeats(keys, i, name) : i, name,
				 value);
		if (i < INFO_TOLD)
			keys[i] = name;
	}
	record_close(r);
	return !it.failed;
}
