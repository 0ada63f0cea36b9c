// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_tend.c - what the daemon does every few seconds, at both sides of each
 * limit: what requests cost, whose turn a secret is, how many are followed, who is gone.
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

static void serve(__u32 slot, enum wire_family family)
{
	struct service *s = &shield.shared->tables[0].services[slot];

	s->active = 1;
	s->family = (__u8)family;
}

static void answered(__u32 slot, enum wire_kind kind, __u64 requests, __u64 bytes)
{
	__u32 key = slot * KIND_COUNT + kind;
	struct answers a = { requests, bytes };

	assert_int_equal(bpf_map_update_elem(shield.answers, &key, &a, BPF_ANY), 0);
}

static __u32 cost_of(__u32 slot, enum wire_kind kind)
{
	__u32 key = slot * KIND_COUNT + kind, cost;

	assert_int_equal(bpf_map_lookup_elem(shield.costs, &key, &cost), 0);
	return cost;
}

static struct answers answers_of(__u32 slot, enum wire_kind kind)
{
	__u32 key = slot * KIND_COUNT + kind;
	struct answers a;

	assert_int_equal(bpf_map_lookup_elem(shield.answers, &key, &a), 0);
	return a;
}

/* In sixteenths of what a small answer costs: a KiB. */
static void requests_cost_what_their_answers_weigh(void **state)
{
	static const struct {
		__u64 requests, bytes;
		__u32 cost;
		__u64 then_requests, then_bytes;
	} rows[] = {
		{ 0, 0, 0, 0, 0 },
		{ 15, 15 * 4096, 0, 15, 15 * 4096 },
		{ 16, 16 * 4096, 4 * COST_ONE, 16, 16 * 4096 },
		{ 16, 16 * 1024, COST_ONE, 16, 16 * 1024 },
		{ 16, 16 * 1024 + 1024, COST_ONE + 1, 16, 16 * 1024 + 1024 },
		{ 16, 16 * 1023, COST_ONE, 16, 16 * 1023 },
		{ 100, 7, COST_ONE, 100, 7 },
		{ 16, 16 * 65536ull, 64 * COST_ONE, 16, 16 * 65536ull },
		{ 16, 16 * 65600ull, 64 * COST_ONE, 16, 16 * 65600ull },
		{ 16, 16 * 65000ull, 1015, 16, 16 * 65000ull },
		{ 16, 1ull << 50, 64 * COST_ONE, 16, 1ull << 50 },
		{ 4096, 4096 * 2048, 2 * COST_ONE, 4096, 4096 * 2048 },
		{ 4097, 4097 * 2048, 2 * COST_ONE, 2048, 4097 * 1024 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct answers a;

		fake_end(NULL);
		fake_begin(NULL);
		serve(3, FAMILY_QUAKE3);
		answered(3, KIND_GETSTATUS, rows[i].requests, rows[i].bytes);
		shield_tend(&shield);
		a = answers_of(3, KIND_GETSTATUS);
		if (cost_of(3, KIND_GETSTATUS) != rows[i].cost ||
		    a.requests != rows[i].then_requests || a.bytes != rows[i].then_bytes)
			fail_msg("row %zu: %u, %llu, %llu", i, cost_of(3, KIND_GETSTATUS),
				 (unsigned long long)a.requests,
				 (unsigned long long)a.bytes);
	}
}

/* Each service by its family, each kind by its class; and of free slots nothing. */
static void only_questions_cost(void **state)
{
	static const enum wire_family families[] = { FAMILY_QUAKE3, FAMILY_COUNT,
						     FAMILY_QUAKEWORLD, FAMILY_COUNT,
						     FAMILY_NETQUAKE };

	(void)state;
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++) {
		if (families[slot] < FAMILY_COUNT)
			serve(slot, families[slot]);
		for (int kind = 0; kind < KIND_COUNT; kind++)
			answered(slot, (enum wire_kind)kind, 100,
				 100 * (2048 + slot * 512));
	}
	/* Beyond the counters. */
	serve(FAKE_SLOTS, FAMILY_QUAKE3);
	answered(FAKE_SLOTS, KIND_GETSTATUS, 100, 409600);
	shield_tend(&shield);
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++)
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			enum wire_family family = families[slot];
			bool costs =
				family < FAMILY_COUNT &&
				class_is_scaled(wire_class(family, (enum wire_kind)kind));

			assert_int_equal(cost_of(slot, (enum wire_kind)kind),
					 costs ? COST_ONE * (4 + slot) / 2 : 0);
		}
	assert_int_equal(cost_of(FAKE_SLOTS, KIND_GETSTATUS), 0);
	fake_fails = shield.answers;
	shield_tend(&shield);
}

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
	struct proof_state *p = &shield.shared->proof;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cookie_secret was = p->secret;
		__u64 period = p->period;

		fake_now = rows[i].now;
		shield_tend(&shield);
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
			__u64 is = shield.shared->proof.secret.key[i & 1][word];

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
	memcpy(secret, other.shared->proof.secret.key, sizeof(secret));
	assert_true(secret[0] && secret[1] && secret[2] && secret[3]);
	shield_unmap_shared(&other);
	assert_null(other.shared);
	shield_unmap_shared(&other);
	assert_int_equal(shield_map_shared(&other), 0);
	assert_memory_equal(keys, other.shared->keys, sizeof(keys));
	assert_memory_equal(secret, other.shared->proof.secret.key, sizeof(secret));
	/* One that is missing is made, one that is even is made odd. */
	other.shared->keys[1] = 0;
	other.shared->keys[2] = 40;
	memset(other.shared->proof.secret.key[1], 0, sizeof(__u64));
	shield_unmap_shared(&other);
	assert_int_equal(shield_map_shared(&other), 0);
	assert_int_equal(other.shared->keys[0], keys[0]);
	assert_true(other.shared->keys[1] & 1);
	assert_int_equal(other.shared->keys[2], 41);
	assert_true(other.shared->proof.secret.key[1][0]);
	assert_memory_equal(secret, other.shared->proof.secret.key, 2 * sizeof(__u64));
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
	shield_tend(&shield);
	assert_int_equal(shield.shared->followed, 2);
	assert_int_equal(entered(), 4);
	/* The one that is verified, and its network. */
	assert_int_equal(shield_known(&shield), 2);
	shield.shared->lists_end_ns = fake_now;
	fake_now += PLAYER_IDLE_NS;
	shield_tend(&shield);
	assert_int_equal(shield.shared->followed, 0);
	assert_int_equal(entered(), 0);
	assert_int_equal(shield.shared->lists_end_ns, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_cost_what_their_answers_weigh),
		TEST(only_questions_cost),
		TEST(secrets_take_turns),
		TEST(secrets_differ),
		TEST(keys_are_made_once),
		TEST(the_followed_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
