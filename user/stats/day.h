/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * day.h - the last 24 hours of all services together, a point a minute, on disk so that
 * a restart does not forget them.
 *
 *	INCIDENT_STATE/history.jsonl	a line a minute, an array of DAY_COLUMNS
 *
 * Twice as many lines as a day has at most: then it is written anew with a day's. A line
 * that is torn, or not ours, is passed over. A line of an older version ends earlier:
 *what it does not tell is 0.
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

/* Of a minute: means a second, and what was highest. */
enum day_column {
	DAY_TIME, /* its beginning, since 1970 */
	DAY_PASSED,
	DAY_ANSWERED,
	DAY_DROPPED,
	DAY_DROPPED_MOST, /* of the looks in it */
	DAY_BYTES_IN,
	DAY_BYTES_OUT,
	DAY_PLAYERS, /* the most */
	DAY_CHALLENGED, /* asked for proof of address; not among those answered */
	DAY_COLUMNS,
};

struct day {
	double points[DAY_POINTS][DAY_COLUMNS]; /* a ring */
	size_t next, count;
	double now[DAY_COLUMNS]; /* sums of the minute that is not over */
	unsigned int looks; /* in it */
	size_t lines; /* in the file */
	bool failed; /* to write, and said so */
	char path[DAY_PATH]; /* "": memory only */
};

/* Of the daemon of @pin (NULL: the default one): what the file has of the last day. */
void day_load(struct day *d, const char *pin, time_t now);

/* A look at @time; the minute before goes to the file when a new one begins. */
void day_add(struct day *d, time_t time, const struct stats_rates *rates, size_t players);

extern const struct json_key day_json_keys[];

/* One object, oldest point first; "columns" says what stands in a point. -EIO. */
int day_json(const struct day *d, FILE *out);
/* A table, a row a minute. -EIO. */
int day_text(const struct day *d, FILE *out);

#endif /* DAY_H */
