// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tend.c - housekeeping: players who left, and what requests cost.
 *
 * Nothing here is needed for safety. Stale players are not believed by the programs
 * either, and costs stay as they were last set while no daemon runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "shield_internal.h"

#define PLAYER_KEEP_NS 60000000000ull /* as PLAYER_IDLE_NS in bpf/players.bpf.h */
#define SWEEP_MAX      1024 /* removals in one go */
#define COST_BYTES     1024 /* of answer that cost COST_ONE */
#define COST_MAX       (64 * COST_ONE)
#define COST_SAMPLES   16 /* answered requests before the average is believed */

static bool player_gone(const struct player *player, __u64 now)
{
	return now > player->sent_ns && now - player->sent_ns > PLAYER_KEEP_NS;
}

int shield_players(const struct shield *s,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context)
{
	__u64 now = shield_clock();
	struct player_key at;
	struct player player;
	void *previous = NULL;

	while (!bpf_map_get_next_key(s->players, previous, &at)) {
		previous = &at;
		if (!bpf_map_lookup_elem(s->players, &at, &player) &&
		    !player_gone(&player, now))
			each(&at, &player, context);
	}
	return 0;
}

static void forget_qport(const struct shield *s, const struct player_key *key,
			 const struct player *player)
{
	struct qport_key by = { .qport = player->qport, .slot = key->slot };
	__u16 port;

	memcpy(by.addr, key->addr, sizeof(by.addr));
	if (!bpf_map_lookup_elem(s->qports, &by, &port) && port == key->port)
		bpf_map_delete_elem(s->qports, &by);
}

static void sweep_players(const struct shield *s)
{
	struct player_key gone[SWEEP_MAX], at;
	__u64 now = shield_clock();
	struct player player;
	void *previous = NULL;
	size_t count = 0;

	while (count < SWEEP_MAX && !bpf_map_get_next_key(s->players, previous, &at)) {
		previous = &at;
		if (bpf_map_lookup_elem(s->players, &at, &player) ||
		    !player_gone(&player, now))
			continue;
		forget_qport(s, &at, &player);
		gone[count++] = at;
	}
	while (count)
		bpf_map_delete_elem(s->players, &gone[--count]);
}

static void set_costs(const struct shield *s, __u32 slot)
{
	for (__u32 kind = 0; kind < KIND_COUNT; kind++) {
		__u32 key = slot * KIND_COUNT + kind;
		struct answers a;
		__u64 cost;
		__u32 value;

		if (bpf_map_lookup_elem(s->answers, &key, &a) ||
		    a.requests < COST_SAMPLES)
			continue;
		cost = a.bytes * COST_ONE / a.requests / COST_BYTES;
		if (cost < COST_ONE)
			cost = COST_ONE;
		value = (__u32)(cost > COST_MAX ? COST_MAX : cost);
		bpf_map_update_elem(s->costs, &key, &value, BPF_ANY);
		/* Halve now and then, so that the average follows the server. */
		if (a.requests > 4096) {
			a.requests /= 2;
			a.bytes /= 2;
			bpf_map_update_elem(s->answers, &key, &a, BPF_ANY);
		}
	}
}

static void count_followed(const struct player_key *key, const struct player *player,
			   void *context)
{
	__u32 *count = context;

	(void)key;
	*count += !!(player->flags & PLAYER_FOLLOWED);
}

void shield_tend(struct shield *s)
{
	__u32 followed = 0;

	struct service service;

	sweep_players(s);
	shield_players(s, count_followed, &followed);
	__atomic_store_n(&s->shared->followed, followed, __ATOMIC_RELAXED);
	for (__u32 slot = 0; slot < s->capacity; slot++)
		if (shield_service(s, slot, &service))
			set_costs(s, slot);
}
