/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jsonl.h - writes JSON, and records as JSON lines, through a buffer of fixed size.
 *
 * Valid UTF-8 without control characters is written as it is; every other byte b as
 * \u00bb. Valid UTF-8 that commands a terminal or the direction of text (U+0080..9F, bidi
 * controls, line separators) is written as \uXXXX. So the output is always valid JSON,
 * and plain text stays readable. Numbers that JSON lacks (NaN, infinities) are null.
 *
 * Texts of NetQuake, QuakeWorld and Quake II are of the game's own 256 characters, of
 * which two may look like UTF-8: there byte b from 0x80 on is U+E000 + b, as DarkPlaces
 * and FTE have it, and each byte below is the character of that number. So every byte
 * comes back.
 *
 * The caller writes the commas and brackets; no function here checks that they match. An
 * error of the file is kept until jsonl_flush(), so calls between need no check.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stdio.h>
#include <string.h>

#include "lib/record.h"
#include "lib/json_key.h"

#define JSONL_BUFFER 65536 /* bytes */

struct jsonl {
	FILE *out;
	size_t used;
	bool failed; /* the file took not all */
	bool quake; /* texts are of the game's characters */
	bool plain; /* and of these, what they look like in ASCII */
	char buffer[JSONL_BUFFER];
};

/* Begin to write to @out, which stays the caller's. */
void jsonl_init(struct jsonl *json, FILE *out);
/* Hand everything to the file; -EIO if anything was lost. */
int jsonl_flush(struct jsonl *json);

/* Hand the buffer to the file, which may keep it. */
void jsonl_drain(struct jsonl *json);

/*
 * Return room for @n more bytes, n far below JSONL_BUFFER; jsonl_wrote() says where
 * they end.
 */
static inline char *jsonl_room(struct jsonl *json, size_t n)
{
	if (json->used + n > JSONL_BUFFER)
		jsonl_drain(json);
	return json->buffer + json->used;
}

static inline void jsonl_wrote(struct jsonl *json, const char *end)
{
	json->used = (size_t)(end - json->buffer);
}

/* Write as jsonl_part() does where the buffer has no room for the bytes. */
void jsonl_drain_part(struct jsonl *json, const char *bytes, size_t n);

/* Write the first @n characters of @literal, as they are. */
static inline void jsonl_part(struct jsonl *json, const char *literal, size_t n)
{
	if (n > JSONL_BUFFER - json->used) {
		jsonl_drain_part(json, literal, n);
		return;
	}
	memcpy(json->buffer + json->used, literal, n);
	json->used += n;
}

static inline void jsonl_text(struct jsonl *json, const char *literal)
{
	jsonl_part(json, literal, strlen(literal));
}
/* Write @n bytes as a JSON string with its quotes, by the rules above. */
void jsonl_string(struct jsonl *json, const void *bytes, size_t n);
/* Write an address of @n bytes, 4 or 16, without quotes, as inet_ntop(3) does. */
void jsonl_host(struct jsonl *json, const uint8_t *bytes, size_t n);

/*
 * Write the game's characters as the ASCII that they look like: bold, gold digits,
 * brackets.
 */
void jsonl_looks(struct jsonl *json, const void *bytes, size_t n);
/*
 * Return true if @bytes has characters that look like others: byte 0x80 and above, 0x10
 * to 0x1f.
 */
bool jsonl_has_looks(const void *bytes, size_t n);

/*
 * Each of these writes one value: a number in digits; a float as the shortest text that
 * gives the same 32-bit float again, or null if it is not finite; bytes as a string of
 * hex digits.
 */
void jsonl_uint(struct jsonl *json, uint64_t value);
void jsonl_int(struct jsonl *json, int64_t value);
void jsonl_float(struct jsonl *json, double value);
void jsonl_hex(struct jsonl *json, const void *bytes, size_t n);
/* Write the time in seconds, with as many digits as there is precision. */
void jsonl_time(struct jsonl *json, int64_t time_ns);

extern const struct json_key record_keys[];

/* Write a record as one line: the fixed part first, then the tape. */
void jsonl_record(struct jsonl *json, const struct record *r);

/*
 * Write the record likewise, without the closing brace and the line's end, for a caller
 * that adds more keys.
 */
void jsonl_record_open(struct jsonl *json, const struct record *r);

/*
 * Write the member "plaintext" after a comma: the decrypted bytes, several as an array;
 * null: a password would stand in it.
 */
void jsonl_plaintext(struct jsonl *json, const struct record *r);

#endif /* JSONL_H */
