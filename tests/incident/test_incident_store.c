// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_incident_store.c - incidents as JSON and back, and on a disk that is torn, full of
 * other things, or full.
 */
#include "incident_support.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "incident/incident_json.h"
#include "incident/incident_now.h"
#include "incident/incident_store.h"
#include "lib/old_names.h"

static char directory[] = "/tmp/test_incident_store.XXXXXX";
static char path[INCIDENT_PATH];

static int make_directory(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("STATE_DIRECTORY", directory, 1);
	incident_path(NULL, "attacks.jsonl", path);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static int begin_clean(void **state)
{
	unlink(path);
	return begin(state);
}

static void flood(void)
{
	counts.players = 9;
	look();
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	refuse(KIND_GETINFO, REASON_SOURCE_LIMIT, 30000);
	pass(REASON_PLAYER, 640);
	assert_int_equal(look(), INCIDENT_STARTED);
}

static void as_json_and_back(void **state)
{
	char id[INCIDENT_ID + 2];
	struct incident *again;
	json_t *object;
	const char *key;

	(void)state;
	flood();
	watch.now->dropped -= 7; /* somebody looked on at first */
	watch.now->sources.target = (struct record_address){
		.length = 16, .bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 }, .port = 27960
	};
	watch.now->start_ms += 345;
	object = incident_json(watch.now, INCIDENT_STARTED, "/var/x.pcapng");
	assert_non_null(object);
	assert_int_equal(json_integer_value(json_object_get(object, "dropped")), 49993);
	assert_int_equal(json_integer_value(json_object_get(object, "observed_only")), 7);
	key = json_object_iter_key(json_object_iter(json_object_get(object, "kinds")));
	assert_string_equal(key, "getinfo"); /* most first */
	assert_true(json_is_null(json_object_get(object, "end")));
	assert_string_equal(json_string_value(json_object_get(object, "start")),
			    "2026-11-22T14:45:03.345Z");
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(object, "not_dropped"), "player")),
			 640);
	again = incident_parse(object);
	assert_non_null(again);
	assert_string_equal(again->id, watch.now->id);
	assert_string_equal(again->service, "ffa");
	assert_int_equal(again->family, FAMILY_QUAKE3);
	assert_int_equal(again->start_ms, watch.now->start_ms);
	assert_int_equal(again->refused, 50000);
	assert_int_equal(again->dropped, 49993);
	assert_int_equal(again->sources.target.length, 16);
	assert_int_equal(again->sources.target.port, 27960);
	assert_memory_equal(again->sources.target.bytes, watch.now->sources.target.bytes,
			    16);
	assert_int_equal(again->kinds[KIND_GETINFO], 30000);
	assert_int_equal(again->reasons[REASON_SOURCE_LIMIT], 30000);
	assert_int_equal(again->reasons[REASON_PLAYER], 640);
	assert_int_equal(again->players_before, 9);
	assert_true(again->peak_pps == watch.now->peak_pps);
	free(again);
	/* Nothing that lasts as long as that, or came as fast, was ever counted. */
	json_object_set_new(object, "duration_s", json_real(1e300));
	json_object_set_new(json_object_get(object, "peak"), "packets_per_s",
			    json_real(-1e300));
	again = incident_parse(object);
	assert_non_null(again);
	assert_true(again->last_ms == again->start_ms);
	assert_true(again->peak_pps == 0);
	free(again);
	json_object_set_new(object, "end", json_string("2026-11-22T15:00:00.000Z"));
	assert_null(incident_parse(object)); /* it is over: nobody goes on with it */
	json_object_set_new(object, "end", json_null());
	json_object_set_new(object, "id", json_string("../../etc/passwd"));
	assert_null(incident_parse(object));
	/* The longest id there is room for, and one octet more. */
	memset(id, 'x', sizeof(id) - 1);
	for (size_t n = INCIDENT_ID; n >= INCIDENT_ID - 1; n--) {
		id[n] = 0;
		json_object_set_new(object, "id", json_string(id));
		again = incident_parse(object);
		assert_int_equal(again != NULL, n < INCIDENT_ID);
		free(again);
	}
	json_decref(object);
}

