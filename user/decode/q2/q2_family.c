// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_family.c - Quake II's netchan, and the query to its masters.
 *
 *	+---------------+---------------+---------+--------+---- ... --+
 *	| u32 sequence  | u32 acked     | [qport] | [frag] | messages  |
 *	+---------------+---------------+---------+--------+---- ... --+
 *	  bit 31: has     bit 31: parity  34: u16
 *	  reliable part   of reliables    35, 36: u8 or none; client only
 *
 * Sources: Quake-2 qcommon/net_chan.c; q2pro src/common/net/chan.c.
 */
#include "decode/family.h"
#include "decode/netchan.h"

struct quake2_state {
	uint8_t qport_size; /* of the client's header, plus 1; 0: not said yet */
};

static const enum wire_kind learns[] = { KIND_CONNECT, KIND_COUNT };

/* connect <version> <qport> ... : the width of the client's qport. */
static void quake2_word(void *state, enum wire_kind kind, enum direction direction,
			struct span arguments)
{
	struct quake2_state *q = state;
	unsigned int number[2] = { 0, 0 };
	size_t at = 0;

	(void)kind;
	(void)direction;
	for (int i = 0; i < 2; i++) {
		while (at < arguments.n && arguments.bytes[at] == ' ')
			at++;
		for (; at < arguments.n && arguments.bytes[at] >= '0' &&
		       arguments.bytes[at] <= '9';
		     at++)
			number[i] =
				(number[i] * 10 + arguments.bytes[at] - '0') & 0xffffff;
	}
	q->qport_size = number[0] < 35 ? 3 : number[1] ? 2 : 1;
}

static void quake2_datagram(void *state, enum direction direction, struct span payload,
			    struct record *r)
{
	const struct quake2_state *q = state;
	struct reader rd = reader_of(payload.bytes, payload.n);
	struct netchan_header h;
	unsigned int qport_size = 0;

	if (payload.n >= 5 && payload.n <= 7 && !memcmp(payload.bytes, "query", 5)) {
		r->kind = "q2-master-query";
		r->direction = DIRECTION_C2S;
		return;
	}
	r->kind = "netchan";
	if (direction == DIRECTION_C2S)
		qport_size = q && q->qport_size ? q->qport_size - 1u : 2;
	if (!netchan_read(&rd, qport_size, r, &h))
		return;
	record_uint(r, "bytes", reader_left(&rd));
	if (reader_left(&rd))
		record_opaque(r, "no in-game decoder for this family yet");
	else if (direction == DIRECTION_UNKNOWN)
		record_opaque(r, "direction not known: the handshake was not seen");
}

/* The first op of a datagram without a reliable part: what only Quake II has there. */
static int quake2_claims(const struct glance *g, struct span payload, enum direction *ret)
{
	const uint8_t *p = payload.bytes;

	if (!g->other_seen || !glance_near(g->second, g->other) || payload.n <= 12 ||
	    p[3] & 0x80)
		return 0;
	if (p[8] == 0x14) { /* frame */
		*ret = DIRECTION_S2C;
		return 2;
	}
	if (payload.n > 14 && p[10] == 2) { /* move */
		*ret = DIRECTION_C2S;
		return 2;
	}
	return 0;
}

const struct family quake2_family = {
	.id = FAMILY_QUAKE2,
	.state_size = sizeof(struct quake2_state),
	.claims = quake2_claims,
	.words = learns,
	.word = quake2_word,
	.datagram = quake2_datagram,
};
