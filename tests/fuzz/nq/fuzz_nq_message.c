// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake's messages and datagrams, with the state of those before: the first byte
 * chooses the dialect (bits 0-4; beyond the last one none is known), FTE's extensions
 * (5), Nexuiz' game code (6). Then each piece is a message or, by bits 2-3 of how, the
 * body of a datagram: unreliable, a chunk, a last chunk. Bit 0: from a client, bit 1:
 * with its fields, the rest is the step of its sequence. What was judged decoded must be
 * decoded again where nothing is kept, and what was not must have changed nothing.
 */
#include "decode/nq/nq_session.h"
#include "decode/nq/nq_tables.h"
#include "fuzz/fuzz.h"

#define DIALECT 31
#define FTE	32
#define CODE	64

static struct record_tape tape;

static void enter(struct nq_game *game, uint8_t first)
{
	unsigned int count = 0;

	while (nq_dialects[count])
		count++;
	if ((first & DIALECT) >= count)
		return;
	must(nq_format_of(nq_dialects[first & DIALECT], 0x82, 0, first & FTE ? 0x62f : 0,
			  &game->format));
	game->known = game->fitted = true;
	game->possible = 1U << (first & DIALECT);
	game->maxclients = 16;
	game->code = first & CODE ? NQ_CODE_NEXUIZ : NQ_CODE_UNKNOWN;
}

static void message(struct nq_game *game, const struct piece *piece, uint32_t sequence)
{
	uint8_t *copy = exact_copy(piece->bytes, piece->n);
	struct record r;
	struct message m = {
		.bytes = { copy, piece->n },
		.direction = piece->how & 1 ? DIRECTION_C2S : DIRECTION_S2C,
		.sequence = sequence,
		.record = &r,
	};
	struct nq_game before;

	record_reset(&r, piece->how & 2 ? &tape : NULL);
	r.kind = "nq-unreliable";
	nq_decode(game, &m);
	said(&r);
	before = *game;
	if (r.status == RECORD_DECODED && game->known) {
		struct message again = m;

		/* A signon's stage must go forward; the rest must not mind. */
		before.signon = 0;
		record_reset(&r, NULL);
		again.wrong = again.missing = again.opaque = NULL;
		again.state = &before;
		nq_message(&again);
	}
	free(copy);
}

static void datagram(struct nq_session *s, const struct piece *piece, uint32_t sequence)
{
	static const uint8_t flags[] = { 0, 0x10, 0x01, 0x09 };
	size_t n = piece->n + 8;
	uint8_t *copy = malloc(n);
	struct record r;

	must(copy != NULL);
	memcpy(copy,
	       (uint8_t[8]){ 0, flags[piece->how >> 2 & 3], (uint8_t)(n >> 8), (uint8_t)n,
			     (uint8_t)(sequence >> 24), (uint8_t)(sequence >> 16),
			     (uint8_t)(sequence >> 8), (uint8_t)sequence },
	       8);
	if (piece->n)
		memcpy(copy + 8, piece->bytes, piece->n);
	record_reset(&r, piece->how & 2 ? &tape : NULL);
	nq_session_datagram(s, FAMILY_NETQUAKE,
			    piece->how & 1 ? DIRECTION_C2S : DIRECTION_S2C,
			    (struct span){ copy, n }, &r);
	must(r.kind && (r.status == RECORD_DECODED) == !r.reason);
	said(&r);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nq_session s = { 0 };
	uint32_t sequence[2] = { 0, 0 };
	struct piece piece;
	size_t at = 1;

	if (!tape.items)
		must(!record_tape_create(&tape, 4096, 1 << 16));
	if (!size)
		return 0;
	enter(&s.game, data[0]);
	while (piece_next(data, size, &at, &piece)) {
		uint32_t *next = &sequence[piece.how & 1];

		if (piece.how & 12)
			datagram(&s, &piece, *next);
		else
			message(&s.game, &piece, *next);
		/* Now and then one comes late, or far too early. */
		*next += piece.how >> 4 < 14 ? 1 : piece.how >> 4 == 14 ? 100U : -2U;
	}
	must(nq_session_takes(&s) < 1 << 20);
	nq_session_drop(&s);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return pieces_or_bytes_mutate(data, size, max, 8, seed);
}
