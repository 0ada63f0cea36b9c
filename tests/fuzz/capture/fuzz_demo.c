// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A demo file of any bytes: what it is recognised as or, if nothing, the container that
 * the first byte chooses. Quake III's blocks are decoded too.
 */
#include "decode/demo_recognise.h"
#include "lib/jsonl.h"
#include "decode/q3/q3_demo.h"
#include "fuzz/q3/q3_mutate.h"

#define BLOCK_HEAD 8

static enum demo_format format_of(const uint8_t *data, size_t size)
{
	enum demo_format format = demo_recognise(data + 1, size - 1);

	return format == DEMO_NONE ? (enum demo_format)(DEMO_DEM + data[0] % 7) : format;
}

static bool is_quake3(enum demo_format format)
{
	return format == DEMO_DM3 || format == DEMO_DM3_OLD;
}

/* The reader's buffer is larger than its block. */
static void quake3_block(struct q3_session *q3, const struct demo_block *block,
			 struct record *r)
{
	uint8_t *copy = exact_copy(block->bytes, block->n);

	q3_demo_block(q3, block->sequence, copy, block->n, r);
	free(copy);
}

static void walk(FILE *file, enum demo_format format)
{
	static struct record_tape tape;
	static struct jsonl json;
	struct q3_session q3 = { .game = NULL };
	struct demo_block block;
	uint64_t blocks = 0;
	struct demo *demo;
	struct record r;
	int result;

	if (!json.out) {
		jsonl_init(&json, nowhere());
		must(!record_tape_create(&tape, 1 << 12, 1 << 16));
	}
	demo = demo_open(file, format);
	must(demo != NULL);
	if (is_quake3(format))
		q3_demo_start(&q3, format == DEMO_DM3 ? Q3_DEMO_MODERN : Q3_DEMO_OLD);
	while ((result = demo_next(demo, &block)) == 1) {
		must(demo_blocks(demo) == ++blocks);
		must(block.n <= DEMO_BLOCK_MAX);
		record_reset(&r, &tape);
		r.family = demo_family(format);
		r.kind = block.kind;
		if (is_quake3(format))
			quake3_block(&q3, &block, &r);
		jsonl_record(&json, &r);
	}
	/* It stays at its end, for the same reason. */
	must(demo_next(demo, &block) == result && demo_blocks(demo) == blocks);
	must(!!strcmp(demo_error(demo), "no error") == (result < 0));
	q3_session_drop(&q3);
	demo_close(demo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;
	FILE *file;

	if (size < 2)
		return 0;
	copy = exact_copy(data, size);
	file = fmemopen(copy + 1, size - 1, "rb");
	must(file != NULL);
	walk(file, format_of(copy, size));
	free(copy);
	return 0;
}

/* The message of one block of a .dm_NN, and its length. */
static size_t block_mutate(uint8_t *data, size_t size, size_t max, uint32_t *seed)
{
	size_t places[64], count = 0, at = 1;
	uint32_t length;

	while (at + BLOCK_HEAD <= size && count < 64) {
		memcpy(&length, data + at + 4, sizeof(length));
		if (le32toh(length) > size - at - BLOCK_HEAD)
			break;
		places[count++] = at;
		at += BLOCK_HEAD + le32toh(length);
	}
	if (!count)
		return LLVMFuzzerMutate(data, size, max);
	at = places[dice(seed, (uint32_t)count)];
	memcpy(&length, data + at + 4, sizeof(length));
	length = htole32((uint32_t)q3_message_mutate(
		data, &size, max, at + BLOCK_HEAD, le32toh(length),
		q3_dialects[data[0] >> 4] ? q3_dialects[data[0] >> 4] : q3_dialects[0],
		false, seed));
	memcpy(data + at + 4, &length, sizeof(length));
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint32_t state = seed | 1;

	if (size > 1 && dice(&state, 2))
		return block_mutate(data, size, max, &state);
	return LLVMFuzzerMutate(data, size, max);
}
