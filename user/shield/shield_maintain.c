// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_maintain.c - housekeeping that the daemon does every few seconds. Nothing here
 * is needed for safety: the programs ignore players and entries that have ended.
 */
#include "shield/shield_internal.h"

/*
 * Add one to the __u32 @context if @player is followed. A callback of shield_players().
 */
static void count_followed(const struct player_key *key, const struct player *player,
			   void *context)
{
	__u32 *count = context;

	(void)key;
	*count += !!(player->flags & PLAYER_FOLLOWED);
}

/*
 * Replace the key that is not in use, once in each period. Called by shield_maintain(). A
 * key must not be replaced while a cookie of it is valid: cookie_key_idle().
 */
static void rotate_secret(struct shield *s)
{
	__u64 now = shield_clock();
	__u64 period = cookie_epoch(now) >> COOKIE_PERIOD_BITS;
	__u32 turn;

	if (!now || s->shared->validation.period == period ||
	    !cookie_key_idle(now, &turn))
		return;
	if (!shield_new_secret(s, turn))
		s->shared->validation.period = period;
}

void shield_maintain(struct shield *s)
{
	__u32 followed = 0;

	if (!s->shared)
		return; /* cannot be, once it is open; but an analyser does not know */
	rotate_secret(s);
	shield_players_sweep(s);
	shield_players(s, count_followed, &followed);
	__atomic_store_n(&s->shared->followed, followed, __ATOMIC_RELAXED);
	shield_lists_expire(s);
	shield_known_add_players(s);
	shield_known_add_networks(s);
	shield_owners(s);
}
