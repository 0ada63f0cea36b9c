// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jsonl.c - the writer of values. Records are in record_json.c.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/jsonl.h"
#include "lib/utf8.h"

void jsonl_init(struct jsonl *json, FILE *out)
{
	json->out = out;
	json->used = 0;
	json->failed = false;
	json->quake = json->plain = false;
}

static void jsonl_drain(struct jsonl *json)
{
	if (json->used && fwrite(json->buffer, 1, json->used, json->out) != json->used)
		json->failed = true;
	json->used = 0;
}

int jsonl_flush(struct jsonl *json)
{
	jsonl_drain(json);
	if (fflush(json->out))
		json->failed = true;
	return json->failed ? -EIO : 0;
}

/* Room for @n more bytes, n far below JSONL_BUFFER. */
static inline char *jsonl_room(struct jsonl *json, size_t n)
{
	if (json->used + n > JSONL_BUFFER)
		jsonl_drain(json);
	return json->buffer + json->used;
}

static __attribute__((noinline)) void jsonl_bytes_drain(struct jsonl *json,
							const char *bytes, size_t n)
{
	while (n) {
		size_t room = JSONL_BUFFER - json->used;
		size_t part = n < room ? n : room;

		memcpy(json->buffer + json->used, bytes, part);
		json->used += part;
		bytes += part;
		n -= part;
		if (n)
			jsonl_drain(json);
	}
}

/* Nearly all is short and has room. */
static inline void jsonl_bytes(struct jsonl *json, const char *bytes, size_t n)
{
	if (n > JSONL_BUFFER - json->used) {
		jsonl_bytes_drain(json, bytes, n);
		return;
	}
	memcpy(json->buffer + json->used, bytes, n);
	json->used += n;
}

void jsonl_part(struct jsonl *json, const char *literal, size_t n)
{
	jsonl_bytes(json, literal, n);
}

void jsonl_key(struct jsonl *json, const char *key, size_t n)
{
	char *to = jsonl_room(json, n + 3);

	*to++ = '"';
	memcpy(to, key, n);
	to[n] = '"';
	to[n + 1] = ':';
	json->used += n + 3;
}

static inline bool jsonl_plain(uint8_t b)
{
	return b >= 0x20 && b < 0x7f && b != '"' && b != '\\';
}

static void jsonl_escape(struct jsonl *json, uint8_t b)
{
	static const char digits[] = "0123456789abcdef";
	static const char unicode[4] = { '\\', 'u', '0', '0' };
	const char *at = strchr("\"\"\\\\\nn\tt\rr", b);
	char *to = jsonl_room(json, 6);

	/* Pairs: the byte, then its letter. A letter itself never comes here. */
	if (b && at) {
		to[0] = '\\';
		to[1] = at[1];
		json->used += 2;
		return;
	}
	memcpy(to, unicode, sizeof(unicode));
	to[4] = digits[b >> 4];
	to[5] = digits[b & 15];
	json->used += 6;
}

/* --- the game's characters --------------------------------------------------------- */

/* What its first 32 look like, and again from 0x80 on: as DarkPlaces prints them. */
static const char looks[33] = "#####.###### >..[]0123456789.<=>";

static uint8_t look_of(uint8_t b)
{
	if (b >= 0x80 && b <= 0x82)
		return (uint8_t) "<=>"[b - 0x80];
	b &= 0x7f;
	return b < 0x20 ? (uint8_t)looks[b] : b == 0x7f ? '<' : b;
}

static void jsonl_byte(struct jsonl *json, uint8_t b)
{
	if (jsonl_plain(b)) {
		*jsonl_room(json, 1) = (char)b;
		json->used++;
	} else {
		jsonl_escape(json, b);
	}
}

/* U+E000 + @b in UTF-8. */
static void jsonl_private(struct jsonl *json, uint8_t b)
{
	char *to = jsonl_room(json, 3);

	to[0] = (char)0xee;
	to[1] = (char)(0x80 | b >> 6);
	to[2] = (char)(0x80 | (b & 0x3f));
	json->used += 3;
}

