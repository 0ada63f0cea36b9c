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
					       REASON_GREYLISTED, REASON_PLAYER_SLOTS };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		assert_true(counted(DIRECTION_C2S, kind, reasons[i]));
}

/* Kinds that the programs handle by name have the counters of what is said of them. */
static void what_has_a_name_is_counted(void **state)
{
	static const struct {
		enum direction direction;
		enum wire_kind kind;
		enum reason reason;
	} rows[] = {
		{ DIRECTION_C2S, KIND_ECHO_RETURN, REASON_VALIDATED },
		{ DIRECTION_C2S, KIND_ECHO_RETURN, REASON_INVALID_COOKIE },
		{ DIRECTION_C2S, KIND_COALESCED, REASON_MALFORMED },
		{ DIRECTION_C2S, KIND_FRAGMENT, REASON_FRAGMENT },
		/* player_address_check() */
		{ DIRECTION_C2S, KIND_RAW_NACK, REASON_PLAYER_MISMATCH },
		{ DIRECTION_C2S, KIND_DTLS_HEARTBEAT, REASON_PLAYER_MISMATCH },
		{ DIRECTION_C2S, KIND_CCREQ_CONNECT, REASON_ADDRESS_IN_USE },
		{ DIRECTION_C2S, KIND_CCREP_RCON, REASON_ADDRESS_IN_USE },
		{ DIRECTION_C2S, KIND_DTLS_CLIENT_HELLO, REASON_ADDRESS_IN_USE },
		{ DIRECTION_C2S, KIND_DTLS_CLIENT_KEY, REASON_ADDRESS_IN_USE },
		/* challenges */
		{ DIRECTION_S2C, KIND_ECHO, REASON_CHALLENGED },
		{ DIRECTION_S2C, KIND_S2C_CHALLENGE, REASON_CHALLENGED },
		{ DIRECTION_S2C, KIND_CHALLENGE, REASON_CHALLENGED },
		/* KIND_CHALLENGES, KIND_HANDSHAKE */
		{ DIRECTION_S2C, KIND_CHALLENGERESPONSE, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_CONNECTRESPONSE, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_S2C_CONNECTION, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_CLIENT_CONNECT, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_ACCEPT, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_D0PK, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_CCREP_ACCEPT, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_HELLO_VERIFY, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_SERVER_HELLO, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_SERVER_KEY, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_HELLO_DONE, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_SESSION_TICKET, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_CCS, REASON_VALIDATED },
		{ DIRECTION_S2C, KIND_DTLS_ENCRYPTED, REASON_VALIDATED },
		/* the requests of user/cache/cache_request.c */
		{ DIRECTION_S2C, KIND_INFORESPONSE, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_STATUSRESPONSE, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_CCREP_SERVER_INFO, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_A2C_PRINT, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_RAW_ACK, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_INFO, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_PRINT, REASON_CACHED_RESPONSE },
		{ DIRECTION_S2C, KIND_ACK, REASON_CACHED_RESPONSE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!counted(rows[i].direction, (int)rows[i].kind, rows[i].reason))
			fail_msg("row %zu has no counter", i);
}

static void queries_are_counted(enum wire_family family, int kind)
{
	static const enum reason reasons[] = {
		REASON_AMPLIFICATION,	  REASON_CACHED_PLAYER,
		REASON_CACHED_ALLOW_LIST, REASON_CACHED_VALIDATED,
		REASON_CACHED_KNOWN,	  REASON_CACHED_PREFIX,
		REASON_CACHED_RECURRING,  REASON_CACHED_IN_LIMITS,
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		assert_true(!kind_cacheable(family, (enum wire_kind)kind) ||
			    counted(DIRECTION_C2S, kind, reasons[i]));
}

/* The class of a kind decides what admit() and egress_charge() may say of it. */
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
			}
			/* A master validates no address, and has no players. */
			if ((class == CLASS_CHALLENGE || class == CLASS_CONNECT) &&
			    family != FAMILY_MASTER)
				asks_are_counted(kind);
			if (kind_takes_part((enum wire_family)family,
					    (enum wire_kind)kind)) {
				assert_true(
					counted(DIRECTION_C2S, kind, REASON_VALIDATED));
				assert_true(
					counted(DIRECTION_C2S, kind, REASON_CHALLENGED));
			}
			queries_are_counted((enum wire_family)family, kind);
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

/* Game traffic is what a server sends to players: see KIND_GAME. */
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
	static struct counter_sums rows[COUNTER_ROWS];
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

/* The words of two processors are added to the sum. */
static void processors_are_added(void **state)
{
	static const struct counter_row rows[2] = {
		{ .cells = { [3] = 700 * COUNTER_BYTE + 7, [63] = COUNTER_BYTE - 1 },
		  .unverified = { 1, 2 } },
		/* One word is full to its last bit. */
		{ .cells = { [3] = ~0ull, [5] = COUNTER_BYTE },
		  .unverified = { 10, 20 } },
	};
	struct counter_sums sums = { .cells = { [3] = { 1ull << 60, 1ull << 61 } } };

	(void)state;
	counter_sums_add(&sums, &rows[0]);
	counter_sums_add(&sums, &rows[1]);
	assert_int_equal(sums.cells[3].packets, (1ull << 60) + 7 + (1 << 29) - 1);
	assert_int_equal(sums.cells[3].bytes, (1ull << 61) + 700 + (1ull << 35) - 1);
	assert_int_equal(sums.cells[63].packets, COUNTER_BYTE - 1);
	assert_int_equal(sums.cells[63].bytes, 0);
	assert_int_equal(sums.cells[5].packets, 0);
	assert_int_equal(sums.cells[5].bytes, 1);
	assert_int_equal(sums.cells[4].packets, 0);
	assert_int_equal(sums.unverified.payload, 11);
	assert_int_equal(sums.unverified.wire, 22);
}

/* The counters of a service have a bound on each processor, and their sums one. */
static void counters_are_small(void **state)
{
	(void)state;
	assert_in_range(COUNTER_ROWS * sizeof(struct counter_row), 1, 20000);
	assert_in_range(COUNTER_ROWS * sizeof(struct counter_sums), 1, 40000);
	/* The counter of the pairs that cannot happen is in a row, too. */
	assert_in_range(COUNTERS, 0, COUNTER_ROWS * COUNTER_CELLS - 1);
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
	/* shield() has counted the buffer by another kind. */
	t.by[KIND_COALESCED][REASON_MALFORMED] = (struct counter){ 1, 3000 };
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
		cmocka_unit_test(what_has_a_name_is_counted),
		cmocka_unit_test(rows_are_sorted),
		cmocka_unit_test(processors_are_added),
		cmocka_unit_test(counters_are_small),
		cmocka_unit_test(what_a_frame_occupies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
