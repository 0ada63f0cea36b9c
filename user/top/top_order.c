// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_order.c - which service stands where: of many, the busy ones belong on the screen.
 * Those that are equal stay in the order of the configuration.
 */
#include <stdlib.h>
#include <string.h>

#include "top/top.h"

struct weighed {
	size_t index;
	double weight;
	const char *name;
};

static double packets_of(const struct tallies *t)
{
	double sum = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			sum += (double)t->by[kind][reason].packets;
	return sum;
}

/* What there is most of stands first: packets received. */
static double weight_of(const struct top *top, const struct stats_service *s)
{
	struct stats_pace pace;
	double sum = 0;

	if (top->order == TOP_BY_NAME)
		return 0;
	if (top->order == TOP_BY_TOTAL)
		return packets_of(&s->in);
	top_pace(top, s, &pace);
	for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
		sum += pace.packets[verdict];
	return sum;
}

static int by_weight(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

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

		all[i] = (struct weighed){ i, weight_of(top, s), s->service.name };
	}
	qsort(all, n, sizeof(*all), top->order == TOP_BY_NAME ? by_name : by_weight);
	for (size_t i = 0; i < n; i++)
		top->shown[i] = all[i].index;
}
