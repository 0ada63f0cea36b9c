/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_explain.h - a service in the kernel's tables, and what `explain` tells of one
 * address. Included once by a program.
 */
#ifndef KERN_EXPLAIN_H
#define KERN_EXPLAIN_H

#include "explain/explain.h"
#include "kern/kern_apply.h"

#define NEIGHBOUR "192.0.2.77" /* in the prefix of PEER */
#define ELSEWHERE "203.0.113.9"

static struct explain *told; /* what was said last */

__u64 shield_clock(void)
{
	return kern.live->clock_ns;
}

/* Loaded at the first question, for all tests: their maps are the same. */
static struct trial *trial;

static inline int finish(void **state)
{
	explain_free(told);
	told = NULL;
	return end(state);
}

/* --- what is set up ---------------------------------------------------------- */

/* A Quake III service with wide limits. */
static inline struct service wide(void)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);

	strcpy(s.name, "ffa");
	return s;
}

static inline void serve_as(const struct service *s)
{
	kern_service(&kern, 0, 0, s);
	kern_port(&kern, 0, PORT, 0, false);
	/* The server has answered a client. */
	link_.peer = ELSEWHERE;
	link_.dport = 7;
	assert_true(says(BYTES(OOB "infoResponse\n")));
	link_.peer = PEER;
	link_.dport = HERE;
}

static inline void explain(const char *address, const char *service)
{
	struct explain_query query = { .service = service };

	explain_free(told);
	told = NULL;
	assert_true(explain_parse(address, &query));
	if (!trial)
		assert_int_equal(trial_open(&shield, &trial), 0);
	assert_int_equal(explain_address(&shield, trial, &query, &told), 0);
	assert_non_null(told);
}

static inline const struct explain_step *step(const char *name)
{
	for (size_t i = 0; i < told->services[0].step_count; i++)
		if (!strcmp(told->services[0].steps[i].name, name))
			return &told->services[0].steps[i];
	fail_msg("no step '%s'", name);
	return NULL;
}

static inline const struct explain_cause *cause(const char *name)
{
	for (size_t i = 0; i < told->services[0].cause_count; i++)
		if (!strcmp(told->services[0].causes[i].name, name))
			return &told->services[0].causes[i];
	return NULL;
}

/* The cause of that name is the only one. */
static inline void alone(const char *name)
{
	const struct explain_service *s = &told->services[0];

	for (size_t i = 0; i < s->cause_count; i++)
		if (strcmp(s->causes[i].name, name) != 0)
			print_error("beside %s: %s: %s\n", name, s->causes[i].name,
				    s->causes[i].text);
	assert_non_null(cause(name));
	assert_int_equal(s->cause_count, 1);
}

/* A player with a qport and a line, in the midst of a game. */
static inline void play_on(void)
{
	assert_true(says(BYTES(OOB "connectResponse 7")));
	for (__u32 n = 1; n < 40; n++) {
		pass_time(SECOND / 30);
		assert_true(sent(n));
		q3_heard(HERE, n, 0x1234, 0x01010101);
	}
}

static inline int explain_tests(const struct CMUnitTest *tests, size_t n)
{
	int failed = _cmocka_run_group_tests("kern_explain", tests, n, NULL, NULL);

	trial_close(trial);
	return failed;
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

#endif /* KERN_EXPLAIN_H */
