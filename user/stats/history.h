/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * history.h - the last ten minutes of all services together, for the page's plot. Written
 * by stats_cache_tick() every HISTORY_EVERY_S, in memory only: a restart begins anew.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdio.h>
#include <time.h>

#include "stats/stats_rates.h"

#define HISTORY_SECONDS 600
#define HISTORY_EVERY_S 2
#define HISTORY_POINTS	(HISTORY_SECONDS / HISTORY_EVERY_S)

struct history {
	struct history_point {
		time_t time;
		struct stats_rates rates;
		size_t players;
	} points[HISTORY_POINTS]; /* a ring */
	size_t next, count;
};

/*
 * Add a point, in place of the oldest one when all HISTORY_POINTS are in use. @players:
 * now.
 */
void history_add(struct history *h, time_t time, const struct stats_rates *rates,
		 size_t players);

/*
 * Write one object, oldest point first; "columns" says what stands in a point. 0 or -EIO.
 */
int history_json(const struct history *h, FILE *out);

#endif /* HISTORY_H */
