// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_reads.c - all that is read out of the maps, whole, with another value in
 * each place: counters of all processors, samplers, rooms, players, known clients; at
 * both sides of each limit. test_shield_cache.c has the response cache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "shield/about.h"
#include "shield/fake_maps.h"

#include "players.h"

/* --- counters ----------------------------------------------------------------------- */

/* What processor @cpu has counted in the @i th word of @key, and all together. */
static __u64 counted(__u32 key, size_t i, __u64 cpu)
{
	return 1 + key * 100000 + i * 10 + cpu * cpu * 1000;
}

static __u64 counted_all(__u32 key, size_t i)
{
	return counted(key, i, 0) + counted(key, i, 1) + counted(key, i, 2);
}

/* Each word of each entry of an array of all processors. */
static void count_all(int fd, size_t size)
{
	struct fake *f = fake_of(fd);
	size_t words = size / sizeof(__u64);

	for (__u32 key = 0; key < f->count; key++)
		for (__u64 cpu = 0; cpu < FAKE_CPUS; cpu++)
			for (size_t i = 0; i < words; i++)
				((__u64 *)(f->values + key * f->value))[cpu * words + i] =
					counted(key, i, cpu);
}

static void expect_counters(__u32 slot, enum direction direction, struct counters *ret)
{
	static struct counter_sums rows[COUNTER_ROWS];
	struct counter_row row;

	for (__u32 at = 0; at < COUNTER_ROWS; at++) {
		memcpy(&rows[at],
		       fake_of(shield.spilled)->values +
			       (slot * COUNTER_ROWS + at) * sizeof(*rows),
		       sizeof(*rows));
		for (__u64 cpu = 0; cpu < FAKE_CPUS; cpu++) {
			for (size_t i = 0; i < sizeof(row) / sizeof(__u64); i++)
				((__u64 *)&row)[i] =
					counted(slot * COUNTER_ROWS + at, i, cpu);
			counter_sums_add(&rows[at], &row);
		}
	}
	counters_sort(rows, direction, ret);
	if (direction == DIRECTION_C2S)
		volume_complete(ret);
}

/* Each sum has another value. */
static void spill_all(void)
{
	struct fake *f = fake_of(shield.spilled);

	for (__u32 key = 0; key < f->count; key++)
		for (size_t i = 0; i < COUNTER_CELLS * 2; i++)
			((__u64 *)(f->values + key * f->value))[i] =
				1ull << 40 | counted(key, i, 7);
}

static void each_slot_has_its_counters(void **state)
{
	static struct counters in, out, want;

	(void)state;
	count_all(shield.counters, sizeof(struct counter_row));
	spill_all();
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++) {
		memset(&in, 0x5a, sizeof(in));
		memset(&out, 0x5a, sizeof(out));
		assert_int_equal(shield_counters(&shield, slot, &in, &out), 0);
		expect_counters(slot, DIRECTION_C2S, &want);
		assert_memory_equal(&in, &want, sizeof(want));
		expect_counters(slot, DIRECTION_S2C, &want);
		assert_memory_equal(&out, &want, sizeof(want));
	}
	memset(&in, 0x5a, sizeof(in));
	assert_int_equal(shield_counters(&shield, FAKE_SLOTS, &in, &out), -EINVAL);
	assert_int_equal(shield_counters(&shield, ~0u, &in, &out), -EINVAL);
	/* A table of another size than was said. */
	shield.capacity = FAKE_SLOTS + 1;
	assert_int_equal(shield_counters(&shield, FAKE_SLOTS, &in, &out), -EIO);
	fakes[shield.counters - FAKE_FIRST].count--;
	assert_int_equal(shield_counters(&shield, FAKE_SLOTS - 1, &in, &out), -EIO);
	fakes[shield.counters - FAKE_FIRST].count++;
	fakes[shield.spilled - FAKE_FIRST].count--;
	assert_int_equal(shield_counters(&shield, FAKE_SLOTS - 1, &in, &out), -EIO);
	fake_cpus = -ENOSYS;
	assert_int_equal(shield_counters(&shield, 0, &in, &out), -ENOSYS);
	fake_cpus = FAKE_CPUS;
	fake_fails = shield.counters;
	assert_int_equal(shield_counters(&shield, 0, &in, &out), -EBADF);
	fake_fails = shield.spilled;
	assert_int_equal(shield_counters(&shield, 0, &in, &out), -EBADF);
	/* What is not told is left alone. */
	for (size_t i = 0; i < sizeof(in); i++)
		assert_int_equal(((__u8 *)&in)[i], 0x5a);
}

