// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of players as arithmetic: what is entered is found, nothing else is, and what
 * leaves makes room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "players.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define NOW	 (1ull << 50)
#define LATER	 (NOW + PLAYER_IDLE_NS)
#define IPV4	 4 /* in place of the number of a word of an IPv6 address */

static struct player_table *table;
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

/* The @i'th of players: of a few services and addresses, as they are in the wild. */
static struct player_id nth(__u32 i)
{
	struct player_key key = { .addr = { 0, 0, htonl(0xffff) } };

	if (i & 1) {
		key.addr[0] = htonl(0x20010db8);
		key.addr[2] = htonl(i >> 9);
	}
	key.addr[3] = htonl(0x0a000000 + (i >> 1));
	key.port = htons((__u16)(27960 + i % 7));
	key.slot = (__u16)(i % 5);
	return player_id(&key);
}

static __u32 put(__u32 i, __u64 now)
{
	struct player_id id = nth(i);
	struct player fresh = { .sent_ns = now, .sent_sequence = i };

	return players_enter(table, &id, keys, &fresh, now);
}

static bool there(__u32 i)
{
	struct player_id id = nth(i);
	__u32 at = players_find(table, &id, keys);

	if (at == PLAYERS_MAX)
		return false;
	assert_int_equal(table->cells[at].player.sent_sequence, i);
	return true;
}

static void who_enters_is_found(void **state)
{
	__u32 refused = 0, all = 16384;

	(void)state;
	for (__u32 i = 0; i < all; i++) {
		bool entered = put(i, NOW) < PLAYERS_MAX;

		refused += !entered;
		assert_int_equal(there(i), entered);
		assert_false(there(i + all));
	}
	/* As many as players.h says. */
	assert_in_range(refused, 0, 60);
	for (__u32 i = 0; i < all; i++)
		refused -= !there(i);
	assert_int_equal(refused, 0);
}

static void entered_again_is_the_same_cell(void **state)
{
	struct player_id id = nth(7);
	struct player anew = { .sent_ns = NOW, .sent_sequence = 7, .qport = 9 };
	__u32 at = put(7, NOW);

	(void)state;
	assert_int_equal(players_enter(table, &id, keys, &anew, NOW), at);
	assert_int_equal(table->cells[at].player.qport, 9);
}

static void who_left_makes_room(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 4000; i++)
		assert_true(put(i, NOW) < PLAYERS_MAX);
	for (__u32 i = 0; i < 4000; i += 2) {
		struct player_id id = nth(i);

		players_remove(table, players_find(table, &id, keys), &id, LATER);
		assert_false(there(i));
		assert_true(there(i + 1));
	}
	for (__u32 i = 0; i < 4000; i += 2)
		assert_true(put(i, NOW) < PLAYERS_MAX);
	for (__u32 i = 0; i < 4000; i++) {
		struct player_id id = nth(i);

		assert_true(there(i));
		players_remove(table, players_find(table, &id, keys), &id, LATER);
	}
	/* Nor is anything left to be looked at. */
	for (size_t i = 0; i < COUNT(table->tags); i++)
		assert_int_equal(table->tags[i], 0);
}

/* Not one who is back, nor one who has the cell by now and the same port. */
static void only_who_is_gone_is_removed(void **state)
{
	static const __u64 none[3] = { 0 };
	struct player_id id = nth(1), other = nth(1);
	struct player fresh = { .sent_ns = NOW };

	(void)state;
	other.word[1] ^= 1;
	assert_int_equal(players_enter(table, &id, none, &fresh, NOW), 0);
	players_remove(table, 0, &id, LATER - 1);
	assert_int_equal(players_find(table, &id, none), 0);
	players_remove(table, 0, &other, LATER);
	assert_int_equal(players_find(table, &id, none), 0);
	other = id;
	other.word[2] ^= 1;
	players_remove(table, 0, &other, LATER);
	assert_int_equal(players_find(table, &id, none), 0);
	players_remove(table, 0, &id, LATER);
	assert_int_equal(players_find(table, &id, none), PLAYERS_MAX);
	assert_int_equal(table->cells[0].state, PLAYER_NONE);
}

