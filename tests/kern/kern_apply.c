// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_apply.c - a configuration into the tables and the next one over it: whose slot,
 * whose counters, whose learned port stays. The maps are the kernel's; no interface has a
 * part in it. Lists are in kern_apply_lists.c.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "kern/kern_apply.h"

static const struct tables *in_force(void)
{
	return &kern.live->tables[shield_generation(&shield) & 1];
}

/* The slot of @name; -1: it is not served. */
static int slot_of(const char *name)
{
	struct service s;
	int found = -1;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (!shield_service(&shield, slot, &s) || strcmp(s.name, name) != 0)
			continue;
		assert_int_equal(found, -1); /* once */
		found = (int)slot;
	}
	return found;
}

static __u64 counted(__u32 slot)
{
	struct counters in, out;
	__u64 sum = 0;

	assert_int_equal(shield_counters(&shield, slot, &in, &out), 0);
	for (int reason = 0; reason < REASON_COUNT; reason++)
		sum += in.by[KIND_GETSTATUS][reason].packets;
	return sum;
}

static void ask_port(__u16 port, int times)
{
	struct frame_spec s = { .payload = OOB "getstatus", .n = 13, .dport = port };
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&s, frame);

	for (int i = 0; i < times; i++)
		kern_action(&kern, frame, n);
}

/* Whoever stays keeps slot and counters; a newcomer begins from nothing beside it. */
static void who_stays_keeps_what_is_its_own(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	int slots[COUNT(names)];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		add(names[i], (__u16)(27960 + i));
	apply();
	for (size_t i = 0; i < COUNT(names); i++) {
		slots[i] = slot_of(names[i]);
		assert_in_range(slots[i], 0, KERN_SLOTS - 1);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(slots[i], slots[j]);
		ask_port((__u16)(27960 + i), (int)i + 1);
		assert_int_equal(counted((__u32)slots[i]), i + 1);
	}
	/* All slots are taken, and the newcomers are named first. */
	config->service_count = 0;
	add("new", 28000);
	add("newer", 28001);
	for (size_t i = 2; i < COUNT(names); i++)
		add(names[COUNT(names) + 1 - i], (__u16)(27960 + COUNT(names) + 1 - i));
	apply();
	for (size_t i = 2; i < COUNT(names); i++) {
		assert_int_equal(slot_of(names[i]), slots[i]);
		assert_int_equal(counted((__u32)slots[i]), i + 1);
		assert_int_equal(in_force()->ports[27960 + i].any, slots[i] + 1);
	}
	assert_int_equal(slot_of("a"), -1);
	assert_int_equal(in_force()->ports[27960].any, 0);
	assert_int_not_equal(slot_of("new"), slot_of("newer"));
	assert_int_equal(counted((__u32)slot_of("new")), 0);
	assert_int_equal(counted((__u32)slot_of("newer")), 0);
	ask_port(28001, 3);
	assert_int_equal(counted((__u32)slot_of("newer")), 3);

	/* One more than there is room for: an error, and all is as it was. */
	add("too many", 28002);
	assert_int_equal(shield_apply(&shield, config), -ENOSPC);
	assert_int_equal(counted((__u32)slot_of("newer")), 3);
}

/* Whoever asks for a slot that is not there is told so, and nothing of another. */
static void there_are_so_many_slots(void **state)
{
	struct counters in, out;
	__u32 families;

	(void)state;
	add("a", 27960);
	apply();
	assert_int_equal(shield_counters(&shield, KERN_SLOTS - 1, &in, &out), 0);
	assert_int_equal(shield_counters(&shield, KERN_SLOTS, &in, &out), -EINVAL);
	assert_int_equal(shield_counters(&shield, SERVICES_MAX, &in, &out), -EINVAL);
	assert_int_equal(shield_protocol_mismatch(&shield, KERN_SLOTS, &families), 0);
}

