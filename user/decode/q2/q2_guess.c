// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_guess.c - a connection that was joined in the middle: its datagrams are parsed as
 * all that they can be, and frames and moves that come out to their last byte decide.
 *
 * A move of 34 shows itself by its checksum, a frame of 35 and 36 by the bits of its
 * opcode and base. What several ways read the same is certain all the same; where they
 * differ the likeliest is a guess, and the session keeps those that are left.
 */
#include "decode/q2/q2_session.h"

#define HEADER 8

/*
 * All ways together read so many bytes, twice what one message can have. Without a bound,
 * a few deflated bytes are inflated and read by each way.
 */
#define BYTES_MAX (2 * Q2_MESSAGE_MAX)

static bool parses(const struct q2_session *q, const struct q2_dialect *d,
		   enum direction direction, unsigned int qport_size, struct span payload,
		   struct record_tape *tape, size_t *left, struct q2_parse *p)
{
	size_t header = HEADER + qport_size;
	struct record silent;
	struct message m = { .direction = direction, .record = &silent };

	if (payload.n < header)
		return false;
	*left -= payload.n;
	/* Looked at only: nothing is committed. */
	m.state = (struct q2_session *)q;
	record_reset(&silent, tape);
	m.bytes = (struct span){ payload.bytes + header, payload.n - header };
	m.sequence = payload.bytes[0] | payload.bytes[1] << 8 |
		     (uint32_t)payload.bytes[2] << 16 |
		     (uint32_t)(payload.bytes[3] & 0x7f) << 24;
	return q2_message_as(&m, d, left, p) && (!p->checked || p->right);
}

bool q2_fits(const struct q2_dialect *d, enum direction direction,
	     unsigned int qport_size, struct span payload)
{
	size_t left = BYTES_MAX;
	struct q2_parse p;

	return payload.n <= left &&
	       parses(NULL, d, direction, qport_size, payload, NULL, &left, &p) && !p.odd;
}

/* The readings of the ways that fit. */
struct finding {
	struct q2_guess best;
	uint64_t digest; /* of the best */
};

/* A way that reads oddly does not count next to one that does not. */
static void take(struct finding *f, const struct q2_guess *now, uint64_t digest)
{
	struct q2_guess was = f->best;
	bool first = was.direction == DIRECTION_UNKNOWN || (was.odd && !now->odd);
	bool agreed = first || (was.agreed && f->digest == digest &&
				was.qport_size == now->qport_size);

	if (!first && now->odd && !was.odd)
		return;
	if (first || now->rank > was.rank) {
		f->best = *now;
		f->digest = digest;
	}
	f->best.agreed = agreed;
	f->best.fit = first ? now->fit : was.fit | now->fit;
}

/*
 * Parse @payload in each way of @mask and return the best. Ways that there is no more
 * room to parse (BYTES_MAX) count as fitting, but agree with none.
 */
static struct q2_guess guess(const struct q2_session *q, uint32_t mask,
			     enum direction direction, struct span payload)
{
	struct finding f = { .best = { .direction = DIRECTION_UNKNOWN } };
	struct record_tape tape = record_tape_digest();
	size_t left = BYTES_MAX;

	for (size_t i = 0; i < Q2_WAYS; i++) {
		const struct q2_way *w = &q2_ways[i];
		struct q2_guess now;
		struct q2_parse p;
		struct q2_dialect d;

		if (!(mask & 1U << i) ||
		    (direction != DIRECTION_UNKNOWN && w->direction != direction) ||
		    !q2_dialect_of(w->protocol, w->minor, w->flags, &d))
			continue;
		if (payload.n > left) {
			f.best.fit |= 1U << i;
			f.best.agreed = false;
			continue;
		}
		if (!parses(q, &d, w->direction, w->qport_size, payload, q ? &tape : NULL,
			    &left, &p))
			continue;
		now = (struct q2_guess){ w->direction, w->qport_size, p.dialect,
					 p.rank,       p.checked,     p.odd || tape.odd,
					 true,	       1U << i };
		/* A checksum decides; the family needs no second opinion. */
		if (now.checked) {
			f.best = now;
			break;
		}
		take(&f, &now, tape.digest);
		if (!q && f.best.rank == Q2_RANK_FRAME && !f.best.odd)
			break;
	}
	return f.best;
}

struct q2_guess q2_guess(const struct q2_session *q, enum direction direction,
			 struct span payload)
{
	uint32_t mask = q && q->ways ? q->ways : Q2_WAYS_ALL;
	struct q2_guess g = guess(q, mask, direction, payload);

	if (g.direction == DIRECTION_UNKNOWN && mask != Q2_WAYS_ALL)
		g = guess(q, Q2_WAYS_ALL, direction, payload);
	return g;
}
