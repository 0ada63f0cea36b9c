/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decode_support.h - datagrams in, parsed JSON objects out: what the tests of the
 * decoder's machinery share.
 */
#ifndef DECODE_SUPPORT_H
#define DECODE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "decode/decode.h"
#include "lib/jsonl.h"

/* A literal with its size; NULs inside count, the one behind does not. */
#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1
#define MARK	       "\xff\xff\xff\xff"

struct harness {
	struct decoder *decoder;
	struct jsonl json;
	char *text;
	size_t size;
	FILE *file;
	uint64_t frame;
	int64_t now_ns;
	enum direction told; /* of what is sent */
};

static inline void harness_sink(void *context, const struct record *r)
{
	struct harness *h = context;

	assert_non_null(r->kind);
	assert_true((r->status == RECORD_DECODED) == (r->reason == NULL));
	jsonl_record(&h->json, r);
}

static inline struct harness *harness_with(const struct decoder_options *options)
{
	struct harness *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->file = open_memstream(&h->text, &h->size);
	assert_non_null(h->file);
	jsonl_init(&h->json, h->file);
	h->decoder = decoder_create(options, harness_sink, h);
	assert_non_null(h->decoder);
	return h;
}

static inline struct harness *harness_open(enum wire_family forced)
{
	struct decoder_options options = { .fields = true, .forced = forced };

	return harness_with(&options);
}

static inline struct record_address harness_address(uint8_t host, uint16_t port)
{
	struct record_address address = { .length = 4,
					  .bytes = { 10, 0, 0, host },
					  .port = port };

	return address;
}

/* From an exact heap copy: reading past its end is an error that the sanitizer sees. */
static inline void harness_send(struct harness *h, struct record_address source,
				struct record_address destination, const uint8_t *payload,
				size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct datagram dg = {
		.frame = ++h->frame,
		.time_ns = h->now_ns += 1000000,
		.source = source,
		.destination = destination,
		.payload = copy,
		.n = n,
		.length = n,
		.damage = RECORD_DECODED,
		.direction = h->told,
	};

	assert_non_null(copy);
	memcpy(copy, payload, n);
	decoder_datagram(h->decoder, &dg);
	free(copy);
}

static inline void harness_c2s(struct harness *h, const uint8_t *payload, size_t n)
{
	harness_send(h, harness_address(9, 5000), harness_address(1, 6000), payload, n);
}

static inline void harness_s2c(struct harness *h, const uint8_t *payload, size_t n)
{
	harness_send(h, harness_address(1, 6000), harness_address(9, 5000), payload, n);
}

/* Ends it: an array of all records, in order. Each line must be valid JSON. */
static inline json_t *harness_close(struct harness *h)
{
	json_t *all = json_array();
	json_error_t error;

	decoder_flush(h->decoder);
	decoder_free(h->decoder);
	assert_int_equal(jsonl_flush(&h->json), 0);
	fclose(h->file);
	for (char *line = h->text, *end; *line; line = end + 1) {
		json_t *object;

		end = strchr(line, '\n');
		assert_non_null(end);
		object = json_loadb(line, (size_t)(end - line),
				    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
		if (!object)
			fail_msg("not JSON: %s in %.*s", error.text, (int)(end - line),
				 line);
		json_array_append_new(all, object);
	}
	free(h->text);
	free(h);
	return all;
}

/* "a.b.0.c" in @object: objects by key, arrays by index. */
static inline json_t *at_path(json_t *object, const char *path)
{
	char part[64];

	while (object && *path) {
		size_t n = strcspn(path, ".");

		assert_true(n < sizeof(part));
		memcpy(part, path, n);
		part[n] = 0;
		object = json_is_array(object)
				 ? json_array_get(object, strtoul(part, NULL, 10))
				 : json_object_get(object, part);
		path += n + (path[n] == '.');
	}
	return object;
}

/* The value at @path as text, whatever its type. */
static inline const char *text_at(json_t *object, const char *path)
{
	static char text[256];
	json_t *value = at_path(object, path);

	if (!value)
		return "(none)";
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%lld",
			 (long long)json_integer_value(value));
	else if (json_is_array(value))
		snprintf(text, sizeof(text), "[%zu]", json_array_size(value));
	else
		snprintf(text, sizeof(text), "%s",
			 json_is_true(value)   ? "true"
			 : json_is_null(value) ? "null"
					       : "false");
	return text;
}

#endif /* DECODE_SUPPORT_H */
