// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_guess.c - a connection that was joined in the middle: its datagrams are parsed as
 * all that they can be, and frames and moves that come out to their last byte decide.
 *
 * What is the same in several dialects is taken for the oldest; a move of 34 shows
 * itself by its checksum, a frame of 35 and 36 by the bits of its opcode and base.
 */
#include "decode/q2/q2_session.h"

struct way {
	enum direction direction;
	uint8_t qport_size;
	uint16_t protocol, minor, flags;
};

/* The likelier first. */
static const struct way ways[] = {
	{ DIRECTION_C2S, 2, 34, 0, 0 },
	{ DIRECTION_S2C, 0, 34, 0, 0 },
	{ DIRECTION_C2S, 1, 36, 1026, 0 },
	{ DIRECTION_C2S, 0, 36, 1026, 0 },
	{ DIRECTION_C2S, 1, 35, 1905, 0 },
	{ DIRECTION_C2S, 0, 35, 1905, 0 },
	{ DIRECTION_S2C, 0, 36, 1021, 0 },
	{ DIRECTION_S2C, 0, 36, 1026, 0 },
	{ DIRECTION_S2C, 0, 36, 1026, Q2_FLAG_EXTENSIONS },
	{ DIRECTION_S2C, 0, 36, 1026, Q2_FLAG_EXTENSIONS | Q2_FLAG_EXTENSIONS_2 },
	{ DIRECTION_S2C, 0, 35, 1905, 0 },
	{ DIRECTION_S2C, 0, 35, 1904, 0 },
};

#define HEADER 8

static bool parses(const struct q2_dialect *d, enum direction direction,
		   unsigned int qport_size, struct span payload, struct q2_parse *p)
{
	size_t header = HEADER + qport_size;
	struct record silent;
	struct message m = { .direction = direction, .record = &silent };

	if (payload.n <= header)
		return false;
	record_reset(&silent, NULL);
	m.bytes = (struct span){ payload.bytes + header, payload.n - header };
	m.sequence = payload.bytes[0] | payload.bytes[1] << 8 |
		     (uint32_t)payload.bytes[2] << 16 |
		     (uint32_t)(payload.bytes[3] & 0x7f) << 24;
	return q2_message_as(&m, d, p) && (!p->checked || p->right);
}

bool q2_fits(const struct q2_dialect *d, enum direction direction,
	     unsigned int qport_size, struct span payload)
{
	struct q2_parse p;

	return parses(d, direction, qport_size, payload, &p);
}

static bool try_way(const struct way *w, struct span payload, struct q2_guess *ret)
{
	struct q2_parse p;
	struct q2_dialect d;

	if (!q2_dialect_of(w->protocol, w->minor, w->flags, &d) ||
	    !parses(&d, w->direction, w->qport_size, payload, &p))
		return false;
	*ret = (struct q2_guess){ w->direction, w->qport_size, p.dialect, p.rank,
				  p.checked };
	return true;
}

struct q2_guess q2_guess(enum direction direction, struct span payload)
{
	struct q2_guess best = { .direction = DIRECTION_UNKNOWN }, now;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (direction != DIRECTION_UNKNOWN && ways[i].direction != direction)
			continue;
		if (!try_way(&ways[i], payload, &now))
			continue;
		if (best.direction == DIRECTION_UNKNOWN || now.rank > best.rank)
			best = now;
		if (best.rank == Q2_RANK_FRAME)
			break;
	}
	return best;
}
