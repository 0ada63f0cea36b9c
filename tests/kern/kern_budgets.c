// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whose service, whose lists, which policy, and how many pass: the rules of admit(), in
 * the kernel, with a clock that is set by hand.
 * stubs: shield_cache shield_out shield_joined
 */
#include <pthread.h>

#include "kern/kern_support.h"

#define OOB(word) .payload = "\xff\xff\xff\xff" word, .n = 4 + sizeof(word) - 1

static struct kern kern;

static const struct frame_spec status = { OOB("getstatus") };
static const struct frame_spec status6 = { OOB("getstatus"), .ipv6 = true };

/* A fresh shield for every test: clock, cells, lists and services start over. */
static int enter(void **state)
{
	(void)state;
	if (kern_open(&kern)) {
		print_message("not allowed to load BPF programs: skipped\n");
		skip();
	}
	return 0;
}

static int leave(void **state)
{
	(void)state;
	kern_close(&kern);
	return 0;
}

static void expect(const struct frame_spec *spec, int slot, enum reason reason)
{
	struct outcome o = kern_send(&kern, spec);
	bool pass = reason_verdict(reason) == VERDICT_PASS;

	if (o.other || o.slot != slot || o.reason != reason)
		print_outcome("unexpected", &o);
	assert_false(o.other);
	assert_int_equal(o.slot, slot);
	assert_int_equal(o.reason, reason);
	assert_int_equal(o.action, pass ? XDP_PASS : XDP_DROP);
}

static void expect_other(const struct frame_spec *spec, enum other what)
{
	struct outcome o = kern_send(&kern, spec);

	if (!o.other || o.what != what)
		print_outcome("unexpected", &o);
	assert_true(o.other);
	assert_int_equal(o.what, what);
}

static void open_services(int count)
{
	for (int slot = 0; slot < count; slot++) {
		struct service s = kern_open_service(FAMILY_QUAKE3);

		kern_service(&kern, 0, (__u32)slot, &s);
	}
}

static void services_by_address_and_port(void **state)
{
	static const struct {
		bool ipv6;
		const char *to;
		__u16 port;
		int slot; /* -1: nobody's */
	} rows[] = {
		{ false, "198.51.100.1", 27960, 0 },
		{ false, "203.0.113.9", 27960, 0 },
		{ false, "198.51.100.7", 27960, 1 },
		{ true, "2001:db8:2::1", 27960, 0 },
		{ true, "2001:db8:2::7", 27960, 2 },
		{ true, "2001:db8:3::7", 27960, 0 },
		/* An address, and nobody else. */
		{ false, "198.51.100.7", 27970, 3 },
		{ false, "198.51.100.8", 27970, -1 },
		{ true, "2001:db8:2::7", 27970, -1 },
		{ false, "198.51.100.1", 27961, -1 },
		{ false, "198.51.100.1", 0, -1 },
		{ false, "198.51.100.1", 1, 4 },
		{ false, "198.51.100.1", 65535, 4 },
		{ false, "198.51.100.1", 63, -1 },
		{ false, "198.51.100.1", 64, 4 },
	};

	(void)state;
	open_services(5);
	kern_port(&kern, 0, 27960, 0, true);
	kern_endpoint(&kern, 0, "198.51.100.7", 27960, 1);
	kern_endpoint(&kern, 0, "2001:db8:2::7", 27960, 2);
	kern_port(&kern, 0, 27970, -1, true);
	kern_endpoint(&kern, 0, "198.51.100.7", 27970, 3);
	kern_port(&kern, 0, 1, 4, false);
	kern_port(&kern, 0, 64, 4, false);
	kern_port(&kern, 0, 65535, 4, false);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct frame_spec spec = { OOB("getstatus"), .ipv6 = rows[i].ipv6,
					   .to = rows[i].to, .dport = rows[i].port };
		__u8 frame[FRAME_MAX];
		size_t n = frame_build(&spec, frame);
		struct outcome o;

		if (!rows[i].port) /* frame.h's "whatever" */
			memset(frame + ETH_HLEN + 20 + 2, 0, 2);
		o = kern_run(&kern, frame, n);
		if (rows[i].slot < 0) {
			assert_true(o.other);
			assert_int_equal(o.what, OTHER_NO_SERVICE);
			assert_int_equal(o.action, XDP_PASS);
		} else {
			assert_false(o.other);
			assert_int_equal(o.slot, rows[i].slot);
		}
	}
}

