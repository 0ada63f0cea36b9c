// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * decode.c - see decode.h.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "decode/delta.h"
#include "decode/family.h"
#include "decode/demo_recognise.h"
#include "decode/identify.h"
#include "lib/record_trace.h"

struct pending {
	struct datagram datagram;
	enum shape shape;
	/* It had to wait when its flow had this many datagrams; 0: not asked yet. */
	uint64_t asked;
};

struct decoder {
	struct session_table *sessions;
	enum wire_family forced;
	decode_sink *sink;
	void *context;
	struct record record;
	struct record_tape tape;
	bool fields, secrets, trace;
	struct keys *keys; /* for a family that decrypts */
	struct oob oob;
	/* Held datagrams, a ring; their payloads, a heap that empties with the ring. */
	struct pending pending[DECODE_PENDING_MAX];
	size_t head, count;
	uint8_t *bytes;
	size_t bytes_used, pending_max;
	unsigned int ahead_count; /* since the head began to wait for a key */
};

struct decoder *decoder_create(const struct decoder_options *options, decode_sink *sink,
			       void *context)
{
	struct decoder *d = calloc(1, sizeof(*d));
	size_t share = options->small ? 128 : 1;

	if (!d)
		return NULL;
	/* One datagram must always fit. */
	d->pending_max = options->small ? 1 << 16 : DECODE_PENDING_BYTES;
	d->sessions = session_table_create(DECODE_SESSIONS / share,
					   options->state_bytes ? options->state_bytes
								: DECODE_STATE_BYTES);
	d->bytes = malloc(d->pending_max);
	d->forced = family_of(options->forced) ? options->forced : FAMILY_AUTO;
	d->fields = options->fields;
	d->secrets = options->secrets;
	d->trace = options->trace;
	d->keys = keys_create(options->keylog, &options->psk);
	d->sink = sink;
	d->context = context;
	if (!d->sessions || !d->bytes || !d->keys ||
	    (d->fields && record_tape_create(&d->tape, DECODE_TAPE_ITEMS / share,
					     DECODE_TAPE_BYTES / share)) ||
	    (options->trace && record_trace_create(&d->tape))) {
		decoder_free(d);
		return NULL;
	}
	return d;
}

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	session_table_free(d->sessions);
	record_tape_free(&d->tape);
	keys_free(d->keys);
	free(d->bytes);
	free(d);
}

uint64_t decoder_forgotten(const struct decoder *d)
{
	return session_table_forgotten(d->sessions);
}

struct session_table *decoder_sessions(struct decoder *d)
{
	return d->sessions;
}

/* A datagram that the capture holds only in part: what its beginning says, no state. */
static void decode_damaged(struct decoder *d, const struct datagram *dg,
			   const struct identity *id)
{
	struct record *r = &d->record;

	if (id->shape == SHAPE_OOB) {
		oob_decode(&d->oob, r);
		/*
		 * The datagram broke because the capture cut it; its sender is not at
		 * fault.
		 */
		r->status = RECORD_DECODED;
		r->reason = NULL;
	} else {
		r->kind = id->shape == SHAPE_RUNT ? "runt" : "netchan";
	}
	record_uint(r, "captured", dg->n);
	record_uint(r, "length", dg->length);
	record_judge(r, dg->damage, dg->reason);
}

static bool learns_from(const struct family *family, enum wire_kind kind)
{
	for (const enum wire_kind *k = family->words; k && *k != KIND_COUNT; k++)
		if (*k == kind)
			return true;
	return false;
}

/*
 * Return true if the word is one of the other side, though the direction is known by
 * other means or a connect was seen.
 */
static bool is_other_sides(const struct session *s, const struct datagram *dg,
			   enum direction says, enum direction direction)
{
	return (dg->direction != DIRECTION_UNKNOWN || s->connected) &&
	       says != DIRECTION_UNKNOWN && direction != DIRECTION_UNKNOWN &&
	       says != direction;
}

static void decode_word(struct decoder *d, struct session *s, const struct datagram *dg,
			const struct family *family)
{
	struct record *r = &d->record;
	void *state;

	if (family->id == FAMILY_QUAKE3 && s->family == FAMILY_NETQUAKE)
		r->dialect = "darkplaces";
	oob_decode(&d->oob, r);
	if (!d->oob.row || r->status != RECORD_DECODED ||
	    is_other_sides(s, dg, d->oob.row->direction, r->direction) ||
	    (s->certain && s->family != family->id) ||
	    !learns_from(family, d->oob.row->kind))
		return;
	state = session_state(s, family->id);
	if (!state)
		return;
	family->word(state, d->oob.row->kind, r->direction, d->oob.learnt);
	session_state_count(s);
}

