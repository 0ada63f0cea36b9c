// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "stats/stats.h"

static void player_count(const struct player_key *key, const struct player *player,
			 void *context)
{
	size_t *players = context;

	(void)player;
	if (key->slot < SERVICES_MAX)
		players[key->slot]++;
}

static int service_collect(const struct shield *shield, __u32 slot,
			   struct stats_service *ret)
{
	int err;

	ret->slot = slot;
	ret->cached_count = shield_cached_responses(shield, slot, ret->cached);
	shield_protocol_mismatch(shield, slot, &ret->speaks);
	err = shield_counters(shield, slot, &ret->in, &ret->out);
	if (!err)
		err = shield_limits_used(shield, slot, ret->limits_used);
	if (!err)
		ret->judged = shield_judged(shield, slot, counters_packets(&ret->in),
					    ret->unjudged_by);
	return err;
}

/*
 * Copy @size bytes of @from to @to, and write only where they differ. Most counters of
 * most services stay 0: where nothing was written to memory of calloc() it takes no
 * pages.
 */
static void copy_changes(void *to, const void *from, size_t size)
{
	enum {
		BLOCK = 512
	};

	for (size_t at = 0; at < size; at += BLOCK) {
		size_t n = size - at < BLOCK ? size - at : BLOCK;

		if (memcmp((char *)to + at, (const char *)from + at, n) != 0)
			memcpy((char *)to + at, (const char *)from + at, n);
	}
}

static int services_collect(const struct shield *shield, struct stats *s)
{
	struct stats_service *one = calloc(1, sizeof(*one));
	struct service service;
	size_t n = 0;
	int err = 0;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		n += shield_service(shield, slot, &service);
	s->services = calloc(n ? n : 1, sizeof(*s->services));
	if (!s->services || !one) {
		log_error("not enough memory for %zu services", n);
		err = -ENOMEM;
	}
	for (__u32 slot = 0; slot < SERVICES_MAX && s->service_count < n && !err;
	     slot++) {
		if (!shield_service(shield, slot, &one->service))
			continue;
		err = service_collect(shield, slot, one);
		if (!err)
			copy_changes(&s->services[s->service_count++], one, sizeof(*one));
	}
	free(one);
	return err;
}

static __s64 now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (__s64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int stats_collect(const struct shield *shield, struct stats *ret)
{
	struct stats s = { 0 };
	size_t players[SERVICES_MAX] = { 0 };
	int err;

	s.link_count = shield_links(shield, s.links, CONFIG_INTERFACES);
	if (s.link_count > CONFIG_INTERFACES)
		s.link_count = CONFIG_INTERFACES;
	err = services_collect(shield, &s);
	if (!err)
		err = shield_players(shield, player_count, players);
	if (!err)
		err = shield_others(shield, s.others);
	if (!err)
		err = shield_sampled(shield, s.sampled);
	if (err) {
		stats_free(&s);
		return err;
	}
	for (size_t i = 0; i < s.service_count; i++)
		s.services[i].players = players[s.services[i].slot];
	shield_table_usage(shield, s.tables);
	s.generation = shield_generation(shield);
	s.fallback = shield_fallback(shield);
	s.time_ms = now_ms(CLOCK_REALTIME);
	s.steady_ms = now_ms(CLOCK_MONOTONIC);
	*ret = s;
	return 0;
}

void stats_free(struct stats *stats)
{
	free(stats->services);
	stats->services = NULL;
	stats->service_count = 0;
}

static bool stats_copy(const struct stats *stats, struct stats *ret)
{
	size_t n = stats->service_count ? stats->service_count : 1;
	struct stats_service *services = calloc(n, sizeof(*services));

	if (!services)
		return false;
	*ret = *stats;
	ret->services = services;
	copy_changes(services, stats->services, stats->service_count * sizeof(*services));
	return true;
}

bool stats_keep(struct stats *kept, const struct stats *stats)
{
	struct stats_service *services = kept->services;
	struct stats copy;

	if (services && kept->service_count == stats->service_count) {
		copy_changes(services, stats->services,
			     stats->service_count * sizeof(*services));
		*kept = *stats;
		kept->services = services;
		return true;
	}
	if (!stats_copy(stats, &copy))
		return false;
	stats_free(kept);
	*kept = copy;
	return true;
}

bool stats_ratio(__u64 out, __u64 in, double *ret)
{
	if (!in)
		return false;
	*ret = (double)out / (double)in;
	return true;
}

const char *mode_name(enum attach_mode mode)
{
	static const char *const names[] = {
		[MODE_AUTO] = "auto",
		[MODE_NATIVE] = "native",
		[MODE_SKB] = "skb",
	};

	return names[mode];
}

const char *table_name(enum usage_table table)
{
	static const char *const names[TABLE_COUNT] = {
		[TABLE_PLAYERS] = "players", [TABLE_ALLOW] = "allow",
		[TABLE_DENY] = "deny",	     [TABLE_FOLLOW] = "follow",
		[TABLE_KNOWN] = "known",
	};

	return names[table];
}

const char *sampler_name(enum sampler sampler)
{
	static const char *const names[SAMPLER_COUNT] = {
		[SAMPLER_STATISTIC] = "statistic",
		[SAMPLER_FOLLOW] = "follow",
	};

	return names[sampler];
}

void time_format(time_t time, char ret[TIME_TEXT])
{
	struct tm tm;

	if (!gmtime_r(&time, &tm) || !strftime(ret, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm))
		strcpy(ret, "?");
}
