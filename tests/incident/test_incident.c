// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_incident.c - what is an incident, what is none, when it begins and ends, and who
 * it says is behind it.
 */
#include "incident/incident_json.h"
#include "incident_support.h"

/* --- beginning and end ------------------------------------------------------------- */

static void a_flood_is_told_of_after_its_first_second(void **state)
{
	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_string_equal(watch.now->id, "20261122T144502Z-3");
	assert_string_equal(watch.now->service, "ffa");
	assert_int_equal(watch.now->sort, INCIDENT_FLOOD);
	assert_int_equal(watch.now->start_ms, BEGIN_MS + 1000);
	assert_int_equal(watch.now->refused, 20000);
	assert_int_equal(watch.now->kinds[KIND_GETSTATUS], 20000);
	assert_true(watch.now->peak_pps == 20000);
	assert_true(watch.now->peak_bps == 20000 * 60 * 8);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 50000);
	assert_int_equal(look(), INCIDENT_NOTHING);
	refuse(KIND_GETINFO, REASON_SERVICE_LIMIT, 10000);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_int_equal(watch.now->refused, 80000);
	assert_true(watch.now->peak_pps == 50000);
}

static void it_is_over_after_ten_seconds_of_quiet(void **state)
{
	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(quiet_s(9), 0);
	assert_int_equal(look(), INCIDENT_ENDED);
	/* When the last came, not when we were sure. */
	assert_int_equal(watch.now->end_ms, BEGIN_MS + 2000);
	incident_forget(&watch);
	assert_int_equal(quiet_s(60), 0);
	assert_null(watch.now);
	assert_int_equal(watch.count, 1);
}

static void who_rests_now_and_then_is_one(void **state)
{
	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	for (int i = 0; i < 5; i++) {
		assert_true(quiet_s(8) <= 1); /* an update may be due */
		refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
		assert_int_not_equal(look(), INCIDENT_ENDED);
	}
	assert_int_equal(watch.count, 1);
}

static void a_second_one_has_another_id(void **state)
{
	char first[INCIDENT_ID];

	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	strcpy(first, watch.now->id);
	assert_int_equal(quiet_s(10), 1);
	incident_forget(&watch);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_string_not_equal(watch.now->id, first);
}

static void it_is_told_of_twice_a_minute(void **state)
{
	int updates = 0;

	(void)state;
	for (int s = 0; s < 121; s++) {
		refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 1000);
		updates += look() == INCIDENT_UPDATED;
	}
	assert_int_equal(updates, 4);
}

/* --- slow ones -----------------------------------------------------------------------
 */

static int seconds_until_start(enum wire_kind kind, uint64_t each_second)
{
	for (int s = 1; s <= 600; s++) {
		refuse(kind, REASON_SOURCE_LIMIT, each_second);
		if (look() == INCIDENT_STARTED)
			return s;
	}
	return 0;
}

static void a_slow_flood_is_seen_sooner_or_later(void **state)
{
	(void)state;
	assert_int_equal(seconds_until_start(KIND_GETCHALLENGE, 25), 20);
	/* It began when it began. */
	assert_int_equal(watch.now->start_ms, BEGIN_MS + 1000);
	begin(state);
	assert_int_equal(seconds_until_start(KIND_GETCHALLENGE, 12), 150);
	begin(state);
	assert_int_equal(seconds_until_start(KIND_GETCHALLENGE, INCIDENT_FLOOD_LEAK), 0);
}

