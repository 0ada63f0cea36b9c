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
#include "lib/reader.h"
#include "decode/session.h"

#define RELIABLE 0x80000000u

struct quake2_state {
	uint8_t qport_size; /* of the client's header, plus 1; 0: not said yet */
};

/* connect <version> <qport> ... : the width of the client's qport. */
static void quake2_word(struct session *s, enum direction direction, const char *word,
			const uint8_t *arguments, size_t n)
{
	struct quake2_state *state;
	unsigned int number[2] = { 0, 0 };
	size_t at = 0;

	(void)direction;
	if (strcmp(word, "connect") != 0)
		return;
	state = session_state(s, FAMILY_QUAKE2);
	for (int i = 0; i < 2; i++) {
		while (at < n && arguments[at] == ' ')
			at++;
		for (; at < n && arguments[at] >= '0' && arguments[at] <= '9'; at++)
			number[i] = (number[i] * 10 + arguments[at] - '0') & 0xffffff;
	}
	if (state)
		state->qport_size = number[0] < 35 ? 3 : number[1] ? 2 : 1;
}

static void client_qport(struct session *s, struct reader *rd, struct record *r)
{
	struct quake2_state *state = session_state(s, FAMILY_QUAKE2);
	unsigned int size = state && state->qport_size ? state->qport_size - 1u : 2;

	if (size == 2)
		record_uint(r, "qport", reader_le16(rd));
	else if (size == 1)
		record_uint(r, "qport", reader_u8(rd));
}

static void quake2_datagram(struct session *s, enum direction direction,
			    const uint8_t *payload, size_t n, struct record *r)
{
	struct reader rd = reader_of(payload, n);
	uint32_t sequence, acked;

	if (n >= 5 && n <= 7 && !memcmp(payload, "query", 5)) {
		r->kind = "q2-master-query";
		r->direction = DIRECTION_C2S;
		return;
	}
	r->kind = "netchan";
	sequence = reader_le32(&rd);
	acked = reader_le32(&rd);
	record_uint(r, "sequence", sequence & ~RELIABLE);
	record_bool(r, "reliable", sequence & RELIABLE);
	record_uint(r, "acked", acked & ~RELIABLE);
	record_uint(r, "acked_parity", acked >> 31);
	if (direction == DIRECTION_C2S)
		client_qport(s, &rd, r);
	if (reader_failed(&rd)) {
		record_malformed(r, "shorter than a header");
		return;
	}
	record_uint(r, "bytes", reader_left(&rd));
	if (reader_left(&rd))
		record_opaque(r, "no in-game decoder for this family yet");
	else if (direction == DIRECTION_UNKNOWN)
		record_opaque(r, "direction not known: the handshake was not seen");
}

const struct family_ops quake2_ops = {
	.state_size = sizeof(struct quake2_state),
	.datagram = quake2_datagram,
	.word = quake2_word,
};
