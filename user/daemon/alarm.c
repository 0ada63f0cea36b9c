// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * alarm.c - see alarm.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "daemon/alarm.h"
#include "daemon/captures.h"
#include "daemon/closed_ports.h"
#include "daemon/journal.h"
#include "daemon/spool.h"
#include "incident/incident_json.h"
#include "incident/incident_now.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lib/loop.h"

#define SECOND_MS     1000
#define SAVE_AGAIN_MS 60000

struct alarm {
	struct shield *shield;
	struct stats_cache *cache;
	struct samples_view *live;
	char on_attack[CONFIG_COMMAND];
	bool pinned; /* it is not the machine's quakeshield, but one of --pin */
	/* "": nothing is kept there */
	char store[INCIDENT_PATH], now_path[INCIDENT_PATH], captures[INCIDENT_PATH];
	struct stats before;
	bool looked; /* there is a before */
	uint64_t closed; /* ports, a look ago */
	uint64_t scanned; /* what came for them in the look before; judged now */
	uint64_t
		passed[SERVICES_MAX]; /* to servers that were heard, in the look before */
	struct incident_watch watches[INCIDENT_SERVICES];
	__u32 since, until; /* shield_refused(): what is read now */
	bool refused[SERVICES_MAX]; /* in the look before; the end of it is read now */
	char names[INCIDENT_SERVICES][NAME_MAX_LEN]; /* of the services watched */
	char capture[INCIDENT_SERVICES][INCIDENT_PATH]; /* "": there is none */
	json_t *past; /* the last ALARM_LISTED */
	json_t *unsaved; /* the last ALARM_LISTED that the disk did not take */
	int64_t saved_ms; /* when that was tried last, by the steady clock */
	int64_t hooks_ms; /* steady: the command's bucket of ALARM_HOOKS an hour, as GCRA
			   */
	int untold; /* attacks that the command was not told of since it was of one */
	bool failed; /* to write, and said so */
	bool stale; /* so is the spool, and we said so */
	bool shown; /* attacks.json for `top` says that there is an attack */
};

/* --- captures ------------------------------------------------------------------------
 */

static void capture_begin(struct alarm *a, __u32 slot, const struct service *service)
{
	char *path = a->capture[slot];
	int n;

	path[0] = 0;
	if (!service || !a->live || !a->captures[0] ||
	    (mkdir(a->captures, 0700) && errno != EEXIST))
		return;
	captures_sweep(a->captures);
	n = snprintf(path, INCIDENT_PATH, "%s/%s" CAPTURES_ENDING, a->captures,
		     a->watches[slot].now->id);
	if (n >= INCIDENT_PATH ||
	    samples_ring_capture(samples_ring(a->live), slot, service, path) < 0)
		path[0] = 0;
}

static void capture_end(struct alarm *a, __u32 slot)
{
	if (a->live)
		samples_ring_stop(samples_ring(a->live), slot);
	a->capture[slot][0] = 0;
}

/* --- telling -------------------------------------------------------------------------
 */

/* Put @object in the place of the one with its id, or last; the oldest gives way. */
static void list_add(json_t *list, json_t *object)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	json_t *other;
	size_t i;

	json_array_foreach (list, i, other) {
		const char *its = json_string_value(json_object_get(other, "id"));

		if (its && id && !strcmp(its, id)) {
			json_array_set(list, i, object);
			return;
		}
	}
	json_array_append(list, object);
	if (json_array_size(list) > ALARM_LISTED)
		json_array_remove(list, 0);
}

/* Write what the disk has not taken before, in its order. 0 or -errno. */
static int save_again(struct alarm *a)
{
	int err = 0;

	while (!err && json_array_size(a->unsaved)) {
		err = incident_store_add(a->store, json_array_get(a->unsaved, 0));
		if (!err)
			json_array_remove(a->unsaved, 0);
	}
	return err;
}

