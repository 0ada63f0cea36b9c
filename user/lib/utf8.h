/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * utf8.h - which parts of foreign text are UTF-8, and which of its characters a terminal
 * obeys.
 */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Return the length of the well-formed UTF-8 sequence at @b (RFC 3629), or 0. */
static inline size_t utf8_length(const uint8_t *b, size_t left)
{
	size_t n = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;

	if (b[0] < 0xc2 || b[0] > 0xf4 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
	    (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
		return 0;
	return n;
}

/*
 * Return the character, if it is one that a terminal obeys or that turns the direction of
 * text, so that the text reads as something else; 0 if it is not. @b: well-formed UTF-8
 * of @n bytes.
 */
static inline uint32_t utf8_control(const uint8_t *b, size_t n)
{
	uint32_t c = n == 2   ? (b[0] & 31U) << 6 | (b[1] & 63U)
		     : n == 3 ? (b[0] & 15U) << 12 | (b[1] & 63U) << 6 | (b[2] & 63U)
			      : 0;

	if ((c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff)
		return c;
	return 0;
}

#endif /* UTF8_H */
