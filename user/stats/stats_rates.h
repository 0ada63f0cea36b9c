/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stats_rates.h - how fast counters grow: two snapshots and the time between them.
 *
 * Services are matched by name, since a configuration may move them. A counter that went
 * back began again from zero. A service that is new has no pace yet: zero.
 */
#ifndef STATS_RATES_H
#define STATS_RATES_H

#include "stats/stats.h"

/*
 * All per second. packets[] has the verdicts of an observed service, too, but what its
 * server sent has left.
 */
struct stats_rates {
	double packets[VERDICT_COUNT]; /* received, by verdict, without: */
	double challenged; /* received, and challenged */
	double sent; /* packets of the server that left */
	double withheld; /* packets of the server that did not leave */
	double bytes_in, bytes_out; /* received; sent by the server and not withheld */
};

/* Return the sum of all received packets per second. */
double stats_rates_packets(const struct stats_rates *rates);

/* Counts of one kind and reason, a second. */
struct stats_pace_counter {
	double packets, bytes;
};

/* Return the service of @before that is @now; NULL: there is none. */
const struct stats_service *stats_rates_match(const struct stats *before,
					      const struct stats_service *now);

/* Return how fast one counter grows, per second. @seconds: between the two, above 0. */
struct stats_pace_counter stats_pace_counter(const struct counter *now,
					     const struct counter *before,
					     double seconds);

/*
 * Compute the rates of one service. @before: what stats_rates_match() returned; NULL: all
 * are 0.
 */
void stats_rates_service(const struct stats_service *now,
			 const struct stats_service *before, double seconds,
			 struct stats_rates *ret);
/* Fill in the sum of all services of @now. */
void stats_rates_total(const struct stats *now, const struct stats *before,
		       double seconds, struct stats_rates *ret);

#endif /* STATS_RATES_H */
