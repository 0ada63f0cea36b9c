// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_gauges.c - how much of the shield's budgets and room is in use at this moment.
 */
#include <errno.h>

#include <bpf/bpf.h>

#include "shield/shield_internal.h"

double limit_used_share(const struct limit *limit, __u64 due_ns, __u64 now_ns)
{
	if (!limit->cost_ns)
		return 0; /* no limit: there is nothing to spend */
	if (limit_never(limit))
		return 1; /* nothing ever passes */
	if (due_ns <= now_ns)
		return 0;
	if (due_ns - now_ns >= limit->burst_ns)
		return 1;
	return (double)(due_ns - now_ns) / (double)limit->burst_ns;
}

int shield_limits_used(const struct shield *s, __u32 slot, double ret[CLASS_BUDGETS])
{
	__u64 now = shield_clock();
	struct service service;

	if (!shield_service(s, slot, &service))
		return -ENOENT;
	for (__u32 class = 0; class < CLASS_BUDGETS; class ++) {
		__u64 *due = &s->shared->service_due_ns[budget_index(slot, class)];

		ret[class] =
			limit_used_share(&service.budget[class].service,
					 __atomic_load_n(due, __ATOMIC_RELAXED), now);
	}
	return 0;
}

/* Keys of a list that others are writing: near enough, and it ends. */
static __u32 count_keys(int map)
{
	void *previous = NULL;
	__u32 count = 0;
	struct cidr at;

	while (count < LIST_MAX && !bpf_map_get_next_key(map, previous, &at)) {
		previous = &at;
		count++;
	}
	return count;
}

/*
 * Add one to the __u32 @context. The callback of shield_table_usage() for
 * shield_players().
 */
static void count_player(const struct player_key *key, const struct player *player,
			 void *context)
{
	(void)key;
	(void)player;
	++*(__u32 *)context;
}

void shield_table_usage(const struct shield *s, struct table_usage ret[TABLE_COUNT])
{
	const int maps[TABLE_COUNT] = {
		[TABLE_ALLOW] = s->allow,
		[TABLE_DENY] = s->deny,
		[TABLE_FOLLOW] = s->follow,
	};

	for (int i = 0; i < TABLE_COUNT; i++)
		ret[i] = (struct table_usage){ .capacity = LIST_MAX };
	for (int i = 0; i < TABLE_COUNT; i++)
		if (i != TABLE_PLAYERS && i != TABLE_KNOWN)
			ret[i].used = count_keys(maps[i]);
	ret[TABLE_KNOWN].capacity = REPUTATION_MAX;
	ret[TABLE_KNOWN].used = shield_known_count(s);
	ret[TABLE_PLAYERS].capacity = PLAYERS_MAX;
	shield_players(s, count_player, &ret[TABLE_PLAYERS].used);
}

size_t shield_ports(const struct shield *s, __u32 slot)
{
	const struct tables *t = &s->shared->tables[shield_generation(s) & 1];
	size_t count = 0;

	for (__u32 number = 0; number < PORTS; number++)
		count += t->ports[number].any == slot + 1 &&
			 !(t->ports[number].flags & (PORT_LEARNED | PORT_NAMED));
	return count;
}
