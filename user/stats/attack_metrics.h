/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attack_metrics.h - attacks as OpenMetrics: how many each service had, and whether one
 * goes on. Called by metrics.c. No metric is by prefix: an attacker chooses how many
 * prefixes there are.
 */
#ifndef ATTACK_METRICS_H
#define ATTACK_METRICS_H

#include "incident/incident.h"
#include "lib/ometric.h"
#include "stats/stats.h"

#define ATTACK_LINES_SERVICE 3
#define ATTACK_LINES_OTHER   2

/*
 * Write the metrics of the services in @stats; @watches: by slot, INCIDENT_SERVICES of
 * them, or NULL.
 */
void attack_metrics(const struct incident_watch *watches, const struct stats *stats,
		    enum ometric_format format, FILE *out);
/* Return the table of these metric families. */
const struct ometric *attack_metrics_families(size_t *ret_count);

#endif /* ATTACK_METRICS_H */
