// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record_text.c - the line of a record. It knows no family: it finds the values on the
 * tape by type, and by a few names that all families share.
 *
 * Messages in "ops" that come more than twice are counted, the others are shown with
 * their texts and numbers. An object of an info string is shown by a name or two.
 */
#include <string.h>
#include <strings.h>

#include "decode/record_text.h"
#include "lib/digits.h"
#include "lib/names.h"

#define TEXT_SHOWN   72 /* bytes of a text */
#define VALUES_SHOWN 6 /* of one message */
#define OPS_SHOWN    8 /* different ones */
#define DAY_S	     86400
#define DEMO_DAYS_S  (30LL * DAY_S) /* times below are of a recording */

struct shown {
	struct jsonl *json;
	const struct record *r;
	const struct record_item *items;
	size_t n;
};

static void text_address(struct jsonl *json, const struct record_address *address)
{
	jsonl_text(json, address->length == 4 ? "" : "[");
	jsonl_host(json, address->bytes, address->length);
	jsonl_text(json, address->length == 4 ? ":" : "]:");
	jsonl_uint(json, address->port);
}

static void text_time(struct jsonl *json, const struct record *r)
{
	uint64_t us = (uint64_t)r->time_ns / 1000, seconds = us / 1000000;
	char *to;

	if (!r->source.length || r->time_ns < DEMO_DAYS_S * 1000000000) {
		jsonl_time(json, r->time_ns);
		return;
	}
	to = jsonl_room(json, DIGITS_ROOM);
	to = digits_fixed(to, seconds % DAY_S / 3600, 2);
	*to++ = ':';
	to = digits_fixed(to, seconds / 60 % 60, 2);
	*to++ = ':';
	to = digits_fixed(to, seconds % 60, 2);
	*to++ = '.';
	jsonl_wrote(json, digits_fixed(to, us % 1000000, 6));
}

/* Return the place after the value at @i, and all that is in it. */
static size_t skip(const struct shown *s, size_t i)
{
	size_t depth = 0;

	do {
		if (s->items[i].type == RECORD_TYPE_OBJECT ||
		    s->items[i].type == RECORD_TYPE_ARRAY)
			depth++;
		else if (s->items[i].type == RECORD_TYPE_CLOSE)
			depth--;
		i++;
	} while (depth && i < s->n);
	return i;
}

static bool is_open(const struct record_item *item)
{
	return item->type == RECORD_TYPE_OBJECT || item->type == RECORD_TYPE_ARRAY;
}

static bool is_key(const struct shown *s, const struct record_item *item, const char *key)
{
	size_t n = strlen(key);

	if (item->type == RECORD_TYPE_PAIR)
		return item->key_size == n &&
		       !strncasecmp((const char *)s->r->tape->bytes + item->at, key, n);
	return item->key && !strcmp(item->key, key);
}

/* The value of @key among those from @i to the close of what is open there, or NULL. */
static const struct record_item *find(const struct shown *s, size_t i, const char *key)
{
	for (; i < s->n && s->items[i].type != RECORD_TYPE_CLOSE; i = skip(s, i))
		if (is_key(s, &s->items[i], key))
			return &s->items[i];
	return NULL;
}

static void text_string(const struct shown *s, const struct record_item *item)
{
	size_t at = item->at + (item->type == RECORD_TYPE_PAIR ? item->key_size : 0);
	size_t n = item->size < TEXT_SHOWN ? item->size : TEXT_SHOWN;

	jsonl_string(s->json, s->r->tape->bytes + at, n);
	if (n < item->size)
		jsonl_text(s->json, "...");
}

static void text_number(struct jsonl *json, const struct record_item *item)
{
	if (item->type == RECORD_TYPE_INT)
		jsonl_int(json, item->i);
	else if (item->type == RECORD_TYPE_UINT)
		jsonl_uint(json, item->u);
	else if (item->type == RECORD_TYPE_FLOAT)
		jsonl_float(json, item->f);
	else
		jsonl_text(json, item->type == RECORD_TYPE_NULL ? "null"
				 : item->u			? "true"
								: "false");
}