/* Take over what the family found out and the session did not know. */
static void learn_direction(struct session *s, const struct family *family,
			    const struct record *r)
{
	s->server_known = true;
	s->server_is_low = (r->direction == DIRECTION_S2C) == !r->end;
	s->family = family->id;
	s->certain = true;
}

/*
 * Return the family's state with the keys for its sessions, if they are encrypted. NULL:
 * the state belongs to another game, which a stranger's datagram of this shape must not
 * end.
 */
static void *family_state(struct decoder *d, struct session *s,
			  const struct family *family)
{
	void *state;

	if (s->certain && s->family != family->id)
		return NULL;
	state = session_state(s, family->id);

	if (state && family->keys)
		family->keys(state, d->keys);
	return state;
}

static void decode_known(struct decoder *d, struct session *s, const struct datagram *dg,
			 const struct identity *id)
{
	const struct family *family = family_of(id->family);
	struct record *r = &d->record;

	if (dg->damage != RECORD_DECODED) {
		decode_damaged(d, dg, id);
		return;
	}
	if (id->shape == SHAPE_OOB) {
		decode_word(d, s, dg, family);
		return;
	}
	family->datagram(family_state(d, s, family), id->direction,
			 (struct span){ dg->payload, dg->n }, r);
	session_state_count(s);
	if (r->direction != id->direction && r->direction != DIRECTION_UNKNOWN)
		learn_direction(s, family, r);
	/* NULL: a connection has begun of which nothing is known. */
	if (!r->guess && (r->dialect || s->family == family->id))
		s->dialect = r->dialect;
	if (s->forgotten && r->status == RECORD_OPAQUE)
		r->reason = "what it needs was forgotten: too many games at once";
}

static void begin(struct decoder *d, uint64_t frame, int64_t time_ns,
		  enum wire_family family, struct span bytes)
{
	struct record *r = &d->record;

	record_reset(r, d->fields ? &d->tape : NULL);
	delta_trace(d->trace);
	r->frame = frame;
	r->time_ns = time_ns;
	r->family = family;
	r->secrets = d->secrets;
	r->payload = bytes.bytes;
	r->payload_n = bytes.n;
}

/* How long a held datagram may wait on. */
enum patience {
	PATIENT,
	NO_LONGER, /* it has waited for as long as it may, or there is no room */
	AT_REST, /* nothing came for a while, more may */
	AT_THE_END, /* no more will come */
};

static bool never_whole(enum family_wait wait, enum patience patience)
{
	return (wait == WAIT_SLICES && patience != AT_REST) ||
	       (wait == WAIT_END && patience == AT_THE_END);
}

/* @broken: it is a part of a message of which the rest will not come. */
static void decode_one(struct decoder *d, struct session *s, const struct datagram *dg,
		       bool from_low, const struct identity *id, bool broken)
{
	struct record *r = &d->record;

	begin(d, dg->frame, dg->time_ns, id->family, (struct span){ dg->payload, dg->n });
	r->direction = id->direction;
	r->source = dg->source;
	r->destination = dg->destination;
	r->end = !from_low;
	if (id->family == FAMILY_AUTO) {
		r->kind = "unknown";
		record_uint(r, "length", dg->length);
		record_opaque(r, id->foreign ? id->foreign : "no known protocol");
	} else {
		r->dialect = s->family == id->family ? s->dialect : NULL;
		decode_known(d, s, dg, id);
		if (broken)
			record_partial(r, "slice of a message that never became whole");
		if (id->guessed)
			record_partial(r, "several protocols have this word: no other "
					  "sign of one was seen");
	}
	d->sink(d->context, r);
}

/* With what is known of the flow by other means. */
static struct session *session_of(struct decoder *d, const struct datagram *dg,
				  bool *from_low)
{
	struct session *s = session_get(d->sessions, &dg->source, &dg->destination,
					dg->time_ns, from_low);

	if (d->forced != FAMILY_AUTO || dg->has_family) {
		s->family = d->forced != FAMILY_AUTO ? d->forced : dg->family;
		s->certain = true;
	}
	if (dg->direction != DIRECTION_UNKNOWN) {
		s->server_known = true;
		s->server_is_low = *from_low == (dg->direction == DIRECTION_S2C);
	}
	return s;
}

