// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_tap.c - the times of a tap's frames: by a wall clock that is set meanwhile, and of
 * frames that wait in a network namespace of the test's own. How many of them were lost.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "apart.h"
#include "capture/tap.h"
#include "capture/tap_clock.h"

#define MS	 1000000ll
#define SECOND	 (1000 * MS)
#define WALL	 (1700000000 * SECOND) /* CLOCK_REALTIME when CLOCK_MONOTONIC is 0 */
#define GAP	 (40 * MS)
#define SENT	 5
#define LARGE	 60000 /* bytes of a payload */
#define MANY	 200 /* of them: 12 MB, each shown as it leaves and as it arrives */
#define LISTENED 9 /* a port where nothing listens */

/* --- the clock -------------------------------------------------------------------- */

static struct tap_clock after_empty_queue(void)
{
	struct tap_clock c = { 0 };

	tap_clock_set(&c, WALL, 0);
	return c;
}

static void frames_have_the_time_of_their_stamps(void **state)
{
	struct tap_clock c = after_empty_queue();

	(void)state;
	for (int64_t at = MS; at < SECOND; at += GAP)
		assert_int_equal(
			tap_clock_time(&c, WALL + at, WALL + 9 * SECOND, 9 * SECOND), at);
}

/* Frames of a second wait. After half of them the wall clock is set by @step. */
static void step_by(int64_t step)
{
	struct tap_clock c = after_empty_queue();

	for (int64_t at = MS; at < SECOND; at += GAP) {
		int64_t stamp = WALL + at + (at < SECOND / 2 ? 0 : step);

		assert_int_equal(tap_clock_time(&c, stamp, WALL + 2 * SECOND + step,
						2 * SECOND),
				 at);
	}
}

static void wall_clock_that_is_set_changes_no_time(void **state)
{
	(void)state;
	step_by(3600 * SECOND);
	step_by(-3600 * SECOND);
	step_by(-10 * SECOND);
	step_by(10 * SECOND);
}

static void time_stays_between_the_frame_before_and_now(void **state)
{
	struct tap_clock c = after_empty_queue();
	int64_t before = 0;

	(void)state;
	/* Steps that are smaller than the gaps, to and fro. */
	for (int i = 1; i < 100; i++) {
		int64_t now = i * GAP, step = (i % 7 - 3) * 11 * MS, time_ns;

		time_ns = tap_clock_time(&c, WALL + now + step, WALL + now + step, now);
		assert_in_range(time_ns, before, now);
		before = time_ns;
	}
}

/* No difference of the clocks fits a frame if the wall clock is set twice meanwhile. */
static void stamp_that_fits_nothing_is_bounded(void **state)
{
	struct tap_clock c = after_empty_queue();

	(void)state;
	assert_int_equal(tap_clock_time(&c, WALL + SECOND, WALL + 2 * SECOND, 2 * SECOND),
			 SECOND);
	assert_int_equal(tap_clock_time(&c, WALL + 9 * SECOND, WALL + 2 * SECOND,
					2 * SECOND),
			 2 * SECOND);
	assert_int_equal(tap_clock_time(&c, WALL - 9 * SECOND, WALL + 3 * SECOND,
					3 * SECOND),
			 2 * SECOND);
	assert_int_equal(tap_clock_time(&c, WALL + 3 * SECOND, WALL + 4 * SECOND,
					4 * SECOND),
			 3 * SECOND);
}

static void slow_wall_clock_is_followed(void **state)
{
	struct tap_clock c = after_empty_queue();
	int64_t wall = WALL;

	(void)state;
	for (int i = 1; i < 10000; i++) {
		wall += SECOND - MS / 2;
		tap_clock_set(&c, wall, i * SECOND);
		assert_int_equal(tap_clock_time(&c, wall, wall, i * SECOND), i * SECOND);
	}
}

/* --- the socket ------------------------------------------------------------------- */

static void send_datagram(size_t bytes)
{
	static const char payload[LARGE];
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(LISTENED),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(sendto(fd, payload, bytes, 0, (const struct sockaddr *)&to,
				sizeof(to)),
			 bytes);
	close(fd);
}

static void wait_ns(int64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static int64_t steady_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static struct tap *tap_of_loopback(void)
{
	int ifindex = (int)if_nametoindex("lo");
	struct tap *tap = NULL;

	assert_int_equal(tap_open(&ifindex, 1, &tap), 0);
	return tap;
}

static void frames_that_wait_keep_their_times(void **state)
{
	struct tap *tap = tap_of_loopback();
	struct capture_frame frame;
	int64_t sent[SENT], begun;

	(void)state;
	/* The kernel begins to stamp frames a moment later. */
	wait_ns(5 * GAP);
	begun = steady_ns();
	for (int i = 0; i < SENT; i++) {
		send_datagram(10);
		sent[i] = steady_ns();
		wait_ns(GAP);
	}
	for (int i = 0; i < SENT; i++) {
		/* As it leaves, and as it arrives. */
		for (int way = 0; way < 2; way++) {
			assert_true(tap_next(tap, &frame));
			assert_int_equal(frame.way, way ? PACKET_RECEIVED : PACKET_SENT);
			assert_in_range(frame.time_ns, i ? sent[i - 1] + GAP / 2 : begun,
					sent[i]);
		}
	}
	assert_false(tap_next(tap, &frame));
	assert_int_equal(tap_lost(tap), 0);
	tap_close(tap);
}

static void frames_without_room_are_counted(void **state)
{
	struct tap *tap = tap_of_loopback();
	struct capture_frame frame;
	uint64_t read = 0;

	(void)state;
	for (int i = 0; i < MANY; i++)
		send_datagram(LARGE);
	while (tap_next(tap, &frame))
		read++;
	assert_in_range(read, 1, 2 * MANY - 1);
	assert_int_equal(read + tap_lost(tap), 2 * MANY);
	/* The sum stays. */
	assert_int_equal(read + tap_lost(tap), 2 * MANY);
	tap_close(tap);
}

int main(void)
{
	const struct CMUnitTest clock[] = {
		cmocka_unit_test(frames_have_the_time_of_their_stamps),
		cmocka_unit_test(wall_clock_that_is_set_changes_no_time),
		cmocka_unit_test(time_stays_between_the_frame_before_and_now),
		cmocka_unit_test(stamp_that_fits_nothing_is_bounded),
		cmocka_unit_test(slow_wall_clock_is_followed),
	};
	const struct CMUnitTest socket[] = {
		cmocka_unit_test(frames_that_wait_keep_their_times),
		cmocka_unit_test(frames_without_room_are_counted),
	};
	int failed = cmocka_run_group_tests(clock, NULL, NULL);

	if (!apart(CLONE_NEWNET) || system("ip link set lo up 2>/dev/null"))
		return failed | apart_refused();
	return failed | cmocka_run_group_tests(socket, NULL, NULL);
}
