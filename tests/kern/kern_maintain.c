// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_maintain.c - who is forgotten, and that nobody else is: qports that lead nowhere,
 * and a slot that another service gets. The maps are the kernel's; no interface has a
 * part in it. What the programs make of them is in kern_players.c.
 */
#include "kern/kern_maps.h"

static struct shield shield;

static int begin(void **state)
{
	(void)state;
	return maps_open(&shield) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	maps_close(&shield);
	return 0;
}

/* A player at @peer and @port of the service in @slot, heard of at @sent_ns. */
static void enter_player(const char *peer, __u16 port, __u16 slot, __u16 qport,
			 __u64 sent_ns)
{
	struct player fresh = {
		.since_ns = 1, .sent_ns = sent_ns, .qport = qport, .flags = PLAYER_QPORT
	};
	struct player_key key;
	struct player_id id;

	player_at(peer, port, &key);
	key.slot = slot;
	id = player_id(&key);
	assert_true(players_enter(&shield.shared->players, &id, shield.shared->keys,
				  &fresh, sent_ns) < PLAYERS_MAX);
}

static bool is_there(const char *peer, __u16 port, __u16 slot)
{
	struct player_key key;
	struct player_id id;

	player_at(peer, port, &key);
	key.slot = slot;
	id = player_id(&key);
	return players_find(&shield.shared->players, &id, shield.shared->keys) <
	       PLAYERS_MAX;
}

static struct qport_key qport_of(const char *peer, __u16 slot, __u16 narrow, __u16 qport)
{
	struct qport_key by = { .qport = qport, .slot = slot | narrow };

	kern_address(peer, by.addr);
	return by;
}

static __u32 *moved_of(const char *peer, __u16 slot, __u16 narrow, __u16 qport)
{
	struct player_key key;
	struct player_id id;

	player_at(peer, 0, &key);
	key.slot = slot;
	id = player_id(&key);
	return &shield.shared->moved[qport_cell(&id, qport, narrow, shield.shared->keys)];
}

/* Let the qport lead to @port, as the programs do. */
static void lead(const char *peer, __u16 slot, __u16 narrow, __u16 qport, __u16 port)
{
	struct qport_key by = qport_of(peer, slot, narrow, qport);
	__be16 value = htons(port);

	assert_int_equal(bpf_map_update_elem(shield.qports, &by, &value, BPF_NOEXIST), 0);
	++*moved_of(peer, slot, narrow, qport);
}

static bool leads(const char *peer, __u16 slot, __u16 narrow, __u16 qport)
{
	struct qport_key by = qport_of(peer, slot, narrow, qport);
	__be16 port;

	return !bpf_map_lookup_elem(shield.qports, &by, &port);
}

static size_t qports_in_all(void)
{
	struct qport_key by, *previous = NULL;
	size_t count = 0;

	for (; !bpf_map_get_next_key(shield.qports, previous, &by); previous = &by)
		count++;
	return count;
}

static __u64 moved_in_all(void)
{
	__u64 sum = 0;

	for (size_t i = 0; i < COUNT(shield.shared->moved); i++)
		sum += shield.shared->moved[i];
	return sum;
}

/* --- tests -----------------------------------------------------------------------------
 */

/* A qport stays for as long as a player has it where it leads to. */
static void a_qport_stays_with_its_player(void **state)
{
	static const struct {
		const char *peer;
		__u16 slot, narrow, qport, leads_to; /* players are at port 1000 */
		__u16 has; /* the player's; 0: there is nobody */
		bool stays;
	} rows[] = {
		{ "192.0.2.1", 0, 0, 77, 1000, 77, true },
		{ "192.0.2.2", 3, 0, 77, 1000, 77, true },
		{ "192.0.2.3", 3, QPORT_NARROW, 77, 1000, 77, true },
		{ "2001:db8::1", 1, 0, 77, 1000, 77, true },
		{ "192.0.2.4", 0, 0, 77, 1000, 78, false },
		{ "192.0.2.5", 0, 0, 77, 1001, 77, false },
		{ "192.0.2.6", 0, 0, 77, 1000, 0, false },
		{ "192.0.2.7", 5, QPORT_NARROW, 77, 1000, 78, false },
		{ "2001:db8::2", 2, 0, 77, 1000, 0, false },
	};
	__u64 now = shield_clock();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lead(rows[i].peer, rows[i].slot, rows[i].narrow, rows[i].qport,
		     rows[i].leads_to);
		if (rows[i].has)
			enter_player(rows[i].peer, 1000, rows[i].slot, rows[i].has, now);
	}
	shield_maintain(&shield);
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool stays =
			leads(rows[i].peer, rows[i].slot, rows[i].narrow, rows[i].qport);
		__u32 moved = *moved_of(rows[i].peer, rows[i].slot, rows[i].narrow,
					rows[i].qport);

		if (stays != rows[i].stays || moved != stays)
			fail_msg("row %zu: stays %d, moved %u", i, stays, moved);
	}
	assert_int_equal(moved_in_all(), 4);
}

