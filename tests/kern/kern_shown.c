// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_shown.c - what the daemon gets to see, in the kernel: one in so many of all, and
 * all of those whom it follows; what is over a sampler's rate, or found no room.
 * stubs: shield_cache shield_joined
 */
#include <sched.h>

#include "kern/kern_game.h"

static const char status[900] = OOB "statusResponse\n";

static struct {
	struct sample head[64];
	unsigned int count;
} shown;

static int show(void *context, void *data, size_t size)
{
	(void)context;
	assert_true(size >= sizeof(struct sample));
	assert_in_range(shown.count, 0, COUNT(shown.head) - 1);
	memcpy(&shown.head[shown.count], data, sizeof(struct sample));
	assert_int_equal(size - sizeof(struct sample), shown.head[shown.count].kept);
	shown.count++;
	return 0;
}

static void look(void)
{
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(kern.skel->maps.samples), show, NULL, NULL);

	assert_non_null(ring);
	shown.count = 0;
	assert_true(ring_buffer__consume(ring) >= 0);
	ring_buffer__free(ring);
}

static void sample(__u32 every, __u32 follow_first)
{
	struct sampling *s = &kern.live->sampling;

	*s = (struct sampling){ .every = every, .follow_first = follow_first, .any = 1 };
	for (int i = 0; i < SAMPLER_COUNT; i++)
		s->limit[i] = kern_rate(1000000, 1000000);
}

/* One in so many of each counter, from the first on; a flood is shown no more often. */
static void one_in_so_many_is_shown(void **state)
{
	cpu_set_t here;

	(void)state;
	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
	serve(FAMILY_QUAKE3);
	sample(8, 0);
	for (int i = 0; i < 80; i++)
		ask(PEER, HERE);
	look();
	assert_int_equal(shown.count, 10);
	for (unsigned int i = 0; i < shown.count; i++)
		assert_int_equal(shown.head[i].sampler, SAMPLER_STATISTIC);
	for (int i = 0; i < 16; i++)
		assert_true(says(BYTES(OOB "print\nx")));
	look();
	assert_int_equal(shown.count, 2);
	assert_int_equal(shown.head[0].direction, DIRECTION_S2C);
	sample(0, 1);
	ask(PEER, HERE);
	look();
	assert_int_equal(shown.count, 0);
}

/* A follower needs whole datagrams; of a flood the beginnings are enough. */
static void who_is_followed_is_shown_whole(void **state)
{
	static char big[1200] = { 9 };

	(void)state;
	serve(FAMILY_QUAKE3);
	sample(1, 1);
	assert_true(says(big, sizeof(big)));
	assert_true(says(status, sizeof(status)));
	assert_true(is_player(PEER, HERE, big, sizeof(big)));
	hear_from(STRANGER, HERE, status, sizeof(status));
	look();
	assert_int_equal(shown.count, 4);
	for (unsigned int i = 0; i < shown.count; i++) {
		bool follows = i % 2 == 0;

		assert_int_equal(shown.head[i].sampler,
				 follows ? SAMPLER_FOLLOW : SAMPLER_STATISTIC);
		assert_int_equal(shown.head[i].length,
				 42 + (follows ? sizeof(big) : sizeof(status)));
		assert_int_equal(shown.head[i].kept,
				 follows ? 42 + sizeof(big) : SAMPLE_STATISTIC_BYTES);
	}
}

