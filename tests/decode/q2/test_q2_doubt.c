// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A connection that was joined in the middle: what dialects that fit read differently is
 * a guess and says so, what they read the same is none.
 */
#include "decode/q2/q2_parcel.h"

#define STILL "001040" /* a command that changes nothing */
#define MOVE  "0265000000" STILL STILL
/* Attack, forward 200, as 35 writes it: by 36 forward -14335, which no client sends. */
#define MOVE_35 MOVE "4801c8001040"
/* Forward 256 or 1. */
#define MOVE_OPEN MOVE "480100011040"
/* Of 36 alone. */
#define MOVE_36 "2bd204000040e1624e0040902988531542c059"

static void expect_at(json_t *all, size_t index, const char *key, const char *value)
{
	const char *got =
		json_string_value(json_object_get(json_array_get(all, index), key));

	assert_string_equal(got ? got : "(none)", value);
}

static void run(struct q2_session *q, uint32_t sequence, const char *hex,
		struct record *ret)
{
	struct parcel p = header(sequence, 500);

	put_hex(&p, hex);
	q2_run_datagram(q, DIRECTION_C2S, p.bytes, p.n, ret);
}

static void implausible_speed_rules_out_a_dialect(void **state)
{
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	run(&q, 300, "31" MOVE_35, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"forwardmove\":200"));
	assert_true(q2_says(&r, "\"dialect\":\"r1q2-35\""));
	/* What was open before is not any more. */
	run(&q, 301, "31" MOVE_OPEN, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"forwardmove\":256"));
	q2_session_drop(&q);
}

static void two_plausible_readings_are_a_guess(void **state)
{
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	run(&q, 300, "31" MOVE_OPEN, &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	assert_true(q2_says(&r, "\"dialect_guess\":"));
	assert_false(q2_says(&r, "\"dialect\":"));
	/* Read the same by all: decoded, of a dialect that is still open. */
	run(&q, 301, "31" MOVE STILL, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"dialect_guess\":"));
	run(&q, 302, "31" MOVE_36, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"dialect\":\"q2pro-36\""));
	run(&q, 303, "31" MOVE_OPEN, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"forwardmove\":1,"));
	q2_session_drop(&q);
}

/* The upper byte of a qport of 34 is no stringcmd of 36. */
static void a_nop_behind_a_wide_qport_is_no_command(void **state)
{
	struct q2_session q = { .game = NULL };
	struct record r;

	(void)state;
	run(&q, 300, "570401", &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(r.kind, "client-idle");
	assert_true(q2_says(&r, "\"qport\":1111"));
	/* Two bytes may be a qport, or one and a nop. */
	run(&q, 301, "3101", &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	q2_session_drop(&q);
}

/* 35 calls suppressed what 36 has flags in; what builds on a guess is one. */
static void a_frame_of_35_or_36_is_a_guess(void **state)
{
	struct q2_session q = { .game = NULL };
	struct parcel p;
	struct record r;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		p = header(500 + i, 300);
		put_full_frame(&p);
		q2_run_datagram(&q, DIRECTION_S2C, p.bytes, p.n, &r);
		assert_int_equal(r.status, RECORD_PARTIAL);
		assert_true(q2_says(&r, "\"dialect_guess\":\"q2pro-36\""));
		assert_true(q.game->frames[100 % Q2_FRAMES].guessed);
	}
	run(&q, 300, "31" MOVE_36, &r);
	p = header(502, 300);
	put_full_frame(&p);
	q2_run_datagram(&q, DIRECTION_S2C, p.bytes, p.n, &r);
	/* The dialect is sure; baselines were not seen all the same. */
	assert_true(q2_says(&r, "\"dialect\":\"q2pro-36\""));
	assert_string_equal(r.reason, "entity from a baseline that was not seen");
	q2_session_drop(&q);
}

/* The first frame waits for the move that tells its dialect; a connection of one side
 * waits for no more than eight datagrams. */
static void a_later_move_mends_the_first_frame(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct parcel p;
	json_t *all;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		p = header(500 + i, 300 + i);
		put_full_frame(&p);
		s2c(h, &p);
		p = header(301 + i, 500 + i);
		put_hex(&p, i < 3 ? "31" MOVE STILL : "31" MOVE_35);
		c2s(h, &p);
	}
	all = harness_close(h);
	assert_int_equal(json_array_size(all), 12);
	for (size_t i = 0; i < 12; i++)
		expect_at(all, i, "dialect", "r1q2-35");
	json_decref(all);
	h = harness_open(FAMILY_AUTO);
	for (uint32_t i = 0; i < 30; i++) {
		p = header(500 + i, 300 + i);
		put_full_frame(&p);
		s2c(h, &p);
	}
	all = harness_close(h);
	assert_int_equal(json_array_size(all), 30);
	for (size_t i = 0; i < 30; i++)
		expect_at(all, i, "dialect_guess", "q2pro-36");
	json_decref(all);
}

/* A server of 35 says the highest that it knows, not what the client writes. */
static void serverdata_of_35_leaves_moves_open(void **state)
{
	struct q2_session q = { .game = NULL };
	struct parcel p = header(1 | 1U << 31, 1);
	struct record r;

	(void)state;
	put(&p, "\x0c\x23\0\0\0\x01\0\0\0\0baseq2\0\0\0lab\0\0\x71\x07\0\0", 28);
	q2_run_datagram(&q, DIRECTION_S2C, p.bytes, p.n, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	run(&q, 2, "31" MOVE_OPEN, &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	assert_true(q2_says(&r, "\"dialect\":\"r1q2-35\""));
	run(&q, 3, "31" MOVE_35, &r);
	run(&q, 4, "31" MOVE_OPEN, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_true(q2_says(&r, "\"forwardmove\":256"));
	q2_session_drop(&q);
}

/* Ways of q2_guess.c: the client's of 36 are 2 and 3, the first of its server's is 8. */
static void a_guess_keeps_what_is_left_of_the_other_direction(void **state)
{
	const struct q2_guess move = { .direction = DIRECTION_C2S, .fit = 1U << 2 };
	uint32_t all = q2_guess_protocol(36);

	(void)state;
	assert_int_equal(q2_guess_narrow(1U << 0 | 1U << 2 | 1U << 8, &move),
			 1U << 2 | 1U << 8);
	/* If none is left, all of the protocol are open again. */
	assert_int_equal(q2_guess_narrow(1U << 2, &move), all & ~(1U << 3));
	/* The same if the guess contradicts all that was left. */
	assert_int_equal(q2_guess_narrow(1U << 0 | 1U << 1, &move), all & ~(1U << 3));
	assert_int_equal(q2_guess_narrow(0, &move), all & ~(1U << 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(implausible_speed_rules_out_a_dialect),
		cmocka_unit_test(two_plausible_readings_are_a_guess),
		cmocka_unit_test(a_nop_behind_a_wide_qport_is_no_command),
		cmocka_unit_test(a_frame_of_35_or_36_is_a_guess),
		cmocka_unit_test(a_later_move_mends_the_first_frame),
		cmocka_unit_test(serverdata_of_35_leaves_moves_open),
		cmocka_unit_test(a_guess_keeps_what_is_left_of_the_other_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
