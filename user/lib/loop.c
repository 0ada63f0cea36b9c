// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * loop.c - see loop.h.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lib/loop.h"

struct watch {
	int fd; /* -1: free */
	void (*ready)(void *context);
	void *context;
};

struct timer {
	int64_t every_ms; /* 0: once */
	int64_t due_ms;
	void (*tick)(void *context); /* NULL: free */
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

static bool timer_add(const struct timer *timer)
{
	size_t i = 0;

	while (i < timer_count && timers[i].tick)
		i++;
	if (i == LOOP_MAX)
		return false;
	timers[i] = *timer;
	if (i == timer_count)
		timer_count++;
	return true;
}

/* The next whole multiple: timers of the same period are due at the same moment. */
static int64_t next_tick(int64_t every_ms)
{
	return (now_ms() / every_ms + 1) * every_ms;
}

bool loop_every(int ms, void (*tick)(void *context), void *context)
{
	return ms > 0 && timer_add(&(struct timer){ ms, next_tick(ms), tick, context });
}

bool loop_once(int ms, void (*tick)(void *context), void *context)
{
	for (size_t i = 0; i < timer_count; i++)
		if (!timers[i].every_ms && timers[i].tick == tick &&
		    timers[i].context == context)
			return true;
	return timer_add(&(struct timer){ 0, now_ms() + ms, tick, context });
}

static void run_timer(struct timer *t)
{
	void (*tick)(void *context) = t->tick;

	if (!t->every_ms)
		t->tick = NULL; /* so that it may begin anew */
	tick(t->context);
	/* A missed tick is not made up for. */
	if (t->every_ms)
		t->due_ms = next_tick(t->every_ms);
}

/* Run what is due; how long until the next, in ms, -1: there is none. */
static int run_timers(void)
{
	int64_t now = now_ms(), next = -1;

	for (size_t i = 0; i < timer_count && !stopped; i++)
		if (timers[i].tick && timers[i].due_ms <= now)
			run_timer(&timers[i]);
	for (size_t i = 0; i < timer_count; i++)
		if (timers[i].tick && (next < 0 || timers[i].due_ms < next))
			next = timers[i].due_ms;
	now = now_ms();
	return next < 0 ? -1 : next <= now ? 0 : (int)(next - now);
}

int loop_run(void)
{
	struct pollfd waiting[LOOP_MAX];
	int wait_ms, ready;
	size_t count;

	stopped = false;
	for (;;) {
		wait_ms = run_timers();
		if (stopped)
			return 0;
		count = watch_count;
		for (size_t i = 0; i < count; i++)
			waiting[i] =
				(struct pollfd){ .fd = watches[i].fd, .events = POLLIN };
		ready = poll(waiting, count, wait_ms);
		if (ready < 0 && errno != EINTR)
			return -errno;
		/* Those added meanwhile have not been asked. */
		for (size_t i = 0; ready > 0 && i < count && !stopped; i++)
			if (waiting[i].revents && watches[i].fd == waiting[i].fd)
				watches[i].ready(watches[i].context);
	}
}

void loop_stop(void)
{
	stopped = true;
}
