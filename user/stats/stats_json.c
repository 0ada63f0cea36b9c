// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stats_json.c - the snapshot as `stats --json` prints it. Keys may be added, never
 * changed: other people's programs read them.
 */
#include <errno.h>

#include "lib/json_key.h"
#include "lib/names.h"
#include "stats/decoded.h"
#include "stats/stats.h"

/* --- its keys ---------------------------------------------------------------- */

static const struct json_key counter_keys[] = {
	JSON_KEY("direction", "string", NULL,
		 "`in`: received for the service; `out`: sent by its server."),
	JSON_KEY("kind", "string", NULL, "Kind of the message, as in docs/PROTOCOLS.md."),
	JSON_KEY("verdict", "string", NULL, "Verdict of the shield."),
	JSON_KEY("reason", "string", NULL, "Reason of the verdict, as in reasons.md."),
	JSON_KEY("packets", "integer", "packets", "Datagrams."),
	JSON_KEY("bytes", "integer", "bytes", "Whole Ethernet frames without checksum."),
	JSON_END,
};

static const struct json_key ratio_keys[] = {
	JSON_KEY("payload", "number|null", "ratio",
		 "UDP payload; null before anything was received."),
	JSON_KEY("wire", "number|null", "ratio",
		 "Bytes on Ethernet, with preamble, gap and padding."),
	JSON_END,
};

static const struct json_key volume_keys[] = {
	JSON_KEY("payload", "integer", "bytes", "UDP payload."),
	JSON_KEY("wire", "integer", "bytes",
		 "On Ethernet, with preamble, gap and padding."),
	JSON_END,
};

static const struct json_key volumes_keys[] = {
	JSON_OBJECT("in", "object", NULL, "Received.", volume_keys),
	JSON_OBJECT("out", "object", NULL, "Sent.", volume_keys),
	JSON_END,
};

static const struct json_key spent_keys[] = {
	JSON_KEY(
		"*", "number", "ratio",
		"Share of the service's limit for that class of requests that is used now; 1: more is dropped."),
	JSON_END,
};

static const struct json_key template_keys[] = {
	JSON_KEY("request", "string", NULL,
		 "Kind of the request that the response belongs to."),
	JSON_KEY("nonce", "boolean", NULL,
		 "The request has a token of the client, which the response repeats."),
	JSON_KEY("bytes", "integer", "bytes", "Size of the response without the token."),
	JSON_KEY("age", "number", "seconds", "Time since the server sent it."),
	JSON_KEY("fresh", "boolean", NULL, "It is young enough to be sent."),
	JSON_END,
};

static const struct json_key service_keys[] = {
	JSON_KEY("name", "string", NULL, "Name of the service in the configuration."),
	JSON_KEY("protocol", "string", NULL, "Its protocol."),
	JSON_KEY("observe", "boolean", NULL,
		 "Verdicts are counted, and nothing is dropped."),
	JSON_KEY("players", "integer", "players",
		 "Players that the server has accepted and sent to within a minute."),
	JSON_OBJECT(
		"amplification", "object", "ratio",
		"Bytes sent to peers that are no verified players, for each byte from them.",
		ratio_keys),
	JSON_OBJECT(
		"counters", "object[]", NULL,
		"One for each direction, kind and reason that was counted since the counters began.",
		counter_keys),
	JSON_OBJECT("limits_used", "object", "ratio", "By class of requests.",
		    spent_keys),
	JSON_OBJECT("unverified", "object", "bytes",
		    "Traffic with peers that are no verified players.", volumes_keys),
	JSON_OBJECT("decoded", "object|null", NULL,
		    "Samples that the daemon has decoded; null without such a daemon.",
		    decoded_json_keys),
	JSON_OBJECT("cached_responses", "object[]", NULL,
		    "Responses that the shield can send in the server's place.",
		    template_keys),
	JSON_END,
};

const struct json_key stats_json_link_keys[] = {
	JSON_KEY("interface", "string", NULL, "Name of the interface."),
	JSON_KEY("mode", "string", NULL,
		 "`native` or `skb` (generic XDP); `auto`: it is attached in neither."),
	JSON_KEY("since", "string|null", NULL,
		 "When the shield was attached; null: it is not."),
	JSON_KEY(
		"protected", "boolean", NULL,
		"The interface carries the shield's programs, both ways, and runs them."),
	JSON_KEY(
		"judges_nothing_since", "string|null", NULL,
		"When frames came in first that the attached program was not run for; null: it runs."),
	JSON_KEY("ingress", "boolean", NULL,
		 "It carries the program for received frames."),
	JSON_KEY("egress", "boolean", NULL, "It carries the program for sent frames."),
	JSON_KEY("missing", "boolean", NULL, "The interface does not exist now."),
	JSON_KEY("up", "boolean", NULL,
		 "It exists, is up, has a carrier, and is not dormant."),
	JSON_END,
};