/* The server's half of every handshake is shown to who follows. */
static void handshakes_are_followed(void **state)
{
	static const struct {
		enum wire_family family;
		const char *said;
		size_t n;
		bool follows;
	} rows[] = {
		{ FAMILY_QUAKEWORLD, BYTES(OOB "c123"), true },
		{ FAMILY_QUAKE2, BYTES(OOB "challenge 7"), true },
		{ FAMILY_QUAKE3, BYTES(OOB "challengeResponse 7"), true },
		{ FAMILY_NETQUAKE, BYTES("\x80\0\0\x09\x81\x38\x6d\0\0"), true },
		{ FAMILY_QUAKEWORLD, BYTES(OOB "nno\n"), false },
		{ FAMILY_QUAKE3, BYTES(OOB "print\nno"), false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		serve(rows[i].family);
		sample(0, 100);
		assert_true(says(rows[i].said, rows[i].n));
		look();
		assert_int_equal(shown.count, rows[i].follows);
	}
}

/* --- who is followed ----------------------------------------------------------------
 */

/* As many as were asked for, and not one more. */
static void only_the_first_are_followed(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	sample(0, 2);
	for (__u16 i = 0; i < 4; i++) {
		struct player player = { 0 };

		link_.dport = HERE + i;
		assert_true(sent(1));
		assert_true(player_read(link_.dport, &player));
		assert_int_equal(!!(player.flags & PLAYER_FOLLOWED), i < 2);
	}
	assert_int_equal(kern.live->followed, 2);
}

/* Who will be a player is not known yet: what asks to join, and is let in, is shown. */
static void who_asks_to_join_is_shown(void **state)
{
	static const struct {
		const char *asks;
		size_t n;
		bool shown;
	} rows[] = {
		{ BYTES(OOB "getchallenge"), true },
		{ BYTES(OOB "connect \"\\name\\x\""), true },
		{ BYTES(OOB "getstatus"), false },
	};
	struct service s = kern_open_service(FAMILY_QUAKE3);

	(void)state;
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	sample(0, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		hear_from(STRANGER, HERE, rows[i].asks, rows[i].n);
		look();
		assert_int_equal(shown.count, rows[i].shown);
		if (rows[i].shown)
			assert_int_equal(shown.head[0].sampler, SAMPLER_FOLLOW);
	}
	s.budget[CLASS_CHALLENGE].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	assert_int_equal(hear_from(STRANGER, HERE, BYTES(OOB "getchallenge")).action,
			 XDP_DROP);
	look();
	assert_int_equal(shown.count, 0);
}

/* Under load each join is of a client that has returned a cookie. */
static void joins_of_validated_clients_are_shown(void **state)
{
	struct service s = kern_open_service(FAMILY_QUAKE3);
	struct cookie_peer peer = { { 0 } };
	__be32 address[4];

	(void)state;
	s.validation = VALIDATION_ALWAYS;
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	sample(0, 1);
	kern_address(PEER, address);
	memcpy(peer.word, address, sizeof(address));
	peer.word[2] = htons(HERE);
	validated_enter(&kern.live->validation.validated, &peer, kern.live->keys,
			kern.live->clock_ns)
		->flags = VALIDATED_COOKIE;
	assert_int_equal(hear_from(PEER, HERE, BYTES(OOB "connect \"\\name\\x\"")).reason,
			 REASON_VALIDATED);
	look();
	assert_int_equal(shown.count, 1);
	assert_int_equal(shown.head[0].sampler, SAMPLER_FOLLOW);
}

/* A player on `allow --unlimited` is followed like any other, and its joining is shown.
 */
static void unlimited_players_are_followed(void **state)
{
	char move[40] = { 1 };

	(void)state;
	serve(FAMILY_QUAKE3);
	kern_allow_all(&kern, PEER, 128);
	sample(0, 1);
	assert_int_equal(hear_from(PEER, HERE, BYTES(OOB "getchallenge")).reason,
			 REASON_ALLOW_LIST);
	look();
	assert_int_equal(shown.count, 1);
	assert_true(sent(1));
	assert_int_equal(hear_from(PEER, HERE, move, sizeof(move)).reason,
			 REASON_ALLOW_LIST);
	look();
	assert_int_equal(shown.count, 2);
	assert_int_equal(shown.head[1].direction, DIRECTION_C2S);
	assert_int_equal(shown.head[1].sampler, SAMPLER_FOLLOW);
	hear_from(PEER, HERE + 1, move, sizeof(move)); /* no player */
	look();
	assert_int_equal(shown.count, 0);
}

/* What somebody else says in the name of one who is followed is none of its words. */
static void forgeries_are_not_followed(void **state)
{
	(void)state;
	serve(FAMILY_QUAKE3);
	sample(0, 1);
	assert_true(sent(1));
	for (__u32 i = 1; i <= 10; i++)
		assert_true(q3_heard(HERE, i, 77, 0));
	look();
	assert_int_equal(shown.count, 11);
	assert_false(q3_heard(HERE, 11, 78, 0));
	pass_time(400 << 20);
	assert_false(q3_heard(HERE, 300, 77, 0)); /* perhaps, if another continues it */
	look();
	assert_int_equal(shown.count, 0);
	assert_true(q3_heard(HERE, 11, 77, 0));
	look();
	assert_int_equal(shown.count, 1);
}

/* --- what is not shown ----------------------------------------------------------------
 */

/* What became of the samples of @sampler. */
static struct sampled became(__u32 sampler)
{
	struct sampled each[256], sum = { 0 };
	int fd = bpf_map__fd(kern.skel->maps.sampled);

	assert_in_range(kern.cpus, 1, COUNT(each));
	assert_int_equal(bpf_map_lookup_elem(fd, &sampler, each), 0);
	for (int cpu = 0; cpu < kern.cpus; cpu++) {
		sum.taken += each[cpu].taken;
		sum.limited += each[cpu].limited;
		sum.lost += each[cpu].lost;
	}
	return sum;
}

/* Each has a rate of its own: a flood of loose samples takes nothing from a follower. */
static void a_sampler_has_its_own_rate(void **state)
{
	static const struct sampled want[SAMPLER_COUNT] = {
		[SAMPLER_STATISTIC] = { .taken = 2, .limited = 4 },
		[SAMPLER_FOLLOW] = { .taken = 5, .limited = 6 },
	};

	(void)state;
	serve(FAMILY_QUAKE3);
	sample(1, 1);
	kern.live->sampling.limit[SAMPLER_STATISTIC] = kern_rate(10, 2);
	kern.live->sampling.limit[SAMPLER_FOLLOW] = kern_rate(10, 5);
	for (int i = 0; i < 6; i++)
		ask(STRANGER, HERE);
	assert_true(sent(1));
	for (__u32 i = 1; i <= 10; i++)
		assert_true(q3_heard(HERE, i, 77, 0));
	look();
	assert_int_equal(shown.count, 2 + 5);
	for (__u32 i = 0; i < SAMPLER_COUNT; i++) {
		struct sampled is = became(i);

		assert_memory_equal(&is, &want[i], sizeof(is));
	}
}

static int count_only(void *context, void *data, size_t size)
{
	(void)data;
	assert_true(size > sizeof(struct sample));
	++*(unsigned int *)context;
	return 0;
}

/* Nobody reads: what the ring takes is there afterwards, and the rest is counted. */
static void what_found_no_room_is_lost(void **state)
{
	static char big[1400] = { 1 };
	struct ring_buffer *ring;
	unsigned int there = 0;
	struct sampled is;

	(void)state;
	serve(FAMILY_QUAKE3);
	sample(0, 1);
	for (int i = 0; i < 4000; i++)
		assert_true(says(big, sizeof(big)));
	is = became(SAMPLER_FOLLOW);
	assert_int_equal(is.taken + is.lost, 4000);
	assert_int_equal(is.limited, 0);
	ring = ring_buffer__new(bpf_map__fd(kern.skel->maps.samples), count_only, &there,
				NULL);
	assert_non_null(ring);
	assert_true(ring_buffer__consume(ring) >= 0);
	ring_buffer__free(ring);
	assert_int_equal(there, is.taken);
	assert_in_range(there, SAMPLES_BYTES / 1500, SAMPLES_BYTES / 1466);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_in_so_many_is_shown),
		TEST(who_is_followed_is_shown_whole),
		TEST(handshakes_are_followed),
		TEST(only_the_first_are_followed),
		TEST(who_asks_to_join_is_shown),
		TEST(forgeries_are_not_followed),
		TEST(a_sampler_has_its_own_rate),
		TEST(what_found_no_room_is_lost),
		TEST(joins_of_validated_clients_are_shown),
		TEST(unlimited_players_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
