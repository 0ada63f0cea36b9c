// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * incident_json.c - see incident_json.h.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "incident/incident_json.h"
#include "incident/incident_sources.h"
#include "lib/json_key.h"
#include "lib/names.h"

/* --- out ----------------------------------------------------------------------- */

void incident_time(int64_t ms, char ret[INCIDENT_TIME])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	size_t n;

	if (!gmtime_r(&seconds, &tm)) {
		strcpy(ret, "?");
		return;
	}
	n = strftime(ret, INCIDENT_TIME - 8, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret + n, INCIDENT_TIME - n, ".%03dZ", (int)(ms % 1000));
}

static json_t *integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Those of @n counts that are the largest, as an object, most first. */
static json_t *largest(const uint64_t *counts, int n, const char *(*name)(int))
{
	json_t *object = json_object();
	uint64_t below = UINT64_MAX;
	int after = -1, named = 0;

	while (named < INCIDENT_TOP) {
		int best = -1;

		for (int i = 0; i < n; i++) {
			bool next =
				counts[i] < below || (counts[i] == below && i > after);

			if (counts[i] && next && (best < 0 || counts[i] > counts[best]))
				best = i;
		}
		if (best < 0)
			break;
		json_object_set_new(object, name(best), integer(counts[best]));
		below = counts[best];
		after = best;
		named++;
	}
	return object;
}

static const char *kind_text(int kind)
{
	return kind_name((enum wire_kind)kind);
}

static const char *reason_text(int reason)
{
	return reason_name((enum reason)reason);
}

/* Reasons of one sort: why it was dropped, or why it was not. */
static json_t *reasons(const struct incident *i, bool dropped)
{
	uint64_t some[REASON_COUNT] = { 0 };

	for (int reason = 0; reason < REASON_COUNT; reason++)
		if ((reason_verdict((enum reason)reason) == VERDICT_DROP) == dropped)
			some[reason] = i->reasons[reason];
	return largest(some, REASON_COUNT, reason_text);
}

static json_t *address(const struct record_address *a)
{
	char text[INET6_ADDRSTRLEN];

	if (!a->length ||
	    !inet_ntop(a->length == 4 ? AF_INET : AF_INET6, a->bytes, text, sizeof(text)))
		return json_null();
	return json_string(text);
}

static json_t *time_or_null(int64_t ms)
{
	char text[INCIDENT_TIME];

	if (!ms)
		return json_null();
	incident_time(ms, text);
	return json_string(text);
}

/* The sorts that it has been beside the one that it began as; NULL: none. */
static json_t *also(const struct incident *i)
{
	json_t *list;

	if (i->sorts == 1u << i->sort)
		return NULL;
	list = json_array();
	for (int sort = 0; sort < INCIDENT_SORTS; sort++)
		if (sort != (int)i->sort && i->sorts & 1u << sort)
			json_array_append_new(list, json_string(incident_sort_name(
							    (enum incident_sort)sort)));
	return list;
}

static const struct json_key peak_keys[] = {
	JSON_KEY("packets_per_s", "number", "packets per second",
		 "Received for the service, most in one second."),
	JSON_KEY("bits_per_s", "number", "bits per second", "The same in bits."),
	JSON_END,
};

static const struct json_key counts_keys[] = {
	JSON_KEY("*", "integer", "packets",
		 "Packets of that name; at most 8 names, most first."),
	JSON_END,
};

#define INCIDENT_NAMED_KEYS                                                          \
	JSON_KEY("class", "string", NULL, "Class of its datagrams."),                \
		JSON_KEY("reason", "string", NULL, "Reason of most refusals."),      \
		JSON_KEY("share", "number", "ratio",                                 \
			 "Estimate of its share of what was refused of the class."), \
		JSON_KEY("packets", "integer", "packets",                            \
			 "Estimate of what was refused of it.")

static const struct json_key top_prefix_keys[] = {
	JSON_KEY("prefix", "string", NULL, "An IPv4 /24 or IPv6 /56."),
	INCIDENT_NAMED_KEYS,
	JSON_END,
};
static const struct json_key top_keys[] = {
	JSON_KEY("source", "string", NULL, "An IPv4 address or IPv6 /64."),
	INCIDENT_NAMED_KEYS,
	JSON_END,
};

static const struct json_key sources_keys[] = {
	JSON_KEY("sampled", "integer", "samples",
		 "Samples of refused and challenged datagrams."),
	JSON_KEY("distinct", "integer", "addresses",
		 "Estimate of the different source addresses in them."),
	JSON_KEY(
		"spoofed", "string", NULL,
		"Are the source addresses spoofed: `likely`, `possible`, `unlikely` or `unknown`."),
	JSON_OBJECT("top", "object[]", NULL,
		    "Sources of a twentieth or more of a class, by samples; at most 8.",
		    top_keys),
	JSON_END,
};

