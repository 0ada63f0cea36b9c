/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ometric.h - text in the OpenMetrics 1.0 format, or in the one that Prometheus had
 * before.
 *
 * Metric families are rows of a table, checked once at start by ometric_check(); label
 * values are escaped here and nowhere else. A family's samples must follow its
 * ometric_begin() before the next one's.
 */
#ifndef OMETRIC_H
#define OMETRIC_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/histogram.h"

#define OMETRIC_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OMETRIC_TEXT_TYPE    "text/plain; version=0.0.4; charset=utf-8"
#define OMETRIC_LABELS	     6

enum ometric_format {
	OMETRIC_OPEN, /* OpenMetrics 1.0 */
	OMETRIC_TEXT, /* Prometheus' text format, 0.0.4: the same samples, other headings
		       */
};

enum ometric_type {
	OMETRIC_COUNTER,
	OMETRIC_GAUGE,
	OMETRIC_INFO,
	OMETRIC_HISTOGRAM,
};

struct ometric {
	const char *name; /* without _total, _info, _bucket... that samples have */
	enum ometric_type type;
	const char *unit; /* NULL, or the end of the name */
	const char *help;
	const char *labels[OMETRIC_LABELS + 1]; /* their names; then NULL */
};

/*
 * Return what is wrong with the table, naming the family; NULL: nothing. Names must be
 * legal, unique, and free of the endings that belong to the format.
 */
const char *ometric_check(const struct ometric *families, size_t n);

/* Return the name of @type as a heading has it. */
const char *ometric_type_name(enum ometric_type type);

/*
 * Return what follows a family's name in the names of its samples, "_total" for a
 * counter; "" if nothing does.
 */
const char *ometric_ending(enum ometric_type type);

/* Write the family's heading. */
void ometric_begin(FILE *out, const struct ometric *family, enum ometric_format format);

/* Write one sample; @values: as many as the family has labels, in their order. */
void ometric_uint(FILE *out, const struct ometric *family, const char *const *values,
		  __u64 value);

/* Write a sample that need not be whole; infinities and NaN as the format spells them. */
void ometric_real(FILE *out, const struct ometric *family, const char *const *values,
		  double value);

/*
 * Write the buckets of a histogram, added up as the format wants them, its count and its
 * sum.
 */
void ometric_histogram(FILE *out, const struct ometric *family, const char *const *values,
		       const struct histogram *h, const struct histogram_bounds *bounds);

/* Write the last line. Without it a scrape of OpenMetrics counts as cut short. */
void ometric_end(FILE *out, enum ometric_format format);

#endif /* OMETRIC_H */
