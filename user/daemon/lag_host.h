/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_host.h - what the daemon knows of this host, for the verdicts on players' lag:
 * attacks that go on, frames that interfaces dropped, by which interface an address of
 * this host is reached, and datagrams of players that the shield refused, with a sample
 * of their sources (refused.h).
 */
#ifndef LAG_HOST_H
#define LAG_HOST_H

#include "daemon/incident_monitor.h"
#include "stats/stats_cache.h"

struct lag_host {
	/* Set by the caller, which sets nothing else. */
	struct stats_cache *cache;
	const struct incident_monitor *monitor;
	const struct shield *shield;
	/* Set by lag_host.c. */
	bool begun;
	__u32 tick; /* up to which refused sources were read */
	uint64_t refused[SERVICES_MAX]; /* a second ago */
	bool grew[SERVICES_MAX]; /* then */
	size_t links; /* protected interfaces, */
	int indexes[LAG_INTERFACES]; /* those of them that were read */
	size_t count;
	bool has_answer; /* to which interface has: */
	struct record_address asked;
	uint64_t answer;
};

/*
 * Fill @ret; @host is a struct lag_host, zero but for what its caller sets, which
 * ret->arrives uses. A samples_totals(), called once a second.
 */
void lag_host_totals(void *host, struct lag_totals *ret);

#endif /* LAG_HOST_H */