/* The totals and peaks begin when it began, as its duration does. */
static void what_filled_the_bucket_is_part_of_it(void **state)
{
	(void)state;
	/* The bucket is empty again: not a part of it. */
	refuse(KIND_GETINFO, REASON_SOURCE_LIMIT, 15);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_int_equal(quiet_s(3), 0);
	refuse(KIND_GETCHALLENGE, REASON_SOURCE_LIMIT, 200);
	counts.withheld = 3;
	assert_int_equal(look(), INCIDENT_NOTHING);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 50);
	pass(REASON_PLAYER, 7);
	assert_int_equal(look(), INCIDENT_NOTHING);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 150);
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->start_ms, BEGIN_MS + 5000);
	assert_int_equal(watch.now->packets, 407);
	assert_int_equal(watch.now->bytes, 407 * 60);
	assert_int_equal(watch.now->refused, 400);
	assert_int_equal(watch.now->dropped, 400);
	assert_int_equal(watch.now->withheld, 3);
	assert_int_equal(watch.now->kinds[KIND_GETINFO], 0);
	assert_int_equal(watch.now->kinds[KIND_GETCHALLENGE], 200);
	assert_int_equal(watch.now->reasons[REASON_SERVICE_LIMIT], 200);
	assert_true(watch.now->peak_pps == 200);
	assert_true(watch.now->peak_bps == 200 * 60 * 8);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 1);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_int_equal(watch.now->refused, 401);
}

static void guesses_of_passwords_are_rarer(void **state)
{
	(void)state;
	assert_int_equal(seconds_until_start(KIND_RCON, 3), 10);
	assert_int_equal(watch.now->sort, INCIDENT_GUESSING);
	begin(state);
	/* An admin who mistypes. */
	for (int i = 0; i < 4; i++)
		refuse(KIND_RCON, REASON_SOURCE_LIMIT, 1);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_int_equal(quiet_s(60), 0);
}

/* --- of other sorts ------------------------------------------------------------------
 */

static void answers_kept_back_are_reflection(void **state)
{
	(void)state;
	counts.withheld = 400;
	counts.packets = 400;
	counts.kinds[KIND_GETSTATUS] = 400;
	counts.reasons[REASON_AMPLIFICATION] = 400;
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->withheld, 400);
	assert_int_equal(watch.now->refused, 0);
}

/* What the shield answers by asking for proof is over a budget all the same. */
static void who_is_asked_for_proof_counts(void **state)
{
	(void)state;
	counts.asked = 400;
	counts.packets = 400;
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->refused, 0);
}

static void a_scan_is_the_machines(void **state)
{
	(void)state;
	subject = (struct incident_subject){ INCIDENT_MACHINE, "", FAMILY_AUTO, false };
	counts.packets = 1000; /* to ports where nobody listens */
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->sort, INCIDENT_SCAN);
	assert_string_equal(watch.now->service, "");
	begin(state);
	subject.slot = INCIDENT_MACHINE;
	for (int s = 0; s < 600; s++) { /* the noise of the internet */
		counts.packets = INCIDENT_SCAN_LEAK;
		assert_int_equal(look(), INCIDENT_NOTHING);
	}
}

/* It is told of at once and once, and the attack that it comes in stays one. */
static void another_sort_is_told_of_while_one_lasts(void **state)
{
	const unsigned int both = 1u << INCIDENT_FLOOD | 1u << INCIDENT_GUESSING;
	int told = 0;

	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->sorts, 1u << INCIDENT_FLOOD);
	for (int s = 0; s < 20; s++) {
		refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
		refuse(KIND_RCON, REASON_SOURCE_LIMIT, 5);
		if (look() == INCIDENT_UPDATED) {
			told++;
			assert_int_equal(watch.now->sorts, both);
		}
	}
	assert_int_equal(told, 1);
	assert_int_equal(watch.now->sort, INCIDENT_FLOOD);
	assert_int_equal(watch.now->sorts, both);
	assert_int_equal(watch.count, 1);
	/* The other way round, after seconds. */
	begin(state);
	assert_int_equal(seconds_until_start(KIND_RCON, 5), 5);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_UPDATED);
	assert_int_equal(watch.now->sort, INCIDENT_GUESSING);
	assert_int_equal(watch.now->sorts, both);
	assert_int_equal(quiet_s(9), 0);
	assert_int_equal(look(), INCIDENT_ENDED);
}

/* What ends one attack as another, larger one is no sort of the first. */
static void the_next_attack_is_no_sort_of_the_last(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		refuse(KIND_RCON, REASON_SOURCE_LIMIT, 100);
		assert_int_equal(look(), INCIDENT_STARTED);
		if (!i) {
			assert_int_equal(quiet_s(10), 1);
			incident_forget(&watch);
		}
	}
	assert_int_equal(quiet_s(12), 0);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 200000);
	assert_int_equal(look(), INCIDENT_ENDED);
	assert_int_equal(watch.now->sorts, 1u << INCIDENT_GUESSING);
}

