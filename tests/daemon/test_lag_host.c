// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lag_host.c - the daemon's knowledge for verdicts on lag: which attacks count, by
 * slot, datagrams of players that the shield refused, with their sources, and which
 * interface drops and is the one of an address.
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

static struct lag_host host;
static uint64_t clock_ns;
static struct refused_source kept[400];
static size_t kept_count;

__u64 shield_clock(void)
{
	return clock_ns;
}

/* All that is kept, of the slot 7. */
int shield_refused(const struct shield *shield, __u32 slot, __u32 since, __u32 until,
		   void (*each)(enum wire_class class, const struct refused_source *from,
				void *context),
		   void *context)
{
	(void)shield;
	for (size_t i = 0; i < kept_count && slot == 7; i++)
		if (kept[i].tick - since < until - since)
			each(CLASS_NETCHAN, &kept[i], context);
	return 0;
}

static struct lag_totals totals(void)
{
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

static void keep(uint64_t net, enum reason reason, uint32_t tick, uint32_t weight)
{
	kept[kept_count++] = (struct refused_source){
		.net = net, .tick = tick, .weight = weight, .reason = (__u8)reason
	};
}

static struct stats_service *service_in_slot_7(void)
{
	stats.services = calloc(1, sizeof(*stats.services));
	assert_non_null(stats.services);
	stats.service_count = 1;
	stats.services[0].slot = 7;
	return &stats.services[0];
}

static void sources_of_a_second_are_summed(void **state)
{
	struct stats_service *service;
	struct lag_totals t;

	(void)state;
	readable = true;
	memset(&host, 0, sizeof(host));
	service = service_in_slot_7();
	clock_ns = 100ull << REFUSED_TICK;
	keep(0x0a000001, REASON_PLAYER_LIMIT, 99, 1);
	service->in.by[KIND_NETCHAN][REASON_PLAYER_LIMIT].packets = 500;
	/* The sources before the first look are not of this minute. */
	assert_int_equal(totals().source_count, 0);
	clock_ns = 107ull << REFUSED_TICK;
	keep(0x0a000001, REASON_PLAYER_LIMIT, 101, 2);
	keep(0x0a000002, REASON_PLAYER_LIMIT, 102, 1);
	keep(0x0a000001, REASON_PLAYER_LIMIT, 103, 3);
	keep(0x0a000003, REASON_PLAYER_MISMATCH, 104, 90);
	keep(0x0a000001, REASON_PLAYER_LIMIT, 107, 7);
	/* Nothing grew, so nothing is read. */
	assert_int_equal(totals().source_count, 0);
	host.tick = 100;
	service->in.by[KIND_NETCHAN][REASON_PLAYER_LIMIT].packets += 112;
	t = totals();
	assert_int_equal(t.source_count, 2);
	assert_int_equal(t.sources[0].slot, 7);
	assert_int_equal(t.sources[0].net, 0x0a000001);
	assert_int_equal(t.sources[0].refused, 5 * REFUSED_EVERY);
	assert_int_equal(t.sources[1].refused, REFUSED_EVERY);
	/* The period that was not over comes a second later. */
	clock_ns = 114ull << REFUSED_TICK;
	t = totals();
	assert_int_equal(t.source_count, 1);
	assert_int_equal(t.sources[0].refused, 7 * REFUSED_EVERY);
	assert_int_equal(totals().source_count, 0);
	/* More sources than have room are not told apart. */
	kept_count = 0;
	for (uint64_t i = 0; i < 400; i++)
		keep(i, REASON_PLAYER_LIMIT, 115, 1);
	clock_ns = 121ull << REFUSED_TICK;
	service->in.by[KIND_NETCHAN][REASON_PLAYER_LIMIT].packets += 6400;
	assert_int_equal(totals().source_count, LAG_SOURCES);
	kept_count = 0;
	free(stats.services);
	stats.services = NULL;
	stats.service_count = 0;
}

/* An interface that has gone has no counters: none, rather than 0. */
static void a_missing_interface_is_not_read(void **state)
{
	struct lag_totals t;

	(void)state;
	readable = true;
	stats.link_count = 2;
	strcpy(stats.links[0].interface, "no-such-if");
	strcpy(stats.links[1].interface, "lo");
	t = totals();
	assert_true(t.services_read);
	assert_int_equal(t.interface_count, 1);
	assert_string_equal(t.interfaces[0].name, "lo");
	readable = false;
	t = totals();
	assert_false(t.services_read);
	assert_int_equal(t.interface_count, 0);
	readable = true;
}

static uint64_t arrives(const struct lag_totals *t, uint8_t first, uint8_t last)
{
	struct record_address server = { .bytes = { first, 0, 0, last }, .length = 4 };

	return t->arrives(t->context, &server);
}

static void datagrams_come_by_the_interface_that_has_the_address(void **state)
{
	struct lag_totals t;

	(void)state;
	readable = true;
	stats.link_count = 2;
	strcpy(stats.links[0].interface, "lo");
	strcpy(stats.links[1].interface, "no-such-if");
	t = totals();
	assert_int_equal(arrives(&t, 127, 1), 1);
	assert_int_equal(arrives(&t, 192, 9), 0);
	assert_int_equal(arrives(&t, 127, 1), 1);
	/* There is no other. */
	stats.link_count = 1;
	t = totals();
	assert_int_equal(arrives(&t, 192, 9), 1);
	strcpy(stats.links[0].interface, "no-such-if");
	t = totals();
	assert_int_equal(arrives(&t, 127, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floods_and_scans_are_attacks),
		cmocka_unit_test(refusals_count_by_slot),
		cmocka_unit_test(sources_of_a_second_are_summed),
		cmocka_unit_test(a_missing_interface_is_not_read),
		cmocka_unit_test(datagrams_come_by_the_interface_that_has_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
