// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_incident_monitor.c - from counters to who is told of attacks: one or all services
 * at once, a configuration that changes meanwhile, a daemon that is killed, disks and
 * commands that fail.
 */
#include <sys/stat.h>

#include "incident_monitor_support.h"

/* --- one attack, and many
 * ---------------------------------------------------------------
 */

static void two_services_in_one_second(void **state)
{
	size_t all;

	(void)state;
	flood(0, 20000);
	flood(1, 500);
	second();
	assert_int_equal(count(INCIDENT_STARTED, false), 2);
	assert_int_equal(count(INCIDENT_STARTED, true), 2);
	assert_string_equal(told[0].id, "20261122T144503Z-0");
	assert_string_equal(told[2].id, "20261122T144503Z-1");
	for (int s = 0; s < 31; s++) {
		flood(0, 20000);
		second();
	}
	/* The short one is over, of the long one an update was told; not to the command.
	 */
	assert_int_equal(count(INCIDENT_ENDED, false), 1);
	assert_int_equal(count(INCIDENT_UPDATED, false), 1);
	assert_int_equal(kept_lasting(&all), 1);
	assert_int_equal(all, 2);
	seconds(10);
	assert_int_equal(count(INCIDENT_ENDED, false), 2);
	assert_int_equal(count(INCIDENT_ENDED, true), 2);
	assert_int_equal(kept_lasting(&all), 0);
}

static void every_service_at_once(void **state)
{
	char captures[INCIDENT_PATH];
	size_t all;

	(void)state;
	services(SERVICES_MAX);
	seconds(2);
	for (size_t i = 0; i < SERVICES_MAX; i++)
		flood(i, 1000);
	second();
	assert_int_equal(count(INCIDENT_STARTED, false), SERVICES_MAX);
	assert_int_equal(kept_lasting(&all), SERVICES_MAX);
	seconds(10);
	assert_int_equal(count(INCIDENT_ENDED, false), SERVICES_MAX);
	assert_int_equal(kept_lasting(&all), 0);
	assert_int_equal(all, SERVICES_MAX);
	/* As many captures as may run; the others say that they have none. */
	incident_path(NULL, "captures", captures);
	all = 0;
	for (size_t i = 0; i < told_count; i++)
		all += told[i].event == INCIDENT_STARTED && told[i].capture[0];
	assert_int_equal(all, SAMPLES_CAPTURES);
}

/* Remember a packet of the first service, so that its captures have one. */
static void sampled(void)
{
	static const __u8 frame[60];
	struct sample sample = { .length = sizeof(frame), .kept = sizeof(frame) };

	samples_ring_add(ring, &sample, frame, 0, &stats.services[0].service);
}

/* An attack that no sample is of leaves no file, and its end names none. */
static void a_capture_without_a_packet_is_removed(void **state)
{
	char path[INCIDENT_PATH];

	(void)state;
	/* Each event is told to the journal, then to the spool. */
	for (int i = 0; i < 2; i++) {
		flood(0, 1000);
		second();
		strcpy(path, told[told_count - 2].capture);
		assert_int_equal(access(path, F_OK), 0);
		seconds(10);
		assert_int_equal(told[told_count - 2].event, INCIDENT_ENDED);
		assert_string_equal(told[told_count - 2].capture, i ? path : "");
		assert_int_equal(access(path, F_OK), i ? 0 : -1);
		calm();
		sampled();
	}
}

