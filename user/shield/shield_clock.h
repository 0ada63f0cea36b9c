/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_clock.h - the clock that the programs in the kernel go by: jiffies, as
 * nanoseconds.
 *
 * Userland is not told jiffies. They advance with CLOCK_MONOTONIC, from 300 seconds
 * before they would wrap as 32 bits, but the boot loses some: a quarter of a second on a
 * machine that we know, which is a quarter of many a budget. /proc/timer_list, which root
 * may read, has both clocks side by side; it is asked once, and the boot's loss counts
 * for nothing when it cannot be.
 */
#ifndef SHIELD_CLOCK_H
#define SHIELD_CLOCK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Read "now at N nsecs" and "jiffies: N" of /proc/timer_list. False: they are not
 * there.
 */
bool shield_clock_read_list(FILE *list, __u64 *ret_now_ns, __u64 *ret_jiffies);

/*
 * Have shield_clock() return *@at_ns from now on, for tables without a running clock
 * (struct live.tick_ns is 0); NULL: the kernel's clock again. It holds for
 * the whole process and has no lock: one thread may call it and shield_clock().
 */
void shield_clock_stand(const __u64 *at_ns);

/*
 * Return what jiffies would be at @monotonic_ns had the boot lost nothing, as
 * nanoseconds.
 */
__u64 shield_clock_assumed(__u64 monotonic_ns, __u64 tick_ns);

#endif /* SHIELD_CLOCK_H */