static void allow_beats_deny_beats_budgets(void **state)
{
	static const struct frame_spec friend_ = { OOB("getstatus"),
						   .from = "192.0.2.77" };
	static const struct frame_spec friend6 = { OOB("getstatus"), .ipv6 = true,
						   .from = "2001:db8:1:5::77" };
	static const struct frame_spec reply = { OOB("statusResponse\n"),
						 .from = "192.0.2.77" };
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].service = (struct limit){ SECOND, 0 }; /* never */
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, 27960, 0, false);
	expect(&status, 0, REASON_SERVICE_LIMIT);
	kern_list(&kern, false, "192.0.2.0", 96 + 24);
	expect(&status, 0, REASON_DENY_LIST);
	expect(&friend_, 0, REASON_DENY_LIST);
	expect(&status6, 0, REASON_SERVICE_LIMIT);
	kern_list(&kern, true, "192.0.2.64", 96 + 26);
	expect(&friend_, 0, REASON_ALLOW_LIST);
	expect(&reply, 0, REASON_ALLOW_LIST);
	expect(&status, 0, REASON_DENY_LIST);

	kern_list(&kern, false, "2001:db8:1::", 48);
	expect(&status6, 0, REASON_DENY_LIST);
	kern_list(&kern, true, "2001:db8:1:5::", 64);
	expect(&friend6, 0, REASON_ALLOW_LIST);
	expect(&status6, 0, REASON_DENY_LIST);
}

/* Everything is counted as if, and everything passes. */
static void observe_passes_and_counts(void **state)
{
	static const struct frame_spec reply = { OOB("statusResponse\n") };
	static const struct frame_spec first = { OOB("getstatus"), .more = true };
	static const struct frame_spec tags = {
		OOB("getstatus"), .tags = { ETH_P_8021Q, ETH_P_8021Q, ETH_P_8021Q }
	};
	struct service s = kern_open_service(FAMILY_QUAKE3);
	struct outcome o;

	(void)state;
	s.observe = 1;
	s.budget[CLASS_QUERY].source = kern_rate(1, 1);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, 27960, 0, false);

	expect(&status, 0, REASON_WITHIN_LIMITS);
	o = kern_send(&kern, &status);
	assert_int_equal(o.reason, REASON_SOURCE_LIMIT);
	assert_int_equal(o.action, XDP_PASS);
	o = kern_send(&kern, &reply);
	assert_int_equal(o.reason, REASON_REPLY_TO_SERVER);
	assert_int_equal(o.action, XDP_PASS);
	o = kern_send(&kern, &first);
	assert_int_equal(o.reason, REASON_FRAGMENT);
	assert_int_equal(o.action, XDP_PASS);
	kern_list(&kern, false, "192.0.2.1", 128);
	o = kern_send(&kern, &status);
	assert_int_equal(o.reason, REASON_DENY_LIST);
	assert_int_equal(o.action, XDP_PASS);

	/* What belongs to no service is dropped unless none of them wants it. */
	o = kern_send(&kern, &tags);
	assert_int_equal(o.what, OTHER_TOO_MANY_HEADERS);
	assert_int_equal(o.action, XDP_DROP);
	kern.live->tables[0].observe = 1;
	o = kern_send(&kern, &tags);
	assert_int_equal(o.what, OTHER_TOO_MANY_HEADERS);
	assert_int_equal(o.action, XDP_PASS);
}

