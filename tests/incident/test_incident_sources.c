// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_incident_sources.c - which sources an attack is said to come from.
 */
#include <jansson.h>

#include "incident_support.h"
#include "incident/incident_json.h"
#include "incident/incident_sources.h"

#define GUESSER 0xc0000207 /* 192.0.2.7 */

static void source(enum wire_class class, enum reason reason, uint64_t net, bool ipv6,
		   uint32_t weight, int times)
{
	struct refused_source from = {
		.net = net, .weight = weight, .ipv6 = ipv6, .reason = (uint8_t)reason
	};

	while (times--)
		incident_source(&watch, class, &from, steady_ms);
}

static void guess(int times)
{
	source(CLASS_RCON, REASON_SOURCE_LIMIT, GUESSER, false, 1, times);
}

/* Addresses of which none comes twice. */
static void spoofed(enum wire_class class, uint32_t weight, uint32_t n)
{
	static uint32_t last;

	while (n--)
		source(class, REASON_SERVICE_LIMIT, ++last * 2654435761u, false, weight,
		       1);
}

static void start(enum wire_kind kind, uint64_t n)
{
	refuse(kind, REASON_SOURCE_LIMIT, n);
	assert_int_equal(look(), INCIDENT_STARTED);
}

static json_t *object;

static const char *from(void)
{
	static char text[INCIDENT_FROM];

	json_decref(object);
	object = incident_json(watch.now, INCIDENT_UPDATED, NULL);
	assert_non_null(object);
	incident_from(object, text);
	return text;
}

static json_t *top(size_t i)
{
	from();
	return json_array_get(json_object_get(json_object_get(object, "sources"), "top"),
			      i);
}

