// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The numbers of the counters: each pair that can happen has one of its own, and those
 * that counters.h leaves out cannot happen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "counters.h"

static enum direction way(int i)
{
	return i ? DIRECTION_S2C : DIRECTION_C2S;
}

static void every_pair_has_its_own(void **state)
{
	static int used[COUNTERS];
	unsigned int count = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			for (int kind = 0; kind < KIND_COUNT; kind++) {
				__u32 n = counter_number(way(i), (enum wire_kind)kind,
							 (enum reason)reason);

				if (n == COUNTERS)
					continue;
				assert_in_range(n, 0, COUNTERS - 1);
				assert_int_equal(n / COUNTER_CELLS >= COUNTER_ROWS_IN, i);
				assert_int_equal(used[n]++, 0);
				count++;
			}
		}
	}
	/* But for the gap between what is received and what is sent, all are used. */
	assert_int_equal(count, COUNTERS - (COUNTERS_OUT_FROM - COUNTERS_IN));
	assert_int_equal(counter_number(DIRECTION_C2S, KIND_COUNT, REASON_WITHIN_LIMITS),
			 COUNTERS);
	assert_int_equal(counter_number(DIRECTION_C2S, KIND_RUNT, REASON_COUNT),
			 COUNTERS);
	assert_int_equal(counter_number(DIRECTION_S2C, KIND_RUNT, REASON_COUNT),
			 COUNTERS);
}

static bool counted(enum direction direction, int kind, enum reason reason)
{
	return counter_number(direction, (enum wire_kind)kind, reason) < COUNTERS;
}

/* Whoever would join may be asked for proof, or to ask again. */
static void asks_are_counted(int kind)
{
	static const enum reason reasons[] = { REASON_VALIDATED, REASON_CHALLENGED,
					       REASON_GREYLISTED, REASON_ADDRESS_IN_USE };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		assert_true(counted(DIRECTION_C2S, kind, reasons[i]));
	assert_true(counted(DIRECTION_S2C, kind, REASON_CHALLENGED));
}

/* What admit() and egress_decide() say of a kind follows from its class. */
static void what_can_happen_is_counted(void **state)
{
	static const enum reason any[] = {
		REASON_WITHIN_LIMITS, REASON_ALLOW_LIST,   REASON_DENY_LIST,
		REASON_SOURCE_LIMIT,  REASON_PREFIX_LIMIT, REASON_SERVICE_LIMIT,
		REASON_CONTENDED,
	};
	static const enum reason out[] = { REASON_WITHIN_LIMITS, REASON_EXEMPT,
					   REASON_AMPLIFICATION };

	(void)state;
	for (int family = 0; family < FAMILY_COUNT; family++) {
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			enum wire_class class = wire_class((enum wire_family)family,
							   (enum wire_kind)kind);

			for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
				assert_true(counted(DIRECTION_C2S, kind, any[i]));
			for (size_t i = 0; i < sizeof(out) / sizeof(*out); i++)
				assert_true(counted(DIRECTION_S2C, kind, out[i]));
			if (class == CLASS_NETCHAN) {
				assert_true(counted(DIRECTION_C2S, kind, REASON_PLAYER));
				assert_true(counted(DIRECTION_S2C, kind, REASON_PLAYER));
				assert_true(counted(DIRECTION_C2S, kind,
						    REASON_PLAYER_LIMIT));
				assert_true(counted(DIRECTION_C2S, kind,
						    REASON_PLAYER_MISMATCH));
				assert_true(counted(DIRECTION_C2S, kind,
						    REASON_ADDRESS_IN_USE));
			}
			if (class == CLASS_CHALLENGE || class == CLASS_CONNECT)
				asks_are_counted(kind);
			if (class >= CLASS_BUDGETS)
				assert_true(counted(DIRECTION_C2S, kind, REASON_POLICY));
			if (class == CLASS_REPLY)
				assert_true(counted(DIRECTION_C2S, kind,
						    REASON_REPLY_TO_SERVER));
			if (class == CLASS_MALFORMED)
				assert_true(
					counted(DIRECTION_C2S, kind, REASON_MALFORMED));
			if (class == CLASS_FRAGMENT)
				assert_true(
					counted(DIRECTION_C2S, kind, REASON_FRAGMENT));
		}
	}
}