static void policies(void **state)
{
	static const struct {
		struct frame_spec spec;
		enum wire_class class;
		enum reason dropped;
	} rows[] = {
		{ { OOB("statusResponse\n") }, CLASS_REPLY, REASON_REPLY_TO_SERVER },
		{ { .payload = "x", .n = 1 }, CLASS_MALFORMED, REASON_MALFORMED },
		{ { .udp_length = FRAME_SAYS(3) }, CLASS_MALFORMED, REASON_MALFORMED },
		{ { OOB("getstatus"), .more = true }, CLASS_FRAGMENT, REASON_FRAGMENT },
	};

	(void)state;
	kern_port(&kern, 0, 27960, 0, false);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct service s = kern_open_service(FAMILY_QUAKE3);
		__u8 *policy = &s.policy[rows[i].class - CLASS_BUDGETS];
		struct outcome o;

		*policy = POLICY_DROP;
		kern_service(&kern, 0, 0, &s);
		expect(&rows[i].spec, 0, rows[i].dropped);
		*policy = POLICY_PASS;
		kern_service(&kern, 0, 0, &s);
		expect(&rows[i].spec, 0, REASON_POLICY);
		*policy = POLICY_LIMIT;
		kern_service(&kern, 0, 0, &s);
		o = kern_send(&kern, &rows[i].spec);
		assert_int_equal(o.reason, REASON_WITHIN_LIMITS);
		assert_int_equal(o.charged, CLASS_UNKNOWN);
		s.budget[CLASS_UNKNOWN].service.burst_ns = 0;
		kern_service(&kern, 0, 0, &s);
		expect(&rows[i].spec, 0, REASON_SERVICE_LIMIT);
	}
}

/* How many of @tries of @spec pass; all others must be refused for @reason. */
static int passing(const struct frame_spec *spec, int tries, enum reason reason)
{
	int passed = 0;

	for (int i = 0; i < tries; i++) {
		struct outcome o = kern_send(&kern, spec);

		if (o.reason == REASON_WITHIN_LIMITS) {
			passed++;
			continue;
		}
		if (o.reason != reason)
			print_outcome("unexpected", &o);
		assert_int_equal(o.reason, reason);
		assert_int_equal(o.charged, NOBODY);
	}
	return passed;
}

static void pass_time(__u64 ns)
{
	kern.live->clock_ns += ns;
}

/* Short and long, passed and refused, the short way and the long one: all of it counts.
 */
static void what_strangers_send_is_measured(void **state)
{
	static const struct frame_spec longer = { OOB("getstatus 0123456789abcdef") };
	struct service s = kern_open_service(FAMILY_QUAKE3);
	__u64 payload = 0, wire = 0;
	struct counters t;

	(void)state;
	s.budget[CLASS_QUERY].source = kern_rate(1, 4);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, 27960, 0, false);
	for (int i = 0; i < 10; i++) {
		kern_send(&kern, &status);
		kern_send(&kern, &longer);
		payload += status.n + longer.n;
		wire += 60 + 24 + 42 + longer.n + 24;
	}
	kern_sum(&kern, 0, &t);
	volume_complete(&t);
	assert_int_equal(t.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS].packets, 4);
	assert_int_equal(t.by[KIND_GETSTATUS][REASON_SOURCE_LIMIT].packets, 16);
	assert_int_equal(t.unverified.payload, payload);
	assert_int_equal(t.unverified.wire, wire);
}

/* The short way out of a spent budget is no way around the lists. */
static void lists_come_before_what_is_spent(void **state)
{
	static const struct frame_spec neighbour = { OOB("getstatus"),
						     .from = "192.0.2.2" };
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].service = kern_rate(1, 2);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, 27960, 0, false);
	assert_int_equal(passing(&status, 5, REASON_SERVICE_LIMIT), 2);
	kern_list(&kern, true, "192.0.2.1", 128);
	expect(&status, 0, REASON_ALLOW_LIST);
	expect(&neighbour, 0, REASON_SERVICE_LIMIT);
	kern_list(&kern, false, "192.0.2.2", 128);
	expect(&neighbour, 0, REASON_DENY_LIST);
}

