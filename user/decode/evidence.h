/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence.h - whether a state that began with some message is still the one that holds.
 *
 * A state (a map's baselines, the key of its moves) is known only if its beginning was
 * seen, and every message since then is accounted for: it was read, or another message
 * proves that it cannot have begun another state. What proves that is the family's:
 *
 *	a delta		the base is of the same map, and so is all that lies between
 *	the client	it says up to which message it has read, and which map it plays
 *
 * The messages that are not accounted for may be lost in the capture: a state that they
 * may have ended is not known, and a record that builds on it is partial.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#define EVIDENCE_AHEAD 64 /* messages beyond the first hole that are remembered */

/* Zero: nothing is known. */
struct evidence {
	bool known; /* the beginning was seen */
	uint32_t upto; /* every message up to this sequence is accounted for */
	uint64_t ahead; /* and of those after it, bit 0 is the next one: these */
};

/* The state begins with message @sequence. */
static inline void evidence_begin(struct evidence *e, uint32_t sequence)
{
	*e = (struct evidence){ .known = true, .upto = sequence };
}

/* The messages @first to @last, both included, have begun no other state. */
void evidence_account(struct evidence *e, uint32_t first, uint32_t last);

/* Is the state known in message @sequence? The message itself is not asked for. */
bool evidence_holds(const struct evidence *e, uint32_t sequence);

#endif /* EVIDENCE_H */