/*
 * Show an array: how many values it has, or the numbers themselves if they are up to
 * three.
 */
static void text_array(const struct shown *s, size_t i, const char *before)
{
	const struct record_item *array = &s->items[i];
	size_t count = 0, key_n = array->size;
	bool numbers = true;

	if (!array->key)
		return;
	if (!key_n)
		key_n = strlen(array->key);
	for (size_t at = i + 1; at < s->n && s->items[at].type != RECORD_TYPE_CLOSE;
	     at = skip(s, at), count++)
		numbers &= !is_open(&s->items[at]) &&
			   s->items[at].type != RECORD_TYPE_STRING &&
			   s->items[at].type != RECORD_TYPE_HEX;
	jsonl_text(s->json, before);
	if (!numbers || count > 3 || !count) {
		jsonl_uint(s->json, count);
		jsonl_text(s->json, " ");
	}
	jsonl_part(s->json, array->key, key_n);
	for (size_t at = i + 1; numbers && count <= 3 && count && at < i + 1 + count;
	     at++) {
		jsonl_text(s->json, " ");
		text_number(s->json, &s->items[at]);
	}
}

/* The keys of an info string that name a player or server. */
static bool text_info(const struct shown *s, size_t i, const char *before)
{
	static const char *const keys[] = { "name", "sv_hostname", "hostname", "mapname",
					    "map" };
	bool any = false;

	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		const struct record_item *item = find(s, i + 1, keys[k]);

		if (!item || item->type != RECORD_TYPE_PAIR)
			continue;
		jsonl_text(s->json, any ? " " : before);
		jsonl_text(s->json, keys[k]);
		jsonl_text(s->json, " ");
		text_string(s, item);
		any = true;
	}
	return any;
}

/* Keys that go without saying, or have a shorter word. */
static const char *word_of(const char *key)
{
	static const char *const words[][2] = {
		{ "text", "" },
		{ "serverframe", "" },
		{ "deltaframe", "from" },
		{ "level", "level" },
		{ "serverTime", "time" },
		{ "number", "" },
		{ "delta_frame", "from" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i][0], key))
			return words[i][1];
	return key;
}

static void text_word(const struct shown *s, const char *before, const char *key)
{
	const char *word = key ? word_of(key) : "";

	jsonl_text(s->json, before);
	jsonl_text(s->json, word);
	jsonl_text(s->json, *word ? " " : "");
}

static bool text_number_named(const struct shown *s, const struct record_item *item,
			      const char *before)
{
	static const char *const levels[] = { "low", "medium", "high", "chat" };
	uint64_t sequence = s->r->facts.sequence;

	if (!strcmp(item->key, "level") && item->u < 4) {
		jsonl_text(s->json, before);
		jsonl_text(s->json, levels[item->u]);
		return true;
	}
	if (strcmp(item->key, "deltaNum") != 0 || !(s->r->facts.has & FACT_SEQUENCE))
		return false;
	/* Quake III counts back from the message. */
	jsonl_text(s->json, before);
	jsonl_text(s->json, item->u && item->u < sequence ? "from " : "full");
	if (item->u && item->u < sequence)
		jsonl_uint(s->json, sequence - item->u);
	return true;
}

/* One value, if it is of those that are shown. */
static bool text_value(const struct shown *s, size_t i, const char *before)
{
	const struct record_item *item = &s->items[i];

	switch ((enum record_type)item->type) {
	case RECORD_TYPE_STRING:
		text_word(s, before, item->key);
		text_string(s, item);
		return true;
	case RECORD_TYPE_OBJECT:
		return text_info(s, i, before);
	case RECORD_TYPE_ARRAY:
		text_array(s, i, before);
		return true;
	case RECORD_TYPE_INT:
	case RECORD_TYPE_UINT:
	case RECORD_TYPE_FLOAT:
		if (!item->key || text_number_named(s, item, before))
			return item->key != NULL;
		text_word(s, before, item->key);
		text_number(s->json, item);
		return true;
	case RECORD_TYPE_BOOL:
		if (!item->key || !item->u)
			return false;
		jsonl_text(s->json, before);
		jsonl_text(s->json, item->key);
		return true;
	case RECORD_TYPE_HEX:
	case RECORD_TYPE_PAIR:
	case RECORD_TYPE_CLOSE:
	case RECORD_TYPE_NULL:
		break;
	}
	return false;
}

