// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_maintain.c - what the daemon does every few seconds, at both sides of each
 * limit: whose turn a secret is, how many are followed, who is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "shield/fake_maps.h"

#include "cookie.h"
#include "players.h"

/* --- secrets -------------------------------------------------------------------------
 */

#define EPOCH  (1ull << COOKIE_EPOCH_BITS)
#define PERIOD (EPOCH << COOKIE_PERIOD_BITS)

/* Once in each period, the one that rests, in the middle of it. */
static void secrets_take_turns(void **state)
{
	static const struct {
		__u64 now;
		bool changes[2];
	} rows[] = {
		{ 100 * PERIOD, { false, false } },
		{ 100 * PERIOD + 4 * EPOCH - 1, { false, false } },
		{ 100 * PERIOD + 4 * EPOCH, { false, true } },
		{ 100 * PERIOD + 5 * EPOCH, { false, false } },
		{ 100 * PERIOD + 12 * EPOCH, { false, false } },
		{ 101 * PERIOD + 3 * EPOCH, { false, false } },
		{ 101 * PERIOD + 12 * EPOCH - 1, { true, false } },
		{ 102 * PERIOD + 12 * EPOCH, { false, false } },
		{ 103 * PERIOD + 8 * EPOCH, { true, false } },
		{ 104 * PERIOD + 8 * EPOCH, { false, true } },
	};
	struct validation_state *p = &shield.shared->validation;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cookie_secret was = p->secret;
		__u64 period = p->period;

		fake_now = rows[i].now;
		shield_maintain(&shield);
		for (int turn = 0; turn < 2; turn++) {
			bool same = !memcmp(was.key[turn], p->secret.key[turn],
					    sizeof(was.key[turn]));

			assert_int_equal(same, !rows[i].changes[turn]);
			if (same)
				continue;
			assert_true(p->secret.key[turn][0] & 1);
			assert_true(p->secret.key[turn][1]);
			period = rows[i].now / PERIOD;
		}
		assert_int_equal(p->period, period);
	}
}

/* Two words each, which nobody knows before. */
static void secrets_differ(void **state)
{
	__u64 seen[32], all = ~0ull, any = 0;

	(void)state;
	for (__u32 i = 0; i < COUNT(seen) / 2; i++) {
		assert_int_equal(shield_new_secret(&shield, i & 1), 0);
		for (int word = 0; word < 2; word++) {
			__u64 is = shield.shared->validation.secret.key[i & 1][word];

			seen[2 * i + (__u32)word] = is;
			if (word) {
				all &= is;
				any |= is;
			}
			for (__u32 j = 0; j < 2 * i + (__u32)word; j++)
				assert_int_not_equal(seen[j], is);
		}
	}
	/* No bit of the second is always set, nor never: one in 2^16 each. */
	assert_true(__builtin_popcountll(all) < 2 && __builtin_popcountll(~any) < 2);
}

/* --- live ------------------------------------------------------------------------------
 */

/* A map that is new gets keys; what has keys keeps them. */
static void keys_are_made_once(void **state)
{
	struct shield other = { .live = memfd_create("live", MFD_CLOEXEC) };
	size_t size = sizeof(struct live);
	__u64 keys[3], secret[4];

	(void)state;
	assert_true(other.live >= 0);
	size = (size + 4095) / 4096 * 4096;
	assert_int_equal(ftruncate(other.live, (off_t)size), 0);
	assert_int_equal(shield_map_shared(&other), 0);
	for (int i = 0; i < 3; i++) {
		keys[i] = other.shared->keys[i];
		assert_true(keys[i] & 1);
		assert_true(keys[i] >> 8);
		for (int j = 0; j < i; j++)
			assert_int_not_equal(keys[i], keys[j]);
	}
	memcpy(secret, other.shared->validation.secret.key, sizeof(secret));
	assert_true(secret[0] && secret[1] && secret[2] && secret[3]);
	shield_unmap_shared(&other);
	assert_null(other.shared);
	shield_unmap_shared(&other);
	assert_int_equal(shield_map_shared(&other), 0);
	assert_memory_equal(keys, other.shared->keys, sizeof(keys));
	assert_memory_equal(secret, other.shared->validation.secret.key, sizeof(secret));
	/* One that is missing is made, one that is even is made odd. */
	other.shared->keys[1] = 0;
	other.shared->keys[2] = 40;
	memset(other.shared->validation.secret.key[1], 0, sizeof(__u64));
	shield_unmap_shared(&other);
	assert_int_equal(shield_map_shared(&other), 0);
	assert_int_equal(other.shared->keys[0], keys[0]);
	assert_true(other.shared->keys[1] & 1);
	assert_int_equal(other.shared->keys[2], 41);
	assert_true(other.shared->validation.secret.key[1][0]);
	assert_memory_equal(secret, other.shared->validation.secret.key,
			    2 * sizeof(__u64));
	shield_unmap_shared(&other);
	close(other.live);
	other.live = -1;
	strcpy(other.dir, "/a/directory");
	assert_int_equal(shield_map_shared(&other), -EBADF);
	assert_null(other.shared);
}

/* --- players ---------------------------------------------------------------------------
 */

static void enter(__u16 port, __u8 flags, __u64 sent_ns)
{
	struct player_key key = { .addr = { 0, 0, htobe32(0xffff), 9 },
				  .port = htobe16(port) };
	struct player fresh = { .sent_ns = sent_ns, .flags = flags };
	struct player_id id = player_id(&key);

	assert_true(players_enter(&shield.shared->players, &id, shield.shared->keys,
				  &fresh, sent_ns) < PLAYERS_MAX);
}

static size_t entered(void)
{
	size_t count = 0;

	for (__u32 i = 0; i < PLAYERS_MAX; i++)
		count += shield.shared->players.cells[i].state == PLAYER_HERE;
	return count;
}

/* Those who are here; who left is forgotten, and is known if it has shown that it was. */
static void the_followed_are_counted(void **state)
{
	(void)state;
	shield.shared->followed = 77;
	enter(1, PLAYER_FOLLOWED, fake_now);
	enter(2, PLAYER_FOLLOWED | PLAYER_QPORT, fake_now - PLAYER_IDLE_NS + 1);
	enter(3, PLAYER_FOLLOWED, fake_now - PLAYER_IDLE_NS);
	enter(4, PLAYER_QPORT, fake_now);
	enter(5, PLAYER_VERIFIED, fake_now);
	assert_int_equal(entered(), 5);
	shield_maintain(&shield);
	assert_int_equal(shield.shared->followed, 2);
	assert_int_equal(entered(), 4);
	/* The one that is verified, and its network. */
	assert_int_equal(shield_known_count(&shield), 2);
	shield.shared->acl_end_ns = fake_now;
	fake_now += PLAYER_IDLE_NS;
	shield_maintain(&shield);
	assert_int_equal(shield.shared->followed, 0);
	assert_int_equal(entered(), 0);
	assert_int_equal(shield.shared->acl_end_ns, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(secrets_take_turns),
		TEST(secrets_differ),
		TEST(keys_are_made_once),
		TEST(the_followed_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