static void captures_are_swept(void **state)
{
	struct dirent **entries;
	char captures[INCIDENT_PATH];
	int n;

	(void)state;
	sampled();
	for (int i = 0; i < CAPTURES_MAX + 5; i++) {
		flood(0, 1000);
		second();
		seconds(10);
		calm();
	}
	incident_path(NULL, "captures", captures);
	n = scandir(captures, &entries, NULL, alphasort);
	assert_int_equal(n, 2 + CAPTURES_MAX);
	/* The first are gone, the last is there. */
	assert_string_equal(entries[2]->d_name, "20261122T162603Z-0.pcapng");
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

/* Captures of a moment push out no larger one, however many there are. */
static void large_captures_stay(void **state)
{
	char captures[INCIDENT_PATH], path[INCIDENT_PATH + 32];
	FILE *file;

	(void)state;
	incident_path(NULL, "captures", captures);
	mkdir(captures, 0700);
	snprintf(path, sizeof(path), "%s/20200101T000000Z-0.pcapng", captures);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%4096s", "the capture of a real attack");
	fclose(file);
	sampled();
	for (int i = 0; i < CAPTURES_MAX + 5; i++) {
		flood(0, 1000);
		second();
		seconds(10);
		calm();
	}
	assert_int_equal(access(path, F_OK), 0);
}

/* Floods that pause on purpose: one attack with pauses, not one for each. */
static void pauses_end_no_attack(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		flood(0, 1000);
		second();
		seconds(12);
	}
	assert_true(count(INCIDENT_STARTED, true) <= 2);
	/* Whoever waits for each end gets six an hour. */
	told_count = 0;
	for (int i = 0; i < 60; i++) {
		flood(0, 1000);
		second();
		seconds(60);
	}
	assert_true(count(INCIDENT_STARTED, true) <= 6);
}

/* A large flood is not hidden by a small one that has paused: it is an attack of its own.
 */
static void a_pause_hides_no_attack(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		flood(0, 1000);
		second();
		seconds(12);
	}
	told_count = 0;
	seconds(20);
	for (int i = 0; i < 5; i++) {
		flood(0, 500000);
		second();
	}
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
}

static void the_same_reading_twice_is_one(void **state)
{
	(void)state;
	flood(0, 200);
	second();
	tick(tick_context); /* the machine is busy: nothing new was read */
	tick(tick_context);
	flood(0, 200);
	second();
	assert_int_equal(count(INCIDENT_STARTED, false), 1);
	assert_string_equal(told[0].id, "20261122T144503Z-0");
}

/* --- services that come and go
 * ---------------------------------------------------------- */

static void a_service_that_goes_takes_its_attack_along(void **state)
{
	size_t all;

	(void)state;
	flood(1, 1000);
	second();
	stats.service_count = 1; /* reload */
	second();
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_int_equal(kept_lasting(&all), 0);
	stats.service_count = 2;
	strcpy(stats.services[1].service.name, "other");
	memset(&stats.services[1].in, 0, sizeof(stats.services[1].in));
	second();
	flood(1, 1000);
	second();
	assert_string_equal(told[told_count - 2].service, "other");
}

/* --- scans
 * ------------------------------------------------------------------------------- */

static void a_scan_is_the_machines(void **state)
{
	(void)state;
	for (int s = 0; s < 3; s++) {
		closed += 400;
		answer(0);
		answer(1);
		second();
	}
	assert_int_equal(count(INCIDENT_STARTED, false), 1);
	assert_string_equal(told[0].service, "");
}

/* Its players go on sending to a port that is shut. */
static void a_server_that_dies_is_no_scan(void **state)
{
	(void)state;
	for (int s = 0; s < 5; s++) {
		struct counter *moves =
			&stats.services[1].in.by[KIND_NETCHAN][REASON_PLAYER];

		moves->packets += 400;
		if (s)
			closed += 400;
		answer(0);
		second();
	}
	assert_int_equal(told_count, 0);
}

/* The shield still challenges, and serves from the cache, for a server that has died. */
static void the_shields_responses_are_not_the_servers(void **state)
{
	struct counters *in = &stats.services[1].in, *out = &stats.services[1].out;

	(void)state;
	for (int s = 0; s < 5; s++) {
		in->by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets += 400;
		out->by[KIND_CHALLENGE][REASON_CHALLENGED].packets += 50;
		out->by[KIND_STATUSRESPONSE][REASON_CACHED_RESPONSE].packets += 50;
		if (s)
			closed += 400;
		answer(0);
		second();
	}
	assert_int_equal(told_count, 0);
	/* Requests with a response of the shield found no port, and hide no scan. */
	for (int s = 0; s < 3; s++) {
		in->by[KIND_GETCHALLENGE][REASON_CHALLENGED].packets += 5;
		in->by[KIND_GETSTATUS][REASON_CACHED_KNOWN].packets += 1000;
		closed += 400;
		answer(0);
		second();
	}
	assert_int_equal(count(INCIDENT_STARTED, false), 1);
	assert_string_equal(told[0].service, "");
}

