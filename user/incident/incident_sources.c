// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * incident_sources.c - see incident_sources.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "incident/incident_sources.h"
#include "lib/cidr.h"
#include "lib/names.h"

/* --- taking ---------------------------------------------------------------------- */

/* Write the source as an address: IPv4, or the first address of an IPv6 /64. */
static void source_address(const struct refused_source *from, struct record_address *ret)
{
	size_t n = from->ipv6 ? 8 : 4;

	memset(ret, 0, sizeof(*ret));
	ret->length = from->ipv6 ? 16 : 4;
	for (size_t i = 0; i < n; i++)
		ret->bytes[i] = (uint8_t)(from->net >> 8 * (n - 1 - i));
}

/* FNV-1a, and its bits stirred, as the low ones of alike addresses are alike. */
static uint64_t address_hash(const struct record_address *a)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = 0; i < a->length; i++)
		hash = (hash ^ a->bytes[i]) * 0x100000001b3;
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccd;
	return hash ^ hash >> 33;
}

static void sketch_add(struct incident_sources *s, const struct record_address *a)
{
	uint64_t bit = address_hash(a) % INCIDENT_SKETCH;

	if (s->sampled >= INCIDENT_SAMPLES)
		return;
	s->sampled++;
	s->sketch[bit / 64] |= 1ull << bit % 64;
}

static void source_add(struct incident_sources *s, enum wire_class class,
		       const struct refused_source *from)
{
	uint64_t n = (uint64_t)from->weight * REFUSED_EVERY;
	struct record_address address;
	struct cidr whole = { 0 }, prefix;

	source_address(from, &address);
	sketch_add(s, &address);
	drop_sources_prefix(&address, &prefix);
	if (from->ipv6) {
		whole.length = 64;
		memcpy(whole.addr, address.bytes, 8);
	} else {
		whole = prefix;
		whole.length = 128;
		memcpy(&whole.addr[3], address.bytes, 4);
	}
	drop_sources_put(&s->by[class].addresses, 0, &whole, n, from->reason);
	drop_sources_put(&s->by[class].prefixes, 0, &prefix, n, from->reason);
}

void incident_source(struct incident_watch *w, enum wire_class class,
		     const struct refused_source *from, int64_t steady_ms)
{
	if (class >= CLASS_COUNT || !from->weight)
		return;
	if (w->now)
		source_add(&w->now->sources, class, from);
	else
		w->early[w->early_count++ % INCIDENT_EARLY] =
			(struct incident_early){ *from, class, steady_ms };
}

void incident_sources_begin(struct incident_watch *w)
{
	for (size_t i = 0; i < INCIDENT_EARLY; i++) {
		const struct incident_early *e = &w->early[i];

		if (e->from.weight && e->steady_ms > w->now->began_ms)
			source_add(&w->now->sources, e->class, &e->from);
	}
	memset(w->early, 0, sizeof(w->early));
}

/* --- ranking ---------------------------------------------------------------------- */

/* A source or prefix that is named. */
struct named {
	struct drop_sources_row row;
	enum wire_class class;
	size_t rank; /* in its class */
	bool aimed; /* the attack is one of that class by its sort */
	double share; /* of the class */
	double packets;
};

static double class_packets(const struct incident *i, enum wire_class class)
{
	double n = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (wire_class(i->family, (enum wire_kind)kind) == class)
			n += (double)i->kinds[kind];
	return n;
}

/* There is one class more than INCIDENT_NAMED: the one left out is not rcon. */
static int by_rank(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	bool rcon = a->class == CLASS_RCON;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (rcon != (b->class == CLASS_RCON))
		return rcon ? -1 : 1;
	return (a->packets < b->packets) - (a->packets > b->packets);
}

static int by_packets(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	if (a->aimed != b->aimed)
		return a->aimed ? -1 : 1;
	if (a->packets != b->packets)
		return a->packets < b->packets ? 1 : -1;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return memcmp(&a->row.prefix, &b->row.prefix, sizeof(a->row.prefix));
}

/* Fill @ret with the heaviest prefixes or addresses, and return how many there are. */
static size_t rank(const struct incident *i, bool prefixes,
		   struct named ret[CLASS_COUNT * INCIDENT_NAMED])
{
	size_t count = 0;

	for (enum wire_class class = 0; class < CLASS_COUNT; class ++) {
		const struct drop_sources *of = prefixes
							? &i->sources.by[class].prefixes
							: &i->sources.by[class].addresses;
		struct drop_sources_row rows[INCIDENT_NAMED];
		size_t n = drop_sources_sure(of, rows, INCIDENT_NAMED);
		double packets = n ? class_packets(i, class) : 0;

		for (size_t at = 0; at < n; at++) {
			double share = (double)rows[at].count / (double)of->total;

			ret[count++] = (struct named){
				rows[at],
				class,
				at,
				class == CLASS_RCON && i->sorts & 1u << INCIDENT_GUESSING,
				share,
				share * packets,
			};
		}
	}
	qsort(ret, count, sizeof(*ret), by_rank);
	if (count > INCIDENT_NAMED)
		count = INCIDENT_NAMED;
	qsort(ret, count, sizeof(*ret), by_packets);
	return count;
}

/* --- telling ---------------------------------------------------------------------- */

