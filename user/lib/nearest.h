/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nearest.h - which known word a user may have meant, for messages only: nothing acts on
 * it.
 *
 * Call nearest_begin() with the word as written, nearest_try() with each known word, then
 * nearest_found(). Words are borrowed, and must stay until then.
 */
#ifndef NEAREST_H
#define NEAREST_H

#define NEAREST_MAX 31 /* characters; a longer word is near to nothing */

struct nearest {
	const char *word;
	const char *best;
	unsigned int distance;
};

/*
 * Return how many letters must be changed, added, left out or exchanged with their
 * neighbour to make one of the other; case does not matter. NEAREST_MAX + 1: too long.
 */
unsigned int nearest_distance(const char *a, const char *b);

/* Begin to look for a word near to @word. */
void nearest_begin(struct nearest *n, const char *word);
/* Take @known as a candidate; of equally near ones the first stays. */
void nearest_try(struct nearest *n, const char *known);
/* Return the nearest candidate, or NULL if none is within a third of @word's letters. */
const char *nearest_found(const struct nearest *n);

#endif /* NEAREST_H */