static void jsonl_quake(struct jsonl *json, uint8_t b)
{
	if (b < 0x80)
		jsonl_escape(json, b);
	else if (json->plain)
		jsonl_byte(json, look_of(b));
	else
		jsonl_private(json, b);
}

bool jsonl_has_looks(const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < n; i++)
		if (b[i] >= 0x80 || (b[i] >= 0x10 && b[i] < 0x20))
			return true;
	return false;
}

void jsonl_looks(struct jsonl *json, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;
	/* 1 and 2 in front make a line bold; they are no characters. */
	size_t i = n && (*b == 1 || *b == 2);

	jsonl_bytes(json, "\"", 1);
	for (; i < n; i++)
		jsonl_byte(json, b[i] == '\n' || b[i] == '\t' || b[i] == '\r'
					 ? b[i]
					 : look_of(b[i]));
	jsonl_bytes(json, "\"", 1);
}

void jsonl_string(struct jsonl *json, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;
	size_t i = 0;

	jsonl_bytes(json, "\"", 1);
	while (i < n) {
		size_t start = i, length;
		uint32_t control;

		while (i < n && jsonl_plain(b[i]))
			i++;
		if (i > start)
			jsonl_bytes(json, (const char *)b + start, i - start);
		if (i == n)
			break;
		if (json->quake) {
			jsonl_quake(json, b[i++]);
			continue;
		}
		length = utf8_length(b + i, n - i);
		control = length ? utf8_control(b + i, length) : 0;
		if (control)
			json->used +=
				(size_t)sprintf(jsonl_room(json, 8), "\\u%04x", control);
		else if (length)
			jsonl_bytes(json, (const char *)b + i, length);
		else
			jsonl_escape(json, b[i]);
		i += length ? length : 1;
	}
	jsonl_bytes(json, "\"", 1);
}

void jsonl_uint(struct jsonl *json, uint64_t value)
{
	char digits[20];
	size_t n = 0;
	char *to = jsonl_room(json, sizeof(digits));

	if (value < 10) {
		*to = (char)('0' + value);
		json->used++;
		return;
	}
	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	for (size_t i = 0; i < n; i++)
		to[i] = digits[n - 1 - i];
	json->used += n;
}

void jsonl_int(struct jsonl *json, int64_t value)
{
	if (value < 0)
		jsonl_bytes(json, "-", 1);
	jsonl_uint(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* As short as says the same 32-bit float again; nearly all on the wire are whole. */
void jsonl_float(struct jsonl *json, double value)
{
	char *to;

	if (!isfinite(value)) {
		jsonl_bytes(json, "null", 4);
		return;
	}
	if (value == floor(value) && fabs(value) < 1e15) {
		jsonl_int(json, (int64_t)value);
		return;
	}
	to = jsonl_room(json, 40);
	json->used += (size_t)snprintf(to, 40, "%.9g", value);
}

void jsonl_hex(struct jsonl *json, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = bytes;

	jsonl_bytes(json, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		char *to = jsonl_room(json, 2);

		to[0] = digits[b[i] >> 4];
		to[1] = digits[b[i] & 15];
		json->used += 2;
	}
	jsonl_bytes(json, "\"", 1);
}

void jsonl_time(struct jsonl *json, int64_t time_ns)
{
	uint64_t magnitude = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
	uint32_t ns = (uint32_t)(magnitude % 1000000000);
	int digits = ns % 1000 ? 9 : 6;
	char *to;

	if (time_ns < 0)
		jsonl_bytes(json, "-", 1);
	jsonl_uint(json, magnitude / 1000000000);
	if (digits == 6)
		ns /= 1000;
	to = jsonl_room(json, 10);
	to[0] = '.';
	for (int i = digits; i > 0; i--, ns /= 10)
		to[i] = (char)('0' + ns % 10);
	json->used += (size_t)digits + 1;
}
