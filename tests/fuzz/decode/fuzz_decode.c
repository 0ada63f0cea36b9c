// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Datagrams of any bytes between two ends, through identification, sessions and all
 * families. The first byte forces a family or, as FAMILY_AUTO, none; then each piece is
 * a datagram: bit 0 of how tells the sender, bits 1 and 2 the pair, the rest is time.
 */
#include "decode/decode.h"
#include "fuzz/fuzz.h"
#include "fuzz/qe/qe_key.h"
#include "lib/jsonl.h"

static struct jsonl json;

static void sink(void *context, const struct record *r)
{
	(void)context;
	must(r->kind && (r->status != RECORD_DECODED) == (r->reason != NULL));
	jsonl_record(&json, r);
	said(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoder_options options = { .fields = true,
					   .small = true,
					   .psk = qe_key() };
	struct datagram dg = { .time_ns = 0 };
	struct decoder *decoder;
	struct piece piece;
	size_t at = 1;

	if (!size)
		return 0;
	if (!json.out)
		jsonl_init(&json, nowhere());
	options.forced = (enum wire_family)(data[0] % FAMILY_COUNT);
	decoder = decoder_create(&options, sink, NULL);
	must(decoder != NULL);
	while (piece_next(data, size, &at, &piece)) {
		struct record_address a = { .length = 4,
					    .bytes = { 10, 0, 0, 1 },
					    .port = 27960 };
		struct record_address b = { .length = 4,
					    .bytes = { 10, 0, 0, 2 },
					    .port = piece.how >> 1 & 3 };
		uint8_t *copy = exact_copy(piece.bytes, piece.n);

		dg.source = piece.how & 1 ? a : b;
		dg.destination = piece.how & 1 ? b : a;
		dg.payload = copy;
		dg.n = dg.length = piece.n;
		dg.time_ns += (piece.how >> 3) * 100000000LL;
		dg.frame++;
		decoder_datagram(decoder, &dg);
		free(copy);
	}
	decoder_flush(decoder);
	decoder_free(decoder);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return pieces_or_bytes_mutate(data, size, max, 3, seed);
}
