// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings whose order is not that of the wire, or that miss a slice: neighbours are
 * swapped, and nothing may be lost by that; records stay in the order of the capture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/decode.h"
#include "recordings.h"

#define FRAMES_MAX 16384

struct frame {
	struct datagram dg;
	uint8_t *bytes;
};

static struct frame frames[FRAMES_MAX];
static size_t frames_n;

struct count {
	unsigned int status[RECORD_STATUS_COUNT];
	uint64_t last; /* frame */
};

static bool load(const char *name)
{
	struct capture *capture = recording_live(name);
	struct datagram dg;

	if (!capture)
		return false;
	for (frames_n = 0; capture_next(capture, &dg) == 1; frames_n++) {
		struct frame *f = &frames[frames_n];

		assert_true(frames_n < FRAMES_MAX);
		f->dg = dg;
		f->bytes = malloc(dg.n ? dg.n : 1);
		assert_non_null(f->bytes);
		memcpy(f->bytes, dg.payload, dg.n);
		f->dg.payload = f->bytes;
	}
	capture_close(capture);
	return true;
}

static void unload(void)
{
	for (size_t i = 0; i < frames_n; i++)
		free(frames[i].bytes);
	frames_n = 0;
}

static void on_record(void *context, const struct record *r)
{
	struct count *count = context;

	/* In the order in which they came. */
	assert_true(r->frame > count->last);
	count->last = r->frame;
	count->status[r->status]++;
}

static struct count decode_all(void)
{
	struct decoder_options options = { .forced = FAMILY_AUTO };
	struct count count = { .last = 0 };
	struct decoder *decoder = decoder_create(&options, on_record, &count);

	assert_non_null(decoder);
	for (size_t i = 0; i < frames_n; i++) {
		frames[i].dg.frame = i + 1;
		decoder_datagram(decoder, &frames[i].dg);
	}
	decoder_flush(decoder);
	decoder_free(decoder);
	assert_int_equal(count.last, frames_n);
	return count;
}

/* Behind the handshake, which is told from what it says and not from when. */
static void swap(unsigned int percent, uint32_t random)
{
	for (size_t i = 20; i + 1 < frames_n; i++) {
		struct frame other = frames[i];

		random = random * 1664525 + 1013904223;
		if ((random >> 8) % 100 >= percent)
			continue;
		frames[i] = frames[i + 1];
		frames[i + 1] = other;
		/* The clock of the capture does not go back. */
		frames[i + 1].dg.time_ns = frames[i].dg.time_ns;
		frames[i].dg.time_ns = other.dg.time_ns;
		i++;
	}
}

static void test_swapped(void **state)
{
	static const char *const names[] = { "q3-oa-1client-mapchange",
					     "q3-oa-2clients-full-kick-timeout",
					     "q3-ioq3-proto71-checksum" };

	/* Snapshots in front of the gamestate of their connection. */
	static const unsigned int early[] = { 0, 3, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct count count;
		unsigned int all;

		if (!load(names[i]))
			skip();
		swap(30, 1 + (uint32_t)i);
		count = decode_all();
		all = (unsigned int)frames_n;
		unload();
		print_message("%s: %u decoded, %u partial, %u opaque, %u malformed\n",
			      names[i], count.status[0], count.status[1], count.status[2],
			      count.status[3]);
		assert_int_equal(count.status[RECORD_PARTIAL], early[i]);
		assert_int_equal(count.status[RECORD_DECODED], all - early[i]);
	}
}

static bool is_slice(const struct frame *f)
{
	return f->dg.n > 8 && f->bytes[3] == 0x80 && f->dg.source.bytes[3] == 1;
}

/* One slice is taken away: the others of its message are partial, nothing else is. */
static void test_slice_lost(void **state)
{
	unsigned int others = 0;
	struct count count;
	uint8_t sequence[4];
	size_t lost = 0;

	(void)state;
	if (!load("q3-oa-1client-mapchange"))
		skip();
	while (lost < frames_n && !is_slice(&frames[lost]))
		lost++;
	assert_true(lost < frames_n);
	memcpy(sequence, frames[lost].bytes, 4);
	free(frames[lost].bytes);
	memmove(&frames[lost], &frames[lost + 1],
		(frames_n - lost - 1) * sizeof(*frames));
	frames_n--;
	for (size_t i = 0; i < frames_n; i++)
		others += is_slice(&frames[i]) && !memcmp(frames[i].bytes, sequence, 4);
	assert_true(others > 0);
	count = decode_all();
	unload();
	assert_true(count.status[RECORD_PARTIAL] >= others);
	assert_int_equal(count.status[RECORD_MALFORMED], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_slice_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
