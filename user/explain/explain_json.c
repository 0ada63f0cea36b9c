// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain_json.c - what explain.h tells of an address, for programs.
 */
#include <string.h>

#include <jansson.h>

#include "explain/explain_internal.h"
#include "lib/names.h"

/* --- keys -------------------------------------------------------------------- */

static const struct json_key list_keys[] = {
	JSON_KEY("network", "string", NULL, "Address or network of the entry."),
	JSON_KEY("runtime", "boolean", NULL, "Added by `add`."),
	JSON_KEY("configuration", "boolean", NULL, "Listed in the configuration."),
	JSON_KEY("unlimited", "boolean", NULL,
		 "Sources of an allowed network have no limits."),
	JSON_KEY("comment", "string|null", NULL, "Comment of `add`."),
	JSON_KEY("file", "string|null", NULL, "Configuration file that lists it."),
	JSON_KEY("line", "integer|null", NULL, "Line of that file."),
	JSON_END,
};

static const struct json_key known_keys[] = {
	JSON_KEY("minutes", "integer", "minutes", "Minutes in which the address asked."),
	JSON_KEY("age_s", "number", "seconds", "Time since the last of them."),
	JSON_KEY("trusted", "boolean", NULL, "The address is known well enough."),
	JSON_KEY("has_played", "boolean", NULL, "A player was at the address."),
	JSON_END,
};

static const struct json_key allowance_keys[] = {
	JSON_KEY("limited", "boolean", NULL, "Amplification is limited."),
	JSON_KEY("strict", "boolean", NULL, "There is no allowance."),
	JSON_KEY("bytes_left", "integer|null", "bytes",
		 "Bytes that may leave now to the prefix, or to the address if it is on "
		 "the allow list; null: any number."),
	JSON_END,
};

static const struct json_key flow_keys[] = {
	JSON_KEY("port", "integer", NULL, "Port of the client."),
	JSON_KEY("state", "string", NULL, "`invited`, `validated` or `established`."),
	JSON_KEY("age_s", "number", "seconds",
		 "Time since the server accepted the player, or since the client was "
		 "invited or validated."),
	JSON_KEY(
		"heard_s", "number|null", "seconds",
		"Time since the player's last valid datagram; null: none, or no player."),
	JSON_KEY("sent_s", "number|null", "seconds",
		 "Time since the server's last datagram to the player."),
	JSON_END,
};

static const struct json_key refused_keys[] = {
	JSON_KEY("age_s", "number", "seconds", "Time since it was kept."),
	JSON_KEY("class", "string", NULL, "Class of the datagram."),
	JSON_KEY("reason", "string", NULL, "Reason of its verdict."),
	JSON_END,
};

static const struct json_key limit_keys[] = {
	JSON_KEY("left", "integer|null", "datagrams",
		 "How many more pass now; null: there is no limit."),
	JSON_KEY("burst", "integer|null", "datagrams",
		 "How many pass after a pause; null: there is no limit."),
	JSON_END,
};

static const struct json_key limits_keys[] = {
#define AS_KEY(level, symbol, name) \
	JSON_OBJECT(name, "object", NULL, "Limit of the " name ".", limit_keys),
	ABOUT_LEVELS(AS_KEY)
#undef AS_KEY
		JSON_END,
};

static const struct json_key answer_keys[] = {
	JSON_KEY("bytes", "integer", "bytes", "Frame of the answer that was tried."),
	JSON_KEY("leaves", "boolean", NULL, "It leaves."),
	JSON_KEY("reason", "string|null", NULL, "Reason of its verdict."),
	JSON_END,
};

