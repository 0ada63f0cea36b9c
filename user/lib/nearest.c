// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nearest.c - see nearest.h.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/nearest.h"

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static int letter(char c)
{
	return tolower((unsigned char)c);
}

/* Row by row of the table of distances between beginnings; three rows are enough. */
unsigned int nearest_distance(const char *a, const char *b)
{
	unsigned int rows[3][NEAREST_MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAREST_MAX || m > NEAREST_MAX)
		return NEAREST_MAX + 1;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i - 1) % 3];
		const unsigned int *higher = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= m; j++) {
			bool same = letter(a[i - 1]) == letter(b[j - 1]);

			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + !same);
			if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
			    letter(a[i - 2]) == letter(b[j - 1]))
				row[j] = least(row[j], higher[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void nearest_begin(struct nearest *n, const char *word)
{
	n->word = word;
	n->best = NULL;
	n->distance = NEAREST_MAX + 1;
}

void nearest_try(struct nearest *n, const char *known)
{
	unsigned int distance = nearest_distance(n->word, known);

	if (distance < n->distance) {
		n->distance = distance;
		n->best = known;
	}
}

const char *nearest_found(const struct nearest *n)
{
	size_t most = (strlen(n->word) + 2) / 3;

	return n->best && n->distance <= most ? n->best : NULL;
}
