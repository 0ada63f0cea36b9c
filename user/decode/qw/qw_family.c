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
#include "lib/reader.h"
#include "decode/session.h"

#define RELIABLE 0x80000000u

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

static void quakeworld_datagram(struct session *s, enum direction direction,
				const uint8_t *payload, size_t n, struct record *r)
{
	struct reader rd = reader_of(payload, n);
	uint32_t sequence, acked;

	(void)s;
	if (raw(payload, n, r))
		return;
	r->kind = "netchan";
	sequence = reader_le32(&rd);
	acked = reader_le32(&rd);
	record_uint(r, "sequence", sequence & ~RELIABLE);
	record_bool(r, "reliable", sequence & RELIABLE);
	record_uint(r, "acked", acked & ~RELIABLE);
	record_uint(r, "acked_parity", acked >> 31);
	if (direction == DIRECTION_C2S)
		record_uint(r, "qport", reader_le16(&rd));
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

const struct family_ops quakeworld_ops = {
	.datagram = quakeworld_datagram,
};
