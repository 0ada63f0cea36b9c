/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nearest.h - which known word somebody may have meant, for messages alone.
 */
#ifndef NEAREST_H
#define NEAREST_H

#define NEAREST_MAX 31 /* characters; a longer word is near to nothing */

struct nearest {
	const char *word;
	const char *best;
	unsigned int distance;
};

/* How many letters are to be changed, added, left out, or exchanged with their neighbour,
 * to make one of the other; case counts for nothing. NEAREST_MAX + 1: too long. */
unsigned int nearest_distance(const char *a, const char *b);

/* Begin with what was written, try all that is known, ask for the best: NULL if none is
 * near, that is, a third of the letters away at most. Words are borrowed. */
void nearest_begin(struct nearest *n, const char *word);
void nearest_try(struct nearest *n, const char *known);
const char *nearest_found(const struct nearest *n);

#endif /* NEAREST_H */