static const char *text_at(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static size_t tops(void)
{
	top(0);
	return json_array_size(
		json_object_get(json_object_get(object, "sources"), "top"));
}

static int over(void **state)
{
	json_decref(object);
	object = NULL;
	return end(state);
}

static void a_source_that_guesses_is_named(void **state)
{
	(void)state;
	start(KIND_RCON, 100);
	assert_string_equal(from(), "");
	guess(2);
	assert_string_equal(from(), "no source or prefix that stands out");
	guess(1);
	assert_string_equal(from(), "192.0.2.7 (100 % of rcon, source-limit)");
	assert_string_equal(text_at(top(0), "source"), "192.0.2.7");
	assert_string_equal(text_at(top(0), "class"), "rcon");
	assert_string_equal(text_at(top(0), "reason"), "source-limit");
	assert_int_equal(json_integer_value(json_object_get(top(0), "packets")), 100);
	assert_string_equal(
		text_at(json_array_get(json_object_get(object, "top_prefixes"), 0),
			"prefix"),
		"192.0.2.0/24");
}

/* Whatever else the service is sent a million of each second. */
static void a_flood_of_another_class_hides_no_guesser(void **state)
{
	(void)state;
	start(KIND_GETSTATUS, 1000000);
	refuse(KIND_RCON, REASON_SOURCE_LIMIT, 20);
	look();
	spoofed(CLASS_QUERY, 10000, 600);
	guess(3);
	assert_int_equal(tops(), 1);
	assert_string_equal(from(), "192.0.2.7 (100 % of rcon, source-limit)");
	assert_int_equal(incident_spoofed(watch.now), SPOOFED_LIKELY);
}

static void spoofed_addresses_are_not_listed(void **state)
{
	(void)state;
	start(KIND_GETSTATUS, 1000000);
	for (uint32_t n = 1; n < 40; n++) {
		spoofed(CLASS_QUERY, 1000 + n, n);
		assert_int_equal(tops(), 0);
	}
	assert_string_equal(from(), "addresses that are spoofed, as it seems");
	assert_int_equal(json_array_size(json_object_get(object, "top_prefixes")), 0);
	/* In the same class one that sends a tenth stands out. */
	source(CLASS_QUERY, REASON_SOURCE_LIMIT, GUESSER, false, 1000, 87);
	assert_int_equal(tops(), 1);
	assert_memory_equal(from(), "192.0.2.7 (10 % of query", 24);
}

/* The limit of it, as docs/SECURITY.md states it. */
static void noise_of_its_own_class_hides_one_below_a_twentieth(void **state)
{
	(void)state;
	start(KIND_RCON, 1000);
	for (int i = 0; i < 100; i++) {
		spoofed(CLASS_RCON, 1, 24);
		guess(1);
	}
	assert_int_equal(tops(), 0);
	for (int i = 0; i < 100; i++) {
		spoofed(CLASS_RCON, 1, 10);
		guess(1);
	}
	assert_int_equal(tops(), 1);
}

static void ipv6_is_named_by_its_64(void **state)
{
	(void)state;
	start(KIND_RCON, 80);
	source(CLASS_RCON, REASON_PREFIX_LIMIT, 0x20010db800010203, true, 1, 5);
	assert_string_equal(from(), "2001:db8:1:203::/64 (100 % of rcon, prefix-limit)");
	assert_string_equal(
		text_at(json_array_get(json_object_get(object, "top_prefixes"), 0),
			"prefix"),
		"2001:db8:1:200::/56");
}

/* 100 addresses of one network, a hundredth each. */
static void a_prefix_is_named_where_its_addresses_are_not(void **state)
{
	(void)state;
	start(KIND_CONNECT, 5000);
	for (uint32_t i = 0; i < 400; i++)
		source(CLASS_CONNECT, REASON_PREFIX_LIMIT, 0xcb007100 + i % 100, false, 1,
		       1);
	assert_int_equal(tops(), 0);
	assert_string_equal(from(), "203.0.113.0/24 (100 % of connect, prefix-limit)");
}

static void each_class_is_named_before_a_second_of_one(void **state)
{
	bool found = false;

	(void)state;
	start(KIND_GETSTATUS, 100000);
	refuse(KIND_RCON, REASON_SOURCE_LIMIT, 30);
	look();
	for (uint32_t i = 0; i < 120; i++)
		source(CLASS_QUERY, REASON_SOURCE_LIMIT, 0x0a000000 + (i % 12 << 8),
		       false, 100, 1);
	guess(4);
	assert_int_equal(tops(), INCIDENT_NAMED);
	for (size_t i = 0; i < INCIDENT_NAMED; i++)
		found |= !strcmp(text_at(top(i), "source"), "192.0.2.7");
	assert_true(found);
}

/* A source that sends more in each of the other classes, which fill all places. */
static void sources_of_all_classes_hide_no_guesser(void **state)
{
	bool found = false;

	(void)state;
	start(KIND_GETSTATUS, 100000);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		refuse((enum wire_kind)kind, REASON_SOURCE_LIMIT,
		       wire_class(subject.family, (enum wire_kind)kind) == CLASS_RCON
			       ? 1
			       : 1000);
	look();
	for (uint32_t class = 0; class < CLASS_COUNT; class ++)
		if (class != CLASS_RCON)
			source((enum wire_class) class, REASON_SOURCE_LIMIT,
			       0x0a000000 + class, false, 100, 10);
	guess(4);
	assert_int_equal(tops(), INCIDENT_NAMED);
	for (size_t i = 0; i < INCIDENT_NAMED; i++)
		found |= !strcmp(text_at(top(i), "source"), "192.0.2.7");
	assert_true(found);
}

/* In an attack on passwords, the sources that guess stand first, however few they are. */
static void those_that_guess_come_first(void **state)
{
	(void)state;
	start(KIND_RCON, 60);
	refuse(KIND_GETSTATUS, REASON_SOURCE_LIMIT, 5000);
	look();
	source(CLASS_QUERY, REASON_SOURCE_LIMIT, 0x0a000001, false, 50, 10);
	guess(4);
	assert_string_equal(text_at(top(0), "source"), "192.0.2.7");
	assert_string_equal(text_at(top(1), "source"), "10.0.0.1");
}

static void the_reason_is_that_of_most(void **state)
{
	(void)state;
	start(KIND_RCON, 100);
	for (int i = 0; i < 4; i++) {
		source(CLASS_RCON, REASON_SERVICE_LIMIT, GUESSER, false, 1, 1);
		source(CLASS_RCON, REASON_DENY_LIST, GUESSER, false, 1, 2);
	}
	assert_string_equal(from(), "192.0.2.7 (100 % of rcon, deny-list)");
}

/* Three a second are an attack after ten seconds only. */
static void those_before_the_start_count(void **state)
{
	(void)state;
	source(CLASS_RCON, REASON_SOURCE_LIMIT, 0x0a000009, false, 1, 20);
	assert_int_equal(quiet_s(5), 0); /* that was another matter */
	for (int s = 0; s < 9; s++) {
		refuse(KIND_RCON, REASON_SOURCE_LIMIT, 3);
		assert_int_equal(look(), INCIDENT_NOTHING);
		guess(s % 3 == 0);
	}
	start(KIND_RCON, 3);
	assert_string_equal(from(), "192.0.2.7 (100 % of rcon, source-limit)");
	assert_int_equal(watch.now->sources.sampled, 3);
}

static void the_next_daemon_knows_them(void **state)
{
	char before[INCIDENT_FROM];
	struct incident *next;

	(void)state;
	start(KIND_RCON, 800);
	guess(60);
	source(CLASS_RCON, REASON_SOURCE_LIMIT, 0xc6336409, false, 1, 24);
	source(CLASS_RCON, REASON_DENY_LIST, 0x20010db800010203, true, 1, 16);
	strcpy(before, from());
	assert_string_equal(before, "192.0.2.7 (60 % of rcon, source-limit), "
				    "198.51.100.9 (24 % of rcon, source-limit), "
				    "2001:db8:1:203::/64 (16 % of rcon, deny-list)");
	next = incident_parse(object);
	assert_non_null(next);
	incident_forget(&watch);
	watch.now = next;
	assert_string_equal(from(), before);
	/* And learns of others. */
	source(CLASS_RCON, REASON_SOURCE_LIMIT, 0x0a000009, false, 1, 450);
	assert_memory_equal(from(), "10.0.0.9 (90 % of rcon", 22);
}

/* The next daemon also keeps how many addresses were sampled, and `spoofed` with them. */
static void the_next_daemon_knows_how_many_there_were(void **state)
{
	static const uint32_t addresses[] = { 1, 700, 8192 };

	(void)state;
	start(KIND_GETSTATUS, 100000);
	for (size_t i = 0; i < 3; i++) {
		struct incident *next;
		double before;

		while (watch.now->sources.sampled < addresses[i])
			spoofed(CLASS_QUERY, 1, 1);
		before = (double)incident_distinct(watch.now);
		from();
		next = incident_parse(object);
		assert_non_null(next);
		incident_forget(&watch);
		watch.now = next;
		assert_int_equal(next->sources.sampled, addresses[i]);
		assert_true((double)incident_distinct(next) >= 0.9 * before);
		assert_true((double)incident_distinct(next) <= 1.1 * before);
		assert_int_equal(incident_spoofed(next),
				 i ? SPOOFED_LIKELY : SPOOFED_UNKNOWN);
	}
}

static void nonsense_is_no_source(void **state)
{
	static const char *const rows[] = {
		"{}",
		"[]",
		"7",
		"{\"source\":\"x\",\"class\":\"rcon\",\"reason\":\"player-mismatch\",\"share\":1,\"packets\":9}",
		"{\"source\":\"10.0.0.1\",\"class\":\"x\",\"reason\":\"player-mismatch\",\"share\":1,\"packets\":9}",
		"{\"source\":\"10.0.0.1\",\"class\":\"rcon\",\"reason\":\"x\",\"share\":1,\"packets\":9}",
		"{\"source\":\"10.0.0.1\",\"class\":\"rcon\",\"reason\":\"player-mismatch\",\"share\":0,\"packets\":9}",
		"{\"source\":\"10.0.0.1\",\"class\":\"rcon\",\"reason\":\"player-mismatch\",\"share\":2,\"packets\":9}",
	};

	(void)state;
	start(KIND_RCON, 100);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *row = json_loads(rows[i], JSON_DECODE_ANY, NULL);
		json_t *bad = json_pack("{s:{s:[O]}, s:[O]}", "sources", "top", row,
					"top_prefixes", row);

		incident_sources_parse(bad, watch.now);
		json_decref(bad);
		json_decref(row);
	}
	incident_source(&watch, CLASS_COUNT, &(struct refused_source){ .weight = 1 }, 0);
	incident_source(&watch, CLASS_RCON, &(struct refused_source){ .net = 1 }, 0);
	for (int i = 0; i < 3; i++) {
		static const double sampled[] = { -1, 1e18, 0.5 };
		json_t *bad = json_pack("{s:{s:f, s:f}}", "sources", "sampled",
					sampled[i], "distinct", 1e18);

		incident_sources_parse(bad, watch.now);
		json_decref(bad);
	}
	assert_int_equal(tops(), 0);
	assert_int_equal(watch.now->sources.sampled, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)
	const struct CMUnitTest tests[] = {
		TEST(a_source_that_guesses_is_named),
		TEST(a_flood_of_another_class_hides_no_guesser),
		TEST(spoofed_addresses_are_not_listed),
		TEST(noise_of_its_own_class_hides_one_below_a_twentieth),
		TEST(ipv6_is_named_by_its_64),
		TEST(a_prefix_is_named_where_its_addresses_are_not),
		TEST(each_class_is_named_before_a_second_of_one),
		TEST(sources_of_all_classes_hide_no_guesser),
		TEST(those_that_guess_come_first),
		TEST(the_reason_is_that_of_most),
		TEST(those_before_the_start_count),
		TEST(the_next_daemon_knows_them),
		TEST(the_next_daemon_knows_how_many_there_were),
		TEST(nonsense_is_no_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
