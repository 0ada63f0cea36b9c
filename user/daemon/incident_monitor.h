/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_monitor.h - looks at the counters once a second, and reports attacks: to the
 * journal, the file of incidents, the command of the configuration, top, metrics and the
 * page.
 *
 *	stats_cache, shield_refused() -> incident_look() -> journal.c, incident_store.c,
 *	attack_command.c, samples_ring.c, incident_now.c
 *
 * Runs in the daemon's loop and thread. It starts no process: spool.h says how the
 * command is run.
 */
#ifndef INCIDENT_MONITOR_H
#define INCIDENT_MONITOR_H

#include "config/config.h"
#include "incident/incident.h"
#include "samples/samples.h"
#include "stats/stats_cache.h"

#define INCIDENTS_LISTED 20 /* incidents that the page gets */

struct incident_monitor;

/*
 * Begin, within the loop, and go on with attacks that an earlier daemon saw begin. Before
 * the process is confined. @pin: as given to shield_load(). 0 or -errno after a message.
 */
int incident_monitor_start(struct shield *shield, struct stats_cache *cache,
			   struct samples_view *samples, const struct config *config,
			   const char *pin, struct incident_monitor **ret);
/* Take over @config, which is in force now; it is only read here. */
void incident_monitor_reload(struct incident_monitor *monitor,
			     const struct config *config);

/*
 * Report the attacks that go on once more, so that the next daemon continues them, and
 * free @monitor, which may be NULL.
 */
void incident_monitor_stop(struct incident_monitor *monitor);

/* INCIDENT_SERVICES of them, by slot, for metrics. */
const struct incident_watch *
incident_monitor_watches(const struct incident_monitor *monitor);

/* Write {"time":..,"now":[..],"past":[..]}, the attacks, newest last. 0 or -EIO. */
int incident_monitor_json(const struct incident_monitor *monitor, FILE *out);

#endif /* INCIDENT_MONITOR_H */
