/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence.h - decides whether a state that began with some message is still in force.
 * Used by Quake III, Quake II and QuakeWorld.
 *
 * A state (a map's baselines, the key of its moves) is known only if its beginning was
 * seen, and every message since then is accounted for: it was read, or another message
 * proves that it cannot have begun another state. The proof depends on the family:
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
	bool known; /* the beginning was seen, */
	uint32_t since; /* in this message: what is older is of another state */
	uint32_t upto; /* every message up to this sequence is accounted for */
	uint64_t ahead; /* and of those after it, bit 0 is the next one: these */
};

/* Begin the state with message @sequence. */
static inline void evidence_begin(struct evidence *e, uint32_t sequence)
{
	*e = (struct evidence){ .known = true, .since = sequence, .upto = sequence };
}

/* Note that the messages @first to @last, both included, have begun no other state. */
void evidence_account(struct evidence *e, uint32_t first, uint32_t last);

/* Is message @sequence from before the state began? */
static inline bool evidence_precedes(const struct evidence *e, uint32_t sequence)
{
	return (int32_t)(sequence - e->since) < 0;
}

/*
 * Return true if the state is known in message @sequence. The message itself need not be
 * accounted for.
 */
bool evidence_holds(const struct evidence *e, uint32_t sequence);

/*
 * A map's baselines where they come in reliable messages while a client joins, as in
 * Quake II and QuakeWorld. Zero: none is known.
 *
 * As long as the client joins, a message that is not accounted for may have held
 * baselines, so only an entity without one is in doubt. Afterwards it may have begun
 * another map, so every one is.
 */
struct evidence_join {
	struct evidence map;
	bool joined; /* a frame was a difference to another: all baselines have come */
	bool holes; /* some of them were not seen, and it is not known which */
};

enum evidence_baseline {
	BASELINE_KNOWN,
	BASELINE_DOUBTED, /* known as soon as evidence_holds() for the same sequence */
	BASELINE_UNSEEN,
};

/* Begin a new map: its serverdata came in message @sequence, and no baseline is known. */
void evidence_join_begin(struct evidence_join *j, uint32_t sequence);

/*
 * Note that message @sequence brings a frame that is a difference; no message from
 * @first on can have begun another map. True: what was doubted while the client joined
 * stays unknown.
 */
bool evidence_join_frame(struct evidence_join *j, uint32_t first, uint32_t sequence);

/*
 * Return what is known of the baseline of an entity that is new in message @sequence.
 * @there: a baseline of its number was seen.
 */
enum evidence_baseline evidence_join_baseline(const struct evidence_join *j,
					      uint32_t sequence, bool there);

#endif /* EVIDENCE_H */