static const struct json_key other_keys[] = {
	JSON_KEY("verdict", "string", NULL, "Verdict of the shield."),
	JSON_KEY("packets", "integer", "packets", "Frames."),
	JSON_KEY("bytes", "integer", "bytes", "Whole Ethernet frames without checksum."),
	JSON_END,
};

static const struct json_key others_keys[] = {
	JSON_OBJECT("*", "object", NULL, "By reason, as in reasons.md.", other_keys),
	JSON_END,
};

static const struct json_key sampler_keys[] = {
	JSON_KEY("taken", "integer", "samples", "Datagrams copied to the daemon."),
	JSON_KEY("limited", "integer", "samples",
		 "Not copied: above the rate of the sampler."),
	JSON_KEY("lost", "integer", "samples", "Not copied: the ring buffer was full."),
	JSON_END,
};

static const struct json_key samplers_keys[] = {
	JSON_OBJECT("*", "object", NULL, "By sampler: `statistic` or `follow`.",
		    sampler_keys),
	JSON_END,
};

static const struct json_key room_keys[] = {
	JSON_KEY("used", "integer", "entries", "Entries in use."),
	JSON_KEY("capacity", "integer", "entries", "Entries that it has room for."),
	JSON_END,
};

static const struct json_key rooms_keys[] = {
	JSON_OBJECT("*", "object", NULL, "By table, as in limits.md.", room_keys),
	JSON_END,
};

const struct json_key stats_json_keys[] = {
	JSON_KEY("interface", "string|null", NULL, "First of `interfaces`."),
	JSON_KEY("mode", "string|null", NULL, "Its mode."),
	JSON_OBJECT(
		"interfaces", "object[]", NULL,
		"Interfaces that the shield is attached to, and those of the configuration that it is not attached to.",
		stats_json_link_keys),
	JSON_OBJECT("services", "object[]", NULL,
		    "Services of the configuration in force.", service_keys),
	JSON_OBJECT("other", "object", NULL, "Frames that are no datagram for a service.",
		    others_keys),
	JSON_OBJECT("samplers", "object", NULL, "Samples and their outcome.",
		    samplers_keys),
	JSON_OBJECT("maps", "object", NULL, "Tables that can become full.", rooms_keys),
	JSON_KEY("generation", "integer", NULL,
		 "Number of the configuration in force; grows by one with each."),
	JSON_KEY(
		"fallback", "boolean", NULL,
		"The kernel refused the programs for address validation and cached responses: both are off."),
	JSON_KEY("time", "number", "seconds", "When the counters were read, since 1970."),
	JSON_END,
};
/* --- writing them ------------------------------------------------------------ */

static json_t *integer(__u64 n)
{
	return json_integer((json_int_t)n);
}

static json_t *counter(const char *direction, enum wire_kind kind, enum reason reason,
		       const struct counter *t)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "direction", direction, "kind",
			 kind_name(kind), "verdict", verdict_name(reason_verdict(reason)),
			 "reason", reason_name(reason), "packets", integer(t->packets),
			 "bytes", integer(t->bytes));
}

static void counters_add(json_t *list, const char *direction, const struct counters *t)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			if (t->by[kind][reason].packets)
				json_array_append_new(
					list, counter(direction, (enum wire_kind)kind,
						      (enum reason)reason,
						      &t->by[kind][reason]));
}

static json_t *ratio(__u64 out, __u64 in)
{
	double x;

	return stats_ratio(out, in, &x) ? json_real(x) : json_null();
}

/* How much of each is spent now. */
static json_t *budgets(const double spent[CLASS_BUDGETS])
{
	json_t *object = json_object();

	for (int class = 0; class < CLASS_BUDGETS; class ++)
		json_object_set_new(object, class_name((enum wire_class) class),
				    json_real(spent[class]));
	return object;
}

static json_t *volume(const struct volume *v)
{
	return json_pack("{s:o, s:o}", "payload", integer(v->payload), "wire",
			 integer(v->wire));
}

