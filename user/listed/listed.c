// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed.c - collects what listed.h tells: asks servers and masters, compares the lists
 * with this host's addresses, and tries the queries of newcomers and masters.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/util.h"
#include "listed/listed_internal.h"

#define QUESTIONS 4 /* for one service to one master */

static bool is_same(const __be32 a[4], const __be32 b[4])
{
	return !memcmp(a, b, sizeof(__be32[4]));
}

/* Order endpoints by port, for qsort(). */
static int by_port(const void *a, const void *b)
{
	return ((const struct shield_endpoint *)a)->port -
	       ((const struct shield_endpoint *)b)->port;
}

/* Return the index of the first endpoint at @port or a higher one. */
static size_t first_at(const struct gather *g, __u16 port)
{
	size_t from = 0, to = g->end_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (g->ends[middle].port < port)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * Return true if an entry at @address and @port is the server of @s. @address NULL: at
 * any address. Called for each entry of each list, so it looks at the endpoints of @port
 * alone.
 */
static bool is_own(const struct gather *g, const struct listed_service *s,
		   const __be32 *address, __u16 port)
{
	const struct listed_query *q = &g->listed->query;

	for (size_t i = first_at(g, port); i < g->end_count && g->ends[i].port == port;
	     i++) {
		const struct shield_endpoint *end = &g->ends[i];

		if (end->slot != s->slot)
			continue;
		if (!address)
			return true;
		if (!g->listed->addresses_named && !is_any(end->address)) {
			if (is_same(end->address, address))
				return true;
			continue;
		}
		for (size_t j = 0; j < q->address_count; j++)
			if (is_same(q->addresses[j], address))
				return true;
	}
	return false;
}

/* Return true if a master can know @s by an address that this host knows too. */
static bool is_known_outside(const struct gather *g, const struct listed_service *s)
{
	const struct listed_query *q = &g->listed->query;

	for (size_t i = 0; i < g->end_count; i++) {
		const struct shield_endpoint *end = &g->ends[i];

		if (end->slot != s->slot)
			continue;
		if (!is_any(end->address) && listed_is_public(end->address))
			return true;
		for (size_t j = 0; is_any(end->address) && j < q->address_count; j++)
			if (listed_is_public(q->addresses[j]))
				return true;
	}
	return g->listed->addresses_named;
}

/* Return true if a list with IPv6 addresses may have an own one. */
static bool has_ipv6(const struct listed *l)
{
	const struct listed_query *q = &l->query;

	for (size_t i = 0; i < q->address_count; i++)
		if (!is_ipv4(q->addresses[i]) &&
		    (l->addresses_named || listed_is_public(q->addresses[i])))
			return true;
	return false;
}

/* --- services ------------------------------------------------------------ */

static __u64 heartbeats(const struct shield *shield, __u32 slot)
{
	static const enum wire_kind kinds[] = { KIND_HEARTBEAT, KIND_S2M_HEARTBEAT };
	struct counters *counted = calloc(2, sizeof(*counted));
	__u64 sum = 0;

	if (counted && !shield_counters(shield, slot, &counted[0], &counted[1]))
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			for (int reason = 0; reason < REASON_COUNT; reason++)
				sum += counted[1].by[kinds[i]][reason].packets;
	free(counted);
	return sum;
}

/* Is the service the one that the operator names, by its name or a port? */
static bool is_wanted(const struct gather *g, const struct listed_service *s)
{
	const char *want = g->listed->query.service;
	char port[8];

	if (!want || !strcmp(want, s->service.name))
		return true;
	for (size_t i = 0; i < g->end_count; i++) {
		snprintf(port, sizeof(port), "%u", g->ends[i].port);
		if (g->ends[i].slot == s->slot && !strcmp(want, port))
			return true;
	}
	return false;
}

static int services_find(struct gather *g)
{
	struct listed *l = g->listed;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct listed_service *s = &l->services[l->service_count];

		if (!shield_service(g->shield, slot, &s->service))
			continue;
		s->slot = slot;
		if (!is_wanted(g, s))
			continue;
		s->words = listed_words_of((enum wire_family)s->service.family);
		s->heartbeats = heartbeats(g->shield, slot);
		l->service_count++;
	}
	if (l->service_count || !l->query.service)
		return 0;
	log_error("status: no such service: '%s'", l->query.service);
	return -ENOENT;
}

/* --- masters ------------------------------------------------------------- */

/* DarkPlaces' protocol number is one that no engine of Quake III has. */
static enum wire_family family_of(const struct listed_service *s)
{
	return s->service.family != FAMILY_AUTO ? (enum wire_family)s->service.family
	       : !strcmp(s->protocol, "3")	? FAMILY_NETQUAKE
						: FAMILY_QUAKE3;
}

static void masters_find(struct listed *l)
{
	struct listed_query *q = &l->query;

	if (!q->master_count)
		for (int f = 0; f < FAMILY_COUNT; f++) {
			bool has = false;

			for (size_t i = 0; i < l->service_count; i++)
				has |= !l->services[i].why &&
				       family_of(&l->services[i]) == (enum wire_family)f;
			if (has)
				q->master_count = listed_masters_known(
					(enum wire_family)f, q->masters, q->master_count);
		}
	listed_resolve(q->masters, q->master_count);
}

