// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record_json.c - one record, one line. Its keys: record_keys[].
 */
#include <math.h>
#include <string.h>

#include "lib/digits.h"
#include "lib/json_key.h"
#include "lib/jsonl.h"
#include "lib/names.h"
#include "lib/record_trace.h"

const char *const record_status_names[RECORD_STATUS_COUNT] = {
	[RECORD_DECODED] = "decoded",
	[RECORD_PARTIAL] = "partial",
	[RECORD_OPAQUE] = "opaque",
	[RECORD_MALFORMED] = "malformed",
};

#define KEY_MAX 64 /* of a text that is shown a second time */

/* Write @key and a literal of this program, which needs no escapes. */
static void jsonl_word(struct jsonl *json, const char *key, const char *value)
{
	jsonl_text(json, key);
	if (!value) {
		jsonl_text(json, "null");
		return;
	}
	jsonl_text(json, "\"");
	jsonl_text(json, value);
	jsonl_text(json, "\"");
}

static void jsonl_address(struct jsonl *json, const char *host, const char *port,
			  const struct record_address *address)
{
	if (!address->length)
		return;
	jsonl_text(json, host);
	jsonl_host(json, address->bytes, address->length);
	jsonl_text(json, port);
	jsonl_uint(json, address->port);
}

/* Write a text or bytes. Their length has no bound. */
static void jsonl_long(struct jsonl *json, const struct record_tape *tape,
		       const struct record_item *item)
{
	const uint8_t *bytes = tape->bytes + item->at;

	if (item->type == RECORD_TYPE_PAIR) {
		jsonl_string(json, bytes, item->key_size);
		jsonl_text(json, ":");
		jsonl_string(json, bytes + item->key_size, item->size);
	} else if (item->type == RECORD_TYPE_STRING) {
		jsonl_string(json, bytes, item->size);
	} else {
		jsonl_hex(json, bytes, item->size);
	}
}

/* Write the key and the value, or its opening brace, after a comma unless @first. */
static void jsonl_item(struct jsonl *json, const struct record_tape *tape,
		       const struct record_item *item, bool first)
{
	const char *key = item->type == RECORD_TYPE_PAIR ? NULL : item->key;
	bool cut = item->type == RECORD_TYPE_ARRAY && item->size;
	size_t key_n = cut ? item->size : key ? strlen(key) : 0;
	char *to = jsonl_room(json, key_n + 4 + DIGITS_ROOM);

	if (!first)
		*to++ = ',';
	if (key) {
		*to++ = '"';
		to = mempcpy(to, key, key_n);
		*to++ = '"';
		*to++ = ':';
	}
	switch ((enum record_type)item->type) {
	case RECORD_TYPE_INT:
		to = digits_int(to, item->i);
		break;
	case RECORD_TYPE_UINT:
		to = digits_uint(to, item->u);
		break;
	case RECORD_TYPE_FLOAT:
		to = isfinite(item->f) ? digits_float(to, item->f) : stpcpy(to, "null");
		break;
	case RECORD_TYPE_BOOL:
		to = stpcpy(to, item->u ? "true" : "false");
		break;
	case RECORD_TYPE_NULL:
		to = stpcpy(to, "null");
		break;
	case RECORD_TYPE_OBJECT:
		*to++ = '{';
		break;
	case RECORD_TYPE_ARRAY:
		*to++ = '[';
		break;
	case RECORD_TYPE_STRING:
	case RECORD_TYPE_HEX:
	case RECORD_TYPE_PAIR:
		jsonl_wrote(json, to);
		jsonl_long(json, tape, item);
		return;
	case RECORD_TYPE_CLOSE:
		break;
	}
	jsonl_wrote(json, to);
}

static const char plain_suffix[] = "_plain";

#define PLAIN_N	  (sizeof(plain_suffix) - 1)
#define PLAIN_MAX 64 /* in one object; no game has one */

/*
 * The pairs of one object with keys that end in "_plain" on the wire. They are collected
 * once per object, so that the work for a hostile object is linear in its length.
 */
struct plain_pairs {
	size_t end; /* index on the tape; valid for the pairs before it */
	size_t n; /* PLAIN_MAX: too many to compare */
	size_t at[PLAIN_MAX];
};