/* One that ends the attack before it and lasts a second alone is told of all the same. */
static void what_ends_an_attack_begins_the_next(void **state)
{
	int64_t before_ms;

	the_next_attack_is_no_sort_of_the_last(state);
	incident_forget(&watch);
	before_ms = now_ms - 1000;
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->sorts, 1u << INCIDENT_FLOOD);
	assert_int_equal(watch.now->start_ms, before_ms);
	assert_int_equal(watch.now->packets, 200000);
	assert_int_equal(watch.now->refused, 200000);
	assert_true(watch.now->peak_pps == 200000);
	incident_forget(&watch);
	assert_int_equal(quiet_s(60), 0);
}

/* Also by the next daemon; a sort that it does not know is no reason to give up. */
static void all_sorts_are_told(void **state)
{
	char text[INCIDENT_TEXT], sorts[INCIDENT_SORTS_TEXT];
	struct incident *again;
	json_t *object;

	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	refuse(KIND_RCON, REASON_SOURCE_LIMIT, 100);
	assert_int_equal(look(), INCIDENT_UPDATED);
	incident_text(watch.now, INCIDENT_UPDATED, text);
	assert_non_null(strstr(text, "Z-3 goes on: flood + password-guessing on ffa, "));
	object = incident_json(watch.now, INCIDENT_UPDATED, NULL);
	incident_sorts(object, sorts);
	assert_string_equal(sorts, "flood + password-guessing");
	json_array_insert_new(json_object_get(object, "also"), 0, json_string("new"));
	json_array_append_new(json_object_get(object, "also"), json_integer(7));
	again = incident_parse(object);
	assert_non_null(again);
	assert_int_equal(again->sort, INCIDENT_FLOOD);
	assert_int_equal(again->sorts, watch.now->sorts);
	free(again);
	json_object_del(object, "also"); /* from before there were several */
	again = incident_parse(object);
	assert_non_null(again);
	assert_int_equal(again->sorts, 1u << INCIDENT_FLOOD);
	free(again);
	/* More than there is room for is cut. */
	json_object_set_new(object, "also", json_array());
	for (int n = 0; n < 20; n++)
		json_array_append_new(json_object_get(object, "also"),
				      json_string("password-guessing"));
	incident_sorts(object, sorts);
	assert_int_equal(strlen(sorts), sizeof(sorts) - 1);
	json_decref(object);
}

/* What a scan leaves at a service: a datagram or two that mean nothing. */
static void a_scan_is_none_of_a_service(void **state)
{
	(void)state;
	refuse(KIND_OOB_EMPTY, REASON_MALFORMED, 2);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_int_equal(quiet_s(30), 0);
}

/*
 * A map that everybody wants: 64 players come back within a few seconds, each with a
 * challenge, a connect, and what their clients repeat in between; a tenth of it is over
 * some budget, and they are let in all the same.
 */
static void a_popular_map_is_none(void **state)
{
	(void)state;
	for (int map = 0; map < 20; map++) {
		for (int s = 0; s < 10; s++) {
			counts.players = (uint32_t)(6 * s);
			pass(REASON_WITHIN_LIMITS, 40);
			pass(REASON_VALIDATED, 20);
			refuse(KIND_GETCHALLENGE, REASON_SOURCE_LIMIT, 12);
			refuse(KIND_NETCHAN, REASON_SERVICE_LIMIT, 8);
			assert_int_equal(look(), INCIDENT_NOTHING);
		}
		counts.players = 64;
		assert_int_equal(quiet_s(20), 0);
	}
}

/* --- who was there --------------------------------------------------------------------
 */

static void players_before_and_during(void **state)
{
	(void)state;
	counts.players = 12;
	assert_int_equal(quiet_s(3), 0);
	counts.players = 11;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	pass(REASON_PLAYER, 700);
	assert_int_equal(look(), INCIDENT_STARTED);
	counts.players = 14;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_int_equal(watch.now->players_before, 12);
	assert_int_equal(watch.now->players_least, 11);
	assert_int_equal(watch.now->players_most, 14);
	assert_int_equal(watch.now->reasons[REASON_PLAYER], 700);
}

