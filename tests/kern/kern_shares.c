// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Challenges of one processor, while one service is flooded and others get somewhat more
 * than their limits, or begin to: the program counts, the daemon's part divides once per
 * second, and the program sends what each service's share is.
 * stubs: shield_cache shield_out shield_joined
 */
#include <sched.h>

#include "kern/kern_apply.h"

#define RATE	1000 /* challenges per second and processor */
#define STEPS	50 /* in which a second passes */
#define SECONDS 4

static int challenged[KERN_SLOTS]; /* in this second, by the order of the services */

/* A frame of another source each time. */
static void ask_once(int service)
{
	static __u32 source = 10u << 24;
	struct frame_spec s = { .payload = OOB "getchallenge",
				.n = 16,
				.dport = (__u16)(PORT + service) };
	__u8 frame[FRAME_MAX];
	__be32 from = htonl(++source);
	char text[INET_ADDRSTRLEN];

	s.from = inet_ntop(AF_INET, &from, text, sizeof(text));
	challenged[service] +=
		kern_action(&kern, frame, frame_build(&s, frame)) == XDP_TX;
}

/* A second in which each service gets as many requests as @counts says, and a look. */
static void a_second(const int *counts)
{
	memset(challenged, 0, sizeof(challenged));
	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < KERN_SLOTS; i++)
			for (int n = 0; n < counts[i] / STEPS; n++)
				ask_once(i);
		pass_time(SECOND / STEPS);
	}
	shield_recent_update(&shield, kern.live->clock_ns);
}

static int begin_pinned(void **state)
{
	cpu_set_t one;

	/* Each processor has the whole rate. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	if (begin(state))
		return -1;
	for (int i = 0; i < KERN_SLOTS; i++) {
		char name[] = "a";

		name[0] = (char)('a' + i);
		add(name, (__u16)(PORT + i))->service.validation = VALIDATION_UNDER_LOAD;
	}
	config->validation = (struct limit){ SECOND / RATE, SECOND / 4 };
	apply();
	shield_recent_update(&shield, kern.live->clock_ns);
	return 0;
}

/* Six services that get 50 requests per second leave a flooded one what they leave. */
static void a_flooded_service_has_what_others_leave(void **state)
{
	static const int counts[KERN_SLOTS] = { 3000, 50, 50, 50, 50, 50, 50 };
	int sum;

	(void)state;
	for (int i = 0; i < SECONDS; i++)
		a_second(counts);
	sum = challenged[0];
	assert_in_range(challenged[0], RATE / 2, RATE - 6 * 45);
	for (int i = 1; i < 7; i++) {
		/* Their own limit of three per second passes some of them. */
		assert_in_range(challenged[i], 45, 50);
		sum += challenged[i];
	}
	assert_int_equal(challenged[7], 0);
	assert_in_range(sum, RATE * 9 / 10, RATE + 1);
}

/* One that begins to be flooded beside it has something at once, and then as much. */
static void a_service_that_begins_to_be_flooded_has_something_at_once(void **state)
{
	int counts[KERN_SLOTS] = { 3000 };

	(void)state;
	for (int i = 0; i < SECONDS; i++)
		a_second(counts);
	assert_in_range(challenged[0], RATE * 85 / 100, RATE * 9 / 10);
	counts[5] = 3000;
	a_second(counts);
	assert_in_range(challenged[5], RATE / 8 / KERN_SLOTS,
			RATE / 8 / KERN_SLOTS + RATE / 8 / KERN_SLOTS);
	for (int i = 0; i < 2; i++)
		a_second(counts);
	assert_in_range(challenged[0], RATE * 45 / 100, RATE / 2);
	assert_in_range(challenged[5], RATE * 45 / 100, RATE / 2);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_pinned, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flooded_service_has_what_others_leave),
		TEST(a_service_that_begins_to_be_flooded_has_something_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
