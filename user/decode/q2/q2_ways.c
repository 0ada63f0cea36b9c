// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_ways.c - the ways in which a connection that was joined in the middle can be read,
 * and which of them are left. Called by q2_guess.c, which tries them, and by sessions.
 */
#include "decode/q2/q2_session.h"

/* The likelier first; at most 32. */
const struct q2_way q2_ways[Q2_WAYS] = {
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

/* Those of @mask that go the other way from @direction, by a protocol of @of. */
static uint32_t other_side(uint32_t mask, enum direction direction, uint32_t of)
{
	uint32_t ret = 0;

	for (size_t i = 0; i < Q2_WAYS; i++)
		for (size_t k = 0; k < Q2_WAYS; k++)
			if (of & 1U << k && mask & 1U << i &&
			    q2_ways[i].direction != direction &&
			    q2_ways[i].protocol == q2_ways[k].protocol)
				ret |= 1U << i;
	return ret;
}

uint32_t q2_guess_narrow(uint32_t before, const struct q2_guess *g)
{
	uint32_t mask = before ? before : Q2_WAYS_ALL;
	uint32_t left = g->fit & mask, other;

	if (!left) {
		left = g->fit;
		mask = Q2_WAYS_ALL;
	}
	other = other_side(mask, g->direction, left);
	return left | (other ? other : other_side(Q2_WAYS_ALL, g->direction, left));
}

uint32_t q2_guess_protocol(unsigned int protocol)
{
	uint32_t ret = 0;

	for (size_t i = 0; i < Q2_WAYS; i++)
		ret |= q2_ways[i].protocol == protocol ? 1U << i : 0;
	return ret;
}

bool q2_guess_one_name(uint32_t mask)
{
	unsigned int protocol = 0;

	for (size_t i = 0; i < Q2_WAYS; i++) {
		if (!((mask ? mask : Q2_WAYS_ALL) & 1U << i))
			continue;
		if (protocol && q2_ways[i].protocol != protocol)
			return false;
		protocol = q2_ways[i].protocol;
	}
	return true;
}
