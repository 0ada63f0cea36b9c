// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_attack_command.c - what the command of `on-attack` is told by the incident
 * monitor: so many starts an hour, an end only after its start, and what is said where
 * events are not taken.
 */
#include "incident_monitor_support.h"

/* The command is told of thirty at once, and of their ends; then of one in two minutes.
 */
static void commands_are_bounded(void **state)
{
	char said[2048];

	(void)state;
	services(40);
	second();
	stderr_catch();
	for (size_t i = 0; i < 40; i++)
		flood(i, 1000);
	second();
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "30 attacks an hour are the most"));
	assert_null(strstr(strstr(said, "an hour") + 1, "an hour"));
	assert_int_equal(count(INCIDENT_STARTED, true), COMMAND_STARTS_HOUR);
	seconds(11);
	assert_int_equal(count(INCIDENT_ENDED, false), 40);
	assert_int_equal(count(INCIDENT_ENDED, true), COMMAND_STARTS_HOUR);
	seconds(120);
	flood(0, 1000);
	flood(1, 1000);
	second();
	assert_int_equal(count(INCIDENT_STARTED, true), COMMAND_STARTS_HOUR + 1);
	assert_int_equal(spool_untold, 10);
	/* One that lasts is told of when there is room again. */
	for (int i = 0; i < 160; i++) {
		flood(0, 1000);
		flood(1, 1000);
		second();
	}
	assert_int_equal(count(INCIDENT_STARTED, true), COMMAND_STARTS_HOUR + 2);
}

static void a_spool_that_is_full(void **state)
{
	char said[2048];

	(void)state;
	spool_says = -EDQUOT;
	stderr_catch();
	flood(0, 1000);
	second();
	spool_says = -ENOSPC;
	flood(1, 1000);
	second();
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'/bin/tell' is not told of attack "
				     "20261122T144503Z-0: 64 events wait in"));
	assert_non_null(strstr(said, "20261122T144504Z-1: cannot write to "
				     "'/run/quakeshield/on-attack': No space left"));
	assert_int_equal(count(INCIDENT_STARTED, false), 2);
}

/* An end that the spool does not take is put once there is room, and not twice. */
static void an_end_waits_for_room(void **state)
{
	char said[2048];

	(void)state;
	flood(0, 1000);
	flood(1, 1000);
	second();
	spool_says = -EDQUOT;
	stderr_catch();
	seconds(20);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'/bin/tell' is not told yet of the end of attack "
				     "20261122T144503Z-0: 64 events wait in"));
	assert_null(strstr(strstr(said, "Z-0:") + 1, "Z-0:")); /* once */
	assert_int_equal(count(INCIDENT_ENDED, true), 0);
	spool_says = 0;
	seconds(3);
	assert_int_equal(count(INCIDENT_ENDED, true), 2);
	assert_string_equal(first(INCIDENT_ENDED, true)->id, "20261122T144503Z-0");
}

/* The next event in the spool is @event of the attack @id. Return the one behind it. */
static size_t spooled_is(size_t from, enum incident_event event, const char *id)
{
	while (from < told_count && !told[from].spooled)
		from++;
	assert_true(from < told_count);
	assert_int_equal(told[from].event, event);
	assert_string_equal(told[from].id, id);
	return from + 1;
}

/* An attack begins and is told of; its end meets a spool that says @err. */
static void an_end_waits(int err)
{
	flood(0, 1000);
	second();
	spool_says = err;
	stderr_catch();
	seconds(20);
}

/* An end that waits is told before the start of the next attack, which waits for it. */
static void an_end_that_waits_goes_before_the_next_start(void **state)
{
	static const char old[] = "20261122T144503Z-0", new[] = "20261122T144524Z-0",
			  newest[] = "20261122T144545Z-0";
	size_t at = 0;
	char said[4096];

	(void)state;
	an_end_waits(-EDQUOT);
	/* There is room when the next one begins. */
	spool_says = 0;
	flood(0, 1000);
	second();
	at = spooled_is(at, INCIDENT_STARTED, old);
	at = spooled_is(at, INCIDENT_ENDED, old);
	at = spooled_is(at, INCIDENT_STARTED, new);
	/* There is room a while after it began. */
	spool_says = -EDQUOT;
	seconds(20);
	flood(0, 1000);
	second();
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, newest));
	spool_says = 0;
	for (int s = 0; s < 32; s++) {
		flood(0, 1000);
		second();
	}
	at = spooled_is(at, INCIDENT_ENDED, new);
	spooled_is(at, INCIDENT_STARTED, newest);
	assert_int_equal(spool_untold, 1);
}

/* The ends that wait when the daemon ends are put then, or lost with a message. */
static void ends_that_wait_at_the_stop(void **state)
{
	char said[2048];

	(void)state;
	an_end_waits(-ENOSPC);
	spool_says = 0;
	stop();
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	start();
	second();
	flood(0, 1000);
	second();
	spool_says = -ENOSPC;
	seconds(11);
	stop();
	stderr_release(said, sizeof(said));
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_non_null(strstr(said, "Z-0: the daemon ends"));
	assert_null(strstr(strstr(said, "daemon ends") + 1, "daemon ends")); /* once */
}

/* An end that is too large for any spool keeps no later attack from the command. */
static void an_end_that_is_too_large_is_given_up(void **state)
{
	char said[2048];

	(void)state;
	an_end_waits(-EMSGSIZE);
	spool_says = 0;
	flood(0, 1000);
	second();
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'/bin/tell' is not told of the end of attack "
				     "20261122T144503Z-0: it is too large for "));
	assert_int_equal(count(INCIDENT_STARTED, true), 2);
	assert_int_equal(count(INCIDENT_ENDED, true), 0);
}

