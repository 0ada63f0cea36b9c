/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_monitor_support.h - what is around the incident monitor, as a test wants it:
 * counters, clocks, a journal and a spool. The file of attacks and the captures are real.
 */
#ifndef INCIDENT_MONITOR_SUPPORT_H
#define INCIDENT_MONITOR_SUPPORT_H

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <systemd/sd-daemon.h>

#include "daemon/incident_monitor.h"
#include "daemon/attack_command.h"
#include "daemon/captures.h"
#include "daemon/closed_ports.h"
#include "daemon/journal.h"
#include "daemon/spool.h"
#include "incident/incident_now.h"
#include "incident/incident_store.h"
#include "lib/loop.h"
#include "stderr.h"

#define BEGIN_MS 1795358701000 /* 2026-11-22T14:45:01Z */
#define TOLD_MAX 2048

static char root[] = "/tmp/test_incident_monitor.XXXXXX";
static struct stats stats;
static struct incident_monitor *monitor_now;
static struct samples_ring *ring;
static struct config *config;
static uint64_t closed;

/* --- what is around it ----------------------------------------------------------------
 */

static struct told {
	char id[INCIDENT_ID], service[NAME_MAX_LEN], capture[INCIDENT_PATH];
	enum incident_event event;
	bool spooled;
	char target[64];
} told[TOLD_MAX];
static size_t told_count;
static void (*tick)(void *context);
static void *tick_context;
static samples_refused *refused;
static void *refused_context;
static int booted, spool_says;
static bool stale;

static struct told *told_add(void)
{
	assert_true(told_count < TOLD_MAX);
	memset(&told[told_count], 0, sizeof(told[0]));
	return &told[told_count++];
}

static bool stats_none; /* nothing can be read */

const struct stats *stats_cache_stats(struct stats_cache *cache)
{
	(void)cache;
	return stats_none ? NULL : &stats;
}

bool loop_every(int ms, void (*function)(void *context), void *context)
{
	assert_int_equal(ms, 1000);
	tick = function;
	tick_context = context;
	return true;
}

struct samples_ring *samples_ring(struct samples_view *live)
{
	(void)live;
	return ring;
}

void samples_watch(struct samples_view *live, samples_refused *function, void *context)
{
	(void)live;
	refused = function;
	refused_context = context;
}

#define SHIELD ((struct shield *)&shield_there)

static char shield_there;
static __u32 turn_now = 1000; /* it grows with each second */
/* The source that shield_refused() reports for the service in slot, in each look. */
static struct {
	__u32 slot, weight, reads;
	struct refused_source from;
} refuses;

__u32 shield_refused_advance(struct shield *shield)
{
	assert_ptr_equal(shield, SHIELD);
	return turn_now += 8;
}

int shield_refused(const struct shield *shield, __u32 slot, __u32 since, __u32 until,
		   void (*each)(enum wire_class class, const struct refused_source *from,
				void *context),
		   void *context)
{
	assert_ptr_equal(shield, SHIELD);
	assert_int_equal(until, turn_now);
	assert_int_equal(since, turn_now - 8);
	refuses.reads++;
	if (slot == refuses.slot && refuses.from.weight)
		each(CLASS_RCON, &refuses.from, context);
	return 0;
}

uint64_t closed_ports_read(void)
{
	return closed;
}

int sd_booted(void)
{
	return booted;
}

void journal_incident(const struct incident *incident, enum incident_event event,
		      const char *capture)
{
	struct told *t = told_add();

	strcpy(t->id, incident->id);
	strcpy(t->service, incident->service);
	strcpy(t->capture, capture);
	t->event = event;
}

static int spool_untold; /* as the last object said */

int spool_put(const char *dir, const char *name, const json_t *object)
{
	const char *target = json_string_value(json_object_get(object, "target"));
	struct told *t;

	assert_string_equal(dir, SPOOL_DIR);
	if (spool_says)
		return spool_says;
	if (json_object_get(object, "untold"))
		spool_untold = (int)json_integer_value(json_object_get(object, "untold"));
	t = told_add();
	t->spooled = true;
	snprintf(t->id, sizeof(t->id), "%.*s", (int)(strchr(name, '.') - name), name);
	t->event =
		!strcmp(strchr(name, '.'), ".start") ? INCIDENT_STARTED : INCIDENT_ENDED;
	snprintf(t->target, sizeof(t->target), "%s", target ? target : "");
	return 0;
}

bool spool_is_stale(const char *dir)
{
	(void)dir;
	return stale;
}

void incident_now_path(const char *pin_dir, char *ret)
{
	(void)pin_dir;
	sprintf(ret, "%s/now.json", root);
}

json_t *incident_now_json(const struct incident_watch *watches, int64_t now_ms)
{
	(void)watches;
	return json_pack("{s:f, s:[]}", "time", (double)now_ms / 1000, "now");
}

static int now_says;
static int64_t now_written_ms;

static size_t now_unsaved;