static const struct json_key players_keys[] = {
	JSON_KEY("before", "integer", "players", "Players before the attack."),
	JSON_KEY("min", "integer", "players", "Fewest players during the attack."),
	JSON_KEY("max", "integer", "players", "Most players during the attack."),
	JSON_END,
};

const struct json_key incident_json_keys[] = {
	JSON_KEY("id", "string", NULL,
		 "Names the attack: its start, and a number of the service."),
	JSON_KEY("event", "string", NULL,
		 "`start`, `update` or `end`: the last that is known of it."),
	JSON_KEY("service", "string|null", NULL,
		 "Name of the service; null: the machine."),
	JSON_KEY("protocol", "string|null", NULL, "Protocol of the service."),
	JSON_KEY("type", "string", NULL,
		 "`flood`, `password-guessing` or `closed-ports`: what it began as."),
	JSON_KEY(
		"also", "string[]?", NULL,
		"Other sorts of attack that have begun on the service since, in the same words."),
	JSON_KEY("observed", "boolean", NULL,
		 "The service is observed only: nothing was dropped."),
	JSON_KEY("start", "string|null", NULL, "UTC, as 2026-11-22T14:45:01.250Z."),
	JSON_KEY("end", "string|null", NULL, "UTC; null: the attack goes on."),
	JSON_KEY("duration_s", "number", "seconds",
		 "From its start to its end, or to the last packet so far."),
	JSON_KEY("pauses", "integer", "pauses", "Pauses of 10 seconds or more."),
	JSON_KEY("packets", "integer", "packets",
		 "Received for the service during the attack."),
	JSON_KEY("bytes", "integer", "bytes", "The same in bytes of whole frames."),
	JSON_KEY("dropped", "integer", "packets", "Dropped."),
	JSON_KEY(
		"observed_only", "integer", "packets",
		"Would have been dropped or withheld if the service were not observed only."),
	JSON_KEY(
		"withheld", "integer", "packets",
		"Packets of the server that were not sent, by the anti-amplification limit."),
	JSON_OBJECT("peak", "object", NULL, "Height of the attack.", peak_keys),
	JSON_OBJECT("kinds", "object", "packets", "By kind of message.", counts_keys),
	JSON_OBJECT("reasons", "object", "packets",
		    "Dropped or withheld, or that would have been, by reason.",
		    counts_keys),
	JSON_OBJECT("not_dropped", "object", "packets", "Not dropped, by reason.",
		    counts_keys),
	JSON_OBJECT("sources", "object", NULL, "Sources of the attack, from samples.",
		    sources_keys),
	JSON_OBJECT("top_prefixes", "object[]", NULL,
		    "Prefixes of a twentieth or more of a class, by samples; at most 8.",
		    top_prefix_keys),
	JSON_KEY("target", "string|null", NULL,
		 "Address that the attack is aimed at; null: not known."),
	JSON_KEY("port", "integer", NULL, "UDP port that it is aimed at; 0: not known."),
	JSON_OBJECT("players", "object", "players", "Players of the service.",
		    players_keys),
	JSON_KEY("capture", "string|null", NULL,
		 "File with packets of the attack, while it is kept."),
	JSON_KEY(
		"told", "boolean?", NULL,
		"The on-attack command was told of its start, and is told of its end then."),
	JSON_KEY(
		"untold", "integer?", "attacks",
		"To the on-attack command alone: attacks since the last call that it was not told of."),
	JSON_END,
};

json_t *incident_json(const struct incident *i, enum incident_event event,
		      const char *capture)
{
	bool service = i->service[0];

	return json_pack(
		"{s:s, s:s, s:s?, s:s?, s:s, s:o*, s:b, s:o, s:o, s:f, s:i, s:I, s:I, s:I, s:I, s:I, "
		"s:{s:f, s:f}, s:o, s:o, s:o, s:{s:I, s:I, s:s, s:o}, s:o, s:o, s:i, "
		"s:{s:i, s:i, s:i}, s:s?, s:b}",
		"id", i->id, "event", incident_event_name(event), "service",
		service ? i->service : NULL, "protocol",
		service ? family_name(i->family) : NULL, "type",
		incident_sort_name(i->sort), "also", also(i), "observed", i->observed,
		"start", time_or_null(i->start_ms), "end", time_or_null(i->end_ms),
		"duration_s",
		(double)((i->end_ms ? i->end_ms : i->last_ms) - i->start_ms) / 1000,
		"pauses", (int)i->pauses, "packets", (json_int_t)i->packets, "bytes",
		(json_int_t)i->bytes, "dropped", (json_int_t)i->dropped, "observed_only",
		(json_int_t)(i->refused - i->dropped), "withheld",
		(json_int_t)i->withheld, "peak", "packets_per_s", i->peak_pps,
		"bits_per_s", i->peak_bps, "kinds",
		largest(i->kinds, KIND_COUNT, kind_text), "reasons", reasons(i, true),
		"not_dropped", reasons(i, false), "sources", "sampled",
		(json_int_t)i->sources.sampled, "distinct",
		(json_int_t)incident_distinct(i), "spoofed",
		incident_spoofed_name(incident_spoofed(i)), "top",
		incident_sources_json(i), "top_prefixes", incident_prefixes_json(i),
		"target", address(&i->sources.target), "port",
		(int)i->sources.target.port, "players", "before", (int)i->players_before,
		"min", (int)i->players_least, "max", (int)i->players_most, "capture",
		capture && *capture ? capture : NULL, "told", i->told);
}

