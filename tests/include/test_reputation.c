// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who gets known, who stays so, and what invented addresses make of the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reputation.h"

#define MINUTE 50000u

static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
			       0x165667b19e3779f9 };
static struct reputation_table table;

static void note(__u64 net, __u32 minute)
{
	reputation_note(&table, net, 60, 0, minute, keys);
}

static bool good(__u64 net, __u32 minute)
{
	return reputation_good(reputation_find(&table, net, keys), minute);
}

static int forget(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	return 0;
}

static void three_minutes_make_known(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		note(7, MINUTE);
	note(7, MINUTE + 1);
	assert_false(good(7, MINUTE + 1));
	note(7, MINUTE + 9);
	assert_true(good(7, MINUTE + 9));
	assert_true(good(7, MINUTE + 9 + REPUTATION_AGE - 1));
	assert_false(good(7, MINUTE + 9 + REPUTATION_AGE));
	assert_false(good(8, MINUTE + 9));
	/* After that it begins anew. */
	note(7, MINUTE + 9 + REPUTATION_AGE);
	assert_false(good(7, MINUTE + 9 + REPUTATION_AGE));
}

static void a_clock_that_is_behind_is_no_age(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 3; i++)
		note(7, MINUTE + i);
	assert_true(good(7, MINUTE));
}

static void distance_counts(void **state)
{
	__u64 state_;

	(void)state;
	for (__u32 i = 0; i < 3; i++)
		note(7, MINUTE + i);
	state_ = reputation_find(&table, 7, keys);
	for (__u32 hops = 0; hops < 256; hops++)
		assert_int_equal(reputation_near(state_, hops), hops >= 58 && hops <= 62);
	reputation_note(&table, 9, 0, REPUTATION_PLAYER, MINUTE, keys);
	assert_true(good(9, MINUTE));
	assert_true(reputation_near(reputation_find(&table, 9, keys), 255));
}

/* Each entry has the tag of its address, and few others have one of its bucket. */
static void each_entry_has_its_tag(void **state)
{
	const __u8 *tags = (const __u8 *)table.tags;
	__u32 entered = 0, alike = 0;

	(void)state;
	for (__u64 net = 1; net <= REPUTATION_MAX; net++)
		note(net << 8, MINUTE);
	for (__u32 i = 0; i < REPUTATION_MAX; i++) {
		__u64 hash = reputation_hash(table.cells[i].net, keys);

		assert_int_equal(tags[i],
				 table.cells[i].state ? reputation_tag(hash) : 0);
		assert_true(!table.cells[i].state ||
			    (tags[i] && reputation_bucket(hash) == i / REPUTATION_WAYS &&
			     reputation_find(&table, table.cells[i].net, keys)));
		entered += table.cells[i].state != 0;
	}
	assert_in_range(entered, REPUTATION_MAX / 2, REPUTATION_MAX);
	for (__u64 i = 1; i <= 100000; i++) {
		__u64 net = (i * i << 8 | 1) & 0xffffffff,
		      hash = reputation_hash(net, keys);

		alike += tags_like(table.tags[reputation_bucket(hash)],
				   reputation_tag(hash)) != 0;
		assert_int_equal(reputation_find(&table, net, keys), 0);
	}
	assert_in_range(alike, 1, 2000);
}

/* A tag that is found in no other place of four, and in none of its neighbours. */
static void a_tag_is_found_in_each_place(void **state)
{
	(void)state;
	for (__u64 tag = 1; tag < 256; tag++)
		for (int way = 0; way < 4; way++) {
			__u64 other = tag ^ 1 ? tag ^ 1 : 2;

			assert_true(tags_like(tag << 8 * way, tag));
			assert_true(
				tags_like((0x01010101 * other & ~(0xffull << 8 * way)) |
						  tag << 8 * way,
					  tag));
			assert_false(tags_like(0x01010101 * other, tag));
			assert_false(tags_like(0, tag));
		}
}