static void exactly_the_source_budget(void **state)
{
	static const struct frame_spec neighbour = { OOB("getstatus"),
						     .from = "192.0.2.2" };
	static const struct frame_spec elsewhere = { OOB("getstatus"), .sport = 4321 };
	static const struct frame_spec near6 = { OOB("getstatus"), .ipv6 = true,
						 .from = "2001:db8:1::dead:beef" };
	static const struct frame_spec far6 = { OOB("getstatus"), .ipv6 = true,
						.from = "2001:db8:1:1::1" };
	static const struct frame_spec info = { OOB("getinfo xxx") };
	static const struct frame_spec connect_ = { OOB("connect ") };
	static const struct frame_spec other = { OOB("getstatus"), .dport = 27961 };
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].source = kern_rate(2, 5);
	kern_service(&kern, 0, 0, &s);
	kern_service(&kern, 0, 1, &s);
	kern_port(&kern, 0, 27960, 0, false);
	kern_port(&kern, 0, 27961, 1, false);

	assert_int_equal(passing(&status, 20, REASON_SOURCE_LIMIT), 5);
	assert_int_equal(passing(&elsewhere, 3, REASON_SOURCE_LIMIT), 0);
	assert_int_equal(passing(&info, 3, REASON_SOURCE_LIMIT), 0);
	/* Another class, another service, another address have their own. */
	assert_int_equal(passing(&connect_, 20, REASON_SOURCE_LIMIT), 20);
	assert_int_equal(passing(&other, 20, REASON_SOURCE_LIMIT), 5);
	assert_int_equal(passing(&neighbour, 20, REASON_SOURCE_LIMIT), 5);
	/* A /64 is one source. */
	assert_int_equal(passing(&status6, 20, REASON_SOURCE_LIMIT), 5);
	assert_int_equal(passing(&near6, 20, REASON_SOURCE_LIMIT), 0);
	assert_int_equal(passing(&far6, 20, REASON_SOURCE_LIMIT), 5);

	pass_time(SECOND / 2 - 1);
	assert_int_equal(passing(&status, 5, REASON_SOURCE_LIMIT), 0);
	pass_time(1);
	assert_int_equal(passing(&status, 5, REASON_SOURCE_LIMIT), 1);
	pass_time(10 * SECOND);
	assert_int_equal(passing(&status, 20, REASON_SOURCE_LIMIT), 5);
}

static int passing_from(const char *format, int first, int last, bool ipv6, int tries,
			enum reason reason)
{
	int passed = 0;

	for (int i = first; i <= last; i++) {
		struct frame_spec spec = { OOB("getstatus"), .ipv6 = ipv6 };
		char from[64];

		snprintf(from, sizeof(from), format, i);
		spec.from = from;
		passed += passing(&spec, tries, reason);
	}
	return passed;
}

static void exactly_the_prefix_budget(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	s.budget[CLASS_QUERY].prefix = kern_rate(10, 30);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, 27960, 0, false);

	/* A /24 and a /56, whoever in it asks. */
	assert_int_equal(
		passing_from("192.0.2.%d", 1, 100, false, 1, REASON_PREFIX_LIMIT), 30);
	assert_int_equal(
		passing_from("192.0.19.%d", 1, 10, false, 10, REASON_PREFIX_LIMIT), 30);
	assert_int_equal(passing_from("2001:db8:1:%x::1", 0x100, 0x1ff, true, 1,
				      REASON_PREFIX_LIMIT),
			 30);
	assert_int_equal(passing_from("2001:db8:2:%x::1", 0x200, 0x2ff, true, 1,
				      REASON_PREFIX_LIMIT),
			 30);
	/* The /20 and the /48 around it have a third more, together. */
	assert_int_equal(
		passing_from("192.0.3.%d", 1, 100, false, 1, REASON_PREFIX_LIMIT), 10);
	assert_int_equal(passing_from("2001:db8:1:%x::1", 0x200, 0x2ff, true, 1,
				      REASON_PREFIX_LIMIT),
			 10);
	pass_time(SECOND);
	assert_int_equal(
		passing_from("192.0.2.%d", 101, 200, false, 1, REASON_PREFIX_LIMIT), 10);
}

static void exactly_the_global_budget(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);
	__u64 due = 0;
	int used = 0, passed;

	(void)state;
	s.budget[CLASS_QUERY].source = kern_rate(1, 1);
	s.budget[CLASS_QUERY].service = kern_rate(20, 100);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, 27960, 0, false);

	/* A source that is refused spends nothing of what is everybody's. */
	assert_int_equal(passing(&status, 150, REASON_SOURCE_LIMIT), 1);
	passed = passing_from("198.18.1.%d", 1, 250, false, 1, REASON_SERVICE_LIMIT);
	assert_int_equal(passed, 99);
	passed = passing_from("2001:db8:%x::1", 1, 99, true, 1, REASON_SERVICE_LIMIT);
	assert_int_equal(passed, 0);
	pass_time(SECOND);
	passed = passing_from("198.18.2.%d", 1, 250, false, 1, REASON_SERVICE_LIMIT);
	assert_int_equal(passed, 20);

	/* While it is spent, no cell of a source is touched: 1 + 99 + 20 were. */
	for (__u32 cell = 0; cell < 1 << SOURCE_BITS; cell++) {
		due = kern.live->source_due_ns[cell];
		used += due != 0;
	}
	assert_int_equal(used, 120);
}