/* From @i to the close of what is open there. */
static void text_values(const struct shown *s, size_t i, const char *before)
{
	unsigned int used = 0;

	for (; i < s->n && s->items[i].type != RECORD_TYPE_CLOSE && used < VALUES_SHOWN;
	     i = skip(s, i)) {
		if (is_key(s, &s->items[i], "op") || is_key(s, &s->items[i], "ops"))
			continue;
		if (text_value(s, i, used ? ", " : before))
			used++;
	}
}

static bool same_op(const struct shown *s, const struct record_item *a,
		    const struct record_item *b)
{
	const uint8_t *bytes = s->r->tape->bytes;

	return a && b && a->type == RECORD_TYPE_STRING && b->type == a->type &&
	       a->size == b->size && !memcmp(bytes + a->at, bytes + b->at, a->size);
}

/* Return how many of the ops from @i on are like the one there. */
static unsigned int count_op(const struct shown *s, size_t i)
{
	const struct record_item *op = find(s, i + 1, "op");
	unsigned int count = 0;

	for (; i < s->n && s->items[i].type != RECORD_TYPE_CLOSE; i = skip(s, i))
		count += same_op(s, op, find(s, i + 1, "op"));
	return count;
}

static void text_ops(const struct shown *s, size_t first)
{
	const struct record_item *printed[OPS_SHOWN];
	unsigned int used = 0;

	for (size_t i = first; i < s->n && s->items[i].type != RECORD_TYPE_CLOSE;
	     i = skip(s, i)) {
		const struct record_item *op = find(s, i + 1, "op");
		unsigned int count, known = 0;

		while (known < used && !same_op(s, printed[known], op))
			known++;
		if (!op || op->type != RECORD_TYPE_STRING || known < used)
			continue;
		if (used == OPS_SHOWN) {
			jsonl_text(s->json, "; ...");
			return;
		}
		count = count_op(s, i);
		if (count > 2)
			printed[used] = op;
		jsonl_text(s->json, used ? "; " : " ");
		if (count > 2)
			jsonl_uint(s->json, count);
		jsonl_text(s->json, count > 2 ? " " : "");
		jsonl_part(s->json, (const char *)s->r->tape->bytes + op->at, op->size);
		if (count <= 2) {
			text_values(s, i + 1, " ");
			printed[used] = NULL;
		}
		used++;
	}
}

static void text_status(struct jsonl *json, const struct record *r)
{
	if (r->status == RECORD_DECODED)
		return;
	jsonl_text(json, " ");
	jsonl_text(json, record_status_names[r->status]);
	jsonl_text(json, " (");
	jsonl_text(json, r->reason ? r->reason : "");
	jsonl_text(json, ")");
}

static void text_head(struct jsonl *json, const struct record *r)
{
	static const char *const directions[DIRECTION_COUNT] = {
		[DIRECTION_UNKNOWN] = " ",
		[DIRECTION_C2S] = " c2s ",
		[DIRECTION_S2C] = " s2c ",
	};

	text_time(json, r);
	jsonl_text(json, " ");
	if (r->source.length) {
		text_address(json, &r->source);
		jsonl_text(json, " > ");
		text_address(json, &r->destination);
		jsonl_text(json, " ");
	}
	jsonl_text(json, r->family == FAMILY_AUTO ? "-" : family_name(r->family));
	if (r->dialect) {
		jsonl_text(json, "/");
		jsonl_text(json, r->dialect);
		jsonl_text(json, r->guess ? "?" : "");
		jsonl_text(json, r->untested ? " untested" : "");
	}
	jsonl_text(json, directions[r->direction]);
	jsonl_text(json, r->kind);
	if (r->facts.has & FACT_SEQUENCE) {
		jsonl_text(json, " ");
		jsonl_uint(json, r->facts.sequence);
	}
	if (r->facts.has & FACT_ACK) {
		jsonl_text(json, " ack ");
		jsonl_uint(json, r->facts.ack);
	}
	text_status(json, r);
}

