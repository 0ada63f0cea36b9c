// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What stands inside Quake Enhanced's records, with the state of what was before: the
 * first byte chooses the dialect (beyond the last one none is known). Each piece is a
 * datagram of the game, bit 0 of how: from a client; by bits 2-3 it has its own header,
 * or gets one: unreliable, a chunk, a last chunk; bit 4: it is compressed first.
 */
#include <zlib.h>

#include "decode/family.h"
#include "decode/qe/qe_message.h"
#include "fuzz/fuzz.h"
#include "fuzz/qe/qe_enter.h"

#define HEADER 8

static struct record_tape tape;
static struct keys *keys;

static void begin(void)
{
	static const struct keys_psk nothing;

	if (keys)
		return;
	keys = keys_create(NULL, &nothing);
	must(keys && !record_tape_create(&tape, 4096, 1 << 16));
}

/* On the heap, exactly; with a header if @flags. */
static uint8_t *framed(const struct piece *piece, uint8_t flags, uint32_t sequence,
		       size_t *n)
{
	size_t head = flags ? HEADER : 0;
	uint8_t *bytes = malloc(head + piece->n + 1), *exact;

	must(bytes != NULL);
	*n = head + piece->n;
	if (head)
		memcpy(bytes,
		       (uint8_t[HEADER]){ 0, flags, (uint8_t)(*n >> 8), (uint8_t)*n, 0, 0,
					  (uint8_t)(sequence >> 8), (uint8_t)sequence },
		       HEADER);
	if (piece->n)
		memcpy(bytes + head, piece->bytes, piece->n);
	exact = exact_copy(bytes, *n);
	free(bytes);
	return exact;
}

static uint8_t *compressed(uint8_t *plain, size_t *n)
{
	uLongf size = compressBound(*n);
	uint8_t *bytes = malloc(HEADER + size), *exact;

	must(bytes && compress(bytes + HEADER, &size, plain, *n) == Z_OK);
	memcpy(bytes, (uint8_t[HEADER]){ 0, 0x20, (uint8_t)(size >> 8), (uint8_t)size },
	       HEADER);
	*n = HEADER + size;
	exact = exact_copy(bytes, *n);
	free(bytes);
	free(plain);
	return exact;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t flags[] = { 0, 0x10, 0x01, 0x09 };
	struct nq_session game = { 0 };
	uint32_t sequence[2] = { 0, 0 };
	struct piece piece;
	size_t at = 1;

	begin();
	if (!size)
		return 0;
	qe_enter(&game.game, data[0]);
	while (piece_next(data, size, &at, &piece)) {
		struct record r;
		size_t n;
		uint8_t *bytes = framed(&piece, flags[piece.how >> 2 & 3],
					sequence[piece.how & 1]++, &n);

		if (piece.how & 16)
			bytes = compressed(bytes, &n);
		record_reset(&r, piece.how & 2 ? &tape : NULL);
		r.kind = "dtls-data";
		qe_game(&game, piece.how & 1 ? DIRECTION_C2S : DIRECTION_S2C,
			(struct span){ bytes, n }, keys_room(keys), &r);
		must(r.kind && (r.status == RECORD_DECODED) == !r.reason);
		said(&r);
		free(bytes);
	}
	must(nq_session_takes(&game) < 1 << 20);
	nq_session_drop(&game);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return pieces_or_bytes_mutate(data, size, max, 8, seed);
}
