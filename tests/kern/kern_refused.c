// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which sources the programs keep of what they refuse or challenge, without any
 * configuration: on the short way and on the long one, of each class for itself, one of
 * each period, with the number that it stands for.
 * stubs: shield_cache shield_out shield_joined
 */
#include <sched.h>

#include "kern/kern_support.h"

#define OOB(word) .payload = "\xff\xff\xff\xff" word, .n = 4 + sizeof(word) - 1
#define PERIOD	  (1ull << REFUSED_TICK)
#define HOST4	  0xc0000201 /* 192.0.2.1, which frames are from */

static struct kern kern;

/* A service that refuses all that has a budget. */
static int enter(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);
	cpu_set_t here;

	(void)state;
	CPU_ZERO(&here);
	CPU_SET(0, &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
	if (kern_open(&kern)) {
		print_message("not allowed to load BPF programs: skipped\n");
		skip();
	}
	kern.live->clock_ns = PERIOD << 10;
	for (int i = 0; i < CLASS_BUDGETS; i++)
		s.budget[i].source = s.budget[i].service = (struct limit){ SECOND, 0 };
	for (__u32 slot = 0; slot < 2; slot++)
		kern_service(&kern, 0, slot, &s);
	kern_port(&kern, 0, 27960, 0, false);
	kern_port(&kern, 0, 27961, 1, false);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	kern_close(&kern);
	return 0;
}

static void refuse(const struct frame_spec *spec, int times)
{
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(spec, frame);

	while (times--)
		assert_int_equal(kern_action(&kern, frame, n), XDP_DROP);
}

/* All places that are taken in the log of @slot's @class; how many. */
static size_t kept(__u32 slot, enum wire_class class,
		   struct refused_source ret[REFUSED_KEPT])
{
	return kern_refused(&kern, slot, class, ret, REFUSED_KEPT);
}

static size_t kept_at_all(void)
{
	struct refused_source at[REFUSED_KEPT];
	size_t n = 0;

	for (__u32 slot = 0; slot < KERN_SLOTS; slot++)
		for (int class = 0; class < CLASS_COUNT; class ++)
			n += kept(slot, (enum wire_class) class, at);
	return n;
}

static void one_of_a_period_with_its_weight(void **state)
{
	static const struct frame_spec status = { OOB("getstatus") };
	static const struct frame_spec other = { OOB("getstatus"), .from = "192.0.2.9" };
	struct refused_source at[REFUSED_KEPT];

	(void)state;
	refuse(&status, 4 * REFUSED_EVERY);
	refuse(&other, REFUSED_EVERY);
	assert_int_equal(kept(0, CLASS_QUERY, at), 1);
	assert_true(at[0].net == HOST4 || at[0].net == 0xc0000209);
	assert_int_equal(at[0].weight, 5);
	assert_int_equal(at[0].ipv6, 0);
	assert_int_equal(at[0].reason, REASON_SERVICE_LIMIT);
	assert_int_equal(at[0].tick, 1 << 10);
	kern.live->clock_ns += PERIOD;
	refuse(&other, REFUSED_EVERY);
	assert_int_equal(kept(0, CLASS_QUERY, at), 2);
	assert_int_equal(at[1].net, 0xc0000209);
	assert_int_equal(at[1].weight, 1);
	assert_int_equal(at[1].tick, (1 << 10) + 1);
	assert_int_equal(kept_at_all(), 2);
}

/* Not that of which comes first, which an attacker could arrange. */
static void each_of_a_period_has_the_same_chance(void **state)
{
	static const struct frame_spec first = { OOB("getstatus"), .from = "192.0.2.9" };
	static const struct frame_spec rest = { OOB("getstatus") };
	struct refused_source at[REFUSED_KEPT];
	int firsts = 0;

	(void)state;
	for (int period = 0; period < 10 * REFUSED_KEPT; period++) {
		refuse(&first, REFUSED_EVERY);
		refuse(&rest, 3 * REFUSED_EVERY);
		kern.live->clock_ns += PERIOD;
		if (period % REFUSED_KEPT != REFUSED_KEPT - 1)
			continue;
		assert_int_equal(kept(0, CLASS_QUERY, at), REFUSED_KEPT);
		for (size_t i = 0; i < REFUSED_KEPT; i++)
			firsts += at[i].net == 0xc0000209;
	}
	/* 40 of 160; less than one run of a million is outside. */
	assert_in_range(firsts, 13, 67);
}

/* The place of a period is taken again, and only then. */
static void a_log_keeps_two_seconds(void **state)
{
	static const struct frame_spec status = { OOB("getstatus") };
	struct refused_source at[REFUSED_KEPT];

	(void)state;
	for (int period = 0; period < 3 * REFUSED_KEPT; period++) {
		refuse(&status, 2 * REFUSED_EVERY);
		kern.live->clock_ns += PERIOD;
	}
	assert_int_equal(kept(0, CLASS_QUERY, at), REFUSED_KEPT);
	for (size_t i = 0; i < REFUSED_KEPT; i++) {
		assert_int_equal(at[i].weight, 2);
		assert_int_equal(at[i].tick, (1 << 10) + 2 * REFUSED_KEPT + i);
	}
}

static void no_class_takes_the_places_of_another(void **state)
{
	static const struct frame_spec status = { OOB("getstatus") };
	static const struct frame_spec guess = { OOB("rcon x y"), .from = "192.0.2.7" };
	static const struct frame_spec other = { OOB("rcon x y"), .dport = 27961 };
	struct refused_source at[REFUSED_KEPT];

	(void)state;
	refuse(&status, 1000);
	refuse(&guess, 1);
	refuse(&other, 1);
	assert_int_equal(kept(0, CLASS_RCON, at), 1);
	assert_int_equal(at[0].net, 0xc0000207);
	assert_int_equal(at[0].weight, 1);
	assert_int_equal(kept(1, CLASS_RCON, at), 1);
	assert_int_equal(at[0].net, HOST4);
	assert_int_equal(kept_at_all(), 3);
}