/* What is counted is counted by each processor for itself. */
static void counters_are_those_of_all_processors(void **state)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	struct counter *each = calloc(cpus, sizeof(*each)), sums[OTHER_COUNT];
	__u64 packets = 0, bytes = 0;
	__u32 key = OTHER_COUNT - 1;

	(void)state;
	assert_non_null(each);
	for (size_t i = 0; i < cpus; i++) {
		each[i] = (struct counter){ 1000 + i, 70000 + i * i };
		packets += each[i].packets;
		bytes += each[i].bytes;
	}
	assert_int_equal(bpf_map_update_elem(shield.others, &key, each, BPF_ANY), 0);
	memset(sums, 0, sizeof(sums));
	assert_int_equal(shield_others(&shield, sums), 0);
	assert_int_equal(sums[key].packets, packets);
	assert_int_equal(sums[key].bytes, bytes);
	assert_int_equal(sums[0].packets, 0);
	free(each);
}

static void observing_is_all_or_each(void **state)
{
	static const struct {
		bool all, first, second, tables;
	} rows[] = {
		{ false, false, false, false }, { false, true, false, false },
		{ false, false, true, false },	{ false, true, true, true },
		{ true, false, false, true },	{ true, true, false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		config->service_count = 0;
		config->observe = rows[i].all;
		add("first", 27960)->service.observe = rows[i].first;
		add("second", 27961)->service.observe = rows[i].second;
		apply();
		assert_int_equal(in_force()->observe, rows[i].tables);
		assert_int_equal(in_force()->services[slot_of("first")].observe,
				 rows[i].all || rows[i].first);
		assert_int_equal(in_force()->services[slot_of("second")].observe,
				 rows[i].all || rows[i].second);
	}
}

static void learned_ports_stay_with_their_service(void **state)
{
	struct tables *now;

	(void)state;
	add("stays", 26000);
	add("leaves", 26001);
	apply();
	now = &kern.live->tables[shield_generation(&shield) & 1];
	now->ports[45000] = (struct port){ .any = (__u16)(slot_of("stays") + 1),
					   .flags = PORT_LEARNED,
					   .seen_s = 7 };
	now->ports[45001] = now->ports[45000];
	now->ports[45002] = now->ports[45000];
	now->ports[45002].any = (__u16)(slot_of("leaves") + 1);
	config->service_count = 0;
	add("stays", 26000);
	add("new", 45001);
	apply();
	assert_int_equal(in_force()->ports[45000].any, slot_of("stays") + 1);
	assert_int_equal(in_force()->ports[45000].flags, PORT_LEARNED);
	assert_int_equal(in_force()->ports[45000].seen_s, 7);
	assert_int_equal(in_force()->ports[45001].any, slot_of("new") + 1);
	assert_int_equal(in_force()->ports[45001].flags, 0);
	assert_int_equal(in_force()->ports[45002].any, 0);
}

static void (*while_lists_are_written)(void);

/* The walk of the last list: what a program does then happens between copy and flip. */
int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	static int (*real)(int fd, const void *key, void *next_key);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "bpf_map_get_next_key");
	if (fd == shield.follow && while_lists_are_written)
		while_lists_are_written();
	return real(fd, key, next_key);
}

static void note_ports(void)
{
	struct tables *old = &kern.live->tables[shield_generation(&shield) & 1];
	__u16 any = (__u16)(slot_of("stays") + 1);

	old->ports[45011] = (struct port){ .any = any, .flags = PORT_NAMED, .seen_s = 8 };
	old->ports[45012] =
		(struct port){ .any = any, .flags = PORT_LEARNED, .seen_s = 9 };
}

static void ports_noted_while_it_is_applied_stay(void **state)
{
	struct tables *old;

	(void)state;
	add("stays", 26000);
	apply();
	old = &kern.live->tables[shield_generation(&shield) & 1];
	old->ports[45010] = (struct port){ .any = (__u16)(slot_of("stays") + 1),
					   .flags = PORT_NAMED,
					   .seen_s = 7 };
	while_lists_are_written = note_ports;
	apply();
	while_lists_are_written = NULL;
	for (__u16 i = 0; i < 3; i++) {
		assert_int_equal(in_force()->ports[45010 + i].any, slot_of("stays") + 1);
		assert_int_equal(in_force()->ports[45010 + i].flags,
				 i == 2 ? PORT_LEARNED : PORT_NAMED);
		assert_int_equal(in_force()->ports[45010 + i].seen_s, 7 + i);
	}
	/* None of them is the configuration's. */
	assert_int_equal(shield_ports(&shield, slot_of("stays")), 1);
	assert_int_equal(shield_endpoints(&shield, (struct shield_endpoint[4]){ 0 }, 4),
			 1);
}

