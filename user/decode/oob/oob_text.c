// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oob_text.c - see oob_text.h; and the parsers that need nothing else.
 *
 * Tokens: code/qcommon/cmd.c Cmd_TokenizeString2 (Quake III), game/q_shared.c COM_Parse
 * (Quake II), QW/client/common.c COM_Parse.
 */
#include "decode/oob/oob_text.h"
#include "lib/record_trace.h"

static bool is_blank(uint8_t b)
{
	return b && b <= ' ' && b != '\n';
}

bool token_next(struct span *line, struct span *ret, bool *quoted)
{
	const uint8_t *at = line->bytes, *end = at + line->n, *start;
	bool quote;

	while (at < end && is_blank(*at))
		at++;
	*line = span_of(at, end);
	if (at == end || !*at || *at == '\n')
		return false;
	quote = *at == '"';
	at += quote;
	start = at;
	if (quote)
		while (at < end && *at && *at != '"')
			at++;
	else
		while (at<end && * at> ' ' && *at != '"')
			at++;
	*ret = span_of(start, at);
	if (quote && at < end && *at == '"')
		at++;
	*line = span_of(at, end);
	if (quoted)
		*quoted = quote;
	return true;
}

struct span line_take(struct span text, struct span *rest)
{
	const uint8_t *at = text.bytes, *end = at + text.n;

	while (at < end && *at && *at != '\n')
		at++;
	*rest = span_of(at, end);
	return span_of(text.bytes, at);
}

struct span line_tail(struct span line)
{
	if (line.n && *line.bytes == '\n')
		line = span_skip(line, 1);
	if (line.n && !*line.bytes)
		line = span_skip(line, 1);
	return line;
}

void line_end(struct span line, struct record *r)
{
	while (line.n && is_blank(*line.bytes))
		line = span_skip(line, 1);
	if (line_tail(line).n)
		record_malformed(r, "bytes after the last argument");
}

bool span_number(struct span s, int64_t *ret)
{
	bool minus = s.n && *s.bytes == '-';
	int64_t value = 0;

	s = span_skip(s, minus);
	if (!s.n || s.n > 10)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.bytes[i] < '0' || s.bytes[i] > '9')
			return false;
		value = value * 10 + (s.bytes[i] - '0');
	}
	if (minus ? value > INT32_MAX + 1LL : value > UINT32_MAX)
		return false;
	*ret = minus ? -value : value;
	return true;
}

struct span text_take(struct span s, struct record *r)
{
	const uint8_t *nul = s.n ? memchr(s.bytes, 0, s.n) : NULL;

	if (!nul)
		return s;
	if (nul + 1 != s.bytes + s.n)
		record_malformed(r, "bytes after the end of the text");
	return span_of(s.bytes, nul);
}

bool field_number(struct span *line, const char *key, bool optional, struct record *r)
{
	struct span token;
	int64_t value;

	if (!token_next(line, &token, NULL)) {
		if (!optional)
			record_malformed(r, "argument missing");
		return optional;
	}
	if (!span_number(token, &value)) {
		record_malformed(r, "argument is not a number");
		record_string(r, key, token.bytes, token.n);
		return false;
	}
	record_stands(r, token.bytes, token.n);
	record_int(r, key, value);
	return true;
}

bool field_token(struct span *line, const char *key, bool optional, struct record *r)
{
	struct span token;

	if (!token_next(line, &token, NULL)) {
		if (!optional)
			record_malformed(r, "argument missing");
		return optional;
	}
	record_string(r, key, token.bytes, token.n);
	return true;
}

void oob_none(struct oob *oob, struct record *r)
{
	line_end(oob->arguments, r);
}

/* Blank or LF, then text to the end. */
void oob_text(struct oob *oob, struct record *r)
{
	struct span text = text_take(oob->arguments, r);

	if (text.n && (*text.bytes == ' ' || *text.bytes == '\n'))
		text = span_skip(text, 1);
	record_string(r, "text", text.bytes, text.n);
}

void oob_arguments(struct oob *oob, struct record *r)
{
	struct span line = oob->arguments, token;

	record_open_array(r, "arguments");
	while (token_next(&line, &token, NULL))
		record_string(r, NULL, token.bytes, token.n);
	record_close(r);
	line_end(line, r);
}