/* Those in the ring behind @at, of the same sender. */
struct ring_ahead {
	struct ahead ahead;
	const struct decoder *d;
	const struct datagram *after;
	size_t at; /* places behind the head */
};

static bool ring_next(struct ahead *ahead, struct span *ret)
{
	struct ring_ahead *r = (struct ring_ahead *)ahead;

	while (r->at < r->d->count) {
		const struct pending *pending =
			&r->d->pending[(r->d->head + r->at++) % DECODE_PENDING_MAX];
		const struct datagram *dg = &pending->datagram;

		if (dg->damage != RECORD_DECODED || pending->shape == SHAPE_OOB ||
		    !record_address_equal(&dg->source, &r->after->source) ||
		    !record_address_equal(&dg->destination, &r->after->destination))
			continue;
		*ret = (struct span){ dg->payload, dg->n };
		return true;
	}
	return false;
}

/* @behind: the place in the ring from which on datagrams came after this one. */
static enum family_wait waits(struct decoder *d, struct session *s,
			      const struct datagram *dg, const struct identity *id,
			      size_t behind)
{
	struct ring_ahead ring = { { ring_next }, d, dg, behind };
	const struct family *family = family_of(id->family);

	if (!family || !family->waits || id->shape == SHAPE_OOB ||
	    dg->damage != RECORD_DECODED)
		return WAIT_NOTHING;
	/* The very first may be read by what comes behind it. */
	if (family->peek && !s->state)
		family_state(d, s, family);
	if (!s->state || s->state_family != id->family)
		return WAIT_NOTHING;
	return family->waits(s->state, id->direction, (struct span){ dg->payload, dg->n },
			     &ring.ahead);
}

/*
 * Decode ahead the last datagram of the ring, of the flow in which the message at the
 * head waits for a key: its state is learnt now, its record is put out in its turn.
 */
static void decode_ahead(struct decoder *d, const struct session *of)
{
	const struct family *family;
	const struct pending *pending =
		&d->pending[(d->head + d->count - 1) % DECODE_PENDING_MAX];
	const struct datagram *dg = &pending->datagram;
	struct record unprinted;
	struct identity id;
	struct session *s;
	bool from_low;

	if (d->count < 2 || pending->shape == SHAPE_OOB || dg->damage != RECORD_DECODED)
		return;
	s = session_get(d->sessions, &dg->source, &dg->destination, dg->time_ns,
			&from_low);
	if (s != of)
		return;
	identify_resolve(s, pending->shape, dg, from_low, &d->oob, false, &id);
	if (!id.settled || id.family != s->state_family || !s->state)
		return;
	family = family_of(id.family);
	if (!family->peek && waits(d, s, dg, &id, d->count) != WAIT_NOTHING)
		return;
	d->ahead_count++;
	record_reset(&unprinted, NULL);
	unprinted.direction = id.direction;
	unprinted.end = !from_low;
	if (family->peek)
		family->peek(s->state, id.direction, (struct span){ dg->payload, dg->n });
	else
		family->datagram(s->state, id.direction,
				 (struct span){ dg->payload, dg->n }, &unprinted);
	session_state_count(s);
}

/* The head of the ring; false: it has to wait on. */
static bool pending_try(struct decoder *d, enum patience patience)
{
	bool last = patience != PATIENT;
	struct pending *pending = &d->pending[d->head];
	const struct datagram *dg = &pending->datagram;
	enum family_wait wait;
	struct identity id;
	struct session *s;
	bool from_low;

	s = session_of(d, dg, &from_low);
	/* Only a later datagram of the same flow ends the wait. */
	if (!last && pending->asked == s->datagrams)
		return false;
	pending->asked = s->datagrams;
	if (pending->shape == SHAPE_OOB)
		oob_recognise(dg->payload, dg->n, &d->oob);
	identify_resolve(s, pending->shape, dg, from_low, &d->oob, last, &id);
	if (d->forced != FAMILY_AUTO && (id.settled || s->server_known))
		identify_force(d->forced, &d->oob, &id);
	if (!id.settled)
		return false;
	wait = waits(d, s, dg, &id, 1);
	if (wait == WAIT_KEY && !last && d->ahead_count < DECODE_AHEAD_MAX) {
		decode_ahead(d, s);
		wait = waits(d, s, dg, &id, 1);
	}
	if (!last && (wait == WAIT_SLICES || wait == WAIT_END ||
		      (wait == WAIT_KEY && d->ahead_count < DECODE_AHEAD_MAX)))
		return false;
	d->ahead_count = 0;
	decode_one(d, s, dg, from_low, &id, never_whole(wait, patience));
	d->head = (d->head + 1) % DECODE_PENDING_MAX;
	if (!--d->count)
		d->bytes_used = 0;
	return true;
}

