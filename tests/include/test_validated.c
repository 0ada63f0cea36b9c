// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of validated clients as arithmetic: who is entered is found for a minute, and
 * nobody else; when there is no room, the invited and those unused for long make some.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "validated.h"

#define NOW    (1ull << 50)
#define SECOND 1000000000ull

static struct validated_table *table;
static const __u64 keys[3] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
			       0x165667b19e3779f9 };

static int enter(void **state)
{
	(void)state;
	table = calloc(1, sizeof(*table));
	return !table;
}

static int leave(void **state)
{
	(void)state;
	free(table);
	return 0;
}

static struct cookie_peer nth(__u32 i)
{
	return (struct cookie_peer){ { i & 1 ? 0x20010db8ull << 32 | i : 0,
				       0xffff0000ull | (__u64)htonl(0x0a000000 + i) << 32,
				       /* what stands above is no part of the name */
				       7ull << 32 | (i % 5) << 16 |
					       htons((__u16)(27960 + i % 7)) } };
}

static __u32 bucket_of(const struct cookie_peer *who)
{
	return validated_bucket(validated_hash(who, keys));
}

static struct validated_cell *put(__u32 i, __u64 now)
{
	struct cookie_peer who = nth(i);

	return validated_enter(table, &who, keys, now);
}

static struct validated_cell *find(__u32 i, __u64 now)
{
	struct cookie_peer who = nth(i);

	return validated_find(table, &who, keys, now);
}

static void who_is_entered_is_found_for_a_minute(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 2000; i++) {
		struct validated_cell *cell = put(i, NOW);

		assert_non_null(cell);
		assert_int_equal(cell->flags, 0);
		cell->cookie = i;
	}
	for (__u32 i = 0; i < 2000; i++) {
		assert_int_equal(find(i, NOW)->cookie, i);
		assert_non_null(find(i, NOW + VALIDATED_NS - 1));
		assert_null(find(i, NOW + VALIDATED_NS));
		/* Entered by a processor whose clock is ahead. */
		assert_non_null(find(i, NOW - SECOND));
		assert_null(find(i + 2000, NOW));
	}
}

static void each_part_of_the_name_counts(void **state)
{
	struct cookie_peer who = nth(12);

	(void)state;
	validated_enter(table, &who, keys, NOW);
	for (int bit = 0; bit < 160; bit++) {
		struct cookie_peer other = who;

		other.word[bit / 64] ^= 1ull << bit % 64;
		assert_null(validated_find(table, &other, keys, NOW));
	}
}

static void use_renews(void **state)
{
	struct validated_cell *cell = put(1, NOW);

	(void)state;
	cell->flags = VALIDATED_COOKIE;
	cell->challenge = 99;
	for (int i = 1; i < 5; i++) {
		__u64 now = NOW + (__u64)i * 40 * SECOND;

		assert_ptr_equal(find(1, now), cell);
		cell->used_ns = now;
	}
	/* Entered again while it is here, nothing is forgotten; after that, all. */
	assert_ptr_equal(put(1, NOW + 170 * SECOND), cell);
	assert_int_equal(cell->flags, VALIDATED_COOKIE);
	assert_int_equal(cell->challenge, 99);
	assert_ptr_equal(put(1, NOW + 300 * SECOND), cell);
	assert_int_equal(cell->flags, 0);
}

/* Fill one bucket, then one more comes: @sure: which of the first four are proven. */
static __u32 who_goes(unsigned int sure)
{
	__u32 in[VALIDATED_WAYS + 1], count = 0, gone = VALIDATED_WAYS;
	struct cookie_peer first = nth(0);

	memset(table, 0, sizeof(*table));
	for (__u32 i = 0; count <= VALIDATED_WAYS; i++) {
		struct cookie_peer who = nth(i);

		if (bucket_of(&who) != bucket_of(&first))
			continue;
		in[count] = i;
		put(i, NOW + count * SECOND)->flags =
			sure >> count & 1 ? VALIDATED_COOKIE : 0;
		count++;
	}
	for (__u32 i = 0; i < VALIDATED_WAYS; i++) {
		if (find(in[i], NOW + 9 * SECOND))
			continue;
		assert_int_equal(gone, VALIDATED_WAYS);
		gone = i;
	}
	assert_non_null(find(in[VALIDATED_WAYS], NOW + 9 * SECOND));
	return gone;
}

static void the_invited_and_the_idle_make_room(void **state)
{
	(void)state;
	assert_int_equal(who_goes(0xf), 0);
	assert_int_equal(who_goes(0x0), 0);
	assert_int_equal(who_goes(0x7), 3);
	assert_int_equal(who_goes(0x5), 1);
	assert_int_equal(who_goes(0xe), 0);
}

/* A minute that is over is no reason to send away whose is not. */
static void whose_minute_is_over_goes_first(void **state)
{
	struct cookie_peer first = nth(0);
	__u32 count = 0, live_one = 0;

	(void)state;
	for (__u32 i = 0; count <= VALIDATED_WAYS; i++) {
		struct cookie_peer who = nth(i);

		if (bucket_of(&who) != bucket_of(&first))
			continue;
		if (count == VALIDATED_WAYS - 1)
			live_one = i;
		/* The last but one is invited, just now; those before are long gone. */
		put(i, count < VALIDATED_WAYS - 1 ? NOW : NOW + 70 * SECOND)->flags =
			count < VALIDATED_WAYS - 1 ? VALIDATED_COOKIE : 0;
		count++;
	}
	assert_non_null(find(live_one, NOW + 71 * SECOND));
}

