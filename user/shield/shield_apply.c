// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_apply.c - applying a configuration.
 *
 * The tables of struct live that no packet looks at are filled, and then one bit is
 * flipped. No packet sees a mixture, and none goes unjudged.
 *
 * Called by shield_apply() and shield_load() under the lock of the tables, and on the
 * private tables of a trial. The functions below rely on it: there is one writer. The
 * tables of a generation are changed only while no packet uses them, until write_plan()
 * changes the generation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "shield/shield_internal.h"
#include "lib/util.h"

#define AMPLIFICATION_CREDIT_BYTES \
	(1 << 20) /* strict: unused credit is kept up to here */

/* Which slot each service gets; the tables of one generation, before they are written. */
struct plan {
	struct tables next;
	__u32 slots[SERVICES_MAX]; /* by service number in the configuration */
	bool fresh[SERVICES_MAX]; /* by slot: its counters belong to another service */
};

/* Return the slot of the service @name in @services; -1: there is none. */
static int find_named(const struct service *services, const char *name)
{
	for (int i = 0; i < SERVICES_MAX; i++)
		if (services[i].active && !strncmp(services[i].name, name, NAME_MAX_LEN))
			return i;
	return -1;
}

/*
 * Return a slot that is free in @next, below @capacity; -1: none is. Called by
 * plan_slots().
 */
static int find_free(const struct service *now, const struct service *next,
		     __u32 capacity)
{
	/* Prefer a slot that is free now: its last packets are still being counted. */
	for (__u32 i = 0; i < capacity; i++)
		if (!now[i].active && !next[i].active)
			return (int)i;
	for (__u32 i = 0; i < capacity; i++)
		if (!next[i].active)
			return (int)i;
	return -1;
}

/*
 * Put the settings @wanted of a service into @slot of @plan. Called by plan_slots().
 * service_finish() must be called last, but for `observe`.
 */
static void plan_service(const struct shield *s, const struct config *config,
			 const struct service *wanted, __u32 slot, struct plan *plan)
{
	struct service *to = &plan->next.services[slot];

	*to = *wanted;
	to->active = 1;
	if (shield_fallback(s)) {
		to->validation = VALIDATION_OFF;
		to->cache = CACHE_OFF;
	}
	service_finish(to, slot, s->shared->keys);
	to->observe |= config->observe;
}

/*
 * Give each service of @config a slot in @plan and its settings there. 0, or -ENOSPC
 * after a message. Called first by shield_apply_locked(). A service of the same name
 * keeps its slot, on which players, counters and cookies rely.
 */
static int plan_slots(const struct shield *s, const struct config *config,
		      const struct service *now, struct plan *plan)
{
	/* First those that stay, so that no newcomer takes their slots. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < config->service_count; i++) {
			const struct service *wanted = &config->services[i].service;
			int slot = find_named(now, wanted->name);

			if ((slot >= 0) == pass)
				continue;
			if (slot < 0) {
				slot = find_free(now, plan->next.services, s->capacity);
				if (slot < 0) {
					log_error(
						"the pinned counters have room for %u services, "
						"the configuration names %zu: `quakeshield detach` "
						"and start again to make room",
						s->capacity, config->service_count);
					return -ENOSPC;
				}
				plan->fresh[slot] = true;
			}
			plan->slots[i] = (__u32)slot;
			plan_service(s, config, wanted, (__u32)slot, plan);
		}
	}
	return 0;
}

/*
 * Enter port @number at the addresses of @c in the map endpoints, for the service in
 * @slot. 0, or -errno after a message. Called by plan_ports().
 */
static int plan_addresses(const struct shield *s, const struct config_service *c,
			  __u16 number, __u32 generation, __u32 slot)
{
	struct endpoint at = { .port = number, .generation = generation & 1 };
	__u32 value = slot + 1;
	int err = 0;

	for (size_t i = 0; i < c->address_count && !err; i++) {
		memcpy(at.addr, c->addresses[i], sizeof(at.addr));
		if (bpf_map_update_elem(s->endpoints, &at, &value, BPF_ANY))
			err = -errno;
	}
	if (err)
		log_error(
			"cannot add an address of service '%s': %s (at most %d addresses "
			"and ports together)",
			c->service.name, strerror(-err), SERVICES_MAX);
	return err;
}

/*
 * Enter the ports of @config in @plan, and its addresses in the map endpoints under
 * @generation, which no packet looks up yet. 0, or -errno after a message. Call it after
 * plan_slots() and clear_endpoints().
 */
static int plan_ports(const struct shield *s, const struct config *config,
		      __u32 generation, struct plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *c = &config->services[i];

		for (size_t n = 0; n < c->port_count && !err; n++) {
			struct port *port = &plan->next.ports[c->ports[n]];

			if (c->address_count)
				port->flags = PORT_EXACT;
			else
				port->any = (__u16)(plan->slots[i] + 1);
			err = plan_addresses(s, c, c->ports[n], generation,
					     plan->slots[i]);
		}
	}
	return err;
}

