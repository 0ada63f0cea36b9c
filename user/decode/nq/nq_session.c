// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_session.c - see nq_session.h.
 *
 * Sources: Quake WinQuake/net.h, net_dgrm.c; Quakespasm net_dgrm.c; darkplaces netconn.c,
 * crypto.h; cl_demo.c of each.
 */
#include <string.h>

#include "decode/nq/nq_control.h"
#include "decode/nq/nq_session.h"
#include "lib/record_trace.h"

#define HEADER	     8
#define WRAP	     16 /* bytes of DarkPlaces' HMAC, and of a block of AES */
#define MESSAGE_MAX  65536 /* of any engine's reliable ones */
#define RESTART_NEXT 4 /* chunks that there were before a new chunk 0 */
#define LARGE	     128 /* clients send no such reliable messages */

static struct nq_way *way_of(struct nq_session *s, enum direction direction)
{
	return &s->way[direction == DIRECTION_S2C];
}

/* --- unreliable -------------------------------------------------------------------- */

static void decode(struct nq_game *game, enum direction direction, struct span bytes,
		   uint32_t sequence, struct record *r)
{
	struct message m = {
		.bytes = bytes,
		.direction = direction,
		.sequence = sequence,
		.record = r,
	};

	nq_decode(game, &m);
}

/*
 * Decode an old message by a copy of the game, so that nothing of it is kept. The stage
 * of joining that it names was reached by it.
 */
static void decode_old(const struct nq_session *s, enum direction direction,
		       struct span bytes, uint32_t sequence, struct record *r)
{
	struct nq_game game = s->game;

	game.signon = 0;
	game.clock_us = 0; /* an older message is of an older time */
	decode(&game, direction, bytes, sequence, r);
}

/* A chunk that the client has acknowledged and the capture lacks is a hole, too. */
static void decode_new(struct nq_session *s, enum direction direction, struct span bytes,
		       uint32_t sequence, struct record *r)
{
	const struct netchan_slices *slices = &s->way[1].slices;
	bool server = direction == DIRECTION_S2C;

	if (server && s->acked && (int32_t)(s->acked - slices->next) > 0)
		nq_game_hole(&s->game);
	decode(&s->game, direction, bytes, sequence, r);
	if (server)
		nq_game_clock(&s->game, r);
}

/* Nothing is known of the chunks, and if the server sends them of the game. @r: of the
 * datagram that shows it. */
static void restart(struct nq_session *s, struct nq_way *way, struct record *r)
{
	struct netchan_slices *slices = &way->slices;

	slices->started = slices->broken = slices->whole = false;
	slices->next = 0;
	slices->used = 0;
	way->order.seen = false;
	way->has_first = false;
	s->acked = 0;
	if (way == &s->way[1]) {
		s->game = (struct nq_game){ .dialects = s->game.dialects };
		r->dialect = NULL;
	}
}

static void unreliable(struct nq_session *s, enum wire_family family,
		       enum direction direction, struct span body, uint32_t sequence,
		       struct record *r)
{
	struct nq_way *way = way_of(s, direction);
	enum netchan_order order = netchan_order(&way->order, sequence);
	enum netchan_lateness late = NETCHAN_OVERTAKEN;
	uint16_t sum = netchan_sum(body);

	/* Quake Enhanced's connections have a handshake each: none begins unseen. */
	if (order != NETCHAN_NEWER && family == FAMILY_NETQUAKE)
		late = netchan_late(&way->late, sequence, sum);
	if (late == NETCHAN_ANEW) {
		/* Another connection; its first chunk was not seen. */
		restart(s, way, r);
		order = netchan_order(&way->order, sequence);
	}
	if (order == NETCHAN_NEWER) {
		netchan_late_newer(&way->late, sequence, sum);
		decode_new(s, direction, body, sequence, r);
		return;
	}
	record_bool(r, order == NETCHAN_OLDER ? "late" : "repeated", true);
	decode_old(s, direction, body, sequence, r);
	if (late == NETCHAN_STRANGE)
		record_partial(r, "it may be of a later connection");
}

/* --- reliable ---------------------------------------------------------------------- */

/* A connection anew between the same ends begins with chunk 0. */
static bool restarts(const struct nq_way *way, uint32_t number, struct span chunk)
{
	if (!way->slices.started || number)
		return false;
	return way->slices.next >= RESTART_NEXT ||
	       (way->has_first && way->first != netchan_sum(chunk));
}