/* A line is for reading: the game's characters are shown as what they look like. */
static void text_as(struct jsonl *json, bool quake)
{
	json->quake = json->plain = quake;
}

void record_text(struct jsonl *json, const struct record *r)
{
	struct shown s = { json, r, NULL, 0 };
	const struct record_item *ops;

	text_head(json, r);
	text_as(json, record_is_quake_text(r));
	if (r->tape && r->tape->items_used) {
		s.items = r->tape->items;
		s.n = r->tape->items_used;
		jsonl_text(json, ":");
		ops = find(&s, 0, "ops");
		if (ops)
			text_ops(&s, (size_t)(ops - s.items) + 1);
		else
			text_values(&s, 0, " ");
	}
	text_as(json, false);
	jsonl_text(json, r->overflow ? " overflow\n" : "\n");
}

/* --- all fields --------------------------------------------------------------- */

static void indent(struct jsonl *json, unsigned int depth)
{
	for (unsigned int i = 0; i <= depth; i++)
		jsonl_text(json, "    ");
}

static void text_any(const struct shown *s, const struct record_item *item)
{
	const uint8_t *bytes = s->r->tape->bytes; /* of a number @at is its value */

	if (item->type == RECORD_TYPE_STRING)
		jsonl_string(s->json, bytes + item->at, item->size);
	else if (item->type == RECORD_TYPE_PAIR)
		jsonl_string(s->json, bytes + item->at + item->key_size, item->size);
	else if (item->type == RECORD_TYPE_HEX)
		jsonl_hex(s->json, bytes + item->at, item->size);
	else
		text_number(s->json, item);
}

void record_text_value(struct jsonl *json, const struct record *r,
		       const struct record_item *item)
{
	struct shown s = { json, r, r->tape->items, r->tape->items_used };

	jsonl_text(json, " ");
	text_as(json, record_is_quake_text(r));
	text_any(&s, item);
	text_as(json, false);
}

static void text_key(const struct shown *s, const struct record_item *item)
{
	if (item->type == RECORD_TYPE_PAIR)
		jsonl_string(s->json, s->r->tape->bytes + item->at, item->key_size);
	else if (item->key && item->type == RECORD_TYPE_ARRAY && item->size)
		jsonl_part(s->json, item->key, item->size);
	else
		jsonl_text(s->json, item->key ? item->key : "-");
	jsonl_text(s->json, is_open(item) ? "" : " ");
}

/* An array of nothing but numbers goes on one line: how many there are, 0 if not. */
static size_t row_length(const struct shown *s, size_t i)
{
	size_t n = 0;

	if (s->items[i].type != RECORD_TYPE_ARRAY)
		return 0;
	for (i++; i < s->n && s->items[i].type != RECORD_TYPE_CLOSE; i++, n++)
		if (is_open(&s->items[i]) || s->items[i].type == RECORD_TYPE_STRING)
			return 0;
	return n;
}

void record_text_fields(struct jsonl *json, const struct record *r)
{
	struct shown s = { json, r, r->tape ? r->tape->items : NULL,
			   r->tape ? r->tape->items_used : 0 };
	unsigned int depth = 0;

	text_as(json, record_is_quake_text(r));
	for (size_t i = 0; i < s.n; i++) {
		const struct record_item *item = &s.items[i];
		size_t row;

		if (item->type == RECORD_TYPE_CLOSE) {
			depth -= depth > 0;
			continue;
		}
		indent(json, depth);
		text_key(&s, item);
		row = row_length(&s, i);
		for (size_t at = i + 1; row && at <= i + row; at++) {
			jsonl_text(json, " ");
			text_any(&s, &s.items[at]);
		}
		if (row)
			i += row + (i + row + 1 < s.n);
		else if (is_open(item))
			depth++;
		else
			text_any(&s, item);
		jsonl_text(json, "\n");
	}
	text_as(json, false);
}
