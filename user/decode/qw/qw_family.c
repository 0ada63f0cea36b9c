// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_family.c - QuakeWorld's netchan, and its words without a marker.
 *
 *	+---------------+---------------+----------+---- ... --+
 *	| u32 sequence  | u32 acked     | u16 qport| messages  |
 *	+---------------+---------------+----------+---- ... --+
 *	  bit 31: has     bit 31: parity  from the
 *	  reliable part   of reliables    client only
 *
 * Sources: Quake QW/client/net_chan.c, QW/server/sv_main.c; mvdsv src/net_chan.c.
 */
#include "decode/family.h"
#include "decode/netchan.h"

/* a LF <sequence> LF <clients> LF */
static void heartbeat(const uint8_t *payload, size_t n, struct record *r)
{
	uint64_t value[2] = { 0, 0 };
	size_t at = 2, which = 0;

	r->kind = "s2m-heartbeat";
	for (; at < n && which < 2; at++) {
		if (payload[at] == '\n')
			which++;
		else if (payload[at] >= '0' && payload[at] <= '9')
			value[which] = value[which] * 10 + payload[at] - '0';
		else
			record_malformed(r, "heartbeat is not of numbers");
	}
	record_uint(r, "sequence", value[0]);
	record_uint(r, "players", value[1]);
	if (which < 2 || n - at > 1)
		record_malformed(r, "heartbeat is not of two lines");
}

/* stdlog <sequence> LF <text> */
static void stdlog(const uint8_t *payload, size_t n, struct record *r)
{
	r->kind = "stdlog";
	record_string(r, "text", payload + 7, n - 7);
}

static bool raw(const uint8_t *payload, size_t n, struct record *r)
{
	static const struct {
		char letter;
		const char *kind;
	} letters[] = {
		{ 'l', "raw-ack" },	 { 'm', "raw-nack" },  { 'k', "s2m-ping" },
		{ 'C', "s2m-shutdown" }, { 'c', "c2m-query" },
	};

	if (n > 7 && !memcmp(payload, "stdlog ", 7)) {
		stdlog(payload, n, r);
		return true;
	}
	if (n > 4 && payload[0] == 'a' && payload[1] == '\n') {
		heartbeat(payload, n, r);
		return true;
	}
	for (size_t i = 0; n && n <= 3 && i < sizeof(letters) / sizeof(*letters); i++)
		if (payload[0] == (uint8_t)letters[i].letter) {
			r->kind = letters[i].kind;
			return true;
		}
	return false;
}

static void quakeworld_datagram(void *state, enum direction direction,
				struct span payload, struct record *r)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	struct netchan_header h;

	(void)state;
	if (raw(payload.bytes, payload.n, r))
		return;
	r->kind = "netchan";
	if (!netchan_read(&rd, direction == DIRECTION_C2S ? 2 : 0, r, &h))
		return;
	record_uint(r, "bytes", reader_left(&rd));
	if (reader_left(&rd))
		record_opaque(r, "no in-game decoder for this family yet");
	else if (direction == DIRECTION_UNKNOWN)
		record_opaque(r, "direction not known: the handshake was not seen");
}

/* The first op of a datagram without a reliable part: what only QuakeWorld has there. */
static int quakeworld_claims(const struct glance *g, struct span payload,
			     enum direction *ret)
{
	const uint8_t *p = payload.bytes;

	if (!g->other_seen || !glance_near(g->second, g->other) || payload.n <= 12 ||
	    p[3] & 0x80)
		return 0;
	/* playerinfo, packetentities, deltapacketentities, chokecount */
	if (p[8] == 0x2a || p[8] == 0x2f || p[8] == 0x30 || p[8] == 0x2c) {
		*ret = DIRECTION_S2C;
		return 2;
	}
	/* move; delta, move */
	if (payload.n > 14 && (p[10] == 3 || (p[10] == 5 && p[12] == 3))) {
		*ret = DIRECTION_C2S;
		return 2;
	}
	return 0;
}

const struct family quakeworld_family = {
	.id = FAMILY_QUAKEWORLD,
	.claims = quakeworld_claims,
	.datagram = quakeworld_datagram,
};
