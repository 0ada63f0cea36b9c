// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_family.c - Quake III's seam to the sessions: which end serves, what the
 * connectionless words teach.
 *
 * Read next: q3_datagram.c (one datagram), q3_server.c and q3_client.c (one message).
 */
#include <stdlib.h>
#include <string.h>

#include "decode/family.h"
#include "decode/q3/q3_demo.h"
#include "decode/q3/q3_session.h"

static void quake3_datagram(void *state, enum direction direction, struct span payload,
			    struct record *r)
{
	struct q3_session *q = state;

	r->kind = "game";
	if (payload.n < 4) {
		record_malformed(r, "shorter than a sequence");
		return;
	}
	if (!q) {
		record_opaque(r, "no memory for a session");
		return;
	}
	if (direction == DIRECTION_UNKNOWN ||
	    (q->netchan != Q3_NETCHAN_LEGACY && !q->has_challenge &&
	     !q->offer.has_connect)) {
		enum direction voted =
			q3_session_vote(q, r->end, payload.bytes, payload.n);

		if (voted != DIRECTION_UNKNOWN)
			r->direction = voted;
		if (direction == DIRECTION_UNKNOWN)
			direction = voted;
	}
	if (direction == DIRECTION_UNKNOWN) {
		record_opaque(r, "direction not known yet: the handshake was not seen");
		return;
	}
	q3_session_datagram(q, direction, payload.bytes, payload.n, r);
}

/* The first number of a word's arguments. */
static bool first_number(const uint8_t *arguments, size_t n, int32_t *ret)
{
	char digits[16] = "";
	size_t at = 0, used = 0;
	char *end;

	while (at < n && (arguments[at] == ' ' || arguments[at] == '"'))
		at++;
	while (at < n && used < sizeof(digits) - 1 && arguments[at] > ' ')
		digits[used++] = (char)arguments[at++];
	*ret = (int32_t)strtoll(digits, &end, 10);
	return end != digits;
}

static const enum wire_kind learns[] = {
	KIND_CHALLENGERESPONSE, KIND_CONNECT, KIND_CONNECTRESPONSE,
	KIND_DISCONNECT,	KIND_COUNT,
};

static void on_connect(struct q3_session *q, struct span text)
{
	/* The text is in quotes. */
	while (text.n && *text.bytes != '\\') {
		text.bytes++;
		text.n--;
	}
	if (text.n && text.bytes[text.n - 1] == '"')
		text.n--;
	q3_session_on_connect(q, (const char *)text.bytes, text.n);
}

static void quake3_word(void *state, enum wire_kind kind, enum direction direction,
			struct span arguments)
{
	struct q3_session *q = state;
	int32_t challenge;
	bool has = first_number(arguments.bytes, arguments.n, &challenge);

	(void)direction;
	switch (kind) {
	case KIND_CHALLENGERESPONSE:
		if (has)
			q3_session_on_challenge(q, challenge);
		break;
	case KIND_CONNECT:
		on_connect(q, arguments);
		break;
	case KIND_CONNECTRESPONSE:
		q3_session_on_accept(q, has ? &challenge : NULL);
		break;
	default:
		q->disconnected = true;
		break;
	}
}

static size_t quake3_takes(const void *state)
{
	const struct q3_session *q = state;

	return sizeof(*q) + (q->game ? q3_game_touched(q->game) : 0);
}

/*
 * Three longs from @offset on: serverId, messageAcknowledge, reliableAcknowledge. The
 * second follows the server's sequence.
 */
static bool acknowledges(const struct glance *g, struct span payload, size_t offset)
{
	struct q3_bits bits;
	uint32_t acknowledged;

	if (payload.n < offset + 5 || !g->other_seen)
		return false;
	bits = q3_bits_of(payload.bytes + offset, payload.n - offset);
	q3_get(&bits, 32);
	acknowledged = q3_get(&bits, 32);
	q3_get(&bits, 32);
	return !q3_bits_failed(&bits) && acknowledged &&
	       g->other - acknowledged <= GLANCE_NEAR;
}

static int quake3_claims(const struct glance *g, struct span payload, enum direction *ret)
{
	if (!acknowledges(g, payload, 6) && !acknowledges(g, payload, 10))
		return 0;
	*ret = DIRECTION_C2S;
	return 2;
}

static void quake3_drop(void *state)
{
	q3_session_drop(state);
}

/* The server knows a client by its address and qport; the port may change. */
static bool quake3_owns(const void *state, struct span payload)
{
	const struct q3_session *q = state;

	return q->live && q->has_qport && payload.n >= 6 &&
	       q->qport == (uint16_t)(payload.bytes[4] | payload.bytes[5] << 8);
}

