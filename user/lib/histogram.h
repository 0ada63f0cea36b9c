/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * histogram.h - counts how often a figure was how large, without an end.
 *
 * The bounds are constants and apart from the counts. A value above the last bound is in
 * no bucket, only in the count and the sum, as OpenMetrics has it with its le="+Inf". Not
 * atomic: one thread adds and reads.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 12 /* of one histogram, at most */

struct histogram_bounds {
	size_t count; /* at most HISTOGRAM_BUCKETS */
	double at[HISTOGRAM_BUCKETS]; /* the largest value of each bucket, rising */
};

struct histogram {
	uint64_t buckets[HISTOGRAM_BUCKETS]; /* of each alone, not added up */
	uint64_t count; /* of all */
	double sum;
};

static inline void histogram_add(struct histogram *h, const struct histogram_bounds *b,
				 double value)
{
	size_t i = 0;

	while (i < b->count && value > b->at[i])
		i++;
	if (i < b->count)
		h->buckets[i]++;
	h->count++;
	h->sum += value;
}

#endif /* HISTOGRAM_H */
