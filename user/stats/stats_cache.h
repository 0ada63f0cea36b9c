/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch.h - the snapshot that the daemon shows, no fresher than it can afford.
 *
 * Reading all counters of many services on many processors takes milliseconds. However
 * often it is asked for, a new snapshot is only taken when the last one is WATCH_REST
 * times as old as taking it took: never more than one part in WATCH_REST of a processor.
 */
#ifndef WATCH_H
#define WATCH_H

#include "stats/history.h"
#include "stats/stats.h"

#define WATCH_REST 20

struct watch;

/* NULL: not enough memory. */
struct watch *watch_new(const struct shield *shield);
void watch_free(struct watch *watch);

/* NULL after a message: it could not be read. Good until the next call. */
const struct stats *watch_stats(struct watch *watch);

/* Every HISTORY_EVERY_S seconds: a point of history. */
void watch_tick(struct watch *watch);
const struct history *watch_history(const struct watch *watch);

#endif /* WATCH_H */
