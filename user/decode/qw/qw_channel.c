// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qw_channel.c - one datagram of a connection: header, order, FTE's fragments, message.
 *
 *	+---------------+---------------+-----------+-------------+---- ... --+
 *	| u32 sequence  | u32 acked     | u16 qport | u16 part    | messages  |
 *	+---------------+---------------+-----------+-------------+---- ... --+
 *	  bit 31: has     bit 31: parity  from the    if agreed on:
 *	  reliable part   of reliables    client only offset / 8, bit 0 more
 *
 * If FTE's STUNAWARE is agreed on, the first two are big-endian, and bit 30 of the first
 * is set.
 *
 * While svc_serverdata is unseen the layouts of a server's messages are unknown; then
 * those are tried that are met in practice, and what fits is said to be guessed.
 *
 * Sources: Quake QW/client/net_chan.c; mvdsv src/net_chan.c; fteqw
 * engine/common/net_chan.c.
 */
#include "decode/qw/qw_message.h"
#include "lib/util.h"

#define PART_MORE   1U
#define PART_UNIT   4U
#define MESSAGE_MAX 65536
#define STUN_MARK   0x40 /* of the first byte: a STUN packet has none */
#define HEADER_WORD 4
#define HEADER_MAX  10

/* Masks as servers have them in force: mvdsv's in each generation, FTE's, none. */
static const struct qw_terms usual[] = {
	{ .fte = 0x21407000, .fte2 = 0x1, .mvd = 0x1, .protocol = 28 },
	{ .fte = 0x21407000, .fte2 = 0x1, .mvd = 0x21, .protocol = 28 },
	{ .fte = 0x2140f000, .fte2 = 0x1, .mvd = 0x1, .protocol = 28 },
	{ .fte = 0x20487008, .protocol = 28 },
	{ .fte = 0x01487008, .protocol = 28 },
	{ .protocol = 28 },
};

/* Does it parse so? *leans, which may be NULL: and is that owed to the terms? */
static bool fits(const struct qw_terms *terms, uint32_t sequence, struct span bytes,
		 bool *leans)
{
	struct qw_session trial = { .terms = *terms };
	struct record silent;
	bool good;

	record_reset(&silent, NULL);
	silent.kind = "server-message";
	good = qw_message_trial(&trial, sequence, bytes, &silent, leans);
	qw_session_drop(&trial);
	return good;
}

static void guess(struct qw_session *s, uint32_t sequence, struct span bytes, bool late,
		  struct record *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		uint32_t which = (uint32_t)((s->guess + i) % ARRAY_SIZE(usual));

		if (!fits(&usual[which], sequence, bytes, NULL))
			continue;
		s->guess = which;
		s->terms = usual[which];
		qw_message_decode(s, DIRECTION_S2C, sequence, bytes, late, r);
		if (s->has_slot)
			return;
		memset(&s->terms, 0, sizeof(s->terms));
		record_partial(r, "serverdata was not seen: extensions are guessed");
		return;
	}
	record_opaque(r, "serverdata was not seen: extensions are not known");
}

/* A datagram that is newer than all of its direction was read. */
static void taken(struct qw_session *s, bool client, const struct netchan_header *h)
{
	uint32_t first;

	if (!client)
		netchan_proof_server(&s->proof, h);
	else if (netchan_proof_client(&s->proof, h, &first))
		evidence_account(&s->join.map, first, h->ack);
}

static void message(struct qw_session *s, enum direction direction,
		    const struct netchan_header *h, struct span bytes, bool late,
		    struct record *r)
{
	bool leans;

	if (direction == DIRECTION_S2C && !s->terms.protocol &&
	    (!fits(&s->terms, h->sequence, bytes, &leans) || leans))
		guess(s, h->sequence, bytes, late, r);
	else
		qw_message_decode(s, direction, h->sequence, bytes, late, r);
	if (!late && (r->status == RECORD_DECODED || r->status == RECORD_PARTIAL))
		taken(s, direction == DIRECTION_C2S, h);
}

/*
 * Both ends begin anew. It may be another map's from here on, and other extensions may
 * have been agreed on: until serverdata nothing is known. @r: of the datagram that shows
 * it.
 */
static void forget_map(struct qw_session *s, struct record *r)
{
	r->dialect = NULL;
	memset(s->side, 0, sizeof(s->side));
	memset(s->late, 0, sizeof(s->late));
	memset(&s->proof, 0, sizeof(s->proof));
	memset(&s->terms, 0, sizeof(s->terms));
	s->has_slot = false;
	s->join = (struct evidence_join){ .holes = false };
	s->updates = (struct evidence){ .known = false };
	if (s->game)
		memset(s->game, 0, sizeof(*s->game));
}

/*
 * Whether the receiver would throw it away. Where strange ones come in a row the numbers
 * have begun anew: the handshake was missed, or a forger was. @sum: of the datagram.
 */
