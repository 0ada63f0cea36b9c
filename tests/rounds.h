/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rounds.h - how often a test tries at random. `make quick` sets TEST_QUICK and tries a
 * fifth; `make test` tries all.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool rounds_are_few(void)
{
	return getenv("TEST_QUICK") != NULL;
}

static inline unsigned int rounds_of(unsigned int all)
{
	return rounds_are_few() ? (all + 4) / 5 : all;
}

/* From one to the next of all combinations of bits: each bit is met with each other. */
static inline unsigned int rounds_step(void)
{
	return rounds_are_few() ? 5 : 1;
}

#endif /* ROUNDS_H */
