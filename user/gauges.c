// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gauges.c - how much of the shield's budgets and room is in use at this moment.
 */
#include <errno.h>

#include <bpf/bpf.h>

#include "shield_internal.h"

double shield_spent_share(const struct limit *limit, __u64 due_ns, __u64 now_ns)
{
	if (!limit->cost_ns)
		return 0; /* no limit: there is nothing to spend */
	if (limit->burst_ns < limit->cost_ns)
		return 1; /* nothing ever passes */
	if (due_ns <= now_ns)
		return 0;
	if (due_ns - now_ns >= limit->burst_ns)
		return 1;
	return (double)(due_ns - now_ns) / (double)limit->burst_ns;
}

int shield_spent(const struct shield *s, __u32 slot, double ret[CLASS_BUDGETS])
{
	__u64 now = shield_clock();
	struct service service;

	if (!shield_service(s, slot, &service))
		return -ENOENT;
	for (__u32 class = 0; class < CLASS_BUDGETS; class ++) {
		__u64 *due = &s->shared->globals[slot * CLASS_BUDGETS + class];

		ret[class] =
			shield_spent_share(&service.budget[class].global,
					   __atomic_load_n(due, __ATOMIC_RELAXED), now);
	}
	return 0;
}

/* Keys of a map that others are writing: near enough, and it ends. */
static __u32 count_keys(int map, __u32 capacity)
{
	union {
		struct player_key player;
		struct cidr cidr;
	} at;
	void *previous = NULL;
	__u32 count = 0;

	while (count < capacity && !bpf_map_get_next_key(map, previous, &at)) {
		previous = &at;
		count++;
	}
	return count;
}

void shield_rooms(const struct shield *s, struct shield_room ret[ROOM_COUNT])
{
	const int maps[ROOM_COUNT] = {
		[ROOM_PLAYERS] = s->players,
		[ROOM_ALLOW] = s->allow,
		[ROOM_DENY] = s->deny,
		[ROOM_FOLLOW] = s->follow,
	};

	for (int i = 0; i < ROOM_COUNT; i++) {
		ret[i].capacity = i == ROOM_PLAYERS ? PLAYERS_MAX : LIST_MAX;
		ret[i].used = count_keys(maps[i], ret[i].capacity);
	}
}
