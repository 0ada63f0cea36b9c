/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * classify_support.h - how the tests ask classify(), and an independent idea of a word.
 */
#ifndef CLASSIFY_SUPPORT_H
#define CLASSIFY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>

#include <cmocka.h>

#include "classify.h"
#include "guard.h"
#include "lib/names.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct word_row {
	enum wire_kind kind;
	const char *word;
};

static const struct word_row word_rows[] = {
#define AS_ROW(kind, word, class_, families, sent) { KIND_##kind, word },
	WIRE_WORDS(AS_ROW)
#undef AS_ROW
};

static inline enum wire_kind classify_span(enum wire_family family,
					   enum direction direction, const __u8 *at,
					   size_t room, size_t n)
{
	struct cursor c = { .pos = at, .end = at + room };
	enum wire_kind kind = classify(family, direction, c, (__u32)n);
	enum wire_kind hot = classify_hot(c, n);

	/* The short way says the same, or nothing. */
	if (hot != KIND_COUNT)
		assert_int_equal(hot, kind);
	return kind;
}

/*
 * The kind of @n bytes: against a wall, in an exact block, and with @slack of other
 * people's bytes behind them, which must make no difference.
 */
static inline enum wire_kind kind_of(enum wire_family family, enum direction direction,
				     const void *bytes, size_t n)
{
	static const __u8 fillers[] = { 0x00, 0x01, 0x20, 'a', 0xff };
	enum wire_kind kind =
		classify_span(family, direction, guard_page(bytes, n), n, n);
	__u8 *copy = guard_copy(bytes, n);
	__u8 roomy[2048];

	assert_int_equal(classify_span(family, direction, copy, n, n), kind);
	free(copy);
	for (size_t i = 0; n < sizeof(roomy) - 64 && i < COUNT(fillers); i++) {
		memset(roomy, fillers[i], sizeof(roomy));
		memcpy(roomy, bytes, n);
		assert_int_equal(
			classify_span(family, direction, roomy, sizeof(roomy), n), kind);
	}
	return kind;
}

/* The row of the word at the start of @text, found letter by letter; KIND_COUNT: none. */
static inline enum wire_kind reference_word(const char *text, size_t n)
{
	size_t letters = 0;

	while (letters < n && (unsigned char)text[letters] > 0x20)
		letters++;
	for (size_t i = 0; i < COUNT(word_rows); i++) {
		if (strlen(word_rows[i].word) == letters &&
		    !strncasecmp(word_rows[i].word, text, letters))
			return word_rows[i].kind;
	}
	return KIND_COUNT;
}

/* Print what a failing row was about: cmocka only knows lines. */
static inline void print_bytes(const char *what, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	print_error("%s (%zu bytes):", what, n);
	for (size_t i = 0; i < n && i < 80; i++)
		print_error(at[i] > 0x20 && at[i] < 0x7f ? "%c" : "\\x%02x", at[i]);
	print_error("\n");
}

#endif /* CLASSIFY_SUPPORT_H */
