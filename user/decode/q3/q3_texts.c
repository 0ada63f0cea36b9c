// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_texts.c - command texts, configstrings and what follows from them.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/q3/q3_state.h"

#define CS_SYSTEMINFO	1
#define HASH_CHARACTERS 32
#define HASH_FACTOR	119

void q3_texts_reset(struct q3_texts *t, bool fresh)
{
	memset(t->slot, 0, sizeof(t->slot));
	t->last = 0;
	t->head = 0;
	/* Before any command the slot holds the empty text, under number 0. */
	t->slot[0].known = fresh;
}

/* The sum that keys user commands: over the text as the client holds it. */
static uint32_t text_hash(const char *text, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n && i < HASH_CHARACTERS; i++)
		sum += (uint8_t)text[i] * (HASH_FACTOR + (uint32_t)i);
	return sum ^ sum >> 10 ^ sum >> 20;
}

bool q3_text_put(struct q3_texts *t, int32_t number, const char *text, size_t n,
		 const struct q3_dialect *d)
{
	struct q3_text *slot = &t->slot[number & (Q3_TEXTS - 1)];
	bool fresh = !slot->known || slot->number < number;
	char *to;

	if (!fresh)
		return false;
	if (n > Q3_STRING_MAX)
		n = Q3_STRING_MAX;
	/* Texts do not wrap around the end. */
	if (t->head % Q3_TEXT_BYTES + n > Q3_TEXT_BYTES)
		t->head += Q3_TEXT_BYTES - t->head % Q3_TEXT_BYTES;
	to = t->bytes + t->head % Q3_TEXT_BYTES;
	for (size_t i = 0; i < n; i++) {
		bool high = (uint8_t)text[i] > 127 && !(d->flags & Q3_KEEP_HIGH);
		bool percent = text[i] == '%' && !(d->flags & Q3_KEEP_PERCENT);

		to[i] = high || percent ? '.' : text[i];
	}
	*slot = (struct q3_text){ number, t->head, text_hash(to, n), (uint16_t)n, true };
	t->head += (uint32_t)n;
	if (number > t->last)
		t->last = number;
	return true;
}

const struct q3_text *q3_text_find(const struct q3_texts *t, int32_t number)
{
	const struct q3_text *slot = &t->slot[number & (Q3_TEXTS - 1)];

	if (!slot->known || slot->number != number || t->head - slot->at > Q3_TEXT_BYTES)
		return NULL;
	return slot;
}

/* Drops what no index points to any more. */
static void compact(struct q3_game *g)
{
	char kept[Q3_CONFIGSTRING_BYTES];
	uint32_t used = 0;

	for (unsigned int i = 0; i < Q3_CONFIGSTRINGS; i++) {
		memcpy(kept + used, g->configstring_bytes + g->configstring_at[i],
		       g->configstring_n[i]);
		g->configstring_at[i] = used;
		used += g->configstring_n[i];
	}
	memcpy(g->configstring_bytes, kept, used);
	g->configstring_used = used;
}

void q3_configstring_set(struct q3_game *g, unsigned int index, const char *text,
			 size_t n)
{
	if (index >= Q3_CONFIGSTRINGS || n > Q3_BIGSTRING_MAX)
		return;
	g->configstring_n[index] = 0;
	if (n > Q3_CONFIGSTRING_BYTES - g->configstring_used)
		compact(g);
	if (n > Q3_CONFIGSTRING_BYTES - g->configstring_used)
		return;
	memcpy(g->configstring_bytes + g->configstring_used, text, n);
	g->configstring_at[index] = g->configstring_used;
	g->configstring_n[index] = (uint16_t)n;
	g->configstring_used += (uint32_t)n;
}

const char *q3_configstring(const struct q3_game *g, unsigned int index, size_t *n)
{
	if (index >= Q3_CONFIGSTRINGS) {
		*n = 0;
		return "";
	}
	*n = g->configstring_n[index];
	return g->configstring_bytes + g->configstring_at[index];
}

static bool fold_equal(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] + 32) : a[i];

		if (c != b[i])
			return false;
	}
	return true;
}

bool q3_info_number(const char *info, size_t n, const char *key, int32_t *ret)
{
	size_t key_n = strlen(key), at = 0;

	while (at < n && info[at] == '\\') {
		const char *name = info + at + 1;
		const char *end = memchr(name, '\\', n - at - 1), *value;
		char digits[16] = "";
		size_t value_n;

		if (!end)
			return false;
		value = end + 1;
		at = (size_t)(value - info);
		end = memchr(value, '\\', n - at);
		value_n = end ? (size_t)(end - value) : n - at;
		if ((size_t)(value - 1 - name) == key_n && fold_equal(name, key, key_n)) {
			if (!value_n || value_n >= sizeof(digits))
				return false;
			memcpy(digits, value, value_n);
			*ret = (int32_t)strtol(digits, NULL, 10);
			return true;
		}
		at += value_n;
	}
	return false;
}

/* `<word> <index> "<text>"`: the index and the text; -1 if it is not that. */
static int split_configstring(const char *text, size_t n, size_t word, const char **ret,
			      size_t *ret_n)
{
	char digits[8] = "";
	size_t used = 0, at = word;

	while (at < n && text[at] >= '0' && text[at] <= '9' && used < sizeof(digits) - 1)
		digits[used++] = text[at++];
	if (!used || at + 1 >= n || text[at] != ' ')
		return -1;
	at++;
	*ret = text + at;
	*ret_n = n - at;
	if (text[at] == '"') {
		const char *quote = memchr(text + at + 1, '"', n - at - 1);

		*ret = text + at + 1;
		*ret_n = quote ? (size_t)(quote - *ret) : n - at - 1;
	}
	return (int)strtol(digits, NULL, 10);
}

/* A configstring outside a gamestate. */
static void changed(struct q3_game *g, unsigned int index, uint32_t sequence,
		    const char *text, size_t n)
{
	int32_t server_id;

	q3_configstring_set(g, index, text, n);
	if (index == CS_SYSTEMINFO && q3_info_number(text, n, "sv_serverid", &server_id))
		q3_game_restart(g, sequence, server_id);
}

/* In three parts at least, each a command: none between them may be missing. */
static void big_configstring(struct q3_game *g, int32_t number, uint32_t sequence,
			     const char *text, size_t n)
{
	char part = text[3];
	const char *value;
	size_t value_n;
	int index = split_configstring(text, n, 5, &value, &value_n);

	if (index < 0)
		return;
	if (part == '0') {
		g->big_index = (uint16_t)index;
		g->big_used = 0;
	} else if (!g->big_used || number != g->big_number + 1) {
		g->big_used = 0;
		return;
	}
	g->big_number = number;
	if (index != g->big_index || value_n > Q3_BIGSTRING_MAX - (size_t)g->big_used) {
		g->big_used = 0;
		return;
	}
	memcpy(g->big + g->big_used, value, value_n);
	g->big_used = (uint16_t)(g->big_used + value_n);
	if (part == '2') {
		changed(g, (unsigned int)index, sequence, g->big, g->big_used);
		g->big_used = 0;
	}
}

void q3_game_command(struct q3_game *g, int32_t number, uint32_t sequence,
		     const char *text, size_t n)
{
	const char *value;
	size_t value_n;
	int index;

	if (n > 3 && !memcmp(text, "cs ", 3)) {
		index = split_configstring(text, n, 3, &value, &value_n);
		if (index >= 0)
			changed(g, (unsigned int)index, sequence, value, value_n);
	} else if (n > 5 && !memcmp(text, "bcs", 3) && text[4] == ' ') {
		big_configstring(g, number, sequence, text, n);
	}
}