/*
 * Return true if the first pending datagram has waited long. Times may be far apart,
 * and go back.
 */
static bool waited_long(const struct decoder *d, int64_t now_ns)
{
	int64_t waited;

	return __builtin_sub_overflow(now_ns, d->pending[d->head].datagram.time_ns,
				      &waited) ||
	       waited > DECODE_PENDING_NS || waited < -DECODE_PENDING_NS;
}

static void pending_put(struct decoder *d, const struct datagram *dg, enum shape shape)
{
	struct pending *pending;

	if (d->count == DECODE_PENDING_MAX)
		pending_try(d, NO_LONGER);
	while (d->count && d->bytes_used + dg->n > d->pending_max)
		pending_try(d, NO_LONGER);
	pending = &d->pending[(d->head + d->count++) % DECODE_PENDING_MAX];
	pending->datagram = *dg;
	pending->shape = shape;
	pending->asked = 0;
	pending->datagram.payload = d->bytes + d->bytes_used;
	if (dg->n)
		memcpy(d->bytes + d->bytes_used, dg->payload, dg->n);
	d->bytes_used += dg->n;
	while (d->count &&
	       pending_try(d, waited_long(d, dg->time_ns) ? NO_LONGER : PATIENT))
		;
}

void decoder_datagram(struct decoder *d, const struct datagram *dg)
{
	struct identity id;
	struct session *s;
	enum shape shape;
	bool from_low;

	s = session_of(d, dg, &from_low);
	shape = identify_shape(dg->payload, dg->n, dg->length);
	if (shape == SHAPE_OOB)
		oob_recognise(dg->payload, dg->n, &d->oob);
	identify_learn(s, shape, dg, from_low, &d->oob);
	if (!d->count) {
		identify_resolve(s, shape, dg, from_low, &d->oob, false, &id);
		if (d->forced != FAMILY_AUTO && (id.settled || s->server_known))
			identify_force(d->forced, &d->oob, &id);
		if (id.settled && waits(d, s, dg, &id, 0) == WAIT_NOTHING) {
			decode_one(d, s, dg, from_low, &id, false);
			return;
		}
	}
	pending_put(d, dg, shape);
}

void decoder_flush(struct decoder *d)
{
	while (d->count)
		pending_try(d, AT_THE_END);
}

void decoder_rest(struct decoder *d)
{
	while (d->count)
		pending_try(d, AT_REST);
}

/* A recording may hold datagrams as they came: what is out-of-band is that here too. */
static bool demo_word(struct decoder *d, const struct demo_block *block,
		      enum wire_family family)
{
	if (block->format != DEMO_QWD || block->type != DEMO_QWD_DATAGRAM ||
	    !oob_marked(block->bytes, block->n))
		return false;
	oob_recognise(block->bytes, block->n, &d->oob);
	if (!d->oob.row || !(d->oob.candidates & 1U << family))
		return false;
	d->oob.family = family;
	oob_decode(&d->oob, &d->record);
	return true;
}

void decoder_demo(struct decoder *d, const struct demo_block *block)
{
	const struct family *family = family_of(demo_family(block->format));
	static const struct record_address nobody;
	struct record *r = &d->record;
	struct session *s;
	bool from_low;

	begin(d, block->frame, block->time_ns, family->id,
	      (struct span){ block->bytes, block->n });
	r->direction = block->direction;
	r->kind = block->kind;
	s = session_get(d->sessions, &nobody, &nobody, 0, &from_low);
	if (demo_word(d, block, family->id)) {
		r->direction = DIRECTION_S2C;
	} else if (family->demo) {
		family->demo(session_state(s, family->id), block, r);
		session_state_count(s);
	} else {
		record_uint(r, "bytes", block->n);
		record_opaque(r, "no in-game decoder for this family yet");
	}
	d->sink(d->context, r);
}
