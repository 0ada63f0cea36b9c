// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_say.c - what listed.h tells, as lines to read and for programs.
 */
#include <jansson.h>

#include "lib/names.h"
#include "lib/util.h"
#include "listed/listed.h"

static const char *const states[] = {
	[LISTED_YES] = "listed",
	[LISTED_NO] = "not-listed",
	[LISTED_SILENT] = "no-reply",
	[LISTED_UNKNOWN] = "unknown",
};

static const char *const askers[] = {
	[LISTED_NEWCOMER] = "newcomer",
	[LISTED_ALLOWED] = "allowed",
	[LISTED_MASTER] = "master",
};

/* --- text ---------------------------------------------------------------- */

static void row_print(const struct listed_master *m, const struct listed_row *row,
		      FILE *out)
{
	static const char *const words[] = {
		[LISTED_YES] = "listed",
		[LISTED_NO] = "not listed",
		[LISTED_SILENT] = "no reply",
		[LISTED_UNKNOWN] = "unknown",
	};
	char address[EXPLAIN_ADDRESS];

	fprintf(out, "  %s: %s", m->name, words[row->state]);
	if (row->state == LISTED_YES) {
		explain_format(row->as, row->as_port, address);
		fprintf(out, " as %s", address);
	}
	if (row->datagrams)
		fprintf(out, ", of %zu servers", row->servers);
	if (row->why)
		fprintf(out, ": %s", row->why);
	fprintf(out, "; heartbeats %s\n",
		row->reports ? "were sent to it in the last 15 minutes" : "not seen");
}

static const char *outcome(const struct explain_step *step)
{
	enum verdict verdict = reason_verdict(step->in.reason);

	if (step->in.passes && verdict == VERDICT_DROP)
		return "passes, though it would be dropped: the service only observes";
	if (verdict == VERDICT_DROP)
		return "is dropped";
	if (verdict == VERDICT_PASS)
		return "passes to the server";
	return step->in.reason == REASON_CHALLENGED ? "has to validate its address first"
						    : "gets a response from the cache";
}

static void try_print(const struct listed_try *try, FILE *out)
{
	static const char *const who[] = {
		[LISTED_NEWCOMER] = "a newcomer",
		[LISTED_ALLOWED] = "a source of the allow list",
		[LISTED_MASTER] = "the master",
	};
	const struct explain_step *step = &try->step;
	char address[EXPLAIN_ADDRESS];

	explain_format(try->address, 0, address);
	if (step->error || !step->in.judged) {
		fprintf(out, "  query of %s, %s: not judged\n", who[try->asker], address);
		return;
	}
	fprintf(out, "  %s of %s, %s: %s (%s)", kind_name(step->in.kind), who[try->asker],
		address, outcome(step), reason_name(step->in.reason));
	if (step->has_answer)
		fprintf(out, ", its response %s (%s)",
			step->out.passes ? "leaves" : "does not leave",
			reason_name(step->out.reason));
	fputc('\n', out);
}

static void service_print(const struct listed *l, const struct listed_service *s,
			  FILE *out)
{
	fprintf(out, "service '%s' (%s", s->service.name,
		family_name((enum wire_family)s->service.family));
	if (*s->game)
		fprintf(out, ", game %s", s->game);
	if (*s->protocol)
		fprintf(out, ", protocol %s", s->protocol);
	fprintf(out, "): %s; its server has sent %llu heartbeats\n",
		s->why	    ? "no master is asked"
		: s->listed ? "listed"
			    : "not found in any list",
		(unsigned long long)s->heartbeats);
	if (s->why)
		fprintf(out, "  %s\n", s->why);
	for (size_t i = 0; i < l->query.master_count; i++)
		if (s->rows[i].asked)
			row_print(&l->query.masters[i], &s->rows[i], out);
	for (size_t i = 0; i < s->try_count; i++)
		try_print(&s->tries[i], out);
}

void listed_print(const struct listed *l, FILE *out)
{
	for (size_t i = 0; i < l->service_count; i++)
		service_print(l, &l->services[i], out);
}

/* --- JSON ---------------------------------------------------------------- */

static const struct json_key master_keys[] = {
	JSON_KEY("master", "string", NULL, "Host, perhaps with a port, as it was named."),
	JSON_KEY("address", "string|null", NULL,
		 "Address and port that was asked; null: the name has no address."),
	JSON_KEY(
		"state", "string", NULL,
		"`listed`, `not-listed`, `no-reply`, or `unknown` if the reply does not say."),
	JSON_KEY("as", "string|null", NULL,
		 "Address and port of the entry; null: there is none."),
	JSON_KEY("why", "string|null", NULL, "Why there is no reply, or no certainty."),
	JSON_KEY("servers", "integer", "servers", "Entries of its list."),
	JSON_KEY("datagrams", "integer", "datagrams", "Datagrams of its list."),
	JSON_KEY(
		"heartbeats", "boolean", NULL,
		"The shield has seen a heartbeat of the server to it in the last 15 minutes."),
	JSON_END,
};