static void find_plain_pairs(struct plain_pairs *p, const struct record_tape *tape,
			     size_t i)
{
	while (i && tape->items[i - 1].type == RECORD_TYPE_PAIR)
		i--;
	p->n = 0;
	for (; i < tape->items_used && tape->items[i].type == RECORD_TYPE_PAIR; i++) {
		const struct record_item *item = &tape->items[i];
		const uint8_t *end = tape->bytes + item->at + item->key_size;

		if (p->n < PLAIN_MAX && item->key_size >= PLAIN_N &&
		    !memcmp(end - PLAIN_N, plain_suffix, PLAIN_N))
			p->at[p->n++] = i;
	}
	p->end = i;
}

/* Does the object around item @i, one of its pairs, have @key from the wire? */
static bool has_pair(struct plain_pairs *p, const struct record_tape *tape, size_t i,
		     const void *key, size_t n)
{
	if (i >= p->end)
		find_plain_pairs(p, tape, i);
	for (size_t k = 0; k < p->n && p->n < PLAIN_MAX; k++) {
		const struct record_item *item = &tape->items[p->at[k]];

		if (item->key_size == n && !memcmp(tape->bytes + item->at, key, n))
			return true;
	}
	return p->n == PLAIN_MAX;
}

/*
 * For a text with characters that look like others, write also what it looks like, for a
 * search: "name" and "name_plain". A key of the wire that is called so comes first.
 */
static void jsonl_plain_too(struct jsonl *json, const struct record_tape *tape, size_t i,
			    struct plain_pairs *pairs)
{
	const struct record_item *item = &tape->items[i];
	bool pair = item->type == RECORD_TYPE_PAIR;
	const uint8_t *text;
	size_t key_n;
	char key[KEY_MAX + sizeof(plain_suffix)];

	if (!pair && (item->type != RECORD_TYPE_STRING || !item->key))
		return;
	key_n = pair ? item->key_size : strlen(item->key);
	if (key_n > KEY_MAX)
		return;
	text = tape->bytes + item->at + (pair ? key_n : 0);
	if (!jsonl_has_looks(text, item->size))
		return;
	memcpy(key, pair ? (const char *)tape->bytes + item->at : item->key, key_n);
	memcpy(key + key_n, plain_suffix, PLAIN_N);
	key_n += PLAIN_N;
	if (pair && has_pair(pairs, tape, i, key, key_n))
		return;
	jsonl_text(json, ",");
	jsonl_string(json, key, key_n);
	jsonl_text(json, ":");
	jsonl_looks(json, text, item->size);
}

static void jsonl_fields(struct jsonl *json, const struct record *r)
{
	const struct record_tape *tape = r->tape;
	struct plain_pairs pairs;
	char closing[RECORD_DEPTH_MAX];
	size_t depth = 0;
	bool first = false; /* something always stands before */

	pairs.end = pairs.n = 0;
	json->quake = record_is_quake_text(r);
	for (size_t i = 0; tape && i < tape->items_used; i++) {
		const struct record_item *item = &tape->items[i];

		if (item->type == RECORD_TYPE_CLOSE) {
			jsonl_part(json, &closing[--depth], 1);
			first = false;
			continue;
		}
		jsonl_item(json, tape, item, first);
		if (json->quake)
			jsonl_plain_too(json, tape, i, &pairs);
		first = item->type == RECORD_TYPE_OBJECT ||
			item->type == RECORD_TYPE_ARRAY;
		if (first)
			closing[depth++] = item->type == RECORD_TYPE_OBJECT ? '}' : ']';
	}
	json->quake = false;
	while (depth)
		jsonl_part(json, &closing[--depth], 1);
}