/* An address of one service says nothing about the others on that port. */
static void addresses_lead_to_their_service(void **state)
{
	static const struct frame_spec here = { .payload = OOB "getstatus",
						.n = 13,
						.to = "198.51.100.7" };
	static const struct frame_spec there = { .payload = OOB "getstatus",
						 .n = 13,
						 .to = "198.51.100.8" };

	(void)state;
	for (int twice = 0; twice < 3; twice++) {
		struct config_service *s;

		config->service_count = 0;
		add("any", 27960);
		s = add("one", 27960);
		kern_address("198.51.100.7", s->addresses[s->address_count++]);
		apply();
		assert_int_equal(kern_send(&kern, &here).slot, slot_of("one"));
		assert_int_equal(kern_send(&kern, &there).slot, slot_of("any"));
	}
	config->service_count = 1;
	apply();
	assert_int_equal(kern_send(&kern, &here).slot, slot_of("any"));
}

/* How many addresses lead somewhere in @generation. */
static size_t endpoints_of(__u32 generation)
{
	struct endpoint at;
	void *previous = NULL;
	size_t count = 0;

	while (!bpf_map_get_next_key(shield.endpoints, previous, &at)) {
		previous = &at;
		count += at.generation == (generation & 1);
	}
	return count;
}

/*
 * While a configuration is being put in place, datagrams are judged by the one before:
 * its addresses stay until the next. None of an older one ever comes back.
 */
static void addresses_of_the_one_before_stay(void **state)
{
	static const char *const addresses[] = { "198.51.100.7", "198.51.100.8",
						 "198.51.100.9" };

	(void)state;
	for (size_t count = COUNT(addresses) + 1; count--;) {
		__u32 before = shield_generation(&shield);
		size_t left = endpoints_of(before);
		struct config_service *s;

		config->service_count = 0;
		s = add("a", 27960);
		for (size_t i = 0; i < count; i++)
			kern_address(addresses[i], s->addresses[s->address_count++]);
		apply();
		assert_int_equal(endpoints_of(before + 1), count);
		assert_int_equal(endpoints_of(before), left);
	}
}

static void the_allowance_is_what_was_said(void **state)
{
	const struct amplification_limit *l = &kern.live->amplification;

	(void)state;
	add("a", 27960);
	config->amplification_allowance = 1000;
	config->amplification_refill_s = 20;
	apply();
	assert_true(l->window_ns == 20 * SECOND);
	assert_true(l->byte_ns == 20 * SECOND / 1000);
	assert_true(!l->strict && !l->credit_ns);
	config->amplification_allowance = 0;
	apply();
	assert_true(!l->byte_ns);
	config->amplification_strict = true;
	apply();
	assert_true(l->strict && l->byte_ns == AMPLIFICATION_GRAIN_NS && !l->window_ns);
	assert_true(l->credit_ns == AMPLIFICATION_GRAIN_NS << 20);
}

/* Frames of one prefix that pass until the test has ended: each credits the prefix. */
static struct {
	__u8 bytes[FRAME_MAX];
	size_t n;
	bool over;
} credits;

static void *credit_often(void *argument)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = credits.bytes,
		    .data_size_in = (__u32)credits.n, .repeat = 16);

	(void)argument;
	while (!__atomic_load_n(&credits.over, __ATOMIC_RELAXED))
		assert_int_equal(bpf_prog_test_run_opts(kern.program, &run), 0);
	return NULL;
}

