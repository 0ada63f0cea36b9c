// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jsonl.c - the writer of values. Records are in record_json.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/digits.h"
#include "lib/jsonl.h"
#include "lib/utf8.h"

#define HEX_PART 256 /* bytes for which room is asked at once */

static const char hex_digits[] = "0123456789abcdef";

void jsonl_init(struct jsonl *json, FILE *out)
{
	json->out = out;
	json->used = 0;
	json->failed = false;
	json->quake = json->plain = false;
}

void jsonl_drain(struct jsonl *json)
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

void jsonl_drain_part(struct jsonl *json, const char *bytes, size_t n)
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

/* --- texts ------------------------------------------------------------------------- */

/* Each put_ function writes what one character of a text becomes, of at most PUT_MAX
 * bytes, and returns the end of it. */
#define PUT_MAX	 6
#define PUT_PART 128 /* characters for which room is asked at once */

/* Bytes that stand in JSON as they are. */
static const bool is_plain[256] = {
	[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... '~'] = true,
};

static char *put_unicode(char *to, uint32_t c)
{
	*to++ = '\\';
	*to++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = hex_digits[c >> shift & 15];
	return to;
}

static char *put_escaped(char *to, uint8_t b)
{
	/* Pairs: the byte, then its letter. A letter itself never comes here. */
	const char *at = b ? strchr("\"\"\\\\\nn\tt\rr", b) : NULL;

	if (!at)
		return put_unicode(to, b);
	*to++ = '\\';
	*to++ = at[1];
	return to;
}

static inline char *put_byte(char *to, uint8_t b)
{
	if (!is_plain[b])
		return put_escaped(to, b);
	*to++ = (char)b;
	return to;
}

/*
 * The ASCII for the first 32 of the game's characters, and again from 0x80 on: as
 * DarkPlaces prints them.
 */
static const char looks[33] = "#####.###### >..[]0123456789.<=>";

static uint8_t look_of(uint8_t b)
{
	if (b >= 0x80 && b <= 0x82)
		return (uint8_t) "<=>"[b - 0x80];
	b &= 0x7f;
	return b < 0x20 ? (uint8_t)looks[b] : b == 0x7f ? '<' : b;
}

/* One of the game's characters that is not plain: U+E000 + @b in UTF-8. */
static char *put_quake(char *to, uint8_t b, bool plain)
{
	if (b < 0x80 || plain)
		return put_byte(to, b < 0x80 ? b : look_of(b));
	*to++ = (char)0xee;
	*to++ = (char)(0x80 | b >> 6);
	*to++ = (char)(0x80 | (b & 0x3f));
	return to;
}

/* The character at *@b that is not plain; *@b: behind it. */
static char *put_utf8(char *to, const uint8_t **b, const uint8_t *end)
{
	size_t length = utf8_length(*b, (size_t)(end - *b));
	uint32_t control = length ? utf8_control(*b, length) : 0;

	if (!length)
		return put_escaped(to, *(*b)++);
	if (control)
		to = put_unicode(to, control);
	else
		to = mempcpy(to, *b, length);
	*b += length;
	return to;
}

void jsonl_string(struct jsonl *json, const void *bytes, size_t n)
{
	const uint8_t *b = bytes, *end = b + n;

	jsonl_part(json, "\"", 1);
	while (b < end) {
		const uint8_t *stop = end - b > PUT_PART ? b + PUT_PART : end;
		char *to = jsonl_room(json, PUT_PART * PUT_MAX);

		while (b < stop) {
			if (is_plain[*b])
				*to++ = (char)*b++;
			else if (json->quake)
				to = put_quake(to, *b++, json->plain);
			else
				to = put_utf8(to, &b, end);
		}
		jsonl_wrote(json, to);
	}
	jsonl_part(json, "\"", 1);
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
	const uint8_t *b = bytes, *end = b + n;

	/* 1 and 2 in front make a line bold; they are no characters. */
	if (n && (*b == 1 || *b == 2))
		b++;
	jsonl_part(json, "\"", 1);
	for (; b < end; b++) {
		bool kept = *b == '\n' || *b == '\t' || *b == '\r';
		char *to = jsonl_room(json, PUT_MAX);

		jsonl_wrote(json, put_byte(to, kept ? *b : look_of(*b)));
	}
	jsonl_part(json, "\"", 1);
}

void jsonl_host(struct jsonl *json, const uint8_t *bytes, size_t n)
{
	char *to = jsonl_room(json, INET6_ADDRSTRLEN);

	if (n == 4) {
		jsonl_wrote(json, digits_ipv4(to, bytes));
		return;
	}
	inet_ntop(AF_INET6, bytes, to, INET6_ADDRSTRLEN);
	jsonl_wrote(json, to + strlen(to));
}

/* --- numbers ----------------------------------------------------------------------- */

void jsonl_uint(struct jsonl *json, uint64_t value)
{
	jsonl_wrote(json, digits_uint(jsonl_room(json, DIGITS_ROOM), value));
}

void jsonl_int(struct jsonl *json, int64_t value)
{
	jsonl_wrote(json, digits_int(jsonl_room(json, DIGITS_ROOM), value));
}

void jsonl_float(struct jsonl *json, double value)
{
	if (isfinite(value))
		jsonl_wrote(json, digits_float(jsonl_room(json, DIGITS_ROOM), value));
	else
		jsonl_part(json, "null", 4);
}

void jsonl_hex(struct jsonl *json, const void *bytes, size_t n)
{
	const uint8_t *b = bytes, *end = b + n;

	jsonl_part(json, "\"", 1);
	while (b < end) {
		size_t part = (size_t)(end - b) < HEX_PART ? (size_t)(end - b) : HEX_PART;
		char *to = jsonl_room(json, 2 * part);

		for (const uint8_t *stop = b + part; b < stop; b++) {
			*to++ = hex_digits[*b >> 4];
			*to++ = hex_digits[*b & 15];
		}
		jsonl_wrote(json, to);
	}
	jsonl_part(json, "\"", 1);
}

void jsonl_time(struct jsonl *json, int64_t time_ns)
{
	uint64_t magnitude = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
	uint32_t ns = (uint32_t)(magnitude % 1000000000);
	char *to = jsonl_room(json, 2 * DIGITS_ROOM);

	if (time_ns < 0)
		*to++ = '-';
	to = digits_uint(to, magnitude / 1000000000);
	*to++ = '.';
	to = ns % 1000 ? digits_fixed(to, ns, 9) : digits_fixed(to, ns / 1000, 6);
	jsonl_wrote(json, to);
}