/*
 * Copy the NetQuake game ports that the egress program has noted in @from (PORT_NAMED,
 * PORT_LEARNED) to @to. Called after plan_ports() for the plan, and again when it is in
 * force: the program notes ports in the old tables until then. A port of the
 * configuration goes first, and one that is in @to already. The slot must still have
 * the same service.
 */
static void keep_learned(const struct tables *from, struct tables *to)
{
	for (__u32 number = 1; number < PORTS; number++) {
		struct port port = from->ports[number];
		int slot = port.any - 1;

		if (!(port.flags & (PORT_LEARNED | PORT_NAMED)) || slot < 0 ||
		    slot >= SERVICES_MAX || to->ports[number].any ||
		    to->ports[number].flags)
			continue;
		if (to->services[slot].active &&
		    !strncmp(to->services[slot].name, from->services[slot].name,
			     NAME_MAX_LEN))
			to->ports[number] = port;
	}
}

/*
 * Forget the (address, port) pairs of the generation before last. Called before
 * plan_ports(): the half of @generation is free again.
 */
static void clear_endpoints(const struct shield *s, __u32 generation)
{
	struct endpoint at, doomed[2 * SERVICES_MAX];
	size_t count = 0;
	void *previous = NULL;

	while (count < ARRAY_SIZE(doomed) &&
	       !bpf_map_get_next_key(s->endpoints, previous, &at)) {
		previous = &at;
		if (at.generation == (generation & 1))
			doomed[count++] = at;
	}
	while (count)
		bpf_map_delete_elem(s->endpoints, &doomed[--count]);
}

/*
 * Let each new service start from zero. Called by write_plan() before the generation
 * changes. Packets of the service before may use the slot until then, if find_free() had
 * no slot without a service: the new service starts with what they count meanwhile. All
 * members of struct live that are kept by slot must be reset here or in
 * shield_forget_slot(), or written by write_plan().
 */
static int reset_slots(struct shield *s, const struct plan *plan)
{
	const struct counter_sums nothing = { 0 };
	int cpus = libbpf_num_possible_cpus();
	void *zeros;
	int err = 0;

	if (cpus < 0)
		return cpus;
	zeros = calloc((size_t)cpus, sizeof(struct counter_row));
	if (!zeros)
		return -ENOMEM;
	for (__u32 slot = 0; slot < s->capacity && !err; slot++) {
		if (!plan->fresh[slot])
			continue;
		for (__u32 row = 0; row < COUNTER_ROWS && !err; row++) {
			__u32 key = slot * COUNTER_ROWS + row;

			err = bpf_map_update_elem(s->counters, &key, zeros, BPF_ANY);
			if (!err)
				err = bpf_map_update_elem(s->spilled, &key, &nothing,
							  BPF_ANY);
		}
		s->shared->counted[slot] = s->shared->counters_turn;
		if (!err)
			err = shield_refused_forget(s, slot);
		shield_forget_slot(s, slot);
		memset(&s->shared->validation.service_due_ns[budget_index(slot, 0)], 0,
		       sizeof(__u64) << CLASS_BITS);
		s->shared->validation.until_ns[slot] = 0;
		memset(&s->shared->validation.keys[slot], 0,
		       sizeof(s->shared->validation.keys[slot]));
		shield_cache_forget(s, slot);
	}
	free(zeros);
	return err;
}

/* Arguments of one call that empties the map amplification. */
struct empty_lines {
	__u32 keys[1 << AMPLIFICATION_BITS];
	struct amplification_line lines[1 << AMPLIFICATION_BITS];
};