/* Return true if a cell holds a debt of strict mode, which is one of years in time. */
static bool strict_debt(void)
{
	struct amplification_line line;

	for (__u32 key = 0; key < 1 << AMPLIFICATION_BITS; key++) {
		assert_int_equal(bpf_map_lookup_elem(shield.amplification, &key, &line),
				 0);
		for (int way = 0; way < AMPLIFICATION_WAYS; way++)
			if ((line.cells[way] >> AMPLIFICATION_TAG_BITS) *
				    AMPLIFICATION_GRAIN_NS >
			    AMPLIFICATION_STRICT_NS / 2)
				return true;
	}
	return false;
}

/* Datagrams that come while the mode changes leave no debt in bytes behind. */
static void strict_mode_leaves_no_debt_of_years(void **state)
{
	const struct service open = kern_open_service(FAMILY_QUAKE3);
	struct frame_spec frame = { .payload = OOB "getstatus", .n = 13, .dport = 27960 };
	struct config_service *s = add("a", 27960);
	pthread_t thread;

	(void)state;
	memcpy(s->service.budget, open.budget, sizeof(open.budget));
	config->amplification_allowance = 16384;
	config->amplification_refill_s = 20;
	credits.n = frame_build(&frame, credits.bytes);
	for (int round = 0; round < 5; round++) {
		config->amplification_strict = true;
		apply();
		credits.over = false;
		assert_int_equal(pthread_create(&thread, NULL, credit_often, NULL), 0);
		config->amplification_strict = false;
		apply();
		__atomic_store_n(&credits.over, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		assert_false(strict_debt());
	}
}

/* How many a second: as many in a burst; 0: none at all. */
static void assert_pace(const struct limit *l, __u32 per_second)
{
	__u64 due = 0, now = 1ull << 50;
	__u32 passed = 0;

	while (passed <= per_second && limit_take(l, &due, now))
		passed++;
	assert_int_equal(passed, per_second);
	now += SECOND;
	for (passed = 0; passed <= per_second && limit_take(l, &due, now);)
		passed++;
	assert_int_equal(passed, per_second);
}

static void samplers_take_what_was_said(void **state)
{
	const struct sampling *sampling = &kern.live->sampling;

	(void)state;
	add("a", 27960);
	config->sample_rate = 500;
	config->follow_rate = 2000;
	config->sample_every = 64;
	config->follow_first = 3;
	config->follow_every = 16;
	apply();
	assert_pace(&sampling->limit[SAMPLER_STATISTIC], 500);
	assert_pace(&sampling->limit[SAMPLER_FOLLOW], 2000);
	assert_int_equal(sampling->every, 64);
	assert_int_equal(sampling->follow_first, 3);
	assert_int_equal(sampling->follow_every, 16);
	assert_true(sampling->any);
	config->sample_every = config->follow_first = config->follow_every = 0;
	apply();
	assert_false(sampling->any);
	config->follow[config->follow_count++] = (struct cidr){ .length = 128 };
	apply();
	assert_true(sampling->any);
}

/* Requests to join at the rate that was said, and queries at a quarter of it. */
static void challenges_have_the_rate_that_was_said(void **state)
{
	const struct limit *share = kern.live->validation.share[SERVICES_MAX - 1];

	(void)state;
	add("a", 27960);
	config->validation = (struct limit){ SECOND / 1000, SECOND };
	apply();
	assert_pace(&share[CHALLENGE_JOIN], 1000);
	assert_int_equal(share[CHALLENGE_QUERY].cost_ns, SECOND / 250);
	assert_int_equal(share[CHALLENGE_QUERY].burst_ns, SECOND);
	config->validation = (struct limit){ SECOND, 0 };
	apply();
	assert_true(limit_exceeded(&share[CHALLENGE_JOIN], 0, 1ull << 50));
	assert_true(limit_exceeded(&share[CHALLENGE_QUERY], 0, 1ull << 50));
}

/* A quarter of a second's worth at once; of none nothing, whatever was saved up. */
static void answers_cost_what_was_said(void **state)
{
	const struct cache_cap *cap = &kern.live->cache.cap;

	(void)state;
	add("a", 27960);
	config->cache_bytes_per_s = 125000;
	apply();
	/* An eighth is kept for the services under load, here for one. */
	assert_int_equal(cap->byte_ns, SECOND * 8 / 7 / 125000);
	assert_int_equal(cap->kept_byte_ns, cap->byte_ns * 7);
	assert_int_equal(cap->kept_burst_ns, SECOND / 4);
	assert_int_equal(cap->burst_ns, SECOND / 4);
	config->cache_bytes_per_s = 0;
	apply();
	assert_true(limit_exceeded(&(struct limit){ cap->byte_ns * 96, cap->burst_ns }, 0,
				   1ull << 50));
	assert_int_equal(cap->kept_byte_ns, 0);
}

/*
 * A newcomer gets a slot that nobody has now, rather than that of one who leaves; and of
 * who was there before neither counters nor budgets nor pressure are left.
 */
static void a_newcomer_finds_nothing_of_who_was_there(void **state)
{
	__u32 first, second;

	(void)state;
	add("stays", 27960);
	add("leaves", 27961);
	apply();
	first = (__u32)slot_of("stays");
	second = (__u32)slot_of("leaves");
	config->service_count = 0;
	add("newcomer", 27961);
	add("stays", 27960);
	apply();
	assert_int_not_equal(slot_of("newcomer"), second);
	assert_int_equal(slot_of("stays"), first);

	/* That slot is free now: whoever comes next may have it, cleared. */
	for (__u32 slot = 0; slot < KERN_SLOTS; slot++) {
		kern.live->validation.until_ns[slot] = 5 + slot;
		kern.live->masters_due_ns[slot] = 9 + slot;
		kern.live->cache.windows[slot].shut = 3 + slot;
		kern.live->cache.cap.kept_due_ns[slot] = 4 + slot;
		kern.live->validation
			.service_due_ns[budget_index(slot, CLASS_CHALLENGE)] = 7 + slot;
		for (__u32 row = 0; row < COUNTER_ROWS; row++) {
			__u32 key = slot * COUNTER_ROWS + row;

			memset(kern.buffer, 1, (size_t)kern.cpus * sizeof(*kern.buffer));
			assert_int_equal(bpf_map_update_elem(shield.counters, &key,
							     kern.buffer, BPF_ANY),
					 0);
		}
	}
	add("next", 27962);
	apply();
	for (__u32 slot = 0; slot < KERN_SLOTS; slot++) {
		bool fresh = (int)slot == slot_of("next");

		assert_int_equal(kern.live->validation.until_ns[slot],
				 fresh ? 0 : 5 + slot);
		assert_int_equal(kern.live->masters_due_ns[slot], fresh ? 0 : 9 + slot);
		assert_int_equal(kern.live->cache.windows[slot].shut,
				 fresh ? 0 : 3 + slot);
		assert_int_equal(kern.live->cache.cap.kept_due_ns[slot],
				 fresh ? 0 : 4 + slot);
		assert_int_equal(
			kern.live->validation
				.service_due_ns[budget_index(slot, CLASS_CHALLENGE)],
			fresh ? 0 : 7 + slot);
		for (__u32 row = 0; row < COUNTER_ROWS; row++) {
			__u32 key = slot * COUNTER_ROWS + row;

			assert_int_equal(bpf_map_lookup_elem(shield.counters, &key,
							     kern.buffer),
					 0);
			assert_int_equal(!kern.buffer->cells[1], fresh);
		}
	}
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_stays_keeps_what_is_its_own),
		TEST(there_are_so_many_slots),
		TEST(counters_are_those_of_all_processors),
		TEST(observing_is_all_or_each),
		TEST(learned_ports_stay_with_their_service),
		TEST(ports_noted_while_it_is_applied_stay),
		TEST(addresses_lead_to_their_service),
		TEST(addresses_of_the_one_before_stay),
		TEST(the_allowance_is_what_was_said),
		TEST(strict_mode_leaves_no_debt_of_years),
		TEST(samplers_take_what_was_said),
		TEST(challenges_have_the_rate_that_was_said),
		TEST(answers_cost_what_was_said),
		TEST(a_newcomer_finds_nothing_of_who_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
