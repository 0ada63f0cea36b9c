/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trial_internal.h - a trial, for the files that make one: shield_trial.c and
 * shield_fork.c.
 */
#ifndef TRIAL_INTERNAL_H
#define TRIAL_INTERNAL_H

#include "shield/trial.h"

#define FRAME_MOST 4096 /* more than the kernel lets a program judge */

/*
 * The samples, read without libbpf: a consumer that is one record behind is never woken
 * up, and the interrupt for that takes longer than all else.
 */
struct ring {
	__u64 *consumer; /* what the kernel takes as read */
	const __u64 *producer; /* followed, a page behind, by the records, twice */
	__u64 read; /* what was read */
};

struct trial {
	const struct shield *of; /* NULL: the trial is of a configuration */
	struct shield *copy;
	__u64 second_ns, sweep_ns; /* when a daemon would work next */
	struct about_host host;
	struct counter others[OTHER_COUNT];
	/* While it runs: what the program has shown of the datagram. */
	enum direction direction;
	struct ring ring;
	struct sample seen;
	bool has_seen;
	__u8 left[FRAME_MOST]; /* what leaves, as the program has written it */
};

/*
 * Load a trial with empty tables, with room for @capacity services. The caller applies a
 * configuration or copies tables. @of: the shield that it reads, or NULL. 0 or -errno
 * after a message.
 */
int trial_load(const struct shield *of, __u32 capacity, struct trial **ret);

/*
 * Have each datagram shown, which tells what it was counted as, and no refusal noted.
 * Call it after a configuration was applied.
 */
void trial_show_all(struct live *l);

#endif /* TRIAL_INTERNAL_H */