static json_t *named_json(const struct incident *i, bool prefixes)
{
	struct named named[CLASS_COUNT * INCIDENT_NAMED];
	size_t n = rank(i, prefixes, named);
	json_t *list = json_array();
	char text[CIDR_TEXT];

	for (size_t at = 0; list && at < n; at++) {
		cidr_format(&named[at].row.prefix, text);
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:f, s:I}",
					prefixes ? "prefix" : "source", text, "class",
					class_name(named[at].class), "reason",
					reason_name((enum reason)named[at].row.reason),
					"share", named[at].share, "packets",
					(json_int_t)llround(named[at].packets)));
	}
	return list;
}

json_t *incident_sources_json(const struct incident *i)
{
	return named_json(i, false);
}

json_t *incident_prefixes_json(const struct incident *i)
{
	return named_json(i, true);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Return true if addresses that @sources names sent at least half of @prefix's share. */
static bool is_explained(const json_t *prefix, const json_t *sources)
{
	struct cidr around, source;
	const json_t *one;
	double named = 0;
	size_t i;

	if (!cidr_parse(text_of(prefix, "prefix"), &around))
		return true;
	json_array_foreach ((json_t *)sources, i, one) {
		if (cidr_parse(text_of(one, "source"), &source) &&
		    cidr_holds(&around, &source) &&
		    !strcmp(text_of(one, "class"), text_of(prefix, "class")))
			named += number_of(one, "share");
	}
	return named * 2 >= number_of(prefix, "share");
}

/*
 * Append entries of @list to @ret until it names three. Returns how many it names.
 * @named: how many it names already.
 * @sources: skip prefixes that these explain; NULL: skip none.
 */
static int named_text(const json_t *list, const char *key, const json_t *sources,
		      int named, char ret[INCIDENT_FROM])
{
	const json_t *one;
	size_t i, used;

	json_array_foreach ((json_t *)list, i, one) {
		if (named == 3)
			break;
		if (sources && is_explained(one, sources))
			continue;
		used = strlen(ret);
		/* An older build named neither class nor reason. */
		if (!json_object_get(one, "class"))
			snprintf(ret + used, INCIDENT_FROM - used, "%s%.50s (%.0f %%)",
				 named++ ? ", " : "", text_of(one, key),
				 100 * number_of(one, "share"));
		else
			snprintf(ret + used, INCIDENT_FROM - used,
				 "%s%.50s (%.0f %% of %.15s, %.20s)", named++ ? ", " : "",
				 text_of(one, key), 100 * number_of(one, "share"),
				 text_of(one, "class"), text_of(one, "reason"));
	}
	return named;
}

void incident_from(const json_t *object, char ret[INCIDENT_FROM])
{
	const json_t *all = json_object_get(object, "sources");
	const json_t *sources = json_object_get(all, "top");
	int named;

	ret[0] = '\0';
	named = named_text(sources, "source", NULL, 0, ret);
	named = named_text(json_object_get(object, "top_prefixes"), "prefix", sources,
			   named, ret);
	if (named)
		return;
	if (number_of(all, "sampled") <= 0)
		return;
	if (!strcmp(text_of(all, "spoofed"), "likely"))
		strcpy(ret, "addresses that are spoofed, as it seems");
	else
		strcpy(ret, "no source or prefix that stands out");
}

/* --- in ---------------------------------------------------------------------------- */

static __u8 reason_of(const char *name)
{
	__u8 reason = 0;

	while (reason < REASON_COUNT &&
	       strcmp(name, reason_name((enum reason)reason)) != 0)
		reason++;
	return reason;
}

/* Restore a row that named_json() has written, as if its packets had been sampled. */
static void row_parse(const json_t *one, const char *key, struct incident *ret)
{
	double share = number_of(one, "share"), packets = number_of(one, "packets");
	__u64 n = packets > 0 && packets < 1e15 ? (__u64)packets : 1;
	__u8 reason = reason_of(text_of(one, "reason"));
	struct drop_sources *to;
	enum wire_class class;
	struct cidr cidr;
	__u64 total;

	if (!class_parse(text_of(one, "class"), &class) ||
	    !cidr_parse(text_of(one, key), &cidr) || !(share > 0.01 && share <= 1) ||
	    reason == REASON_COUNT)
		return;
	to = !strcmp(key, "prefix") ? &ret->sources.by[class].prefixes
				    : &ret->sources.by[class].addresses;
	total = (__u64)((double)n / share);
	if (total < to->total)
		total = to->total;
	for (int i = 0; i < DROP_SOURCES_SURE; i++)
		drop_sources_put(to, 0, &cidr, i ? 0 : n, reason);
	to->total = total;
}

/* Restore a sketch of as many addresses and samples. The addresses are made up. */
static void sketch_parse(const json_t *object, struct incident_sources *ret)
{
	double sampled = number_of(object, "sampled"), distinct;
	struct record_address other = { .length = 4 };

	if (!(sampled >= 1 && sampled <= INCIDENT_SAMPLES))
		return;
	distinct = fmin(number_of(object, "distinct"), sampled);
	for (uint32_t i = 0; i < distinct; i++) {
		memcpy(other.bytes, &i, sizeof(i));
		sketch_add(ret, &other);
	}
	ret->sampled = (uint64_t)sampled;
}

void incident_sources_parse(const json_t *object, struct incident *ret)
{
	const json_t *sources = json_object_get(object, "sources");
	const json_t *top = json_object_get(sources, "top");
	const json_t *top_prefixes = json_object_get(object, "top_prefixes"), *one;
	size_t i;

	sketch_parse(sources, &ret->sources);

	json_array_foreach ((json_t *)top, i, one) {
		row_parse(one, "source", ret);
	}
	json_array_foreach ((json_t *)top_prefixes, i, one) {
		row_parse(one, "prefix", ret);
	}
}
