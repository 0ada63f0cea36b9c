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

/* Return the bytes that are mapped of the map live, in whole pages. */
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

/* Put a random number into *@ret. False after a message. */
static bool random_word(__u64 *ret)
{
	if (getrandom(ret, sizeof(*ret), 0) == sizeof(*ret))
		return true;
	log_error("getrandom: %s", strerror(errno));
	return false;
}

int shield_new_secret(struct shield *s, __u32 turn)
{
	__u64 *key = s->shared->validation.secret.key[turn], first, second;

	if (!random_word(&first) || !random_word(&second))
		return -EIO;
	key[1] = second;
	key[0] = first | 1; /* zero would be none */
	return 0;
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
	for (size_t i = 0; i < ARRAY_SIZE(s->shared->keys); i++)
		if (!s->shared->keys[i] && !random_word(&s->shared->keys[i]))
			return -EIO;
	for (size_t i = 0; i < ARRAY_SIZE(s->shared->keys); i++)
		s->shared->keys[i] |= 1;
	for (__u32 turn = 0; turn < 2; turn++)
		if (!s->shared->validation.secret.key[turn][0] &&
		    shield_new_secret(s, turn))
			return -EIO;
	return 0;
}

__u32 shield_generation(const struct shield *s)
{
	return __atomic_load_n(&s->shared->generation, __ATOMIC_ACQUIRE);
}

bool shield_fallback(const struct shield *s)
{
	return s->shared->fallback;
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

/*
 * Add up each u64 of @size octets at @values on @cpus. @size: a multiple of 8. Called by
 * sum_cpus().
 */
static void add_cpus(const __u64 *values, size_t cpus, size_t size, __u64 *ret)
{
	size_t count = size / sizeof(__u64);

	memset(ret, 0, size);
	for (size_t cpu = 0; cpu < cpus; cpu++)
		for (size_t i = 0; i < count; i++)
			ret[i] += values[cpu * count + i];
}

/* The sum over all CPUs of the @size octets at @key. 0 or -errno. */
static int sum_cpus(int map, __u32 key, size_t size, __u64 *ret)
{
	int cpus = libbpf_num_possible_cpus();
	__u64 *values;
	int err = 0;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, size);
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map, &key, values))
		err = -errno;
	else
		add_cpus(values, (size_t)cpus, size, ret);
	free(values);
	return err;
}

/*
 * Read the COUNTER_ROWS entries of @slot in @map, in one call. @ret: an entry of each
 * processor for a map per CPU. 0 or -errno.
 */
static int read_rows(int map, __u32 slot, void *ret)
{
	__u32 keys[COUNTER_ROWS], count = COUNTER_ROWS, next;
	/* The batch begins behind the key that is given. */
	__u32 before = slot * COUNTER_ROWS - 1;
	LIBBPF_OPTS(bpf_map_batch_opts, opts);

	/* ENOENT: these were the last. */
	if (bpf_map_lookup_batch(map, slot ? &before : NULL, &next, keys, ret, &count,
				 &opts) &&
	    errno != ENOENT)
		return -errno;
	return count == COUNTER_ROWS && keys[0] == slot * COUNTER_ROWS ? 0 : -EIO;
}

#define SPILL_LOOKS 8 /* at counters that move while they are read */

/*
 * The sums of the counters of @slot. A counter that a processor moves meanwhile would be
 * added twice or not at all: the shared sums are read before and behind, and all again if
 * they differ. A counter moves once in seconds at most. @rows: COUNTER_ROWS, each of all
 * @cpus. 0 or -errno. Called by shield_counters().
 */
static int sum_rows(const struct shield *s, __u32 slot, int cpus,
		    struct counter_row *rows, struct counter_sums ret[COUNTER_ROWS])
{
	struct counter_sums before[COUNTER_ROWS];
	int err = read_rows(s->spilled, slot, ret);

	for (int look = 0; look < SPILL_LOOKS && !err; look++) {
		memcpy(before, ret, sizeof(before));
		err = read_rows(s->counters, slot, rows);
		if (!err)
			err = read_rows(s->spilled, slot, ret);
		if (!err && !memcmp(before, ret, sizeof(before)))
			break;
	}
	for (int row = 0; row < COUNTER_ROWS && !err; row++)
		for (int cpu = 0; cpu < cpus; cpu++)
			counter_sums_add(&ret[row], &rows[row * cpus + cpu]);
	return err;
}

