// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_session.c - the netchan: from datagrams to messages. The words of joining are in
 * q2_words.c.
 *
 * Sources: Quake-2 qcommon/net_chan.c; q2pro src/common/net/chan.c.
 */
#include "decode/q2/q2_session.h"
#include "decode/q2/q2_mvd.h"

#define HEADER	   8 /* without a qport */
#define SLICED	   (1U << 30)
#define FRAME_NS   (100 * 1000 * 1000LL)
#define GAP_MAX	   600 /* frames that time is believed to have passed */
#define BEHIND_MAX 64 /* datagrams that were overtaken */
#define PEEKS_MAX  16 /* of one connection: what is open then stays so */
#define AHEAD_MAX  1024 /* that were lost, or sent before a port changed */
#define FIRST_MAX  2 /* of the numbers of a server that accepts a client */

static const char no_direction[] = "direction not known: the handshake was not seen";
static const char part_missed[] = "a part of the message was not seen";
static const char no_protocol[] = "this protocol's messages are not known";
static const char several_fit[] = "several protocols fit: the handshake was not seen";
static const char no_dialect[] = "no known protocol fits: the handshake was not seen";
static const char may_be_other[] = "it may be of a later connection";

/*
 * 35 and 36, and 36 with and without extensions, have much in common: what was taken for
 * one is another if this datagram says so, or an earlier one has.
 */
static bool is_other(const struct q2_session *q, const struct q2_guess *g,
		     struct span payload)
{
	return q->guessed && q->dialect.enhanced && g->dialect.enhanced &&
	       (!(q->ways & q2_guess_protocol(q->dialect.protocol)) ||
		!q2_fits(&q->dialect, g->direction, g->qport_size, payload));
}

/* May what comes be of another dialect than the session's? */
static bool in_doubt(const struct q2_session *q)
{
	return !q->dialect.name || (q->guessed && q->dialect.enhanced);
}

/* Learn from a datagram of a connection that began unseen. */
static void settle(struct q2_session *q, const struct q2_guess *g, struct span payload)
{
	if (g->rank < Q2_RANK_FRAME && !g->checked)
		return;
	if (in_doubt(q))
		q->ways = q2_guess_narrow(q->ways, g);
	if (!q->dialect.name || is_other(q, g, payload)) {
		q->dialect = g->dialect;
		q->guessed = true;
	}
	if (g->direction == DIRECTION_C2S)
		q->qport_size = g->qport_size + 1;
	else if (!g->dialect.enhanced)
		q->qport_size = 3;
	q->live = true;
}

static void note_qport(struct q2_session *q, const struct netchan_header *h)
{
	if (h->has_qport && !q->now.has_connect)
		q->now.qport = h->qport;
}

/* Newer than all of its direction? Only what is right may count as the newest. */
static enum netchan_order order_of(struct q2_session *q, bool client, uint32_t sequence)
{
	struct netchan_side side = q->side[client];

	if (q->accepted_again && sequence == 1) {
		memset(&q->side[client], 0, sizeof(q->side[client]));
		return NETCHAN_NEWER;
	}
	return netchan_order(&side, sequence);
}

/* A datagram that is newer than all of its direction was read. */
static void taken(struct q2_session *q, enum direction direction,
		  const struct netchan_header *h)
{
	bool client = direction == DIRECTION_C2S;
	uint32_t first;

	netchan_order(&q->side[client], h->sequence);
	netchan_late_newer(&q->late[client], h->sequence, q->sum);
	if (!client) {
		netchan_proof_server(&q->proof, h);
		if (q->game)
			q2_game_read(q->game, h->sequence);
	} else if (netchan_proof_client(&q->proof, h, &first) && q->game) {
		evidence_account(&q->game->join.map, first, h->ack);
	}
}

static void message(struct q2_session *q, const struct q2_guess *guess,
		    const struct netchan_header *h, struct message *m)
{
	struct q2_dialect was = q->dialect;
	bool client = m->direction == DIRECTION_C2S, doubt = in_doubt(q);

	if (!was.name)
		q->dialect = guess->dialect;
	q->doubt = doubt && !guess->agreed;
	if (q->doubt)
		message_missing(m, several_fit);
	/* Where a move's checksum is wrong its sequence, which that is over, may be too.
	 */
	if (message_decode(q2_message, m) && !q->stale &&
	    (!client || m->record->status == RECORD_DECODED || q->doubt))
		taken(q, m->direction, h);
	q->doubt = false;
	/* A message that all dialects share does not choose one. */
	if (!was.name && !(q->game && q->game->begun))
		q->dialect = was;
	if (doubt && in_doubt(q))
		m->record->guess = !q2_guess_one_name(q->ways ? q->ways : guess->fit);
}

