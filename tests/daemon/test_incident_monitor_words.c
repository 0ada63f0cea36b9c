// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_incident_monitor_words.c - all that the incident monitor says on stderr, word by
 * word: what cannot be kept, shown or handed on, when it is said again, and which command
 * is run for whom.
 */
#include <sys/stat.h>

#include "incident_monitor_support.h"

#define ME   "quakeshield: "
#define WARN ME "warning: "

static char said[4096];

/* What is said between the two is exactly that. */
#define SAYS(what, words)                           \
	do {                                        \
		stderr_catch();                     \
		what;                               \
		stderr_release(said, sizeof(said)); \
		assert_string_equal(said, words);   \
	} while (0)

/* An attack of a second, and what comes after it. */
static void attack(void)
{
	flood(0, 1000);
	second();
	seconds(10);
	calm();
}

static void reload(const char *command)
{
	strcpy(config->on_attack, command);
	incident_monitor_reload(monitor_now, config);
}

/* The command of the configuration that is in force, and of no other. */
static void whose_command_is_run(void **state)
{
	(void)state;
	SAYS(reload(""), "");
	attack();
	assert_int_equal(count(INCIDENT_STARTED, true), 0);
	SAYS(reload("/bin/other x"), "");
	attack();
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
	assert_int_equal(count(INCIDENT_ENDED, true), 1);
	booted = 0;
	SAYS(reload("/bin/other x"),
	     WARN "on-attack '/bin/other x' is not run: this machine was not started by "
		  "systemd, which runs it in a unit of its own\n");
	attack();
	assert_int_equal(count(INCIDENT_STARTED, true), 1);
	booted = -5;
	SAYS(reload("/bin/a"),
	     WARN "on-attack '/bin/a' is not run: this machine was not started by "
		  "systemd, which runs it in a unit of its own\n");
	/* Not of another shield than the machine's. */
	stop();
	booted = 1;
	strcpy(config->on_attack, "/bin/tell");
	SAYS(start_of("/sys/fs/bpf/x"),
	     WARN "on-attack '/bin/tell' is not run: not for a shield of --pin, only for "
		  "the machine's\n");
	told_count = 0;
	seconds(2);
	attack();
	assert_int_equal(count(INCIDENT_STARTED, false), 1);
	assert_int_equal(count(INCIDENT_STARTED, true), 0);
	SAYS(reload(""), "");
	stop();
	strcpy(config->on_attack, "/bin/tell");
	SAYS(start_of(""), "");
}

/* Nobody takes it: said once, and once more if it was taken meanwhile. */
static void a_command_that_nobody_runs(void **state)
{
#define STALE                                     \
	WARN "'/bin/tell' is not run: events in " \
	     "'/run/quakeshield/on-attack' are not taken. Is quakeshield-attack.path enabled?\n"
	(void)state;
	stale = true;
	SAYS(seconds(3), STALE);
	stale = false;
	SAYS(second(), "");
	stale = true;
	SAYS(second(), STALE);
	SAYS(reload(""), "");
	SAYS(seconds(2), "");
	spool_says = -EDQUOT;
	SAYS(attack(), "");
	SAYS(reload("/bin/tell"), "");
	SAYS(second(), STALE);
	SAYS(attack(),
	     ME "'/bin/tell' is not told of attack 20261122T150523Z-0: 64 events wait in "
		"'/run/quakeshield/on-attack' already, and are not taken\n");
	spool_says = -EROFS;
	SAYS(attack(),
	     ME "'/bin/tell' is not told of attack 20261122T152535Z-0: cannot write to "
		"'/run/quakeshield/on-attack': Read-only file system\n");
}

/* As many attacks are on the disk, each of them over. */
static void written(const char *store, size_t count)
{
	json_t *all = incident_store_read(store, NULL), *one;
	size_t i;

	assert_int_equal(json_array_size(all), count);
	json_array_foreach (all, i, one) {
		assert_non_null(json_object_get(one, "end"));
	}
	json_decref(all);
}