/* Game traffic is what a server sends to players: see kind_is_game(). */
static void games_are_counted_as_they_leave(void **state)
{
	static const enum wire_kind games[] = {
		KIND_NETCHAN,	   KIND_NETCHAN_FRAGMENT, KIND_DTLS_DATA,
		KIND_NQ_ENCRYPTED, KIND_NQ_RELIABLE,	  KIND_NQ_UNRELIABLE,
		KIND_NQ_ACK,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(games) / sizeof(*games); i++)
		assert_true(counted(DIRECTION_S2C, (int)games[i], REASON_PLAYER));
}

static void rows_are_sorted(void **state)
{
	static struct counter_row rows[COUNTER_ROWS];
	static struct counters in, out;

	(void)state;
	for (__u32 row = 0; row < COUNTER_ROWS; row++) {
		for (__u32 i = 0; i < COUNTER_CELLS; i++)
			rows[row].cells[i] =
				(struct counter){ row * COUNTER_CELLS + i, 7 };
		rows[row].unverified = (struct volume){ 1, 10 };
	}
	counters_sort(rows, DIRECTION_C2S, &in);
	counters_sort(rows, DIRECTION_S2C, &out);
	assert_int_equal(in.by[KIND_GETSTATUS][REASON_SERVICE_LIMIT].packets,
			 counter_number(DIRECTION_C2S, KIND_GETSTATUS,
					REASON_SERVICE_LIMIT));
	assert_int_equal(out.by[KIND_GETSTATUS][REASON_AMPLIFICATION].packets,
			 counter_number(DIRECTION_S2C, KIND_GETSTATUS,
					REASON_AMPLIFICATION));
	assert_int_equal(out.by[KIND_GETSTATUS][REASON_AMPLIFICATION].bytes, 7);
	assert_int_equal(in.by[KIND_GETSTATUS][REASON_EXEMPT].packets, 0);
	assert_int_equal(in.by[KIND_GETSTATUS][REASON_PLAYER].bytes, 0);
	assert_int_equal(in.unverified.payload, COUNTER_ROWS_IN);
	assert_int_equal(out.unverified.wire, 10 * (COUNTER_ROWS - COUNTER_ROWS_IN));
}

/* Short frames are padded on the wire, and each has a checksum, a preamble and a gap. */
static void what_a_frame_occupies(void **state)
{
	static const struct {
		__u64 bytes, wire;
	} rows[] = { { 0, 84 },	 { 42, 84 },   { 59, 84 },    { 60, 84 },
		     { 61, 85 }, { 100, 124 }, { 1514, 1538 } };
	static struct counters t;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(wire_bytes(rows[i].bytes), rows[i].wire);
	/* Of all reasons but a player's, whatever becomes of it. */
	t.unverified = (struct volume){ .payload = 5, .wire = 18 };
	t.by[KIND_GETSTATUS][REASON_WITHIN_LIMITS] = (struct counter){ 1, 42 };
	t.by[KIND_GETSTATUS][REASON_DENY_LIST] = (struct counter){ 2, 200 };
	t.by[KIND_NETCHAN][REASON_PLAYER_MISMATCH] = (struct counter){ 1, 100 };
	t.by[KIND_NETCHAN][REASON_PLAYER] = (struct counter){ 1000, 100000 };
	volume_complete(&t);
	assert_int_equal(t.unverified.payload, 5);
	assert_int_equal(t.unverified.wire, 84 + 2 * 124 + 124);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_has_its_own),
		cmocka_unit_test(what_can_happen_is_counted),
		cmocka_unit_test(games_are_counted_as_they_leave),
		cmocka_unit_test(rows_are_sorted),
		cmocka_unit_test(what_a_frame_occupies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