/* The chunk before the next one, once more: its bytes are still there. */
static void repeated(struct nq_session *s, enum direction direction, struct span chunk,
		     uint32_t sequence, struct record *r)
{
	const struct netchan_slices *slices = &way_of(s, direction)->slices;
	struct span whole = { slices->bytes, slices->used };

	record_bool(r, "repeated", true);
	if (sequence != slices->next - 1 || slices->broken || chunk.n > slices->used)
		return;
	if (chunk.n && memcmp(whole.bytes + whole.n - chunk.n, chunk.bytes, chunk.n) != 0)
		record_malformed(r, "sent again with other bytes");
	else if (slices->whole)
		decode_old(s, direction, whole, sequence, r);
}

/* The beginning was not seen. One chunk may be a message all the same. */
static void missed(struct nq_session *s, enum direction direction, struct span chunk,
		   uint32_t sequence, bool first, struct record *r)
{
	struct message m = {
		.bytes = chunk,
		.direction = direction,
		.record = r,
	};

	if (first && chunk.n && nq_reads(&s->game, &m))
		decode(&s->game, direction, chunk, sequence, r);
	else
		record_partial(r, "a part of this message was not seen");
}

/* A serverinfo, with which the joining begins anew, may have been in what was not read.
 */
static void forget_signon(struct nq_session *s, enum direction direction)
{
	if (direction == DIRECTION_S2C)
		s->game.signon = 0;
}

static void reliable(struct nq_session *s, enum direction direction, struct span chunk,
		     uint32_t sequence, bool end, struct record *r)
{
	struct nq_way *way = way_of(s, direction);
	struct netchan_slices *slices = &way->slices;
	bool first;

	record_bool(r, "end", end);
	record_uint(r, "bytes", chunk.n);
	if (restarts(way, sequence, chunk))
		restart(s, way, r);
	first = !slices->started;
	if (first && !sequence) {
		way->has_first = true;
		way->first = netchan_sum(chunk);
	}
	if (direction == DIRECTION_S2C && slices->started &&
	    (int32_t)(sequence - slices->next) > 0)
		nq_game_hole(&s->game);
	switch (netchan_chunk(slices, sequence, end, chunk, MESSAGE_MAX)) {
	case NETCHAN_STORED:
		if (slices->broken)
			record_partial(r, "a part of this message was not seen");
		break;
	case NETCHAN_SEEN:
		repeated(s, direction, chunk, sequence, r);
		break;
	case NETCHAN_WHOLE:
		decode(&s->game, direction, (struct span){ slices->bytes, slices->used },
		       sequence, r);
		if (r->status == RECORD_MALFORMED)
			forget_signon(s, direction);
		break;
	case NETCHAN_MISSED:
		forget_signon(s, direction);
		missed(s, direction, chunk, sequence, first, r);
		break;
	case NETCHAN_TOO_LONG:
		record_malformed(r, "message longer than 65536 bytes");
		break;
	}
}

static bool is_chunk(struct span payload, uint32_t *ret_number, bool *ret_end)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint16_t flags = reader_be16(&rd), length = reader_be16(&rd);
	uint32_t number = reader_be32(&rd);

	if (reader_failed(&rd) || length != payload.n ||
	    (flags != NQ_FLAGS_CHUNK && flags != NQ_FLAGS_END))
		return false;
	*ret_number = number;
	*ret_end = flags == NQ_FLAGS_END;
	return true;
}

/* The message of an unreliable datagram; false: it has none. */
static bool lone_message(enum direction direction, struct span payload,
			 struct message *ret)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint16_t flags = reader_be16(&rd), length = reader_be16(&rd);

	reader_be32(&rd);
	*ret = (struct message){ .direction = direction, .bytes = reader_rest(&rd) };
	return !reader_failed(&rd) && flags == NQ_FLAGS_UNRELIABLE &&
	       length == payload.n && ret->bytes.n && direction != DIRECTION_UNKNOWN;
}

void nq_session_peek(struct nq_session *s, enum direction direction, struct span payload)
{
	struct message m;

	if (lone_message(direction, payload, &m))
		nq_peek(&s->game, &m);
}

enum family_wait nq_session_waits(const struct nq_session *s, enum direction direction,
				  struct span payload, struct ahead *ahead)
{
	const struct netchan_slices *slices = &s->way[direction == DIRECTION_S2C].slices;
	enum family_wait wait = WAIT_SLICES;
	uint32_t newest, number;
	struct message m;
	bool end;