static const struct json_key next_keys[] = {
	JSON_KEY("step", "string", NULL,
		 "`query`, `join`, `connect`, `move` or `datagram`."),
	JSON_KEY("kind", "string|null", NULL, "Kind of the datagram."),
	JSON_KEY("class", "string|null", NULL, "Class of the kind."),
	JSON_KEY("verdict", "string|null", NULL, "`pass`, `drop` or `respond`."),
	JSON_KEY("reason", "string", NULL,
		 "Reason of the verdict, or why it is no service's datagram."),
	JSON_KEY("passes", "boolean", NULL,
		 "It goes on to the server. A service that only observes passes all."),
	JSON_OBJECT("limits", "object|null", NULL,
		    "Limits that it is charged to; null: none.", limits_keys),
	JSON_OBJECT("answer", "object|null", NULL,
		    "An answer of the usual size; null: none was tried.", answer_keys),
	JSON_END,
};

static const struct json_key cause_keys[] = {
	JSON_KEY("cause", "string", NULL, "Its name: that of a reason, or another."),
	JSON_KEY("past", "boolean", NULL, "It is only in what was refused lately."),
	JSON_KEY("text", "string", NULL, "A sentence with the figures."),
	JSON_KEY("advice", "string|null", NULL, "Advice to the operator."),
	JSON_END,
};

static const struct json_key server_keys[] = {
	JSON_KEY("passed", "integer", "datagrams", "Datagrams that passed to it."),
	JSON_KEY("sent", "integer", "datagrams", "Datagrams that it has sent."),
	JSON_KEY("socket", "boolean|null", NULL,
		 "This network namespace has a socket at its port; null: not known."),
	JSON_KEY("answered_s", "number|null", "seconds",
		 "Time since it answered the daemon; null: nothing is cached."),
	JSON_END,
};

static const struct json_key datagram_keys[] = {
	JSON_KEY("from", "string|null", NULL, "Sender; null: there is no UDP header."),
	JSON_KEY("to", "string|null", NULL, "Receiver, likewise."),
	JSON_KEY("payload", "integer", "bytes", "Payload."),
	JSON_KEY("frame", "integer", "bytes", "Ethernet frame."),
	JSON_KEY("leaves", "boolean", NULL, "It comes from a service."),
	JSON_KEY("passes", "boolean", NULL, "It goes on."),
	JSON_KEY("reason", "string", NULL, "Reason of that."),
	JSON_END,
};

static const struct json_key service_keys[] = {
	JSON_KEY("name", "string", NULL, "Name of the service."),
	JSON_KEY("protocol", "string", NULL, "Its protocol."),
	JSON_KEY("port", "integer", NULL, "One of its ports."),
	JSON_KEY("observe", "boolean", NULL, "It only observes."),
	JSON_OBJECT("server", "object", NULL, "Its server.", server_keys),
	JSON_OBJECT("flows", "object[]", NULL, "Flows of the address, at most 16.",
		    flow_keys),
	JSON_OBJECT("refused", "object[]", NULL,
		    "Datagrams refused or challenged lately, by samples, newest first.",
		    refused_keys),
	JSON_OBJECT("next", "object[]", NULL,
		    "Verdicts of the next datagrams, if they came now.", next_keys),
	JSON_OBJECT("causes", "object[]", NULL,
		    "Why the client cannot play or is not answered; empty: nothing here "
		    "keeps it.",
		    cause_keys),
	JSON_END,
};

const struct json_key explain_json_keys[] = {
	JSON_KEY("address", "string", NULL, "The address."),
	JSON_KEY("port", "integer|null", NULL, "The client's port; null: any."),
	JSON_KEY("same_program", "boolean", NULL,
		 "The loaded program is of the same build as the command."),
	JSON_OBJECT("allow", "object|null", NULL, "Entry of the allow list.", list_keys),
	JSON_OBJECT("deny", "object|null", NULL, "Entry of the deny list.", list_keys),
	JSON_OBJECT("known", "object|null", NULL,
		    "Its queries, as far as they are remembered.", known_keys),
	JSON_OBJECT("allowance", "object", NULL, "Amplification to its prefix.",
		    allowance_keys),
	JSON_KEY("no_service", "integer|null", NULL,
		 "The port that was asked for and that no service has."),
	JSON_OBJECT("datagram", "object|null", NULL,
		    "The datagram that was asked about; null: none was.", datagram_keys),
	JSON_OBJECT("services", "object[]", NULL, "The services that were asked for.",
		    service_keys),
	JSON_END,
};

