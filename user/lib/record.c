// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record.c - the tape of fields. Renderers read it; see record.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/record.h"
#include "lib/record_trace.h"

/* Keys of info strings with secret values. */
static const char *const secret_keys[] = { "password", "cl_guid", "rcon_password" };

static bool is_secret(const uint8_t *key, size_t n)
{
	for (size_t i = 0; i < sizeof(secret_keys) / sizeof(*secret_keys); i++)
		if (strlen(secret_keys[i]) == n &&
		    !strncasecmp((const char *)key, secret_keys[i], n))
			return true;
	return false;
}

int record_tape_create(struct record_tape *tape, size_t items, size_t bytes)
{
	memset(tape, 0, sizeof(*tape));
	tape->items = calloc(items, sizeof(*tape->items));
	tape->bytes = malloc(bytes);
	if (!tape->items || !tape->bytes) {
		record_tape_free(tape);
		return -ENOMEM;
	}
	tape->items_max = items;
	tape->bytes_max = bytes;
	return 0;
}

void record_tape_free(struct record_tape *tape)
{
	free(tape->items);
	free(tape->bytes);
	if (tape->trace)
		free(tape->trace->extents);
	free(tape->trace);
	memset(tape, 0, sizeof(*tape));
}

struct record_tape record_tape_digest(void)
{
	return (struct record_tape){ .aside = true, .digests = true };
}

/* FNV-1a, over 64 bits at a time where there are so many. */
static void digest(struct record_tape *tape, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	uint64_t sum = tape->digest ^ n;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ at[i]) * 0x100000001b3ULL;
	tape->digest = sum;
}

/* Places, angles and times of games are neither huge nor tiny; other bytes, read as
 * one, mostly are. */
static bool is_odd(const void *raw)
{
	double value;

	memcpy(&value, raw, sizeof(value));
	value = value < 0 ? -value : value;
	/* No number stands for a component that was not sent. */
	return value >= 1e7 || (value > 0 && value <= 1e-25);
}

/* A field as record_put() and the like are given it. */
static void digest_field(struct record_tape *tape, const char *key, size_t key_n,
			 enum record_type type, const void *bytes, size_t n)
{
	if (type == RECORD_TYPE_FLOAT)
		tape->odd |= is_odd(bytes);
	tape->digest = (tape->digest ^ type) * 0x100000001b3ULL;
	if (key)
		digest(tape, key, key_n);
	digest(tape, bytes, n);
}

void record_reset(struct record *r, struct record_tape *tape)
{
	memset(r, 0, offsetof(struct record, facts));
	r->facts.has = 0;
	r->tape = tape;
	if (!tape)
		return;
	tape->items_used = 0;
	tape->bytes_used = 0;
	tape->depth = 0;
	tape->dropped_depth = 0;
	tape->digest = 0;
	tape->odd = false;
	if (tape->trace)
		record_trace_reset(tape->trace);
}

void record_piece(struct record *r, const struct record_piece *piece)
{
	if (r->pieces_n < RECORD_PIECES)
		r->pieces[r->pieces_n++] = *piece;
}

static uint8_t fact_text(uint8_t *to, const void *bytes, size_t n)
{
	if (n > FACTS_TEXT)
		n = FACTS_TEXT;
	if (n)
		memcpy(to, bytes, n);
	return (uint8_t)n;
}

void facts_name(struct facts *f, const void *bytes, size_t n)
{
	f->has |= FACT_NAME;
	f->name_n = fact_text(f->name, bytes, n);
}

void facts_map(struct facts *f, const void *bytes, size_t n)
{
	f->has |= FACT_MAP;
	f->map_n = fact_text(f->map, bytes, n);
}

/*
 * Room is kept for one close per open object, so that what a full tape holds is always
 * well nested. Once something was dropped inside an object, later fields may still fit:
 * they are dropped too, or the reader of the output could not tell where the gap is.
 */
static struct record_item *record_slot(struct record *r)
{
	struct record_tape *tape = r->tape;

