// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain.c - collects what explain.h tells of an address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain_frames.h"
#include "explain/explain_internal.h"
#include "lib/address.h"
#include "lib/log.h"
#include "lib/udp_sockets.h"

/* A server's answer while none has been seen. */
#define ANSWER_QUERY 1000 /* bytes of payload */
#define ANSWER_JOIN  60
#define ANSWER_MOST  1400
#define HOPS	     64 /* time to live of a datagram of an unknown address */

/* --- text -------------------------------------------------------------------- */

static bool port_parse(const char *text, __u16 *ret)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !port || port >= PORTS)
		return false;
	*ret = (__u16)port;
	return true;
}

bool explain_parse(const char *text, struct explain_query *ret)
{
	char address[INET6_ADDRSTRLEN] = "";
	const char *colon = strrchr(text, ':'), *first = strchr(text, ':');
	bool bracketed = *text == '[';
	const char *end = text + strlen(text);
	struct cidr cidr;
	__u16 port = 0;

	/* IPv6 without brackets has several colons, and no port. */
	if (bracketed ? colon && colon[-1] == ']' : colon && colon == first) {
		if (!port_parse(colon + 1, &port))
			return false;
		end = colon;
	}
	if (bracketed && (end[-1] != ']' || end - text < 2))
		return false;
	text += bracketed;
	end -= bracketed;
	if ((size_t)(end - text) >= sizeof(address) ||
	    memchr(text, '/', (size_t)(end - text)))
		return false;
	memcpy(address, text, (size_t)(end - text));
	if (!cidr_parse(address, &cidr) || cidr.length != 128)
		return false;
	memcpy(ret->address, cidr.addr, sizeof(ret->address));
	ret->port = port;
	return true;
}

void explain_format(const __be32 address[4], __u16 port, char ret[EXPLAIN_ADDRESS])
{
	struct cidr cidr = { .length = 128 };
	char text[CIDR_TEXT];
	bool colons;

	memcpy(cidr.addr, address, sizeof(cidr.addr));
	cidr_format(&cidr, text);
	colons = port && strchr(text, ':');
	snprintf(ret, EXPLAIN_ADDRESS, "%s%.48s%s", colons ? "[" : "", text,
		 colons ? "]" : "");
	if (port)
		snprintf(ret + strlen(ret), EXPLAIN_ADDRESS - strlen(ret), ":%u", port);
}

/* --- services ---------------------------------------------------------------- */

static void collect_socket(const struct udp_socket *socket, void *context)
{
	struct collect *c = context;

	c->sockets[socket->port] = true;
}

/*
 * Return how well the explained address gets to @end: 2: the service is at any address;
 * 1: at one of the same version of IP; 0: only at one of the other.
 */
static int end_fits(const struct collect *c, const struct shield_endpoint *end)
{
	return address_is_any(end->address)				? 2
	       : address_is_ipv4(end->address) != c->explain->host.ipv6 ? 1
									: 0;
}

bool collect_wanted(const struct collect *c, __u32 slot, const char *name,
		    struct shield_endpoint *ret)
{
	const char *want = c->explain->query.service;
	bool found = false;
	__u16 port = 0;

	if (want && strcmp(want, name) != 0 && !port_parse(want, &port))
		return false;
	for (size_t i = 0; i < c->end_count; i++) {
		const struct shield_endpoint *end = &c->ends[i];

		if (end->slot != slot || (port && end->port != port))
			continue;
		if (!found || end_fits(c, end) > end_fits(c, ret))
			*ret = *end;
		found = true;
	}
	return found;
}

/* Return how many datagrams of @kind passed. */
static __u64 passed_of(const struct counters *t, int kind)
{
	__u64 sum = 0;

	for (int reason = 0; reason < REASON_COUNT; reason++)
		if (reason_verdict((enum reason)reason) == VERDICT_PASS)
			sum += t->by[kind][reason].packets;
	return sum;
}

/* Keep when the server of @player's service last sent to it. A callback. */
static void sent_take(const struct player_key *key, const struct player *player,
		      void *context)
{
	struct collect *c = context;

	if (key->slot < SERVICES_MAX && player->sent_ns > c->sent_ns[key->slot])
		c->sent_ns[key->slot] = player->sent_ns;
}

/*
 * Return true if each server of @family answers a @kind. A QuakeSpasm ignores the
 * getstatus that a DarkPlaces answers, so not all queries are among them.
 */
