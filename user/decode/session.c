// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session.c - the table of flows. See session.h.
 *
 * Sessions lie in one array, hashed with a seed of this run into chains, and in lists by
 * last use, answered ones apart: of all, and of those that hold a state block.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "decode/session.h"

#define HOST_WAYS     4
#define HOST_SETS_MIN 16

struct session_table {
	struct session *sessions;
	struct session **buckets;
	size_t buckets_mask;
	size_t sessions_max;
	size_t sessions_used; /* of the array, ever */
	struct session *free;
	size_t count;
	uint64_t seed;
	/* By whether the session was answered: 0 if not. */
	struct session *newest[2], *oldest[2];
	struct session *state_newest[2], *state_oldest[2];
	size_t state_bytes, state_max;
	uint64_t forgotten;
	struct host (*hosts)[HOST_WAYS];
	size_t hosts_mask;
};

struct session_table *session_table_create(size_t sessions, size_t state_bytes)
{
	struct session_table *table = calloc(1, sizeof(*table));
	size_t buckets = 1;

	if (!table)
		return NULL;
	while (buckets < sessions)
		buckets *= 2;
	table->sessions = calloc(sessions, sizeof(*table->sessions));
	table->buckets = calloc(buckets, sizeof(struct session *));
	table->hosts_mask =
		(buckets > 4 * HOST_SETS_MIN ? buckets / 4 : HOST_SETS_MIN) - 1;
	table->hosts = calloc(table->hosts_mask + 1, sizeof(*table->hosts));
	table->buckets_mask = buckets - 1;
	table->sessions_max = sessions;
	table->state_max = state_bytes;
	if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
		table->seed = (uintptr_t)table;
	if (!table->sessions || !table->buckets || !table->hosts) {
		session_table_free(table);
		return NULL;
	}
	return table;
}

static bool answered(const struct session *s)
{
	return s->spoke[0] && s->spoke[1];
}

static void state_unlink(struct session *s)
{
	struct session_table *table = s->table;
	bool list = answered(s);

	*(s->state_newer ? &s->state_newer->state_older : &table->state_newest[list]) =
		s->state_older;
	*(s->state_older ? &s->state_older->state_newer : &table->state_oldest[list]) =
		s->state_newer;
	s->state_newer = s->state_older = NULL;
}

static void state_link(struct session *s)
{
	struct session_table *table = s->table;
	bool list = answered(s);

	s->state_older = table->state_newest[list];
	s->state_newer = NULL;
	*(table->state_newest[list] ? &table->state_newest[list]->state_newer
				    : &table->state_oldest[list]) = s;
	table->state_newest[list] = s;
}

static void state_drop(struct session *s)
{
	const struct family *family;

	if (!s->state)
		return;
	family = family_of(s->state_family);
	if (family->drop)
		family->drop(s->state);
	s->table->state_bytes -= s->state_bytes;
	s->state_bytes = 0;
	state_unlink(s);
	free(s->state);
	s->state = NULL;
}

/* Makes room for @more bytes without touching @keep. */
static void state_evict(struct session_table *table, size_t more,
			const struct session *keep)
{
	while (table->state_bytes + more > table->state_max) {
		struct session *s = table->state_oldest[0];

		if (s == keep)
			s = s->state_newer;
		if (!s)
			s = table->state_oldest[1];
		if (s == keep)
			s = s->state_newer;
		if (!s)
			return;
		state_drop(s);
		s->forgotten = true;
		table->forgotten++;
	}
}

void *session_state(struct session *s, enum wire_family family)
{
	const struct family *f = family_of(family);

	if (s->state && s->state_family != family)
		state_drop(s);
	if (s->state)
		return s->state;
	if (!f || !f->state_size)
		return NULL;
	state_evict(s->table, f->state_size, s);
	s->state = calloc(1, f->state_size);
	if (!s->state)
		return NULL;
	s->state_family = family;
	s->state_bytes = f->state_size;
	s->table->state_bytes += f->state_size;
	state_link(s);
	return s->state;
}

void session_state_count(struct session *s)
{
	const struct family *f;
	size_t now;

	if (!s->state)
		return;
	f = family_of(s->state_family);
	now = f->takes ? f->takes(s->state) : f->state_size;
	s->table->state_bytes += now - s->state_bytes;
	s->state_bytes = now;
	state_evict(s->table, 0, s);
}

void session_table_free(struct session_table *table)
{
	if (!table)
		return;
	for (int list = 0; list < 2; list++)
		while (table->state_oldest[list])
			state_drop(table->state_oldest[list]);
	free(table->sessions);
	free(table->buckets);
	free(table->hosts);
	free(table);
}

size_t session_table_bytes(const struct session_table *table)
{
	return table->state_bytes;
}

size_t session_table_count(const struct session_table *table)
{
	return table->count;
}

