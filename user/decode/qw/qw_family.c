// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_family.c - QuakeWorld's seam to the sessions: its words without a marker, what the
 * words of the handshake teach, and by what its datagrams are known.
 *
 * Read next: qw_channel.c (one datagram), qw_message.c (one message), qw_demo.c.
 *
 * Sources: Quake QW/client/net_chan.c, QW/server/sv_main.c; mvdsv src/net_chan.c.
 */
#include <stdlib.h>

#include "decode/qw/qw_message.h"

#define ID_FRAG 0x47415246U
#define ID_HUFF 0x46465548U
#define ID_FTE2 0x32455446U

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
	if (raw(payload.bytes, payload.n, r))
		return;
	r->kind = "game";
	if (!state)
		record_opaque(r, "no memory for a session");
	else if (direction == DIRECTION_UNKNOWN)
		record_opaque(r, "direction not known: the handshake was not seen");
	else
		qw_datagram(state, direction, payload, r);
}

/* --- words ------------------------------------------------------------------------- */

static uint32_t variant_of(uint32_t id, uint32_t mask)
{
	switch (id) {
	case ID_FRAG:
		return QW_VARIANT_FRAG;
	case ID_HUFF:
		return QW_VARIANT_HUFF;
	case ID_FTE2:
		return mask & QW_FTE2_STUNAWARE ? QW_VARIANT_STUN : 0;
	default:
		return 0;
	}
}

/* <digits> NUL, then pairs of id and value. */
static void on_challenge(struct qw_session *s, struct span arguments)
{
	struct reader rd = reader_of(arguments.bytes, arguments.n);

	s->offered = 0;
	reader_string(&rd);
	while (!reader_failed(&rd) && reader_left(&rd) >= 8) {
		uint32_t id = reader_le32(&rd);

		s->offered |= variant_of(id, reader_le32(&rd));
	}
}

/* 28 <qport> <challenge> "<userinfo>" LF, then lines 0x<id> 0x<mask>. */
static void on_connect(struct qw_session *s, struct span arguments)
{
	char text[2048];
	size_t n = arguments.n < sizeof(text) ? arguments.n : sizeof(text) - 1;
	char *at = text, *end;
	unsigned long qport;

	memcpy(text, arguments.bytes, n);
	text[n] = 0;
	strtoul(at, &at, 10);
	qport = strtoul(at, &end, 10);
	if (end == at)
		return;
	s->asked = 0;
	for (at = strchr(end, '\n'); at; at = strchr(at + 1, '\n')) {
		uint32_t id = (uint32_t)strtoul(at + 1, &end, 16);

		s->asked |= variant_of(id, (uint32_t)strtoul(end, NULL, 16));
	}
	s->connecting = true;
	s->qport_next = (uint16_t)qport;
}

static const enum wire_kind learns[] = {
	KIND_S2C_CHALLENGE,
	KIND_CONNECT,
	KIND_S2C_CONNECTION,
	KIND_COUNT,
};

static void quakeworld_word(void *state, enum wire_kind kind, enum direction direction,
			    struct span arguments)
{
	struct qw_session *s = state;

	(void)direction;
	switch (kind) {
	case KIND_S2C_CHALLENGE:
		on_challenge(s, arguments);
		break;
	case KIND_CONNECT:
		on_connect(s, arguments);
		break;
	default:
		/* Acceptance comes again when connect does. */
		if (s->connecting)
			qw_session_start(s);
		break;
	}
}

/* --- signs ------------------------------------------------------------------------- */

/* [delta] move, with the right checksum: by chance one in 256, and less by its form. */
static bool moves(const struct glance *g, struct span payload)
{
	struct reader rd = reader_of(payload.bytes + 10, payload.n - 10);
	uint8_t op = reader_u8(&rd), checksum;
	int32_t command[QW_CMD_FIELDS] = { 0 };
	const uint8_t *from;

	if (op == 5) {
		reader_u8(&rd);
		op = reader_u8(&rd);
	}
	checksum = reader_u8(&rd);
	from = rd.pos;
	reader_u8(&rd);
	for (int i = 0; i < 3; i++)
		qw_usercmd_read(&rd, 28, command);
	return op == 3 && !reader_failed(&rd) &&
	       checksum == qw_move_checksum(from, (size_t)(rd.pos - from), g->first);
}

/* The first op of a datagram without a reliable part: what only QuakeWorld has there. */
static int quakeworld_claims(const struct glance *g, struct span payload,
			     enum direction *ret)
{
	const uint8_t *p = payload.bytes;

	if (!g->other_seen || !glance_near(g->second, g->other) || payload.n <= 12 ||
	    p[3] & 0x80)
		return 0;
	if (payload.n > 16 && moves(g, payload)) {
		*ret = DIRECTION_C2S;
		return 3;
	}
	/* playerinfo, packetentities, deltapacketentities, chokecount */
	if (p[8] == 0x2a || p[8] == 0x2f || p[8] == 0x30 || p[8] == 0x2c) {
		*ret = DIRECTION_S2C;
		return 2;
	}
	return 0;
}

/* The server knows a client by its address and qport; the port may change. */
static bool quakeworld_owns(const void *state, struct span payload)
{
	const struct qw_session *s = state;

	return s->has_qport && s->side[0].seen && payload.n >= 10 &&
	       s->qport == (uint16_t)(payload.bytes[8] | payload.bytes[9] << 8);
}

const struct family quakeworld_family = {
	.id = FAMILY_QUAKEWORLD,
	.state_size = sizeof(struct qw_session),
	.takes = qw_session_takes,
	.drop = qw_session_drop,
	.claims = quakeworld_claims,
	.words = learns,
	.word = quakeworld_word,
	.datagram = quakeworld_datagram,
	.demo = qw_demo,
	.owns = quakeworld_owns,
};
