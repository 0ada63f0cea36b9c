/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_host.h - what the daemon knows of this host, for the verdicts on players' lag:
 * attacks that go on, frames that interfaces dropped, and datagrams of players that the
 * shield refused.
 */
#ifndef LAG_HOST_H
#define LAG_HOST_H

#include "daemon/incident_monitor.h"
#include "stats/stats_cache.h"

/* Both belong to the caller. */
struct lag_host {
	struct stats_cache *cache;
	const struct incident_monitor *monitor;
};

/* Fill @ret; @host is a struct lag_host. A samples_totals(), called once a second. */
void lag_host_totals(void *host, struct lag_totals *ret);

#endif /* LAG_HOST_H */
