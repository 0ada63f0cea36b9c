// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * evidence.c - see evidence.h.
 */
#include "decode/evidence.h"

/* Return a mask of the @n low bits, 0 to 64. */
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
	return e->known && !evidence_precedes(e, sequence) &&
	       (int32_t)(sequence - e->upto) <= 1;
}

void evidence_join_begin(struct evidence_join *j, uint32_t sequence)
{
	*j = (struct evidence_join){ .holes = false };
	evidence_begin(&j->map, sequence);
}

bool evidence_join_frame(struct evidence_join *j, uint32_t first, uint32_t sequence)
{
	bool late;

	if (!j->map.known || evidence_precedes(&j->map, sequence))
		return false;
	late = !j->joined && !evidence_holds(&j->map, first);
	j->joined = true;
	if (late) {
		j->holes = true;
		evidence_begin(&j->map, sequence);
	}
	evidence_account(&j->map, first, sequence);
	return late;
}

enum evidence_baseline evidence_join_baseline(const struct evidence_join *j,
					      uint32_t sequence, bool there)
{
	if (!j->map.known || evidence_precedes(&j->map, sequence) || (j->holes && !there))
		return BASELINE_UNSEEN;
	if (evidence_holds(&j->map, sequence) || (there && !j->joined))
		return BASELINE_KNOWN;
	return BASELINE_DOUBTED;
}
