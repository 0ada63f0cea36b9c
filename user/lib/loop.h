/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loop.h - the daemon's event loop: descriptors that become readable, and timers.
 *
 * Everything runs in one thread, in the order it was added. Sized at start: LOOP_MAX
 * entries of each sort.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>

#define LOOP_MAX 16

/*
 * Call @ready with @context whenever @fd is readable, until loop_remove(). False: no
 * room.
 */
bool loop_add(int fd, void (*ready)(void *context), void *context);

/* Stop watching @fd; also from within a callback. Call it before closing @fd. */
void loop_remove(int fd);

/*
 * Call @tick every @ms, in @ms at the latest for the first time: timers of one pace tick
 * together, so that an idle daemon wakes up once for all. False: no room.
 */
bool loop_every(int ms, void (*tick)(void *context), void *context);
/* Call @tick in @ms; if it is waiting already, that stands. False: no room. */
bool loop_once(int ms, void (*tick)(void *context), void *context);

/* Run until loop_stop(). 0, or -errno if waiting failed. */
int loop_run(void);
/* Make loop_run() return 0 after the callback that runs now. Not for signal handlers. */
void loop_stop(void);

#endif /* LOOP_H */