/*
 * A counter that moves while the counters are read is counted once; one that never comes
 * to rest ends the reading, too.
 */
static int moves;

static void move_one(int fd)
{
	__u64 *word = (__u64 *)fake_of(shield.counters)->values;
	struct counter_sums *sums = (void *)fake_of(shield.spilled)->values;

	if (fd != shield.counters || !moves)
		return;
	moves--;
	sums->cells[0].packets += *word % COUNTER_BYTE;
	sums->cells[0].bytes += *word / COUNTER_BYTE;
	*word = 300 * COUNTER_BYTE + 5;
}

static void a_counter_that_moves_is_counted_once(void **state)
{
	static struct counters in, out;
	__u64 *word = (__u64 *)fake_of(shield.counters)->values;
	const struct counter *sum = &in.by[0][REASON_WITHIN_LIMITS];

	(void)state;
	assert_int_equal(counter_number(DIRECTION_C2S, (enum wire_kind)0,
					REASON_WITHIN_LIMITS),
			 0);
	*word = 900 * COUNTER_BYTE + 9;
	fake_read = move_one;
	moves = 1;
	assert_int_equal(shield_counters(&shield, 0, &in, &out), 0);
	assert_int_equal(sum->packets, 9 + 5);
	assert_int_equal(sum->bytes, 900 + 300);
	moves = 1000;
	assert_int_equal(shield_counters(&shield, 0, &in, &out), 0);
	assert_in_range(moves, 1, 999);
}

/* A batch that begins at other keys than were asked for is no answer. */
static void counters_of_another_are_refused(void **state)
{
	static struct counters in, out;
	__u32 *key = (__u32 *)fakes[shield.counters - FAKE_FIRST].keys;

	(void)state;
	key[COUNTER_ROWS] = 7777;
	assert_int_equal(shield_counters(&shield, 1, &in, &out), -EIO);
	assert_int_equal(shield_counters(&shield, 0, &in, &out), 0);
}

/* --- refused sources ---------------------------------------------------------------- */

static struct {
	size_t count;
	__u64 sum;
	enum wire_class least, most;
} told;

static void on_source(enum wire_class class, const struct refused_source *from,
		      void *context)
{
	assert_ptr_equal(context, &told);
	assert_true(from->tick >= 100 && from->tick < 108);
	if (class < told.least)
		told.least = class;
	if (class > told.most)
		told.most = class;
	told.count++;
	told.sum += from->net;
}

/* One in each place of each log, at ticks from 96 on. */
static void fill_refused(void)
{
	struct fake *f = fake_of(shield.refused);

	for (__u32 key = 0; key < f->count; key++)
		for (size_t i = 0; i < (size_t)FAKE_CPUS * REFUSED_KEPT; i++)
			((struct refused_source *)(f->values + key * f->value))[i] =
				(struct refused_source){
					.net = key * 1000 + i,
					.tick = 96 + i % REFUSED_KEPT,
					.weight = 1,
				};
}

static void sources_of_a_while_are_read(void **state)
{
	__u64 want = 0;

	(void)state;
	fill_refused();
	for (__u32 slot = 0; slot < FAKE_SLOTS; slot++) {
		memset(&told, 0, sizeof(told));
		told.least = CLASS_COUNT;
		assert_int_equal(
			shield_refused(&shield, slot, 100, 108, on_source, &told), 0);
		assert_int_equal(told.count, 8 * FAKE_CPUS * CLASS_COUNT);
		assert_int_equal(told.least, 0);
		assert_int_equal(told.most, CLASS_COUNT - 1);
		want = 0;
		for (__u32 class = 0; class < CLASS_COUNT; class ++)
			for (__u32 i = 0; i < FAKE_CPUS * REFUSED_KEPT; i++)
				if (i % REFUSED_KEPT >= 4 && i % REFUSED_KEPT < 12)
					want += (slot * CLASS_COUNT + class) * 1000 + i;
		assert_int_equal(told.sum, want);
	}
	told.count = 0;
	assert_int_equal(shield_refused(&shield, 0, 108, 108, on_source, &told), 0);
	assert_int_equal(told.count, 0);
	assert_int_equal(shield_refused_forget(&shield, 1), 0);
	assert_int_equal(shield_refused(&shield, 1, 0, 200, on_source, &told), 0);
	assert_int_equal(told.count, 0);
	assert_int_equal(shield_refused(&shield, FAKE_SLOTS, 0, 9, on_source, &told),
			 -EINVAL);
	fake_cpus = -ENOSYS;
	assert_int_equal(shield_refused(&shield, 0, 0, 9, on_source, &told), -ENOSYS);
	assert_int_equal(shield_refused_forget(&shield, 0), -ENOSYS);
	fake_cpus = FAKE_CPUS;
	fake_fails = shield.refused;
	assert_int_equal(shield_refused(&shield, 0, 0, 9, on_source, &told), -EBADF);
	assert_int_equal(shield_refused_forget(&shield, 0), -EBADF);
}