/* --- restarts
 * ---------------------------------------------------------------------------- */

static void goes_on(size_t service, const char *id)
{
	size_t all;

	sample_refused((__u32)service, 1);
	flood(service, 1000);
	second();
	kill_and_start(4000);
	assert_int_equal(told_count, 0);
	second();
	flood(service, 1000);
	second();
	assert_int_equal(told_count, 0);
	seconds(10);
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_string_equal(first(INCIDENT_ENDED, true)->id, id);
	/* Who was told to `ban` an address is told to `unban` the same. */
	assert_string_equal(first(INCIDENT_ENDED, true)->target, "10.77.0.2");
	assert_int_equal(kept_lasting(&all), 0);
	assert_int_equal(all, 1);
}

static void the_next_daemon_goes_on(void **state)
{
	(void)state;
	goes_on(0, "20261122T144503Z-0");
}

static void also_with_the_last_service(void **state)
{
	(void)state;
	goes_on(1, "20261122T144503Z-1");
}

/* An hour later that attack is over, whatever comes now is another. */
static void long_after_it_is_another(void **state)
{
	size_t all;

	(void)state;
	flood(0, 1000);
	second();
	kill_and_start(3600000);
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_int_equal(kept_lasting(&all), 0);
	second();
	flood(0, 1000);
	second();
	assert_string_equal(first(INCIDENT_STARTED, true)->id, "20261122T154505Z-0");
	assert_int_equal(kept_lasting(&all), 1);
	assert_int_equal(all, 2);
}

static void a_service_that_went_meanwhile(void **state)
{
	size_t all;

	(void)state;
	flood(1, 1000);
	second();
	stats.service_count = 1;
	kill_and_start(2000);
	assert_int_equal(count(INCIDENT_ENDED, false), 1);
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_int_equal(kept_lasting(&all), 0);
}

/* A disk that was full when the first ended: one service has one attack at a time. */
static void of_two_the_later_goes_on(void **state)
{
	static const char *const lines =
		"{\"id\":\"a-0\",\"event\":\"start\",\"service\":\"s0\",\"type\":\"flood\","
		"\"start\":\"2026-11-22T14:40:00.000Z\",\"end\":null,\"duration_s\":3}\n"
		"{\"id\":\"b-0\",\"event\":\"start\",\"service\":\"s0\",\"type\":\"flood\","
		"\"start\":\"2026-11-22T14:44:00.000Z\",\"end\":null,\"duration_s\":3}\n";
	char path[INCIDENT_PATH];
	FILE *file;
	size_t all;

	(void)state;
	stop();
	incident_path(NULL, "attacks.jsonl", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
	start();
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_string_equal(first(INCIDENT_ENDED, true)->id, "a-0");
	assert_int_equal(kept_lasting(&all), 1);
	seconds(12);
	assert_int_equal(kept_lasting(&all), 0);
	assert_int_equal(all, 2);
}

static void the_end_of_the_daemon_is_not_the_attacks(void **state)
{
	size_t all;

	(void)state;
	flood(0, 1000);
	second();
	stop();
	assert_int_equal(count(INCIDENT_ENDED, false), 0);
	assert_int_equal(count(INCIDENT_UPDATED, false), 1);
	assert_int_equal(kept_lasting(&all), 1);
}

/* --- what fails
 * ---------------------------------------------------------------------------
 */

/* Nobody can write: it is said once, and everybody else is told. */
static void a_disk_that_cannot_be_written(void **state)
{
	char said[2048];

	(void)state;
	stop();
	setenv("STATE_DIRECTORY", "/dev/null/none", 1);
	stderr_catch();
	start();
	second();
	flood(0, 1000);
	second();
	seconds(10);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "attacks are not kept"));
	assert_null(strstr(strstr(said, "not kept") + 1, "cannot"
							 " keep"));
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
}

