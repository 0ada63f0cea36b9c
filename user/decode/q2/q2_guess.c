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

struct way {
	enum direction direction;
	uint8_t qport_size;
	uint16_t protocol, minor, flags;
};

/* The likelier first; at most 32. */
static const struct way ways[] = {
	{ DIRECTION_C2S, 2, 34, 0, 0 },
	{ DIRECTION_S2C, 0, 34, 0, 0 },
	{ DIRECTION_C2S, 1, 36, 1026, 0 },
	{ DIRECTION_C2S, 0, 36, 1026, 0 },
	{ DIRECTION_C2S, 1, 35, 1905, 0 },
	{ DIRECTION_C2S, 0, 35, 1905, 0 },
	{ DIRECTION_C2S, 1, 35, 1903, 0 },
	{ DIRECTION_C2S, 0, 35, 1903, 0 },
	{ DIRECTION_S2C, 0, 36, 1021, 0 },
	{ DIRECTION_S2C, 0, 36, 1026, 0 },
	{ DIRECTION_S2C, 0, 36, 1015, 0 },
	{ DIRECTION_S2C, 0, 36, 1026, Q2_FLAG_EXTENSIONS },
	{ DIRECTION_S2C, 0, 36, 1026, Q2_FLAG_EXTENSIONS | Q2_FLAG_EXTENSIONS_2 },
	{ DIRECTION_S2C, 0, 36, 1025, Q2_FLAG_EXTENSIONS | Q2_FLAG_EXTENSIONS_2 },
	{ DIRECTION_S2C, 0, 35, 1905, 0 },
	{ DIRECTION_S2C, 0, 35, 1904, 0 },
};

#define WAYS   (sizeof(ways) / sizeof(*ways))
#define ALL    ((1U << WAYS) - 1)
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

	for (size_t i = 0; i < WAYS; i++) {
		const struct way *w = &ways[i];
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
	uint32_t mask = q && q->ways ? q->ways : ALL;
	struct q2_guess g = guess(q, mask, direction, payload);

	if (g.direction == DIRECTION_UNKNOWN && mask != ALL)
		g = guess(q, ALL, direction, payload);
	return g;
}

/* Those of @mask that go the other way from @direction, by a protocol of @of. */
static uint32_t other_side(uint32_t mask, enum direction direction, uint32_t of)
{
	uint32_t ret = 0;

	for (size_t i = 0; i < WAYS; i++)
		for (size_t k = 0; k < WAYS; k++)
			if (of & 1U << k && mask & 1U << i &&
			    ways[i].direction != direction &&
			    ways[i].protocol == ways[k].protocol)
				ret |= 1U << i;
	return ret;
}

uint32_t q2_guess_narrow(uint32_t before, const struct q2_guess *g)
{
	uint32_t mask = before ? before : ALL;
	uint32_t left = g->fit & mask, other;

	if (!left) {
		left = g->fit;
		mask = ALL;
	}
	other = other_side(mask, g->direction, left);
	return left | (other ? other : other_side(ALL, g->direction, left));
}

uint32_t q2_guess_protocol(unsigned int protocol)
{
	uint32_t ret = 0;

	for (size_t i = 0; i < WAYS; i++)
		ret |= ways[i].protocol == protocol ? 1U << i : 0;
	return ret;
}

bool q2_guess_one_name(uint32_t mask)
{
	unsigned int protocol = 0;

	for (size_t i = 0; i < WAYS; i++) {
		if (!((mask ? mask : ALL) & 1U << i))
			continue;
		if (protocol && ways[i].protocol != protocol)
			return false;
		protocol = ways[i].protocol;
	}
	return true;
}