static void whose_turn_it_is_changes(void **state)
{
	__u32 first, tick = refused_tick(shield_clock());
	int changes = 0;

	(void)state;
	assert_true(shield_refused_advance(&shield) - tick < 100);
	first = shield.shared->sampling.phase;
	for (int i = 0; i < 64; i++) {
		shield_refused_advance(&shield);
		changes += (shield.shared->sampling.phase ^ first) % REFUSED_EVERY != 0;
	}
	assert_in_range(changes, 32, 64); /* 56 on average */
}

/* Of a service, and only as long as its family is not among those that are spoken. */
static void another_protocol_is_told(void **state)
{
	struct detected *spoken = &shield.shared->detected[1];
	struct service *service = &shield.shared->tables[0].services[1];
	__u32 now = (__u32)(shield_clock() >> 30), families;

	(void)state;
	shield.shared->generation = 2;
	service->active = 1;
	service->family = FAMILY_QUAKEWORLD;
	*spoken = (struct detected){ Q3, 2, now };
	assert_int_equal(shield_protocol_mismatch(&shield, 1, &families), 2);
	assert_int_equal(families, Q3);
	assert_int_equal(shield_protocol_mismatch(&shield, 0, &families), 0);
	assert_int_equal(families, 0);
	service->family = FAMILY_QUAKE3;
	assert_int_equal(shield_protocol_mismatch(&shield, 1, &families), 0);
	service->family = FAMILY_QUAKEWORLD;
	spoken->words = DETECT_WORDS - 1;
	assert_int_equal(shield_protocol_mismatch(&shield, 1, &families), 0);
	*spoken = (struct detected){ Q3, 2, now - DETECT_AGE_S - 1 };
	assert_int_equal(shield_protocol_mismatch(&shield, 1, &families), 0);
	/* The kernel's clock may be a little ahead of ours. */
	spoken->seen_s = now + 1;
	assert_int_equal(shield_protocol_mismatch(&shield, 1, &families), 2);
	service->active = 0;
	assert_int_equal(shield_protocol_mismatch(&shield, 1, &families), 0);
	assert_int_equal(shield_protocol_mismatch(&shield, SERVICES_MAX, &families), 0);
}

static void the_rest_is_added_up(void **state)
{
	struct counter others[OTHER_COUNT];
	struct sampled sampled[SAMPLER_COUNT];

	(void)state;
	count_all(shield.others, sizeof(struct counter));
	count_all(shield.sampled, sizeof(struct sampled));
	memset(others, 0x5a, sizeof(others));
	assert_int_equal(shield_others(&shield, others), 0);
	for (__u32 i = 0; i < OTHER_COUNT; i++) {
		assert_int_equal(others[i].packets, counted_all(i, 0));
		assert_int_equal(others[i].bytes, counted_all(i, 1));
	}
	assert_int_equal(shield_sampled(&shield, sampled), 0);
	for (__u32 i = 0; i < SAMPLER_COUNT; i++) {
		assert_int_equal(sampled[i].taken, counted_all(i, 0));
		assert_int_equal(sampled[i].limited, counted_all(i, 1));
		assert_int_equal(sampled[i].lost, counted_all(i, 2));
	}
	fake_cpus = -ENOSYS;
	assert_int_equal(shield_others(&shield, others), -ENOSYS);
	assert_int_equal(shield_sampled(&shield, sampled), -ENOSYS);
	fake_cpus = FAKE_CPUS;
	fake_fails = shield.others;
	assert_int_equal(shield_others(&shield, others), -EBADF);
	fake_fails = shield.sampled;
	assert_int_equal(shield_sampled(&shield, sampled), -EBADF);
}