/* --- for people ------------------------------------------------------------------ */

void incident_sorts(const json_t *incident, char ret[INCIDENT_SORTS_TEXT])
{
	const char *what = json_string_value(json_object_get(incident, "type"));
	size_t used = (size_t)snprintf(ret, INCIDENT_SORTS_TEXT, "%s", what ? what : "?");
	json_t *name;
	size_t i;

	json_array_foreach (json_object_get(incident, "also"), i, name) {
		const char *text = json_string_value(name);

		if (text && used < INCIDENT_SORTS_TEXT)
			used += (size_t)snprintf(ret + used, INCIDENT_SORTS_TEXT - used,
						 " + %s", text);
	}
}

/* The three largest; their shares are in the JSON. */
static void names_put(char *to, size_t size, const json_t *object)
{
	const char *key;
	json_t *value;
	int n = 0;

	*to = 0;
	json_object_foreach ((json_t *)object, key, value) {
		if (n++ == 3)
			break;
		if (*to)
			strncat(to, ", ", size - strlen(to) - 1);
		strncat(to, key, size - strlen(to) - 1);
	}
}

void incident_text(const struct incident *i, enum incident_event event,
		   char ret[INCIDENT_TEXT])
{
	static const char *const verbs[INCIDENT_EVENTS] = {
		[INCIDENT_NOTHING] = "is there",
		[INCIDENT_STARTED] = "begins",
		[INCIDENT_UPDATED] = "goes on",
		[INCIDENT_ENDED] = "is over",
	};
	json_t *kinds = largest(i->kinds, KIND_COUNT, kind_text);
	json_t *why = reasons(i, true);
	json_t *object = incident_json(i, event, NULL);
	char sort[INCIDENT_SORTS_TEXT], kind[128], reason[128],
		paused[32] = "", would[48] = "", from[INCIDENT_FROM];

	if (i->pauses)
		snprintf(paused, sizeof(paused), " with %u pause%s", i->pauses,
			 i->pauses == 1 ? "" : "s");
	if (i->refused > i->dropped)
		snprintf(would, sizeof(would), ", %llu would have been",
			 (unsigned long long)(i->refused - i->dropped));
	incident_sorts(object, sort);
	names_put(kind, sizeof(kind), kinds);
	names_put(reason, sizeof(reason), why);
	incident_from(object, from);
	json_decref(kinds);
	json_decref(why);
	json_decref(object);
	snprintf(
		ret, INCIDENT_TEXT,
		"attack %s %s: %s on %s%s, %.0f s%s, peak %.0f packets/s and %.0f bit/s, "
		"%llu dropped%s (%s; %s)%s%s, senders spoofed: %s, "
		"players %u before, %u to %u since",
		i->id, verbs[event], sort, i->service[0] ? i->service : "this machine",
		i->observed ? " (observed only)" : "",
		(double)((i->end_ms ? i->end_ms : i->last_ms) - i->start_ms) / 1000,
		paused, i->peak_pps, i->peak_bps, (unsigned long long)i->dropped, would,
		*kind ? kind : "-", *reason ? reason : "-",
		*from ? ", by samples from " : "", from,
		incident_spoofed_name(incident_spoofed(i)), i->players_before,
		i->players_least, i->players_most);
}

/* --- in -------------------------------------------------------------------------- */

/* A number beyond any count was not written by this program. */
static double real(const json_t *object, const char *key)
{
	double n = json_number_value(json_object_get(object, key));

	return n > 0 && n < 1e15 ? n : 0;
}

static uint64_t number(const json_t *object, const char *key)
{
	double n = json_number_value(json_object_get(object, key));

	return n > 0 && n < 1e18 ? (uint64_t)n : 0;
}

