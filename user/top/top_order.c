// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_order.c - which service stands where: of many, those under attack and the busy ones
 * belong on the screen, and the quiet ones last. By name all of them stand as names do.
 * Those that are equal stay in the order of the configuration.
 */
#include <stdlib.h>
#include <string.h>

#include "top/top.h"

struct weighed {
	size_t index;
	enum top_state state;
	double weight;
	const char *name;
};

/* The service with most packets stands first: packets received. */
static double weight_of(const struct top *top, const struct stats_service *s)
{
	struct stats_rates rates;

	if (top->order == TOP_BY_NAME)
		return 0;
	if (top->order == TOP_BY_TOTAL)
		return (double)counters_packets(&s->in);
	top_rates(top, s, &rates);
	return stats_rates_packets(&rates);
}

enum top_state top_state(const struct top *top, const struct stats_service *s)
{
	__s64 stirred_ns = top->stirred_ns[s - top->now.services];

	if (top_attacked(top, s->service.name))
		return TOP_ATTACKED;
	if (top->seconds <= 0 || s->players ||
	    (stirred_ns && top->now_ns - stirred_ns < TOP_QUIET_S * 1000000000ll))
		return TOP_ACTIVE;
	return TOP_QUIET;
}

void top_states(const struct top *top, size_t from, size_t to, size_t ret[TOP_STATES])
{
	memset(ret, 0, TOP_STATES * sizeof(*ret));
	for (size_t at = from; at < to; at++)
		ret[top_state(top, top_service_at(top, at))]++;
}

static int by_weight(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static int by_name(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	return strncmp(a->name, b->name, NAME_MAX_LEN);
}

void top_services_sort(struct top *top)
{
	static struct weighed all[SERVICES_MAX];
	size_t n = top->now.service_count;

	for (size_t i = 0; i < n; i++) {
		const struct stats_service *s = &top->now.services[i];

		all[i] = (struct weighed){ i, top_state(top, s), weight_of(top, s),
					   s->service.name };
	}
	qsort(all, n, sizeof(*all), top->order == TOP_BY_NAME ? by_name : by_weight);
	for (size_t i = 0; i < n; i++)
		top->shown[i] = all[i].index;
}