/* Return the above, to be freed; NULL: not enough memory. */
static struct empty_lines *empty_lines(void)
{
	struct empty_lines *empty = calloc(1, sizeof(*empty));

	for (__u32 i = 0; empty && i < ARRAY_SIZE(empty->keys); i++)
		empty->keys[i] = i;
	return empty;
}

/* Forget all debts and credits of prefixes. 0 or -errno. Called by apply_amplification().
 */
static int forget_amplification(struct shield *s, const struct empty_lines *empty)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	__u32 count = ARRAY_SIZE(empty->keys), written = count;

	if (bpf_map_update_batch(s->amplification, empty->keys, empty->lines, &written,
				 &opts) ||
	    written != count)
		return -errno;
	return 0;
}

/*
 * Write the settings of the anti-amplification limit. Takes effect at once, before the
 * generation changes. 0, or -errno: then the settings before are in force.
 *
 * Debts in time and debts in bytes do not mix, and a debt by a larger window must not
 * last in a smaller one: then all begin from zero. A packet that began before the
 * settings were stored may still charge by the old ones. A debt in bytes, read as one in
 * time, would last for 18 years. So the cells are zeroed once more when all such packets
 * are done.
 */
static int apply_amplification(struct shield *s, const struct config *config)
{
	const struct amplification_limit before = s->shared->amplification;
	struct amplification_limit amplification = { 0 };
	struct empty_lines *empty;
	int err;

	if (config->amplification_strict) {
		amplification.byte_ns = AMPLIFICATION_GRAIN_NS;
		amplification.credit_ns =
			AMPLIFICATION_CREDIT_BYTES * AMPLIFICATION_GRAIN_NS;
		amplification.strict = 1;
	} else if (config->amplification_allowance) {
		amplification.window_ns = config->amplification_refill_s * 1000000000ull;
		amplification.byte_ns =
			amplification.window_ns / config_allowance(config);
	}
	if (amplification.strict == before.strict &&
	    amplification.window_ns >= before.window_ns) {
		s->shared->amplification = amplification;
		return 0;
	}
	/* For both times, so that no memory is missing once the settings are stored. */
	empty = empty_lines();
	err = empty ? forget_amplification(s, empty) : -ENOMEM;
	if (!err) {
		s->shared->amplification = amplification;
		usleep(20000);
		err = forget_amplification(s, empty);
		if (err)
			s->shared->amplification = before;
	}
	free(empty);
	return err;
}

/*
 * Return the limit of @per_second requests with a burst of one second; 0: nearly nothing.
 * For limit_take() alone: it is not in the form of limit_normal().
 */
static struct limit rate_limit(__u32 per_second)
{
	struct limit limit = { 1, 0 }; /* nothing */

	if (per_second) {
		limit.cost_ns = 1000000000ull / per_second;
		limit.burst_ns = 1000000000ull;
	}
	return limit;
}

/*
 * Write what is sampled. Takes effect at once. `any` must be set if one of the samplers
 * may take a frame, or the programs ask none; list_mark() sets follow_listed.
 */
static void apply_sampling(struct shield *s, const struct config *config)
{
	struct sampling *sampling = &s->shared->sampling;

	sampling->limit[SAMPLER_STATISTIC] = rate_limit(config->sample_rate);
	sampling->limit[SAMPLER_FOLLOW] = rate_limit(config->follow_rate);
	sampling->every = config->sample_every;
	sampling->follow_first = config->follow_first;
	sampling->follow_every = config->follow_every;
	sampling->any = config->sample_every || config->follow_first ||
			config->follow_every || config->follow_count;
}

/*
 * A rate for requests to join, and a quarter of it for queries. @services: of the plan,
 * which are not in force yet.
 */
static void apply_validation(struct shield *s, const struct config *config,
			     const struct service *services)
{
	struct limit join = config->validation, query = config->validation;

	query.cost_ns *= 4;
	limit_normal(&join);
	limit_normal(&query);
	s->shared->validation.rate[CHALLENGE_JOIN] = join;
	s->shared->validation.rate[CHALLENGE_QUERY] = query;
	shield_challenge_shares(s, services);
}

