// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Several processors on one table, as the packets of one flood are: a limit while the
 * clock moves, players and proven addresses in one bucket. What is exact on one processor
 * is exact here, whoever comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "players.h"
#include "validated.h"

#define THREADS 4
#define START	(1ull << 50)

static const __u64 one_bucket[3] = { 0 }; /* keys by which all names are alike */

static pthread_barrier_t gate;

struct racer {
	size_t number; /* 0 to THREADS - 1 */
	size_t result;
};

/* All run @body at once, each with its own number; the sum of their results. */
static size_t race(void *(*body)(void *))
{
	struct racer racers[THREADS];
	pthread_t threads[THREADS];
	size_t sum = 0;

	assert_int_equal(pthread_barrier_init(&gate, NULL, THREADS), 0);
	for (size_t i = 0; i < THREADS; i++) {
		racers[i] = (struct racer){ .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, body, &racers[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += racers[i].result;
	}
	pthread_barrier_destroy(&gate);
	return sum;
}

/* --- a limit, and a clock that each try moves
 * -------------------------------------------
 */

#define TRIES 50000 /* of each thread */
#define EACH  8 /* tries for which the time is enough for one */
#define BURST 1000

static struct {
	struct limit limit;
	__u64 due, now;
} spent;

static void *take_always(void *argument)
{
	struct racer *racer = argument;

	pthread_barrier_wait(&gate);
	for (int i = 0; i < TRIES; i++) {
		__u64 now = __atomic_add_fetch(&spent.now, spent.limit.cost_ns / EACH,
					       __ATOMIC_RELAXED);

		racer->result += limit_take(&spent.limit, &spent.due, now);
	}
	return NULL;
}

/*
 * In a burst and in the time that passed there is room for so many, and not for one more.
 * Who lost races is refused, and what it left is still there afterwards: as long as there
 * are EACH tries for each request that has room, the bucket is never full for long.
 */
static void a_moving_clock_lets_no_more_through(void **state)
{
	const __u64 cost = 8000, room = BURST + THREADS * TRIES / EACH;
	size_t passed;

	(void)state;
	spent.limit = (struct limit){ cost, BURST * cost };
	spent.due = 0;
	spent.now = START;
	passed = race(take_always);
	assert_in_range(passed, room - BURST, room);
	assert_true(spent.due <= spent.now + BURST * cost);
	assert_true(spent.due >= START + passed * cost);
	while (limit_take(&spent.limit, &spent.due, spent.now))
		passed++;
	assert_in_range(passed, room - 1, room);
}

/* --- players in one bucket ------------------------------------------------------------
 */

#define ROUNDS	    1000
#define EACH_ENTERS 3 /* so that there are half as many again as there is room for */

static struct player_table *players;
static __u64 rounds_now;
static size_t cell_of[THREADS][EACH_ENTERS];

static struct player_id player_nth(size_t i)
{
	struct player_key key = {
		.addr = { 0, 0, htonl(0xffff), htonl(0x0a000001 + (__u32)i) },
		.port = htons(27960),
	};

	return player_id(&key);
}

static void *enter_players(void *argument)
{
	const size_t me = ((struct racer *)argument)->number;

	pthread_barrier_wait(&gate);
	for (size_t i = 0; i < EACH_ENTERS; i++) {
		struct player_id id = player_nth(me * EACH_ENTERS + i);
		struct player fresh = { .sent_ns = rounds_now,
					.packets = (__u32)(me * EACH_ENTERS + i) };

		cell_of[me][i] =
			players_enter(players, &id, one_bucket, &fresh, rounds_now);
	}
	return NULL;
}

static void *remove_players(void *argument)
{
	const size_t me = ((struct racer *)argument)->number;

	pthread_barrier_wait(&gate);
	for (size_t i = 0; i < EACH_ENTERS; i++) {
		struct player_id id = player_nth(me * EACH_ENTERS + i);

		if (cell_of[me][i] < PLAYERS_MAX)
			players_remove(players, (__u32)cell_of[me][i], &id,
				       rounds_now + PLAYER_IDLE_NS);
	}
	return NULL;
}

/* How many of all are in the table, each where it was told, with what is its own. */
static size_t players_in(void)
{
	size_t in = 0, taken = 0;

	for (size_t i = 0; i < (size_t)THREADS * EACH_ENTERS; i++) {
		struct player_id id = player_nth(i);
		size_t told = cell_of[i / EACH_ENTERS][i % EACH_ENTERS];

		assert_int_equal(players_find(players, &id, one_bucket), told);
		if (told == PLAYERS_MAX)
			continue;
		assert_int_equal(players->cells[told].player.packets, i);
		assert_int_equal(taken & 1u << told, 0);
		taken |= 1u << told;
		in++;
	}
	return in;
}

/* Twelve for the eight cells of a bucket: eight are in, and all of them leave. */
static void a_bucket_takes_eight_whoever_is_first(void **state)
{
	static const struct player_id none;

	(void)state;
	players = calloc(1, sizeof(*players));
	assert_non_null(players);
	for (int round = 0; round < ROUNDS; round++) {
		rounds_now = START + (__u64)round;
		race(enter_players);
		assert_int_equal(players_in(), PLAYER_WAYS);
		race(remove_players);
		assert_int_equal(players->tags[0], 0);
		for (int way = 0; way < PLAYER_WAYS; way++)
			assert_int_equal(players->cells[way].state, PLAYER_NONE);
	}
	assert_int_equal(players_find(players, &none, one_bucket), PLAYERS_MAX);
	free(players);
}

/* One stays while the other threads come and go beside it: it is found at any time. */
static void *stay_or_go(void *argument)
{
	struct racer *racer = argument;
	struct player_id id = player_nth(racer->number);
	struct player fresh = { .sent_ns = START, .packets = (__u32)racer->number };

	pthread_barrier_wait(&gate);
	for (int i = 0; i < 100000; i++) {
		__u32 at;

		if (racer->number) {
			at = players_enter(players, &id, one_bucket, &fresh, START);
			players_remove(players, at, &id, START + PLAYER_IDLE_NS);
			continue;
		}
		at = players_find(players, &id, one_bucket);
		racer->result += at == 0 && players->cells[0].player.packets == 0;
	}
	return NULL;
}

static void who_stays_is_always_found(void **state)
{
	struct player_id id = player_nth(0);
	struct player fresh = { .sent_ns = START };

	(void)state;
	players = calloc(1, sizeof(*players));
	assert_non_null(players);
	assert_int_equal(players_enter(players, &id, one_bucket, &fresh, START), 0);
	assert_int_equal(race(stay_or_go), 100000);
	assert_int_equal(players->tags[0], players_tag(players_hash(&id, one_bucket)));
	free(players);
}

/* --- proven addresses in one bucket
 * ----------------------------------------------------- */

static struct validated_table *proven;
static const __u64 one_each[3] = { 0, 1 << 11, 0 }; /* one bucket, and a tag for each */

static struct cookie_peer asker_nth(size_t i)
{
	return (struct cookie_peer){ { 0, 0xffff0000ull | (__u64)(i + 1) << 32, 27960 } };
}

static void *enter_validated(void *argument)
{
	struct racer *racer = argument;
	struct cookie_peer who = asker_nth(racer->number);
	struct validated_cell *cell = NULL;

	pthread_barrier_wait(&gate);
	/* Who loses a race is told so, and comes again with its next datagram. */
	for (int i = 0; i < 1000 && !cell; i++)
		cell = validated_enter(proven, &who, one_each, rounds_now);
	if (cell) {
		cell->cookie = (__u32)racer->number;
		racer->result = 1;
	}
	return NULL;
}

static void a_bucket_of_the_proven_takes_four(void **state)
{
	(void)state;
	proven = calloc(1, sizeof(*proven));
	assert_non_null(proven);
	for (int round = 0; round < ROUNDS; round++) {
		rounds_now = START + (__u64)round;
		for (int way = 0; way < VALIDATED_WAYS; way++)
			proven->cells[way] = (struct validated_cell){ .used_ns = 0 };
		proven->tags[0] = 0;
		assert_int_equal(race(enter_validated), THREADS);
		for (size_t i = 0; i < THREADS; i++) {
			struct cookie_peer who = asker_nth(i);
			struct validated_cell *cell =
				validated_find(proven, &who, one_each, rounds_now);

			assert_non_null(cell);
			assert_int_equal(cell->cookie, i);
		}
	}
	free(proven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moving_clock_lets_no_more_through),
		cmocka_unit_test(a_bucket_takes_eight_whoever_is_first),
		cmocka_unit_test(who_stays_is_always_found),
		cmocka_unit_test(a_bucket_of_the_proven_takes_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
