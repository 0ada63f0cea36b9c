// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DTLS's records and handshake, with the state of those before: each piece is a datagram,
 * bit 0 of how: from a client. Bit 1: it has no headers, but is a handshake message whole
 * in one record, of the type of bits 2 to 6. What a record of no key opens to is nothing;
 * what is kept is bounded.
 */
#include "decode/family.h"
#include "decode/qe/qe_session.h"
#include "fuzz/fuzz.h"

static struct record_tape tape;
static struct keys *keys;

static void begin(void)
{
	static const uint8_t key[16];
	static const struct keys_psk psk = { "quake-enhanced-test", key, sizeof(key) };

	if (keys)
		return;
	keys = keys_create(NULL, &psk);
	must(keys && !record_tape_create(&tape, 4096, 1 << 16));
}

/* Record and handshake headers in front of a body. */
static uint8_t *wrapped(const struct piece *piece, uint8_t number, size_t *n)
{
	uint8_t *bytes = malloc(25 + piece->n);
	size_t inner = 12 + piece->n;

	must(bytes != NULL);
	memset(bytes, 0, 25);
	memcpy(bytes, "\x16\xfe\xfd", 3);
	bytes[10] = number;
	bytes[11] = (uint8_t)(inner >> 8);
	bytes[12] = (uint8_t)inner;
	bytes[13] = piece->how >> 2 & 31;
	bytes[15] = bytes[23] = (uint8_t)(piece->n >> 8);
	bytes[16] = bytes[24] = (uint8_t)piece->n;
	bytes[18] = number;
	if (piece->n)
		memcpy(bytes + 25, piece->bytes, piece->n);
	*n = inner + 13;
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct family *family = &quake_enhanced_family;
	struct qe_session *s = calloc(1, sizeof(*s));
	uint8_t number[2] = { 0, 0 };
	struct piece piece;
	size_t at = 0;

	begin();
	must(s != NULL);
	while (piece_next(data, size, &at, &piece)) {
		bool client = piece.how & 1;
		size_t n = piece.n;
		uint8_t *copy = piece.how & 2 && n < 60000
					? wrapped(&piece, number[client]++, &n)
					: exact_copy(piece.bytes, n);
		struct record r;

		family->keys(s, keys);
		record_reset(&r, &tape);
		family->datagram(s, client ? DIRECTION_C2S : DIRECTION_S2C,
				 (struct span){ copy, n }, &r);
		must(r.kind && (r.status == RECORD_DECODED) == !r.reason);
		must(r.plains_n <= KEYS_PLAINS);
		free(copy);
	}
	must(family->takes(s) < 1 << 20);
	family->drop(s);
	free(s);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint32_t state = seed | 1;

	if (size && !dice(&state, 8))
		return pieces_mutate(data, size, max, 0, &state);
	return LLVMFuzzerMutate(data, size, max);
}