	if (lone_message(direction, payload, &m))
		return nq_is_open(&s->game, &m) ? WAIT_KEY : WAIT_NOTHING;
	/* One that is sent again was told of when it came first. */
	if (direction == DIRECTION_UNKNOWN || !is_chunk(payload, &newest, &end) || end ||
	    (slices->started && (int32_t)(newest - slices->next) < 0))
		return WAIT_NOTHING;
	while (ahead->next(ahead, &payload)) {
		if (!is_chunk(payload, &number, &end) || number != newest + 1)
			continue;
		if (end)
			return WAIT_NOTHING;
		newest = number;
		wait = WAIT_END;
	}
	return wait;
}

/* --- a datagram -------------------------------------------------------------------- */

int nq_session_claims(struct span payload, enum direction *ret)
{
	struct reader rd = reader_of(payload.bytes, payload.n);
	uint16_t flags = reader_be16(&rd), length = reader_be16(&rd);
	uint8_t op;

	reader_be32(&rd);
	op = reader_u8(&rd);
	if (reader_failed(&rd) || length != payload.n)
		return 0;
	if (flags == NQ_FLAGS_CHUNK || flags == NQ_FLAGS_END) {
		if (payload.n <= LARGE && op != 4)
			return 0;
		*ret = payload.n > LARGE ? DIRECTION_S2C : DIRECTION_C2S;
		return payload.n > LARGE ? 6 : 2;
	}
	if (flags != NQ_FLAGS_UNRELIABLE)
		return 0;
	switch (op) {
	case 3: /* a move; updatestat never comes first */
		*ret = DIRECTION_C2S;
		return 3;
	case 50: /* frames acknowledged, and nothing else; or a download's part */
		*ret = (payload.n - HEADER) % 5 ? DIRECTION_S2C : DIRECTION_C2S;
		return 3;
	case 7: /* time, entities of DarkPlaces and of FTE */
	case 57:
	case 86:
		*ret = DIRECTION_S2C;
		return 3;
	default:
		return 0;
	}
}

static const char *kind_of(uint16_t flags)
{
	if (flags & NQ_FLAGS_CRYPTO)
		return "nq-encrypted";
	switch (flags) {
	case NQ_FLAGS_ACK:
		return "nq-ack";
	case NQ_FLAGS_NAK:
		return "nq-nak";
	case NQ_FLAGS_CHUNK:
	case NQ_FLAGS_END:
		return "nq-reliable";
	case NQ_FLAGS_UNRELIABLE:
		return "nq-unreliable";
	default:
		return NULL;
	}
}

/* Bytes after the first word. */
static void sequenced(struct nq_session *s, enum wire_family family,
		      enum direction direction, uint16_t flags, struct reader *rd,
		      struct record *r)
{
	uint32_t sequence = reader_be32(rd);
	struct span body = reader_rest(rd);

	if (reader_failed(rd)) {
		record_malformed(r, "no room for a sequence");
		return;
	}
	record_skip(r, 32);
	record_bits(r, 32);
	record_uint(r, "sequence", sequence);
	r->facts.has |= FACT_SEQUENCE;
	r->facts.sequence = sequence;
	if (flags != NQ_FLAGS_UNRELIABLE)
		r->facts.has |= FACT_RELIABLE;
	if (flags == NQ_FLAGS_ACK || flags == NQ_FLAGS_NAK) {
		r->facts.has |= FACT_ACKNOWLEDGES;
		if (body.n)
			record_malformed(r, "ack is not of 8 bytes");
		else if (s && direction == DIRECTION_C2S)
			s->acked = sequence + 1;
		return;
	}
	if (direction == DIRECTION_UNKNOWN || !s) {
		record_uint(r, "bytes", body.n);
		record_opaque(r,
			      s ? "direction not known yet" : "no memory for a session");
		return;
	}
	if (flags == NQ_FLAGS_UNRELIABLE)
		unreliable(s, family, direction, body, sequence, r);
	else
		reliable(s, direction, body, sequence, flags == NQ_FLAGS_END, r);
}