int shield_counters(const struct shield *s, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out)
{
	struct counter_sums sums[COUNTER_ROWS];
	int cpus = libbpf_num_possible_cpus();
	struct counter_row *rows;
	int err;

	if (slot >= s->capacity)
		return -EINVAL;
	if (cpus < 0)
		return cpus;
	rows = calloc((size_t)cpus * COUNTER_ROWS, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	err = sum_rows(s, slot, cpus, rows, sums);
	free(rows);
	if (err)
		return err;
	counters_sort(sums, DIRECTION_C2S, ret_in);
	counters_sort(sums, DIRECTION_S2C, ret_out);
	volume_complete(ret_in);
	return 0;
}

#define TURN_NS 1000000000ull

__u32 shield_counters_turn(struct shield *s)
{
	__u64 now = shield_clock();
	__u32 turn = s->shared->counters_turn;

	if (now - s->turned_ns < TURN_NS)
		return turn;
	s->turned_ns = now;
	__atomic_store_n(&s->shared->counters_turn, ++turn, __ATOMIC_RELAXED);
	return turn;
}

/*
 * A program may note a turn, and count, a moment after the daemon has begun the next one
 * and read the counter. So what was noted up to two turns before the read is read again.
 */
bool shield_counters_changed(const struct shield *s, __u32 slot, __u32 turn)
{
	__u32 counted;

	if (slot >= SERVICES_MAX)
		return false;
	counted = __atomic_load_n(&s->shared->counted[slot], __ATOMIC_RELAXED);
	return (__s32)(counted + 2 - turn) >= 0;
}

__u64 shield_protocol_mismatch(const struct shield *s, __u32 slot, __u32 *ret_families)
{
	struct service service;
	struct detected spoken;

	*ret_families = 0;
	if (!shield_service(s, slot, &service))
		return 0;
	spoken = s->shared->detected[slot];
	*ret_families =
		detect_other(&spoken, service.family, (__u32)(shield_clock() >> 30));
	return *ret_families ? spoken.words : 0;
}

enum judged shield_judged(const struct shield *s, __u32 slot, __u64 received,
			  char ret_interface[IF_NAMESIZE])
{
	struct unjudged u = { 0 };
	__u32 age;

	if (slot < SERVICES_MAX)
		u = s->shared->unjudged[slot];
	age = (__u32)(shield_clock() >> 30) - u.seen_s;
	*ret_interface = '\0';
	if (u.ifindex && (__s32)age <= UNJUDGED_AGE_S &&
	    if_indextoname(u.ifindex, ret_interface))
		return u.all ? JUDGED_NO : JUDGED_PARTLY;
	return received ? JUDGED_YES : JUDGED_UNKNOWN;
}

void shield_unjudged_put(struct shield *s, __u32 slot, int ifindex, bool all)
{
	if (slot < SERVICES_MAX)
		s->shared->unjudged[slot] =
			(struct unjudged){ (__u32)ifindex, (__u32)(shield_clock() >> 30),
					   all };
}

size_t shield_endpoints(const struct shield *s, struct shield_endpoint *ret, size_t max)
{
	__u32 half = shield_generation(s) & 1, slot = 0;
	const struct tables *tables = &s->shared->tables[half];
	struct endpoint at;
	void *previous = NULL;
	size_t n = 0;

	for (__u32 number = 1; number < PORTS && n < max; number++) {
		const struct port *port = &tables->ports[number];

		if (port->any && !(port->flags & (PORT_LEARNED | PORT_NAMED)))
			ret[n++] = (struct shield_endpoint){ .slot = port->any - 1u,
							     .port = (__u16)number };
	}
	for (int i = 0; i < 2 * SERVICES_MAX && n < max &&
			!bpf_map_get_next_key(s->endpoints, previous, &at);
	     i++) {
		previous = &at;
		if (at.generation != half ||
		    bpf_map_lookup_elem(s->endpoints, &at, &slot))
			continue;
		ret[n] = (struct shield_endpoint){ .slot = slot - 1, .port = at.port };
		memcpy(ret[n++].address, at.addr, sizeof(at.addr));
	}
	return n;
}

int shield_others(const struct shield *s, struct counter ret[OTHER_COUNT])
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