/* Write @object to the disk, or keep it until that is possible. */
static void save(struct alarm *a, json_t *object)
{
	int err;

	if (!a->store[0])
		return;
	err = save_again(a);
	if (!err)
		err = incident_store_add(a->store, object);
	if (err && !a->failed)
		log_error("cannot keep incidents in '%s': %s", a->store, strerror(-err));
	a->failed = err;
	if (err)
		list_add(a->unsaved, object);
}

/*
 * May the command be told of one more start? At most ALARM_HOOKS an hour are, as many at
 * once; of those that were told the ends are, too.
 */
static bool hook_spend(struct alarm *a, int64_t steady_ms)
{
	const int64_t hour_ms = 3600000, each_ms = hour_ms / ALARM_HOOKS;

	if (a->hooks_ms < steady_ms - hour_ms)
		a->hooks_ms = steady_ms - hour_ms;
	if (a->hooks_ms + each_ms > steady_ms)
		return false;
	a->hooks_ms += each_ms;
	return true;
}

static void command_tell(struct alarm *a, struct incident *i, enum incident_event event,
			 json_t *object)
{
	char name[INCIDENT_ID + 16];
	int err;

	if (!a->on_attack[0])
		return;
	/* One that it could not be told of begins for it when it can. */
	if (event == INCIDENT_UPDATED && i->untold && hook_spend(a, i->told_ms)) {
		i->untold = false;
		a->untold -= a->untold > 0;
		event = INCIDENT_STARTED;
		json_object_set_new(object, "event",
				    json_string(incident_event_name(event)));
	} else if (event == INCIDENT_STARTED) {
		i->untold = !hook_spend(a, i->told_ms);
	}
	if (event == INCIDENT_UPDATED)
		return;
	if (i->untold) {
		if (event == INCIDENT_STARTED && !a->untold++)
			log_warn(
				"'%s' is not told of attack %s: %d attacks an hour are the "
				"most; the next one that it is told of says how many it "
				"was not",
				a->on_attack, i->id, ALARM_HOOKS);
		return;
	}
	if (a->untold)
		json_object_set_new(object, "untold", json_integer(a->untold));
	a->untold = 0;
	snprintf(name, sizeof(name), "%s.%s", i->id, incident_event_name(event));
	err = spool_put(SPOOL_DIR, name, object);
	if (err == -EDQUOT)
		log_error("'%s' is not told of attack %s: %d events wait in '" SPOOL_DIR
			  "' already, and nobody takes them",
			  a->on_attack, i->id, SPOOL_MAX);
	else if (err)
		log_error("'%s' is not told of attack %s: cannot write to '" SPOOL_DIR
			  "': %s",
			  a->on_attack, i->id, strerror(-err));
}

/* @capture: the file of its packets, or "". */
static void tell(struct alarm *a, struct incident *i, enum incident_event event,
		 const char *capture)
{
	json_t *object = incident_json(i, event, capture);

	journal_incident(i, event, capture);
	if (!object)
		return;
	save(a, object);
	list_add(a->past, object);
	command_tell(a, i, event, object);
	json_decref(object);
}

/* --- looking -------------------------------------------------------------------------
 */

static void finish(struct alarm *a, __u32 slot)
{
	tell(a, a->watches[slot].now, INCIDENT_ENDED, a->capture[slot]);
	capture_end(a, slot);
	incident_forget(&a->watches[slot]);
}

static void look(struct alarm *a, const struct incident_subject *subject,
		 const struct incident_counts *counts, struct incident_time now,
		 const struct service *service)
{
	struct incident_watch *w = &a->watches[subject->slot];
	enum incident_event event = incident_look(w, subject, counts, now);

	if (event == INCIDENT_STARTED)
		capture_begin(a, subject->slot, service);
	if (event == INCIDENT_ENDED)
		finish(a, subject->slot);
	else if (event)
		tell(a, w->now, event, a->capture[subject->slot]);
}

