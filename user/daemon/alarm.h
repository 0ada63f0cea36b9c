/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alarm.h - looks at what is counted, once a second, and tells of attacks: the journal,
 * the file of incidents, the command of the configuration, top, metrics and the page.
 *
 *	stats_cache, shield_refused() -> incident_look() -> journal.c, incident_store.c,
 *	spool.c, samples_ring.c, incident_now.c
 */
#ifndef ALARM_H
#define ALARM_H

#include "config/config.h"
#include "incident/incident.h"
#include "samples/samples.h"
#include "stats/stats_cache.h"

#define ALARM_HOOKS  30 /* attacks an hour that the operator's command is told of */
#define ALARM_LISTED 20 /* incidents that the page gets */

struct alarm;

/*
 * Begin, within the loop, and go on with attacks that an earlier daemon saw begin. Before
 * the process is confined. @pin: as given to shield_load(). 0 or -errno after a message.
 */
int alarm_start(struct shield *shield, struct stats_cache *cache,
		struct samples_view *live, const struct config *config, const char *pin,
		struct alarm **ret);
/* Another configuration is in force. */
void alarm_reload(struct alarm *alarm, const struct config *config);
void alarm_stop(struct alarm *alarm);

/* INCIDENT_SERVICES of them, by slot, for metrics. */
const struct incident_watch *alarm_watches(const struct alarm *alarm);

/* {"time":..,"now":[..],"past":[..]}: attacks, newest last. -EIO. */
int alarm_json(const struct alarm *alarm, FILE *out);

#endif /* ALARM_H */