/* A part of a message; true: it is whole, and in @m. */
static bool collect(struct q2_session *q, struct message *m,
		    const struct netchan_part *part, struct span slice)
{
	struct netchan_slices *s = &q->slices[m->direction == DIRECTION_C2S];

	m->record->kind = "fragment";
	switch (netchan_fragment(s, m->sequence, part->offset, part->more, slice,
				 Q2_MESSAGE_MAX)) {
	case NETCHAN_WHOLE:
		m->bytes = (struct span){ s->bytes, s->used };
		return true;
	case NETCHAN_STORED:
		record_hex(m->record, "data", slice.bytes, slice.n);
		if (s->broken)
			record_partial(m->record, part_missed);
		break;
	case NETCHAN_SEEN:
		record_bool(m->record, "repeated", true);
		record_hex(m->record, "data", slice.bytes, slice.n);
		break;
	case NETCHAN_MISSED:
		record_hex(m->record, "data", slice.bytes, slice.n);
		record_partial(m->record, part_missed);
		break;
	case NETCHAN_TOO_LONG:
		record_malformed(m->record, "message longer than 32768");
		break;
	}
	return false;
}

static const char *idle(enum direction direction)
{
	return direction == DIRECTION_C2S   ? "client-idle"
	       : direction == DIRECTION_S2C ? "server-idle"
					    : "netchan";
}

/* The bytes behind the header of a datagram of known direction. */
static void body(struct q2_session *q, const struct q2_guess *guess,
		 const struct netchan_header *h, const struct netchan_part *part,
		 struct span rest, struct message *m)
{
	bool client = m->direction == DIRECTION_C2S;
	enum netchan_order order;

	m->bytes = rest;
	order = order_of(q, client, m->sequence);
	q->stale = order != NETCHAN_NEWER;
	if (q->stale)
		record_bool(m->record, order == NETCHAN_OLDER ? "late" : "repeated",
			    true);
	if (q->strange)
		message_missing(m, may_be_other);
	/* A slice of a message that has come must not disturb the next one's. */
	if (part->sliced && (q->stale || !collect(q, m, part, rest))) {
		m->record->kind = "fragment";
		if (q->stale)
			record_hex(m->record, "data", rest.bytes, rest.n);
		q->stale = false;
		return;
	}
	if (m->bytes.n)
		message(q, guess, h, m);
	else if (!q->stale)
		taken(q, m->direction, h);
	if (!m->bytes.n && q->strange)
		record_partial(m->record, may_be_other);
	/* A qport of two bytes and nothing, or one of one byte and a nop. */
	if (!m->bytes.n && in_doubt(q) && !guess->agreed)
		record_partial(m->record, several_fit);
	q->stale = false;
}

/* Read what serverdata says of itself, before a byte is believed. */
static void peek_protocol(struct q2_session *q, struct span bytes)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	struct q2_dialect d;
	int32_t protocol;

	if (reader_u8(&rd) != 12)
		return;
	protocol = (int32_t)reader_le32(&rd);
	if (!reader_failed(&rd))
		q->unknown = q2_dialect_of(protocol, 0, 0, &d) ? 0 : protocol;
}

/*
 * Return the protocol of a recording of Quake II 3.00 or before, by its first block; 0:
 * it is none. There serverdata is op 7 and all ops have other numbers than later ones, so
 * that nothing else in such a recording can be read.
 */
static int32_t oldest_protocol(const struct demo_block *block)
{
	struct reader rd = reader_of(block->bytes, block->n);
	uint8_t op = reader_u8(&rd);
	int32_t protocol = (int32_t)reader_le32(&rd);

	return op == Q2_OLDEST_SERVERDATA && !reader_failed(&rd) ? protocol : 0;
}

/* How wide the qport of @payload is, by what is known or by what it can be. */
static unsigned int qport_size_of(const struct q2_session *q, enum direction direction,
				  const struct q2_guess *guess, struct span payload)
{
	if (direction != DIRECTION_C2S)
		return 0;
	if (q->qport_size)
		return q->qport_size - 1U;
	/* Two bytes behind the words are rather a qport of 34 than messages. */
	if (payload.n >= HEADER && payload.n <= HEADER + 2)
		return (unsigned int)payload.n - HEADER;
	return guess->direction == DIRECTION_C2S ? guess->qport_size : 2;
}

/*
 * For a netchan of which nothing is known: sequences do not come as far as bit 30, but
 * the slices of 36's new one have it.
 */
static bool is_slice(const struct q2_session *q, enum direction direction,
		     struct span payload)
{
	const struct netchan_side *side = &q->side[direction == DIRECTION_C2S];
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint32_t word = reader_le32(&rd), ahead;

	if (q->now.has_connect || !q->dialect.q2pro || !(word & SLICED) ||
	    direction == DIRECTION_UNKNOWN ||
	    (direction == DIRECTION_C2S && !q->qport_size))
		return false;
	ahead = (word & (SLICED - 1)) - side->newest;
	return !side->seen || ahead < NETCHAN_JUMP || -ahead < NETCHAN_JUMP;
}