static struct record_address v4(uint32_t address)
{
	return (struct record_address){
		.length = 4,
		.bytes = { (uint8_t)(address >> 24), (uint8_t)(address >> 16),
			   (uint8_t)(address >> 8), (uint8_t)address },
	};
}

static void sample(uint32_t from)
{
	struct refused_source source = { .net = from, .weight = 1 };
	struct record_address server = v4(0x0a4d0002);

	server.port = 27960;
	incident_target(&watch, &server);
	incident_source(&watch, CLASS_QUERY, &source, steady_ms);
}

static void senders_tell_whether_they_lie(void **state)
{
	(void)state;
	sample(1); /* there is none yet, but whom it is aimed at is known */
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->sources.target.port, 27960);
	assert_int_equal(watch.now->sources.sampled, 0);
	assert_int_equal(incident_spoofed(watch.now), SPOOFED_UNKNOWN);
	for (uint32_t i = 0; i < 1000; i++)
		sample(0x0a800000 + i * 7919);
	assert_int_equal(incident_spoofed(watch.now), SPOOFED_LIKELY);
	assert_in_range(incident_distinct(watch.now), 970, 1000);
	assert_int_equal(watch.now->sources.target.port, 27960);
	begin(state);
	refuse(KIND_GETSTATUS, REASON_SOURCE_LIMIT, 20000);
	look();
	for (uint32_t i = 0; i < 1000; i++)
		sample(0x0a420042); /* who asks for answers to another */
	assert_int_equal(incident_distinct(watch.now), 1);
	assert_int_equal(incident_spoofed(watch.now), SPOOFED_POSSIBLE);
	begin(state);
	refuse(KIND_CONNECT, REASON_SOURCE_LIMIT, 20000);
	look();
	for (uint32_t i = 0; i < 1000; i++)
		sample(0x0a420042 + i % 4);
	assert_int_equal(incident_spoofed(watch.now), SPOOFED_UNLIKELY);
}

static void the_sketch_stays_useful_when_it_is_full(void **state)
{
	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	look();
	for (uint32_t i = 0; i < 100000; i++)
		sample(i * 2654435761u);
	assert_int_equal(watch.now->sources.sampled, INCIDENT_SAMPLES);
	assert_in_range(incident_distinct(watch.now), 7000, INCIDENT_SAMPLES);
}

/* --- clocks and counters
 * ----------------------------------------------------------------- */

/* Somebody sets the clock in the middle of an attack, which lasts as long as it lasts, is
 * told of as often, and ends after its beginning. */
static void a_clock_that_is_set_changes_nothing(void **state)
{
	static const int64_t jumps[] = { -3600000, 3600000, -400ll * 86400000 };

	for (size_t i = 0; i < 3; i++) {
		int updates = 0;

		begin(state);
		refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
		assert_int_equal(look(), INCIDENT_STARTED);
		now_ms += jumps[i];
		for (int s = 0; s < 61; s++) {
			refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 50);
			updates += look() == INCIDENT_UPDATED;
		}
		assert_int_equal(updates, 2);
		assert_int_equal(quiet_s(9), 0);
		assert_int_equal(look(), INCIDENT_ENDED);
		assert_int_equal(watch.now->end_ms - watch.now->start_ms, 62000);
	}
}

static void a_clock_that_is_set_starts_nothing(void **state)
{
	(void)state;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 200);
	now_ms -= 3600000;
	assert_int_equal(look(), INCIDENT_NOTHING);
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 200);
	now_ms += 7200000;
	assert_int_equal(look(), INCIDENT_STARTED);
	/* The first of them was two seconds ago, by the clock of now. */
	assert_int_equal(watch.now->start_ms, now_ms - 2000);
}

/* What an operator looks at first is not called dropped; what comes when he has seen
 * enough is. */
