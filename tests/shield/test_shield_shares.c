// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_shares.c - the rate of challenges is divided among services by the requests
 * that the counters tell of: which count, of which processor, since when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "shield/fake_maps.h"

#define RATE 1000000 /* challenges per second */

static __u64 now;

static struct service *service(__u32 slot)
{
	return &shield.shared->tables[0].services[slot];
}

/* FAKE_SLOTS services that challenge. */
static int begin(void **state)
{
	struct validation_state *p;

	if (fake_begin(state))
		return -1;
	p = &shield.shared->validation;
	p->rate[CHALLENGE_JOIN] = (struct limit){ SECOND / RATE, SECOND / 4 };
	p->rate[CHALLENGE_QUERY] = (struct limit){ 4 * SECOND / RATE, SECOND / 4 };
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++) {
		service(slot)->active = 1;
		service(slot)->family = FAMILY_QUAKE3;
		service(slot)->validation = VALIDATION_UNDER_LOAD;
	}
	now = 100 * SECOND;
	shield_recent_update(&shield, now);
	return 0;
}

/* @count more requests of @kind came to @cpu, and went as @reason says. */
static void came(__u32 slot, int cpu, enum wire_kind kind, enum reason reason,
		 __u64 count)
{
	__u32 number = counter_number(DIRECTION_C2S, kind, reason);
	__u32 key = slot * COUNTER_ROWS + number / COUNTER_CELLS;
	struct counter_row rows[FAKE_CPUS];

	assert_int_equal(bpf_map_lookup_elem(shield.counters, &key, rows), 0);
	rows[cpu].cells[number % COUNTER_CELLS] += count;
	assert_int_equal(bpf_map_update_elem(shield.counters, &key, rows, BPF_ANY), 0);
}

/* A second passes. */
static void look(void)
{
	now += SECOND;
	shield_recent_update(&shield, now);
}

/* How many challenges per second a processor may send for the service in @slot. */
static __u64 share(__u32 slot, enum challenge_use use)
{
	return SECOND / shield.shared->validation.share[slot][use].cost_ns;
}

#define assert_share(slot, want) \
	assert_in_range(share(slot, CHALLENGE_JOIN), (want) - (want) / 100, (want))

static void quiet_services_have_equal_shares(void **state)
{
	(void)state;
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++) {
		assert_share(slot, RATE / FAKE_SLOTS);
		assert_int_equal(share(slot, CHALLENGE_QUERY), RATE / 4 / FAKE_SLOTS);
		assert_int_equal(shield.shared->validation.share[slot][0].burst_ns,
				 SECOND / 4);
	}
}

static void a_flooded_service_has_what_others_leave(void **state)
{
	(void)state;
	for (__u32 slot = 1; slot < 4; slot++)
		came(slot, 0, KIND_GETCHALLENGE, REASON_CHALLENGED, 30000);
	came(0, 0, KIND_GETCHALLENGE, REASON_CHALLENGED, 200000);
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 5000000);
	look();
	assert_share(0, RATE - 3 * 30000 - RATE / 8 / FAKE_SLOTS);
	for (__u32 slot = 1; slot < 4; slot++)
		assert_share(slot, 30000);
	assert_share(4, RATE / 8 / FAKE_SLOTS);
	/* Queries have a rate of their own. */
	assert_int_equal(share(0, CHALLENGE_QUERY), RATE / 4 / FAKE_SLOTS);
	/* Another is flooded: it has something at once, and a second later half. */
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 5000000);
	came(4, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 700000);
	look();
	assert_share(4, (RATE - 3 * RATE / 8 / FAKE_SLOTS) / 2);
	assert_share(0, (RATE - 3 * RATE / 8 / FAKE_SLOTS) / 2);
	/* When the floods end, all is as it was before. */
	for (int i = 0; i < 30; i++)
		look();
	quiet_services_have_equal_shares(NULL);
}

static void a_pause_of_a_second_costs_half_of_a_share(void **state)
{
	(void)state;
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	came(1, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, RATE / 2);
	look();
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_share(1, RATE / 4);
}