/* One question in its name from elsewhere moves nobody; a day of silence does, then. */
static void who_is_known_keeps_its_distance(void **state)
{
	__u32 minute = MINUTE, hops;

	(void)state;
	for (__u32 i = 0; i < 3; i++)
		note(7, minute++);
	for (int i = 0; i < 600; i++, minute++) {
		reputation_note(&table, 7, 30, 0, minute, keys);
		if (i % 100 == 0)
			note(7, minute);
	}
	/* Nor does one that goes step by step. */
	for (hops = 60; hops < 100; hops++)
		reputation_note(&table, 7, hops, 0, minute++, keys);
	for (hops = 0; hops < 256; hops++)
		assert_int_equal(reputation_near(reputation_find(&table, 7, keys), hops),
				 hops >= 58 && hops <= 62);
	note(7, minute);
	assert_true(good(7, minute + REPUTATION_STAYS));
	for (__u32 i = 0; i < 3; i++) {
		reputation_note(&table, 7, 30, 0, minute + REPUTATION_STAYS + i, keys);
		assert_true(good(7, minute + REPUTATION_STAYS + i));
		/* Its earlier minutes do not count at the other distance. */
		assert_int_equal(reputation_minutes(reputation_find(&table, 7, keys)),
				 REPUTATION_MINUTES + i);
	}
	assert_true(reputation_near(reputation_find(&table, 7, keys), 30));
	/* Who proves itself there may be another behind the same address, but for who has
	 * been silent for a day. */
	minute += REPUTATION_STAYS + 2;
	reputation_note(&table, 7, 60, REPUTATION_VALIDATED,
			minute + REPUTATION_STAYS - 1, keys);
	assert_true(reputation_near(reputation_find(&table, 7, keys), 30));
	assert_true(reputation_validated(reputation_find(&table, 7, keys),
					 minute + REPUTATION_STAYS - 1));
	minute += REPUTATION_STAYS - 1;
	reputation_note(&table, 7, 60, REPUTATION_VALIDATED, minute + REPUTATION_STAYS,
			keys);
	assert_true(reputation_near(reputation_find(&table, 7, keys), 60));
	assert_true(good(7, minute + REPUTATION_STAYS + 10));
}

/*
 * To one service, until it proves itself to another as well: then to all, lest the second
 * proof, by whoever it is, take away what the first is good for. A player's entry does
 * not part who is there from that.
 */
static void a_proof_is_to_one_service(void **state)
{
	(void)state;
	for (__u32 slot = 0; slot < 256; slot += 255) {
		__u32 minute = MINUTE + slot;

		reputation_note(&table, 7, 60, REPUTATION_VALIDATED_AT(slot), minute,
				keys);
		reputation_note(&table, 7, 60, REPUTATION_VALIDATED_AT(slot), minute + 1,
				keys);
		for (__u32 other = 0; other < 256; other++)
			assert_int_equal(
				reputation_validated_at(reputation_find(&table, 7, keys),
							minute + 2, other),
				other == slot);
	}
	reputation_note(&table, 8, 60, REPUTATION_VALIDATED_AT(3), MINUTE, keys);
	reputation_note(&table, 8, 60, REPUTATION_VALIDATED_AT(4), MINUTE + 1, keys);
	reputation_note(&table, 8, 60, REPUTATION_VALIDATED_AT(4), MINUTE + 2, keys);
	for (__u32 other = 0; other < 256; other++)
		assert_true(reputation_validated_at(reputation_find(&table, 8, keys),
						    MINUTE + 3, other));
	reputation_note(&table, 8, 60, REPUTATION_VALIDATED_AT(5), MINUTE + 4, keys);
	assert_false(
		reputation_validated_at(reputation_find(&table, 8, keys), MINUTE + 4, 4));
	memset(&table, 0, sizeof(table));
	reputation_note(&table, 7, 60, REPUTATION_VALIDATED_AT(255), MINUTE, keys);
	reputation_note(&table, 7, 60, REPUTATION_PLAYER, MINUTE + 1, keys);
	assert_true(reputation_validated_at(reputation_find(&table, 7, keys), MINUTE + 1,
					    255));
	assert_false(reputation_validated_at(reputation_find(&table, 7, keys), MINUTE + 2,
					     255));
	note(7, MINUTE + 9);
	assert_false(reputation_validated_at(reputation_find(&table, 7, keys), MINUTE + 9,
					     255));
	assert_true(good(7, MINUTE + 9));
}