/* The daemon retries saving by the steady clock, because the wall clock can be set. */
static void a_clock_set_back_delays_no_saving(void **state)
{
	char store[INCIDENT_PATH], said[2048];
	size_t all;

	(void)state;
	incident_path(NULL, "attacks.jsonl", store);
	assert_int_equal(mkdir(store, 0700), 0);
	stderr_catch();
	flood(0, 1000);
	seconds(80);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "cannot keep incidents"));
	assert_int_equal(now_unsaved, 1);
	assert_int_equal(rmdir(store), 0);
	stats.time_ms -= 86400000;
	seconds(60);
	assert_int_equal(now_unsaved, 0);
	assert_int_equal(kept_lasting(&all), 0);
	assert_int_equal(all, 1);
}

/* Nothing can be read at the start: that is said, and nothing is left behind. */
static void without_counters_there_is_none(void **state)
{
	struct incident_monitor *none = NULL;
	char said[2048];

	(void)state;
	stats_none = true;
	stderr_catch();
	assert_int_equal(incident_monitor_start(SHIELD, (struct stats_cache *)&stats,
						(struct samples_view *)&ring, config,
						NULL, &none),
			 -ENOMEM);
	stderr_release(said, sizeof(said));
	stats_none = false;
	assert_null(none);
	assert_non_null(strstr(said, "cannot look out for attacks"));
}

static void a_page_gets_the_last_twenty(void **state)
{
	json_t *object, *past;
	char *text;
	size_t size;
	FILE *out;

	(void)state;
	for (int i = 0; i < INCIDENTS_LISTED + 3; i++) {
		flood(0, 1000);
		second();
		seconds(10);
		calm();
	}
	out = open_memstream(&text, &size);
	assert_int_equal(incident_monitor_json(monitor_now, out), 0);
	fclose(out);
	object = json_loads(text, 0, NULL);
	past = json_object_get(object, "past");
	assert_int_equal(json_array_size(past), INCIDENTS_LISTED);
	json_decref(object);
	free(text);
	out = fopen("/dev/full", "w");
	assert_non_null(out);
	assert_int_equal(incident_monitor_json(monitor_now, out), -EIO);
	fclose(out);
}

/* The daemon reads the refused sources of a service that refused something in this look
 * or in the one before. The event of a start already names them. */
static void a_start_names_its_sources(void **state)
{
	const struct incident_watch *w = incident_monitor_watches(monitor_now);
	struct drop_sources_row rows[1];
	__u32 reads = refuses.reads;

	(void)state;
	second();
	assert_int_equal(refuses.reads, reads);
	refuses.slot = 1;
	refuses.from = (struct refused_source){ .net = 0xc0000207, .weight = 5 };
	flood(1, 200);
	second();
	assert_int_equal(refuses.reads, reads + 1);
	second();
	assert_int_equal(refuses.reads, reads + 2);
	second();
	assert_int_equal(refuses.reads, reads + 2);
	flood(1, 200);
	second();
	flood(1, 200);
	second();
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
	assert_non_null(w[1].now);
	assert_null(w[0].now);
	assert_int_equal(drop_sources_sure(&w[1].now->sources.by[CLASS_RCON].addresses,
					   rows, 1),
			 1);
	assert_int_equal(rows[0].prefix.addr[3], __builtin_bswap32(0xc0000207));
	assert_int_equal(rows[0].count, 20 * REFUSED_EVERY);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(two_services_in_one_second),
		T(every_service_at_once),
		T(a_capture_without_a_packet_is_removed),
		T(captures_are_swept),
		T(large_captures_stay),
		T(pauses_end_no_attack),
		T(a_pause_hides_no_attack),
		T(the_same_reading_twice_is_one),
		T(a_service_that_goes_takes_its_attack_along),
		T(a_scan_is_the_machines),
		T(a_server_that_dies_is_no_scan),
		T(the_shields_responses_are_not_the_servers),
		T(the_next_daemon_goes_on),
		T(also_with_the_last_service),
		T(long_after_it_is_another),
		T(a_service_that_went_meanwhile),
		T(of_two_the_later_goes_on),
		T(the_end_of_the_daemon_is_not_the_attacks),
		T(a_disk_that_cannot_be_written),
		T(a_clock_set_back_delays_no_saving),
		T(without_counters_there_is_none),
		T(a_page_gets_the_last_twenty),
		T(a_start_names_its_sources),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
