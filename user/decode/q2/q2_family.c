// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_family.c - Quake II's seam to the sessions.
 *
 *	+---------------+---------------+---------+--------+---- ... --+
 *	| u32 sequence  | u32 acked     | [qport] | [frag] | messages  |
 *	+---------------+---------------+---------+--------+---- ... --+
 *	  bit 31: has     bit 31: parity  34: u16   36's new
 *	  reliable part   of reliables    35, 36:   netchan,
 *	  bit 30: frag                    u8, none  bit 30
 *
 * Read next: q2_session.c (one datagram), q2_server.c and q2_client.c (one message).
 *
 * Sources: Quake-2 qcommon/net_chan.c; q2pro src/common/net/chan.c.
 */
#include "decode/q2/q2_session.h"

static const enum wire_kind learns[] = { KIND_CHALLENGE, KIND_CONNECT,
					 KIND_CLIENT_CONNECT, KIND_PRINT, KIND_COUNT };

static void quake2_word(void *state, enum wire_kind kind, enum direction direction,
			struct span arguments)
{
	if (kind == KIND_CHALLENGE)
		q2_session_on_challenge(state, arguments);
	else if (kind == KIND_PRINT)
		q2_session_on_print(state, direction);
	else if (kind == KIND_CONNECT)
		q2_session_on_connect(state, arguments);
	else
		q2_session_on_accept(state, arguments);
}

static void quake2_datagram(void *state, enum direction direction, struct span payload,
			    struct record *r)
{
	if (payload.n >= 5 && payload.n <= 7 && !memcmp(payload.bytes, "query", 5)) {
		r->kind = "q2-master-query";
		r->direction = DIRECTION_C2S;
		return;
	}
	r->kind = "netchan";
	if (!state)
		record_opaque(r, "no memory for a connection");
	else
		q2_session_datagram(state, direction, payload, r);
}

/*
 * A move of 34 carries a checksum, which one in 256 has by chance, and must be a move to
 * its last byte; no other family has such frames.
 */
static int quake2_claims(const struct glance *g, struct span payload, enum direction *ret)
{
	struct q2_guess guess;

	if (g->other_seen && !glance_near(g->second, g->other))
		return 0;
	guess = q2_guess(NULL, DIRECTION_UNKNOWN, payload);
	if (guess.rank < Q2_RANK_FRAME)
		return 0;
	*ret = guess.direction;
	return guess.checked ? 4 : 2;
}

static enum family_wait quake2_waits(const void *state, enum direction direction,
				     struct span payload, struct ahead *ahead)
{
	return q2_session_waits(state, direction, payload, ahead);
}

static void quake2_peek(void *state, enum direction direction, struct span payload)
{
	q2_session_peek(state, direction, payload);
}

static size_t quake2_takes(const void *state)
{
	return q2_session_takes(state);
}

static void quake2_drop(void *state)
{
	q2_session_drop(state);
}

static void quake2_demo(void *state, const struct demo_block *block, struct record *r)
{
	if (state)
		q2_session_demo(state, block, r);
	else
		record_opaque(r, "no memory for a recording");
}

/*
 * The server knows a client by its address and qport; the port may change. One of 256
 * strangers has a qport of one byte by chance: his sequences are elsewhere.
 */
static bool quake2_owns(const void *state, struct span payload)
{
	const struct q2_session *q = state;

	if (!q->live)
		return false;
	if (q->qport_size == 3)
		return payload.n >= 10 &&
		       q->now.qport == (payload.bytes[8] | payload.bytes[9] << 8);
	return q->qport_size == 2 && payload.n >= 9 && q->now.qport == payload.bytes[8] &&
	       q2_session_follows(q, payload);
}

const struct family quake2_family = {
	.id = FAMILY_QUAKE2,
	.state_size = sizeof(struct q2_session),
	.takes = quake2_takes,
	.drop = quake2_drop,
	.claims = quake2_claims,
	.words = learns,
	.word = quake2_word,
	.datagram = quake2_datagram,
	.waits = quake2_waits,
	.peek = quake2_peek,
	.demo = quake2_demo,
	.owns = quake2_owns,
};