/* Return true if it is a datagram of 8 bytes or more with the flags of a wrapped one. */
static bool is_wrapped(struct span inner)
{
	struct reader rd = reader_of(inner.bytes, inner.n);
	uint16_t flags = reader_be16(&rd), length = reader_be16(&rd);

	return inner.n >= HEADER && length == inner.n && flags & NQ_FLAGS_CRYPTO &&
	       !(flags & NQ_FLAGS_CONTROL);
}

/*
 * DarkPlaces' two ways to wrap a datagram, once keys have been exchanged: behind 16 bytes
 * of HMAC; or in blocks of AES, how many bytes are none of it before 15 of HMAC.
 */
static bool is_enciphered(enum wire_family family, struct span payload, struct record *r)
{
	bool signed_only =
		payload.n >= WRAP + HEADER &&
		is_wrapped((struct span){ payload.bytes + WRAP, payload.n - WRAP });

	if (family != FAMILY_NETQUAKE)
		return false;
	if (!signed_only && (payload.n < 2 * WRAP || payload.n % WRAP ||
			     payload.bytes[0] < WRAP || payload.bytes[0] >= 2 * WRAP))
		return false;
	r->kind = "nq-encrypted";
	record_uint(r, "bytes", payload.n);
	record_opaque(r, signed_only ? "authenticated by DarkPlaces"
				     : "encrypted by DarkPlaces");
	return true;
}

static void datagram(struct nq_session *s, enum wire_family family,
		     enum direction direction, struct span payload, struct reader *rd,
		     struct record *r)
{
	uint16_t flags = reader_be16(rd), length = reader_be16(rd);

	r->kind = "malformed";
	if (reader_failed(rd)) {
		record_malformed(r, "shorter than a header");
		return;
	}
	if (length != payload.n && is_enciphered(family, payload, r))
		return;
	if (length != payload.n) {
		r->kind = "bad-length";
		record_uint(r, "length", length);
		record_malformed(r, "header length is not the datagram's");
		return;
	}
	if (flags == NQ_FLAGS_CONTROL) {
		nq_control(rd, r);
		return;
	}
	if (!kind_of(flags) || flags & NQ_FLAGS_CONTROL) {
		record_uint(r, "flags", flags);
		record_malformed(r, "unknown flags");
		return;
	}
	r->kind = kind_of(flags);
	if (flags & NQ_FLAGS_CRYPTO) {
		record_uint(r, "bytes", payload.n);
		record_opaque(r, "encrypted by DarkPlaces");
		return;
	}
	if (direction == DIRECTION_UNKNOWN && nq_session_claims(payload, &direction))
		r->direction = direction;
	sequenced(s, family, direction, flags, rd, r);
}

void nq_session_datagram(struct nq_session *s, enum wire_family family,
			 enum direction direction, struct span payload, struct record *r)
{
	struct reader rd = reader_of(payload.bytes, payload.n);

	record_reads(r, payload.bytes, payload.n, &rd.pos);
	datagram(s, family, direction, payload, &rd, r);
	record_reads_end(r);
}

/* --- recordings -------------------------------------------------------------------- */

/* The server's clock goes on over all maps of a file, though each begins anew. */
static void tell_time(struct nq_session *s, struct record *r)
{
	if (r->facts.has & FACT_TIME && r->status != RECORD_MALFORMED) {
		int64_t past_us = r->facts.time_us - s->demo_us;

		if (s->demo_started && past_us > 0)
			s->demo_ns += past_us * 1000;
		s->demo_started = true;
		s->demo_us = r->facts.time_us;
	}
	r->time_ns = s->demo_ns;
}

void nq_session_block(struct nq_session *s, const struct demo_block *block,
		      struct record *r)
{
	r->direction = block->direction;
	if (!s) {
		record_opaque(r, "no memory for a session");
		return;
	}
	if (block->frame == 1)
		record_int(r, "cdtrack", block->track);
	record_open_array(r, "viewangles");
	for (int i = 0; i < 3; i++)
		record_float(r, NULL, (double)block->angles[i]);
	record_close(r);
	decode(&s->game, block->direction, (struct span){ block->bytes, block->n },
	       (uint32_t)block->frame, r);
	tell_time(s, r);
}

size_t nq_session_takes(const struct nq_session *s)
{
	return sizeof(*s) + netchan_slices_room(&s->way[0].slices) +
	       netchan_slices_room(&s->way[1].slices);
}

void nq_session_drop(struct nq_session *s)
{
	netchan_slices_drop(&s->way[0].slices);
	netchan_slices_drop(&s->way[1].slices);
}
