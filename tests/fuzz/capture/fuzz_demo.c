// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A demo file of any bytes: what it is recognised as or, if nothing, the container that
 * the first byte chooses, and the blocks through their family's decoder.
 */
#include "decode/decode.h"
#include "decode/demo_recognise.h"
#include "fuzz/q3/q3_mutate.h"
#include "lib/jsonl.h"

#define BLOCK_HEAD 8

static enum demo_format format_of(const uint8_t *data, size_t size)
{
	enum demo_format format = demo_recognise(data + 1, size - 1);

	return format == DEMO_NONE ? (enum demo_format)(DEMO_DEM + data[0] % 7) : format;
}

static struct jsonl json;

static void sink(void *context, const struct record *r)
{
	(void)context;
	must(r->kind && (r->status != RECORD_DECODED) == (r->reason != NULL));
	jsonl_record(&json, r);
	said(r);
}

/* The reader's buffer is larger than its block. */
static void decode(struct decoder *decoder, const struct demo_block *block)
{
	uint8_t *copy = exact_copy(block->bytes, block->n);
	struct demo_block exact = *block;

	exact.bytes = copy;
	decoder_demo(decoder, &exact);
	free(copy);
}

static void walk(FILE *file, enum demo_format format)
{
	struct decoder_options options = { .fields = true,
					   .small = true,
					   .forced = FAMILY_AUTO };
	struct decoder *decoder = decoder_create(&options, sink, NULL);
	struct demo *demo = demo_open(file, format);
	struct demo_block block;
	uint64_t blocks = 0;
	int result;

	must(demo && decoder);
	while ((result = demo_next(demo, &block)) == 1) {
		must(demo_blocks(demo) == ++blocks);
		must(block.n <= DEMO_BLOCK_MAX);
		decode(decoder, &block);
	}
	/* It stays at its end, for the same reason. */
	must(demo_next(demo, &block) == result && demo_blocks(demo) == blocks);
	must(!!strcmp(demo_error(demo), "no error") == (result < 0));
	decoder_free(decoder);
	demo_close(demo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;
	FILE *file;

	if (size < 2)
		return 0;
	if (!json.out)
		jsonl_init(&json, nowhere());
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