/* --- services ----------------------------------------------------------------------- */

/* Of the generation that is in force, whichever it is. */
static void services_are_those_in_force(void **state)
{
	struct service s;

	(void)state;
	for (__u32 generation = 6; generation < 8; generation++) {
		struct service *all = shield.shared->tables[generation & 1].services;

		strcpy(all[3].name, generation & 1 ? "odd" : "even");
		strcpy(all[SERVICES_MAX - 1].name, "last");
		all[3].active = all[SERVICES_MAX - 1].active = 1;
		all[4].observe = 1;
		shield.shared->generation = generation;
		assert_int_equal(shield_generation(&shield), generation);
		assert_true(shield_service(&shield, 3, &s));
		assert_memory_equal(&s, &all[3], sizeof(s));
		assert_true(shield_service(&shield, SERVICES_MAX - 1, &s));
		assert_string_equal(s.name, "last");
		assert_false(shield_service(&shield, 4, &s));
		assert_false(shield_service(&shield, SERVICES_MAX, &s));
		assert_false(shield_service(&shield, ~0u, &s));
	}
}

/* A share of each class, of the service's own. */
static void budgets_are_spent_by_their_service(void **state)
{
	double spent[CLASS_BUDGETS];

	(void)state;
	shield.shared->generation = 3;
	shield.shared->tables[1].services[2].active = 1;
	for (__u32 class = 0; class < CLASS_BUDGETS; class ++) {
		shield.shared->tables[1].services[2].budget[class].service =
			(struct limit){ SECOND, 64 * SECOND };
		for (__u32 slot = 1; slot < 4; slot++)
			shield.shared->service_due_ns[budget_index(slot, class)] =
				fake_now + (class + slot) * SECOND;
	}
	assert_int_equal(shield_limits_used(&shield, 2, spent), 0);
	for (__u32 class = 0; class < CLASS_BUDGETS; class ++)
		assert_true(spent[class] == (class + 2) / 64.0);
	assert_int_equal(shield_limits_used(&shield, 1, spent), -ENOENT);
}

/* --- who plays, and who is known ---------------------------------------------------- */

static struct player_key key_of(__u32 first, __u32 last, __u16 port, __u16 slot)
{
	struct player_key key = { .port = htobe16(port), .slot = slot };

	key.addr[0] = htobe32(first);
	key.addr[1] = first ? htobe32(last) : 0;
	key.addr[2] = htobe32(first ? 5 : 0xffff);
	key.addr[3] = htobe32(first ? 6 : last);
	return key;
}

static __u32 enter(struct player_key key, __u64 sent_ns, __u8 flags)
{
	struct player fresh = { .sent_ns = sent_ns, .flags = flags, .qport = 9 };
	struct player_id id = player_id(&key);
	__u32 at = players_enter(&shield.shared->players, &id, shield.shared->keys,
				 &fresh, sent_ns);

	assert_in_range(at, 0, PLAYERS_MAX - 1);
	return at;
}

static char shown[1024];

static void show(const struct player_key *key, const struct player *player, void *context)
{
	char line[80];

	assert_ptr_equal(context, &shield);
	assert_int_equal(player->qport, 9);
	snprintf(line, sizeof(line), "%u:%u:%u ", be32toh(key->addr[3]),
		 be16toh(key->port), key->slot);
	strcat(shown, line);
}