/* The service of the slot is another one now, or gone: what was known of it is over. */
static void slot_end(struct alarm *a, __u32 slot)
{
	struct incident_watch *w = &a->watches[slot];

	if (w->now) {
		w->now->end_ms = w->now->last_ms;
		finish(a, slot);
	}
	*w = (struct incident_watch){ 0 };
}

static void slots_check(struct alarm *a, const struct stats *now)
{
	const char *names[SERVICES_MAX] = { 0 };

	for (size_t i = 0; i < now->service_count; i++)
		names[now->services[i].slot] = now->services[i].service.name;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		const char *name = names[slot] ? names[slot] : "";

		if (!strncmp(name, a->names[slot], NAME_MAX_LEN))
			continue;
		slot_end(a, slot);
		snprintf(a->names[slot], NAME_MAX_LEN, "%s", name);
	}
}

/* What of the datagrams to ports that are shut was for a service whose server is down. */
struct unheard {
	uint64_t now, before; /* in this look and in the one before */
};

/*
 * What came for a server that sends nothing may have found its port shut, and says
 * nothing of scans. One that is silent now may have gone in the middle of the look
 * before, so what came for it then is not counted either.
 */
static void unheard_add(struct alarm *a, const struct incident_counts *c,
			const struct stats_service *now,
			const struct stats_service *before, struct unheard *ret)
{
	uint64_t passed = now->service.observe ? c->packets : c->packets - c->refused;
	struct stats_pace pace;

	stats_pace_service(now, before, 1, &pace);
	if (pace.sent + pace.withheld > 0) {
		a->passed[now->slot] = passed;
		return;
	}
	ret->now += passed;
	ret->before += a->passed[now->slot];
	a->passed[now->slot] = 0;
}

static struct incident_time time_of(const struct stats *stats)
{
	return (struct incident_time){ stats->time_ms, stats->steady_ms };
}

/* Context of on_source(): the watch of one service, and the time of this look. */
struct sources {
	struct incident_watch *watch;
	int64_t steady_ms;
};

static void on_source(enum wire_class class, const struct refused_source *from,
		      void *context)
{
	struct sources *s = context;

	incident_source(s->watch, class, from, s->steady_ms);
}

/* Called before look(), so that the event of a start already names the sources. Sources
 * that cannot be read are not named. */
static void sources_read(struct alarm *a, __u32 slot, const struct incident_counts *c,
			 int64_t steady_ms)
{
	struct sources to = { &a->watches[slot], steady_ms };
	bool refused = c->refused || c->asked;

	if (refused || a->refused[slot])
		shield_refused(a->shield, slot, a->since, a->until, on_source, &to);
	a->refused[slot] = refused;
}

static struct unheard services_look(struct alarm *a, const struct stats *now)
{
	struct unheard unheard = { 0 };

	a->since = a->until;
	a->until = shield_refused_turn(a->shield);
	for (size_t i = 0; i < now->service_count; i++) {
		const struct stats_service *s = &now->services[i];
		const struct stats_service *before = stats_pace_match(&a->before, s);
		struct incident_subject subject = { s->slot, s->service.name,
						    (enum wire_family)s->service.family,
						    s->service.observe };
		struct incident_counts counts = { 0 };

		if (before) {
			struct incident_counters from = { &before->in, &before->out };
			struct incident_counters to = { &s->in, &s->out };

			incident_count(subject.family, &from, &to, &counts);
			unheard_add(a, &counts, s, before, &unheard);
		}
		sources_read(a, s->slot, &counts, now->steady_ms);
		counts.players = (uint32_t)s->players;
		look(a, &subject, &counts, time_of(now), &s->service);
	}
	return unheard;
}

static uint64_t less(uint64_t n, uint64_t by)
{
	return n > by ? n - by : 0;
}

/* Of what came a look ago, when it is known which servers live. */
static void machine_look(struct alarm *a, struct unheard unheard,
			 struct incident_time now)
{
	struct incident_subject subject = { INCIDENT_MACHINE, "", FAMILY_AUTO, false };
	struct incident_counts counts = { 0 };
	uint64_t closed = closed_ports_read();

