/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * day.h - the last 24 hours of all services together, a point a minute, on disk so that a
 * restart keeps them. Called by stats_cache.c in the daemon, and by `stats --history`.
 *
 *	INCIDENT_STATE/history.jsonl	a line a minute, an array of DAY_COLUMNS
 *
 * At most twice as many lines as a day has: then the file is replaced by one with a
 * day's. A line that is cut off, or not of this format, is skipped. A line of an older
 * version has fewer columns: those that it lacks are 0.
 */
#ifndef DAY_H
#define DAY_H

#include <stdio.h>
#include <time.h>

#include "stats/stats_rates.h"
#include "lib/json_key.h"

#define DAY_EVERY_S 60
#define DAY_SECONDS 86400
#define DAY_POINTS  (DAY_SECONDS / DAY_EVERY_S)
#define DAY_PATH    512

/* Figures of a minute: means per second, and maxima. */
enum day_column {
	DAY_TIME, /* its beginning, since 1970 */
	DAY_PASSED,
	DAY_ANSWERED,
	DAY_DROPPED,
	DAY_DROPPED_MOST, /* highest rate of one look in the minute */
	DAY_BYTES_IN,
	DAY_BYTES_OUT,
	DAY_PLAYERS, /* the most */
	DAY_CHALLENGED, /* challenged; not counted in DAY_ANSWERED */
	DAY_COLUMNS,
};

struct day {
	double points[DAY_POINTS][DAY_COLUMNS]; /* a ring */
	size_t next, count;
	double now[DAY_COLUMNS]; /* sums of the minute that is not over */
	unsigned int looks; /* in it */
	size_t lines; /* in the file */
	bool failed; /* writing failed, which was logged */
	char path[DAY_PATH]; /* "": memory only */
};

/*
 * Begin with what the file of the daemon of @pin (NULL: the default one) has of the last
 * day.
 */
void day_load(struct day *d, const char *pin, time_t now);

/*
 * Count one look at @time. When a new minute begins, the one before goes to the file.
 * Called by stats_cache_tick() only.
 */
void day_add(struct day *d, time_t time, const struct stats_rates *rates, size_t players);

extern const struct json_key day_json_keys[];

/*
 * Write one object, oldest point first; "columns" says what stands in a point. 0 or -EIO.
 */
int day_json(const struct day *d, FILE *out);
/* Write a table, a row a minute. 0 or -EIO. */
int day_text(const struct day *d, FILE *out);

#endif /* DAY_H */