static void what_was_only_observed_is_told_apart(void **state)
{
	char text[INCIDENT_TEXT];

	(void)state;
	subject.observed = true;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	counts.withheld = 100;
	assert_int_equal(look(), INCIDENT_STARTED);
	assert_int_equal(watch.now->refused, 20100);
	assert_int_equal(watch.now->dropped, 0);
	assert_int_equal(watch.now->withheld, 0);
	assert_true(watch.now->observed);
	incident_text(watch.now, INCIDENT_STARTED, text);
	assert_non_null(strstr(text, " 0 dropped, 20100 would have been (getstatus; "));
	subject.observed = false;
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 300);
	counts.withheld = 7;
	look();
	assert_int_equal(watch.now->refused, 20400);
	assert_int_equal(watch.now->dropped, 300);
	assert_int_equal(watch.now->withheld, 7);
	assert_false(watch.now->observed);
}

/* A machine that slept: what came meanwhile came over all that time. */
static void a_long_gap_is_no_flood(void **state)
{
	(void)state;
	refuse(KIND_GETSTATUS, REASON_SOURCE_LIMIT, 500);
	wait_ms(59000);
	assert_int_equal(look(), INCIDENT_NOTHING);
}

static void counters_that_began_anew(void **state)
{
	static struct counters in[2], out[2];
	struct incident_counters before = { &in[0], &out[0] }, now = { &in[1], &out[1] };

	(void)state;
	in[0].by[KIND_GETSTATUS][REASON_SERVICE_LIMIT] = (struct counter){ 1000, 60000 };
	in[1].by[KIND_GETSTATUS][REASON_SERVICE_LIMIT] = (struct counter){ 7, 420 };
	in[0].by[KIND_RCON][REASON_SOURCE_LIMIT] = (struct counter){ 2, 120 };
	in[1].by[KIND_RCON][REASON_SOURCE_LIMIT] = (struct counter){ 5, 300 };
	in[1].by[KIND_NETCHAN][REASON_PLAYER] = (struct counter){ 11, 1100 };
	in[1].by[KIND_CONNECT][REASON_CHALLENGED] = (struct counter){ 17, 1700 };
	out[1].by[KIND_GETSTATUS][REASON_AMPLIFICATION] = (struct counter){ 3, 3000 };
	out[1].by[KIND_NETCHAN][REASON_PLAYER] = (struct counter){ 13, 13000 };
	incident_count(FAMILY_QUAKE3, &before, &now, &counts);
	assert_int_equal(counts.packets, 7 + 3 + 11 + 17);
	assert_int_equal(counts.bytes, 420 + 180 + 1100 + 1700);
	assert_int_equal(counts.asked, 17);
	assert_int_equal(counts.refused, 7 + 3);
	assert_int_equal(counts.withheld, 3);
	assert_int_equal(counts.guesses, 3);
	assert_int_equal(counts.kinds[KIND_GETSTATUS], 7 + 3);
	assert_int_equal(counts.reasons[REASON_PLAYER], 11);
	assert_int_equal(counts.reasons[REASON_AMPLIFICATION], 3);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_flood_is_told_of_after_its_first_second),
		T(it_is_over_after_ten_seconds_of_quiet),
		T(who_rests_now_and_then_is_one),
		T(a_second_one_has_another_id),
		T(it_is_told_of_twice_a_minute),
		T(a_slow_flood_is_seen_sooner_or_later),
		T(what_filled_the_bucket_is_part_of_it),
		T(guesses_of_passwords_are_rarer),
		T(answers_kept_back_are_reflection),
		T(who_is_asked_for_proof_counts),
		T(a_scan_is_the_machines),
		T(another_sort_is_told_of_while_one_lasts),
		T(the_next_attack_is_no_sort_of_the_last),
		T(what_ends_an_attack_begins_the_next),
		T(all_sorts_are_told),
		T(a_scan_is_none_of_a_service),
		T(a_popular_map_is_none),
		T(players_before_and_during),
		T(senders_tell_whether_they_lie),
		T(the_sketch_stays_useful_when_it_is_full),
		T(a_clock_that_is_set_changes_nothing),
		T(a_clock_that_is_set_starts_nothing),
		T(what_was_only_observed_is_told_apart),
		T(a_long_gap_is_no_flood),
		T(counters_that_began_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
