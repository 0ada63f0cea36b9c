// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Datagrams of any bytes between two ends, through identification, sessions and all
 * families. Input: { u8 sender and pair, u8 length, bytes }.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "jsonl.h"

static struct jsonl json;

static void sink(void *context, const struct record *r)
{
	(void)context;
	if (!r->kind || (r->status != RECORD_DECODED) != (r->reason != NULL))
		abort();
	jsonl_record(&json, r);
}

/* The exact size, so that a byte too far is seen. */
static void send(struct decoder *decoder, uint8_t head, const uint8_t *bytes, size_t n)
{
	struct record_address a = { .length = 4,
				    .bytes = { 10, 0, 0, 1 },
				    .port = 27960 };
	struct record_address b = { .length = 4,
				    .bytes = { 10, 0, 0, 2 },
				    .port = head >> 1 & 3 };
	uint8_t *copy = malloc(n ? n : 1);
	struct datagram dg = { .payload = copy, .n = n, .length = n };

	memcpy(copy, bytes, n);
	dg.source = head & 1 ? a : b;
	dg.destination = head & 1 ? b : a;
	decoder_datagram(decoder, &dg);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoder_options options = { true, FAMILY_AUTO, true };
	struct decoder *decoder;

	if (!size)
		return 0;
	if (!json.out)
		jsonl_init(&json, fopen("/dev/null", "w"));
	options.forced = (enum wire_family)(data[0] % FAMILY_COUNT);
	decoder = decoder_create(&options, sink, NULL);
	for (size_t at = 1; at + 2 <= size;) {
		size_t n = data[at + 1];

		if (n > size - at - 2)
			n = size - at - 2;
		send(decoder, data[at], data + at + 2, n);
		at += 2 + n;
	}
	decoder_flush(decoder);
	decoder_free(decoder);
	return 0;
}