/* In the first cell and in the last, and no longer than a minute. */
static void who_plays_is_shown(void **state)
{
	struct player_table *t = &shield.shared->players;
	struct player_key key = key_of(0, 7, 1000, 2);
	struct player fresh = { .sent_ns = fake_now, .qport = 9 };
	struct table_usage tables[TABLE_COUNT];

	(void)state;
	assert_int_equal(shield_players(&shield, show, &shield), 0);
	assert_string_equal(shown, "");
	t->cells[0] = (struct player_cell){ key, PLAYER_HERE, fresh };
	t->tags[0] = 1;
	key.port = htobe16(2000);
	t->cells[PLAYER_WAYS - 1] = (struct player_cell){ key, PLAYER_HERE, fresh };
	key.port = htobe16(3000);
	t->cells[PLAYER_WAYS] = (struct player_cell){ key, PLAYER_HERE, fresh };
	t->tags[1] = 1;
	key.port = htobe16(4000);
	fresh.sent_ns = fake_now - PLAYER_IDLE_NS + 1;
	t->cells[PLAYERS_MAX - 1] = (struct player_cell){ key, PLAYER_HERE, fresh };
	t->tags[(1 << PLAYER_BITS) - 1] = 1ull << 56;
	/* One who left, one who is being entered, one whose tag is gone. */
	fresh.sent_ns--;
	t->cells[1] = (struct player_cell){ key, PLAYER_HERE, fresh };
	t->cells[2] = (struct player_cell){ key, PLAYER_ENTERED, fresh };
	t->cells[5 * PLAYER_WAYS] = (struct player_cell){ key, PLAYER_HERE, fresh };
	assert_int_equal(shield_players(&shield, show, &shield), 0);
	assert_string_equal(shown, "7:1000:2 7:2000:2 7:3000:2 7:4000:2 ");
	shield_table_usage(&shield, tables);
	assert_int_equal(tables[TABLE_PLAYERS].used, 4);
}

static void entries(int fd, __u32 count)
{
	struct list_entry entry = { .origins = LIST_RUNTIME };

	for (__u32 i = 0; i < count; i++) {
		struct cidr cidr = { .length = 128, .addr = { i } };

		assert_int_equal(bpf_map_update_elem(fd, &cidr, &entry, BPF_ANY), 0);
	}
}

static void rooms_are_counted(void **state)
{
	const struct table_usage want[TABLE_COUNT] = {
		[TABLE_PLAYERS] = { 0, PLAYERS_MAX },  [TABLE_ALLOW] = { 3, LIST_MAX },
		[TABLE_DENY] = { 4, LIST_MAX },	       [TABLE_FOLLOW] = { 5, LIST_MAX },
		[TABLE_KNOWN] = { 2, REPUTATION_MAX },
	};
	struct table_usage tables[TABLE_COUNT];
	struct reputation_cell *known = shield.shared->cache.reputation.cells;
	__u32 now = reputation_minute(fake_now);

	(void)state;
	entries(shield.allow, 3);
	entries(shield.deny, 4);
	entries(shield.follow, 5);
	known[0].state = reputation_state(now, REPUTATION_MINUTES, 3, REPUTATION_PRESENT);
	known[REPUTATION_MAX - 1].state = reputation_state(
		now - 1, 0, 3, REPUTATION_PRESENT | REPUTATION_VALIDATED);
	known[2].state = reputation_state(now - 2, 0, 3,
					  REPUTATION_PRESENT | REPUTATION_VALIDATED);
	known[3].state =
		reputation_state(now, REPUTATION_MINUTES - 1, 3, REPUTATION_PRESENT);
	known[4].state = reputation_state(now - REPUTATION_AGE, REPUTATION_MINUTES, 3,
					  REPUTATION_PRESENT);
	memset(tables, 0x5a, sizeof(tables));
	shield_table_usage(&shield, tables);
	assert_memory_equal(tables, want, sizeof(want));
	assert_int_equal(shield_known_count(&shield), 2);
}

static __u64 known_of(__u64 net)
{
	const __u64 *keys;
	const struct reputation_table *t = shield_reputation(&shield, &keys);

	assert_ptr_equal(t, &shield.shared->cache.reputation);
	assert_ptr_equal(keys, shield.shared->keys);
	return reputation_find(t, net, keys);
}

/* A learned port that is silent leads to no service, as in port_lookup(). */
static void silent_ports_are_no_service(void **state)
{
	static const __be32 address[4];
	struct port *port = &shield.shared->tables[0].ports[26001];
	__u32 now = 5000;

	(void)state;
	shield.shared->clock_ns = (__u64)now << 30;
	*port = (struct port){ .any = 3, .flags = PORT_LEARNED };
	port->seen_s = now - LEARNED_PORT_S;
	assert_int_equal(about_service_at(&shield, address, 26001), 2);
	port->seen_s--;
	assert_int_equal(about_service_at(&shield, address, 26001), -1);
	port->flags = 0;
	assert_int_equal(about_service_at(&shield, address, 26001), 2);
}