const struct json_key record_keys[] = {
	JSON_KEY(
		"frame", "integer", NULL,
		"Number of the packet in its capture, of its last IP fragment; or of the block in its demo."),
	JSON_KEY(
		"time", "number", "seconds",
		"Since 1970; in a demo since its beginning, where the container tells; in `.dm_NN` the `serverTime` of the last snapshot."),
	JSON_KEY("protocol", "string|null", NULL,
		 "Its protocol; null: none that is decoded."),
	JSON_KEY(
		"direction", "string|null", NULL,
		"`c2s`: from a client; `s2c`: from a game server, to a master server too; null: not known."),
	JSON_KEY("kind", "string", NULL,
		 "Word, control opcode or message, as in docs/RECORDS.md."),
	JSON_KEY(
		"status", "string", NULL,
		"`decoded`: every bit accounted for; `partial`: readable in part; `opaque`: needs a state, a key or a decoder that is not there; `malformed`: breaks the protocol."),
	JSON_KEY("reason", "string?", NULL, "Why it is not `decoded`."),
	JSON_KEY("dialect", "string?", NULL,
		 "Dialect of the protocol, where it is known."),
	JSON_KEY(
		"dialect_guess", "string?", NULL,
		"In place of `dialect`: the likeliest of several that fit. A record is `decoded` only if all of them read it alike, else `partial`."),
	JSON_KEY(
		"untested", "boolean?", NULL,
		"True: no recording of this dialect, or of an extension in use, was at hand. Its tables were compared with vectors made by the rules of its source at most."),
	JSON_KEY("src", "string?", NULL, "Source address, of a capture."),
	JSON_KEY("sport", "integer?", NULL, "Source UDP port."),
	JSON_KEY("dst", "string?", NULL, "Destination address."),
	JSON_KEY("dport", "integer?", NULL, "Destination UDP port."),
	JSON_KEY(
		"overflow", "boolean?", NULL,
		"True: the record has more fields than one can hold, 65536; the rest is not shown."),
	JSON_KEY("file", "string?", NULL, "Name of the file, where several are decoded."),
	JSON_KEY("payload", "string|null?", NULL,
		 "With --hex: bytes of the datagram; null where they hold a password."),
	JSON_KEY("plaintext", "any?", NULL,
		 "With --hex: decrypted bytes of the datagram, or an array of them."),
	JSON_OBJECT(
		"streams", "object[]?", NULL,
		"With --trace: what the fields stand in. The first is the datagram or block; others are what it was decompressed or decrypted to, or a message of several datagrams.",
		record_stream_keys),
	JSON_OBJECT("trace", "object[]?", NULL,
		    "With --trace: where each field stands, in the order of the wire.",
		    record_place_keys),
	JSON_KEY("sampler", "string?", NULL, "Daemon only: `statistic` or `follow`."),
	JSON_KEY("service", "string?", NULL, "Daemon only: name of the service."),
	JSON_KEY(
		"verdict", "string?", NULL,
		"Daemon only: verdict; in a service that is observed only, the datagram passed all the same."),
	JSON_KEY("shield_reason", "string?", NULL, "Daemon only: reason of the verdict."),
	JSON_KEY("shield_kind", "string?", NULL,
		 "Daemon only: kind of the message as the kernel saw it."),
	JSON_KEY(
		"*", "any", NULL,
		"All other keys are fields of the message, in the order of the wire: docs/RECORDS.md."),
	JSON_END,
};

void jsonl_record_open(struct jsonl *json, const struct record *r)
{
	static const char *const directions[DIRECTION_COUNT] = {
		[DIRECTION_C2S] = "c2s",
		[DIRECTION_S2C] = "s2c",
	};

	jsonl_text(json, "{\"frame\":");
	jsonl_uint(json, r->frame);
	jsonl_text(json, ",\"time\":");
	jsonl_time(json, r->time_ns);
	jsonl_word(json, ",\"protocol\":",
		   r->family == FAMILY_AUTO ? NULL : family_name(r->family));
	jsonl_word(json, ",\"direction\":", directions[r->direction]);
	jsonl_word(json, ",\"kind\":", r->kind);
	jsonl_word(json, ",\"status\":", record_status_names[r->status]);
	if (r->reason) {
		jsonl_text(json, ",\"reason\":");
		jsonl_string(json, r->reason, strlen(r->reason));
	}
	if (r->dialect)
		jsonl_word(json, r->guess ? ",\"dialect_guess\":" : ",\"dialect\":",
			   r->dialect);
	if (r->untested)
		jsonl_text(json, ",\"untested\":true");
	jsonl_address(json, ",\"src\":\"", "\",\"sport\":", &r->source);
	jsonl_address(json, ",\"dst\":\"", "\",\"dport\":", &r->destination);
	jsonl_fields(json, r);
	if (r->overflow)
		jsonl_text(json, ",\"overflow\":true");
}

void jsonl_record(struct jsonl *json, const struct record *r)
{
	jsonl_record_open(json, r);
	jsonl_text(json, "}\n");
}

void jsonl_plaintext(struct jsonl *json, const struct record *r)
{
	jsonl_text(json, ",\"plaintext\":");
	if (r->masked) {
		jsonl_text(json, "null");
		return;
	}
	for (unsigned int i = 0; i < r->plains_n; i++) {
		if (r->plains_n > 1)
			jsonl_text(json, i ? "," : "[");
		jsonl_hex(json, r->plains[i].bytes, r->plains[i].n);
	}
	if (r->plains_n > 1)
		jsonl_text(json, "]");
}