/* The ends that wait when a reload removes the command are lost then, with a message. */
static void ends_that_wait_at_a_reload_without_command(void **state)
{
	char said[2048];

	(void)state;
	an_end_waits(-EDQUOT);
	config->on_attack[0] = 0;
	incident_monitor_reload(monitor_now, config);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'/bin/tell' is not told of the end of attack "
				     "20261122T144503Z-0: a reload has removed "
				     "on-attack\n"));
	/* A command of later knows nothing of that attack. */
	spool_says = 0;
	strcpy(config->on_attack, "/bin/other");
	incident_monitor_reload(monitor_now, config);
	second();
	stderr_catch();
	stop();
	stderr_release(said, sizeof(said));
	assert_string_equal(said, "");
	assert_int_equal(count(INCIDENT_ENDED, true), 0);
}

/* As many ends wait as the spool has room for; the oldest are given up first. */
static void ends_that_wait_are_bounded(void **state)
{
	static char said[65536];

	(void)state;
	services(90);
	second();
	stderr_catch();
	/* Ninety attacks that last, of which the command is told in three hours. */
	for (size_t half_hour = 0; half_hour < 9; half_hour++) {
		stats.time_ms += 1800000;
		stats.steady_ms += 1800000;
		for (size_t i = 0; i < 30 * (half_hour / 3 + 1); i++)
			flood(i, 10000);
		second();
	}
	spool_says = -EDQUOT;
	seconds(15);
	stderr_release(said, sizeof(said));
	assert_int_equal(count(INCIDENT_STARTED, true), 90);
	assert_int_equal(count(INCIDENT_ENDED, false), 90);
	assert_non_null(strstr(said, "-25: too many others wait"));
	assert_null(strstr(said, "-26: too many others wait"));
	spool_says = 0;
	second();
	assert_int_equal(count(INCIDENT_ENDED, true), COMMAND_ENDS);
}

/* A start that the spool does not take counts for nothing in the limit per hour. */
static void untold_starts_leave_room(void **state)
{
	char said[4096];

	(void)state;
	services(40);
	second();
	spool_says = -EDQUOT;
	stderr_catch();
	for (size_t i = 0; i < 10; i++)
		flood(i, 1000);
	second();
	spool_says = 0;
	for (size_t i = 10; i < 40; i++)
		flood(i, 1000);
	second();
	stderr_release(said, sizeof(said));
	assert_int_equal(count(INCIDENT_STARTED, true), COMMAND_STARTS_HOUR);
	assert_null(strstr(said, "an hour are the most"));
}

/* The command is told of an end only if it was told of the start. */
static void an_untold_start_has_no_end(void **state)
{
	char said[2048];

	(void)state;
	spool_says = -EDQUOT;
	stderr_catch();
	flood(0, 1000);
	second();
	stderr_release(said, sizeof(said));
	spool_says = 0;
	seconds(11);
	calm();
	/* There was no command when it began. */
	config->on_attack[0] = 0;
	incident_monitor_reload(monitor_now, config);
	flood(0, 1000);
	second();
	strcpy(config->on_attack, "/bin/tell");
	incident_monitor_reload(monitor_now, config);
	seconds(11);
	assert_int_equal(count(INCIDENT_STARTED, false), 2);
	assert_int_equal(count(INCIDENT_ENDED, false), 2);
	assert_int_equal(count(INCIDENT_STARTED, true), 0);
	assert_int_equal(count(INCIDENT_ENDED, true), 0);
	calm();
	flood(0, 1000);
	second();
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
	assert_int_equal(spool_untold, 1);
}

/* The next daemon tells of no end to a command that was not told of the start. */
static void an_untold_start_has_no_end_after_a_restart(void **state)
{
	char said[2048];

	(void)state;
	spool_says = -EDQUOT;
	stderr_catch();
	flood(0, 1000);
	flood(1, 1000);
	second();
	stderr_release(said, sizeof(said));
	spool_says = 0;
	kill_and_start(4000);
	/* One that lasts is told of as a start, and has an end then. */
	for (int s = 0; s < 32; s++) {
		flood(1, 1000);
		second();
	}
	seconds(11);
	assert_int_equal(count(INCIDENT_ENDED, false), 2);
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	assert_string_equal(first(INCIDENT_STARTED, true)->id, "20261122T144503Z-1");
	assert_string_equal(first(INCIDENT_ENDED, true)->id, "20261122T144503Z-1");
}

static void nobody_takes_it(void **state)
{
	char said[2048];

	(void)state;
	stale = true;
	stderr_catch();
	seconds(3);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "Is quakeshield-attack.path enabled?"));
	assert_null(strstr(strstr(said, "enabled?") + 1, "enabled?")); /* once */
}

static void without_systemd_nothing_is_put(void **state)
{
	char said[2048];

	(void)state;
	stop();
	booted = 0;
	stderr_catch();
	start();
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'/bin/tell' is not run"));
	second();
	flood(0, 1000);
	second();
	assert_int_equal(count(INCIDENT_STARTED, false), 1);
	assert_int_equal(count(INCIDENT_STARTED, true), 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(commands_are_bounded),
		T(a_spool_that_is_full),
		T(an_end_waits_for_room),
		T(an_end_that_waits_goes_before_the_next_start),
		T(ends_that_wait_at_the_stop),
		T(an_end_that_is_too_large_is_given_up),
		T(ends_that_wait_at_a_reload_without_command),
		T(ends_that_wait_are_bounded),
		T(untold_starts_leave_room),
		T(an_untold_start_has_no_end),
		T(an_untold_start_has_no_end_after_a_restart),
		T(nobody_takes_it),
		T(without_systemd_nothing_is_put),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
