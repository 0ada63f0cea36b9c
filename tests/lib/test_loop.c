// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_loop.c - who is called when: timers of one pace together, those that run once
 * once, descriptors that come and go while others are being served.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/loop.h"

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Timers cannot be taken away, so all tests share these. */
static struct {
	unsigned int fast, slow, once, again;
	unsigned int apart; /* ticks of the slow that were no ticks of the fast */
	int64_t fast_ms, begun_ms, once_ms;
	unsigned int stop_after; /* ticks of the slow one; 0: never */
} seen;

static void on_fast(void *context)
{
	(void)context;
	seen.fast++;
	seen.fast_ms = now_ms();
}

static void on_slow(void *context)
{
	(void)context;
	seen.slow++;
	/* Added later, so called later of those that are due. */
	seen.apart += now_ms() - seen.fast_ms > 10;
	if (seen.slow == seen.stop_after)
		loop_stop();
}

static void on_once(void *context)
{
	seen.once++;
	seen.once_ms = now_ms();
	if (seen.again) {
		seen.again--;
		assert_true(loop_once(10, on_once, context));
	}
}

static void timers_of_one_pace_tick_together(void **state)
{
	(void)state;
	assert_true(loop_every(40, on_fast, NULL));
	usleep(20000); /* begun at another moment, all the same */
	assert_true(loop_every(80, on_slow, NULL));
	seen.stop_after = 4;
	seen.begun_ms = now_ms();
	assert_int_equal(loop_run(), 0);
	assert_int_equal(seen.slow, 4);
	assert_in_range(seen.fast, 5, 9);
	/* A busy machine may come between. */
	assert_in_range(seen.apart, 0, 2);
	assert_in_range(now_ms() - seen.begun_ms, 240, 10000);
}

static void once_is_once(void **state)
{
	(void)state;
	seen.stop_after = seen.slow + 2;
	seen.begun_ms = now_ms();
	assert_true(loop_once(30, on_once, NULL));
	/* It waits already, and is not put off. */
	assert_true(loop_once(10000, on_once, NULL));
	assert_int_equal(loop_run(), 0);
	assert_int_equal(seen.once, 1);
	assert_in_range(seen.once_ms - seen.begun_ms, 29, 10000);
	/* One may be set again from within, and each context has its own. */
	seen.once = 0;
	seen.again = 3;
	seen.stop_after = seen.slow + 4;
	assert_true(loop_once(5, on_once, &seen));
	assert_true(loop_once(5, on_once, NULL));
	assert_int_equal(loop_run(), 0);
	assert_int_equal(seen.once, 5);
}

static void places_are_used_again(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 3 * LOOP_MAX; round++) {
		seen.stop_after = 0;
		assert_true(loop_once(0, (void (*)(void *))loop_stop, NULL));
		assert_int_equal(loop_run(), 0);
	}
}

/* --- descriptors --------------------------------------------------------------- */

static struct {
	int fd[2][2];
	unsigned int ready[2];
} pipes;

static void on_second(void *context)
{
	char byte;

	(void)context;
	assert_int_equal(read(pipes.fd[1][0], &byte, 1), 1);
	pipes.ready[1]++;
	loop_stop();
}

/* Takes itself away, and brings one who is ready already. */
static void on_first(void *context)
{
	(void)context;
	pipes.ready[0]++;
	loop_remove(pipes.fd[0][0]);
	assert_int_equal(write(pipes.fd[1][1], "x", 1), 1);
	assert_true(loop_add(pipes.fd[1][0], on_second, NULL));
}

static void descriptors_come_and_go(void **state)
{
	(void)state;
	seen.stop_after = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pipe(pipes.fd[i]), 0);
	assert_int_equal(write(pipes.fd[0][1], "x", 1), 1);
	assert_true(loop_add(pipes.fd[0][0], on_first, NULL));
	assert_int_equal(loop_run(), 0);
	assert_int_equal(pipes.ready[0], 1);
	assert_int_equal(pipes.ready[1], 1);
	loop_remove(pipes.fd[1][0]);
	assert_false(loop_add(-1, on_first, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_of_one_pace_tick_together),
		cmocka_unit_test(once_is_once),
		cmocka_unit_test(places_are_used_again),
		cmocka_unit_test(descriptors_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
