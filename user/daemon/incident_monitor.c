// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * incident_monitor.c - see incident_monitor.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/incident_monitor.h"
#include "daemon/attack_command.h"
#include "daemon/captures.h"
#include "daemon/closed_ports.h"
#include "daemon/journal.h"
#include "incident/incident_json.h"
#include "incident/incident_now.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lib/loop.h"

#define SECOND_MS     1000
#define SAVE_AGAIN_MS 60000

struct incident_monitor {
	struct shield *shield;
	struct stats_cache *cache;
	struct samples_view *samples;
	struct attack_command command;
	bool sampled; /* by the configuration; otherwise there is nothing to capture */
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
	json_t *past; /* the last INCIDENTS_LISTED */
	json_t *unsaved; /* the last INCIDENTS_LISTED that the disk did not take */
	int64_t saved_ms; /* when that was tried last, by the steady clock */
	bool failed; /* to write, and said so */
	bool shown; /* attacks.json for `top` says that there is an attack */
};

/* --- captures ------------------------------------------------------------------- */

/* Begin to capture the attack on @slot; m->capture[slot] is "" where that fails. */
static void capture_begin(struct incident_monitor *m, __u32 slot,
			  const struct service *service)
{
	char *path = m->capture[slot];

	path[0] = 0;
	if (!service || !m->samples || !m->sampled || !m->captures[0] ||
	    captures_begin(m->captures, m->watches[slot].now->id, path, INCIDENT_PATH) ||
	    samples_ring_capture(samples_ring(m->samples), slot, service, path) < 0)
		path[0] = 0;
}

/*
 * End the capture of the attack on @slot. One without a packet, of an attack that no
 * sample is of, is removed, and m->capture[slot] is "" then. Called before the end is
 * reported.
 */
static void capture_end(struct incident_monitor *m, __u32 slot)
{
	if (!m->samples || !samples_ring_stop(samples_ring(m->samples), slot))
		return;
	unlink(m->capture[slot]);
	m->capture[slot][0] = 0;
}

/* --- telling -------------------------------------------------------------------- */

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
	if (json_array_size(list) > INCIDENTS_LISTED)
		json_array_remove(list, 0);
}

/* Write what the disk has not taken before, in its order. 0 or -errno. */
static int save_again(struct incident_monitor *m)
{
	int err = 0;

	while (!err && json_array_size(m->unsaved)) {
		err = incident_store_add(m->store, json_array_get(m->unsaved, 0));
		if (!err)
			json_array_remove(m->unsaved, 0);
	}
	return err;
}

/* Write @object to the disk, or keep it until that is possible. */
static void save(struct incident_monitor *m, json_t *object)
{
	int err;

	if (!m->store[0])
		return;
	err = save_again(m);
	if (!err)
		err = incident_store_add(m->store, object);
	if (err && !m->failed)
		log_error("cannot keep incidents in '%s': %s", m->store, strerror(-err));
	m->failed = err;
	if (err)
		list_add(m->unsaved, object);
}

/* @capture: the file of its packets, or "". */
static void report(struct incident_monitor *m, struct incident *i,
		   enum incident_event event, const char *capture)
{
	json_t *object = incident_json(i, event, capture);

	journal_incident(i, event, capture);
	if (!object)
		return;
	attack_command_notify(&m->command, i, event, object);
	/* For the next daemon. */
	json_object_set_new(object, "told", json_boolean(i->told));
	save(m, object);
	list_add(m->past, object);
	json_decref(object);
}

/* --- looking -------------------------------------------------------------------- */

/* Report the end of the attack on @slot with its capture, then forget both. */
static void finish(struct incident_monitor *m, __u32 slot)
{
	capture_end(m, slot);
	report(m, m->watches[slot].now, INCIDENT_ENDED, m->capture[slot]);
	m->capture[slot][0] = 0;
	incident_forget(&m->watches[slot]);
}

/* Look at one service or the machine. Called once for each in a look. */
static void look(struct incident_monitor *m, const struct incident_subject *subject,
		 const struct incident_counts *counts, struct incident_time now,
		 const struct service *service)
{
	struct incident_watch *w = &m->watches[subject->slot];
	enum incident_event event = incident_look(w, subject, counts, now);

	if (event == INCIDENT_STARTED)
		capture_begin(m, subject->slot, service);
	if (event == INCIDENT_ENDED)
		finish(m, subject->slot);
	else if (event)
		report(m, w->now, event, m->capture[subject->slot]);
}

/* The service of the slot is another one now, or gone: what was known of it is over. */
static void slot_end(struct incident_monitor *m, __u32 slot)
{
	struct incident_watch *w = &m->watches[slot];

	if (w->now) {
		w->now->end_ms = w->now->last_ms;
		finish(m, slot);
	}
	*w = (struct incident_watch){ 0 };
}

/* End the attacks on slots that have another service now. Called before look(). */
static void slots_check(struct incident_monitor *m, const struct stats *now)
{
	const char *names[SERVICES_MAX] = { 0 };

	for (size_t i = 0; i < now->service_count; i++)
		names[now->services[i].slot] = now->services[i].service.name;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		const char *name = names[slot] ? names[slot] : "";

		if (!strncmp(name, m->names[slot], NAME_MAX_LEN))
			continue;
		slot_end(m, slot);
		snprintf(m->names[slot], NAME_MAX_LEN, "%s", name);
	}
}

