// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_maps.c - what is in the maps: the live map in our memory, services and counters.
 * A configuration comes into them in shield_apply.c, lists in shield_lists.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "shield/shield_internal.h"
#include "lib/util.h"

/* --- the live map ------------------------------------------------------------ */

static size_t live_size(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (sizeof(struct live) + page - 1) / page * page;
}

void shield_unmap_shared(struct shield *s)
{
	if (s->shared)
		munmap(s->shared, live_size());
	s->shared = NULL;
}

int shield_map_shared(struct shield *s)
{
	void *at =
		mmap(NULL, live_size(), PROT_READ | PROT_WRITE, MAP_SHARED, s->live, 0);

	if (at == MAP_FAILED) {
		log_error("cannot map '%s/live': %s", s->dir, strerror(errno));
		return -errno;
	}
	s->shared = at;
	for (size_t i = 0; i < ARRAY_SIZE(s->shared->keys); i++) {
		__u64 key;

		if (s->shared->keys[i])
			continue;
		if (getrandom(&key, sizeof(key), 0) != sizeof(key)) {
			log_error("getrandom: %s", strerror(errno));
			return -EIO;
		}
		s->shared->keys[i] = key | 1;
	}
	return 0;
}

__u32 shield_generation(const struct shield *s)
{
	return __atomic_load_n(&s->shared->generation, __ATOMIC_ACQUIRE);
}

/* --- reading ----------------------------------------------------------------- */

bool shield_service(const struct shield *s, __u32 slot, struct service *ret)
{
	__u32 half = shield_generation(s) & 1;

	if (slot >= SERVICES_MAX)
		return false;
	*ret = s->shared->tables[half].services[slot];
	return ret->active;
}

/* Add up @count u64 of each CPU's @size octets at @key. */
static int sum_cpus(int map, __u32 key, size_t size, __u64 *ret)
{
	int cpus = libbpf_num_possible_cpus();
	size_t count = size / sizeof(__u64);
	__u64 *values;
	int err = 0;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, size);
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map, &key, values)) {
		err = -errno;
	} else {
		memset(ret, 0, size);
		for (size_t cpu = 0; cpu < (size_t)cpus; cpu++)
			for (size_t i = 0; i < count; i++)
				ret[i] += values[cpu * count + i];
	}
	free(values);
	return err;
}

int shield_tallies(const struct shield *s, __u32 slot, struct tallies *ret)
{
	int err;

	if (slot >= s->capacity)
		return -EINVAL;
	err = sum_cpus(s->tallies, slot, sizeof(*ret), (__u64 *)ret);
	if (!err)
		volume_complete(ret);
	return err;
}

int shield_tallies_out(const struct shield *s, __u32 slot, struct tallies *ret)
{
	if (slot >= s->capacity)
		return -EINVAL;
	return sum_cpus(s->tallies_out, slot, sizeof(*ret), (__u64 *)ret);
}

int shield_others(const struct shield *s, struct tally ret[OTHER_COUNT])
{
	int err = 0;

	for (__u32 i = 0; i < OTHER_COUNT && !err; i++)
		err = sum_cpus(s->others, i, sizeof(ret[i]), (__u64 *)&ret[i]);
	return err;
}

int shield_sampled(const struct shield *s, struct sampled ret[SAMPLER_COUNT])
{
	int err = 0;

	for (__u32 i = 0; i < SAMPLER_COUNT && !err; i++)
		err = sum_cpus(s->sampled, i, sizeof(ret[i]), (__u64 *)&ret[i]);
	return err;
}