/* A disk that fails is told of once, and again when it worked in between. */
static void what_cannot_be_kept(void **state)
{
	char store[INCIDENT_PATH], aside[INCIDENT_PATH + 8], kept_in[INCIDENT_PATH + 64];

	(void)state;
	incident_path(NULL, "attacks.jsonl", store);
	snprintf(aside, sizeof(aside), "%s.aside", store);
	snprintf(kept_in, sizeof(kept_in),
		 ME "cannot keep incidents in '%s': Is a directory\n", store);
	attack();
	assert_int_equal(now_unsaved, 0);
	assert_int_equal(rename(store, aside), 0);
	assert_int_equal(mkdir(store, 0700), 0);
	SAYS(attack(), kept_in);
	assert_int_equal(now_unsaved, 1);
	SAYS(attack(), "");
	assert_int_equal(now_unsaved, 2);
	assert_int_equal(rmdir(store), 0);
	/* All that was not written is, before what is new. */
	SAYS(attack(), "");
	assert_int_equal(now_unsaved, 0);
	written(store, 3);
	assert_int_equal(unlink(store), 0);
	assert_int_equal(mkdir(store, 0700), 0);
	SAYS(attack(), kept_in);
	assert_int_equal(now_unsaved, 1);
	/* Without another attack it is tried again each minute. */
	assert_int_equal(rmdir(store), 0);
	SAYS(seconds(61), "");
	assert_int_equal(now_unsaved, 0);
	written(store, 1);
	/* Of many the newest twenty are kept. */
	assert_int_equal(unlink(store), 0);
	assert_int_equal(mkdir(store, 0700), 0);
	for (int i = 0; i < 22; i++)
		attack();
	assert_int_equal(now_unsaved, 20);
	assert_int_equal(rmdir(store), 0);
}

static void what_cannot_be_shown(void **state)
{
	char path[INCIDENT_PATH], words[INCIDENT_PATH + 64];
	FILE *file;

	(void)state;
	incident_now_path(NULL, path);
	snprintf(words, sizeof(words), ME "cannot write '%s': No space left on device\n",
		 path);
	now_says = -ENOSPC;
	SAYS(seconds(3), words);
	assert_int_equal(now_written_ms, stats.time_ms);
	now_says = 0;
	SAYS(second(), "");
	/* What `top` would read ends with the daemon. */
	file = fopen(path, "we");
	assert_non_null(file);
	fclose(file);
	stop();
	assert_int_equal(access(path, F_OK), -1);
}

static void what_cannot_be_begun(void **state)
{
	(void)state;
	stop();
	setenv("STATE_DIRECTORY", "/dev/null/none", 1);
	SAYS(start(), WARN "attacks are not kept: cannot make the directory of "
			   "'/dev/null/none/attacks.jsonl': Not a directory\n");
	SAYS(attack(), "");
}

/* An attack would leave a file without a packet. */
static void without_samples_there_is_no_capture(void **state)
{
	char captures[INCIDENT_PATH];

	(void)state;
	stop();
	config->sample_every = 0;
	start();
	seconds(2);
	flood(0, 1000);
	second();
	assert_int_equal(count(INCIDENT_STARTED, false), 1);
	assert_string_equal(first(INCIDENT_STARTED, false)->capture, "");
	incident_path(NULL, "captures", captures);
	assert_int_not_equal(access(captures, F_OK), 0);
	config->follow_first = 1;
	incident_monitor_reload(monitor_now, config);
	flood(1, 1000);
	second();
	assert_int_equal(access(captures, F_OK), 0);
	config->follow_first = 0;
}

/* A directory so long that there can be no file in it, or no capture. */
static void what_has_too_long_a_name(void **state)
{
	char deep[600], *end = deep + sprintf(deep, "%s", root);
	size_t most = INCIDENT_PATH - strlen("/captures/.pcapng") - INCIDENT_ID;

#define TOO_LONG "not kept: the path would be too long (STATE_DIRECTORY, --pin)\n"
	(void)state;
	while ((size_t)(end - deep) < most) {
		size_t left = most - (size_t)(end - deep) - 1;

		end += sprintf(end, "/%0*d", (int)(left > 200 ? 199 : left), 0);
		assert_int_equal(mkdir(deep, 0700), 0);
	}
	stop();
	setenv("STATE_DIRECTORY", deep, 1);
	SAYS(start(), "");
	seconds(2);
	told_count = 0;
	SAYS(attack(), "");
	assert_string_not_equal(first(INCIDENT_STARTED, false)->capture, "");
	stop();
	strcpy(end, "x");
	assert_int_equal(mkdir(deep, 0700), 0);
	setenv("STATE_DIRECTORY", deep, 1);
	SAYS(start(), WARN "captures of attacks are " TOO_LONG);
	seconds(2);
	told_count = 0;
	SAYS(attack(), "");
	assert_string_equal(first(INCIDENT_STARTED, false)->capture, "");
	stop();
	memset(end, 'x', 60);
	end[60] = 0;
	setenv("STATE_DIRECTORY", deep, 1);
	SAYS(start(),
	     WARN "attacks are " TOO_LONG WARN "captures of attacks are " TOO_LONG);
	seconds(2);
	told_count = 0;
	SAYS(attack(), "");
	assert_string_equal(first(INCIDENT_STARTED, false)->capture, "");
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(whose_command_is_run),
		T(a_command_that_nobody_runs),
		T(what_cannot_be_kept),
		T(what_cannot_be_shown),
		T(what_cannot_be_begun),
		T(what_has_too_long_a_name),
		T(without_samples_there_is_no_capture),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