/* It was killed, and goes on: the same id, and the figures of before are not lost. */
static void the_next_daemon_goes_on(void **state)
{
	struct incident *again;
	json_t *object;
	char id[INCIDENT_ID];

	flood();
	strcpy(id, watch.now->id);
	object = incident_json(watch.now, INCIDENT_STARTED, NULL);
	again = incident_parse(object);
	json_decref(object);
	begin(state);
	incident_adopt(&watch, again, now());
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	assert_int_equal(look(), INCIDENT_NOTHING);
	assert_string_equal(watch.now->id, id);
	assert_int_equal(watch.now->refused, 70000);
	assert_int_equal(quiet_s(9), 0);
	assert_int_equal(look(), INCIDENT_ENDED);
}

/* And tells of it as often: the clock of before is not the one of now. */
static void the_next_daemon_tells_of_it(void **state)
{
	struct incident *again;
	json_t *object;
	int updates = 0;

	flood();
	object = incident_json(watch.now, INCIDENT_STARTED, NULL);
	again = incident_parse(object);
	json_decref(object);
	begin(state);
	incident_adopt(&watch, again, now());
	for (int s = 0; s < 61; s++) {
		refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 1000);
		updates += look() == INCIDENT_UPDATED;
	}
	assert_int_equal(updates, 2);
}

/* Nobody goes on with what was yesterday, unless it is the clock that went back. */
static void a_past_one_is_not_gone_on_with(void **state)
{
	(void)state;
	flood();
	assert_false(incident_is_past(watch.now, now_ms + INCIDENT_ADOPT_MS));
	assert_true(incident_is_past(watch.now, now_ms + INCIDENT_ADOPT_MS + 1));
	assert_false(incident_is_past(watch.now, now_ms - 400ll * 86400000));
}

/* A machine without a battery for its clock starts in 1970: what lasted, lasts. */
static void the_next_daemon_has_another_clock(void **state)
{
	struct incident *again;
	json_t *object;

	flood();
	object = incident_json(watch.now, INCIDENT_UPDATED, NULL);
	again = incident_parse(object);
	json_decref(object);
	begin(state);
	now_ms = 5000;
	incident_adopt(&watch, again, now());
	refuse(KIND_GETSTATUS, REASON_SERVICE_LIMIT, 20000);
	look();
	assert_int_equal(watch.now->last_ms - watch.now->start_ms, 2000);
	assert_int_equal(quiet_s(9), 0);
	assert_int_equal(look(), INCIDENT_ENDED);
	assert_int_equal(watch.now->end_ms - watch.now->start_ms, 2000);
}

static void put(const char *id, const char *event)
{
	json_t *object = json_pack("{s:s, s:s}", "id", id, "event", event);

	assert_int_equal(incident_store_add(path, object), 0);
	json_decref(object);
}

static void raw(const char *text)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect(size_t at, const json_t *all, const char *id, const char *event)
{
	const json_t *one = json_array_get(all, at);

	assert_string_equal(json_string_value(json_object_get(one, "id")), id);
	assert_string_equal(json_string_value(json_object_get(one, "event")), event);
}

static void the_last_line_counts(void **state)
{
	json_t *all;
	int err;

	(void)state;
	all = incident_store_read(path, &err);
	assert_int_equal(json_array_size(all), 0); /* no file is no attack */
	assert_int_equal(err, 0);
	json_decref(all);
	put("a", "start");
	put("b", "start");
	put("a", "end");
	all = incident_store_read(path, &err);
	assert_int_equal(json_array_size(all), 2);
	expect(0, all, "a", "end");
	expect(1, all, "b", "start");
	json_decref(all);
}

static void torn_lines_and_strange_ones(void **state)
{
	json_t *all;

	(void)state;
	put("a", "start");
	raw("not json\n[1]\n{\"no\":\"id\"}\n{\"id\":7}\n{\"id\":\"b\",\"ev");
	put("c", "start"); /* on a line of its own */
	for (int i = 0; i < 3 * INCIDENT_LINE; i++)
		raw("x");
	put("d", "start");
	all = incident_store_read(path, NULL);
	assert_int_equal(json_array_size(all), 3);
	expect(0, all, "a", "start");
	expect(1, all, "c", "start");
	expect(2, all, "d", "start");
	json_decref(all);
}

