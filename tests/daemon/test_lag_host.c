// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lag_host.c - the daemon's knowledge for verdicts on lag: which attacks count, by
 * slot, and datagrams of players that the shield refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/lag_host.h"

static struct incident_watch watches[INCIDENT_SERVICES];
static struct stats stats;
static bool readable;

/* In place of the daemon's. */
const struct incident_watch *
incident_monitor_watches(const struct incident_monitor *monitor)
{
	(void)monitor;
	return watches;
}

const struct stats *stats_cache_stats(struct stats_cache *cache)
{
	(void)cache;
	return readable ? &stats : NULL;
}

static struct lag_totals totals(void)
{
	struct lag_host host = { NULL, NULL };
	struct lag_totals ret;

	memset(&ret, 0, sizeof(ret));
	lag_host_totals(&host, &ret);
	return ret;
}

static void floods_and_scans_are_attacks(void **state)
{
	static struct incident flood = { .sort = INCIDENT_FLOOD },
			       guessing = { .sort = INCIDENT_GUESSING },
			       scan = { .sort = INCIDENT_SCAN };
	struct lag_totals t;

	(void)state;
	watches[3].now = &flood;
	watches[4].now = &guessing;
	watches[INCIDENT_MACHINE].now = &scan;
	readable = false;
	t = totals();
	assert_string_equal(t.attack[3], "flood");
	assert_null(t.attack[2]);
	assert_null(t.attack[4]);
	assert_string_equal(t.attack[SERVICES_MAX], "closed-ports");
	memset(watches, 0, sizeof(watches));
	assert_null(totals().attack[3]);
}

static void refusals_count_by_slot(void **state)
{
	struct lag_totals t;

	(void)state;
	readable = true;
	stats.services = calloc(2, sizeof(*stats.services));
	assert_non_null(stats.services);
	stats.service_count = 2;
	stats.services[0].slot = 3;
	stats.services[1].slot = 7;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		stats.services[1].in.by[kind][REASON_PLAYER_LIMIT].packets = 2;
	stats.services[1].in.by[KIND_NETCHAN][REASON_PLAYER_MISMATCH].packets = 9;
	stats.services[1].out.by[KIND_NETCHAN][REASON_PLAYER_LIMIT].packets = 9;
	t = totals();
	assert_int_equal(t.refused[3], 0);
	assert_int_equal(t.refused[7], 2 * KIND_COUNT);
	free(stats.services);
	stats.services = NULL;
	stats.service_count = 0;
}

/* An interface that has gone has no counters, and does no harm. */
static void a_missing_interface_drops_nothing(void **state)
{
	struct lag_totals t;

	(void)state;
	readable = true;
	stats.link_count = 1;
	strcpy(stats.links[0].interface, "no-such-if");
	t = totals();
	assert_int_equal(t.dropped[LAG_C2S], 0);
	assert_int_equal(t.dropped[LAG_S2C], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floods_and_scans_are_attacks),
		cmocka_unit_test(refusals_count_by_slot),
		cmocka_unit_test(a_missing_interface_drops_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