	if (r->overflow || tape->items_used + tape->depth >= tape->items_max) {
		r->overflow = true;
		return NULL;
	}
	return &tape->items[tape->items_used++];
}

static inline void put_plain(struct record *r, const char *key, enum record_type type,
			     uint64_t raw)
{
	struct record_tape *tape = r->tape;
	bool opens = type == RECORD_TYPE_OBJECT || type == RECORD_TYPE_ARRAY;
	struct record_item *item;

	/* An opening needs two slots: its own, and its close. */
	if (r->overflow || tape->items_used + tape->depth + opens >= tape->items_max ||
	    (opens && tape->depth >= RECORD_DEPTH_MAX)) {
		r->overflow = true;
		tape->dropped_depth += opens;
		return;
	}
	item = &tape->items[tape->items_used++];
	item->key = key;
	item->type = type;
	item->size = 0;
	item->u = raw;
	tape->depth += opens;
}

/* With a digest, or a trace. Apart, so that the usual way costs one test. */
static __attribute__((noinline, cold)) void put_aside(struct record *r, const char *key,
						      enum record_type type, uint64_t raw)
{
	if (r->tape->digests) {
		digest_field(r->tape, key, key ? strlen(key) : 0, type, &raw,
			     sizeof(raw));
		return;
	}
	if (type == RECORD_TYPE_OBJECT || type == RECORD_TYPE_ARRAY)
		record_trace_nowhere(r);
	else
		record_trace_note(r, NULL, 0);
	put_plain(r, key, type, raw);
}

void record_put(struct record *r, const char *key, enum record_type type, uint64_t raw)
{
	if (r->tape->aside)
		put_aside(r, key, type, raw);
	else
		put_plain(r, key, type, raw);
}

void record_put_array(struct record *r, const char *key, size_t key_n)
{
	size_t at = r->tape->items_used;

	if (r->tape->digests) {
		digest_field(r->tape, key, key_n, RECORD_TYPE_ARRAY, "", 0);
		return;
	}
	record_put(r, key, RECORD_TYPE_ARRAY, 0);
	if (!r->overflow)
		r->tape->items[at].size = (uint32_t)key_n;
}

/* How many bytes of the value at @at, which ends at a backslash, quote or blank line. */
static size_t value_length(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *start = at;

	while (at < end && *at != '\\' && *at != '"' && *at != '\n' && *at)
		at++;
	return (size_t)(at - start);
}

/*
 * Return the length of the value of a secret key, or 0 if no secret key begins at @at:
 * \key\value, or setinfo key value. *ret: the first byte of the value.
 */
static size_t secret_value(const uint8_t *at, const uint8_t *end, const uint8_t **ret)
{
	static const char setinfo[] = "setinfo ";
	const uint8_t *key = at + 1, *value;

	if (*at != '\\') {
		if ((size_t)(end - at) <= sizeof(setinfo) ||
		    memcmp(at, setinfo, sizeof(setinfo) - 1) != 0)
			return 0;
		key = at + sizeof(setinfo) - 1 + (at[sizeof(setinfo) - 1] == '"');
	}
	value = key;
	while (value < end && *value != '\\' && *value != ' ' && *value != '"')
		value++;
	if (!is_secret(key, (size_t)(value - key)))
		return 0;
	while (value < end && (*value == ' ' || *value == '"'))
		value++;
	value += value < end && *value == '\\';
	*ret = value;
	return value_length(value, end);
}

/*
 * Copy a text of @n bytes to @to, which has room for @room bytes, with RECORD_MASK for
 * the value of each secret key. If a longer text would not fit, each byte of the value
 * becomes one '*'. Returns the length of the copy. The work is linear in @n.
 */
static size_t copy_masked(struct record *r, uint8_t *to, size_t room, const uint8_t *from,
			  size_t n)
{
	const size_t mask = sizeof(RECORD_MASK) - 1;
	const uint8_t *end = from + n, *at = from, *value;
	uint8_t *out = to;

	while (at < end) {
		size_t length =
			*at == '\\' || *at == 's' ? secret_value(at, end, &value) : 0;
		bool grows;

		at++;
		if (!length)
			continue;
		r->masked = true;
		memcpy(out, from, (size_t)(value - from));
		out += value - from;
		grows = room - (size_t)(out - to) >= (size_t)(end - value) + mask;
		memset(out, '*', grows ? mask : length);
		out += grows ? mask : length;
		at = from = value + length;
	}
	memcpy(out, from, (size_t)(end - from));
	return (size_t)(out - to) + (size_t)(end - from);
}