static void what_is_being_written_is_nobody_s(void **state)
{
	struct cookie_peer who = nth(3);
	__u32 bucket = bucket_of(&who) * VALIDATED_WAYS;

	(void)state;
	for (__u32 way = 0; way < VALIDATED_WAYS; way++)
		table->cells[bucket + way].name.word[2] = VALIDATED_WRITING;
	assert_null(put(3, NOW));
	assert_null(find(3, NOW));
	table->cells[bucket + 2].name.word[2] = 0;
	assert_ptr_equal(put(3, NOW), &table->cells[bucket + 2]);
}

/* Each cell that is taken has the tag of its client. Few other clients have one of its
 * bucket. */
static void each_cell_has_its_tag(void **state)
{
	const __u8 *tags = (const __u8 *)table->tags;
	__u32 taken = 0, alike = 0;

	(void)state;
	for (__u32 i = 0; i < 2 * VALIDATED_MAX; i++)
		assert_non_null(put(i, NOW + i));
	for (__u32 i = 0; i < VALIDATED_MAX; i++) {
		struct cookie_peer name = table->cells[i].name;
		__u64 hash = validated_hash(&name, keys);

		if (!name.word[2]) {
			assert_int_equal(tags[i], 0);
			continue;
		}
		assert_int_equal(tags[i], validated_tag(hash));
		assert_int_equal(validated_bucket(hash), i / VALIDATED_WAYS);
		assert_ptr_equal(validated_find(table, &name, keys, NOW),
				 &table->cells[i]);
		taken++;
	}
	assert_in_range(taken, VALIDATED_MAX * 9 / 10, VALIDATED_MAX);
	for (__u32 i = 2 * VALIDATED_MAX; i < 2 * VALIDATED_MAX + 100000; i++) {
		struct cookie_peer who = nth(i);
		__u64 hash = validated_hash(&who, keys);

		alike += tags_like(table->tags[validated_bucket(hash)],
				   validated_tag(hash)) != 0;
		assert_null(find(i, NOW));
	}
	assert_in_range(alike, 1, 3000);
}

/* As many as budgets let in within a minute have room, all but one in a thousand. */
static void there_is_room_for_all_whom_budgets_let_in(void **state)
{
	enum {
		MANY = 6000
	};
	int lost = 0;

	(void)state;
	for (__u32 i = 0; i < MANY; i++)
		put(i, NOW + i)->flags = VALIDATED_COOKIE;
	for (__u32 i = 0; i < MANY; i++)
		lost += !find(i, NOW + SECOND);
	assert_in_range(lost, 0, MANY / 1000);
}

/* When the time of 32 bits comes round, a new client has returned no cookie. */
static void a_new_client_may_pass_at_any_time(void **state)
{
	const __u64 round = (1ull << 52) + (5ull << 20);

	(void)state;
	assert_true(validated_may_retry(put(1, round), COOKIE_BARE, round));
}

/* Once in two seconds for each form; whoever takes the cell over begins anew. */
static void each_form_has_its_own_pace(void **state)
{
	const __u64 tick = 1ull << 20;
	struct validated_cell *cell = put(1, NOW);

	(void)state;
	for (int form = COOKIE_BARE; form < COOKIE_FORMS; form++) {
		assert_true(validated_may_retry(cell, (enum cookie_form)form, NOW));
		cell->passed[form] = (__u32)(NOW >> 20);
		assert_false(validated_may_retry(cell, (enum cookie_form)form,
						 NOW + VALIDATED_RETRY * tick - 1));
		assert_true(validated_may_retry(cell, (enum cookie_form)form,
						NOW + VALIDATED_RETRY * tick));
	}
	assert_false(validated_may_retry(cell, COOKIE_INFO, NOW));
	cell->cookie = cell->challenge = 9;
	cell->flags = VALIDATED_COOKIE;
	/* Somebody else in the same cell, of a bucket that is full of those who stay. */
	for (__u32 way = 1; way < VALIDATED_WAYS; way++) {
		cell[way] = *cell;
		cell[way].name.word[0] = ~(__u64)way;
		cell[way].used_ns = NOW + SECOND;
	}
	for (__u32 i = 2;; i++) {
		struct cookie_peer who = nth(i), first = nth(1);

		if (bucket_of(&who) != bucket_of(&first))
			continue;
		assert_ptr_equal(put(i, NOW + SECOND), cell);
		break;
	}
	assert_int_equal(cell->flags | cell->cookie | cell->challenge, 0);
	for (int form = COOKIE_BARE; form < COOKIE_FORMS; form++)
		assert_true(
			validated_may_retry(cell, (enum cookie_form)form, NOW + SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_is_entered_is_found_for_a_minute,
						enter, leave),
		cmocka_unit_test_setup_teardown(each_part_of_the_name_counts, enter,
						leave),
		cmocka_unit_test_setup_teardown(use_renews, enter, leave),
		cmocka_unit_test_setup_teardown(the_invited_and_the_idle_make_room, enter,
						leave),
		cmocka_unit_test_setup_teardown(each_cell_has_its_tag, enter, leave),
		cmocka_unit_test_setup_teardown(whose_minute_is_over_goes_first, enter,
						leave),
		cmocka_unit_test_setup_teardown(what_is_being_written_is_nobody_s, enter,
						leave),
		cmocka_unit_test_setup_teardown(there_is_room_for_all_whom_budgets_let_in,
						enter, leave),
		cmocka_unit_test_setup_teardown(a_new_client_may_pass_at_any_time, enter,
						leave),
		cmocka_unit_test_setup_teardown(each_form_has_its_own_pace, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
