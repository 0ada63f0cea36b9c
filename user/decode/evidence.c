// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * evidence.c - see evidence.h.
 */
#include "decode/evidence.h"

/* @n low bits, 0 to 64. */
static uint64_t low_bits(uint32_t n)
{
	return n >= EVIDENCE_AHEAD ? ~0ULL : (1ULL << n) - 1;
}

/* Moves on over what is accounted for without a hole. */
static void advance(struct evidence *e, uint32_t by)
{
	e->upto += by;
	e->ahead = by < EVIDENCE_AHEAD ? e->ahead >> by : 0;
	while (e->ahead & 1) {
		e->upto++;
		e->ahead >>= 1;
	}
}

void evidence_account(struct evidence *e, uint32_t first, uint32_t last)
{
	uint32_t from = first - e->upto, to = last - e->upto;

	if (!e->known || (int32_t)to <= 0)
		return;
	if ((int32_t)from <= 1)
		advance(e, to);
	else if (from <= EVIDENCE_AHEAD)
		e->ahead |= low_bits(to) & ~low_bits(from - 1);
}

bool evidence_holds(const struct evidence *e, uint32_t sequence)
{
	return e->known && (int32_t)(sequence - e->upto) <= 1;
}