static bool is_answered(enum wire_family family, enum wire_kind kind)
{
	switch (kind) {
	case KIND_GETSTATUS:
		return family == FAMILY_QUAKE3;
	case KIND_STATUS:
		return family == FAMILY_QUAKEWORLD || family == FAMILY_QUAKE2;
	case KIND_GETCHALLENGE:
		return family == FAMILY_QUAKE3 || family == FAMILY_QUAKEWORLD ||
		       family == FAMILY_QUAKE2;
	case KIND_CCREQ_SERVER_INFO:
		return family == FAMILY_NETQUAKE;
	case KIND_GETSERVERS:
		return family == FAMILY_MASTER;
	default:
		return false;
	}
}

static void server_collect(struct collect *c, struct explain_service *s)
{
	struct cached_response kept[CACHE_FORMS];
	struct explain_server *server = &s->server;
	struct counters *in = calloc(2, sizeof(*in));
	size_t count = shield_cached_responses(c->shield, s->slot, kept);
	__u64 received = 0;
	__u32 user;

	if (in && !shield_counters(c->shield, s->slot, &in[0], &in[1])) {
		__u64 passed;

		received = counters_packets(&in[0]);
		server->answered = counters_of_server(&in[1]);
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			passed = passed_of(&in[0], kind);
			server->asked += passed;
			if (is_answered((enum wire_family)s->service.family,
					(enum wire_kind)kind))
				server->requests += passed;
		}
	}
	free(in);
	server->judged = shield_judged(c->shield, s->slot, received, server->interface);
	server->sockets_known = c->sockets_known;
	server->socket = c->sockets[s->port];
	server->sent_ns = c->sent_ns[s->slot];
	shield_other_sockets(c->shield, s->slot, &user);
	server->known = user;
	shield_protocol_mismatch(c->shield, s->slot, &server->speaks);
	for (size_t i = 0; i < count; i++) {
		if (!server->cached || kept[i].age_ns < server->cached_age_ns)
			server->cached_age_ns = kept[i].age_ns;
		server->cached = true;
	}
}

/* --- what was refused -------------------------------------------------------- */

struct refusals {
	const struct explain *explain;
	struct explain_service *service;
};

static void refusal_take(enum wire_class class, const struct refused_source *from,
			 void *context)
{
	const struct refusals *r = context;
	struct explain_service *s = r->service;
	__u64 then = (__u64)from->tick << REFUSED_TICK, now = r->explain->now_ns, age;
	size_t at = s->refusal_count;

	if (from->net != r->explain->host.net || from->ipv6 != r->explain->host.ipv6)
		return;
	/* The newest first; the oldest is let go. */
	now &= (1ull << (32 + REFUSED_TICK)) - 1;
	age = now > then ? now - then : 0;
	if (at == EXPLAIN_REFUSALS && s->refusals[--at].age_ns <= age)
		return;
	for (; at > 0 && s->refusals[at - 1].age_ns > age; at--)
		s->refusals[at] = s->refusals[at - 1];
	s->refusals[at] = (struct explain_refusal){
		.class = class,
		.reason = (enum reason)from->reason,
		.weight = from->weight * REFUSED_EVERY,
		.age_ns = age,
	};
	if (s->refusal_count < EXPLAIN_REFUSALS)
		s->refusal_count++;
}

static void refusals_collect(struct collect *c, struct explain_service *s)
{
	struct refusals r = { .explain = c->explain, .service = s };
	__u32 tick = refused_tick(c->explain->now_ns);

	shield_refused(c->shield, s->slot, tick - REFUSED_KEPT, tick + 1, refusal_take,
		       &r);
}

/* --- trials ------------------------------------------------------------------ */

/* The flow that the next datagram belongs to; NULL: a new one. */
static const struct about_flow *flow_next(const struct explain_service *s)
{
	return s->flow_count ? &s->flows[0] : NULL;
}

/* Return the port that the client's datagrams to @s come from. */
static __u16 client_port(const struct collect *c, const struct explain_service *s)
{
	const struct about_flow *flow = flow_next(s);

	return c->explain->query.port ? c->explain->query.port
	       : flow		      ? flow->port
				      : EXPLAIN_PORT;
}

/*
 * Make the two ends of the datagrams that are tried on @s: the client that is explained,
 * and the server. Called by step_try() for what the client sends and by step_answer() for
 * the answer: both need the same ends. A service of any address gets one of a
 * documentation prefix.
 */
static void ends_make(const struct collect *c, const struct explain_service *s,
		      struct explain_end *client, struct explain_end *server)
{
	static const __be32 any[4];

	*client = (struct explain_end){ .mac = { 2, 0, 0, 0, 0, 2 } };
	*server = (struct explain_end){ .port = s->port };
	memcpy(client->address, c->explain->host.address, sizeof(client->address));
	client->port = client_port(c, s);
	trial_mac(c->trial, server->mac);
	if (memcmp(s->address, any, sizeof(any)) != 0)
		memcpy(server->address, s->address, sizeof(server->address));
	else if (c->explain->host.ipv6)
		inet_pton(AF_INET6, "2001:db8:2::1", server->address);
	else
		inet_pton(AF_INET6, "::ffff:198.51.100.1", server->address);
}