/*
 * A legacy message is scrambled with the text of a command that the other side has sent,
 * and moves are so over any netchan. If its number is the next ones', the datagram with
 * it was overtaken in the capture.
 */
static bool waits_key(const struct q3_session *q, bool client, struct span payload)
{
	bool checksum = q->netchan == Q3_NETCHAN_CHECKSUM;
	size_t at = (client ? 6 : 4) + (checksum ? 4 : 0);
	const struct q3_texts *texts = client ? &q->game->server : &q->game->client;
	struct q3_bits b;
	int32_t number;

	if (q->netchan == Q3_NETCHAN_UNKNOWN || (checksum && !client) ||
	    (!checksum && !q->has_challenge) || payload.n <= at + Q3_KEY_FROM_SERVER)
		return false;
	b = q3_bits_of(payload.bytes + at, payload.n - at);
	number = q3_get_long(&b);
	if (client) {
		q3_get_long(&b);
		number = q3_get_long(&b);
	}
	return !q3_bits_failed(&b) && number > texts->last &&
	       number - texts->last <= Q3_RELIABLE_MAX;
}

/*
 * A snapshot that is whole, as the last one was, while a gamestate may have been missed
 * in front of it: the message that is not there was overtaken, or the client is about to
 * say what it plays.
 */
static bool waits_proof(const struct q3_session *q, bool client, struct span payload)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint32_t sequence = reader_le32(&rd);

	return !client && q->game->gamestate.known && !q->game->differs &&
	       !q3_game_known(q->game, sequence);
}

/* Do the slices that were collected, and those ahead, make it whole? */
static bool waits_slices(const struct q3_session *q, bool client, struct span payload,
			 struct ahead *ahead)
{
	bool checksum = q->netchan == Q3_NETCHAN_CHECKSUM;
	struct q3_header first, h;
	const char *why;
	uint64_t have;
	uint32_t end;

	if (!q3_header_read(&first, payload.bytes, payload.n, client, checksum, &why) ||
	    !first.fragment ||
	    q3_assembled(q->game, client, (int32_t)first.sequence, &have, &end))
		return false;
	h = first;
	do {
		if (!h.fragment || h.sequence != first.sequence)
			continue;
		have |= 1ULL << (h.start / Q3_SLICE);
		if (h.length < Q3_SLICE)
			end = h.start / Q3_SLICE + 1U;
		if (end && have == (2ULL << (end - 1)) - 1)
			return false;
	} while (ahead->next(ahead, &payload) &&
		 (q3_header_read(&h, payload.bytes, payload.n, client, checksum, &why) ||
		  (h.fragment = false, true)));
	return true;
}

static enum family_wait quake3_waits(const void *state, enum direction direction,
				     struct span payload, struct ahead *ahead)
{
	const struct q3_session *q = state;
	bool client = direction == DIRECTION_C2S;

	if (!q->game || direction == DIRECTION_UNKNOWN || payload.n < 4)
		return WAIT_NOTHING;
	if (payload.bytes[3] & 0x80)
		return q->netchan != Q3_NETCHAN_UNKNOWN &&
				       waits_slices(q, client, payload, ahead)
			       ? WAIT_SLICES
			       : WAIT_NOTHING;
	return waits_key(q, client, payload) || waits_proof(q, client, payload)
		       ? WAIT_KEY
		       : WAIT_NOTHING;
}

/* The session begins with the first block. */
static void quake3_demo(void *state, const struct demo_block *block, struct record *r)
{
	struct q3_session *q = state;

	if (block->type == DEMO_TYPE_HEADER) {
		q3_demo_header(block->bytes, block->n, r);
		return;
	}
	if (!q->game)
		q3_demo_start(q, block->format == DEMO_DM3_OLD ? Q3_DEMO_OLD
							       : Q3_DEMO_MODERN);
	q3_demo_block(q, block->sequence, block->bytes, block->n, r);
}

static enum demo_format quake3_recognise(struct span prefix)
{
	switch (q3_demo_recognise(prefix.bytes, prefix.n)) {
	case Q3_DEMO_MODERN:
		return DEMO_DM3;
	case Q3_DEMO_OLD:
		return DEMO_DM3_OLD;
	case Q3_DEMO_NONE:
		break;
	}
	if (q3_demo_recognise_urt(prefix.bytes, prefix.n))
		return DEMO_URT;
	return DEMO_NONE;
}

const struct family quake3_family = {
	.id = FAMILY_QUAKE3,
	.state_size = sizeof(struct q3_session),
	.takes = quake3_takes,
	.drop = quake3_drop,
	.claims = quake3_claims,
	.words = learns,
	.word = quake3_word,
	.datagram = quake3_datagram,
	.waits = quake3_waits,
	.demo = quake3_demo,
	.recognise = quake3_recognise,
	.owns = quake3_owns,
};