/* Alike in hash and tag, and in all words of the name but one. */
static void names_are_compared_whole(void **state)
{
	static const __u64 none[3] = { 0 };
	struct player_id id = nth(1);
	struct player fresh = { .sent_ns = NOW };

	(void)state;
	players_enter(table, &id, none, &fresh, NOW);
	for (int i = 0; i < 3; i++) {
		struct player_id other = id;

		other.word[i] ^= 1;
		assert_int_equal(players_find(table, &other, none), PLAYERS_MAX);
	}
	assert_int_equal(players_find(table, &id, none), 0);
}

/* All in one bucket: nine are one too many, until one has been silent for long enough. */
static void a_bucket_has_eight(void **state)
{
	static const __u64 none[3] = { 0 };
	struct player_id id;

	(void)state;
	for (__u32 i = 0; i < 9; i++) {
		struct player fresh = { .sent_ns = NOW + i };
		__u32 at;

		id = nth(i);
		at = players_enter(table, &id, none, &fresh, NOW + i);
		assert_int_equal(at == PLAYERS_MAX, i == 8);
	}
	for (__u32 i = 8; i < 16; i++) {
		struct player fresh = { .sent_ns = NOW + 2 * PLAYER_IDLE_NS };

		id = nth(i);
		assert_int_equal(players_enter(table, &id, none, &fresh,
					       NOW + PLAYER_IDLE_NS + i - 9),
				 i == 8 ? PLAYERS_MAX : i - 9);
		id = nth(i - 9);
		if (i > 8)
			assert_int_equal(players_find(table, &id, none), PLAYERS_MAX);
	}
}

/* A cell that somebody is writing at this moment is nobody's. */
static void what_is_being_written_is_left_alone(void **state)
{
	static const __u64 none[3] = { 0 };
	struct player fresh = { .sent_ns = NOW };
	struct player_id id = nth(1);

	(void)state;
	for (int i = 0; i < PLAYER_WAYS; i++)
		table->cells[i].state = PLAYER_ENTERED;
	assert_int_equal(players_enter(table, &id, none, &fresh, NOW), PLAYERS_MAX);
	table->cells[5].state = PLAYER_NONE;
	assert_int_equal(players_enter(table, &id, none, &fresh, NOW), 5);
	assert_int_equal(players_find(table, &id, none), 5);
}

static void the_lowest_byte_is_found(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 8; i++)
		for (__u32 more = 0; more < 256; more++) {
			__u64 flags = 0x80ull << 8 * i;

			for (__u32 j = i + 1; j < 8; j++)
				flags |= (__u64)(more >> j & 1) << (8 * j + 7);
			assert_int_equal(lowest_byte(flags), i);
		}
	for (__u64 tag = 0x80; tag <= 0xff; tag++)
		for (__u32 i = 0; i < 8; i++) {
			__u64 flags = tags_like(tag << 8 * i, tag);

			assert_true(flags);
			assert_int_equal(lowest_byte(flags), i);
			/* Free cells, and those of other tags. */
			assert_int_equal(tags_like(0, tag), 0);
			assert_int_equal(
				tags_like(EACH_BYTE(0x80) + EACH_BYTE((tag + 1) & 0x7f),
					  tag),
				0);
		}
}

static void nobody_is_gone_before_its_time(void **state)
{
	struct player p = { .sent_ns = NOW };

	(void)state;
	assert_true(player_alive(&p, NOW));
	assert_true(player_alive(&p, NOW + PLAYER_IDLE_NS - 1));
	assert_false(player_alive(&p, NOW + PLAYER_IDLE_NS));
	assert_true(player_alive(&p, NOW - 4000000)); /* another processor's clock */
}

