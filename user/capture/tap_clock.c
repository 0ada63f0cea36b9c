// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tap_clock.c - see tap_clock.h.
 */
#include "capture/tap_clock.h"

void tap_clock_set(struct tap_clock *c, int64_t real_ns, int64_t steady_ns)
{
	c->ahead_ns = real_ns - steady_ns;
}

int64_t tap_clock_time(struct tap_clock *c, int64_t stamp_ns, int64_t real_ns,
		       int64_t steady_ns)
{
	int64_t time_ns = stamp_ns - c->ahead_ns;

	if (time_ns < c->last_ns || time_ns > steady_ns)
		time_ns = stamp_ns - (real_ns - steady_ns);
	if (time_ns > steady_ns)
		time_ns = steady_ns;
	if (time_ns < c->last_ns)
		time_ns = c->last_ns;
	c->last_ns = time_ns;
	return time_ns;
}
