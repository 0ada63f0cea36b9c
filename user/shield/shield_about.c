// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_about.c - see about.h.
 */
#include <arpa/inet.h>
#include <string.h>

#include <bpf/bpf.h>

#include "acl.h"
#include "challenge.h"
#include "lib/address.h"
#include "players.h"
#include "shield/shield_cells.h"
#include "shield/shield_internal.h"

struct about_host about_host(const __be32 address[4])
{
	struct about_host ret = {
		.ipv6 = !address_is_ipv4(address),
	};

	memcpy(ret.address, address, sizeof(ret.address));
	ret.net = ret.ipv6 ? (__u64)ntohl(address[0]) << 32 | ntohl(address[1])
			   : ntohl(address[3]);
	return ret;
}

__u64 about_clock(const struct shield *s)
{
	return s->shared->tick_ns ? shield_clock() : s->shared->clock_ns;
}

/* --- limits ------------------------------------------------------------------ */

__u64 about_most(const struct about_bucket *b)
{
	if (!b->limit.cost_ns)
		return ABOUT_NO_LIMIT;
	return limit_never(&b->limit) ? 0 : b->limit.burst_ns / b->limit.cost_ns;
}

__u64 about_left(const struct about_bucket *b, __u64 now_ns)
{
	__u64 used = b->due_ns > now_ns ? b->due_ns - now_ns : 0;

	if (!b->limit.cost_ns)
		return ABOUT_NO_LIMIT;
	if (limit_never(&b->limit) || used >= b->limit.burst_ns)
		return 0;
	return (b->limit.burst_ns - used) / b->limit.cost_ns;
}

__u64 about_wait(const struct about_bucket *b, __u64 now_ns)
{
	__s64 wait = (__s64)(b->due_ns + b->limit.cost_ns - now_ns - b->limit.burst_ns);

	if (!b->limit.cost_ns)
		return 0;
	if (limit_never(&b->limit))
		return ABOUT_NO_LIMIT;
	return wait > 0 ? (__u64)wait : 0;
}

__u64 about_source_due(const struct shield *s, const struct budget *b,
		       const struct about_host *host, enum budget_set set)
{
	const struct live *l = s->shared;

	return l->source_due_ns[budget_cell(b, l->keys, set, host->net, host->ipv6,
					    SOURCE_BITS)];
}

/*
 * Return the state of the limit at @index of the map prefixes; 0 if it cannot be read.
 */
static __u64 prefix_due(const struct shield *s, __u32 index)
{
	__u64 due = 0;

	bpf_map_lookup_elem(s->prefixes, &index, &due);
	return due;
}

/*
 * Read the limits @b of @request as the programs charge it: as admit_net() does, or as
 * validated_charge() if ret->group is ABOUT_OF_VALIDATED. @times: what it costs of the
 * source's own limit, and of all limits of validated clients. ret->class is set.
 */
static void class_limits(const struct shield *s, const struct budget *b,
			 const struct about_request *request, __u32 times,
			 struct about_limits *ret)
{
	bool validated = ret->group == ABOUT_OF_VALIDATED,
	     repeated = validated && request->kind == KIND_CCREQ_CONNECT;
	__u32 index = budget_index(request->slot, repeated ? CLASS_UNKNOWN : ret->class);
	struct about_bucket *source = &ret->level[ABOUT_SOURCE],
			    *prefix = &ret->level[ABOUT_PREFIX],
			    *network = &ret->level[ABOUT_NETWORK],
			    *service = &ret->level[ABOUT_SERVICE];
	enum budget_set set = repeated	  ? SET_GREYLISTED
			      : validated ? SET_VALIDATED
					  : SET_UNVALIDATED;
	const struct about_host *host = request->host;
	const struct live *l = s->shared;
	__u32 others = validated ? times : 1, crowd;
	struct scopes scopes;

	service->due_ns = validated ? l->validation.service_due_ns[index]
				    : l->service_due_ns[index];
	crowd = request->kind == KIND_CCREQ_CONNECT || times > others
			? 0
			: budget_crowd(b, service->due_ns, about_clock(s));
	scopes = budget_scopes(b, times, others, crowd);
	source->limit = scopes.source;
	source->due_ns = about_source_due(s, b, host, set);
	prefix->limit = scopes.prefix;
	prefix->due_ns = prefix_due(s, cell_prefix(l, b, host, false, set));
	network->limit = scopes.network;
	network->due_ns = prefix_due(s, cell_prefix(l, b, host, true, set));
	service->limit = scopes.service;
}

