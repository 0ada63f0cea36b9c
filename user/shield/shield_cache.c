// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_cache.c - the response cache as the programs read it: entries, the windows for
 * recent askers, the cap; and the reputation of addresses.
 */
#include <string.h>
#include <sys/file.h>

#include "lib/fair.h"
#include "lib/names.h"
#include "players.h"
#include "shield/shield_internal.h"

#define LOOK_NS 1000000000ull /* how often the rate of marks is taken */

bool shield_under_load(const struct shield *s, __u32 slot)
{
	return slot < SERVICES_MAX &&
	       shield_clock() < __atomic_load_n(&s->shared->cache.until_ns[slot],
						__ATOMIC_RELAXED);
}

void shield_cache_put(struct shield *s, __u32 slot, __u32 form,
		      const struct cache_entry *t)
{
	struct cache_pair *pair;
	__u64 generation;

	if (slot >= SERVICES_MAX || form >= CACHE_FORMS)
		return;
	pair = &s->shared->cache.entries[slot * CACHE_FORMS + form];
	generation = __atomic_load_n(&pair->generation, __ATOMIC_RELAXED);
	pair->half[(generation + 1) & 1] = *t;
	__atomic_store_n(&pair->generation, generation + 1, __ATOMIC_RELEASE);
	/* Otherwise the next one to be written could be seen before this step. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool shield_cache_put_for(struct shield *s, const char *name, __u32 slot, __u32 form,
			  const struct cache_entry *t)
{
	struct service service;
	bool same;

	/*
	 * A process that applies another configuration forgets the cached responses, then
	 * gives the slot away.
	 */
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return false;
	same = shield_service(s, slot, &service) &&
	       !strncmp(service.name, name, NAME_MAX_LEN);
	if (same)
		shield_cache_put(s, slot, form, t);
	flock(s->lock, LOCK_UN);
	return same;
}

/*
 * All questions are words behind a marker of four octets, but NetQuake's own. Called by
 * cached_response_describe(). @ret: more than CACHE_REQUEST bytes, zeros before.
 */
static void question_words(const struct cache_entry *t, char *ret)
{
	const __u8 *at = (const __u8 *)t->request;
	size_t n = t->request_length;

	if (n < 4 || at[0] != 0xff) {
		strcpy(ret, kind_name(KIND_CCREQ_SERVER_INFO));
		return;
	}
	if (t->nonce && at[n - 1] == ' ')
		n--;
	for (size_t i = 4; i < n; i++)
		*ret++ = at[i] >= ' ' && at[i] < 0x7f ? (char)at[i] : '?';
}

bool cached_response_describe(const struct cache_entry *t, __u64 now_ns,
			      struct cached_response *ret)
{
	if (!t->made_ns || t->request_length > CACHE_REQUEST)
		return false;
	memset(ret, 0, sizeof(*ret));
	question_words(t, ret->request);
	ret->nonce = t->nonce;
	ret->fresh = cache_fresh(t, now_ns);
	ret->bytes = cache_length(t, t->cuts[0].tail, 0);
	ret->age_ns = now_ns > t->made_ns ? now_ns - t->made_ns : 0;
	return true;
}

size_t shield_cached_responses(const struct shield *s, __u32 slot,
			       struct cached_response ret[CACHE_FORMS])
{
	const struct cache_pair *pairs = s->shared->cache.entries;
	__u64 now = shield_clock();
	size_t count = 0;

