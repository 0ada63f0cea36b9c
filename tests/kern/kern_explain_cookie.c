// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_explain_cookie.c - the limits that `explain` shows for a datagram of address
 * validation: those of the cookie that it carries, by its form.
 * stubs: shield_cache shield_out shield_joined
 */
#include "explain/explain_frames.h"
#include "kern/kern_explain.h"
#include "kern/kern_proof_echo.h"

#define BURST 6 /* of a source in each class */

/* Validation applies to every new client, and challenges are left. */
static void validate(enum wire_family family)
{
	struct service s;

	demand(family, VALIDATION_ALWAYS);
	s = kern.live->tables[0].services[0];
	strcpy(s.name, "ffa");
	for (int class = 0; class < CLASS_BUDGETS; class ++)
		s.budget[class].source = kern_rate(1, BURST);
	kern_service(&kern, 0, 0, &s);
	for (int use = 0; use < CHALLENGE_USES; use++)
		kern.live->validation.share[0][use] = (struct limit){ 1, SECOND };
}

/* Explain the payload, from PEER; its verdict is @reason. */
static const struct explain_step *explained(const char *payload, size_t n,
					    enum reason reason)
{
	static __u8 bytes[EXPLAIN_FRAME];
	struct explain_query query = { .service = "ffa", .port = HERE };
	struct explain_input input = { .bytes = bytes, .n = n };

	explain_free(told);
	told = NULL;
	kern_address(PEER, query.address);
	memcpy(bytes, payload, n);
	if (!trial)
		assert_int_equal(trial_open(&shield, &trial), 0);
	assert_int_equal(explain_datagram(&shield, trial, &query, &input, &told), 0);
	assert_string_equal(reason_name(step("datagram")->in.reason),
			    reason_name(reason));
	return step("datagram");
}

/* The limits of @step are those of @class in @group, with @left datagrams left. */
static void limited(const struct explain_step *step, enum about_group group,
		    enum wire_class class, __u64 left)
{
	assert_true(step->limited);
	assert_int_equal(step->limits.group, group);
	assert_string_equal(class_name(step->limits.class), class_name(class));
	assert_int_equal(about_left(&step->limits.level[ABOUT_SOURCE], told->now_ns),
			 left);
}

static int sent_action(const char *payload, size_t n)
{
	say(&wraps[0], payload, n, &say_);
	return say_.action;
}

static void returned_echo_has_the_limits_of_its_form(void **state)
{
	char token[FRAME_MAX];
	size_t n;

	(void)state;
	validate(FAMILY_QUAKE3);
	n = token_of(&wraps[0], BYTES(BARE), token);
	limited(explained(token, n, REASON_VALIDATED), ABOUT_OF_VALIDATED,
		CLASS_CHALLENGE, BURST);
	assert_int_equal(sent_action(token, n), XDP_PASS);
	/* It may be returned once in two seconds, and no limit refuses the second. */
	assert_false(explained(token, n, REASON_SOURCE_LIMIT)->limited);
	token[5] = token[5] == 'a' ? 'b' : 'a';
	assert_false(explained(token, n, REASON_INVALID_COOKIE)->limited);
	/* A query is challenged beyond its limit. */
	for (int i = 0; i < BURST; i++)
		sent_action(BYTES(OOB "getstatus"));
	n = token_of(&wraps[0], BYTES(OOB "getstatus     "), token);
	pass_time(BURST * SECOND);
	limited(explained(token, n, REASON_VALIDATED), ABOUT_OF_VALIDATED, CLASS_QUERY,
		BURST / 2);
}

/* An unlimited source may have been challenged before it was listed. */
static void returned_echo_of_an_unlimited_source_has_these_limits(void **state)
{
	char token[FRAME_MAX];
	size_t n;

	(void)state;
	validate(FAMILY_QUAKE3);
	n = token_of(&wraps[0], BYTES(BARE), token);
	kern_allow_all(&kern, PEER, 128);
	limited(explained(token, n, REASON_VALIDATED), ABOUT_OF_VALIDATED,
		CLASS_CHALLENGE, BURST);
	assert_false(explained(BYTES(BARE), REASON_ALLOW_LIST)->limited);
}

/* The connect of QuakeWorld and Quake II, with the number of a challenge. */
static size_t connect_make(const char *number, char ret[FRAME_MAX])
{
	return (size_t)snprintf(ret, FRAME_MAX, OOB "connect 28 1 %.10s \"\\name\\a\"\n",
				number);
}

static void number_in_a_connect_has_the_limits_of_a_challenge(void **state)
{
	char connect[FRAME_MAX];
	size_t n;

	(void)state;
	validate(FAMILY_QUAKEWORLD);
	assert_int_equal(sent_action(BYTES(OOB "getchallenge\n")), XDP_TX);
	said_parse(&say_);
	n = connect_make(say_.text + 5, connect);
	limited(explained(connect, n, REASON_VALIDATED), ABOUT_OF_VALIDATED,
		CLASS_CHALLENGE, BURST);
	assert_int_equal(sent_action(connect, n), XDP_PASS);
	assert_false(explained(connect, n, REASON_SOURCE_LIMIT)->limited);
	pass_time(3 * SECOND);
	limited(explained(connect, n, REASON_VALIDATED), ABOUT_OF_VALIDATED,
		CLASS_CHALLENGE, BURST);
	/* The server's own number is none of the shield's: the client is validated. */
	n = connect_make("0000012345", connect);
	limited(explained(connect, n, REASON_VALIDATED), ABOUT_OF_VALIDATED,
		CLASS_CONNECT, BURST);
}

static void text_in_a_connect_has_the_limits_of_a_challenge(void **state)
{
	char connect[FRAME_MAX];
	size_t n;

	(void)state;
	validate(FAMILY_NETQUAKE);
	assert_int_equal(sent_action(BYTES(OOB "getchallenge")), XDP_TX);
	said_parse(&say_);
	n = (size_t)snprintf(connect, FRAME_MAX,
			     OOB "connect\\protocol\\darkplaces 3\\challenge\\%.10s",
			     say_.text + 14);
	limited(explained(connect, n, REASON_VALIDATED), ABOUT_OF_VALIDATED,
		CLASS_CHALLENGE, BURST);
	connect[n - 1] = '!';
	limited(explained(connect, n, REASON_WITHIN_LIMITS), ABOUT_OF_CLASS,
		CLASS_UNKNOWN, BURST);
}

/* A request that is challenged within its limits is charged to them all the same. */
static void challenged_request_is_charged(void **state)
{
	(void)state;
	validate(FAMILY_QUAKE3);
	for (__u64 left = BURST; left > 0; left--) {
		limited(explained(BYTES(BARE), REASON_CHALLENGED), ABOUT_OF_CLASS,
			CLASS_CHALLENGE, left);
		assert_int_equal(sent_action(BYTES(BARE)), XDP_TX);
	}
	limited(explained(BYTES(BARE), REASON_CHALLENGED), ABOUT_OF_CLASS,
		CLASS_CHALLENGE, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(returned_echo_has_the_limits_of_its_form),
		TEST(returned_echo_of_an_unlimited_source_has_these_limits),
		TEST(number_in_a_connect_has_the_limits_of_a_challenge),
		TEST(text_in_a_connect_has_the_limits_of_a_challenge),
		TEST(challenged_request_is_charged),
	};

	return explain_tests(tests, COUNT(tests));
}