/* One part of a message, as its datagram says. */
struct slice {
	uint32_t sequence;
	size_t offset, n;
	bool more;
};

static bool slice_of(const struct q2_session *q, enum direction direction,
		     struct span payload, struct slice *ret)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint32_t word = reader_le32(&rd);
	uint16_t part;

	if (!(word & SLICED) || direction == DIRECTION_UNKNOWN ||
	    (direction == DIRECTION_C2S && !q->qport_size) ||
	    (!q->now.new_netchan && !is_slice(q, direction, payload)))
		return false;
	reader_take(&rd, 4 + (direction == DIRECTION_C2S ? q->qport_size - 1U : 0));
	part = reader_le16(&rd);
	*ret = (struct slice){ word & (SLICED - 1), part & 0x7fff, reader_left(&rd),
			       part & 0x8000 };
	return !reader_failed(&rd);
}

/* Do the ways that are left read it differently? */
static bool is_open(const struct q2_session *q, enum direction direction,
		    struct span payload)
{
	struct q2_guess guess;

	if (!in_doubt(q) || q->peeked >= PEEKS_MAX || direction == DIRECTION_UNKNOWN ||
	    is_slice(q, direction, payload))
		return false;
	guess = q2_guess(q, direction, payload);
	return guess.direction != DIRECTION_UNKNOWN && !guess.agreed;
}

void q2_session_peek(struct q2_session *q, enum direction direction, struct span payload)
{
	struct q2_guess guess;

	if (!in_doubt(q) || is_slice(q, direction, payload))
		return;
	q->peeked++;
	guess = q2_guess(q, direction, payload);
	settle(q, &guess, payload);
}

enum family_wait q2_session_waits(const struct q2_session *q, enum direction direction,
				  struct span payload, struct ahead *ahead)
{
	bool client = direction == DIRECTION_C2S;
	const struct netchan_slices *s = &q->slices[client];
	enum family_wait wait = WAIT_SLICES;
	struct netchan_side side = q->side[client];
	struct slice first, next;
	size_t used = 0;
	bool begun;

	if (is_open(q, direction, payload))
		return WAIT_KEY;
	if (!slice_of(q, direction, payload, &first) || !first.more ||
	    netchan_order(&side, first.sequence) != NETCHAN_NEWER)
		return WAIT_NOTHING;
	begun = s->started && s->next == first.sequence;
	/* Taken already, or behind one that was missed: nothing makes that whole. */
	if (first.offset != (begun ? s->used : 0) || (begun && (s->whole || s->broken)))
		return WAIT_NOTHING;
	used = first.offset + first.n;
	while (ahead->next(ahead, &payload)) {
		if (!slice_of(q, direction, payload, &next) ||
		    next.sequence != first.sequence || next.offset != used)
			continue;
		if (!next.more)
			return WAIT_NOTHING;
		used += next.n;
		wait = WAIT_END;
	}
	return wait;
}

bool q2_session_follows(const struct q2_session *q, struct span payload)
{
	uint32_t mask = (q->now.new_netchan ? SLICED : NETCHAN_RELIABLE) - 1;
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint32_t ahead = (reader_le32(&rd) & mask) - q->side[true].newest;

	return !q->side[true].seen || ahead <= AHEAD_MAX || -ahead <= BEHIND_MAX;
}

/*
 * Begin another connection if the words that have accepted its client were not seen. Its
 * connect was: the first that the server sends shows it. Or nothing was, and numbers that
 * are far behind come in a row: its dialect must be found out.
 */
static void begin_if_new(struct q2_session *q, enum direction direction,
			 struct span payload)
{
	bool client = direction == DIRECTION_C2S, offered;
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint32_t word = reader_le32(&rd);
	uint32_t sequence = word & ((q->now.new_netchan ? SLICED : NETCHAN_RELIABLE) - 1);
	struct slice slice;

	q->strange = false;
	q->sum = netchan_sum(payload);
	if (direction == DIRECTION_UNKNOWN || reader_failed(&rd))
		return;
	offered = q->offer.has_connect && !q->offer.refused && !q2_session_is_offered(q);
	if (offered && !client && word & NETCHAN_RELIABLE &&
	    (word & (SLICED - 1)) - 1 < FIRST_MAX)
		q2_session_start(q);
	if (slice_of(q, direction, payload, &slice)) {
		q->sum = 0;
		return;
	}
	if (order_of(q, client, sequence) == NETCHAN_NEWER)
		return;
	switch (netchan_late(&q->late[client], sequence, q->sum)) {
	case NETCHAN_OVERTAKEN:
		break;
	case NETCHAN_STRANGE:
		q->strange = true;
		break;
	case NETCHAN_ANEW:
		q2_session_forget(q);
		break;
	}
}

