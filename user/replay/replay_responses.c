// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay_responses.c - responses of servers for the response cache.
 *
 * A daemon asks each server every four seconds. No server is there in a replay, but
 * captures have its responses to clients: the newest one to each request of
 * cache/cache_request.h is taken for what the daemon would have got, until there is a
 * newer one. Before the first response nothing is cached.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/cache_request.h"
#include "classify.h"
#include "lib/util.h"
#include "replay/replay_internal.h"

#define AGAIN_NS    4000000000ull /* how often a daemon asks */
#define PATIENCE_NS 1000000000ull /* a later response is not to that query */

/* A query that was not answered yet; of two with one place the newer is kept. */
struct query {
	uint64_t from; /* hash of the client and the slot; 0: none */
	uint64_t asked_ns;
	uint8_t form, nonce_n;
	char nonce[CACHE_NONCE];
};

struct responses {
	struct trial *trial;
	uint64_t now_ns, again_ns;
	/* By slot. FAMILY_COUNT: no server of the service is asked. */
	enum wire_family family[SERVICES_MAX];
	struct cache_entry *kept[SERVICES_MAX]; /* CACHE_FORMS each, or NULL */
	struct query queries[QUERIES_MAX];
};

static bool is_asked(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *s = &config->services[i];

		if (!strncmp(s->service.name, name, NAME_MAX_LEN))
			return s->service.cache && !s->service.observe &&
			       !config->observe && !config_uncacheable(s);
	}
	return false;
}

struct responses *responses_create(const struct config *config, struct trial *trial)
{
	struct responses *c = calloc(1, sizeof(*c));
	struct service service;

	if (!c)
		return NULL;
	c->trial = trial;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		c->family[slot] = FAMILY_COUNT;
		if (trial_service(trial, slot, &service) &&
		    is_asked(config, service.name))
			c->family[slot] = (enum wire_family)service.family;
	}
	return c;
}

void responses_free(struct responses *c)
{
	for (__u32 slot = 0; c && slot < SERVICES_MAX; slot++)
		free(c->kept[slot]);
	free(c);
}

/* Return true if @q, ended at @length, is @form; the rest is its nonce. */
static bool form_matches(const struct cache_request *form, const struct cache_query *q,
			 __u32 length)
{
	__u32 rest = length - form->length;

	if (length < form->length || memcmp(q->at, form->text, form->length) != 0)
		return false;
	if (!form->nonce)
		return !rest;
	if (!rest || rest > CACHE_NONCE)
		return false;
	for (__u32 i = form->length; i < length; i++)
		if (!cache_nonce_letters[q->at[i]])
			return false;
	return true;
}

void responses_query(struct responses *c, __u32 slot, const struct flow *flow)
{
	uint64_t from = flow_hash(&flow->source, slot) | 1;
	struct cache_query q = { 0 };
	const struct cache_request *forms;
	struct query *to = &c->queries[(from >> 8) % QUERIES_MAX];
	size_t count;
	__u32 length;

	if (c->family[slot] == FAMILY_COUNT || flow->n > CACHE_LOOK)
		return;
	memcpy(q.at, flow->payload, flow->n);
	length = cache_query_length(&q, (__u32)flow->n);
	forms = cache_requests(c->family[slot], &count);
	for (size_t i = 0; i < count; i++) {
		if (!form_matches(&forms[i], &q, length))
			continue;
		*to = (struct query){
			.from = from,
			.asked_ns = c->now_ns,
			.form = (uint8_t)i,
			.nonce_n = (uint8_t)(length - forms[i].length),
		};
		memcpy(to->nonce, q.at + forms[i].length, to->nonce_n);
		return;
	}
}

void responses_learn(struct responses *c, __u32 slot, const struct flow *flow,
		     __u64 now_ns)
{
	uint64_t to = flow_hash(&flow->destination, slot) | 1;
	struct query *q = &c->queries[(to >> 8) % QUERIES_MAX];
	const struct cache_request *forms;
	struct cache_entry t, *kept;
	size_t count;

	if (c->family[slot] == FAMILY_COUNT || q->from != to ||
	    now_ns - q->asked_ns > PATIENCE_NS)
		return;
	forms = cache_requests(c->family[slot], &count);
	if (cache_entry_make(c->family[slot], &forms[q->form], q->nonce, q->nonce_n,
			     flow->payload, flow->n, CACHE_TEXT, now_ns, &t))
		return;
	q->from = 0;
	if (!c->kept[slot])
		c->kept[slot] = calloc(CACHE_FORMS, sizeof(t));
	if (!c->kept[slot])
		return; /* then nothing is cached */
	kept = &c->kept[slot][q->form];
	/* The first one at once, later ones when the daemon would ask again. */
	if (!kept->made_ns)
		trial_cache_put(c->trial, slot, q->form, &t);
	*kept = t;
}

void responses_clock(struct responses *c, __u64 now_ns)
{
	c->now_ns = now_ns;
	if (now_ns < c->again_ns)
		return;
	c->again_ns = now_ns + AGAIN_NS;
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		for (__u32 form = 0; c->kept[slot] && form < CACHE_FORMS; form++) {
			struct cache_entry *t = &c->kept[slot][form];

			if (!t->made_ns)
				continue;
			t->made_ns = now_ns;
			trial_cache_put(c->trial, slot, form, t);
		}
	}
}
