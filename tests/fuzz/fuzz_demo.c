// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A demo file of any bytes, as each container in turn if none is recognised; Quake III's
 * blocks are decoded too.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "demo.h"
#include "jsonl.h"
#include "q3_demo.h"

static void walk(const uint8_t *data, size_t size, enum demo_format format)
{
	static struct record_tape tape;
	static struct jsonl json;
	struct q3_session q3 = { .game = NULL };
	struct demo_block block;
	struct demo *demo;
	struct record r;

	if (!json.out) {
		jsonl_init(&json, fopen("/dev/null", "w"));
		record_tape_create(&tape, 1 << 16, 1 << 20);
	}
	demo = demo_open(fmemopen((void *)data, size, "rb"), format);
	if (format == DEMO_DM3)
		q3_demo_start(&q3, Q3_DEMO_MODERN);
	while (demo_next(demo, &block) == 1) {
		record_reset(&r, &tape);
		r.family = demo_family(format);
		r.kind = block.kind;
		if (format == DEMO_DM3)
			q3_demo_block(&q3, block.sequence, block.bytes, block.n, &r);
		jsonl_record(&json, &r);
	}
	q3_session_drop(&q3);
	demo_close(demo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum demo_format format;

	if (!size)
		return 0;
	format = demo_recognise(data + 1, size - 1);
	if (format == DEMO_NONE)
		format = (enum demo_format)(DEMO_DEM + data[0] % 6);
	if (size > 1)
		walk(data + 1, size - 1, format);
	return 0;
}