/* --- values ------------------------------------------------------------------ */

static double seconds(__u64 now, __u64 then)
{
	return now > then ? (double)(now - then) / 1e9 : 0;
}

static json_t *number(__u64 value)
{
	return value == ABOUT_NO_LIMIT ? json_null() : json_integer((json_int_t)value);
}

/* Time since @then; null if that is zero. */
static json_t *since(__u64 now, __u64 then)
{
	return then ? json_real(seconds(now, then)) : json_null();
}

static json_t *list_json(const struct explain *e, const struct explain_list *list)
{
	__u32 origins = list->entry.origins;
	char network[CIDR_TEXT];
	bool live = origins & LIST_RUNTIME, line = origins & LIST_CONFIG && list->line;

	if (!list->has)
		return json_null();
	cidr_format(&list->network, network);
	return json_pack("{s:s, s:b, s:b, s:b, s:o, s:o, s:o}", "network", network,
			 "runtime", live, "configuration", !!(origins & LIST_CONFIG),
			 "unlimited", !!(origins & LIST_UNLIMITED), "comment",
			 live && list->entry.comment[0] ? json_string(list->entry.comment)
							: json_null(),
			 "file", line ? json_string(e->file) : json_null(), "line",
			 line ? json_integer(list->line) : json_null());
}

static json_t *known_json(const struct explain *e)
{
	__u64 then = (__u64)(__u32)e->known << REPUTATION_SHIFT;

	if (!e->known || !(reputation_flags(e->known) & REPUTATION_PRESENT))
		return json_null();
	return json_pack("{s:i, s:f, s:b, s:b}", "minutes", reputation_minutes(e->known),
			 "age_s", seconds(e->now_ns, then), "trusted",
			 reputation_good(e->known, reputation_minute(e->now_ns)),
			 "has_played",
			 !!(reputation_flags(e->known) & REPUTATION_PLAYER));
}

static json_t *flow_json(const struct explain *e, const struct about_flow *flow)
{
	static const char *const states[] = {
		[ABOUT_INVITED] = "invited",
		[ABOUT_VALIDATED] = "validated",
		[ABOUT_ESTABLISHED] = "established",
	};

	return json_pack("{s:i, s:s, s:f, s:o, s:o}", "port", flow->port, "state",
			 states[flow->state], "age_s", seconds(e->now_ns, flow->used_ns),
			 "heard_s", since(e->now_ns, flow->player.heard_ns), "sent_s",
			 since(e->now_ns, flow->player.sent_ns));
}

static json_t *limits_json(const struct explain *e, const struct explain_step *step)
{
	static const char *const names[] = {
#define AS_NAME(level, symbol, name) name,
		ABOUT_LEVELS(AS_NAME)
#undef AS_NAME
	};
	json_t *ret = step->limited ? json_object() : json_null();

	for (int i = 0; i < ABOUT_LEVEL_COUNT && step->limited; i++)
		json_object_set_new(
			ret, names[i],
			json_pack("{s:o, s:o}", "left",
				  number(about_left(&step->limits.level[i], e->now_ns)),
				  "burst", number(about_most(&step->limits.level[i]))));
	return ret;
}

static json_t *answer_json(const struct explain_step *step)
{
	if (!step->has_answer)
		return json_null();
	return json_pack("{s:i, s:b, s:s?}", "bytes", step->answer_bytes, "leaves",
			 step->out.passes, "reason",
			 step->out.judged ? reason_name(step->out.reason) : NULL);
}

static json_t *step_json(const struct explain *e, enum wire_family family,
			 const struct explain_step *step)
{
	const struct trial_verdict *in = &step->in;
	bool judged = !step->error && in->judged;

	return json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:b, s:o, s:o}", "step",
			 step->name, "kind", judged ? kind_name(in->kind) : NULL, "class",
			 judged ? class_name(wire_class(family, in->kind)) : NULL,
			 "verdict",
			 judged ? verdict_name(reason_verdict(in->reason)) : NULL,
			 "reason", explain_reason(step), "passes", in->passes, "limits",
			 limits_json(e, step), "answer", answer_json(step));
}