/*
 * Read what an allowed source, or a master server if ret->group is ABOUT_OF_MASTER, has
 * beyond the limits of a class, as allowed_take() charges it.
 */
static void listed_limits(const struct shield *s, const struct about_request *request,
			  struct about_limits *ret)
{
	static const struct limit allowed = ALLOWED_LIMIT, master = MASTER_LIMIT,
				  all = ALLOWED_SERVICE_LIMIT;
	const struct live *l = s->shared;

	ret->level[ABOUT_SOURCE] = (struct about_bucket){
		ret->group == ABOUT_OF_MASTER ? master : allowed,
		l->source_due_ns[allowed_cell(l->keys, request->host->net,
					      request->host->ipv6, request->slot)]
	};
	ret->level[ABOUT_SERVICE] = (struct about_bucket){
		all, l->service_due_ns[budget_index(request->slot, BUDGET_ALLOWED)]
	};
}

/* Return true if one more request is within all of @limits now. */
static bool has_room(const struct shield *s, const struct about_limits *limits)
{
	__u64 now = about_clock(s);

	for (int i = 0; i < ABOUT_LEVEL_COUNT; i++)
		if (about_wait(&limits->level[i], now))
			return false;
	return true;
}

/*
 * Find in *@ret which limits beyond those of a class the sender of @request has.
 * ABOUT_OF_CLASS: none. *@ret_unlimited: none but those of a returned cookie. False: it
 * is on the deny list.
 */
static bool listed(const struct shield *s, const struct about_request *request,
		   enum about_group *ret, bool *ret_unlimited)
{
	struct list_entry entry;
	struct cidr network;

	*ret = ABOUT_OF_CLASS;
	if (about_listed(s, LIST_ALLOW, request->host, &network, &entry))
		*ret = ABOUT_OF_ALLOWED;
	else if (about_listed(s, LIST_DENY, request->host, &network, &entry))
		return false;
	else if (about_reports_to(s, request->slot, request->host))
		*ret = ABOUT_OF_MASTER;
	*ret_unlimited = *ret == ABOUT_OF_ALLOWED && entry.origins & LIST_UNLIMITED;
	return true;
}

/* A request as address validation sees it. */
struct validating {
	enum wire_class class;
	enum cookie_form form; /* of the cookie that decides about it; 0: none does */
	bool validated; /* its client counts as validated */
	bool both; /* the limits of others follow when those are used up */
	bool too_soon; /* the same form came less than 2 s before: no limit refuses it */
};

/* Return the form of the right cookie in the connect @t, as cookie_check_number(). */
static enum cookie_form number_form(const struct shield *s, enum wire_family family,
				    const struct challenge_text *t,
				    const struct cookie_peer *peer,
				    const struct validated_cell *cell)
{
	__u32 at = connect_number_at(t), number = at ? connect_number(t->at + at) : 0;
	__u64 parity, epoch;

	if (!cookie_number_fits(number, &parity))
		return 0;
	/* The server's challenge replaces it: the class is that of a plain connect. */
	if (cell && cell->flags & VALIDATED_NUMBER && cell->cookie == number)
		return family == FAMILY_QUAKE2 && cell->flags & VALIDATED_CHALLENGE
			       ? 0
			       : COOKIE_NUMBER;
	epoch = cookie_epoch_like(about_clock(s), parity);
	return cookie_number(cookie_hash(&s->shared->validation.secret, peer, epoch,
					 COOKIE_NUMBER),
			     epoch) == number
		       ? COOKIE_NUMBER
		       : 0;
}

/* Return COOKIE_TEXT if @request ends with its client's, as cookie_check_tail(); or 0. */
static enum cookie_form tail_form(const struct shield *s,
				  const struct about_request *request,
				  const struct challenge_text *t,
				  const struct cookie_peer *peer)
{
	size_t ends = request->kind == KIND_D0PK ? key_step_end(t) : request->length;
	__u64 letters, epoch, hash;
	__u32 more;

	if (ends < CONNECT_TAIL_N + 4 || ends > request->length ||
	    !connect_tail(request->payload + ends - CONNECT_TAIL_N, &letters, &more))
		return 0;
	epoch = cookie_epoch_like(about_clock(s), cookie_letters_parity(letters));
	hash = cookie_hash(&s->shared->validation.secret, peer, epoch, COOKIE_TEXT);
	return cookie_letters(hash, epoch) == letters && cookie_letters_more(hash) == more
		       ? COOKIE_TEXT
		       : 0;
}