uint64_t session_table_forgotten(const struct session_table *table)
{
	return table->forgotten;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static size_t key_bucket(const struct session_table *table, const struct session_key *key)
{
	uint64_t h = table->seed, word[4];
	uint32_t ports;

	memcpy(word, key, sizeof(word));
	memcpy(&ports, &key->low_port, sizeof(ports));
	for (int i = 0; i < 4; i++)
		h = mix(h, word[i]);
	h = mix(h, ports);
	return (h ^ h >> 32) & table->buckets_mask;
}

/* Make the key of a flow. True: the source became the low end. */
static bool key_make(const struct record_address *a, const struct record_address *b,
		     struct session_key *ret)
{
	int order = memcmp(a->bytes, b->bytes, 16);
	bool a_low = order ? order < 0 : a->port <= b->port;
	const struct record_address *low = a_low ? a : b, *high = a_low ? b : a;

	memcpy(ret->low, low->bytes, 16);
	memcpy(ret->high, high->bytes, 16);
	ret->low_port = low->port;
	ret->high_port = high->port;
	ret->length = a->length;
	return a_low;
}

static void use_unlink(struct session *s)
{
	struct session_table *table = s->table;
	bool list = answered(s);

	*(s->newer ? &s->newer->older : &table->newest[list]) = s->older;
	*(s->older ? &s->older->newer : &table->oldest[list]) = s->newer;
}

static void use_link(struct session *s)
{
	struct session_table *table = s->table;
	bool list = answered(s);

	s->older = table->newest[list];
	s->newer = NULL;
	*(s->older ? &s->older->newer : &table->oldest[list]) = s;
	table->newest[list] = s;
}

static void session_end(struct session_table *table, struct session *s)
{
	struct session **at = &table->buckets[key_bucket(table, &s->key)];

	while (*at != s)
		at = &(*at)->chain;
	*at = s->chain;
	table->forgotten += s->state != NULL;
	state_drop(s);
	use_unlink(s);
	s->chain = table->free;
	table->free = s;
	table->count--;
}

static struct session *session_begin(struct session_table *table,
				     const struct session_key *key, size_t bucket,
				     int64_t time_ns)
{
	struct session *s;

	if (!table->free && table->sessions_used == table->sessions_max)
		session_end(table,
			    table->oldest[0] ? table->oldest[0] : table->oldest[1]);
	s = table->free;
	if (s)
		table->free = s->chain;
	else
		s = &table->sessions[table->sessions_used++];
	memset(s, 0, sizeof(*s));
	s->key = *key;
	s->family = FAMILY_AUTO;
	s->guess = FAMILY_AUTO;
	s->first_ns = time_ns;
	s->table = table;
	s->chain = table->buckets[bucket];
	table->buckets[bucket] = s;
	table->count++;
	use_link(s);
	return s;
}

struct session *session_get(struct session_table *table,
			    const struct record_address *source,
			    const struct record_address *destination, int64_t time_ns,
			    bool *from_low)
{
	struct session_key key;
	struct session *s;
	size_t bucket;

	*from_low = key_make(source, destination, &key);
	bucket = key_bucket(table, &key);
	for (s = table->buckets[bucket]; s; s = s->chain)
		if (!memcmp(&s->key, &key, sizeof(key)))
			break;
	if (!s)
		s = session_begin(table, &key, bucket, time_ns);
	s->last_ns = time_ns;
	use_unlink(s);
	if (s->state)
		state_unlink(s);
	s->spoke[!*from_low] = true;
	use_link(s);
	if (s->state)
		state_link(s);
	return s;
}

/* The same server, the same address of the client, another port? */
static bool key_moved(const struct session *now, bool now_from_low,
		      const struct session *then)
{
	const struct session_key *a = &now->key, *b = &then->key;
	const uint8_t *server = now_from_low ? a->high : a->low;
	const uint8_t *client = now_from_low ? a->low : a->high;
	uint16_t server_port = now_from_low ? a->high_port : a->low_port;
	bool low = then->server_is_low;

	return then != now && then->server_known && a->length == b->length &&
	       (low ? b->low_port : b->high_port) == server_port &&
	       !memcmp(low ? b->low : b->high, server, 16) &&
	       !memcmp(low ? b->high : b->low, client, 16);
}

bool session_move(struct session *s, bool from_low, enum wire_family family,
		  struct span payload)
{
	const struct family *f = family_of(family);
	struct session *then = s->table->state_newest[1];
	int left = SESSION_MOVED_MAX;

	if (!f || !f->owns)
		return false;
	for (; then && left; then = then->state_older, left--)
		if (then->state_family == family && key_moved(s, from_low, then) &&
		    f->owns(then->state, payload))
			break;
	if (!then || !left)
		return false;
	state_drop(s);
	s->family = family;
	s->certain = true;
	s->server_known = true;
	s->server_is_low = !from_low;
	s->dialect = then->dialect;
	state_unlink(then);
	s->state = then->state;
	s->state_family = family;
	s->state_bytes = then->state_bytes;
	then->state = NULL;
	then->state_bytes = 0;
	/* The session that it takes over was answered. */
	use_unlink(s);
	s->spoke[0] = s->spoke[1] = true;
	use_link(s);
	state_link(s);
	return true;
}

static const struct host *host_set(const struct session_table *table,
				   const struct record_address *address)
{
	uint64_t h = table->seed, word[2];

	memcpy(word, address->bytes, sizeof(word));
	h = mix(mix(mix(h, word[0]), word[1]), address->port);
	return table->hosts[(h ^ h >> 32) & table->hosts_mask];
}

const struct host *host_find(const struct session_table *table,
			     const struct record_address *address)
{
	const struct host *set = host_set(table, address);

	for (size_t i = 0; i < HOST_WAYS; i++)
		if (set[i].role && record_address_equal(&set[i].address, address))
			return &set[i];
	return NULL;
}

void host_learn(struct session_table *table, const struct record_address *address,
		enum wire_family family, enum host_role role, int64_t time_ns)
{
	struct host *set = (struct host *)host_set(table, address);
	struct host *at = set;

	for (size_t i = 0; i < HOST_WAYS; i++) {
		if (set[i].role && record_address_equal(&set[i].address, address)) {
			at = &set[i];
			break;
		}
		if (at->role && (!set[i].role || set[i].time_ns < at->time_ns))
			at = &set[i];
	}
	at->address = *address;
	at->family = family;
	at->role = role;
	at->time_ns = time_ns;
}
