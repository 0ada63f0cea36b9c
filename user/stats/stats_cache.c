// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "stats/stats_cache.h"

struct stats_cache {
	struct shield *shield;
	struct stats now;
	int64_t taken_ns; /* 0: there is none yet */
	int64_t cost_ns; /* of a processor's time */
	struct stats then; /* at the last point of history */
	int64_t then_ns;
	struct history history;
	struct day day;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

struct stats_cache *stats_cache_new(struct shield *shield, const char *pin)
{
	struct stats_cache *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->shield = shield;
	day_load(&w->day, pin, time(NULL));
	return w;
}

void stats_cache_free(struct stats_cache *w)
{
	if (!w)
		return;
	stats_free(&w->now);
	stats_free(&w->then);
	free(w);
}

const struct stats *stats_cache_stats(struct stats_cache *w)
{
	int64_t spent = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (w->taken_ns &&
	    clock_ns(CLOCK_MONOTONIC) - w->taken_ns < w->cost_ns * STATS_CACHE_REST)
		return &w->now;
	if (stats_refresh(w->shield, &w->now))
		return NULL;
	w->taken_ns = clock_ns(CLOCK_MONOTONIC);
	w->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - spent;
	return &w->now;
}

void stats_cache_tick(struct stats_cache *w)
{
	const struct stats *now = stats_cache_stats(w);
	struct stats_rates rates;
	size_t players = 0;

	if (!now || w->taken_ns == w->then_ns)
		return;
	for (size_t i = 0; i < now->service_count; i++)
		players += now->services[i].players;
	if (w->then_ns) {
		stats_rates_total(now, &w->then, (double)(w->taken_ns - w->then_ns) / 1e9,
				  &rates);
		history_add(&w->history, time(NULL), &rates, players);
		day_add(&w->day, time(NULL), &rates, players);
	}
	if (stats_keep(&w->then, now))
		w->then_ns = w->taken_ns;
}

const struct history *stats_cache_history(const struct stats_cache *w)
{
	return &w->history;
}

const struct day *stats_cache_day(const struct stats_cache *w)
{
	return &w->day;
}
