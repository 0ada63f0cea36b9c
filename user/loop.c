// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "loop.h"

struct watch {
	int fd; /* -1: free */
	void (*ready)(void *context);
	void *context;
};

struct timer {
	int64_t every_ms; /* 0: free */
	int64_t due_ms;
	void (*tick)(void *context);
	void *context;
};

static struct watch watches[LOOP_MAX];
static size_t watch_count;
static struct timer timers[LOOP_MAX];
static size_t timer_count;
static bool stopped;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool loop_add(int fd, void (*ready)(void *context), void *context)
{
	size_t i = 0;

	while (i < watch_count && watches[i].fd >= 0)
		i++;
	if (i == LOOP_MAX || fd < 0)
		return false;
	watches[i] = (struct watch){ fd, ready, context };
	if (i == watch_count)
		watch_count++;
	return true;
}

void loop_remove(int fd)
{
	for (size_t i = 0; i < watch_count; i++)
		if (watches[i].fd == fd)
			watches[i].fd = -1;
}

bool loop_every(int ms, void (*tick)(void *context), void *context)
{
	if (timer_count == LOOP_MAX || ms <= 0)
		return false;
	timers[timer_count++] = (struct timer){ ms, now_ms() + ms, tick, context };
	return true;
}

/* Run what is due; how long until the next, in ms, -1: there is none. */
static int run_timers(void)
{
	int64_t now = now_ms(), next = -1;

	for (size_t i = 0; i < timer_count && !stopped; i++) {
		struct timer *t = &timers[i];

		if (t->due_ms <= now) {
			t->tick(t->context);
			/* What was missed is not made up for. */
			t->due_ms = now_ms() + t->every_ms;
		}
		if (next < 0 || t->due_ms < next)
			next = t->due_ms;
	}
	now = now_ms();
	return next < 0 ? -1 : next <= now ? 0 : (int)(next - now);
}

int loop_run(void)
{
	struct pollfd waiting[LOOP_MAX];
	int wait_ms, ready;

	stopped = false;
	for (;;) {
		wait_ms = run_timers();
		if (stopped)
			return 0;
		for (size_t i = 0; i < watch_count; i++)
			waiting[i] =
				(struct pollfd){ .fd = watches[i].fd, .events = POLLIN };
		ready = poll(waiting, watch_count, wait_ms);
		if (ready < 0 && errno != EINTR)
			return -errno;
		for (size_t i = 0; ready > 0 && i < watch_count && !stopped; i++)
			if (waiting[i].revents && watches[i].fd == waiting[i].fd)
				watches[i].ready(watches[i].context);
	}
}

void loop_stop(void)
{
	stopped = true;
}