/* "2026-11-22T14:45:01.250Z"; 0: it is none. */
static int64_t time_parse(const json_t *value)
{
	const char *text = json_string_value(value), *rest;
	struct tm tm = { 0 };

	rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!rest)
		return 0;
	return timegm(&tm) * 1000 + (*rest == '.' ? atoi(rest + 1) % 1000 : 0);
}

static void counts_parse(const json_t *object, uint64_t *counts, int n,
			 const char *(*name)(int))
{
	for (int i = 0; i < n; i++)
		if (json_object_get(object, name(i)))
			counts[i] = number(object, name(i));
}

/* The address that was attacked, so that start and end are reported with the same one. */
static void target_parse(const json_t *object, struct record_address *ret)
{
	const char *text = json_string_value(json_object_get(object, "target"));

	if (text && inet_pton(AF_INET, text, ret->bytes) == 1)
		ret->length = 4;
	else if (text && inet_pton(AF_INET6, text, ret->bytes) == 1)
		ret->length = 16;
	ret->port = (uint16_t)number(object, "port");
}

/* INCIDENT_SORTS: there is none of that name. */
static int sort_parse(const json_t *name)
{
	const char *text = json_string_value(name);
	int sort = 0;

	while (sort < INCIDENT_SORTS &&
	       (!text || strcmp(text, incident_sort_name((enum incident_sort)sort)) != 0))
		sort++;
	return sort;
}

/* Keys of another version are left out. */
static unsigned int also_parse(const json_t *list)
{
	unsigned int sorts = 0;
	json_t *name;
	size_t i;

	json_array_foreach ((json_t *)list, i, name) {
		int sort = sort_parse(name);

		sorts |= sort < INCIDENT_SORTS ? 1u << sort : 0;
	}
	return sorts;
}

/*
 * Read the id, the service, the protocol and the types of an attack from @object, an
 * event that incident_json() has written, into @i. False: @object is damaged, and @i may
 * be filled in part; incident_parse(), the only caller, then frees it. The file may be of
 * another version or edited: each text must be compared with the size of its member
 * before it is copied, and the id may have no `/`, since files of captures and events are
 * named by it. A missing service is the machine's; a missing protocol leaves what @i has.
 */
static bool names_parse(const json_t *object, struct incident *i)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *service = json_string_value(json_object_get(object, "service"));
	const char *family = json_string_value(json_object_get(object, "protocol"));
	int sort = sort_parse(json_object_get(object, "type"));

	if (!id || !*id || strlen(id) >= sizeof(i->id) || strchr(id, '/') ||
	    sort == INCIDENT_SORTS || (service && strlen(service) >= sizeof(i->service)))
		return false;
	strcpy(i->id, id);
	strcpy(i->service, service ? service : "");
	i->sort = (enum incident_sort)sort;
	i->sorts = 1u << sort | also_parse(json_object_get(object, "also"));
	return !family || family_parse(family, &i->family);
}

struct incident *incident_parse(const json_t *object)
{
	const json_t *peak = json_object_get(object, "peak");
	const json_t *players = json_object_get(object, "players");
	struct incident *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->start_ms = time_parse(json_object_get(object, "start"));
	i->end_ms = time_parse(json_object_get(object, "end"));
	if (!names_parse(object, i) || !i->start_ms || i->end_ms) {
		free(i);
		return NULL;
	}
	i->observed = json_is_true(json_object_get(object, "observed"));
	i->last_ms = i->start_ms + (int64_t)(1000 * real(object, "duration_s"));
	/* An older build did not write it. */
	i->told = !json_is_false(json_object_get(object, "told"));
	target_parse(object, &i->sources.target);
	incident_sources_parse(object, i);
	i->pauses = (uint32_t)number(object, "pauses");
	i->packets = number(object, "packets");
	i->bytes = number(object, "bytes");
	i->dropped = number(object, "dropped");
	i->refused = i->dropped + number(object, "observed_only");
	i->withheld = number(object, "withheld");
	i->peak_pps = real(peak, "packets_per_s");
	i->peak_bps = real(peak, "bits_per_s");
	i->players_before = (uint32_t)number(players, "before");
	i->players_least = (uint32_t)number(players, "min");
	i->players_most = (uint32_t)number(players, "max");
	counts_parse(json_object_get(object, "kinds"), i->kinds, KIND_COUNT, kind_text);
	counts_parse(json_object_get(object, "reasons"), i->reasons, REASON_COUNT,
		     reason_text);
	counts_parse(json_object_get(object, "not_dropped"), i->reasons, REASON_COUNT,
		     reason_text);
	return i;
}
