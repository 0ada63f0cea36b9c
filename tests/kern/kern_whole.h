/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_whole.h - maps of a shield without its programs, a configuration, and what is to
 * become of all octets of the maps when it is applied. Included once by a program.
 */
#ifndef KERN_WHOLE_H
#define KERN_WHOLE_H

#include "kern/kern_maps.h"
#include "own_lock.h"

#include "config/config.h"

static struct shield shield;
static struct config *config;
static const __u32 nobody[1]; /* no slots at all */
static struct live *was; /* before, and what is to become of it */
static struct tables *old; /* of the generation before */

/* --- a configuration -------------------------------------------------------------- */

static inline struct config_service *add(const char *name, enum wire_family family,
					 __u16 port)
{
	struct config_service *s = &config->services[config->service_count++];

	memset(s, 0, sizeof(*s));
	s->service.family = (__u8)family;
	config_service_defaults(family, &s->service);
	strcpy(s->service.name, name);
	s->service.active = 1;
	s->ports[s->port_count++] = port;
	return s;
}

static inline void at(struct config_service *s, const char *address)
{
	kern_address(address, s->addresses[s->address_count++]);
}

static inline int begin(void **state)
{
	(void)state;
	if (!maps_open(&shield))
		return -1;
	shield.endpoints = map_make("endpoints");
	shield.amplification = map_make("amplification");
	shield.counters = map_make("counters");
	shield.spilled = map_make("spilled");
	shield.refused = map_make("refused");
	assert_true(shield.endpoints >= 0 && shield.amplification >= 0 &&
		    shield.counters >= 0 && shield.spilled >= 0 && shield.refused >= 0);
	shield.lock = own_lock();
	assert_true(shield.lock >= 0);
	strcpy(shield.dir, "/a/directory");
	config = calloc(1, sizeof(*config));
	was = malloc(sizeof(*was));
	old = malloc(sizeof(*old));
	assert_true(config && was && old);
	config_empty(config);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	maps_close(&shield);
	close(shield.endpoints);
	close(shield.amplification);
	close(shield.counters);
	close(shield.spilled);
	close(shield.refused);
	close(shield.lock);
	free(config);
	free(was);
	free(old);
	return 0;
}

/* --- all that is in the maps ------------------------------------------------------ */

/* Something in all that belongs to slots, that of another in each. */
static inline void fill(void)
{
	struct cache_state *a = &shield.shared->cache;
	struct validation_state *p = &shield.shared->validation;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		p->until_ns[slot] = 100 + slot;
		a->until_ns[slot] = 200 + slot;
		for (__u32 class = 0; class < 1 << CLASS_BITS; class ++) {
			p->service_due_ns[budget_index(slot, class)] = 300 + slot;
			shield.shared->service_due_ns[budget_index(slot, class)] =
				400 + slot;
		}
		for (__u32 form = 0; form < CACHE_FORMS; form++) {
			struct cache_pair *t = &a->entries[slot * CACHE_FORMS + form];

			t->generation = slot + form;
			t->half[0].made_ns = 500 + slot;
			t->half[1].made_ns = 600 + slot;
		}
	}
}

static inline void fill_counters(void)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	struct counter_row *rows = malloc(cpus * sizeof(*rows));
	struct counter_sums sums;

	assert_non_null(rows);
	memset(rows, 7, cpus * sizeof(*rows));
	memset(&sums, 7, sizeof(sums));
	for (__u32 key = 0; key < KERN_SLOTS * COUNTER_ROWS; key++) {
		assert_int_equal(
			bpf_map_update_elem(shield.counters, &key, rows, BPF_ANY), 0);
		assert_int_equal(
			bpf_map_update_elem(shield.spilled, &key, &sums, BPF_ANY), 0);
	}
	free(rows);
	rows = calloc(cpus, sizeof(struct refused));
	assert_non_null(rows);
	memset(rows, 7, cpus * sizeof(struct refused));
	for (__u32 key = 0; key < KERN_SLOTS * CLASS_COUNT; key++)
		assert_int_equal(bpf_map_update_elem(shield.refused, &key, rows, BPF_ANY),
				 0);
	free(rows);
}

/* What fill() has left of @slot is there, whole; or nothing of it. */
static inline void assert_slot(__u32 slot, bool fresh)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	size_t size = cpus * sizeof(struct counter_row);
	__u8 *rows = malloc(size);
	struct counter_sums sums;

	assert_non_null(rows);
	for (__u32 row = 0; row < COUNTER_ROWS && slot < KERN_SLOTS; row++) {
		__u32 key = slot * COUNTER_ROWS + row;

		assert_int_equal(bpf_map_lookup_elem(shield.counters, &key, rows), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(rows[i], fresh ? 0 : 7);
		assert_int_equal(bpf_map_lookup_elem(shield.spilled, &key, &sums), 0);
		for (size_t i = 0; i < sizeof(sums); i++)
			assert_int_equal(((__u8 *)&sums)[i], fresh ? 0 : 7);
	}
	for (__u32 class = 0; class < CLASS_COUNT && slot < KERN_SLOTS; class ++) {
		__u32 key = slot * CLASS_COUNT + class;

		assert_int_equal(bpf_map_lookup_elem(shield.refused, &key, rows), 0);
		for (size_t i = 0; i < cpus * sizeof(struct refused); i++)
			assert_int_equal(rows[i], fresh ? 0 : 7);
	}
	free(rows);
}

