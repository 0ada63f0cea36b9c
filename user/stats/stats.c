// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
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

/* All of the service in *@ret but its counters. */
static int service_collect(const struct shield *shield, struct stats_service *ret)
{
	ret->cached_count = shield_cached_responses(shield, ret->slot, ret->cached);
	shield_protocol_mismatch(shield, ret->slot, &ret->speaks);
	ret->judged = shield_judged(shield, ret->slot, ret->received, ret->unjudged_by);
	return shield_limits_used(shield, ret->slot, ret->limits_used);
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

/*
 * The counters of the service in *@ret, as they are in @turn, for @reading. Its memory
 * stays untouched where it has them already. 0 or -errno. Not reentrant: the buffers are
 * static.
 */
static int counters_read(const struct shield *shield, struct stats_service *ret,
			 __u32 turn, __u32 reading)
{
	static struct counters in, out; /* too large for the stack */
	int err = shield_counters(shield, ret->slot, &in, &out);

	if (err)
		return err;
	copy_changes(&ret->in, &in, sizeof(in));
	copy_changes(&ret->out, &out, sizeof(out));
	ret->received = counters_packets(&in);
	ret->turn = turn;
	ret->reading = reading;
	return 0;
}

/* All services, read in @turn. @s has none yet. */
static int services_collect(const struct shield *shield, struct stats *s, __u32 turn)
{
	struct service service;
	size_t n = 0;
	int err = 0;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		n += shield_service(shield, slot, &service);
	s->services = calloc(n ? n : 1, sizeof(*s->services));
	if (!s->services) {
		log_error("not enough memory for %zu services", n);
		return -ENOMEM;
	}
	for (__u32 slot = 0; slot < SERVICES_MAX && s->service_count < n && !err;
	     slot++) {
		struct stats_service *one = &s->services[s->service_count];

		if (!shield_service(shield, slot, &one->service))
			continue;
		s->service_count++;
		one->slot = slot;
		err = counters_read(shield, one, turn, s->reading);
		if (!err)
			err = service_collect(shield, one);
	}
	return err;
}

/* The same of services that @s has already. */
static int services_refresh(const struct shield *shield, struct stats *s, __u32 turn)
{
	int err = 0;

	for (size_t i = 0; i < s->service_count && !err; i++) {
		struct stats_service *one = &s->services[i];

		if (shield_counters_changed(shield, one->slot, one->turn))
			err = counters_read(shield, one, turn, s->reading);
		if (!err)
			err = service_collect(shield, one);
	}
	return err;
}

static __s64 now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (__s64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All but the services. */
static int rest_collect(const struct shield *shield, struct stats *s)
{
	size_t players[SERVICES_MAX] = { 0 };
	int err = shield_players(shield, player_count, players);

	if (!err)
		err = shield_others(shield, s->others);
	if (!err)
		err = shield_sampled(shield, s->sampled);
	if (err)
		return err;
	for (size_t i = 0; i < s->service_count; i++)
		s->services[i].players = players[s->services[i].slot];
	s->link_count = shield_links(shield, s->links, CONFIG_INTERFACES);
	if (s->link_count > CONFIG_INTERFACES)
		s->link_count = CONFIG_INTERFACES;
	shield_table_usage(shield, s->tables);
	s->fallback = shield_fallback(shield);
	s->time_ms = now_ms(CLOCK_REALTIME);
	s->steady_ms = now_ms(CLOCK_MONOTONIC);
	return 0;
}

/* A snapshot of services that are read in @turn, for @reading. */
static int collect(const struct shield *shield, __u32 turn, __u32 reading,
		   struct stats *ret)
{
	/* If another configuration comes meanwhile, it differs from the number. */
	struct stats s = { .reading = reading, .generation = shield_generation(shield) };
	int err = services_collect(shield, &s, turn);

	if (!err)
		err = rest_collect(shield, &s);
	if (err)
		stats_free(&s);
	else
		*ret = s;
	return err;
}

int stats_collect(const struct shield *shield, struct stats *ret)
{
	return collect(shield, 0, 0, ret);
}

int stats_refresh(struct shield *shield, struct stats *s)
{
	__u32 turn = shield_counters_turn(shield);
	struct stats fresh;
	int err;

	if (!++s->reading)
		s->reading = 1;
	if (s->services && s->generation == shield_generation(shield)) {
		err = services_refresh(shield, s, turn);
		return err ? err : rest_collect(shield, s);
	}
	err = collect(shield, turn, s->reading, &fresh);
	if (err)
		return err;
	stats_free(s);
	*s = fresh;
	return 0;
}

bool stats_unchanged(const struct stats_service *now, const struct stats_service *before)
{
	return now->reading && now->reading == before->reading;
}

void stats_free(struct stats *stats)
{
	free(stats->services);
	stats->services = NULL;
	stats->service_count = 0;
}

static void services_copy(struct stats_service *to, const struct stats_service *from,
			  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool same = stats_unchanged(&from[i], &to[i]);

		memcpy(&to[i], &from[i], offsetof(struct stats_service, in));
		if (same)
			continue;
		copy_changes(&to[i].in, &from[i].in, sizeof(to[i].in));
		copy_changes(&to[i].out, &from[i].out, sizeof(to[i].out));
	}
}

static bool stats_copy(const struct stats *stats, struct stats *ret)
{
	size_t n = stats->service_count ? stats->service_count : 1;
	struct stats_service *services = calloc(n, sizeof(*services));

	if (!services)
		return false;
	*ret = *stats;
	ret->services = services;
	services_copy(services, stats->services, stats->service_count);
	return true;
}

bool stats_keep(struct stats *kept, const struct stats *stats)
{
	struct stats_service *services = kept->services;
	struct stats copy;

	if (services && kept->service_count == stats->service_count) {
		services_copy(services, stats->services, stats->service_count);
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
