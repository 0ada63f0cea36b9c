// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain_watch.c - see explain_watch.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "explain/explain_watch.h"
#include "lib/log.h"
#include "lib/names.h"

static const char *const state_names[] = {
	[ABOUT_INVITED] = "invited",
	[ABOUT_VALIDATED] = "validated",
	[ABOUT_ESTABLISHED] = "established",
};

static const char *const event_names[] = {
	[WATCH_FLOW] = "flow",	   [WATCH_ENDED] = "ended",	[WATCH_PLAYED] = "played",
	[WATCH_PASSED] = "passed", [WATCH_REFUSED] = "refused",
};

struct watched {
	__u32 slot;
	char name[NAME_MAX_LEN];
	__u64 due_ns[CLASS_BUDGETS][BUDGET_SETS]; /* of the source's own limits */
	struct about_flow flows[EXPLAIN_FLOWS];
	size_t flow_count;
};

struct watcher {
	const struct shield *shield;
	struct about_host host;
	__u16 port; /* 0: any */
	__u32 tick; /* from which refusals are new */
	struct watched *services;
	size_t service_count;
	/* During a look. */
	void (*each)(const struct watch_line *line, void *context);
	void *context;
	const struct watched *now; /* the service with the refusals */
};

/* --- beginning --------------------------------------------------------------- */

/* Where services listen. */
struct places {
	struct shield_endpoint *ends;
	size_t count;
};

/* Return true if the service in @slot has the port @want, at whatever address. */
static bool service_has_port(const struct places *places, __u32 slot, const char *want)
{
	char *end;
	unsigned long port = strtoul(want, &end, 10);

	for (size_t i = 0; *want && !*end && i < places->count; i++)
		if (places->ends[i].slot == slot && places->ends[i].port == port)
			return true;
	return false;
}

static void dues_read(const struct watcher *w, struct watched *s,
		      __u64 ret[CLASS_BUDGETS][BUDGET_SETS])
{
	struct service service;

	memset(ret, 0, sizeof(s->due_ns));
	if (!shield_service(w->shield, s->slot, &service))
		return;
	for (int class = 0; class < CLASS_BUDGETS; class ++)
		for (unsigned int i = 0; i < BUDGET_SETS; i++)
			ret[class][i] =
				about_source_due(w->shield, &service.budget[class],
						 &w->host, (enum budget_set)i);
}

static void flows_read(const struct watcher *w, const struct watched *s,
		       struct about_flow ret[EXPLAIN_FLOWS], size_t *ret_count)
{
	size_t count = about_flows(w->shield, &w->host, (int)s->slot, w->port, ret,
				   EXPLAIN_FLOWS);

	*ret_count = count < EXPLAIN_FLOWS ? count : EXPLAIN_FLOWS;
}

int watch_begin(const struct shield *shield, const struct explain_query *query,
		struct watcher **ret)
{
	const size_t most = PORTS + 2 * SERVICES_MAX;
	struct places places = { .ends = calloc(most, sizeof(*places.ends)) };
	struct watcher *w = calloc(1, sizeof(*w));
	struct service service;

	if (w)
		w->services = calloc(SERVICES_MAX, sizeof(*w->services));
	if (!w || !w->services || !places.ends) {
		log_error("watch: not enough memory");
		free(places.ends);
		watch_end(w);
		return -ENOMEM;
	}
	places.count = shield_endpoints(shield, places.ends, most);
	w->shield = shield;
	w->host = about_host(query->address);
	w->port = query->port;
	w->tick = refused_tick(about_clock(shield));
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct watched *s = &w->services[w->service_count];

		if (!shield_service(shield, slot, &service) ||
		    (query->service && strcmp(query->service, service.name) != 0 &&
		     !service_has_port(&places, slot, query->service)))
			continue;
		s->slot = slot;
		memcpy(s->name, service.name, sizeof(s->name));
		dues_read(w, s, s->due_ns);
		w->service_count++;
	}
	free(places.ends);
	if (w->service_count || !query->service) {
		*ret = w;
		return 0;
	}
	log_error("watch: no such service: '%s'", query->service);
	watch_end(w);
	return -ENOENT;
}

void watch_end(struct watcher *w)
{
	if (w)
		free(w->services);
	free(w);
}

/* --- looking ----------------------------------------------------------------- */

static const struct about_flow *flow_of(const struct about_flow *flows, size_t count,
					__u16 port)
{
	for (size_t i = 0; i < count; i++)
		if (flows[i].port == port)
			return &flows[i];
	return NULL;
}

static void flow_compare(struct watcher *w, const struct watched *s,
			 const struct about_flow *now, const struct about_flow *before)
{
	struct watch_line line = { .service = s->name, .port = now->port };

	if (!before || before->state != now->state) {
		line.event = WATCH_FLOW;
		line.state = now->state;
		w->each(&line, w->context);
	}
	line.packets = now->player.packets;
	if (before && before->state == ABOUT_ESTABLISHED &&
	    before->player.since_ns == now->player.since_ns)
		line.packets -= before->player.packets;
	line.event = WATCH_PLAYED;
	if (now->state == ABOUT_ESTABLISHED && line.packets)
		w->each(&line, w->context);
}