void q2_session_datagram(struct q2_session *q, enum direction direction,
			 struct span payload, struct record *r)
{
	struct q2_guess guess = { .direction = direction, .agreed = true };
	struct reader rd = reader_of(payload.bytes, payload.n);
	struct message m = { .state = q, .record = r };
	struct netchan_part part = { .sliced = false };
	struct netchan_header h;
	unsigned int qport_size;
	bool parts;

	begin_if_new(q, direction, payload);
	guess.dialect = q->dialect;
	parts = q->now.new_netchan || is_slice(q, direction, payload);
	if (direction == DIRECTION_UNKNOWN || !q->dialect.name ||
	    (!parts && (!q->qport_size || in_doubt(q)))) {
		guess = q2_guess(q, direction, payload);
		settle(q, &guess, payload);
		if (direction == DIRECTION_UNKNOWN && guess.rank == Q2_RANK_FRAME)
			r->direction = direction = guess.direction;
	}
	r->kind = idle(direction);
	if (in_doubt(q) && !q2_guess_one_name(q->ways))
		r->dialect = NULL;
	else if (q->dialect.name)
		r->dialect = q->dialect.name;
	qport_size = qport_size_of(q, direction, &guess, payload);
	if (parts ? !netchan_read_part(&rd, qport_size, r, &h, &part)
		  : !netchan_read(&rd, qport_size, r, &h))
		return;
	m.direction = direction;
	m.sequence = h.sequence;
	if (!h.sequence) {
		record_malformed(r, "sequence 0: the first is 1");
		return;
	}
	/* Against what a connection has agreed on, one datagram proves nothing. */
	if (direction == DIRECTION_S2C && h.reliable && !part.sliced && !q->dialect.name)
		peek_protocol(q, (struct span){ rd.pos, reader_left(&rd) });
	if (q->unknown && reader_left(&rd)) {
		record_opaque(r, no_protocol);
	} else if (direction == DIRECTION_UNKNOWN) {
		record_uint(r, "bytes", reader_left(&rd));
		record_opaque(r, no_direction);
	} else {
		if (!q->dialect.name && guess.direction == DIRECTION_UNKNOWN &&
		    reader_left(&rd)) {
			record_uint(r, "bytes", reader_left(&rd));
			record_opaque(r, no_dialect);
			return;
		}
		body(q, &guess, &h, &part, reader_rest(&rd), &m);
		if (r->status == RECORD_DECODED && direction == DIRECTION_C2S)
			note_qport(q, &h);
	}
}

/* The clock of a recording: its frames, which start over with a map. */
static void note_demo_time(struct q2_session *q, const struct demo_block *block,
			   struct record *r)
{
	int32_t number;

	if (block->format == DEMO_MVD2) {
		q->demo_frames += (r->facts.has & FACT_SNAPSHOT) != 0;
	} else if (r->facts.has & FACT_TIME) {
		number = (int32_t)(r->facts.time_us * 1000 / FRAME_NS);
		if (q->demo_last && number > q->demo_last &&
		    number - q->demo_last <= GAP_MAX)
			q->demo_frames += (uint32_t)(number - q->demo_last);
		q->demo_last = number;
	}
	r->time_ns = q->demo_frames * FRAME_NS;
}

void q2_session_demo(struct q2_session *q, const struct demo_block *block,
		     struct record *r)
{
	struct message m = {
		.bytes = { block->bytes, block->n },
		.direction = DIRECTION_S2C,
		.sequence = (uint32_t)block->frame,
		.state = q,
		.record = r,
	};

	r->kind = block->kind;
	q->recording = block->format == DEMO_DM2;
	if (!q->dialect.name && block->format == DEMO_MVD2)
		q->dialect = q2_mvd_dialect;
	else if (!q->dialect.name)
		q2_dialect_of(34, 0, 0, &q->dialect);
	if (block->format == DEMO_DM2 && block->frame == 1)
		q->oldest = oldest_protocol(block);
	if (q->oldest)
		q->unknown = q->oldest;
	else if (block->format == DEMO_DM2)
		peek_protocol(q, m.bytes);
	else if (q2_mvd_begins(m.bytes))
		q->unknown = 0;
	if (q->unknown) {
		record_int(r, "protocolVersion", q->unknown);
		record_uint(r, "bytes", block->n);
		record_opaque(r, no_protocol);
		return;
	}
	if (message_decode(q2_message, &m) && q->game)
		q2_game_read(q->game, m.sequence);
	/* The rest of this recording is of that version, too. */
	if (m.opaque && block->format == DEMO_MVD2)
		q->unknown = Q2_PROTOCOL_MVD;
	note_demo_time(q, block, r);
}