/* Who plays and has shown that it is there; of IPv6 the /64. */
static void who_plays_is_known(void **state)
{
	__u32 now = reputation_minute(fake_now);
	__u64 want = reputation_state(now, 1, 0, REPUTATION_PLAYER | REPUTATION_PRESENT);

	(void)state;
	enter(key_of(0, 0xc0000201, 1, 0), fake_now, PLAYER_VERIFIED);
	enter(key_of(0, 0xc0000202, 1, 0), fake_now, 0);
	enter(key_of(0, 0xc0000204, 1, 0), fake_now,
	      PLAYER_VERIFIED | PLAYER_NETQUAKE | PLAYER_TAKEN);
	enter(key_of(0, 0xc0000203, 1, 0), fake_now - PLAYER_IDLE_NS, PLAYER_VERIFIED);
	enter(key_of(0x20010db8, 0x12345678, 1, 3), fake_now,
	      PLAYER_VERIFIED | PLAYER_QPORT);
	enter(key_of(0, 0, 1, 0), fake_now, PLAYER_VERIFIED);
	shield_known_add_players(&shield);
	assert_int_equal(known_of(0xc0000201), want);
	assert_int_equal(known_of(0xc0000202), 0);
	assert_int_equal(known_of(0xc0000203), 0);
	assert_int_equal(known_of(0xc0000204), 0);
	assert_true(known_of(0x20010db812345678) == want);
	assert_int_equal(shield_known_count(&shield), 2);
}

static void know(__u64 net, __u32 minute, __u32 flags)
{
	reputation_note(&shield.shared->cache.reputation, net, 0, flags, minute,
			shield.shared->keys);
}

/* Around who is known, as young as the youngest there; of a network there is none. */
static void networks_around_are_known(void **state)
{
	__u32 now = reputation_minute(fake_now);
	__u64 net4 = reputation_network(0xc0000201),
	      net6 = reputation_network(0x20010db812345678);

	(void)state;
	know(0xc0000201, now - 10, REPUTATION_PLAYER);
	know(0xc0000202, now - 5, REPUTATION_PLAYER);
	know(0xc0000203, now - 7, REPUTATION_PLAYER);
	know(0xc6336401, now - REPUTATION_AGE, REPUTATION_PLAYER);
	know(0xc6336501, now - REPUTATION_AGE + 1, REPUTATION_PLAYER);
	know(0xc6336601, now, 0); /* asked once: not known yet */
	know(0x20010db812345678, now - 3, REPUTATION_PLAYER);
	shield_known_add_networks(&shield);
	assert_int_equal(reputation_flags(known_of(net4)),
			 REPUTATION_NETWORK | REPUTATION_PRESENT);
	assert_int_equal((__u32)known_of(net4), now - 5);
	assert_int_equal((__u32)known_of(net6), now - 3);
	assert_true(known_of(reputation_network(0xc6336401)) == 0);
	assert_int_equal((__u32)known_of(reputation_network(0xc6336501)),
			 now - REPUTATION_AGE + 1);
	assert_true(known_of(reputation_network(0xc6336601)) == 0);
	assert_true(known_of(reputation_network(net4)) == 0);
	assert_true(known_of(reputation_network(net6)) == 0);
	/* Again: nothing new; and one that plays now makes its network younger. */
	shield_known_add_networks(&shield);
	assert_int_equal((__u32)known_of(net4), now - 5);
	know(0xc0000203, now, REPUTATION_PLAYER);
	shield_known_add_networks(&shield);
	assert_int_equal((__u32)known_of(net4), now);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_slot_has_its_counters),
		TEST(a_counter_that_moves_is_counted_once),
		TEST(counters_of_another_are_refused),
		TEST(sources_of_a_while_are_read),
		TEST(whose_turn_it_is_changes),
		TEST(another_protocol_is_told),
		TEST(the_rest_is_added_up),
		TEST(services_are_those_in_force),
		TEST(budgets_are_spent_by_their_service),
		TEST(who_plays_is_shown),
		TEST(rooms_are_counted),
		TEST(silent_ports_are_no_service),
		TEST(who_plays_is_known),
		TEST(networks_around_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
