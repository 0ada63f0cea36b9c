// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vote.c - weak signs, counted. For sessions that were joined in the middle.
 *
 *	QuakeWorld, Quake II	u32 sequence, u32 acknowledged (bit 31 of each: reliable)
 *	Quake III		u32 sequence (bit 31: fragment), c2s: u16 qport, coded
 *bits
 *
 * The second word of the first two follows the other side's sequence. Which of the two
 * it is shows in the first opcode: 8 bytes in from a server, 10 from a client. In Quake
 * III a client's second coded long follows the server's sequence.
 */
#include <stdlib.h>

#include "decode/identify.h"
#include "decode/q3/q3_bits.h"

#define SEQUENCE_MAX (1U << 24)
#define NEAR	     64
#define ENOUGH	     6 /* votes, and twice those of the next */

static bool near(uint32_t a, uint32_t b)
{
	return a - b <= NEAR || b - a <= NEAR;
}

static void vote_direction(struct session *s, bool from_low, bool sender_serves,
			   int weight)
{
	s->server_votes = (int16_t)(s->server_votes +
				    (sender_serves == from_low ? weight : -weight));
	if (abs(s->server_votes) < ENOUGH)
		return;
	s->server_known = true;
	s->server_is_low = s->server_votes > 0;
}

/* The first opcode of a header with two words; what only one family has there. */
static void vote_opcode(struct session *s, const uint8_t *p, size_t n, bool from_low)
{
	bool reliable = p[3] & 0x80;

	if (!reliable && n > 12) {
		switch (p[8]) {
		case 0x14: /* frame */
			s->votes[FAMILY_QUAKE2] += 2;
			vote_direction(s, from_low, true, 2);
			return;
		case 0x2a: /* playerinfo */
		case 0x2f: /* packetentities, whole and delta */
		case 0x30:
		case 0x2c: /* chokecount */
			s->votes[FAMILY_QUAKEWORLD] += 2;
			vote_direction(s, from_low, true, 2);
			return;
		default:
			break;
		}
	}
	if (!reliable && n > 14) {
		if (p[10] == 3 || (p[10] == 5 && p[12] == 3)) { /* move; delta, move */
			s->votes[FAMILY_QUAKEWORLD] += 2;
			vote_direction(s, from_low, false, 2);
		} else if (p[10] == 2) { /* move */
			s->votes[FAMILY_QUAKE2] += 2;
			vote_direction(s, from_low, false, 2);
		}
	}
}

/* Three longs from @offset on: serverId, messageAcknowledge, reliableAcknowledge. */
static bool quake3_client(const struct session *s, const uint8_t *p, size_t n,
			  size_t offset, int other)
{
	struct q3_bits bits;
	uint32_t acknowledged;

	if (n < offset + 5 || !s->seen[other])
		return false;
	bits = q3_bits_of(p + offset, n - offset);
	q3_get(&bits, 32);
	acknowledged = q3_get(&bits, 32);
	q3_get(&bits, 32);
	return !q3_bits_failed(&bits) && acknowledged &&
	       s->last_sequence[other] - acknowledged <= NEAR;
}

static void decide(struct session *s)
{
	enum wire_family best = FAMILY_NETQUAKE;

	for (int f = 0; f < FAMILY_COUNT; f++)
		if (s->votes[f] > s->votes[best])
			best = (enum wire_family)f;
	if (s->votes[best] < ENOUGH)
		return;
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (f != (int)best && s->votes[f] * 2 > s->votes[best])
			return;
	s->family = best;
	s->certain = true;
}

void vote_sequenced(struct session *s, const uint8_t *payload, size_t n, bool from_low)
{
	int side = from_low ? 0 : 1, other = 1 - side;
	struct reader rd = reader_of(payload, n);
	uint32_t sequence = reader_le32(&rd) & 0x7fffffff;
	uint32_t ack = reader_le32(&rd) & 0x7fffffff;
	bool follows = s->seen[side] && near(sequence, s->last_sequence[side]);

	if (s->foreign || !sequence || sequence >= SEQUENCE_MAX)
		return;
	if (follows && !s->certain) {
		if (n >= 8 && ack < SEQUENCE_MAX && s->seen[other] &&
		    near(ack, s->last_sequence[other]))
			vote_opcode(s, payload, n, from_low);
		else if (quake3_client(s, payload, n, 6, other) ||
			 quake3_client(s, payload, n, 10, other)) {
			s->votes[FAMILY_QUAKE3] += 2;
			vote_direction(s, from_low, false, 2);
		}
		decide(s);
	} else if (follows) {
		if (s->family != FAMILY_QUAKE3)
			vote_opcode(s, payload, n, from_low);
		else if (quake3_client(s, payload, n, 6, other) ||
			 quake3_client(s, payload, n, 10, other))
			vote_direction(s, from_low, false, 2);
	}
	s->last_sequence[side] = sequence;
	s->last_ack[side] = ack;
	if (s->seen[side] < UINT16_MAX)
		s->seen[side]++;
}

/* Clients send little, and begin unreliables with nop, move, string or ackframe. */
void vote_netquake(struct session *s, const uint8_t *payload, size_t n, bool from_low)
{
	if (payload[1] == 0x02 || n < 9)
		return;
	if (payload[1] != 0x10) {
		if (n > 128)
			vote_direction(s, from_low, true, ENOUGH);
		return;
	}
	switch (payload[8]) {
	case 3:
		vote_direction(s, from_low, false, ENOUGH / 2);
		break;
	case 7:
	case 57:
		vote_direction(s, from_low, true, ENOUGH / 2);
		break;
	default:
		break;
	}
}
