// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * QuakeWorld behind its handshake: the first byte chooses what the pieces are.
 *
 *	bit 0	blocks of a server's recording, type in bits 0-2 of how, 3: to nobody
 *	bit 1	datagrams with their header; else whole messages
 *	bit 2	the netchan has fragments
 *	bits 3-5	which terms hold before anything is said, see begun[]
 *
 * How: bit 0 from a client, bit 1 with its fields, bit 2 late, the rest is the step of
 * its sequence. What is late or malformed must leave the terms as they are, and what is
 * right must be so without fields too.
 */
#include "decode/qw/qw_message.h"
#include "fuzz/fuzz.h"

enum start {
	RECORDING = 1,
	DATAGRAMS = 2,
	FRAGMENTS = 4,
	BEGUN = 7 << 3,
};

enum how {
	CLIENT = 1,
	FIELDS = 2,
	LATE = 4,
	NOBODY = 8,
};

#define FTE                                                                             \
	(QW_FTE_SCALE | QW_FTE_TRANS | QW_FTE_FATNESS | QW_FTE_HULLSIZE |               \
	 QW_FTE_ENTITYDBL | QW_FTE_ENTITYDBL2 | QW_FTE_COLOURMOD | QW_FTE_SPLITSCREEN | \
	 QW_FTE_256PACKETENTITIES | QW_FTE_CHUNKEDDOWNLOADS)
#define DELTAS (QW_FTE2_VOICECHAT | QW_FTE2_REPLACEMENTDELTAS | QW_FTE2_MAXPLAYERS)
#define LATER                                                                      \
	(DELTAS | QW_FTE2_PREDINFO | QW_FTE2_NEWSIZEENCODING | QW_FTE2_STUNAWARE | \
	 QW_FTE2_LERPTIME)

static const struct qw_terms begun[] = {
	{ .protocol = 0 },
	{ .protocol = 28 },
	{ .protocol = 28, .fte = FTE | QW_FTE_FLOATCOORDS },
	{ .protocol = 28, .fte = FTE, .fte2 = DELTAS },
	{ .protocol = 28, .fte = FTE | QW_FTE_FLOATCOORDS, .fte2 = LATER },
	{ .protocol = 28, .fte = FTE, .fte2 = LATER | QW_FTE2_VRINPUTS },
	{ .protocol = 28,
	  .mvd = QW_MVD_FLOATCOORDS | QW_MVD_HIGHLAGTELEPORT | QW_MVD_WEAPONPREDICTION },
	{ .protocol = 26 },
};

static struct record_tape tape;

static void check(const struct record *r)
{
	must((r->status == RECORD_DECODED) == (r->reason == NULL));
	must(r->kind != NULL);
	must(r->pieces_n <= RECORD_PIECES);
	said(r);
}

static void message(struct qw_session *s, const struct piece *piece, const uint8_t *bytes,
		    uint32_t sequence)
{
	enum direction direction = piece->how & CLIENT ? DIRECTION_C2S : DIRECTION_S2C;
	struct span span = { bytes, piece->n };
	struct qw_terms before = s->terms;
	struct record r, silent;
	bool good;

	/* Late first: it may change nothing. */
	record_reset(&silent, NULL);
	good = qw_message_decode(s, direction, sequence, span, true, &silent);
	check(&silent);
	/* Copies of one. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	must(!memcmp(&before, &s->terms, sizeof(before)));
	record_reset(&r, piece->how & FIELDS ? &tape : NULL);
	must(qw_message_decode(s, direction, sequence, span, piece->how & LATE, &r) ==
	     good);
	check(&r);
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	must(good || !memcmp(&before, &s->terms, sizeof(before)));
}

static void block(struct qw_session *s, const struct piece *piece, const uint8_t *bytes,
		  uint32_t number)
{
	struct demo_block b = {
		.frame = number,
		.format = DEMO_MVD,
		.direction = DIRECTION_S2C,
		.type = piece->how & 7,
		.player = piece->how >> 3,
		.mask = piece->how & NOBODY ? 0 : 1,
		.bytes = bytes,
		.n = piece->n,
	};
	struct record r;

	record_reset(&r, &tape);
	r.kind = "demo-message";
	qw_demo(s, &b, &r);
	check(&r);
}

static void datagram(struct qw_session *s, const struct piece *piece,
		     const uint8_t *bytes)
{
	struct record r;

	record_reset(&r, piece->how & FIELDS ? &tape : NULL);
	qw_datagram(s, piece->how & CLIENT ? DIRECTION_C2S : DIRECTION_S2C,
		    (struct span){ bytes, piece->n }, &r);
	check(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct qw_session s = { .terms = begun[size ? (data[0] & BEGUN) >> 3 : 0] };
	uint32_t sequence = 1;
	struct piece piece;
	size_t at = 1;

	if (!tape.items)
		must(!record_tape_create(&tape, 4096, 1 << 16));
	if (!size)
		return 0;
	if (data[0] & FRAGMENTS)
		s.offered = s.asked = QW_VARIANT_FRAG;
	while (piece_next(data, size, &at, &piece)) {
		uint8_t *copy = exact_copy(piece.bytes, piece.n);

		sequence += piece.how >> 3;
		if (data[0] & RECORDING)
			block(&s, &piece, copy, sequence);
		else if (data[0] & DATAGRAMS)
			datagram(&s, &piece, copy);
		else
			message(&s, &piece, copy, sequence);
		must(qw_session_takes(&s) < 4U << 20);
		free(copy);
	}
	qw_session_drop(&s);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return pieces_or_bytes_mutate(data, size, max, 8, seed);
}