static void flows_look(struct watcher *w, struct watched *s)
{
	struct about_flow now[EXPLAIN_FLOWS];
	size_t count;

	flows_read(w, s, now, &count);
	for (size_t i = 0; i < count; i++)
		flow_compare(w, s, &now[i],
			     flow_of(s->flows, s->flow_count, now[i].port));
	for (size_t i = 0; i < s->flow_count; i++) {
		struct watch_line line = { .event = WATCH_ENDED,
					   .service = s->name,
					   .port = s->flows[i].port };

		if (!flow_of(now, count, s->flows[i].port))
			w->each(&line, w->context);
	}
	memcpy(s->flows, now, count * sizeof(*now));
	s->flow_count = count;
}

static void dues_look(struct watcher *w, struct watched *s)
{
	__u64 now[CLASS_BUDGETS][BUDGET_SETS];

	dues_read(w, s, now);
	for (int class = 0; class < CLASS_BUDGETS; class ++) {
		struct watch_line line = { .event = WATCH_PASSED,
					   .service = s->name,
					   .class = (enum wire_class) class };

		if (memcmp(now[class], s->due_ns[class], sizeof(now[class])) != 0)
			w->each(&line, w->context);
	}
	memcpy(s->due_ns, now, sizeof(now));
}

static void refused_take(enum wire_class class, const struct refused_source *from,
			 void *context)
{
	struct watcher *w = context;
	struct watch_line line = { .event = WATCH_REFUSED,
				   .service = w->now->name,
				   .class = class,
				   .reason = (enum reason)from->reason };

	if (from->net == w->host.net && from->ipv6 == w->host.ipv6)
		w->each(&line, w->context);
}

void watch_look(struct watcher *w,
		void (*each)(const struct watch_line *line, void *context), void *context)
{
	/* A period that is not over is read at the next look. */
	__u32 tick = refused_tick(about_clock(w->shield)), since = w->tick;

	w->each = each;
	w->context = context;
	if (tick - since > REFUSED_KEPT)
		since = tick - REFUSED_KEPT;
	for (size_t i = 0; i < w->service_count; i++) {
		struct watched *s = &w->services[i];

		flows_look(w, s);
		dues_look(w, s);
		w->now = s;
		shield_refused(w->shield, s->slot, since, tick, refused_take, w);
	}
	w->tick = tick;
}

/* --- lines ------------------------------------------------------------------- */

const struct json_key watch_json_keys[] = {
	JSON_KEY("time", "number", "seconds", "Time of the look, since 1970."),
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("event", "string", NULL,
		 "`flow`, `ended`, `played`, `passed` or `refused`."),
	JSON_KEY("port", "integer|null", NULL, "Port of the client, of a flow."),
	JSON_KEY("state", "string|null", NULL,
		 "`invited`, `validated` or `established`, of `flow`."),
	JSON_KEY("packets", "integer|null", "datagrams", "Number, of `played`."),
	JSON_KEY("class", "string|null", NULL, "Class, of `passed` and `refused`."),
	JSON_KEY("reason", "string|null", NULL, "Reason, of `refused`."),
	JSON_END,
};

json_t *watch_to_json(const struct watch_line *line, double time)
{
	enum watch_event event = line->event;
	bool classed = event == WATCH_PASSED || event == WATCH_REFUSED;

	return json_pack("{s:f, s:s, s:s, s:o, s:s?, s:o, s:s?, s:s?}", "time", time,
			 "service", line->service, "event", event_names[event], "port",
			 classed ? json_null() : json_integer(line->port), "state",
			 event == WATCH_FLOW ? state_names[line->state] : NULL, "packets",
			 event == WATCH_PLAYED ? json_integer(line->packets)
					       : json_null(),
			 "class", classed ? class_name(line->class) : NULL, "reason",
			 event == WATCH_REFUSED ? reason_name(line->reason) : NULL);
}

void watch_print(const struct watch_line *line, const char *time, FILE *out)
{
	fprintf(out, "%s %-16s ", time, line->service);
	switch (line->event) {
	case WATCH_FLOW:
		fprintf(out, "port %u: %s\n", line->port, state_names[line->state]);
		break;
	case WATCH_ENDED:
		fprintf(out, "port %u: no flow any more\n", line->port);
		break;
	case WATCH_PLAYED:
		fprintf(out, "port %u: %u datagrams of the player passed\n", line->port,
			line->packets);
		break;
	case WATCH_PASSED:
		fprintf(out, "class %s: passed\n", class_name(line->class));
		break;
	default:
		fprintf(out, "class %s: %s\n", class_name(line->class),
			reason_name(line->reason));
	}
}