/* Write the bytes per second that cached responses may have. @services: of the plan. */
static void apply_cache(struct shield *s, const struct config *config,
			const struct service *services)
{
	struct cache_cap *cap = &s->shared->cache.cap;

	/* None, as limit_normal() writes it: with 0 one would pass after each silence. */
	cap->byte_ns = 1;
	cap->burst_ns = -LIMIT_NONE_NS;
	if (config->cache_bytes_per_s) {
		/* All but the part that is kept. */
		cap->byte_ns = 1000000000ull * CACHE_KEPT / (CACHE_KEPT - 1) /
			       config->cache_bytes_per_s;
		cap->burst_ns = CACHE_BURST_NS;
	}
	shield_cache_keep(s, services, shield_clock());
}

/* Return true if all active services of @t observe: then the programs drop nothing. */
static bool all_observe(const struct tables *t)
{
	for (int i = 0; i < SERVICES_MAX; i++)
		if (t->services[i].active && !t->services[i].observe)
			return false;
	return true;
}

/* Make the lists those of @config, and add what that changes to @changes. 0 or -errno. */
static int apply_lists(struct shield *s, const struct config *config,
		       struct list_changes *changes)
{
	int err = shield_list_apply(s, LIST_ALLOW, config->allow, config->allow_unlimited,
				    config->allow_count, changes);

	if (!err)
		err = shield_list_apply(s, LIST_DENY, config->deny, NULL,
					config->deny_count, changes);
	if (!err)
		err = shield_list_apply(s, LIST_FOLLOW, config->follow, NULL,
					config->follow_count, changes);
	return err;
}

/*
 * Write @plan, then make it the one in force. 0, or -errno after a message: then the old
 * tables, lists and limits are in force. Steps that can fail must come first, and the
 * generation must be stored last, with release.
 */
static int write_plan(struct shield *s, const struct config *config, struct plan *plan,
		      __u32 generation)
{
	struct list_changes changes = { 0 };
	__u32 half = generation & 1;
	int err;

	err = reset_slots(s, plan);
	if (!err)
		err = apply_lists(s, config, &changes);
	if (!err)
		err = apply_amplification(s, config);
	if (err) {
		shield_lists_undo(s, &changes);
		log_error("cannot write the configuration to '%s': %s", s->dir,
			  strerror(-err));
	} else {
		apply_sampling(s, config);
		apply_validation(s, config, plan->next.services);
		apply_cache(s, config, plan->next.services);
		plan->next.generation = half;
		plan->next.observe = all_observe(&plan->next);
		s->shared->tables[half] = plan->next;
		__atomic_store_n(&s->shared->generation, generation, __ATOMIC_RELEASE);
	}
	free(changes.rows);
	return err;
}

/*
 * Forget the players of each service with another protocol than @now says. What was
 * learned of them by the rules of that protocol would have all of their moves dropped.
 * Called by shield_apply_locked(), after the generation has changed.
 */
static void forget_other_protocols(const struct shield *s, const struct plan *plan,
				   const struct service *now)
{
	for (__u32 slot = 0; slot < s->capacity; slot++)
		if (now[slot].active && plan->next.services[slot].active &&
		    !plan->fresh[slot] &&
		    now[slot].family != plan->next.services[slot].family)
			shield_forget_players(s, slot);
}

int shield_apply_locked(struct shield *s, const struct config *config)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	__u32 generation = shield_generation(s) + 1;
	const struct tables *old = &s->shared->tables[(generation - 1) & 1];
	const struct service *now = old->services;
	int err;

	if (!plan)
		return -ENOMEM;
	/* Packets that began under the generation before last are long done with its
	 * half. */
	usleep(20000);
	err = plan_slots(s, config, now, plan);
	if (!err) {
		clear_endpoints(s, generation);
		err = plan_ports(s, config, generation, plan);
	}
	if (!err) {
		keep_learned(old, &plan->next);
		err = write_plan(s, config, plan, generation);
	}
	if (!err) {
		keep_learned(old, &s->shared->tables[generation & 1]);
		forget_other_protocols(s, plan, now);
		s->applied = generation;
	}
	free(plan);
	return err;
}

int shield_apply(struct shield *s, const struct config *config)
{
	int err = shield_lock(s);

	if (err)
		return err;
	err = shield_apply_locked(s, config);
	shield_unlock(s);
	return err;
}

__u32 shield_applied(const struct shield *s)
{
	return s->applied;
}

int shield_load_apply(struct shield *s, const struct config *config)
{
	int err = s->unapplied ? shield_apply(s, config) : 0;

	s->unapplied = false;
	return err;
}