int incident_now_write(const char *path, const struct incident_watch *watches,
		       json_t *unsaved, int64_t now_ms, bool *shown)
{
	now_unsaved = json_array_size(unsaved);
	assert_memory_equal(path, root, strlen(root));
	assert_string_equal(path + strlen(root), "/now.json");
	assert_ptr_equal(watches, incident_monitor_watches(monitor_now));
	(void)shown;
	now_written_ms = now_ms;
	return now_says;
}

/* --- what a test does -----------------------------------------------------------------
 */

/* Services of these slots, called "s0" and so on. */
static inline void services(size_t count)
{
	stats_free(&stats);
	stats.services = calloc(count ? count : 1, sizeof(*stats.services));
	assert_non_null(stats.services);
	stats.service_count = count;
	for (size_t i = 0; i < count; i++) {
		stats.services[i].slot = (__u32)i;
		stats.services[i].service.family = FAMILY_QUAKE3;
		snprintf(stats.services[i].service.name, NAME_MAX_LEN, "s%zu", i);
	}
}

static inline void start_of(const char *pin)
{
	assert_int_equal(incident_monitor_start(SHIELD, (struct stats_cache *)&stats,
						(struct samples_view *)&ring, config, pin,
						&monitor_now),
			 0);
}

static inline void start(void)
{
	start_of(NULL);
}

static inline void stop(void)
{
	incident_monitor_stop(monitor_now);
	monitor_now = NULL;
}

static inline void second(void)
{
	stats.time_ms += 1000;
	stats.steady_ms += 1000;
	tick(tick_context);
}

static inline void seconds(int n)
{
	while (n--)
		second();
}

/* So long after an attack that the next has nothing to do with it. */
static inline void calm(void)
{
	stats.time_ms += 2 * INCIDENT_QUIET_MOST_MS;
	stats.steady_ms += 2 * INCIDENT_QUIET_MOST_MS;
	second();
}

static inline void flood(size_t service, uint64_t n)
{
	struct counters *in = &stats.services[service].in;

	in->by[KIND_GETSTATUS][REASON_SERVICE_LIMIT].packets += n;
	in->by[KIND_GETSTATUS][REASON_SERVICE_LIMIT].bytes += 60 * n;
}

/* A server that is alive sends something. */
static inline void answer(size_t service)
{
	stats.services[service].out.by[KIND_NETCHAN][REASON_PLAYER].packets += 40;
}

static inline size_t count(enum incident_event event, bool spooled)
{
	size_t n = 0;

	for (size_t i = 0; i < told_count; i++)
		n += told[i].event == event && told[i].spooled == spooled;
	return n;
}

static inline const struct told *first(enum incident_event event, bool spooled)
{
	for (size_t i = 0; i < told_count; i++)
		if (told[i].event == event && told[i].spooled == spooled)
			return &told[i];
	fail_msg("nobody was told");
	return NULL;
}

static inline json_t *kept(void)
{
	char path[INCIDENT_PATH];

	incident_path(NULL, "attacks.jsonl", path);
	return incident_store_read(path, NULL);
}

/* How many are kept that last; how many in all. */
static inline size_t kept_lasting(size_t *ret_all)
{
	json_t *all = kept(), *one;
	size_t i, lasting = 0;

	json_array_foreach (all, i, one) {
		lasting += json_is_null(json_object_get(one, "end"));
	}
	*ret_all = json_array_size(all);
	json_decref(all);
	return lasting;
}

static inline void sample_refused(__u32 slot, uint8_t last)
{
	struct record r = {
		.source = { .length = 4, .bytes = { 10, 9, 8, last } },
		.destination = { .length = 4, .bytes = { 10, 77, 0, 2 }, .port = 27960 }
	};

	refused(refused_context, slot, &r);
}

static int make_root(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	config = calloc(1, sizeof(*config));
	return config ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	free(config);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static int begin(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s/*", root);
	assert_int_equal(system(command), 0);
	setenv("STATE_DIRECTORY", root, 1);
	strcpy(config->on_attack, "/bin/tell");
	config->sample_every = 1;
	booted = 1;
	spool_says = now_says = 0;
	stale = false;
	closed = 1000;
	told_count = 0;
	memset(&refuses, 0, sizeof(refuses));
	stats.time_ms = BEGIN_MS;
	stats.steady_ms = 5000;
	ring = samples_ring_create();
	services(2);
	start();
	seconds(2);
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (monitor_now)
		stop();
	stats_free(&stats);
	samples_ring_free(ring);
	return 0;
}

/* As by kill -9: what is on disk is what was told until then. */
static inline void kill_and_start(int64_t later_ms)
{
	char path[INCIDENT_PATH], command[2 * INCIDENT_PATH + 32];

	incident_path(NULL, "attacks.jsonl", path);
	snprintf(command, sizeof(command), "cp %s %s.killed", path, path);
	assert_int_equal(system(command), 0);
	stop();
	snprintf(command, sizeof(command), "mv %s.killed %s", path, path);
	assert_int_equal(system(command), 0);
	told_count = 0;
	stats.time_ms += later_ms;
	stats.steady_ms = 99;
	start();
}

#endif /* INCIDENT_MONITOR_SUPPORT_H */