/* The size of a response to @act: of a query that of the longest cached response. */
static size_t answer_size(const struct collect *c, const struct explain_service *s,
			  enum explain_act act)
{
	struct cached_response cached[CACHE_FORMS];
	size_t count = shield_cached_responses(c->shield, s->slot, cached), n = 0;

	if (act != ACT_QUERY)
		return ANSWER_JOIN;
	for (size_t i = 0; i < count; i++)
		n = cached[i].bytes > n ? cached[i].bytes : n;
	if (!n)
		n = ANSWER_QUERY;
	return n < ANSWER_JOIN ? ANSWER_JOIN : n > ANSWER_MOST ? ANSWER_MOST : n;
}

/* A response of that size. */
static size_t answer_make(const struct collect *c, const struct explain_service *s,
			  enum explain_act act, __u8 ret[ANSWER_MOST])
{
	size_t n = answer_size(c, s, act);
	__u8 head[EXPLAIN_PAYLOAD];
	size_t begins;

	memset(ret, 'x', n);
	begins = explain_answer((enum wire_family)s->service.family, act, n, head);
	memcpy(ret, head, begins);
	return begins ? n : 0;
}

/* Judge the server's answer to the datagram that has just passed. */
static void step_answer(const struct collect *c, const struct explain_service *s,
			enum explain_act act, struct explain_step *step)
{
	struct explain_end client, server;
	__u8 payload[ANSWER_MOST], frame[EXPLAIN_FRAME];
	size_t n = answer_make(c, s, act, payload);

	ends_make(c, s, &client, &server);
	n = n ? explain_frame(&server, &client, HOPS, payload, n, frame) : 0;
	if (!n || trial_run(c->trial, true, frame, n, &step->out))
		return;
	step->has_answer = true;
	step->answer_bytes = (__u32)n;
}

/* The time to live that the address is known by, or one of a client nearby. */
static __u8 hops_known(const struct explain *e)
{
	__u8 hops = (__u8)reputation_hops(e->known);

	return hops ? hops : HOPS;
}

void collect_step(const struct collect *c, const struct explain_service *s,
		  struct explain_step *step, bool out, const void *frame, size_t n)
{
	struct about_request request = {
		.host = &c->explain->host,
		.port = client_port(c, s),
		.slot = s->slot,
		.payload = frame,
	};
	struct datagram d;

	if (explain_frame_parse(frame, n, &d)) {
		request.payload = d.payload;
		request.length = d.n;
	}
	step->error = trial_run(c->trial, out, frame, n, &step->in);
	request.kind = step->in.kind;
	request.reason = step->in.reason;
	step->limited = !step->error && step->in.judged && !out &&
			about_limits(c->shield, &s->service, &request, &step->limits);
}

static void step_try(const struct collect *c, struct explain_service *s,
		     enum explain_act act)
{
	const struct about_flow *flow = flow_next(s);
	bool plays = flow && flow->state == ABOUT_ESTABLISHED;
	struct explain_step *step = &s->steps[s->step_count];
	struct explain_end client, server;
	__u8 payload[EXPLAIN_PAYLOAD], frame[EXPLAIN_FRAME];
	size_t n = explain_payload((enum wire_family)s->service.family, act,
				   flow ? flow->challenge : 0,
				   plays ? &flow->player : NULL, payload);

	ends_make(c, s, &client, &server);
	n = n ? explain_frame(&client, &server, hops_known(c->explain), payload, n, frame)
	      : 0;
	if (!n)
		return;
	*step = (struct explain_step){ .name = explain_acts[act] };
	trial_reset(c->trial, &c->explain->host, s->slot);
	collect_step(c, s, step, false, frame, n);
	s->step_count++;
	if (!step->error && step->in.judged && step->in.passes &&
	    (act == ACT_QUERY || act == ACT_JOIN))
		step_answer(c, s, act, step);
}

struct explain_service *collect_service(struct collect *c, __u32 slot,
					const struct shield_endpoint *place)
{
	struct explain_service *s = &c->explain->services[c->explain->service_count];
	const struct explain *e = c->explain;
	size_t count;

	if (!shield_service(c->shield, slot, &s->service))
		return NULL;
	c->explain->service_count++;
	s->slot = slot;
	s->port = place->port;
	memcpy(s->address, place->address, sizeof(s->address));
	server_collect(c, s);
	count = about_flows(c->shield, &e->host, (int)slot,
			    e->leaves ? e->to_port : e->query.port, s->flows,
			    EXPLAIN_FLOWS);
	s->flow_count = count < EXPLAIN_FLOWS ? count : EXPLAIN_FLOWS;
	refusals_collect(c, s);
	return s;
}