/*
 * Return the form of the right cookie in @request, as cookie_check() and
 * validation_form() find it; 0: it has none. An echo with a wrong one has its own reason.
 */
static enum cookie_form form_of(const struct shield *s, enum wire_family family,
				const struct about_request *request,
				const struct cookie_peer *peer,
				const struct validated_cell *cell)
{
	struct challenge_text t = { { 0 } };

	memcpy(t.at, request->payload,
	       request->length < sizeof(t.at) ? request->length : sizeof(t.at));
	switch (request->kind) {
	case KIND_ECHO_RETURN:
		return echo_form(family, t.at[ECHO_BACK_AT + ECHO_LETTERS],
				 (__u32)request->length);
	case KIND_CONNECT:
	case KIND_D0PK:
		return family == FAMILY_NETQUAKE ? tail_form(s, request, &t, peer)
		       : family == FAMILY_QUAKE3 ? 0
						 : number_form(s, family, &t, peer, cell);
	default:
		return 0;
	}
}

/* Find in *@ret what validation_decide() finds about @request. */
static void validating_find(const struct shield *s, enum wire_family family,
			    const struct about_request *request, struct validating *ret)
{
	enum wire_class class = wire_class(family, request->kind);
	struct cookie_peer peer =
		cell_peer(request->host->address, request->port, request->slot);
	struct validated_cell *cell;
	bool later = class == CLASS_CONNECT || request->kind == KIND_D0PK,
	     passed = request->reason == REASON_VALIDATED;
	__u64 now = about_clock(s);
	__u32 needed =
		later && family == FAMILY_QUAKE2 ? VALIDATED_NUMBER : VALIDATED_COOKIE;

	cell = validated_find(&s->shared->validation.validated, &peer, s->shared->keys,
			      now);
	ret->form = form_of(s, family, request, &peer, cell);
	if (ret->form == COOKIE_INFO || ret->form == COOKIE_STATUS)
		class = CLASS_QUERY;
	else if (ret->form || (request->kind == KIND_D0PK && cell))
		class = CLASS_CHALLENGE;
	else if (later && request->kind != KIND_CCREQ_CONNECT)
		class = cell ? CLASS_CONNECT : CLASS_UNKNOWN;
	ret->class = class;
	ret->validated = ret->form || (cell && cell->flags & needed &&
				       (later || class == CLASS_QUERY));
	ret->both = ret->validated && !ret->form && class == CLASS_QUERY && !passed;
	ret->too_soon = ret->form && cell && cell->flags & VALIDATED_COOKIE &&
			!validated_may_retry(cell, ret->form, now);
	/* It came twice: greylist_decide(). */
	ret->validated |= passed;
}

/* Return what @request of an unvalidated client costs, as limit_times() does. */
static __u32 times_of(const struct shield *s, enum wire_family family,
		      enum wire_class class, const struct about_request *request)
{
	return family == FAMILY_QUAKE3 &&
			       (class == CLASS_QUERY || class == CLASS_CHALLENGE) &&
			       reputation_validated_at(about_known(s, request->host),
						       reputation_minute(about_clock(s)),
						       request->slot)
		       ? 3
		       : 1;
}

