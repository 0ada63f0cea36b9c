/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * json.h - a JSON writer into one growing-never buffer, and records as JSON lines.
 *
 * Bytes become text thus: what is valid UTF-8 and no control character is written as it
 * is; every other byte b as \u00bb. So the output is always valid JSON, and plain text
 * stays readable. Numbers that JSON lacks (NaN, infinities) are null.
 */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

#include "record.h"

#define JSON_BUFFER 65536

struct json {
	FILE *out;
	size_t used;
	bool failed; /* the file took not all */
	char buffer[JSON_BUFFER];
};

void json_init(struct json *json, FILE *out);
/* Everything to the file; -EIO if anything was lost. */
int json_flush(struct json *json);

void json_text(struct json *json, const char *literal);
void json_string(struct json *json, const void *bytes, size_t n);
void json_uint(struct json *json, uint64_t value);
void json_int(struct json *json, int64_t value);
void json_float(struct json *json, double value);
void json_hex(struct json *json, const void *bytes, size_t n);
/* Seconds, with as many digits as there is precision. */
void json_time(struct json *json, int64_t time_ns);

/* One line, fixed part first, then the tape. */
void json_record(struct json *json, const struct record *r);

/* The tape alone: ,"key":value,... without braces; for other renderers. */
void json_fields(struct json *json, const struct record *r);

#endif /* JSON_H */
