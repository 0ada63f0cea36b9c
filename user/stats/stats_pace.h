/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pace.h - how fast counters grow: two snapshots and the time between them.
 *
 * Services are matched by name, since a configuration may move them. A counter that went
 * back began again from zero. A service that is new has no pace yet: zero.
 */
#ifndef PACE_H
#define PACE_H

#include "stats/stats.h"

/* All a second. */
struct pace {
	double packets[VERDICT_COUNT]; /* received, by what became of them */
	double sent; /* packets that left */
	double withheld; /* packets of the server's that did not */
	double bytes_in, bytes_out; /* received; sent by the server and not withheld */
};

/* Counts of one kind and reason, a second. */
struct pace_tally {
	double packets, bytes;
};

/* The service of @before that is @now; NULL: there is none. */
const struct stats_service *pace_match(const struct stats *before,
				       const struct stats_service *now);

struct pace_tally pace_tally(const struct tally *now, const struct tally *before,
			     double seconds);

/* @before: what pace_match() said. */
void pace_service(const struct stats_service *now, const struct stats_service *before,
		  double seconds, struct pace *ret);
void pace_total(const struct stats *now, const struct stats *before, double seconds,
		struct pace *ret);

#endif /* PACE_H */