/* More than are swept in one go: in the next. */
static void many_that_left_are_forgotten(void **state)
{
	enum {
		MANY = 1500,
		AT_ONCE = 1024
	};
	__u64 now = shield_clock();

	(void)state;
	for (__u32 i = 0; i < MANY; i++) {
		enter_player("192.0.2.1", i, 2, i, now - 61 * SECOND);
		lead("192.0.2.1", 2, 0, i, i);
	}
	enter_player("192.0.2.1", 7000, 2, 7000, now);
	lead("192.0.2.1", 2, 0, 7000, 7000);
	shield_maintain(&shield);
	for (__u32 i = 0; i < MANY; i++)
		assert_false(is_there("192.0.2.1", i, 2));
	assert_int_equal(qports_in_all(), MANY - AT_ONCE + 1);
	assert_int_equal(moved_in_all(), MANY - AT_ONCE + 1);
	shield_maintain(&shield);
	assert_int_equal(qports_in_all(), 1);
	assert_int_equal(moved_in_all(), 1);
	assert_true(is_there("192.0.2.1", 7000, 2));
	assert_true(leads("192.0.2.1", 2, 0, 7000));
}

static void spend_limits_of(__u32 slot)
{
	for (__u32 class = 0; class < 1 << CLASS_BITS; class ++)
		shield.shared->service_due_ns[budget_index(slot, class)] = 9;
}

/* The limits of @slot are as spent as they were, or not at all. */
static void limits_are_spent(__u32 slot, bool left)
{
	for (__u32 class = 0; class < 1 << CLASS_BITS; class ++)
		assert_int_equal(shield.shared->service_due_ns[budget_index(slot, class)],
				 left ? 9 : 0);
}

/* Of the service that was in it nothing is left, and of all others everything. */
static void a_slot_is_forgotten_alone(void **state)
{
	enum {
		MANY = 1100,
		SLOTS = 4,
		FORGOTTEN = 2
	};
	__u64 now = shield_clock();

	(void)state;
	for (__u32 slot = 0; slot < SLOTS; slot++) {
		enter_player("192.0.2.1", 1000, slot, 77, now);
		enter_player("192.0.2.2", 1000, slot, 78, now - 61 * SECOND);
		lead("192.0.2.1", slot, 0, 77, 1000);
		lead("192.0.2.1", slot, QPORT_NARROW, 77, 1000);
		spend_limits_of(slot);
	}
	/* More than are looked for in one go. */
	for (__u32 i = 0; i < MANY; i++)
		lead("2001:db8::1", FORGOTTEN, 0, i, i);
	shield_forget_slot(&shield, FORGOTTEN);
	for (__u32 slot = 0; slot < SLOTS; slot++) {
		bool left = slot != FORGOTTEN;

		assert_int_equal(is_there("192.0.2.1", 1000, slot), left);
		assert_int_equal(is_there("192.0.2.2", 1000, slot), left);
		assert_int_equal(leads("192.0.2.1", slot, 0, 77), left);
		assert_int_equal(leads("192.0.2.1", slot, QPORT_NARROW, 77), left);
		assert_int_equal(*moved_of("192.0.2.1", slot, 0, 77), left);
		assert_int_equal(*moved_of("192.0.2.1", slot, QPORT_NARROW, 77), left);
		limits_are_spent(slot, left);
	}
	assert_int_equal(qports_in_all(), 2 * (SLOTS - 1));
	assert_int_equal(moved_in_all(), 2 * (SLOTS - 1));
}

/* Who left is nobody's to show; who is here is told with key and state. */
static void show(const struct player_key *key, const struct player *player, void *context)
{
	__u32 *sum = context;

	*sum += ntohs(key->port) + player->qport;
}

static void who_is_here_is_shown(void **state)
{
	__u64 now = shield_clock();
	__u32 sum = 0;

	(void)state;
	enter_player("192.0.2.1", 1000, 0, 10, now);
	enter_player("192.0.2.1", 2000, 3, 20, now - 59 * SECOND);
	enter_player("192.0.2.1", 4000, 0, 40, now - 61 * SECOND);
	assert_int_equal(shield_players(&shield, show, &sum), 0);
	assert_int_equal(sum, 1010 + 2020);
	shield_maintain(&shield);
	assert_true(is_there("192.0.2.1", 2000, 3));
	assert_false(is_there("192.0.2.1", 4000, 0));
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_qport_stays_with_its_player),
		TEST(many_that_left_are_forgotten),
		TEST(a_slot_is_forgotten_alone),
		TEST(who_is_here_is_shown),
	};

	if (!maps_open(&shield))
		return maps_skip();
	maps_close(&shield);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