static void question_make(enum listed_words words, const char *game, const char *protocol,
			  struct listed_ask *ret)
{
	ret->words = words;
	ret->n = listed_question(words, game, protocol, ret->bytes);
}

/*
 * Write the questions for the list that has @s; returns how many. Masters of Quake III
 * know some games by the protocol alone, and others by their name as well.
 */
static size_t questions(const struct listed *l, const struct listed_service *s,
			struct listed_ask ret[QUESTIONS])
{
	const char *game = s->game, *protocol = s->protocol;
	enum listed_words words = s->words;
	size_t n = 0;

	if (words == LISTED_DPMASTER && !s->told) {
		question_make(words, "", "68", &ret[n++]);
		question_make(words, "", "71", &ret[n++]);
		return n;
	}
	question_make(words, game, protocol, &ret[n++]);
	if (*game && family_of(s) == FAMILY_QUAKE3)
		question_make(words, "", protocol, &ret[n++]);
	if (words == LISTED_DPMASTER && has_ipv6(l))
		question_make(LISTED_DPMASTER_EXT, game, protocol, &ret[n++]);
	return n;
}

static void entry_compare(const __be32 address[4], __u16 port, void *context)
{
	const struct listed_ask *ask = context;
	struct asked *asked = ask->context;
	const struct gather *g = asked->gather;

	if (ask->second != asked->second)
		asked->servers = 0;
	asked->second = ask->second;
	asked->servers++;
	for (size_t i = 0; g->taken[port] && i < g->listed->service_count; i++) {
		struct listed_service *s = &g->listed->services[i];
		struct listed_row *row = &s->rows[asked->master];

		if (!asked->of[i] || !is_own(g, s, NULL, port))
			continue;
		if (!is_own(g, s, address, port)) {
			row->same_port++;
			continue;
		}
		row->state = LISTED_YES;
		row->why = NULL;
		memcpy(row->as, address, sizeof(row->as));
		row->as_port = port;
	}
}

static enum listed_part list_take(struct listed_ask *ask, const void *reply, size_t n)
{
	return listed_reply(ask->words, reply, n, entry_compare, ask);
}

/* One lost datagram would have a server that is listed called one that is not. */
static bool list_lacks(const struct listed_ask *ask)
{
	const struct asked *asked = ask->context;
	const struct listed *l = asked->gather->listed;

	for (size_t i = 0; i < l->service_count; i++)
		if (asked->of[i] &&
		    l->services[i].rows[asked->master].state != LISTED_YES)
			return true;
	return false;
}

/*
 * Enter the question @own to @master for @s, unless it is there for another service.
 * False: there is no room.
 */
static bool ask_enter(struct gather *g, size_t master, const struct listed_service *s,
		      const struct listed_ask *own)
{
	const struct listed_row *row = &s->rows[master];
	struct listed_ask *ask = &g->asks[g->ask_count];
	struct asked *asked = &g->asked[g->ask_count];
	size_t of = (size_t)(s - g->listed->services);

	for (size_t i = 0; i < g->ask_count; i++)
		if (g->asked[i].master == master && g->asks[i].n == own->n &&
		    !memcmp(g->asks[i].bytes, own->bytes, own->n)) {
			g->asked[i].of[of] = true;
			return true;
		}
	if (g->ask_count == ASKS) {
		g->left_out = true;
		return false;
	}
	*asked = (struct asked){ .gather = g, .master = master };
	asked->of[of] = true;
	*ask = *own;
	memcpy(ask->address, row->address, sizeof(ask->address));
	ask->port = row->port;
	ask->take = list_take;
	ask->lacks = list_lacks;
	ask->context = asked;
	g->ask_count++;
	return true;
}

static void row_begin(struct gather *g, struct listed_service *s, size_t master)
{
	const struct listed_master *m = &g->listed->query.masters[master];
	struct listed_ask own[QUESTIONS] = { { .n = 0 } };
	struct listed_row *row = &s->rows[master];
	size_t n = questions(g->listed, s, own);

	*row = (struct listed_row){ .asked = true,
				    .state = LISTED_SILENT,
				    .why = m->wrong,
				    .port = listed_port(m, s->words) };
	if (m->wrong)
		return;
	memcpy(row->address, m->addresses[0], sizeof(row->address));
	for (size_t i = 0; i < m->address_count; i++) {
		struct about_host host = about_host(m->addresses[i]);

		row->reports |= about_reports_to(g->shield, s->slot, &host);
	}
	for (size_t i = 0; i < n; i++)
		if (!ask_enter(g, master, s, &own[i])) {
			row->state = LISTED_UNKNOWN;
			row->why = "not asked: there are too many questions";
		}
}

