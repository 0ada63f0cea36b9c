/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpu_budget.h - limits the processor time that decoding samples takes, second by second.
 *
 * When three quarters of a second's budget are used up, loose samples are no longer
 * decoded. Followed flows, which lose their context when a datagram is left out, stop
 * when all of it is used up. Pure: the caller (samples.c) passes both clocks.
 */
#ifndef CPU_BUDGET_H
#define CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_BUDGET_WINDOW_NS 1000000000LL

struct cpu_budget {
	uint32_t percent; /* of one processor */
	int64_t wall_ns; /* when the window began, by both clocks */
	int64_t cpu_ns;
};

static inline bool cpu_budget_admits(struct cpu_budget *s, int64_t wall_ns,
				     int64_t cpu_ns, bool followed)
{
	int64_t budget_ns = CPU_BUDGET_WINDOW_NS / 100 * s->percent;

	if (wall_ns - s->wall_ns >= CPU_BUDGET_WINDOW_NS || wall_ns < s->wall_ns) {
		s->wall_ns = wall_ns;
		s->cpu_ns = cpu_ns;
	}
	return cpu_ns - s->cpu_ns < (followed ? budget_ns : budget_ns / 4 * 3);
}

#endif /* CPU_BUDGET_H */
