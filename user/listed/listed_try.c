// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_try.c - what the loaded program would do now with the query of a newcomer, of a
 * source of the allow list and of a master server: see listed.h. A trial judges them, and
 * nothing is sent.
 */
#include <string.h>

#include "explain/explain_frames.h"
#include "lib/util.h"
#include "listed/listed_internal.h"
#include "shield/trial.h"

#define OOB "\xff\xff\xff\xff"

/* Can a datagram from @address get to the place that a trial has for @s? */
static bool is_reached(const struct gather *g, const struct listed_service *s,
		       const __be32 address[4])
{
	const struct shield_endpoint *place = NULL;

	for (size_t i = 0; i < g->end_count; i++)
		if (g->ends[i].slot == s->slot && (!place || is_any(g->ends[i].address)))
			place = &g->ends[i];
	return place &&
	       (is_any(place->address) || is_ipv4(place->address) == is_ipv4(address));
}

/* Try one datagram of @text that comes from @address and @port. */
static void datagram_try(struct gather *g, struct trial *trial, struct listed_service *s,
			 struct listed_try *try, const __be32 address[4], __u16 port,
			 const char *text)
{
	struct explain_query query = { .port = port, .service = s->service.name };
	__u8 bytes[EXPLAIN_FRAME];
	struct explain_input input = { .bytes = bytes, .n = strlen(text) };
	struct explain *e = NULL;

	memcpy(query.address, address, sizeof(query.address));
	memcpy(bytes, text, input.n);
	if (is_any(address) || !is_reached(g, s, address) ||
	    explain_datagram(g->shield, trial, &query, &input, &e))
		return;
	*try = (struct listed_try){ .asker = try->asker, .step = e->stray };
	memcpy(try->address, address, sizeof(try->address));
	if (try == &s->tries[s->try_count])
		s->try_count++;
	explain_free(e);
}

/* The query that a trial of one address has judged, for each service. */
static void query_keep(struct gather *g, const struct explain *e, enum listed_asker asker)
{
	struct listed *l = g->listed;

	for (size_t i = 0; i < l->service_count; i++) {
		struct listed_service *s = &l->services[i];
		struct listed_try *try = &s->tries[s->try_count];
		const struct explain_service *of = NULL;

		for (size_t j = 0; j < e->service_count && !of; j++)
			if (e->services[j].slot == s->slot)
				of = &e->services[j];
		/* One of each is enough: IPv4, or IPv6 where there is no IPv4. */
		if (!of || !of->step_count ||
		    strcmp(of->steps[0].name, explain_acts[ACT_QUERY]) != 0 ||
		    (s->try_count && s->tries[s->try_count - 1].asker == asker))
			continue;
		try->asker = asker;
		memcpy(try->address, e->query.address, sizeof(try->address));
		try->step = of->steps[0];
		s->try_count++;
	}
}

static void query_try(struct gather *g, struct trial *trial, const __be32 address[4],
		      enum listed_asker asker)
{
	struct explain_query query = { .port = 0 };
	struct explain *e = NULL;

	memcpy(query.address, address, sizeof(query.address));
	if (explain_address(g->shield, trial, &query, &e))
		return;
	query_keep(g, e, asker);
	explain_free(e);
	/* Browsers ask a server of DarkPlaces, unlike one of NetQuake, for getstatus. */
	for (size_t i = 0; i < g->listed->service_count; i++) {
		struct listed_service *s = &g->listed->services[i];
		struct listed_try *try =
			s->try_count ? &s->tries[s->try_count - 1] : NULL;

		/* Not at an IPv6 address what query_keep() has kept of an IPv4 one. */
		if (s->told && s->service.family == FAMILY_NETQUAKE && try &&
		    try->asker == asker &&
		    !memcmp(try->address, address, sizeof(try->address)))
			datagram_try(g, trial, s, try, address, EXPLAIN_PORT,
				     OOB "getstatus");
	}
}

/* Try an address that no list has, if there is one: of networks for documentation. */
static void newcomer_try(struct gather *g, struct trial *trial)
{
	static const char *const candidates[][3] = {
		{ "::ffff:203.0.113.77", "::ffff:198.51.100.77", "::ffff:192.0.2.77" },
		{ "2001:db8:77::1", "3fff::77", "2600:77::1" },
	};

	for (size_t f = 0; f < ARRAY_SIZE(candidates); f++) {
		__be32 address[4] = { 0 };

		for (size_t i = 0; i < ARRAY_SIZE(candidates[f]); i++) {
			struct list_entry entry;
			struct cidr network;
			struct about_host host;

			inet_pton(AF_INET6, candidates[f][i], address);
			host = about_host(address);
			if (!about_listed(g->shield, LIST_ALLOW, &host, &network,
					  &entry) &&
			    !about_listed(g->shield, LIST_DENY, &host, &network, &entry))
				break;
		}
		query_try(g, trial, address, LISTED_NEWCOMER);
	}
}

/* The first entries of the allow list of both families that have not ended. */
struct allowed {
	__u64 now_ns;
	bool has[2];
	__be32 address[2][4];
};

static void allowed_note(const struct cidr *cidr, const struct list_entry *entry,
			 void *context)
{
	struct allowed *a = context;
	int f = !is_ipv4(cidr->addr);

	if (a->has[f] || is_any(cidr->addr) || !list_origins(entry, a->now_ns))
		return;
	a->has[f] = true;
	memcpy(a->address[f], cidr->addr, sizeof(a->address[f]));
}

static void allowed_try(struct gather *g, struct trial *trial)
{
	struct allowed a = { .now_ns = about_clock(g->shield) };

	shield_list_each(g->shield, LIST_ALLOW, allowed_note, &a);
	for (int f = 0; f < 2; f++)
		if (a.has[f])
			query_try(g, trial, a.address[f], LISTED_ALLOWED);
}

/* Try what a master sends to see whether the server is there. */
static void master_try(struct gather *g, struct trial *trial, struct listed_service *s,
		       const struct listed_row *row)
{
	struct listed_try *try = &s->tries[s->try_count];

	try->asker = LISTED_MASTER;
	datagram_try(g, trial, s, try, row->address, row->port,
		     s->words == LISTED_QUAKEWORLD ? OOB "k"
		     : s->words == LISTED_QUAKE2   ? OOB "ping"
						   : OOB "getinfo Ab0Ba0aB1");
}

int listed_try_all(struct gather *g)
{
	struct listed *l = g->listed;
	struct trial *trial = NULL;
	int err = trial_open(g->shield, &trial);

	if (err)
		return err;
	newcomer_try(g, trial);
	allowed_try(g, trial);
	for (size_t i = 0; i < l->service_count; i++)
		for (size_t m = 0; m < l->query.master_count; m++)
			if (l->services[i].rows[m].asked)
				master_try(g, trial, &l->services[i],
					   &l->services[i].rows[m]);
	trial_close(trial);
	return 0;
}