static void a_generation_comes_into_force_at_once(void **state)
{
	struct service before = kern_open_service(FAMILY_QUAKE3);
	struct service after = kern_open_service(FAMILY_QUAKEWORLD);
	static const struct frame_spec elsewhere = { OOB("getstatus"), .dport = 27500 };

	(void)state;
	kern_service(&kern, 0, 0, &before);
	kern_port(&kern, 0, 27960, 0, false);
	after.budget[CLASS_QUERY].service.burst_ns = 0;
	kern_service(&kern, 1, 0, &after);
	kern_service(&kern, 1, 1, &after);
	kern_port(&kern, 1, 27500, 0, false);
	kern_port(&kern, 1, 27960, -1, true);
	kern_endpoint(&kern, 1, "198.51.100.1", 27960, 1);

	/* What is prepared for the next one is not seen. */
	expect(&status, 0, REASON_WITHIN_LIMITS);
	expect_other(&elsewhere, OTHER_NO_SERVICE);
	kern.live->generation = 1;
	expect(&status, 1, REASON_SERVICE_LIMIT);
	expect(&elsewhere, 0, REASON_SERVICE_LIMIT);
	expect_other(&status6, OTHER_NO_SERVICE);
	kern.live->generation = 2;
	expect(&status, 0, REASON_WITHIN_LIMITS);
	expect_other(&elsewhere, OTHER_NO_SERVICE);
}

#define FLOOD 400000

static volatile bool flooding;

static void *flood(void *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = 64,
		    .repeat = FLOOD);
	int err = bpf_prog_test_run_opts(kern.program, &run);

	flooding = false;
	return err ? &kern : NULL;
}

/* Configurations change under a flood: no packet falls between two of them. */
static void no_packet_escapes_a_change(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);
	__u8 frame[FRAME_MAX] = { 0 };
	__u64 seen[2] = { 0 };
	pthread_t thread;
	void *failed;

	(void)state;
	frame_build(&status, frame);
	for (__u32 half = 0; half < 2; half++) {
		kern_service(&kern, half, half, &s);
		kern_port(&kern, half, 27960, (int)half, false);
	}
	flooding = true;
	assert_int_equal(pthread_create(&thread, NULL, flood, frame), 0);
	while (flooding)
		__atomic_add_fetch(&kern.live->generation, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);

	for (__u32 slot = 0; slot < 2; slot++) {
		struct counters t;

		kern_sum(&kern, slot, &t);
		for (int reason = 0; reason < REASON_COUNT; reason++)
			seen[slot] += t.by[KIND_GETSTATUS][reason].packets;
	}
	assert_int_equal(seen[0] + seen[1], FLOOD);
	assert_true(seen[0] && seen[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(services_by_address_and_port, enter,
						leave),
		cmocka_unit_test_setup_teardown(allow_beats_deny_beats_budgets, enter,
						leave),
		cmocka_unit_test_setup_teardown(observe_passes_and_counts, enter, leave),
		cmocka_unit_test_setup_teardown(policies, enter, leave),
		cmocka_unit_test_setup_teardown(what_strangers_send_is_measured, enter,
						leave),
		cmocka_unit_test_setup_teardown(lists_come_before_what_is_spent, enter,
						leave),
		cmocka_unit_test_setup_teardown(exactly_the_source_budget, enter, leave),
		cmocka_unit_test_setup_teardown(exactly_the_prefix_budget, enter, leave),
		cmocka_unit_test_setup_teardown(exactly_the_global_budget, enter, leave),
		cmocka_unit_test_setup_teardown(a_generation_comes_into_force_at_once,
						enter, leave),
		cmocka_unit_test_setup_teardown(no_packet_escapes_a_change, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
