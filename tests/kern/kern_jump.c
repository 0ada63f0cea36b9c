// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What shield() tells the program that it jumps to: for one frame, and not needed. A
 * shield() of before an upgrade tells it nothing.
 * stubs: shield_out shield_joined
 */
#include <sched.h>

#include "kern/kern_proof.h"

#define BARE OOB "getchallenge"

static struct said say_;

/* What is told lies in memory of this processor. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
}

static void begin_at(const struct bpf_program *program)
{
	kern.program = bpf_program__fd(program);
}

static void what_is_not_told_is_found(void **state)
{
	const struct bpf_program *const programs[2] = {
		kern.skel->progs.shield_validate,
		kern.skel->progs.shield_cache,
	};

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	for (size_t p = 0; p < 2; p++) {
		for (size_t w = 0; w < COUNT(wraps); w++) {
			struct frame_spec each = wraps[w];

			each.sport = (__u16)(HERE + p);
			begin_at(programs[p]);
			say(&each, BYTES(BARE), &say_);
			assert_answer(&say_, 0);
			pass_time(SECOND);
		}
	}
}

static void what_is_told_is_of_one_frame(void **state)
{
	static const struct frame_spec elsewhere = { .dport = PORT + 1 };

	(void)state;
	stay_here();
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	say(&wraps[0], BYTES(BARE), &say_);
	assert_answer(&say_, 0);
	begin_at(kern.skel->progs.shield_validate);
	say(&elsewhere, BYTES(BARE), &say_);
	assert_int_equal(say_.action, XDP_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_told_is_found),
		TEST(what_is_told_is_of_one_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