bool about_limits(const struct shield *s, const struct service *service,
		  const struct about_request *request, struct about_limits *ret)
{
	enum wire_family family = (enum wire_family)service->family;
	enum wire_class class = wire_class(family, request->kind);
	bool validating = service_flagged(service, request->kind, CLASS_VALIDATION),
	     first, unlimited;
	struct validating v = { .class = class };
	struct about_limits ways[3] = { 0 };
	enum about_group group;
	__u32 times = 1;
	size_t n = 0, at = 0;

	if (class >= CLASS_BUDGETS || request->reason == REASON_INVALID_COOKIE ||
	    request->reason == REASON_PLAYER || request->reason == REASON_PLAYER_LIMIT ||
	    !listed(s, request, &group, &unlimited))
		return false;
	if (validating) {
		validating_find(s, family, request, &v);
		if (v.too_soon && request->reason == REASON_SOURCE_LIMIT)
			return false;
		class = v.class;
		times = times_of(s, family, class, request);
	}
	if (unlimited && !v.form)
		return false;
	/*
	 * pkt_decide() begins with the list, admit() and cache_admit() do not. A right
	 * cookie decides alone.
	 */
	first = validating && !service_flagged(service, request->kind, CLASS_CACHED);
	if (group != ABOUT_OF_CLASS && first && !v.form)
		ways[n++].group = group;
	if (v.validated)
		ways[n++].group = ABOUT_OF_VALIDATED;
	if (!v.validated || v.both)
		ways[n++].group = ABOUT_OF_CLASS;
	if (group != ABOUT_OF_CLASS && !first)
		ways[n++].group = group;
	for (; at < n; at++) {
		struct about_limits *way = &ways[at];

		way->class = class;
		if (way->group == ABOUT_OF_ALLOWED || way->group == ABOUT_OF_MASTER)
			listed_limits(s, request, way);
		else
			class_limits(s, &service->budget[class], request,
				     way->group == ABOUT_OF_CLASS
					     ? times
					     : 1 + (class == CLASS_QUERY),
				     way);
		if (has_room(s, way))
			break;
	}
	*ret = ways[at < n ? at : n - 1];
	return true;
}

/* --- amplification ----------------------------------------------------------- */

/*
 * Return the nanoseconds that the account at @place, of cell_amplification(), is granted
 * at @now until @limit; below 0 if it owes more. An account without a cell is granted
 * nothing where all cells of its line owe. It follows amplification_choose() in
 * bpf/amplification.bpf.h: keep both in step.
 */
static __s64 amplification_left(const struct shield *s, __u32 place, __u64 now,
				__u64 limit)
{
	__u32 index = place >> AMPLIFICATION_TAG_BITS,
	      tag = place & ((1 << AMPLIFICATION_TAG_BITS) - 1);
	__u64 floor = now - s->shared->amplification.credit_ns, due;
	struct amplification_line line = { 0 };
	bool room = false;

	bpf_map_lookup_elem(s->amplification, &index, &line);
	for (int way = 0; way < AMPLIFICATION_WAYS; way++) {
		due = (line.cells[way] >> AMPLIFICATION_TAG_BITS) *
		      AMPLIFICATION_GRAIN_NS;
		if ((line.cells[way] & ((1 << AMPLIFICATION_TAG_BITS) - 1)) ==
		    (tag ? tag : 1))
			return (__s64)(limit - (due < floor ? floor : due));
		room |= due <= now;
	}
	return room ? (__s64)(limit - now) : 0;
}

void about_allowance(const struct shield *s, const struct about_host *host,
		     struct about_allowance *ret)
{
	const struct amplification_limit *l = &s->shared->amplification;
	__u64 now = l->strict ? AMPLIFICATION_STRICT_NS : about_clock(s);
	struct list_entry entry = { .origins = 0 };
	struct cidr network;
	int shift;

	about_listed(s, LIST_ALLOW, host, &network, &entry);
	*ret = (struct about_allowance){
		.off = !l->byte_ns || entry.origins & LIST_UNLIMITED,
		.strict = l->strict,
		.allowed = entry.origins && !l->strict,
	};
	if (ret->off)
		return;
	shift = ret->allowed ? ALLOWED_AMPLIFICATION_SHIFT : 0;
	ret->most = (l->window_ns / l->byte_ns) << shift;
	ret->left =
		amplification_left(s, cell_amplification(s->shared, host, ret->allowed),
				   now, now + l->window_ns) /
		(__s64)l->byte_ns * (1 << shift);
}

/* --- flows ------------------------------------------------------------------- */

struct about_walk {
	const struct about_host *host;
	int slot; /* -1: any */
	__u16 port; /* 0: any */
	struct about_flow *found;
	size_t max, count, known;
};

/*
 * Return true if a flow of @slot and @port is found already. Only the first @max are
 * known.
 */
static bool walk_has(const struct about_walk *w, __u32 slot, __u16 port)
{
	for (size_t i = 0; i < w->known; i++)
		if (w->found[i].slot == slot && w->found[i].port == port)
			return true;
	return false;
}

/*
 * Count @flow, if it is of the service and port that are looked for, and keep it while
 * there is room.
 */
static void walk_take(struct about_walk *w, const struct about_flow *flow)
{
	if ((w->port && w->port != flow->port) ||
	    (w->slot >= 0 && (__u32)w->slot != flow->slot))
		return;
	w->count++;
	if (w->known < w->max)
		w->found[w->known++] = *flow;
}