/* Judge a list that does not have the server. @whole: all of it was read. */
static void row_absent(const struct gather *g, const struct listed_service *s,
		       struct listed_row *row, bool whole)
{
	row->state = LISTED_UNKNOWN;
	if (!whole)
		row->why = "only a part of its list arrived, without this server";
	else if (!s->told && s->words == LISTED_DPMASTER)
		row->why = "not among the servers of protocols 68 and 71; its own server "
			   "did not say which it has";
	else if (row->same_port && !is_known_outside(g, s))
		row->why = "this host has private addresses only, and the list has "
			   "servers at this port: --address names the one that the "
			   "internet sees";
	else
		row->state = LISTED_NO;
}

static void row_end(const struct gather *g, struct listed_service *s, size_t master)
{
	struct listed_row *row = &s->rows[master];
	size_t of = (size_t)(s - g->listed->services);
	bool whole = true, strange = false;
	int error = 0;

	for (size_t i = 0; i < g->ask_count; i++) {
		const struct listed_ask *ask = &g->asks[i];
		bool marked = ask->words == LISTED_DPMASTER ||
			      ask->words == LISTED_DPMASTER_EXT;

		if (g->asked[i].master != master || !g->asked[i].of[of])
			continue;
		strange |= ask->bad;
		error = ask->error ? ask->error : error;
		if (ask->datagrams == ask->bad)
			continue;
		row->datagrams += ask->datagrams - ask->bad;
		if (g->asked[i].servers > row->servers)
			row->servers = g->asked[i].servers;
		whole &= !ask->cut && !ask->bad && (ask->ended || !marked);
	}
	s->listed |= row->state == LISTED_YES;
	if (row->state == LISTED_YES || row->why)
		return;
	if (row->datagrams) {
		row_absent(g, s, row, whole);
	} else if (strange) {
		row->state = LISTED_UNKNOWN;
		row->why = "its replies are no list of this protocol";
	} else if (error) {
		row->why = strerror(error);
	}
}

static int masters_ask(struct gather *g)
{
	struct listed *l = g->listed;
	int err;

	for (size_t i = 0; i < l->service_count; i++)
		for (size_t m = 0; m < l->query.master_count; m++) {
			const struct listed_master *master = &l->query.masters[m];
			struct listed_service *s = &l->services[i];

			if (!s->why && (!master->known || master->family == family_of(s)))
				row_begin(g, s, m);
		}
	if (g->left_out)
		log_warn("status: at most %d questions are sent to masters, and more "
			 "would be needed: --service names one service",
			 ASKS);
	err = listed_ask_all(g->asks, g->ask_count, g->taken);
	for (size_t i = 0; i < l->service_count; i++)
		for (size_t m = 0; m < l->query.master_count; m++)
			if (l->services[i].rows[m].asked)
				row_end(g, &l->services[i], m);
	return err;
}

/* --- all ----------------------------------------------------------------- */

static int gather_begin(struct gather *g)
{
	const size_t most = PORTS + 2 * SERVICES_MAX;
	struct listed *l = g->listed;

	g->ends = calloc(most, sizeof(*g->ends));
	g->taken = calloc(PORTS, sizeof(*g->taken));
	g->asks = calloc(ASKS, sizeof(*g->asks));
	g->asked = calloc(ASKS, sizeof(*g->asked));
	l->services = calloc(SERVICES_MAX + 1, sizeof(*l->services));
	if (!g->ends || !g->taken || !g->asks || !g->asked || !l->services) {
		log_error("status: not enough memory");
		return -ENOMEM;
	}
	g->end_count = shield_endpoints(g->shield, g->ends, most);
	qsort(g->ends, g->end_count, sizeof(*g->ends), by_port);
	for (size_t i = 0; i < g->end_count; i++)
		g->taken[g->ends[i].port] = true;
	return services_find(g);
}

static int gather_all(struct gather *g)
{
	int err = listed_addresses_find(g->listed);

	if (!err)
		err = listed_servers_ask(g);
	masters_find(g->listed);
	if (!err)
		err = masters_ask(g);
	if (err) {
		log_error("status: cannot ask: %s", strerror(-err));
		return err;
	}
	return listed_try_all(g);
}

int listed_collect(const struct shield *shield, const struct listed_query *query,
		   struct listed **ret)
{
	struct gather g = { .shield = shield, .listed = calloc(1, sizeof(*g.listed)) };
	int err;

	if (!g.listed) {
		log_error("status: not enough memory");
		return -ENOMEM;
	}
	g.listed->query = *query;
	err = gather_begin(&g);
	if (!err)
		err = gather_all(&g);
	free(g.ends);
	free(g.taken);
	free(g.asks);
	free(g.asked);
	if (err)
		listed_free(g.listed);
	else
		*ret = g.listed;
	return err;
}

void listed_free(struct listed *listed)
{
	if (listed)
		free(listed->services);
	free(listed);
}

bool listed_all(const struct listed *l)
{
	for (size_t i = 0; i < l->service_count; i++) {
		const struct listed_service *s = &l->services[i];

		if (s->why ? s->down || (s->unasked && !s->told) : !s->listed)
			return false;
	}
	return true;
}