/* By what the servers of each family tell their players whose port has changed. */
static void the_qport_is_as_wide_as_the_family_says(void **state)
{
	static const struct {
		enum wire_family family;
		__u32 mask;
		__u8 flags;
		int width;
	} rows[] = {
		{ FAMILY_QUAKE3, 0, 0, 0 },
		{ FAMILY_QUAKEWORLD, 0, 0, 0 },
		{ FAMILY_QUAKEWORLD, 0, PLAYER_RECORDS, QPORT_NONE },
		{ FAMILY_QUAKE2, 0, 0, QPORT_NONE },
		{ FAMILY_QUAKE2, 0xff, 0, QPORT_NARROW },
		{ FAMILY_QUAKE2, 0xffff, 0, 0 },
		{ FAMILY_NETQUAKE, 0xffff, 0, QPORT_NONE },
		{ FAMILY_QUAKE_ENHANCED, 0xffff, 0, QPORT_NONE },
		{ FAMILY_AUTO, 0xffff, 0, QPORT_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player p = { .flags = rows[i].flags };

		if (rows[i].family != FAMILY_QUAKE3)
			p.qport_mask = rows[i].mask;
		assert_int_equal(player_qport(rows[i].family, &p), rows[i].width);
	}
}

/* Of a name all counts but the port, which is what may change; and how wide it is. */
static void a_qport_is_found_from_any_port(void **state)
{
	const struct player_id id = nth(3);
	__u32 apart = 0;

	(void)state;
	for (int bit = 0; bit < 160; bit++) {
		struct player_id other = id;
		bool same;

		other.word[bit / 64] ^= 1ull << bit % 64;
		same = qport_cell(&other, 7777, 0, keys) ==
		       qport_cell(&id, 7777, 0, keys);
		if (bit >= 128 && bit < 144)
			assert_true(same);
		else
			apart += !same;
	}
	/* One in 2^14 of the others may meet by chance. */
	assert_in_range(apart, 142, 144);
	assert_int_not_equal(qport_cell(&id, 77, 0, keys),
			     qport_cell(&id, 77, QPORT_NARROW, keys));
	assert_int_not_equal(qport_cell(&id, 77, 0, keys), qport_cell(&id, 78, 0, keys));
}

/* How many of a million addresses, @step apart in word @word, are taken for the first. */
static int addresses_taken_for_another(int word, __u32 step)
{
	struct player_key key = { .slot = 3 };
	__u64 first = 0, hash;
	int same = 0;

	key.addr[word == IPV4 ? 2 : 0] = htonl(word == IPV4 ? 0xffff : 0x20010db8);
	for (__u32 i = 0; i < 1 << 20; i++) {
		struct player_id id;

		key.addr[word == IPV4 ? 3 : word] = htonl(0x20010db8 + i * step);
		id = player_id(&key);
		hash = player_address_hash(&id, ADDRESS_LITTLE, keys);
		if (!i)
			first = hash;
		else
			same += player_address_tag(hash) == player_address_tag(first) &&
				!((hash ^ first) >> (64 - PLAYER_ADDRESS_BITS));
	}
	return same;
}

/* The bucket and tag of an address tell it from all others of its service. */
static void an_address_is_not_taken_for_another(void **state)
{
	(void)state;
	for (int word = 0; word <= IPV4; word++) {
		assert_int_equal(addresses_taken_for_another(word, 1), 0);
		assert_int_equal(addresses_taken_for_another(word, 0x9e3779b1), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_enters_is_found),
		TEST(entered_again_is_the_same_cell),
		TEST(who_left_makes_room),
		TEST(only_who_is_gone_is_removed),
		TEST(names_are_compared_whole),
		TEST(a_bucket_has_eight),
		TEST(what_is_being_written_is_left_alone),
		TEST(the_lowest_byte_is_found),
		TEST(nobody_is_gone_before_its_time),
		TEST(the_qport_is_as_wide_as_the_family_says),
		TEST(a_qport_is_found_from_any_port),
		cmocka_unit_test(an_address_is_not_taken_for_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