static void it_stays_within_its_bounds(void **state)
{
	char id[32], padding[4000];
	struct stat st;
	json_t *all;

	(void)state;
	memset(padding, 'x', sizeof(padding) - 1);
	padding[sizeof(padding) - 1] = 0;
	for (int i = 0; i < 2500; i++) {
		json_t *object;

		snprintf(id, sizeof(id), "%06d", i);
		object = json_pack("{s:s, s:s}", "id", id, "event", padding);
		assert_int_equal(incident_store_add(path, object), 0);
		json_decref(object);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size <= INCIDENT_BYTES);
	}
	all = incident_store_read(path, NULL);
	assert_in_range(json_array_size(all), INCIDENT_KEPT / 2, INCIDENT_KEPT);
	expect(json_array_size(all) - 1, all, "002499", padding);
	json_decref(all);
}

/* Of many short ones the newest, however small the file is. */
static void so_many_are_shown(void **state)
{
	char id[32];
	json_t *all;

	(void)state;
	for (int i = 0; i < INCIDENT_KEPT + 100; i++) {
		snprintf(id, sizeof(id), "%06d", i);
		put(id, "start");
	}
	all = incident_store_read(path, NULL);
	assert_int_equal(json_array_size(all), INCIDENT_KEPT);
	expect(0, all, "000100", "start");
	json_decref(all);
}

static void what_cannot_be_read_is_an_error(void **state)
{
	json_t *all;
	int err;

	(void)state;
	all = incident_store_read("/dev/null/attacks.jsonl", &err);
	assert_int_equal(err, -20); /* ENOTDIR */
	json_decref(all);
}

static void now_is_shown_while_it_is_new(void **state)
{
	static struct incident_watch watches[INCIDENT_SERVICES];
	char file[INCIDENT_PATH];
	bool shown = false;
	json_t *now;

	(void)state;
	snprintf(file, sizeof(file), "%s/now.json", directory);
	assert_int_equal(incident_now_write(file, watches, NULL, now_ms, &shown), 0);
	assert_int_not_equal(access(file, F_OK), 0);
	flood();
	watches[SLOT] = watch;
	assert_int_equal(incident_now_write(file, watches, NULL, now_ms, &shown), 0);
	assert_true(shown);
	now = incident_now_read(file, now_ms + 1000);
	assert_int_equal(json_array_size(now), 1);
	json_decref(now);
	now = incident_now_read(file, now_ms + INCIDENT_STALE_MS + 1000);
	assert_int_equal(json_array_size(now), 0);
	json_decref(now);
	/* It was killed, and the clock set back: nobody writes that file any more. */
	now = incident_now_read(file, now_ms - 3600000);
	assert_int_equal(json_array_size(now), 0);
	json_decref(now);
	watches[SLOT].now = NULL;
	assert_int_equal(incident_now_write(file, watches, NULL, now_ms, &shown), 0);
	assert_int_not_equal(access(file, F_OK), 0);
}

/* What the disk did not take is shown as long, and apart from what goes on. */
static void what_is_not_saved_is_shown_too(void **state)
{
	static struct incident_watch watches[INCIDENT_SERVICES];
	json_t *unsaved = json_pack("[{s:s}]", "id", "a"), *read;
	char file[INCIDENT_PATH];
	bool shown = false;

	(void)state;
	snprintf(file, sizeof(file), "%s/now.json", directory);
	assert_int_equal(incident_now_write(file, watches, unsaved, now_ms, &shown), 0);
	assert_true(shown);
	read = incident_unsaved_read(file, now_ms + 1000);
	assert_true(json_equal(read, unsaved));
	json_decref(read);
	read = incident_now_read(file, now_ms + 1000);
	assert_int_equal(json_array_size(read), 0);
	json_decref(read);
	read = incident_unsaved_read(file, now_ms + INCIDENT_STALE_MS + 1000);
	assert_int_equal(json_array_size(read), 0);
	json_decref(read);
	json_array_clear(unsaved);
	assert_int_equal(incident_now_write(file, watches, unsaved, now_ms, &shown), 0);
	assert_int_not_equal(access(file, F_OK), 0);
	json_decref(unsaved);
}

static void touch(const char *name)
{
	char made[INCIDENT_PATH];
	FILE *file;

	snprintf(made, sizeof(made), "%s/%s", directory, name);
	file = fopen(made, "we");
	assert_non_null(file);
	fclose(file);
}