/* A source that follows the turns would have to know which it is. */
static void the_phase_says_whose_turn_it_is(void **state)
{
	static const struct frame_spec one = { OOB("getstatus"), .from = "192.0.2.7" };
	static const struct frame_spec rest = { OOB("getstatus") };
	struct refused_source at[REFUSED_KEPT];

	(void)state;
	for (__u32 phase = 0; phase < REFUSED_EVERY; phase++) {
		kern.live->sampling.phase = phase;
		kern.live->clock_ns += PERIOD;
		for (__u32 i = 0; i < REFUSED_EVERY; i++)
			refuse(i == phase ? &one : &rest, 1);
	}
	assert_int_equal(kept(0, CLASS_QUERY, at), REFUSED_KEPT);
	for (size_t i = 0; i < REFUSED_KEPT; i++)
		assert_int_equal(at[i].net, 0xc0000207);
}

static void ipv6_is_kept_by_its_64(void **state)
{
	static const struct frame_spec rows[] = {
		{ OOB("rcon x y"), .ipv6 = true, .from = "2001:db8:1:2:3:4:5:6" },
		{ OOB("rcon x y"), .ipv6 = true, .from = "2001:db8:1:2:3:4:5:6",
		  .tags = { ETH_P_8021Q } },
		{ OOB("rcon x y"), .ipv6 = true, .from = "2001:db8:1:2:3:4:5:6",
		  .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	};
	struct refused_source at[REFUSED_KEPT];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		refuse(&rows[i], REFUSED_EVERY);
		assert_int_equal(kept(0, CLASS_RCON, at), i + 1);
		assert_int_equal(at[i].net, 0x20010db800010002);
		assert_int_equal(at[i].ipv6, 1);
		kern.live->clock_ns += PERIOD;
	}
}

/* Each reason for which it is not a budget, short way and long. */
static void whatever_it_is_refused_for(void **state)
{
	static const struct {
		struct frame_spec frame;
		enum wire_class class;
		enum reason reason;
	} rows[] = {
		{ { OOB("statusResponse\n") }, CLASS_REPLY, REASON_REPLY_TO_SERVER },
		{ { OOB("getstatus"), .udp_length = FRAME_SAYS(400) },
		  CLASS_MALFORMED,
		  REASON_MALFORMED },
		{ { OOB("getstatus"), .more = true }, CLASS_FRAGMENT, REASON_FRAGMENT },
		{ { OOB("getstatus"), .options = 1 }, CLASS_MALFORMED, REASON_MALFORMED },
		{ { OOB("getstatus"), .from = "203.0.113.7" },
		  CLASS_QUERY,
		  REASON_DENY_LIST },
	};
	struct refused_source at[REFUSED_KEPT];

	(void)state;
	kern_list(&kern, false, "203.0.113.0", 120);
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t before = kept(0, rows[i].class, at);

		refuse(&rows[i].frame, REFUSED_EVERY);
		assert_int_equal(kept(0, rows[i].class, at), before + 1);
		assert_int_equal(at[before].reason, rows[i].reason);
		assert_int_equal(at[before].net, rows[i].frame.from ? 0xcb007107 : HOST4);
		kern.live->clock_ns += PERIOD;
	}
}

static void what_passes_is_not_kept(void **state)
{
	static const struct frame_spec status = { OOB("getstatus") };
	struct service s = kern_open_service(FAMILY_QUAKE3);
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&status, frame);

	(void)state;
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 100; i++)
		assert_int_equal(kern_action(&kern, frame, n), XDP_PASS);
	assert_int_equal(kept_at_all(), 0);
	/* What would have been refused is, where all is only observed. */
	for (int i = 0; i < CLASS_BUDGETS; i++)
		s.budget[i].source = (struct limit){ SECOND, 0 };
	s.observe = 1;
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 100; i++)
		assert_int_equal(kern_action(&kern, frame, n), XDP_PASS);
	assert_int_equal(kept_at_all(), 1);
}

/* In place of a refusal a challenge goes back, which says nothing of who asked. */
static void what_is_challenged_is_kept(void **state)
{
	static const struct frame_spec ask = { OOB("getchallenge 12345678 X") };
	struct service s = kern_open_service(FAMILY_QUAKE3);
	struct refused_source at[REFUSED_KEPT];
	__u8 frame[FRAME_MAX];
	size_t n = frame_build(&ask, frame);

	(void)state;
	s.validation = VALIDATION_ALWAYS;
	kern_service(&kern, 0, 0, &s);
	for (int turn = 0; turn < 2; turn++)
		kern.live->validation.secret.key[turn][0] =
			kern.live->validation.secret.key[turn][1] = 0x1234567890abcdef;
	assert_int_equal(kern_action(&kern, frame, n), XDP_TX);
	assert_int_equal(kept(0, CLASS_CHALLENGE, at), 1);
	assert_int_equal(at[0].reason, REASON_CHALLENGED);
	assert_int_equal(at[0].net, HOST4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
	const struct CMUnitTest tests[] = {
		TEST(one_of_a_period_with_its_weight),
		TEST(each_of_a_period_has_the_same_chance),
		TEST(a_log_keeps_two_seconds),
		TEST(no_class_takes_the_places_of_another),
		TEST(the_phase_says_whose_turn_it_is),
		TEST(ipv6_is_kept_by_its_64),
		TEST(whatever_it_is_refused_for),
		TEST(what_passes_is_not_kept),
		TEST(what_is_challenged_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
