/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stats_cache.h - limits how often the daemon takes a snapshot. Called from the daemon's
 * loop, for its pages, metrics and incidents.
 *
 * Reading all counters of many services on many processors takes milliseconds. However
 * often a page is requested, a new snapshot is only taken when the last one is
 * STATS_CACHE_REST times as old as the processor time that it took: never more than one
 * part in STATS_CACHE_REST of a processor. Time spent waiting for a processor does not
 * count: on a busy machine the counters are wanted most.
 */
#ifndef STATS_CACHE_H
#define STATS_CACHE_H

#include "stats/day.h"
#include "stats/history.h"
#include "stats/stats.h"

#define STATS_CACHE_REST 40

struct stats_cache;

/*
 * Return a cache with what the daemon of @pin (NULL: the default one) has left of the
 * last day. NULL: not enough memory. @shield must outlive it.
 */
struct stats_cache *stats_cache_new(struct shield *shield, const char *pin);
/* Free the cache; @watch may be NULL. */
void stats_cache_free(struct stats_cache *watch);

/*
 * Return a snapshot, new or not, which is valid until the next call; NULL after a
 * message: it could not be read.
 */
const struct stats *stats_cache_stats(struct stats_cache *watch);

/* Add a point of history. Called every HISTORY_EVERY_S seconds. */
void stats_cache_tick(struct stats_cache *watch);
/* Return the last ten minutes. Belongs to @watch, and changes with stats_cache_tick(). */
const struct history *stats_cache_history(const struct stats_cache *watch);
/* Return the last day. The same holds for it. */
const struct day *stats_cache_day(const struct stats_cache *watch);

#endif /* STATS_CACHE_H */