static bool is_late(struct qw_session *s, unsigned int side, uint32_t sequence,
		    uint16_t sum, struct record *r)
{
	enum netchan_order order = netchan_order(&s->side[side], sequence);

	s->strange = false;
	if (order != NETCHAN_NEWER) {
		switch (netchan_late(&s->late[side], sequence, sum)) {
		case NETCHAN_ANEW:
			forget_map(s, r);
			order = netchan_order(&s->side[side], sequence);
			break;
		case NETCHAN_STRANGE:
			s->strange = true;
			break;
		case NETCHAN_OVERTAKEN:
			break;
		}
	}
	if (order == NETCHAN_NEWER) {
		netchan_late_newer(&s->late[side], sequence, sum);
		return false;
	}
	record_bool(r, order == NETCHAN_OLDER ? "late" : "repeated", true);
	return true;
}

/* If the acceptance was not seen, a connection begins with its first small number. */
static void begin_if_new(struct qw_session *s, bool client,
			 const struct netchan_header *h)
{
	if (s->connecting && h->sequence <= 2 &&
	    (client ? h->qport == s->qport_next : h->sequence && h->reliable))
		qw_session_start(s);
}

static void part(struct qw_session *s, enum direction direction,
		 const struct netchan_header *h, struct reader *rd, bool late,
		 struct record *r)
{
	struct netchan_slices *slices = &s->slices[direction == DIRECTION_S2C];
	unsigned int word = reader_le16(rd);
	size_t offset = (size_t)(word & ~PART_MORE) * PART_UNIT;

	if (reader_failed(rd)) {
		record_malformed(r, "shorter than a header");
		return;
	}
	if (!word) {
		message(s, direction, h, reader_rest(rd), late, r);
		return;
	}
	r->kind = "fragment";
	record_uint(r, "fragmentStart", offset);
	record_uint(r, "fragmentLength", reader_left(rd));
	record_bool(r, "more", word & PART_MORE);
	switch (netchan_fragment(slices, h->sequence, offset, word & PART_MORE,
				 reader_rest(rd), MESSAGE_MAX)) {
	case NETCHAN_STORED:
		break;
	case NETCHAN_SEEN:
		record_bool(r, "repeated", true);
		break;
	case NETCHAN_WHOLE:
		message(s, direction, h, (struct span){ slices->bytes, slices->used },
			false, r);
		break;
	case NETCHAN_MISSED:
		record_partial(r, "a fragment of this message was not seen");
		break;
	case NETCHAN_TOO_LONG:
		record_malformed(r, "message longer than it may be");
		break;
	}
}

/* The header in the usual order of bytes, at @to; false: it is in that. */
static bool turned(uint32_t variants, struct span payload, uint8_t *to)
{
	const uint8_t *from = payload.bytes;

	if (!(variants & QW_VARIANT_STUN) || payload.n < 2 * HEADER_WORD ||
	    !(*from & STUN_MARK))
		return false;
	memcpy(to, from, payload.n < HEADER_MAX ? payload.n : HEADER_MAX);
	for (unsigned int i = 0; i < HEADER_WORD; i++) {
		to[i] = from[HEADER_WORD - 1 - i];
		to[HEADER_WORD + i] = from[2 * HEADER_WORD - 1 - i];
	}
	to[HEADER_WORD - 1] &= (uint8_t)~STUN_MARK;
	return true;
}

void qw_datagram(struct qw_session *s, enum direction direction, struct span payload,
		 struct record *r)
{
	struct reader rd = reader_of(payload.bytes, payload.n), head = rd;
	bool client = direction == DIRECTION_C2S, late;
	uint32_t variants = s->offered & s->asked;
	uint8_t header[HEADER_MAX];
	struct netchan_header h;

	r->kind = client ? "client-message" : "server-message";
	if (turned(variants, payload, header))
		head = reader_of(header, payload.n < HEADER_MAX ? payload.n : HEADER_MAX);
	if (!netchan_read(&head, client ? 2 : 0, r, &h))
		return;
	reader_take(&rd, client ? HEADER_MAX : 2 * HEADER_WORD);
	begin_if_new(s, client, &h);
	if (client && s->has_qport && h.qport != s->qport) {
		record_opaque(r, "qport of another connection");
		return;
	}
	if (client) {
		s->qport = h.qport;
		s->has_qport = true;
	}
	if (variants & QW_VARIANT_HUFF) {
		record_opaque(r, "compressed by a table that only the two ends have");
		return;
	}
	late = is_late(s, !client, h.sequence,
		       variants & QW_VARIANT_FRAG ? 0 : netchan_sum(payload), r);
	if (variants & QW_VARIANT_FRAG)
		part(s, direction, &h, &rd, late, r);
	else
		message(s, direction, &h, reader_rest(&rd), late, r);
	if (s->strange)
		record_partial(r, "it may be of a later connection");
	r->dialect = s->terms.protocol ? qw_dialect(&s->terms) : r->dialect;
	r->untested = qw_is_untested(&s->terms) || variants & QW_VARIANT_FRAG;
}
