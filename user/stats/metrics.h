/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * metrics.h - the snapshot as OpenMetrics. Which families there are: metrics.c.
 *
 * Label values come from the tables in include/, from the configuration (service names)
 * and from the machine (interface names), never from a packet. Only what has counted
 * something has a line, so a quiet service has few.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdio.h>

#include "lib/ometric.h"
#include "stats/attack_metrics.h"
#include "stats/decoded.h"
#include "stats/stats.h"

/*
 * The most lines that one service can have: in and out, packets and bytes of each kind
 * and reason; what was refused, by class and level; its gauges; its templates; what
 * decoding tells. Attackers choose kinds and reasons, but only of tables.
 */
#define METRICS_LINES_SERVICE                                                       \
	(4 * KIND_COUNT * REASON_COUNT + 4 * CLASS_BUDGETS + 10 + 2 * CACHE_FORMS + \
	 DECODED_LINES + ATTACK_LINES_SERVICE)
/* And those of no service. */
#define METRICS_LINES_OTHER                                                             \
	(2 * OTHER_COUNT + 3 * SAMPLER_COUNT + 2 * TABLE_COUNT + 3 * SHIELD_LINKS + 3 + \
	 ATTACK_LINES_OTHER)

/* Return the families of @table, 0, 1, 2 ...; NULL: there is no such table. */
const struct ometric *metrics_families(unsigned int table, size_t *ret_count);

/* Return 0 if all families are as the format requires, or -EINVAL after a message. */
int metrics_check(void);

/*
 * Write all metrics of @stats. @decoded: NULL, or what decoding tells. @watches: NULL, or
 * what is known of attacks, by slot. 0, or -EIO: @out did not take it.
 */
int metrics_write(const struct stats *stats, const struct decoded *decoded,
		  const struct incident_watch *watches, enum ometric_format format,
		  FILE *out);

#endif /* METRICS_H */