static const struct json_key asker_keys[] = {
	JSON_KEY("asker", "string", NULL,
		 "`newcomer`, `allowed` for a source of the allow list, or `master`."),
	JSON_KEY("address", "string", NULL, "Its address."),
	JSON_KEY("kind", "string|null", NULL, "Kind of its query."),
	JSON_KEY("verdict", "string|null", NULL,
		 "`pass`, `drop` or `respond`; null: the query is not judged."),
	JSON_KEY("reason", "string|null", NULL, "Reason of the verdict."),
	JSON_KEY("passes", "boolean", NULL,
		 "It goes on to the server. A service that only observes passes all."),
	JSON_KEY("response_leaves", "boolean|null", NULL,
		 "The server's response leaves; null: none was tried."),
	JSON_END,
};

static const struct json_key service_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("protocol", "string", NULL, "Its configured protocol."),
	JSON_KEY(
		"game", "string|null", NULL,
		"Game that its server names; null: none, or one that its protocol tells."),
	JSON_KEY("game_protocol", "string|null", NULL,
		 "Number of the protocol that its server names."),
	JSON_KEY("listed", "boolean", NULL, "One master at least lists it."),
	JSON_KEY("why", "string|null", NULL, "Why no master is asked; null: they are."),
	JSON_KEY("heartbeats", "integer", "datagrams",
		 "Heartbeats that its server has sent."),
	JSON_OBJECT("masters", "object[]", NULL, "Master servers that were asked for it.",
		    master_keys),
	JSON_OBJECT("askers", "object[]", NULL,
		    "Sources, and how the query of each would be judged now.",
		    asker_keys),
	JSON_END,
};

const struct json_key listed_json_keys[] = {
	JSON_KEY("listed", "boolean", NULL,
		 "Each service with masters is listed by one at least."),
	JSON_OBJECT("services", "object[]", NULL, "Services of the configuration.",
		    service_keys),
	JSON_END,
};

static json_t *place_json(const __be32 address[4], __u16 port, bool has)
{
	char text[EXPLAIN_ADDRESS];

	explain_format(address, port, text);
	return has ? json_string(text) : json_null();
}

static json_t *row_json(const struct listed_master *m, const struct listed_row *row)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:s?, s:I, s:I, s:b}", "master", m->name,
			 "address", place_json(row->address, row->port, !m->wrong),
			 "state", states[row->state], "as",
			 place_json(row->as, row->as_port, row->state == LISTED_YES),
			 "why", row->why, "servers", (json_int_t)row->servers,
			 "datagrams", (json_int_t)row->datagrams, "heartbeats",
			 row->reports);
}

static json_t *try_json(const struct listed_try *try)
{
	const struct explain_step *step = &try->step;
	bool judged = !step->error && step->in.judged;

	return json_pack("{s:s, s:o, s:s?, s:s?, s:s?, s:b, s:o}", "asker",
			 askers[try->asker], "address", place_json(try->address, 0, true),
			 "kind", judged ? kind_name(step->in.kind) : NULL, "verdict",
			 judged ? verdict_name(reason_verdict(step->in.reason)) : NULL,
			 "reason", judged ? reason_name(step->in.reason) : NULL, "passes",
			 step->in.passes, "response_leaves",
			 step->has_answer ? json_boolean(step->out.passes) : json_null());
}

static json_t *service_json(const struct listed *l, const struct listed_service *s)
{
	json_t *masters = json_array(), *tries = json_array();

	for (size_t i = 0; i < l->query.master_count; i++)
		if (s->rows[i].asked)
			json_array_append_new(masters, row_json(&l->query.masters[i],
								&s->rows[i]));
	for (size_t i = 0; i < s->try_count; i++)
		json_array_append_new(tries, try_json(&s->tries[i]));
	return json_pack("{s:s, s:s, s:s?, s:s?, s:b, s:s?, s:I, s:o, s:o}", "service",
			 s->service.name, "protocol",
			 family_name((enum wire_family)s->service.family), "game",
			 *s->game ? s->game : NULL, "game_protocol",
			 *s->protocol ? s->protocol : NULL, "listed", s->listed, "why",
			 s->why, "heartbeats", (json_int_t)s->heartbeats, "masters",
			 masters, "askers", tries);
}

json_t *listed_to_json(const struct listed *l)
{
	json_t *services = json_array();

	for (size_t i = 0; i < l->service_count; i++)
		json_array_append_new(services, service_json(l, &l->services[i]));
	return json_pack("{s:b, s:o}", "listed", listed_all(l), "services", services);
}