/* --- all --------------------------------------------------------------------- */

static void list_collect(const struct shield *shield, enum list list,
			 const struct explain *e, struct explain_list *ret)
{
	ret->has = about_listed(shield, list, &e->host, &ret->network, &ret->entry);
}

static int services_collect(struct collect *c)
{
	const char *want = c->explain->query.service;
	struct explain *e = c->explain;
	struct explain_service *s;
	struct shield_endpoint end;
	struct service service;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (!shield_service(c->shield, slot, &service) ||
		    !collect_wanted(c, slot, service.name, &end))
			continue;
		s = collect_service(c, slot, &end);
		for (int act = 0; s && act < ACT_COUNT; act++)
			step_try(c, s, (enum explain_act)act);
		if (s)
			explain_causes(e, s);
	}
	if (e->service_count || !want)
		return 0;
	e->no_service = port_parse(want, &e->other_port);
	if (e->no_service)
		return 0;
	log_error("explain: no such service: '%s'", want);
	return -ENOENT;
}

void collect_host(struct collect *c, const __be32 address[4])
{
	struct explain *e = c->explain;

	e->host = about_host(address);
	list_collect(c->shield, LIST_ALLOW, e, &e->allow);
	list_collect(c->shield, LIST_DENY, e, &e->deny);
	e->known = about_known(c->shield, &e->host);
	about_allowance(c->shield, &e->host, &e->allowance);
}

int collect_begin(struct collect *c, const struct shield *shield, struct trial *trial,
		  const struct explain_query *query)
{
	const size_t most = PORTS + 2 * SERVICES_MAX;
	struct explain *e = calloc(1, sizeof(*e));

	*c = (struct collect){ .shield = shield, .explain = e, .trial = trial };
	c->ends = calloc(most, sizeof(*c->ends));
	c->sockets = calloc(PORTS, sizeof(*c->sockets));
	if (e)
		e->services = calloc(SERVICES_MAX + 1, sizeof(*e->services));
	if (!e || !e->services || !c->ends || !c->sockets) {
		log_error("explain: not enough memory");
		return -ENOMEM;
	}
	c->end_count = shield_endpoints(c->shield, c->ends, most);
	c->sockets_known = udp_sockets_each(collect_socket, c);
	shield_players(shield, sent_take, c);
	e->query = *query;
	e->now_ns = about_clock(shield);
	e->same_program = trial_is_same(trial);
	collect_host(c, query->address);
	return 0;
}

int collect_end(struct collect *c, int err, struct explain **ret)
{
	free(c->ends);
	free(c->sockets);
	if (err)
		explain_free(c->explain);
	else
		*ret = c->explain;
	return err;
}

int explain_address(const struct shield *shield, struct trial *trial,
		    const struct explain_query *query, struct explain **ret)
{
	struct collect c;
	int err = collect_begin(&c, shield, trial, query);

	if (!err)
		err = services_collect(&c);
	return collect_end(&c, err, ret);
}

void explain_free(struct explain *e)
{
	if (e)
		free(e->services);
	free(e);
}

/* --- the configuration's lines ----------------------------------------------- */

static void line_look(struct explain_list *list, const char *line, int number)
{
	char word[CIDR_TEXT];
	struct cidr cidr;
	int used;

	while (list->has && !list->line) {
		line += strcspn(line, "0123456789abcdefABCDEF:#");
		if (!*line || *line == '#')
			return;
		if (sscanf(line, "%63[0-9a-fA-F:./]%n", word, &used) != 1)
			return;
		if (cidr_parse(word, &cidr) &&
		    !memcmp(&cidr, &list->network, sizeof(cidr)))
			list->line = number;
		line += used;
	}
}

/* Return the list of the key that @line begins with, or NULL; @was if it has no key. */
static struct explain_list *line_list(struct explain *e, const char *line,
				      struct explain_list *was)
{
	char key[32];
	int used = 0;

	if (sscanf(line, " %31[a-z-] %n", key, &used) != 1 || !used || !line[used] ||
	    !strchr("+=", line[used]))
		return was;
	return !strcmp(key, "allow") ? &e->allow : !strcmp(key, "deny") ? &e->deny : NULL;
}

void explain_lines(struct explain *e, const char *path)
{
	FILE *file = fopen(path, "re");
	struct explain_list *list = NULL;
	char *line = NULL;
	size_t size = 0;

	e->file = path;
	for (int n = 1; file && getline(&line, &size, file) >= 0; n++) {
		list = line_list(e, line, list);
		if (list && list->entry.origins & LIST_CONFIG)
			line_look(list, line, n);
		if (memchr(line, '}', strcspn(line, "#")))
			list = NULL;
	}
	free(line);
	if (file)
		fclose(file);
}
