// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stats_json.c - the snapshot as `stats --json` prints it. Keys may be added, never
 * changed: other people's programs read them.
 */
#include <errno.h>

#include "lib/names.h"
#include "stats/stats.h"

static json_t *integer(__u64 n)
{
	return json_integer((json_int_t)n);
}

static json_t *counter(const char *direction, enum wire_kind kind, enum reason reason,
		       const struct tally *t)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "direction", direction, "kind",
			 kind_name(kind), "verdict", verdict_name(reason_verdict(reason)),
			 "reason", reason_name(reason), "packets", integer(t->packets),
			 "bytes", integer(t->bytes));
}

static void counters_add(json_t *list, const char *direction, const struct tallies *t)
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

/* What the kernel could answer now in the server's place. */
static json_t *templates(const struct stats_service *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->template_count; i++) {
		const struct shield_template *t = &s->templates[i];
		__u64 age_ms = t->age_ns / 1000000;

		json_array_append_new(
			list,
			json_pack("{s:s, s:b, s:o, s:f, s:b}", "question", t->question,
				  "nonce", t->nonce, "bytes", integer(t->bytes), "age",
				  (double)age_ms / 1000, "fresh", t->fresh));
	}
	return list;
}

static json_t *service(const struct stats_service *s, const json_t *decoded)
{
	const struct volume *in = &s->in.strangers, *out = &s->out.strangers;
	json_t *counters = json_array();

	counters_add(counters, "in", &s->in);
	counters_add(counters, "out", &s->out);
	return json_pack(
		"{s:s, s:s, s:b, s:o, s:{s:o, s:o}, s:o, s:o, s:{s:o, s:o}, s:O?, s:o}",
		"name", s->service.name, "protocol",
		family_name((enum wire_family)s->service.family), "observe",
		s->service.observe, "players", integer(s->players), "amplification",
		"payload", ratio(out->payload, in->payload), "wire",
		ratio(out->wire, in->wire), "counters", counters, "budgets",
		budgets(s->spent), "strangers", "in", volume(in), "out", volume(out),
		"decoded", json_object_get(decoded, s->service.name), "templates",
		templates(s));
}

json_t *stats_json_link(const struct shield_link *link)
{
	char since[TIME_TEXT];

	time_format(link->since, since);
	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:b, s:b}", "interface",
			 link->interface, "mode", mode_name(link->mode), "since", since,
			 "ours", link->ours, "ingress", link->ingress, "egress",
			 link->egress, "gone", link->gone, "up",
			 !link->gone && !link->down);
}

static json_t *others(const struct tally tallies[OTHER_COUNT])
{
	json_t *object = json_object();

	for (int i = 0; i < OTHER_COUNT; i++)
		json_object_set_new(object, other_name((enum other)i),
				    json_pack("{s:s, s:o, s:o}", "verdict",
					      verdict_name(other_verdict((enum other)i)),
					      "packets", integer(tallies[i].packets),
					      "bytes", integer(tallies[i].bytes)));
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

static json_t *rooms(const struct shield_room all[ROOM_COUNT])
{
	json_t *object = json_object();

	for (int i = 0; i < ROOM_COUNT; i++)
		json_object_set_new(object, room_name((enum room)i),
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
	root = json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "interface",
			 first ? first->interface : NULL, "mode",
			 first ? mode_name(first->mode) : NULL, "interfaces", interfaces,
			 "services", services, "other", others(stats->others), "samplers",
			 samplers(stats->sampled), "maps", rooms(stats->rooms),
			 "generation", integer(stats->generation), "time",
			 (double)stats->time_ms / 1000);
	if (!root)
		return -ENOMEM;
	err = json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(14));
	json_decref(root);
	return err || fputc('\n', out) == EOF || fflush(out) ? -EIO : 0;
}