static json_t *server_json(const struct explain_server *server)
{
	return json_pack("{s:I, s:I, s:o, s:o}", "passed", (json_int_t)server->asked,
			 "sent", (json_int_t)server->answered, "socket",
			 server->sockets_known ? json_boolean(server->socket)
					       : json_null(),
			 "answered_s",
			 server->cached ? json_real((double)server->cached_age_ns / 1e9)
					: json_null());
}

static json_t *service_json(const struct explain *e, const struct explain_service *s)
{
	json_t *flows = json_array(), *refused = json_array(), *next = json_array(),
	       *causes = json_array();

	for (size_t i = 0; i < s->flow_count; i++)
		json_array_append_new(flows, flow_json(e, &s->flows[i]));
	for (size_t i = 0; i < s->refusal_count; i++)
		json_array_append_new(
			refused, json_pack("{s:f, s:s, s:s}", "age_s",
					   (double)s->refusals[i].age_ns / 1e9, "class",
					   class_name(s->refusals[i].class), "reason",
					   reason_name(s->refusals[i].reason)));
	for (size_t i = 0; i < s->step_count; i++)
		json_array_append_new(next,
				      step_json(e, (enum wire_family)s->service.family,
						&s->steps[i]));
	for (size_t i = 0; i < s->cause_count; i++)
		json_array_append_new(causes, json_pack("{s:s, s:b, s:s, s:s?}", "cause",
							s->causes[i].name, "past",
							s->causes[i].past, "text",
							s->causes[i].text, "advice",
							s->causes[i].advice));
	return json_pack("{s:s, s:s, s:i, s:b, s:o, s:o, s:o, s:o, s:o}", "name",
			 s->service.name, "protocol",
			 family_name((enum wire_family)s->service.family), "port",
			 s->port, "observe", s->service.observe, "server",
			 server_json(&s->server), "flows", flows, "refused", refused,
			 "next", next, "causes", causes);
}

static json_t *datagram_json(const struct explain *e)
{
	char from[EXPLAIN_ADDRESS], to[EXPLAIN_ADDRESS];
	const struct explain_step *step = &e->stray;

	if (!e->datagram)
		return json_null();
	explain_format(e->query.address, e->query.port, from);
	explain_format(e->to, e->to_port, to);
	return json_pack("{s:s?, s:s?, s:I, s:I, s:b, s:b, s:s}", "from",
			 e->parsed ? from : NULL, "to", e->parsed ? to : NULL, "payload",
			 (json_int_t)e->payload_bytes, "frame",
			 (json_int_t)e->frame_bytes, "leaves", e->leaves, "passes",
			 step->in.passes, "reason", explain_reason(step));
}

json_t *explain_to_json(const struct explain *e)
{
	__u16 port = e->leaves ? e->to_port : e->query.port;
	char address[EXPLAIN_ADDRESS];
	json_t *services = json_array();

	for (size_t i = 0; i < e->service_count; i++)
		json_array_append_new(services, service_json(e, &e->services[i]));
	explain_format(e->host.address, 0, address);
	return json_pack(
		"{s:s, s:o, s:b, s:o, s:o, s:o, s:{s:b, s:b, s:o}, s:o, s:o, "
		"s:o}",
		"address", address, "port", port ? json_integer(port) : json_null(),
		"same_program", e->same_program, "allow", list_json(e, &e->allow), "deny",
		list_json(e, &e->deny), "known", known_json(e), "allowance", "limited",
		!e->allowance.off, "strict", e->allowance.strict, "bytes_left",
		e->allowance.off ? json_null() : json_integer(e->allowance.left),
		"no_service", e->no_service ? json_integer(e->other_port) : json_null(),
		"datagram", datagram_json(e), "services", services);
}
