/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qw_support.h - what the tests of QuakeWorld share: recordings block by block, hex, and
 * datagrams written by hand.
 */
#ifndef QW_SUPPORT_H
#define QW_SUPPORT_H

#include "capture/capture.h"
#include "decode/decode_support.h"
#include "decode/demo_recognise.h"
#include "decode/qw/qw_message.h"

static inline size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t n = 0;

	for (; *hex; hex++) {
		unsigned int byte;

		if (*hex == ' ')
			continue;
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		assert_true(n < max);
		out[n++] = (uint8_t)byte;
		hex++;
	}
	return n;
}

/* An exact heap copy: one byte too far and the sanitizer speaks. */
static inline uint8_t *exact_copy(const void *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

static inline bool is_demo(const char *name)
{
	size_t n = strlen(name);

	return !strcmp(name + n - 4, ".qwd") || !strcmp(name + n - 4, ".mvd");
}

static inline enum demo_format demo_format_of(const char *name)
{
	return !strcmp(name + strlen(name) - 4, ".qwd") ? DEMO_QWD : DEMO_MVD;
}

#endif /* QW_SUPPORT_H */