/* All that is kept of a shield is counted and removed, and nothing of another's. */
static void what_is_kept_is_purged(void **state)
{
	char captures[INCIDENT_PATH], other[INCIDENT_PATH];

	(void)state;
	setenv("STATE_DIRECTORY", directory, 1);
	assert_int_equal(incident_state(NULL, false), 0);
	assert_int_equal(incident_state(NULL, true), 0);
	snprintf(captures, sizeof(captures), "%s/captures", directory);
	assert_int_equal(mkdir(captures, 0700), 0);
	touch("attacks.jsonl");
	touch("attacks.jsonl.new");
	touch("known-clients.txt");
	touch(OLD_CLIENTS_FILE);
	touch("history.jsonl");
	touch("captures/a.pcapng");
	touch("captures/b.pcapng");
	touch("attacks-x.jsonl");
	assert_int_equal(incident_state(NULL, false), 7);
	assert_int_equal(incident_state("/x", false), 1);
	assert_int_equal(incident_state(NULL, true), 7);
	assert_int_equal(incident_state(NULL, false), 0);
	assert_int_equal(access(captures, F_OK), -1);
	assert_int_equal(incident_path("/x", "attacks.jsonl", other), 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(unlink(other), 0);
	/* A link in the directory's place is not followed, nor is any other file removed.
	 */
	snprintf(other, sizeof(other), "%s/else", directory);
	assert_int_equal(mkdir(other, 0700), 0);
	touch("else/a.pcapng");
	assert_int_equal(symlink("else", captures), 0);
	assert_int_equal(incident_state(NULL, true), 0);
	assert_int_equal(unlink(captures), 0);
	assert_int_equal(rename(other, captures), 0);
	touch("captures/passwd");
	assert_int_equal(incident_state(NULL, true), 1);
	snprintf(other, sizeof(other), "%s/captures/passwd", directory);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(rmdir(captures), 0);
	/* One that cannot be removed keeps no other. */
	snprintf(other, sizeof(other), "%s/known-clients.txt", directory);
	assert_int_equal(mkdir(other, 0700), 0);
	touch("history.jsonl");
	assert_true(incident_state(NULL, true) < 0);
	assert_int_equal(rmdir(other), 0);
	assert_int_equal(incident_state(NULL, false), 0);
	unsetenv("STATE_DIRECTORY");
}

static void a_line_for_people(void **state)
{
	char text[INCIDENT_TEXT];

	(void)state;
	flood();
	incident_text(watch.now, INCIDENT_STARTED, text);
	assert_string_equal(text,
			    "attack 20261122T144503Z-3 begins: flood on ffa, 1 s, peak "
			    "50640 packets/s and 24307200 bit/s, 50000 dropped (getinfo, "
			    "getstatus; source-limit, service-limit), senders spoofed: "
			    "unknown, players 9 before, 9 to 9 since");
	incident_text(watch.now, INCIDENT_UPDATED, text);
	assert_non_null(strstr(text, "Z-3 goes on: flood on ffa"));
	incident_text(watch.now, INCIDENT_ENDED, text);
	assert_non_null(strstr(text, "Z-3 is over: flood on ffa"));
}

/* There is always a root, and a place where we are. */
static void some_directories_need_not_be_made(void **state)
{
	(void)state;
	assert_int_equal(incident_directory("/attacks.jsonl"), 0);
	assert_int_equal(incident_directory("attacks.jsonl"), 0);
	assert_int_equal(incident_directory(path), 0);
	assert_int_equal(incident_directory("/nowhere/at/all.jsonl"), -ENOENT);
}

/* Each other ones, however alike they are; who had some before finds them. */
static void a_pin_directory_has_files_of_its_own(void **state)
{
	static const char *const pins[] = { "/a/b",  "/a-b",  "/a+-b", "/a/-b",
					    "/a-/b", "/a--b", "/a//b", "/a+b",
					    "/a++b", "/a+/b", "/a/+b", "" };
	static char texts[sizeof(pins) / sizeof(*pins)][INCIDENT_PATH];
	char text[INCIDENT_PATH];

	(void)state;
	assert_int_equal(incident_path("/sys/fs/bpf/x", "attacks.jsonl", text), 0);
	assert_string_equal(strrchr(text, '/'), "/attacks-sys-fs-bpf-x.jsonl");
	incident_path("/sys/fs/bpf/quakeshield", "known-clients.txt", text);
	assert_string_equal(strrchr(text, '/'),
			    "/known-clients-sys-fs-bpf-quakeshield.txt");
	incident_path(NULL, "captures", text);
	assert_string_equal(strrchr(text, '/'), "/captures");
	for (size_t i = 0; i < sizeof(pins) / sizeof(*pins); i++) {
		assert_int_equal(incident_path(pins[i], "history.jsonl", texts[i]), 0);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(texts[i], texts[j]);
	}
}

/* systemd names all that a unit has, the first of which is the daemon's. */
static void of_several_directories_the_first(void **state)
{
	char text[INCIDENT_PATH];

	(void)state;
	setenv("STATE_DIRECTORY", "/var/lib/a:/var/lib/b", 1);
	assert_int_equal(incident_path(NULL, "attacks.jsonl", text), 0);
	assert_string_equal(text, "/var/lib/a/attacks.jsonl");
	setenv("STATE_DIRECTORY", "b:/var/lib/a", 1);
	assert_int_equal(incident_path(NULL, "captures", text), 0);
	assert_string_equal(text, INCIDENT_STATE "/captures");
	setenv("STATE_DIRECTORY", directory, 1);
}

/* Rather none than one without its ending, or another's. */
static void what_is_too_long_is_none(void **state)
{
	char state_directory[INCIDENT_PATH + 8] = "/", pin[300] = "/",
					     text[INCIDENT_PATH];
	const size_t most = INCIDENT_PATH - 1 - strlen("/attacks.jsonl");
	size_t n = strlen("known-clients.txt");

	(void)state;
	memset(state_directory + 1, 's', sizeof(state_directory) - 2);
	for (size_t length = sizeof(state_directory) - 1; length > most; length--) {
		state_directory[length] = 0;
		setenv("STATE_DIRECTORY", state_directory, 1);
		strcpy(text, "left over");
		assert_int_equal(incident_path(NULL, "attacks.jsonl", text),
				 -ENAMETOOLONG);
		assert_string_equal(text, "");
	}
	state_directory[most] = 0;
	setenv("STATE_DIRECTORY", state_directory, 1);
	assert_int_equal(incident_path(NULL, "attacks.jsonl", text), 0);
	assert_int_equal(strlen(text), INCIDENT_PATH - 1);
	assert_string_equal(strrchr(text, '/'), "/attacks.jsonl");
	setenv("STATE_DIRECTORY", directory, 1);
	/* No name of a file may be longer, nor that of the one that takes its place. */
	memset(pin + 1, 'p', sizeof(pin) - 2);
	assert_int_equal(incident_path(pin, "known-clients.txt", text), -ENAMETOOLONG);
	pin[255 - 4 - n + 1] = 0;
	assert_int_equal(incident_path(pin, "known-clients.txt", text), -ENAMETOOLONG);
	pin[255 - 4 - n] = 0;
	assert_int_equal(incident_path(pin, "known-clients.txt", text), 0);
	assert_int_equal(strlen(strrchr(text, '/') + 1), 251);
	memset(pin + 1, '-', 150);
	pin[151] = 0;
	assert_int_equal(incident_path(pin, "known-clients.txt", text), -ENAMETOOLONG);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin_clean, end)
	const struct CMUnitTest tests[] = {
		T(as_json_and_back),
		T(the_next_daemon_goes_on),
		T(the_next_daemon_tells_of_it),
		T(a_past_one_is_not_gone_on_with),
		T(the_next_daemon_has_another_clock),
		T(the_last_line_counts),
		T(torn_lines_and_strange_ones),
		T(it_stays_within_its_bounds),
		T(so_many_are_shown),
		T(what_cannot_be_read_is_an_error),
		T(now_is_shown_while_it_is_new),
		T(what_is_not_saved_is_shown_too),
		T(what_is_kept_is_purged),
		T(a_line_for_people),
		T(some_directories_need_not_be_made),
		T(a_pin_directory_has_files_of_its_own),
		T(of_several_directories_the_first),
		T(what_is_too_long_is_none),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