/* --- what is to become of them ------------------------------------------------------ */

static inline void expect_fresh(__u32 slot)
{
	for (__u32 class = 0; class < 1 << CLASS_BITS; class ++) {
		was->service_due_ns[budget_index(slot, class)] = 0;
		was->validation.service_due_ns[budget_index(slot, class)] = 0;
	}
	was->validation.until_ns[slot] = 0;
	was->cache.until_ns[slot] = 0;
	for (__u32 form = 0; form < CACHE_FORMS; form++) {
		struct cache_pair *t = &was->cache.entries[slot * CACHE_FORMS + form];

		memset(&t->half[++t->generation & 1], 0, sizeof(t->half[0]));
	}
}

/* The service of @c in @slot of the tables that come. */
static inline void expect_service(const struct config_service *c, __u32 slot,
				  struct tables *tables)
{
	struct service *s = &tables->services[slot];

	*s = c->service;
	s->active = 1;
	service_finish(s, slot, was->keys);
	if (config->observe)
		s->observe = 1;
	for (size_t i = 0; i < c->port_count; i++) {
		struct port *p = &tables->ports[c->ports[i]];

		if (c->address_count)
			p->flags = PORT_EXACT;
		else
			p->any = (__u16)(slot + 1);
	}
}

/*
 * Apply: services get @slots, in their order; those of the bits in @fresh are new there.
 * @learned: a port that stays what it was.
 */
static inline void apply(const __u32 *slots, __u32 fresh, __u16 learned)
{
	struct tables *next;

	memcpy(was, shield.shared, sizeof(*was));
	*old = was->tables[was->generation & 1];
	next = &was->tables[++was->generation & 1];
	memset(next, 0, sizeof(*next));
	next->generation = was->generation & 1;
	next->observe = 1;
	for (size_t i = 0; i < config->service_count; i++) {
		expect_service(&config->services[i], slots[i], next);
		next->observe &= next->services[slots[i]].observe;
	}
	if (learned)
		next->ports[learned] = old->ports[learned];
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		if (slot < 32 && fresh >> slot & 1)
			expect_fresh(slot);
	assert_int_equal(shield_apply(&shield, config), 0);
}

#define SAME(field)                                                                      \
	do {                                                                             \
		if (memcmp(&was->field, &shield.shared->field, sizeof(was->field)) != 0) \
			fail_msg("%s is not as it should be", #field);                   \
	} while (0)

static inline void assert_tables(void)
{
	for (int half = 0; half < 2; half++) {
		const struct tables *want = &was->tables[half];
		const struct tables *is = &shield.shared->tables[half];

		for (__u32 i = 0; i < SERVICES_MAX; i++)
			if (memcmp(&want->services[i], &is->services[i],
				   sizeof(is->services[i])) != 0)
				fail_msg("service %u of half %d", i, half);
		for (__u32 i = 0; i < PORTS; i++)
			if (memcmp(&want->ports[i], &is->ports[i],
				   sizeof(is->ports[i])) != 0)
				fail_msg("port %u of half %d: %u, flags %u, not %u, %u",
					 i, half, is->ports[i].any, is->ports[i].flags,
					 want->ports[i].any, want->ports[i].flags);
		SAME(tables[half].generation);
		SAME(tables[half].observe);
	}
}

static inline void assert_live(void)
{
	assert_tables();
	SAME(generation);
	SAME(lists);
	SAME(amplification);
	SAME(sampling);
	SAME(service_due_ns);
	SAME(source_due_ns);
	SAME(validation.rate);
	SAME(validation.share);
	SAME(validation.until_ns);
	SAME(validation.service_due_ns);
	SAME(validation);
	SAME(cache.until_ns);
	SAME(cache.cap);
	SAME(cache.entries);
	SAME(cache);
	SAME(players);
	SAME(acl_prefilter);
	SAME(moved);
	assert_memory_equal(&was->generation, &shield.shared->generation, 4096);
	assert_int_equal(memcmp(was, shield.shared, sizeof(*was)), 0);
}

static inline int order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* All that leads somewhere, as lines in order: "ADDRESS PORT GENERATION SLOT". */
static inline void assert_endpoints(const char *want)
{
	char lines[32][80], text[32 * 80] = "";
	struct endpoint e, *previous = NULL;
	size_t n = 0;

	for (; !bpf_map_get_next_key(shield.endpoints, previous, &e); previous = &e) {
		char address[CIDR_TEXT];
		struct cidr cidr = { .length = 128 };
		__u32 slot;

		assert_true(n < COUNT(lines));
		memcpy(cidr.addr, e.addr, sizeof(e.addr));
		cidr_format(&cidr, address);
		assert_int_equal(bpf_map_lookup_elem(shield.endpoints, &e, &slot), 0);
		snprintf(lines[n++], sizeof(lines[0]), "%s %u %u %u\n", address, e.port,
			 e.generation, slot);
	}
	qsort(lines, n, sizeof(lines[0]), order);
	for (size_t i = 0; i < n; i++)
		strcat(text, lines[i]);
	assert_string_equal(text, want);
}

#endif /* KERN_WHOLE_H */
