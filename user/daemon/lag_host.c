// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_host.c - see lag_host.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/lag_host.h"
#include "lib/util.h"

/*
 * Drops before our program on the way in, and after it on the way out. rx_dropped is not
 * among them: some drivers count what an XDP program drops.
 */
static const struct {
	enum lag_way way;
	const char *name;
} interface_counters[] = {
	{ LAG_C2S, "rx_missed_errors" }, { LAG_C2S, "rx_fifo_errors" },
	{ LAG_C2S, "rx_over_errors" },	 { LAG_S2C, "tx_dropped" },
	{ LAG_S2C, "tx_fifo_errors" },
};

/* Return one counter of an interface, or 0 if it cannot be read. */
static uint64_t counter_read_file(const char *interface, const char *name)
{
	char path[128];
	uint64_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", interface, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &n) != 1)
		n = 0;
	fclose(file);
	return n;
}

static uint64_t refused_of(const struct counters *in)
{
	uint64_t n = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		n += in->by[kind][REASON_PLAYER_LIMIT].packets;
	return n;
}

static void attacks(const struct incident_monitor *monitor, struct lag_totals *ret)
{
	const struct incident_watch *watches = incident_monitor_watches(monitor);

	/* Guessed passwords take no bandwidth. */
	for (size_t slot = 0; slot < INCIDENT_SERVICES; slot++) {
		const struct incident *now = watches[slot].now;

		if (now && now->sort != INCIDENT_GUESSING)
			ret->attack[slot] = incident_sort_name(now->sort);
	}
}

void lag_host_totals(void *host, struct lag_totals *ret)
{
	const struct lag_host *h = host;
	const struct stats *stats = stats_cache_stats(h->cache);

	attacks(h->monitor, ret);
	if (!stats)
		return;
	for (size_t i = 0; i < stats->service_count; i++)
		ret->refused[stats->services[i].slot] =
			refused_of(&stats->services[i].in);
	for (size_t i = 0; i < stats->link_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(interface_counters); j++)
			ret->dropped[interface_counters[j].way] += counter_read_file(
				stats->links[i].interface, interface_counters[j].name);
}