	counts.packets = less(a->scanned, unheard.before);
	a->scanned = a->looked ? less(less(closed, a->closed), unheard.now) : 0;
	a->closed = closed;
	look(a, &subject, &counts, now, NULL);
}

/*
 * For `top` and `attacks`, while there is an attack, or one that the disk did not take,
 * and once when there is none any more.
 */
static void show(struct alarm *a, struct incident_time now)
{
	int err;

	if (json_array_size(a->unsaved) && now.steady_ms - a->saved_ms >= SAVE_AGAIN_MS) {
		a->saved_ms = now.steady_ms;
		a->failed = save_again(a);
	}
	err = incident_now_write(a->now_path, a->watches, a->unsaved, now.wall_ms,
				 &a->shown);
	if (err && !a->failed)
		log_error("cannot write '%s': %s", a->now_path, strerror(-err));
	a->failed = a->failed || err;
}

static void spool_check(struct alarm *a)
{
	bool stale = a->on_attack[0] && spool_is_stale(SPOOL_DIR);

	if (stale && !a->stale)
		log_warn("'%s' is not run: nobody takes what lies in '" SPOOL_DIR
			 "'. Is quakeshield-attack.path enabled?",
			 a->on_attack);
	a->stale = stale;
}

static void on_second(void *context)
{
	struct alarm *a = context;
	const struct stats *now = stats_cache_stats(a->cache);

	/* However busy the machine is, what is not new is not looked at twice. */
	if (!now || (a->looked && now->steady_ms == a->before.steady_ms))
		return;
	slots_check(a, now);
	machine_look(a, services_look(a, now), time_of(now));
	show(a, time_of(now));
	spool_check(a);
	if (stats_keep(&a->before, now))
		a->looked = true;
}

static void on_refused(void *context, __u32 slot, const struct record *r)
{
	struct alarm *a = context;

	if (slot < SERVICES_MAX)
		incident_target(&a->watches[slot], &r->destination);
}

/* --- beginning, change, end ------------------------------------------------------------
 */

/* False: the service of the incident is none of ours. */
static bool slot_of(const struct stats *now, const struct incident *i, __u32 *ret)
{
	*ret = INCIDENT_MACHINE;
	for (size_t s = 0; i->service[0] && s < now->service_count; s++)
		if (!strcmp(i->service, now->services[s].service.name))
			*ret = now->services[s].slot;
	return !i->service[0] == (*ret == INCIDENT_MACHINE);
}

/* Nobody will see the end of it any more; who was told of its start is told of this. */
static void close_past(struct alarm *a, struct incident *i, const char *capture)
{
	i->end_ms = i->last_ms;
	tell(a, i, INCIDENT_ENDED, capture);
	free(i);
}

/*
 * Attacks that lasted when the last daemon ended go on until they are over. What began
 * before another of the same service, what was long ago, and what is aimed at a service
 * that is none any more, is over.
 */
static void adopt(struct alarm *a, const struct stats *now)
{
	for (size_t at = json_array_size(a->past); at-- > 0;) {
		const json_t *object = json_array_get(a->past, at);
		struct incident *i = incident_parse(object);
		const char *text = json_string_value(json_object_get(object, "capture"));
		char capture[INCIDENT_PATH];
		__u32 slot;

		if (!i)
			continue;
		snprintf(capture, sizeof(capture), "%s", text ? text : "");
		if (!slot_of(now, i, &slot) || a->watches[slot].now ||
		    incident_is_past(i, now->time_ms)) {
			close_past(a, i, capture);
			continue;
		}
		incident_adopt(&a->watches[slot], i, time_of(now));
		strcpy(a->capture[slot], capture);
		snprintf(a->names[slot], NAME_MAX_LEN, "%s", i->service);
	}
}

