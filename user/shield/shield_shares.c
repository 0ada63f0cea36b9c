// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_shares.c - how the challenges that a processor may send per second are divided
 * among the services: by how many requests each got in the last second that a challenge
 * was due for, as the counters of the programs tell.
 */
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/fair.h"
#include "shield/shield_internal.h"
#include "counters.h"

#define SECOND 1000000000ull

/* The reasons for which a request is counted that a challenge is due for: the first if
 * the share suffices, the others if it does not. */
static const enum reason due[] = {
	REASON_CHALLENGED,
	REASON_SERVICE_LIMIT,
	REASON_SOURCE_LIMIT,
	REASON_PREFIX_LIMIT,
};

static const struct {
	enum wire_kind kind;
	enum challenge_use use;
} requests[] = {
	{ KIND_GETSTATUS, CHALLENGE_QUERY },   { KIND_GETINFO, CHALLENGE_QUERY },
	{ KIND_STATUS, CHALLENGE_QUERY },      { KIND_INFO, CHALLENGE_QUERY },
	{ KIND_GETCHALLENGE, CHALLENGE_JOIN },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct look {
	struct counter_row *rows; /* one for each of @cpus processors */
	int cpus;
	/* Requests to one service until now. Processors that share a place are taken for
	 * one, which asks for more. */
	__u64 now[RECENT_TABLES][CHALLENGE_USES];
};

/*
 * Return true if @s challenges requests of @use: queries in Quake II and III alone.
 * Called by shield_demand_look() and shield_challenge_shares(), which must agree. The
 * programs ask validation_applies().
 */
static bool challenges(const struct service *s, enum challenge_use use)
{
	return s->active && !s->observe && s->validation != VALIDATION_OFF &&
	       kind_takes_part((enum wire_family)s->family, use == CHALLENGE_JOIN
								    ? KIND_GETCHALLENGE
								    : KIND_ECHO_RETURN);
}

/*
 * Count the requests to the service in @slot, of @family, up to now. False: they cannot
 * be read.
 */
static bool requests_count(const struct shield *s, __u32 slot, enum wire_family family,
			   struct look *look)
{
	__u32 key, read = ~0u;

	memset(look->now, 0, sizeof(look->now));
	for (size_t i = 0; i < COUNT(due) * COUNT(requests); i++) {
		enum wire_kind kind = requests[i % COUNT(requests)].kind;
		enum challenge_use use = requests[i % COUNT(requests)].use;
		__u32 number =
			counter_number(DIRECTION_C2S, kind, due[i / COUNT(requests)]);

		if (!kind_takes_part(family, kind))
			continue;
		key = slot * COUNTER_ROWS + number / COUNTER_CELLS;
		if (key != read && bpf_map_lookup_elem(s->counters, &key, look->rows))
			return false;
		read = key;
		for (int cpu = 0; cpu < look->cpus; cpu++)
			look->now[cpu & (RECENT_TABLES - 1)][use] +=
				counter_read(
					look->rows[cpu].cells[number % COUNTER_CELLS])
					.packets;
	}
	return true;
}

/*
 * Return how many requests of @use the busiest processor got since the last look, and
 * remember those of @look. 0 if a counter of the slot began anew: a new service has the
 * slot, or the contents have moved to the sums (counters.h). Called once a look for each
 * slot and use.
 */
static __u64 requests_since(struct shield *s, __u32 slot, enum challenge_use use,
			    const struct look *look)
{
	__u64 most = 0;

	for (int i = 0; i < RECENT_TABLES; i++) {
		__u64 *seen = &s->requests[i][use][slot], now = look->now[i][use];

		if (now > *seen && now - *seen > most)
			most = now - *seen;
		*seen = now;
	}
	return most;
}

/*
 * Return true if no challenge can be sent for the service in @slot: the host keys of its
 * server are not known yet, or not to be used. challenge_keys_decide() in the programs
 * reads the same.
 */
static bool keys_unusable(const struct shield *s, __u32 slot, __u8 family)
{
	__u32 state = s->shared->validation.keys[slot].state;

	return family == FAMILY_NETQUAKE && state != KEYS_NONE && state != KEYS_KNOWN;
}

void shield_demand_look(struct shield *s, __u64 past)
{
	const struct service *services =
		s->shared->tables[shield_generation(s) & 1].services;
	struct look look = { .cpus = libbpf_num_possible_cpus() };

	if (look.cpus > 0)
		look.rows = calloc((size_t)look.cpus, sizeof(*look.rows));
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		__u8 family = services[slot].family;
		bool counts = look.rows && slot < s->capacity &&
			      challenges(&services[slot], CHALLENGE_JOIN) &&
			      requests_count(s, slot, family, &look);

		for (int use = 0; use < CHALLENGE_USES; use++) {
			__u64 *demand = &s->demand[use][slot], count = 0;

			if (counts)
				count = requests_since(s, slot, use, &look);
			if (!challenges(&services[slot], use) ||
			    keys_unusable(s, slot, family))
				count = 0;
			/* Half of what it was a second ago: a flood that stops for a
			 * second has to begin with little otherwise. */
			*demand /= 2;
			/* Another family's kinds were not counted before. */
			if (past && s->counted[slot] == family + 1 &&
			    count * SECOND / past * SHARE_UNIT > *demand)
				*demand = count * SECOND / past * SHARE_UNIT;
		}
		s->counted[slot] = counts ? family + 1 : 0;
	}
	free(look.rows);
}

/*
 * Return @rate cut to @share, if @rate is the @whole; both in 1 / SHARE_UNIT. The result
 * is as limit_normal() leaves it if @rate is.
 */
static struct limit share_limit(const struct limit *rate, __u64 share, __u64 whole)
{
	struct limit ret = *rate;

	if (share >= whole || limit_never(rate))
		return ret;
	share = share ? share : 1;
	ret.cost_ns = (SECOND * SHARE_UNIT + share - 1) / share;
	/* However small the share is: one challenge at a time. */
	if (ret.burst_ns < ret.cost_ns)
		ret.burst_ns = ret.cost_ns;
	return ret;
}

void shield_challenge_shares(struct shield *s, const struct service *services)
{
	struct validation_state *p = &s->shared->validation;
	__u64 parts[SERVICES_MAX];

	for (int use = 0; use < CHALLENGE_USES; use++) {
		const struct limit *rate = &p->rate[use];
		__u64 whole = rate->cost_ns ? SECOND * SHARE_UNIT / rate->cost_ns : 0;
		__u32 count = 0, next = 0;

		for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
			if (challenges(&services[slot], use))
				parts[count++] = s->demand[use][slot];
		if (count)
			fair_divide(parts, count, whole);
		for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
			p->share[slot][use] = share_limit(
				rate,
				challenges(&services[slot], use) ? parts[next++] : whole,
				whole);
	}
}
