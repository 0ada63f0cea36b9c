// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_clock.c - see shield_clock.h.
 */
#include <string.h>
#include <time.h>

#include "shield/shield_clock.h"
#include "shield/shield.h"

#define LOSS_MAX_NS 60000000000ll /* more is no boot's loss, but a misunderstanding */

bool shield_clock_read_list(FILE *list, __u64 *ret_now_ns, __u64 *ret_jiffies)
{
	unsigned long long now = 0, jiffies = 0;
	char line[256];

	while (!jiffies && fgets(line, sizeof(line), list)) {
		if (!strncmp(line, "now at ", 7))
			sscanf(line, "now at %llu nsecs", &now);
		else
			sscanf(line, "jiffies: %llu", &jiffies);
	}
	if (!now || !jiffies)
		return false;
	*ret_now_ns = now;
	*ret_jiffies = jiffies;
	return true;
}

__u64 shield_clock_assumed(__u64 monotonic_ns, __u64 tick_ns)
{
	__u64 hz = (1000000000ull + tick_ns / 2) / tick_ns;

	return (__u64)(__u32)(-300 * hz) * tick_ns + monotonic_ns;
}

/* How far the assumed clock is ahead. */
static __s64 boot_loss(__u64 tick_ns)
{
	FILE *list = fopen("/proc/timer_list", "re");
	__u64 now, jiffies;
	__s64 loss = 0;

	if (!list)
		return 0;
	if (shield_clock_read_list(list, &now, &jiffies))
		loss = (__s64)(shield_clock_assumed(now, tick_ns) - jiffies * tick_ns);
	fclose(list);
	return loss > -LOSS_MAX_NS && loss < LOSS_MAX_NS ? loss : 0;
}

static const __u64 *stands_at_ns;

void shield_clock_stand(const __u64 *at_ns)
{
	stands_at_ns = at_ns;
}

__u64 shield_clock(void)
{
	static bool asked;
	static __s64 loss_ns;
	struct timespec tick, now;

	if (stands_at_ns)
		return *stands_at_ns;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || !tick.tv_nsec ||
	    clock_gettime(CLOCK_MONOTONIC, &now))
		return 0;
	if (!asked)
		loss_ns = boot_loss((__u64)tick.tv_nsec);
	asked = true;
	return shield_clock_assumed((__u64)now.tv_sec * 1000000000ull +
					    (__u64)now.tv_nsec,
				    (__u64)tick.tv_nsec) -
	       (__u64)loss_ns;
}
