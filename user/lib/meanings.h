/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meanings.h - what reasons mean and what an operator can do about them, as sentences.
 * The reference and the table of quakeshield(8) are printed from them by `make docs`.
 */
#ifndef MEANINGS_H
#define MEANINGS_H

#include "abi.h"

struct meaning {
	const char *what; /* a sentence */
	const char *advice; /* what to do where the count grows; NULL: nothing */
};

/* Return the meaning of @reason, 0 to REASON_COUNT - 1. A constant. */
const struct meaning *reason_meaning(enum reason reason);

/*
 * Return the meaning of a frame that is no datagram for a service; 0 to OTHER_COUNT - 1.
 * A constant.
 */
const struct meaning *other_meaning(enum other other);

#endif /* MEANINGS_H */