/* Datagrams to closed ports that were for a service with a server that does not run. */
struct unanswered {
	uint64_t now, before; /* in this look and in the one before */
};

/* What came for a server that sends nothing may have found its port shut, and says
 * nothing of scans. One that is silent now may have gone in the middle of the look
 * before, so what came for it then is not counted either. */
static void unanswered_add(struct incident_monitor *m, const struct incident_counts *c,
			   const struct stats_service *now, struct unanswered *ret)
{
	uint64_t passed = c->packets - c->responded;

	if (!now->service.observe)
		passed -= c->refused;
	if (c->sent) {
		m->passed[now->slot] = passed;
		return;
	}
	ret->now += passed;
	ret->before += m->passed[now->slot];
	m->passed[now->slot] = 0;
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
static void sources_read(struct incident_monitor *m, __u32 slot,
			 const struct incident_counts *c, int64_t steady_ms)
{
	struct sources to = { &m->watches[slot], steady_ms };
	bool refused = c->refused || c->asked;

	if (refused || m->refused[slot])
		shield_refused(m->shield, slot, m->since, m->until, on_source, &to);
	m->refused[slot] = refused;
}

/* Look at all services. Returns the datagrams that machine_look() leaves out. */
static struct unanswered services_look(struct incident_monitor *m,
				       const struct stats *now)
{
	struct unanswered unanswered = { 0 };

	m->since = m->until;
	m->until = shield_refused_advance(m->shield);
	for (size_t i = 0; i < now->service_count; i++) {
		const struct stats_service *s = &now->services[i];
		const struct stats_service *before = stats_rates_match(&m->before, s);
		struct incident_subject subject = { s->slot, s->service.name,
						    (enum wire_family)s->service.family,
						    s->service.observe };
		struct incident_counts counts = { 0 };

		if (before) {
			struct incident_counters from = { &before->in, &before->out };
			struct incident_counters to = { &s->in, &s->out };

			if (!stats_unchanged(s, before))
				incident_count(subject.family, &from, &to, &counts);
			unanswered_add(m, &counts, s, &unanswered);
		}
		sources_read(m, s->slot, &counts, now->steady_ms);
		counts.players = (uint32_t)s->players;
		look(m, &subject, &counts, time_of(now), &s->service);
	}
	return unanswered;
}

static uint64_t less(uint64_t n, uint64_t by)
{
	return n > by ? n - by : 0;
}

/* The counts of a look ago, when it is known which servers live. */
static void machine_look(struct incident_monitor *m, struct unanswered unanswered,
			 struct incident_time now)
{
	struct incident_subject subject = { INCIDENT_MACHINE, "", FAMILY_AUTO, false };
	struct incident_counts counts = { 0 };
	uint64_t closed = closed_ports_read();

	counts.packets = less(m->scanned, unanswered.before);
	m->scanned = m->looked ? less(less(closed, m->closed), unanswered.now) : 0;
	m->closed = closed;
	look(m, &subject, &counts, now, NULL);
}

/* For `top` and `attacks`, while there is an attack, or one that the disk did not
 * take, and once when there is none any more. */
static void now_write(struct incident_monitor *m, struct incident_time now)
{
	int err;

	if (json_array_size(m->unsaved) && now.steady_ms - m->saved_ms >= SAVE_AGAIN_MS) {
		m->saved_ms = now.steady_ms;
		m->failed = save_again(m);
	}
	err = incident_now_write(m->now_path, m->watches, m->unsaved, now.wall_ms,
				 &m->shown);
	if (err && !m->failed)
		log_error("cannot write '%s': %s", m->now_path, strerror(-err));
	m->failed = m->failed || err;
}

/* The callback of loop_every(), in the main loop. Each step uses the one before. */
static void on_second(void *context)
{
	struct incident_monitor *m = context;
	const struct stats *now = stats_cache_stats(m->cache);

	/* However busy the machine is, what is not new is not looked at twice. */
	if (!now || (m->looked && now->steady_ms == m->before.steady_ms))
		return;
	slots_check(m, now);
	machine_look(m, services_look(m, now), time_of(now));
	now_write(m, time_of(now));
	attack_command_check(&m->command);
	if (stats_keep(&m->before, now))
		m->looked = true;
}

/* Note the target of a refused datagram. The callback of samples_watch(). */
static void on_refused(void *context, __u32 slot, const struct record *r)
{
	struct incident_monitor *m = context;

	if (slot < SERVICES_MAX)
		incident_target(&m->watches[slot], &r->destination);
}

/* --- beginning, change, end ----------------------------------------------------- */

/* False: the service of the incident is none of ours. */
static bool slot_of(const struct stats *now, const struct incident *i, __u32 *ret)
{
	*ret = INCIDENT_MACHINE;
	for (size_t s = 0; i->service[0] && s < now->service_count; s++)
		if (!strcmp(i->service, now->services[s].service.name))
			*ret = now->services[s].slot;
	return !i->service[0] == (*ret == INCIDENT_MACHINE);
}

/* Report an attack as ended that no later look can see end, wherever its start was
 * reported. */
static void close_past(struct incident_monitor *m, struct incident *i,
		       const char *capture)
{
	i->end_ms = i->last_ms;
	report(m, i, INCIDENT_ENDED, capture);
	free(i);
}

/* Continue the attacks that lasted when the last daemon ended. An attack has ended if
 * another of the same service began after it, if it is long ago, or if its service is
 * gone. */
static void adopt(struct incident_monitor *m, const struct stats *now)
{
	for (size_t at = json_array_size(m->past); at-- > 0;) {
		const json_t *object = json_array_get(m->past, at);
		struct incident *i = incident_parse(object);
		const char *text = json_string_value(json_object_get(object, "capture"));
		char capture[INCIDENT_PATH];
		__u32 slot;

		if (!i)
			continue;
		snprintf(capture, sizeof(capture), "%s", text ? text : "");
		if (!slot_of(now, i, &slot) || m->watches[slot].now ||
		    incident_is_past(i, now->time_ms)) {
			close_past(m, i, capture);
			continue;
		}
		incident_adopt(&m->watches[slot], i, time_of(now));
		strcpy(m->capture[slot], capture);
		snprintf(m->names[slot], NAME_MAX_LEN, "%s", i->service);
	}
}

/* Take what @config says: whether there are samples, and the command of `on-attack`. */
static void config_take(struct incident_monitor *m, const struct config *config)
{
	m->sampled = config->sample_every || config->follow_first ||
		     config->follow_every || config->follow_count;
	attack_command_take(&m->command, config, m->pinned);
}

/* Where no file can be made nothing is kept, which is logged here and then no more. */
static void paths_make(struct incident_monitor *m, const char *pin)
{
	int err = incident_path(pin, "attacks.jsonl", m->store);

	if (err) {
		log_warn("attacks are not kept: " INCIDENT_NO_PATH);
	} else {
		err = incident_directory(m->store);
		m->failed = err;
	}
	if (m->failed)
		log_warn("attacks are not kept: cannot make the directory of '%s': %s",
			 m->store, strerror(-err));
	err = incident_path(pin, "captures", m->captures);
	if (err || strlen(m->captures) + INCIDENT_ID + sizeof(CAPTURES_ENDING) >
			   sizeof(m->captures)) {
		m->captures[0] = 0;
		log_warn("captures of attacks are not kept: " INCIDENT_NO_PATH);
	}
	incident_now_path(pin, m->now_path);
}

int incident_monitor_start(struct shield *shield, struct stats_cache *cache,
			   struct samples_view *samples, const struct config *config,
			   const char *pin, struct incident_monitor **ret)
{
	struct incident_monitor *m = calloc(1, sizeof(*m));
	const struct stats *now = stats_cache_stats(cache);

	if (!m || !now || !loop_every(SECOND_MS, on_second, m)) {
		log_error("cannot look out for attacks: %s",
			  m && now ? "no room for a timer" : "not enough memory");
		free(m);
		return -ENOMEM;
	}
	m->shield = shield;
	m->until = shield_refused_advance(shield);
	m->cache = cache;
	m->samples = samples;
	m->pinned = pin && *pin;
	paths_make(m, pin);
	m->past = incident_store_read(m->store, NULL);
	if (!m->past)
		m->past = json_array();
	m->unsaved = json_array();
	m->command.starts_ms = INT64_MIN / 2;
	config_take(m, config);
	adopt(m, now);
	while (json_array_size(m->past) > INCIDENTS_LISTED)
		json_array_remove(m->past, 0);
	samples_watch(samples, on_refused, m);
	*ret = m;
	return 0;
}

void incident_monitor_reload(struct incident_monitor *m, const struct config *config)
{
	config_take(m, config);
}

void incident_monitor_stop(struct incident_monitor *m)
{
	if (!m)
		return;
	if (m->samples)
		samples_watch(m->samples, NULL, NULL);
	if (m->store[0])
		save_again(m);
	for (__u32 slot = 0; slot < INCIDENT_SERVICES; slot++) {
		capture_end(m, slot);
		/* The next daemon goes on from what is known until now. */
		if (m->watches[slot].now)
			report(m, m->watches[slot].now, INCIDENT_UPDATED,
			       m->capture[slot]);
		incident_forget(&m->watches[slot]);
	}
	attack_command_stop(&m->command);
	unlink(m->now_path);
	json_decref(m->past);
	json_decref(m->unsaved);
	stats_free(&m->before);
	free(m);
}

const struct incident_watch *incident_monitor_watches(const struct incident_monitor *m)
{
	return m->watches;
}

int incident_monitor_json(const struct incident_monitor *m, FILE *out)
{
	json_t *root = incident_now_json(m->watches, m->before.time_ms);
	int err;

	if (!root || json_object_set(root, "past", m->past)) {
		json_decref(root);
		return -ENOMEM;
	}
	err = json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(root);
	return err || fputc('\n', out) == EOF || fflush(out) ? -EIO : 0;
}
