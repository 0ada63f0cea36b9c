/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oob_text.h - tokens, lines and numbers of out-of-band text, as the engines cut them.
 * Called by the parsers in user/decode/oob. A span is part of the datagram: nothing is
 * copied.
 */
#ifndef OOB_TEXT_H
#define OOB_TEXT_H

#include "decode/oob/oob.h"

static inline struct span span_of(const uint8_t *bytes, const uint8_t *end)
{
	struct span s = { bytes, (size_t)(end - bytes) };

	return s;
}

static inline struct span span_skip(struct span s, size_t n)
{
	if (n > s.n)
		n = s.n;
	s.bytes += n;
	s.n -= n;
	return s;
}

static inline bool span_is(struct span s, const char *text)
{
	return s.n == strlen(text) && !memcmp(s.bytes, text, s.n);
}

/* Does @s begin with @text? */
static inline bool span_starts(struct span s, const char *text)
{
	size_t n = strlen(text);

	return s.n >= n && !memcmp(s.bytes, text, n);
}

/*
 * Take the next token of a line, as the engines cut it: bytes 1..32 but LF separate,
 * "..." is one token without escapes. False at LF, NUL or the end; *quoted may be NULL.
 */
bool token_next(struct span *line, struct span *ret, bool *quoted);

/* Return what is left after a line and its LF, NUL or LF NUL. */
struct span line_tail(struct span line);

/*
 * Return the text up to LF, NUL or the end, which is not part of it; *rest begins there.
 */
struct span line_take(struct span text, struct span *rest);

/*
 * Read [-]digits in 32 bits, signed or unsigned. False: @s is not such a number alone.
 */
bool span_number(struct span s, int64_t *ret);

/* Return the text up to NUL or the end; anything behind the NUL is malformed. */
struct span text_take(struct span s, struct record *r);

/*
 * Put a field from the next token on the record. Optional: nothing happens if there is
 * none. False, with the record malformed, if the token is missing or wrong.
 */
bool field_number(struct span *line, const char *key, bool optional, struct record *r);

/*
 * Put the next token under @key as a string; @optional and the result as of
 * field_number().
 */
bool field_token(struct span *line, const char *key, bool optional, struct record *r);

/*
 * Check that nothing is left of @line but one LF and one NUL; the record is malformed
 * otherwise.
 */
void line_end(struct span line, struct record *r);

#endif /* OOB_TEXT_H */
