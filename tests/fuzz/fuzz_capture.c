// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A capture file of any bytes, through to JSON. Without a file header of its own the
 * input gets one, so that most inputs come to the packets.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "capture.h"
#include "decode.h"
#include "jsonl.h"

static struct jsonl json;

static void sink(void *context, const struct record *r)
{
	(void)context;
	jsonl_record(&json, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t head[24] = { 0xd4, 0xc3, 0xb2,	0xa1,	   2,
					  0,	4,    [18] = 1, [20] = 101 };
	static uint8_t bytes[1 << 16];
	struct decoder_options options = { true, FAMILY_AUTO, true };
	struct decoder *decoder;
	struct capture *capture;
	struct datagram dg;
	char message[256];
	size_t n = 0;
	FILE *file;

	if (size > sizeof(bytes) - sizeof(head))
		return 0;
	if (!capture_recognise(data, size)) {
		memcpy(bytes, head, sizeof(head));
		n = sizeof(head);
	}
	memcpy(bytes + n, data, size);
	file = fmemopen(bytes, n + size, "rb");
	if (!file || capture_open(file, &capture, message, sizeof(message)))
		return 0;
	if (!json.out)
		jsonl_init(&json, fopen("/dev/null", "w"));
	decoder = decoder_create(&options, sink, NULL);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	return 0;
}
