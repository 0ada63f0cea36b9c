// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_score.c - how many signs are enough, and how far ahead of the next family one has
 * to be. The families are the test's own: each claims what it is told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/identify.h"

/* --- families that claim what they are told ------------------------------------------
 */

static struct claim {
	int weight;
	enum direction direction;
} told[FAMILY_COUNT];

#define AS_CLAIMS(id, name, symbol)                                                  \
	static int symbol##_claims(const struct glance *glance, struct span payload, \
				   enum direction *ret)                              \
	{                                                                            \
		(void)glance;                                                        \
		(void)payload;                                                       \
		if (told[FAMILY_##id].direction != DIRECTION_UNKNOWN)                \
			*ret = told[FAMILY_##id].direction;                          \
		return told[FAMILY_##id].weight;                                     \
	}
WIRE_PROTOCOLS(AS_CLAIMS)
#undef AS_CLAIMS

static const struct family ours[FAMILY_COUNT] = {
#define AS_ROW(name_, name, symbol) \
	[FAMILY_##name_] = { .id = FAMILY_##name_, .claims = symbol##_claims },
	WIRE_PROTOCOLS(AS_ROW)
#undef AS_ROW
};

const struct family *family_of(enum wire_family id)
{
	return id < FAMILY_AUTO ? &ours[id] : NULL;
}

/* --- a session -----------------------------------------------------------------------
 */

static struct session session;
static uint8_t sequence;

static int begin(void **state)
{
	(void)state;
	session = (struct session){ .family = FAMILY_AUTO };
	sequence = 0;
	for (int f = 0; f < FAMILY_COUNT; f++)
		told[f] = (struct claim){ 0, DIRECTION_UNKNOWN };
	return 0;
}

/* One more datagram of the low end's, that is in order. The first says nothing. */
static void next(void)
{
	const uint8_t payload[8] = { ++sequence };

	score_sequenced(&session, payload, sizeof(payload), true);
}

static void some(int n)
{
	while (n--)
		next();
}

static void six_votes_are_enough(void **state)
{
	(void)state;
	told[FAMILY_QUAKE2].weight = 1;
	some(1 + 5);
	assert_false(session.certain);
	next();
	assert_true(session.certain);
	assert_int_equal(session.family, FAMILY_QUAKE2);
}

/* Whichever of the two comes first in the table. */
static void alike_is_undecided(void **state)
{
	(void)state;
	for (int other = FAMILY_QUAKE2; other <= FAMILY_QUAKE3; other++) {
		begin(NULL);
		told[FAMILY_QUAKEWORLD].weight = 2;
		told[other].weight = 2;
		some(50);
		assert_false(session.certain);
		assert_int_equal(session.family, FAMILY_AUTO);
	}
}

/* Twice as many as the next has are enough, and less is not. */
static void twice_the_next_is_ahead(void **state)
{
	(void)state;
	told[FAMILY_QUAKE3].weight = 2;
	told[FAMILY_QUAKEWORLD].weight = 1;
	some(1 + 2);
	assert_false(session.certain);
	next();
	assert_true(session.certain);
	assert_int_equal(session.family, FAMILY_QUAKE3);

	begin(NULL);
	told[FAMILY_QUAKE3].weight = 7;
	told[FAMILY_QUAKEWORLD].weight = 4;
	some(50);
	assert_false(session.certain);
}

/* Signs of who serves that contradict each other come to nothing, whoever is ahead. */
static void who_serves_takes_six(void **state)
{
	static const enum direction ways[] = { DIRECTION_S2C, DIRECTION_C2S };

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(NULL);
		told[FAMILY_QUAKE2] = (struct claim){ 1, ways[i] };
		some(1 + 5);
		assert_false(session.server_known);
		next();
		assert_true(session.server_known);
		assert_int_equal(session.server_is_low, ways[i] == DIRECTION_S2C);
	}
	begin(NULL);
	told[FAMILY_QUAKE2] = (struct claim){ 3, DIRECTION_S2C };
	told[FAMILY_QUAKE3] = (struct claim){ 3, DIRECTION_C2S };
	some(50);
	assert_false(session.server_known);
}

/* What is known to be none of ours is asked no more. */
static void nobody_votes_for_foreigners(void **state)
{
	(void)state;
	told[FAMILY_QUAKE2] = (struct claim){ 6, DIRECTION_S2C };
	session.foreign = true;
	some(10);
	assert_false(session.certain);
	assert_false(session.server_known);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(six_votes_are_enough),	   TEST(alike_is_undecided),
		TEST(twice_the_next_is_ahead),	   TEST(who_serves_takes_six),
		TEST(nobody_votes_for_foreigners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