/* Who has played is one like others, two weeks later. */
static void playing_is_forgotten(void **state)
{
	__u64 late;

	(void)state;
	reputation_note(&table, 7, 0, REPUTATION_PLAYER, MINUTE, keys);
	assert_true(good(7, MINUTE + REPUTATION_AGE - 1));
	note(7, MINUTE + REPUTATION_AGE);
	late = reputation_find(&table, 7, keys);
	assert_false(reputation_known(late, MINUTE + REPUTATION_AGE));
	assert_false(reputation_flags(late) & REPUTATION_PLAYER);
}

/* Addresses as chance has them: neighbours are hashed too evenly. */
static __u64 somebody(__u64 number)
{
	number = (number + 1) * 0x9e3779b97f4a7c15;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	return number >> 35 << 8 | 1;
}

/* Ten times as many invented ones as there is room for, each often enough to be known. */
static void who_is_known_is_not_pushed_out(void **state)
{
	unsigned int kept = 0;

	(void)state;
	for (__u64 i = 0; i < 4000; i++)
		for (__u32 minute = 0; minute < 3; minute++)
			note(somebody(i), MINUTE + minute);
	for (__u64 i = 0; i < 4000; i++)
		kept += good(somebody(i), MINUTE + 3);
	/* All that found a place: in a quarter of the buckets a dozen would not. */
	assert_true(kept > 3996);
	for (__u64 net = 1ull << 40; net < (1ull << 40) + 10 * REPUTATION_MAX; net++)
		for (__u32 i = 10; i < 13; i++)
			note(net, MINUTE + i);
	for (__u64 i = 0; i < 4000; i++)
		kept -= good(somebody(i), MINUTE + 20);
	assert_int_equal(kept, 0);
}

/* And those who are not known yet make room for the next. */
static void who_asked_once_makes_room(void **state)
{
	(void)state;
	for (__u64 net = 1 << 20; net < (1 << 20) + 10 * REPUTATION_MAX; net++)
		note(net, MINUTE);
	for (__u32 i = 1; i < 4; i++)
		note(7, MINUTE + i);
	assert_true(good(7, MINUTE + 4));
}

/* For this minute and the next; then it makes room, and asking made it no pollster. */
static void a_proof_lasts_two_minutes(void **state)
{
	(void)state;
	reputation_note(&table, 7, 60, REPUTATION_VALIDATED, MINUTE, keys);
	assert_true(good(7, MINUTE));
	assert_true(good(7, MINUTE + 1));
	assert_false(good(7, MINUTE + 2));
	assert_false(reputation_known(reputation_find(&table, 7, keys), MINUTE));
	assert_true(reputation_eviction(reputation_find(&table, 7, keys), MINUTE + 1) ==
		    0);
	assert_true(reputation_eviction(reputation_find(&table, 7, keys), MINUTE + 2) >
		    0);
	/* It does not take away what somebody was. */
	for (__u32 i = 0; i < 3; i++)
		note(8, MINUTE + i);
	reputation_note(&table, 8, 60, REPUTATION_VALIDATED, MINUTE + 5, keys);
	assert_true(reputation_known(reputation_find(&table, 8, keys), MINUTE + 100));
	assert_false(
		reputation_validated(reputation_find(&table, 8, keys), MINUTE + 100));
}

/*
 * Whoever asks in the name of who has proven something does not make that last; and
 * proofs, of which there may be many in a flood, are no questions of quiet minutes.
 */