	for (__u32 form = 0; slot < SERVICES_MAX && form < CACHE_FORMS; form++) {
		const struct cache_pair *p = &pairs[slot * CACHE_FORMS + form];
		__u64 generation = __atomic_load_n(&p->generation, __ATOMIC_ACQUIRE);
		const struct cache_entry *valid = &p->half[generation & 1];
		struct cache_entry t;

		if (!valid->made_ns) /* most are not used */
			continue;
		t = *valid;
		/* What was written meanwhile is shown the next time. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&p->generation, __ATOMIC_RELAXED) == generation)
			count += cached_response_describe(&t, now, &ret[count]);
	}
	return count;
}

void shield_cache_forget(struct shield *s, __u32 slot)
{
	static const struct cache_entry none;

	for (__u32 form = 0; form < CACHE_FORMS; form++)
		shield_cache_put(s, slot, form, &none);
	s->shared->cache.until_ns[slot] = 0;
	s->shared->cache.cap.kept_due_ns[slot] = 0;
	s->shared->cache.windows[slot] = (struct recent_window){ 0 };
}

/*
 * The most sources a second that one processor has marked for the service in @slot since
 * the last look, @past ns ago. Remembers what was counted. Called by windows_fit() once a
 * second.
 */
static __u64 marked_since(struct shield *s, __u32 slot, __u64 past)
{
	__u32 most = 0;

	for (__u32 table = 0; table < RECENT_TABLES; table++) {
		__u32 *seen = &s->recent_marked[table][slot];
		__u32 now = __atomic_load_n(&s->shared->cache.marked[table][slot],
					    __ATOMIC_RELAXED);

		if (now - *seen > most)
			most = now - *seen;
		*seen = now;
	}
	return most * 1000000000ull / past;
}

/*
 * As wide as the rate of marks allows, and not much wider than before. Called by
 * shield_recent_update(). No program needs all windows to be of one moment.
 */
static void windows_fit(struct shield *s, __u64 past)
{
	struct recent_window *w = s->shared->cache.windows;
	__u64 ask[SERVICES_MAX], share;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		ask[slot] = recent_all(w[slot].shut, marked_since(s, slot, past));
	share = fair_most(ask, SERVICES_MAX, RECENT_RATE);
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		__atomic_store_n(&w[slot].shut,
				 recent_widen(w[slot].shut,
					      recent_shut(ask[slot], share)),
				 __ATOMIC_RELAXED);
}

/* On by their width. Called by shield_recent_update() every RECENT_TURN_S seconds. */
static void windows_move(struct shield *s)
{
	struct recent_window *w = s->shared->cache.windows;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		__atomic_store_n(&w[slot].from,
				 w[slot].from + (__u32)recent_width(w[slot].shut),
				 __ATOMIC_RELAXED);
}

#define KEPT_BYTES 3000 /* at once, at least: two responses */

void shield_cache_keep(struct shield *s, const struct service *services, __u64 now)
{
	struct cache_cap *cap = &s->shared->cache.cap;
	__u64 kept = 0, loaded = 0;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		loaded += now < s->shared->cache.until_ns[slot] ||
			  (services[slot].active && services[slot].cache == CACHE_ALWAYS);
	if ((__s64)cap->burst_ns > 0)
		kept = cap->byte_ns * (CACHE_KEPT - 1) * (loaded ? loaded : 1);
	cap->kept_burst_ns =
		kept * KEPT_BYTES > CACHE_BURST_NS ? kept * KEPT_BYTES : CACHE_BURST_NS;
	__atomic_store_n(&cap->kept_byte_ns, kept, __ATOMIC_RELAXED);
}

void shield_recent_update(struct shield *s, __u64 now)
{
	const struct service *services =
		s->shared->tables[shield_generation(s) & 1].services;
	__u64 past = now - s->recent_looked_ns;

	if (past < LOOK_NS)
		return;
	/* The counts that an earlier daemon saw give no rate. */
	shield_demand_look(s, s->recent_looked_ns ? past : 0);
	if (s->recent_looked_ns)
		windows_fit(s, past);
	else
		memcpy(s->recent_marked, s->shared->cache.marked,
		       sizeof(s->recent_marked));
	s->recent_looked_ns = now;
	shield_cache_keep(s, services, now);
	shield_challenge_shares(s, services);
	if (now - s->recent_moved_ns < RECENT_TURN_S * 1000000000ull)
		return;
	s->recent_moved_ns = now;
	windows_move(s);
}

/*
 * Note the address of a player that is player_proven() in the reputation table. The
 * callback of shield_known_add_players(). The address must be as address_net() in the
 * programs makes it.
 */
static void know_player(const struct player_key *key, const struct player *player,
			void *context)
{
	struct shield *s = context;
	bool ipv4 = !key->addr[0] && !key->addr[1];
	__u64 net = ipv4 ? __builtin_bswap32(key->addr[3])
			 : (__u64)__builtin_bswap32(key->addr[0]) << 32 |
				    __builtin_bswap32(key->addr[1]);

	if (net && player_proven(player))
		reputation_note(&s->shared->cache.reputation, net, 0, REPUTATION_PLAYER,
				reputation_minute(shield_clock()), s->shared->keys);
}

void shield_known_add_players(struct shield *s)
{
	shield_players(s, know_player, s);
}

void shield_known_add_networks(struct shield *s)
{
	struct reputation_table *t = &s->shared->cache.reputation;
	__u32 now = reputation_minute(shield_clock());

	for (__u32 i = 0; i < REPUTATION_MAX; i++) {
		__u64 state = __atomic_load_n(&t->cells[i].state, __ATOMIC_RELAXED), was;
		__u64 net = reputation_network(t->cells[i].net);

		if (!reputation_known(state, now) ||
		    reputation_flags(state) & REPUTATION_NETWORK)
			continue;
		/* As young as the youngest in it. */
		was = reputation_find(t, net, s->shared->keys);
		if (!reputation_known(was, now) ||
		    reputation_age(was, now) > reputation_age(state, now))
			reputation_note(t, net, 0, REPUTATION_NETWORK, (__u32)state,
					s->shared->keys);
	}
}

struct reputation_table *shield_reputation(struct shield *s, const __u64 **ret_keys)
{
	*ret_keys = s->shared->keys;
	return &s->shared->cache.reputation;
}

__u32 shield_known_count(const struct shield *s)
{
	__u32 minute = reputation_minute(shield_clock()), count = 0;

	for (__u32 i = 0; i < REPUTATION_MAX; i++)
		count += reputation_good(s->shared->cache.reputation.cells[i].state,
					 minute);
	return count;
}