/* The cached responses that the kernel could send now. */
static json_t *templates(const struct stats_service *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->cached_count; i++) {
		const struct cached_response *t = &s->cached[i];
		__u64 age_ms = t->age_ns / 1000000;

		json_array_append_new(
			list,
			json_pack("{s:s, s:b, s:o, s:f, s:b}", "request", t->request,
				  "nonce", t->nonce, "bytes", integer(t->bytes), "age",
				  (double)age_ms / 1000, "fresh", t->fresh));
	}
	return list;
}

static json_t *service(const struct stats_service *s, const json_t *decoded)
{
	const struct volume *in = &s->in.unverified, *out = &s->out.unverified;
	json_t *counters = json_array();

	counters_add(counters, "in", &s->in);
	counters_add(counters, "out", &s->out);
	return json_pack(
		"{s:s, s:s, s:b, s:o, s:{s:o, s:o}, s:o, s:o, s:{s:o, s:o}, s:O?, s:o}",
		"name", s->service.name, "protocol",
		family_name((enum wire_family)s->service.family), "observe",
		s->service.observe, "players", integer(s->players), "amplification",
		"payload", ratio(out->payload, in->payload), "wire",
		ratio(out->wire, in->wire), "counters", counters, "limits_used",
		budgets(s->limits_used), "unverified", "in", volume(in), "out",
		volume(out), "decoded", json_object_get(decoded, s->service.name),
		"cached_responses", templates(s));
}

json_t *stats_json_link(const struct shield_link *link)
{
	char since[TIME_TEXT], unrun[TIME_TEXT];

	time_format(link->since, since);
	time_format(link->unrun_since, unrun);
	return json_pack("{s:s, s:s, s:s?, s:b, s:s?, s:b, s:b, s:b, s:b}", "interface",
			 link->interface, "mode", mode_name(link->mode), "since",
			 link->since ? since : NULL, "protected",
			 shield_link_protects(link), "judges_nothing_since",
			 link->unrun_since ? unrun : NULL, "ingress", link->ingress,
			 "egress", link->egress, "missing", link->missing, "up",
			 !link->missing && !link->down && !link->dormant);
}

static json_t *others(const struct counter counters[OTHER_COUNT])
{
	json_t *object = json_object();

	for (int i = 0; i < OTHER_COUNT; i++)
		json_object_set_new(object, other_name((enum other)i),
				    json_pack("{s:s, s:o, s:o}", "verdict",
					      verdict_name(other_verdict((enum other)i)),
					      "packets", integer(counters[i].packets),
					      "bytes", integer(counters[i].bytes)));
	return object;
}

static json_t *samplers(const struct sampled sampled[SAMPLER_COUNT])
{
	json_t *object = json_object();

	for (int i = 0; i < SAMPLER_COUNT; i++)
		json_object_set_new(object, sampler_name((enum sampler)i),
				    json_pack("{s:o, s:o, s:o}", "taken",
					      integer(sampled[i].taken), "limited",
					      integer(sampled[i].limited), "lost",
					      integer(sampled[i].lost)));
	return object;
}

static json_t *tables(const struct table_usage all[TABLE_COUNT])
{
	json_t *object = json_object();

	for (int i = 0; i < TABLE_COUNT; i++)
		json_object_set_new(object, table_name((enum usage_table)i),
				    json_pack("{s:o, s:o}", "used", integer(all[i].used),
					      "capacity", integer(all[i].capacity)));
	return object;
}

int stats_json(const struct stats *stats, const json_t *decoded, FILE *out)
{
	const struct shield_link *first = stats->link_count ? stats->links : NULL;
	json_t *interfaces = json_array(), *services = json_array();
	json_t *root;
	int err;

	for (size_t i = 0; i < stats->link_count; i++)
		json_array_append_new(interfaces, stats_json_link(&stats->links[i]));
	for (size_t i = 0; i < stats->service_count; i++)
		json_array_append_new(services, service(&stats->services[i], decoded));
	root = json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:f}",
			 "interface", first ? first->interface : NULL, "mode",
			 first ? mode_name(first->mode) : NULL, "interfaces", interfaces,
			 "services", services, "other", others(stats->others), "samplers",
			 samplers(stats->sampled), "maps", tables(stats->tables),
			 "generation", integer(stats->generation), "fallback",
			 stats->fallback, "time", (double)stats->time_ms / 1000);
	if (!root)
		return -ENOMEM;
	err = json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(14));
	json_decref(root);
	return err || fputc('\n', out) == EOF || fflush(out) ? -EIO : 0;
}