static void a_proof_is_not_renewed_by_asking(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 200; i++) {
		reputation_note(&table, 7, 60, REPUTATION_VALIDATED, MINUTE + i, keys);
		assert_true(good(7, MINUTE + i));
		assert_false(
			reputation_known(reputation_find(&table, 7, keys), MINUTE + i));
	}
	reputation_note(&table, 9, 60, REPUTATION_VALIDATED, MINUTE, keys);
	for (int i = 0; i < 20; i++)
		note(9, MINUTE);
	note(9, MINUTE + 1);
	assert_true(reputation_validated(reputation_find(&table, 9, keys), MINUTE + 1));
	assert_false(reputation_known(reputation_find(&table, 9, keys), MINUTE + 1));
	for (__u32 i = 2; i < 9; i++) {
		note(9, MINUTE + i);
		assert_false(reputation_validated(reputation_find(&table, 9, keys),
						  MINUTE + i));
	}
	/* Nor does somebody's playing there, who is noted each minute. */
	reputation_note(&table, 11, 60, REPUTATION_VALIDATED, MINUTE, keys);
	for (__u32 i = 0; i < 5; i++) {
		reputation_note(&table, 11, 0, REPUTATION_PLAYER, MINUTE + i, keys);
		assert_int_equal(reputation_validated(reputation_find(&table, 11, keys),
						      MINUTE + i),
				 i < 2);
		assert_true(
			reputation_known(reputation_find(&table, 11, keys), MINUTE + i));
	}
	/* By then it has asked often enough, and may be followed by a proof again. */
	assert_true(reputation_known(reputation_find(&table, 9, keys), MINUTE + 9));
	reputation_note(&table, 9, 60, REPUTATION_VALIDATED, MINUTE + 9, keys);
	reputation_note(&table, 9, 0, REPUTATION_PLAYER, MINUTE + 10, keys);
	assert_true(reputation_validated(reputation_find(&table, 9, keys), MINUTE + 10));
	assert_true(reputation_known(reputation_find(&table, 9, keys), MINUTE + 10));
}

/* No network is taken for an address, nor for another network. */
static void networks_have_names_of_their_own(void **state)
{
	(void)state;
	assert_true(reputation_network(0xc0000207) == reputation_network(0xc00002ff));
	assert_true(reputation_network(0xc0000207) != reputation_network(0xc0000307));
	assert_true(reputation_network(0xc0000207) >> 32 == 1);
	assert_true(reputation_network(0x20010db800010002) ==
		    reputation_network(0x20010db8000100ff));
	assert_true(reputation_network(0x20010db800010002) !=
		    reputation_network(0x20010db800010102));
	assert_true(reputation_network(0x20010db800010002) >> 56 == 0);
	assert_true(reputation_network(0x20010db800010002) >> 33 != 0);
	reputation_note(&table, reputation_network(0xc0000207), 0, REPUTATION_NETWORK,
			MINUTE, keys);
	assert_true(reputation_known(
		reputation_find(&table, reputation_network(0xc0000299), keys), MINUTE));
	assert_false(good(0xc0000207, MINUTE));
	assert_true(reputation_is_network(reputation_network(0xc0000207)));
	assert_true(reputation_is_network(reputation_network(0x20010db800010002)));
	assert_false(reputation_is_network(0xc0000207));
	assert_false(reputation_is_network(0x20010db800010002));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(three_minutes_make_known, forget),
		cmocka_unit_test_setup(each_entry_has_its_tag, forget),
		cmocka_unit_test_setup(a_tag_is_found_in_each_place, forget),
		cmocka_unit_test_setup(a_clock_that_is_behind_is_no_age, forget),
		cmocka_unit_test_setup(distance_counts, forget),
		cmocka_unit_test_setup(who_is_known_keeps_its_distance, forget),
		cmocka_unit_test_setup(playing_is_forgotten, forget),
		cmocka_unit_test_setup(who_is_known_is_not_pushed_out, forget),
		cmocka_unit_test_setup(who_asked_once_makes_room, forget),
		cmocka_unit_test_setup(a_proof_lasts_two_minutes, forget),
		cmocka_unit_test_setup(a_proof_is_not_renewed_by_asking, forget),
		cmocka_unit_test_setup(a_proof_is_to_one_service, forget),
		cmocka_unit_test_setup(networks_have_names_of_their_own, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
