// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_attacks.c - `attacks`: what the daemon has kept of them, daemon alive or not.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/commands.h"
#include "daemon/pidfile.h"
#include "incident/incident_json.h"
#include "incident/incident_now.h"
#include "incident/incident_sources.h"
#include "incident/incident_store.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "top/top.h"

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : otherwise;
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *first_kind(const json_t *object)
{
	json_t *kinds = json_object_get(object, "kinds");
	void *first = json_object_iter(kinds);

	return first ? json_object_iter_key(first) : "-";
}

/* The one of that id; NULL: there is none. */
static json_t *find(const json_t *all, const char *id)
{
	json_t *one;
	size_t i;

	json_array_foreach ((json_t *)all, i, one) {
		if (!strcmp(text_of(one, "id", ""), id))
			return one;
	}
	return NULL;
}

/*
 * Print a line, at most LINE_MAX_BYTES of it. The daemon, which holds fewer rights than
 * the reader, has written the texts: a control character becomes a question mark.
 */
#define LINE_MAX_BYTES 1024

__attribute__((format(printf, 1, 2))) static void print_line(const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	log_make_plain(line);
	puts(line);
}

static void print_one(const json_t *a, bool daemon)
{
	json_t *peak = json_object_get(a, "peak"),
	       *players = json_object_get(a, "players");
	const char *end = text_of(a, "end", NULL), *what = text_of(a, "type", "?");
	char sorts[INCIDENT_SORTS_TEXT], pps[TOP_NUMBER], bps[TOP_NUMBER],
		dropped[TOP_NUMBER], lasted[TOP_NUMBER];
	char from[INCIDENT_FROM];
	bool several;

	/* Where it has been several sorts, the last column has room for them. */
	incident_sorts(a, sorts);
	several = strcmp(sorts, what) != 0;
	top_number(number_of(peak, "packets_per_s"), pps);
	top_number(number_of(peak, "bits_per_s"), bps);
	top_number(number_of(a, "dropped"), dropped);
	top_age((__u64)(number_of(a, "duration_s") * 1e9), lasted);
	print_line(
		"%-19.19s  %6s%s  %-16s %-17s %6s %6s %6s  %-8s %3.0f>%-3.0f  %s%s%s%s%s",
		text_of(a, "start", "?"), lasted,
		end	 ? " "
		: daemon ? "+"
			 : "?",
		text_of(a, "service", "(machine)"), what, pps, bps, dropped,
		text_of(json_object_get(a, "sources"), "spoofed", "?"),
		number_of(players, "before"), number_of(players, "min"), first_kind(a),
		several ? " (" : "", several ? sorts : "", several ? ")" : "",
		json_is_true(json_object_get(a, "observed")) ? " (observed only)" : "");
	incident_from(a, from);
	if (*from)
		print_line("%21s by samples from %s", "", from);
}

static void print_all(const json_t *all, bool daemon)
{
	json_t *one;
	size_t i;

	if (!json_array_size(all)) {
		puts("no attacks");
		return;
	}
	printf("%-19s  %6s   %-16s %-17s %6s %6s %6s  %-8s %-7s  %s\n", "start (UTC)",
	       "lasted", "service", "type", "peak/s", "bit/s", "drops", "spoofed",
	       "players", "mostly");
	json_array_foreach (all, i, one) {
		print_one(one, daemon);
	}
}

void attacks_now_print(const char *pin)
{
	char path[INCIDENT_PATH], from[INCIDENT_FROM], lasted[TOP_NUMBER];
	struct timespec now;
	json_t *list, *one;
	size_t i;

	incident_now_path(pin, path);
	clock_gettime(CLOCK_REALTIME, &now);
	list = incident_now_read(path, now.tv_sec * 1000ll + now.tv_nsec / 1000000);
	json_array_foreach (list, i, one) {
		incident_from(one, from);
		top_age((__u64)(number_of(one, "duration_s") * 1e9), lasted);
		print_line("attack on %s: %s for %s%s%s",
			   text_of(one, "service", "this machine"),
			   text_of(one, "type", "?"), lasted,
			   *from ? ", by samples from " : "", from);
	}
	json_decref(list);
}

/* Put what the daemon knows into what is on the disk; @newer is let go. */
static void merge(json_t *all, json_t *newer)
{
	json_t *one;
	size_t i;

	json_array_foreach (newer, i, one) {
		json_t *kept = find(all, text_of(one, "id", "?"));

		/* It is not there where the disk is full. */
		if (!kept) {
			json_array_append(all, one);
			continue;
		}
		json_object_del(one, "capture");
		json_object_update(kept, one);
	}
	json_decref(newer);
}

/*
 * Take what the daemon says of present attacks, if it is there: it knows better than
 * what was last written to @store.
 */
static void merge_now(json_t *all, const char *pin, const char *store)
{
	char path[INCIDENT_PATH];
	struct timespec now;
	json_t *unsaved;
	int64_t now_ms;

	incident_now_path(pin, path);
	clock_gettime(CLOCK_REALTIME, &now);
	now_ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
	unsaved = incident_unsaved_read(path, now_ms);
	if (json_array_size(unsaved))
		log_warn(
			"attacks: the daemon cannot write to '%s': the newest %zu are in "
			"its memory alone",
			store, json_array_size(unsaved));
	merge(all, unsaved);
	merge(all, incident_now_read(path, now_ms));
}

const struct json_key attacks_json_keys[] = {
	JSON_OBJECT("attacks", "object[]", NULL, "The last 1000, oldest first.",
		    incident_json_keys),
	JSON_END,
};

int cmd_attacks(const struct call *call)
{
	const char *pin = call_value(call, OPTION_PIN);
	char path[INCIDENT_PATH];
	json_t *all;
	int err = incident_path(pin, "attacks.jsonl", path);

	if (err) {
		log_error("attacks: " INCIDENT_NO_PATH);
		return exit_status(err);
	}
	all = incident_store_read(path, &err);
	if (!all || err) {
		log_error("attacks: cannot read '%s': %s", path,
			  strerror(err ? -err : ENOMEM));
		json_decref(all);
		return exit_status(err ? err : -ENOMEM);
	}
	merge_now(all, pin, path);
	if (call_has(call, OPTION_JSON))
		return print_json(json_pack("{s:o}", "attacks", all));
	print_all(all, pidfile_pid(pin) > 0);
	json_decref(all);
	return 0;
}
