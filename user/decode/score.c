// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vote.c - counts weak signs, for sessions that were joined in the middle.
 *
 * Each family says of a datagram whether it looks like one of its own, and in which
 * direction it would go (family.claims). The signs are added up until one family, and one
 * end, has enough.
 */
#include <stdlib.h>

#include "decode/identify.h"

#define SEQUENCE_MAX (1U << 24)
#define SCORE_ENOUGH 6 /* votes, and twice those of the next */

static void score_direction(struct session *s, bool from_low, bool sender_serves,
			    int weight)
{
	s->server_score = (int16_t)(s->server_score +
				    (sender_serves == from_low ? weight : -weight));
	if (abs(s->server_score) < SCORE_ENOUGH)
		return;
	s->server_known = true;
	s->server_is_low = s->server_score > 0;
}

static void choose_family(struct session *s)
{
	enum wire_family best = FAMILY_NETQUAKE;

	for (int f = 0; f < FAMILY_COUNT; f++)
		if (s->scores[f] > s->scores[best])
			best = (enum wire_family)f;
	if (s->scores[best] < SCORE_ENOUGH)
		return;
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (f != (int)best && s->scores[f] * 2 > s->scores[best])
			return;
	s->family = best;
	s->certain = true;
}

/*
 * Collect what the families say of a datagram that follows others of its sender in
 * sequence.
 */
static void score_claims(struct session *s, struct span payload, bool from_low,
			 const struct glance *glance)
{
	for (int f = 0; f < FAMILY_COUNT; f++) {
		const struct family *family = family_of((enum wire_family)f);
		enum direction direction = DIRECTION_UNKNOWN;
		int weight;

		if (!family || !family->claims || (s->certain && s->family != family->id))
			continue;
		weight = family->claims(glance, payload, &direction);
		s->scores[f] = (int16_t)(s->scores[f] + weight);
		if (weight && direction != DIRECTION_UNKNOWN)
			score_direction(s, from_low, direction == DIRECTION_S2C, weight);
	}
}

void score_sequenced(struct session *s, const uint8_t *payload, size_t n, bool from_low)
{
	int side = from_low ? 0 : 1, other = 1 - side;
	struct reader rd = reader_of(payload, n);
	struct glance glance = {
		.first = reader_le32(&rd) & 0x7fffffff,
		.second = reader_le32(&rd) & 0x7fffffff,
		.other = s->last_sequence[other],
		.other_seen = s->seen[other],
	};

	if (s->foreign || !glance.first || glance.first >= SEQUENCE_MAX)
		return;
	if (s->seen[side] && glance_near(glance.first, s->last_sequence[side])) {
		score_claims(s, (struct span){ payload, n }, from_low, &glance);
		if (!s->certain)
			choose_family(s);
	}
	s->last_sequence[side] = glance.first;
	if (s->seen[side] < UINT16_MAX)
		s->seen[side]++;
}

void score_shaped(struct session *s, enum wire_family family, const uint8_t *payload,
		  size_t n, bool from_low)
{
	const struct family *f = family_of(family);
	static const struct glance nothing;
	enum direction direction = DIRECTION_UNKNOWN;
	int weight = f && f->claims ? f->claims(&nothing, (struct span){ payload, n },
						&direction)
				    : 0;

	if (weight && direction != DIRECTION_UNKNOWN)
		score_direction(s, from_low, direction == DIRECTION_S2C, weight);
}
