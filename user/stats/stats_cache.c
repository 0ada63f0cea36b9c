// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "stats/stats_cache.h"

struct watch {
	const struct shield *shield;
	struct stats now;
	int64_t taken_ns; /* 0: there is none yet */
	int64_t cost_ns;
	struct stats then; /* at the last point of history */
	int64_t then_ns;
	struct history history;
};

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

struct watch *watch_new(const struct shield *shield)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w)
		w->shield = shield;
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	stats_free(&w->now);
	stats_free(&w->then);
	free(w);
}

const struct stats *watch_stats(struct watch *w)
{
	int64_t begun = clock_ns();
	struct stats fresh;

	if (w->taken_ns && begun - w->taken_ns < w->cost_ns * WATCH_REST)
		return &w->now;
	if (stats_collect(w->shield, &fresh))
		return NULL;
	stats_free(&w->now);
	w->now = fresh;
	w->taken_ns = clock_ns();
	w->cost_ns = w->taken_ns - begun;
	return &w->now;
}

void watch_tick(struct watch *w)
{
	const struct stats *now = watch_stats(w);
	struct stats copy;
	struct pace pace;
	size_t players = 0;

	if (!now || w->taken_ns == w->then_ns || !stats_copy(now, &copy))
		return;
	for (size_t i = 0; i < now->service_count; i++)
		players += now->services[i].players;
	if (w->then_ns) {
		pace_total(now, &w->then, (double)(w->taken_ns - w->then_ns) / 1e9,
			   &pace);
		history_add(&w->history, time(NULL), &pace, players);
	}
	stats_free(&w->then);
	w->then = copy;
	w->then_ns = w->taken_ns;
}

const struct history *watch_history(const struct watch *w)
{
	return &w->history;
}