/*
 * Take a player at the host's address. The callback of about_flows() for
 * shield_players(), before walk_joining().
 */
static void walk_player(const struct player_key *key, const struct player *player,
			void *context)
{
	struct about_walk *w = context;
	struct about_flow flow = {
		.slot = key->slot,
		.port = ntohs(key->port),
		.state = ABOUT_ESTABLISHED,
		.used_ns = player->since_ns,
		.player = *player,
	};

	if (!memcmp(key->addr, w->host->address, sizeof(key->addr)))
		walk_take(w, &flow);
}

/*
 * Take a client that is joining, if it is at the host's address and has no flow yet: an
 * established flow of the same port counts alone.
 */
static void walk_joining(struct about_walk *w, const struct validated_cell *cell,
			 __u64 now)
{
	struct cookie_peer name = cell->name;
	struct about_flow flow = {
		.slot = (__u32)name.word[2] >> 16,
		.port = ntohs((__be16)(name.word[2] & 0xffff)),
		.state = cell->flags & VALIDATED_COOKIE ? ABOUT_VALIDATED : ABOUT_INVITED,
		.used_ns = cell->used_ns,
		.challenge = cell->flags & VALIDATED_CHALLENGE ? cell->challenge : 0,
	};

	if (!(name.word[2] & VALIDATED_PRESENT) || !validated_alive(cell, now) ||
	    memcmp(name.word, w->host->address, sizeof(w->host->address)) != 0 ||
	    walk_has(w, flow.slot, flow.port))
		return;
	walk_take(w, &flow);
}

size_t about_flows(const struct shield *s, const struct about_host *host, int slot,
		   __u16 port, struct about_flow *ret, size_t max)
{
	struct about_walk w = {
		.host = host, .slot = slot, .port = port, .found = ret, .max = max
	};
	__u64 now = about_clock(s);

	shield_players(s, walk_player, &w);
	for (__u32 i = 0; i < VALIDATED_MAX; i++)
		walk_joining(&w, &s->shared->validation.validated.cells[i], now);
	return w.count;
}

/* --- the rest ---------------------------------------------------------------- */

__u64 about_known(const struct shield *s, const struct about_host *host)
{
	return reputation_find(&s->shared->cache.reputation, host->net, s->shared->keys);
}

bool about_reports_to(const struct shield *s, __u32 slot, const struct about_host *host)
{
	const struct live *l = s->shared;
	struct player_key key = { .slot = (__u16)slot };
	const struct player_address *cells;
	struct player_id id;
	__u64 hash;

	memcpy(key.addr, host->address, sizeof(key.addr));
	id = player_id(&key);
	hash = player_address_hash(&id, ADDRESS_MASTER, l->keys);
	cells = &l->player_addresses[player_address_bucket(hash)];
	for (int way = 0; way < PLAYER_ADDRESS_WAYS; way++)
		if (cells[way].tag == player_address_tag(hash))
			return player_address_counts(&cells[way],
						     (__u32)(about_clock(s) >> 30),
						     ADDRESS_MASTER_S);
	return false;
}

bool about_listed(const struct shield *s, enum list list, const struct about_host *host,
		  struct cidr *ret_network, struct list_entry *ret)
{
	int map = list == LIST_ALLOW ? s->allow : s->deny;
	struct cidr cidr = { .length = 128 };

	memcpy(cidr.addr, host->address, sizeof(cidr.addr));
	if (!shield_list_covers(s, list, &cidr, ret_network) ||
	    bpf_map_lookup_elem(map, ret_network, ret))
		return false;
	ret->origins = (__u8)list_origins(ret, shield_clock());
	return ret->origins;
}

int about_service_at(const struct shield *s, const __be32 address[4], __u16 port)
{
	__u32 half = shield_generation(s) & 1, exact;
	const struct port *p = &s->shared->tables[half].ports[port];
	struct endpoint at = { .port = port, .generation = (__u16)half };

	memcpy(at.addr, address, sizeof(at.addr));
	if (p->flags & PORT_EXACT && !bpf_map_lookup_elem(s->endpoints, &at, &exact))
		return (int)exact - 1;
	if (p->flags & PORT_NAMED ||
	    (p->flags & PORT_LEARNED &&
	     (__u32)(about_clock(s) >> 30) - p->seen_s > LEARNED_PORT_S))
		return -1;
	return p->any - 1;
}
