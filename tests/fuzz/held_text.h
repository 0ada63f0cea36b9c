/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * held_text.h - all that a caller can see of something, as text, held to a file.
 *
 * A test writes down what is said: of each step of a story (held_printf()), or of each of
 * many inputs (held_input()), which are shown with what is said of them and, in one
 * number, with what is said of HELD_CHANGED inputs made from each by a generator that
 * never changes. The whole is compared with a file beside the test, and the first line
 * that is another is shown. So a test sees that anything is said otherwise than before;
 * that it was right is what those look after who read the file, and what the other tests
 * ask.
 *
 * After a wanted change: UPDATE=1 writes the file anew, then read the diff.
 */
#ifndef HELD_TEXT_H
#define HELD_TEXT_H

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define HELD_CHANGED 40
#define HELD_INPUT   8192 /* bytes, most of one */
#define HELD_BEGIN   0xcbf29ce484222325 /* of a sum */

/* Writes what is said of @n bytes; behind them is a NUL. */
typedef void held_say(FILE *out, const char *bytes, size_t n);

static struct {
	FILE *out;
	char *text;
	size_t n;
	int home; /* where paths begin, wherever the test has gone since */
} held;

static __attribute__((constructor)) void held_from_here(void)
{
	held.home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline void held_begin(void)
{
	held.out = open_memstream(&held.text, &held.n);
	assert_non_null(held.out);
}

/* So that the file is text, whatever was said; a line's end stays one. */
static inline void held_plain(FILE *out, const char *bytes, size_t n, bool lines)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t b = (uint8_t)bytes[i];

		if ((lines && (b == '\n' || b == '\t')) ||
		    (b >= ' ' && b < 0x7f && b != '\\'))
			fputc(b, out);
		else
			fprintf(out, "\\%02x", b);
	}
}

static inline uint64_t held_sum(uint64_t sum, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ b[i]) * 0x100000001b3;
	return sum;
}

static inline __attribute__((format(printf, 1, 2))) void held_printf(const char *format,
								     ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	assert_true(n >= 0);
	held_plain(held.out, text, (size_t)n, true);
	free(text);
}

/* Many bytes as a number, few as they are. */
static inline void held_bytes(const char *what, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	held_printf("%s: %zu bytes, sum %016" PRIx64, what, n,
		    held_sum(HELD_BEGIN, bytes, n));
	for (size_t i = 0; i < n && n <= 256; i++)
		held_printf("%s%02x", i % 32 ? (i % 4 ? "" : " ") : "\n\t", b[i]);
	held_printf("\n");
}

static inline uint32_t held_dice(uint32_t *state, uint32_t sides)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % sides;
}

/* One to three small changes to @bytes, which have room for HELD_INPUT. */
static inline size_t held_change(char *bytes, size_t n, uint32_t *state)
{
	static const char likely[] =
		"\0\n\t 019afgsmhAF/.:-_#%{}[]\"'\\=;,+*~\x7f\x80\xff";
	uint32_t count = 1 + held_dice(state, 3);

	while (count-- && n) {
		size_t at = held_dice(state, (uint32_t)n), of, size;
		char part[12];

		switch (held_dice(state, 6)) {
		case 0: /* one less */
			memmove(bytes + at, bytes + at + 1, --n - at);
			break;
		case 1: /* it ends early */
			n = at;
			break;
		case 2:
			bytes[at] = (char)(bytes[at] ^ 1 << held_dice(state, 8));
			break;
		case 3: /* a part of it twice */
			of = held_dice(state, (uint32_t)n);
			size = 1 + held_dice(state, sizeof(part));
			size = size < n - of ? size : n - of;
			size = size < HELD_INPUT - n ? size : HELD_INPUT - n;
			memcpy(part, bytes + of, size);
			memmove(bytes + at + size, bytes + at, n - at);
			memcpy(bytes + at, part, size);
			n += size;
			break;
		case 4:
			bytes[at] = bytes[held_dice(state, (uint32_t)n)];
			break;
		default:
			bytes[at] = likely[held_dice(state, sizeof(likely) - 1)];
		}
	}
	return n;
}

/* What is said of exactly @n bytes, to be freed. */
static inline char *held_said(held_say *say, const char *bytes, size_t n, size_t *ret_n)
{
	char *copy = malloc(n + 1), *text = NULL;
	FILE *out = open_memstream(&text, ret_n);

	assert_non_null(copy);
	assert_non_null(out);
	memcpy(copy, bytes, n);
	copy[n] = 0;
	say(out, copy, n);
	assert_int_equal(fclose(out), 0);
	free(copy);
	return text;
}

static inline void held_input(held_say *say, const char *bytes, size_t n)
{
	static char copy[HELD_INPUT];
	uint64_t sum = HELD_BEGIN;
	uint32_t state = 1;
	size_t said_n;
	char *said;

	assert_true(n <= HELD_INPUT);
	fputs("< ", held.out);
	held_plain(held.out, bytes, n < 400 ? n : 400, false);
	fprintf(held.out, n < 400 ? "\n" : "... %zu bytes\n", n);
	said = held_said(say, bytes, n, &said_n);
	held_plain(held.out, said, said_n, true);
	free(said);
	for (int i = 0; i < HELD_CHANGED; i++) {
		size_t changed;

		memcpy(copy, bytes, n);
		changed = held_change(copy, n, &state);
		said = held_said(say, copy, changed, &said_n);
		sum = held_sum(sum, said, said_n);
		free(said);
	}
	fprintf(held.out, "changed: %016" PRIx64 "\n", sum);
}

/* Of each beginning of it, in one number. */
static inline void held_beginnings(held_say *say, const char *bytes, size_t n)
{
	uint64_t sum = HELD_BEGIN;

	for (size_t part = 0; part <= n; part++) {
		size_t said_n;
		char *said = held_said(say, bytes, part, &said_n);

		sum = held_sum(sum, said, said_n);
		free(said);
	}
	fprintf(held.out, "beginnings: %016" PRIx64 "\n", sum);
}

static inline void held_text(held_say *say, const char *text)
{
	held_input(say, text, strlen(text));
}

/* The line on which two texts part, and what each has there. */
static inline void held_differ(const char *path, const char *was, const char *is)
{
	size_t line = 1, at = 0, start = 0;

	for (; was[at] && was[at] == is[at]; at++) {
		if (was[at] != '\n')
			continue;
		line++;
		start = at + 1;
	}
	print_message("%s:%zu: %.*s\nis now: %.*s\n", path, line,
		      (int)strcspn(was + start, "\n"), was + start,
		      (int)strcspn(is + start, "\n"), is + start);
}

/* All that was written down is what the file at @path has. */
static inline void held_end(const char *path)
{
	int fd = -1;
	FILE *file;
	char *was;
	size_t n;

	assert_int_equal(fclose(held.out), 0);
	if (getenv("UPDATE")) {
		fd = openat(held.home, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		file = fdopen(fd, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(held.text, 1, held.n, file), held.n);
		assert_int_equal(fclose(file), 0);
	}
	fd = openat(held.home, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s is missing", path);
	file = fdopen(fd, "rb");
	was = calloc(1, held.n + 2);
	assert_non_null(file);
	assert_non_null(was);
	n = fread(was, 1, held.n + 1, file);
	fclose(file);
	if (n != held.n || memcmp(was, held.text, n) != 0) {
		held_differ(path, was, held.text);
		fail_msg("%s holds something else", path);
	}
	free(was);
	free(held.text);
	held.text = NULL;
}

#endif /* HELD_TEXT_H */