static void the_busiest_processor_counts(void **state)
{
	(void)state;
	for (int cpu = 0; cpu < FAKE_CPUS; cpu++)
		came(0, cpu, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	came(1, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 100000);
	came(1, 1, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 200000);
	look();
	assert_share(1, 200000);
	/* Over two seconds. */
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 8 * RATE);
	came(1, 1, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 300000);
	now += SECOND;
	look();
	assert_share(1, 150000);
}

static void only_requests_that_a_challenge_is_due_for_count(void **state)
{
	static const struct {
		enum wire_kind kind;
		enum reason reason;
		enum challenge_use use;
		bool counts;
	} rows[] = {
		{ KIND_GETCHALLENGE, REASON_CHALLENGED, CHALLENGE_JOIN, true },
		{ KIND_GETCHALLENGE, REASON_SOURCE_LIMIT, CHALLENGE_JOIN, true },
		{ KIND_GETCHALLENGE, REASON_PREFIX_LIMIT, CHALLENGE_JOIN, true },
		{ KIND_GETCHALLENGE, REASON_WITHIN_LIMITS, CHALLENGE_JOIN, false },
		{ KIND_GETCHALLENGE, REASON_DENY_LIST, CHALLENGE_JOIN, false },
		{ KIND_GETINFO, REASON_CHALLENGED, CHALLENGE_QUERY, true },
		{ KIND_GETSTATUS, REASON_SERVICE_LIMIT, CHALLENGE_QUERY, true },
		{ KIND_GETSTATUS, REASON_CACHED_RECURRING, CHALLENGE_QUERY, false },
		{ KIND_STATUS, REASON_SERVICE_LIMIT, CHALLENGE_QUERY, false },
		{ KIND_RCON, REASON_SERVICE_LIMIT, CHALLENGE_JOIN, false },
		{ KIND_CONNECT, REASON_SERVICE_LIMIT, CHALLENGE_QUERY, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(shield.demand, 0, sizeof(shield.demand));
		came(2, 0, rows[i].kind, rows[i].reason, 1000000);
		look();
		for (int use = 0; use < CHALLENGE_USES; use++)
			assert_int_equal(shield.demand[use][2] > 0,
					 rows[i].counts && (int)rows[i].use == use);
	}
}

/* Requests that an earlier daemon saw, or an earlier service got, are no demand. */
static void only_what_came_since_the_last_look_counts(void **state)
{
	(void)state;
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	shield.recent_looked_ns = 0;
	shield_recent_update(&shield, now);
	assert_share(0, RATE / FAKE_SLOTS);
	for (__u32 row = 0; row < COUNTER_ROWS; row++) {
		static const struct counter_row none[FAKE_CPUS];

		assert_int_equal(
			bpf_map_update_elem(shield.counters, &row, none, BPF_ANY), 0);
	}
	look();
	assert_share(0, RATE / FAKE_SLOTS);
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_share(0, RATE - (FAKE_SLOTS - 1) * (RATE / 8 / FAKE_SLOTS));
}

static void services_without_challenges_have_no_part(void **state)
{
	(void)state;
	service(0)->active = 0;
	service(1)->observe = 1;
	service(2)->validation = VALIDATION_OFF;
	service(4)->family = FAMILY_AUTO;
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++)
		came(slot, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_share(3, RATE);
	/* Requests that came before the service challenged are no demand. */
	service(0)->active = 1;
	look();
	assert_share(3, RATE - RATE / 8 / 2);
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_share(0, RATE / 2);
}

/* Queries to other families are never challenged: a flood of them demands nothing. */
static void queries_are_divided_among_quake2_and_3(void **state)
{
	const __u64 want = RATE / 4 - 3 * (RATE / 4 / 8 / 4);

	(void)state;
	service(1)->family = FAMILY_QUAKEWORLD;
	for (__u32 slot = 0; slot < 2; slot++)
		came(slot, 0, KIND_GETSTATUS, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_in_range(share(0, CHALLENGE_QUERY), want - want / 1000, want);
	assert_share(1, RATE / FAKE_SLOTS);
	/* Queries from before it became a service of Quake III are no demand. */
	service(1)->family = FAMILY_QUAKE3;
	look();
	assert_int_equal(shield.demand[CHALLENGE_QUERY][1], 0);
	/* Quake II's are its own words. */
	service(1)->family = FAMILY_QUAKE2;
	look();
	came(1, 0, KIND_GETSTATUS, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_int_equal(shield.demand[CHALLENGE_QUERY][1], 0);
	came(1, 0, KIND_STATUS, REASON_SERVICE_LIMIT, RATE);
	came(1, 0, KIND_INFO, REASON_CHALLENGED, RATE);
	look();
	assert_true(shield.demand[CHALLENGE_QUERY][1] > 0);
}

/* A challenge without the server's host keys cannot be sent, so none is due. */
static void host_keys_that_cannot_be_sent_demand_nothing(void **state)
{
	static const struct {
		enum host_keys_state state;
		bool demands;
	} rows[] = { { KEYS_UNKNOWN, false },
		     { KEYS_NONE, true },
		     { KEYS_LONG, false },
		     { KEYS_KNOWN, true },
		     { KEYS_SEVERAL, false } };

	(void)state;
	service(0)->family = FAMILY_NETQUAKE;
	look();
	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(shield.demand, 0, sizeof(shield.demand));
		shield.shared->validation.keys[0].state = rows[i].state;
		came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
		look();
		assert_int_equal(shield.demand[CHALLENGE_JOIN][0] > 0, rows[i].demands);
	}
	/* Other protocols have none. */
	service(1)->family = FAMILY_QUAKEWORLD;
	look();
	came(1, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	look();
	assert_true(shield.demand[CHALLENGE_JOIN][1] > 0);
}

/* No limit stays none, and what lets nothing pass does not begin to. */
static void extremes_are_not_divided(void **state)
{
	struct validation_state *p = &shield.shared->validation;

	(void)state;
	p->rate[CHALLENGE_JOIN] = (struct limit){ 0, 0 };
	p->rate[CHALLENGE_QUERY] = (struct limit){ SECOND, 0 };
	for (int use = 0; use < CHALLENGE_USES; use++)
		limit_normal(&p->rate[use]);
	look();
	assert_false(limit_exceeded(&p->share[0][CHALLENGE_JOIN], now, 0));
	assert_true(limit_exceeded(&p->share[0][CHALLENGE_QUERY], 0, now));
	/* One an hour, for five: each has one at a time, and not two. */
	p->rate[CHALLENGE_JOIN] = (struct limit){ 3600 * SECOND, 3600 * SECOND };
	look();
	assert_false(limit_exceeded(&p->share[0][CHALLENGE_JOIN], now, now));
	assert_true(limit_exceeded(&p->share[0][CHALLENGE_JOIN], now + 1, now));
	assert_in_range(p->share[0][CHALLENGE_JOIN].cost_ns, 3600 * SECOND * FAKE_SLOTS,
			3600 * SECOND * FAKE_SLOTS + 200 * SECOND);
}

/* Where the counters cannot be read, all have the same share. */
static void unread_counters_are_none(void **state)
{
	(void)state;
	came(0, 0, KIND_GETCHALLENGE, REASON_SERVICE_LIMIT, 4 * RATE);
	fake_fails = shield.counters;
	look();
	quiet_services_have_equal_shares(NULL);
	fake_fails = -1;
	fake_cpus = -EINVAL;
	look();
	quiet_services_have_equal_shares(NULL);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quiet_services_have_equal_shares),
		TEST(a_flooded_service_has_what_others_leave),
		TEST(a_pause_of_a_second_costs_half_of_a_share),
		TEST(the_busiest_processor_counts),
		TEST(only_requests_that_a_challenge_is_due_for_count),
		TEST(only_what_came_since_the_last_look_counts),
		TEST(services_without_challenges_have_no_part),
		TEST(queries_are_divided_among_quake2_and_3),
		TEST(host_keys_that_cannot_be_sent_demand_nothing),
		TEST(extremes_are_not_divided),
		TEST(unread_counters_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
