// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_refused.c - reads the sources of what the programs refuse: include/refused.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "shield/shield_internal.h"

__u32 shield_refused_advance(struct shield *s)
{
	__u32 phase;

	/* Without randomness the old one stays, which is no worse than for a second. */
	if (getrandom(&phase, sizeof(phase), GRND_NONBLOCK) == sizeof(phase))
		__atomic_store_n(&s->shared->sampling.phase, phase & (REFUSED_EVERY - 1),
				 __ATOMIC_RELAXED);
	return refused_tick(shield_clock());
}

int shield_refused(const struct shield *s, __u32 slot, __u32 since, __u32 until,
		   void (*each)(enum wire_class class, const struct refused_source *from,
				void *context),
		   void *context)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct refused *logs;

	if (slot >= s->capacity)
		return -EINVAL;
	logs = cpus > 0 ? calloc((size_t)cpus, sizeof(*logs)) : NULL;
	if (!logs)
		return cpus < 0 ? cpus : -ENOMEM;
	for (__u32 class = 0; class < CLASS_COUNT && !err; class ++) {
		__u32 key = REFUSED_INDEX(slot, class);

		if (bpf_map_lookup_elem(s->refused, &key, logs))
			err = -errno;
		for (size_t i = 0; i < (size_t)cpus * REFUSED_KEPT && !err; i++) {
			const struct refused_source *from =
				&logs[i / REFUSED_KEPT].kept[i % REFUSED_KEPT];

			if (from->weight && from->tick - since < until - since)
				each((enum wire_class) class, from, context);
		}
	}
	free(logs);
	return err;
}

int shield_refused_forget(const struct shield *s, __u32 slot)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct refused *nothing;

	nothing = cpus > 0 ? calloc((size_t)cpus, sizeof(*nothing)) : NULL;
	if (!nothing)
		return cpus < 0 ? cpus : -ENOMEM;
	for (__u32 class = 0; class < CLASS_COUNT && !err; class ++) {
		__u32 key = REFUSED_INDEX(slot, class);

		if (bpf_map_update_elem(s->refused, &key, nothing, BPF_ANY))
			err = -errno;
	}
	free(nothing);
	return err;
}
