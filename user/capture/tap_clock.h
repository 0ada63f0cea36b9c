/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tap_clock.h - the time at which the kernel received a frame, by CLOCK_MONOTONIC.
 *
 * The kernel stamps frames by CLOCK_REALTIME, which may be set while frames wait in the
 * queue. The difference of the two clocks is kept from a moment in which the queue was
 * empty, so it fits all frames that were stamped before a step; a frame that does not fit
 * it was stamped after the step, and has the difference of now.
 *
 * Pure: the caller reads the clocks. All times in ns.
 */
#ifndef TAP_CLOCK_H
#define TAP_CLOCK_H

#include <stdint.h>

struct tap_clock {
	int64_t ahead_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	int64_t last_ns; /* of the last frame */
};

/* Note that it is @real_ns and @steady_ns, and that no frame waits. */
void tap_clock_set(struct tap_clock *clock, int64_t real_ns, int64_t steady_ns);

/*
 * Return the time of the frame that the kernel has stamped @stamp_ns, at @real_ns and
 * @steady_ns: never earlier than that of the frame before, nor later than @steady_ns.
 */
int64_t tap_clock_time(struct tap_clock *clock, int64_t stamp_ns, int64_t real_ns,
		       int64_t steady_ns);

#endif /* TAP_CLOCK_H */