void record_put_secret(struct record *r, const char *key, const void *bytes, size_t n)
{
	if (r->secrets || !n) {
		record_put_bytes(r, key, RECORD_TYPE_STRING, bytes, n);
		return;
	}
	r->masked = true;
	if (RECORD_TRACED(r) && !r->tape->trace->sources_n)
		record_stands(r, bytes, n);
	record_put_bytes(r, key, RECORD_TYPE_STRING, RECORD_MASK,
			 sizeof(RECORD_MASK) - 1);
}

void record_put_bytes(struct record *r, const char *key, enum record_type type,
		      const void *bytes, size_t n)
{
	struct record_tape *tape = r->tape;
	struct record_item *item;

	if (tape->aside) {
		if (tape->digests) {
			digest_field(tape, key, key ? strlen(key) : 0, type, bytes, n);
			return;
		}
		record_trace_note(r, bytes, n);
	}
	if (n > tape->bytes_max - tape->bytes_used || n > UINT32_MAX)
		r->overflow = true;
	item = record_slot(r);
	if (!item)
		return;
	item->key = key;
	item->type = type;
	item->size = (uint32_t)n;
	item->at = tape->bytes_used;
	if (type == RECORD_TYPE_STRING && !r->secrets && n > 8)
		item->size = (uint32_t)copy_masked(r, tape->bytes + item->at,
						   tape->bytes_max - item->at, bytes, n);
	else if (n)
		memcpy(tape->bytes + item->at, bytes, n);
	tape->bytes_used += item->size;
}

void record_put_pair(struct record *r, const void *key, size_t key_n, const void *bytes,
		     size_t n)
{
	struct record_tape *tape = r->tape;
	struct record_item *item;
	size_t room = tape->bytes_max - tape->bytes_used;

	if (tape->aside) {
		if (tape->digests) {
			digest_field(tape, key, key_n, RECORD_TYPE_PAIR, bytes, n);
			return;
		}
		record_trace_note_pair(r, key, key_n, bytes, n);
	}
	if (n && !r->secrets && is_secret(key, key_n)) {
		bytes = RECORD_MASK;
		n = sizeof(RECORD_MASK) - 1;
		r->masked = true;
	}
	if (key_n > room || n > room - key_n || n > UINT32_MAX)
		r->overflow = true;
	item = record_slot(r);
	if (!item)
		return;
	item->key_size = key_n;
	item->type = RECORD_TYPE_PAIR;
	item->size = (uint32_t)n;
	item->at = tape->bytes_used;
	if (key_n)
		memcpy(tape->bytes + tape->bytes_used, key, key_n);
	if (n)
		memcpy(tape->bytes + tape->bytes_used + key_n, bytes, n);
	tape->bytes_used += key_n + n;
}

static inline void close_plain(struct record *r)
{
	struct record_tape *tape = r->tape;
	struct record_item *item;

	if (tape->dropped_depth) {
		tape->dropped_depth--;
		return;
	}
	if (!tape->depth)
		return;
	tape->depth--;
	item = &tape->items[tape->items_used++];
	item->key = NULL;
	item->type = RECORD_TYPE_CLOSE;
	item->size = 0;
	item->u = 0;
}

static __attribute__((noinline, cold)) void close_aside(struct record *r)
{
	if (r->tape->digests) {
		digest_field(r->tape, NULL, 0, RECORD_TYPE_CLOSE, "", 0);
		return;
	}
	record_trace_note(r, NULL, 0);
	close_plain(r);
}

void record_put_close(struct record *r)
{
	if (r->tape->aside)
		close_aside(r);
	else
		close_plain(r);
}