static void command_take(struct alarm *a, const struct config *config)
{
	strcpy(a->on_attack, config->on_attack);
	if (!a->on_attack[0])
		return;
	if (a->pinned) {
		/* The spool has one command, and ids of attacks are one daemon's. */
		log_warn("on-attack '%s' is not run: not for a shield of --pin, only for "
			 "the machine's",
			 a->on_attack);
		a->on_attack[0] = 0;
		return;
	}
	if (sd_booted() > 0)
		return;
	log_warn("on-attack '%s' is not run: this machine was not started by systemd, "
		 "which runs it in a unit of its own",
		 a->on_attack);
	a->on_attack[0] = 0;
}

/* Where there can be no such file nothing is kept, which is said here and then no more.
 */
static void paths_make(struct alarm *a, const char *pin)
{
	int err = incident_path(pin, "attacks.jsonl", a->store);

	if (err) {
		log_warn("attacks are not kept: " INCIDENT_NO_PATH);
	} else {
		err = incident_directory(a->store);
		a->failed = err;
	}
	if (a->failed)
		log_warn("attacks are not kept: cannot make the directory of '%s': %s",
			 a->store, strerror(-err));
	err = incident_path(pin, "captures", a->captures);
	if (err || strlen(a->captures) + INCIDENT_ID + sizeof(CAPTURES_ENDING) >
			   sizeof(a->captures)) {
		a->captures[0] = 0;
		log_warn("captures of attacks are not kept: " INCIDENT_NO_PATH);
	}
	incident_now_path(pin, a->now_path);
}

int alarm_start(struct shield *shield, struct stats_cache *cache,
		struct samples_view *live, const struct config *config, const char *pin,
		struct alarm **ret)
{
	struct alarm *a = calloc(1, sizeof(*a));
	const struct stats *now = stats_cache_stats(cache);

	if (!a || !now || !loop_every(SECOND_MS, on_second, a)) {
		log_error("cannot look out for attacks: %s",
			  a && now ? "no room for a timer" : "not enough memory");
		free(a);
		return -ENOMEM;
	}
	a->shield = shield;
	a->until = shield_refused_turn(shield);
	a->cache = cache;
	a->live = live;
	a->pinned = pin && *pin;
	paths_make(a, pin);
	a->past = incident_store_read(a->store, NULL);
	if (!a->past)
		a->past = json_array();
	a->unsaved = json_array();
	a->hooks_ms = INT64_MIN / 2;
	command_take(a, config);
	adopt(a, now);
	while (json_array_size(a->past) > ALARM_LISTED)
		json_array_remove(a->past, 0);
	samples_watch(live, on_refused, a);
	*ret = a;
	return 0;
}

void alarm_reload(struct alarm *a, const struct config *config)
{
	command_take(a, config);
}

void alarm_stop(struct alarm *a)
{
	if (!a)
		return;
	if (a->live)
		samples_watch(a->live, NULL, NULL);
	if (a->store[0])
		save_again(a);
	for (__u32 slot = 0; slot < INCIDENT_SERVICES; slot++) {
		/* The next daemon goes on from what is known until now. */
		if (a->watches[slot].now)
			tell(a, a->watches[slot].now, INCIDENT_UPDATED, a->capture[slot]);
		capture_end(a, slot);
		incident_forget(&a->watches[slot]);
	}
	unlink(a->now_path);
	json_decref(a->past);
	json_decref(a->unsaved);
	stats_free(&a->before);
	free(a);
}

const struct incident_watch *alarm_watches(const struct alarm *a)
{
	return a->watches;
}

int alarm_json(const struct alarm *a, FILE *out)
{
	json_t *root = incident_now_json(a->watches, a->before.time_ms);
	int err;

	if (!root || json_object_set(root, "past", a->past)) {
		json_decref(root);
		return -ENOMEM;
	}
	err = json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(root);
	return err || fputc('\n', out) == EOF || fflush(out) ? -EIO : 0;
}
