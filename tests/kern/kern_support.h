/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_support.h - the shield in the kernel, attached to nothing: a configuration, a
 * clock that is set by hand, frames in, and the one counter that moved.
 *
 * The maps are filled here by hand, after abi.h alone, so that these tests do not lean on
 * the loader of user/.
 */
#ifndef KERN_SUPPORT_H
#define KERN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>

#include "acl.h"
#include "counters.h"
#include "frame.h"
#include "lib/names.h"
#include "shield.skel.h"
#include "shield/tail_calls.h"

#define COUNT(a)   (sizeof(a) / sizeof(*(a)))
#define KERN_SLOTS 8 /* services that a test may use */
#define SECOND	   1000000000ull
#define NOBODY	   CLASS_BUDGETS /* no budget was charged */

struct kern {
	struct shield_bpf *skel;
	int program;
	int cpus;
	struct live *live; /* the one that the program sees */
	struct counters seen[KERN_SLOTS];
	int slot; /* whose counter moved last */
	unsigned int frames; /* judged so far */
	struct counter others[OTHER_COUNT];
	__u64 due[KERN_SLOTS][CLASS_BUDGETS];
	struct counter_row *buffer; /* COUNTER_ROWS, each of all CPUs */
	struct counter_row *last; /* of all slots, as kern_moved() read them */
};

struct outcome {
	int action; /* XDP_PASS or XDP_DROP */
	bool other; /* @what is valid, the rest is not */
	enum other what;
	int slot;
	enum wire_kind kind;
	enum reason reason;
	enum wire_class charged; /* NOBODY: none */
};

/* Complaints only, and of a verifier's log of megabytes the end, where the reason is. */
static inline int kern_quiet(enum libbpf_print_level level, const char *format,
			     va_list args)
{
	const int most = 2000;
	char *words;
	int count;

	if (level != LIBBPF_WARN)
		return 0;
	count = vasprintf(&words, format, args);
	if (count < 0)
		return 0;
	fputs(words + (count > most ? count - most : 0), stderr);
	free(words);
	return count;
}

/*
 * Shields that a test has closed, for the next kern_open(): a load takes half a second,
 * to wipe the maps ten milliseconds. A test that fails keeps its own.
 */
static struct shield_bpf *kern_kept[2];

static inline int kern_drop_sample(void *context, void *data, size_t size)
{
	(void)context, (void)data, (void)size;
	return 0;
}

static inline void kern_wipe_ring(int fd)
{
	struct ring_buffer *ring = ring_buffer__new(fd, kern_drop_sample, NULL, NULL);

	assert_non_null(ring);
	assert_true(ring_buffer__consume(ring) >= 0);
	ring_buffer__free(ring);
}

/* All entries of a per-CPU array, on every processor, become zero. */
static inline void kern_wipe_percpu(int fd, const struct bpf_map_info *info, int cpus)
{
	__u32 n = info->max_entries, *keys = calloc(n, sizeof(*keys));
	void *zeros = calloc(n, (info->value_size + 7) / 8 * 8 * (size_t)cpus);

	assert_true(keys && zeros);
	for (__u32 i = 0; i < n; i++)
		keys[i] = i;
	assert_int_equal(bpf_map_update_batch(fd, keys, zeros, &n, NULL), 0);
	assert_int_equal(n, info->max_entries);
	free(zeros);
	free(keys);
}

/*
 * All entries of an array become zero, through memory: a batch copies entry by entry and
 * takes longer than the verifier.
 */
static inline void kern_wipe_array(int fd, const struct bpf_map_info *info)
{
	size_t n = (size_t)info->max_entries * ((info->value_size + 7) / 8 * 8);
	void *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, 0, n);
	munmap(memory, n);
}

static inline void kern_wipe(struct shield_bpf *skel, int cpus)
{
	struct bpf_map *map;
	__u8 key[64];

	bpf_object__for_each_map(map, skel->obj)
	{
		int fd = bpf_map__fd(map);
		struct bpf_map_info info = { 0 };
		__u32 size = sizeof(info);

		assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
		assert_true(info.key_size <= sizeof(key));
		if (bpf_map__is_internal(map) || info.type == BPF_MAP_TYPE_PROG_ARRAY)
			continue;
		if (info.type == BPF_MAP_TYPE_RINGBUF) {
			kern_wipe_ring(fd);
		} else if (info.type == BPF_MAP_TYPE_ARRAY) {
			kern_wipe_array(fd, &info);
		} else if (info.type == BPF_MAP_TYPE_PERCPU_ARRAY) {
			kern_wipe_percpu(fd, &info, cpus);
		} else {
			while (!bpf_map_get_next_key(fd, NULL, key))
				assert_int_equal(bpf_map_delete_elem(fd, key), 0);
		}
	}
	memset(skel->bss, 0, sizeof(*skel->bss));
}

/* A loaded shield whose maps are empty. NULL: not allowed to load one. */
static inline struct shield_bpf *kern_shield(int cpus)
{
	struct shield_bpf *skel;
	struct bpf_map *map;

	for (size_t i = 0; i < COUNT(kern_kept); i++) {
		if (!kern_kept[i])
			continue;
		skel = kern_kept[i];
		kern_kept[i] = NULL;
		kern_wipe(skel, cpus);
		return skel;
	}
	skel = shield_bpf__open();
	assert_non_null(skel);
	bpf_map__set_max_entries(skel->maps.counters, KERN_SLOTS * COUNTER_ROWS);
	bpf_map__set_max_entries(skel->maps.spilled, KERN_SLOTS * COUNTER_ROWS);
	bpf_object__for_each_map(map, skel->obj)
	{
		if (bpf_map__type(map) == BPF_MAP_TYPE_ARRAY &&
		    !bpf_map__is_internal(map))
			bpf_map__set_map_flags(map,
					       bpf_map__map_flags(map) | BPF_F_MMAPABLE);
	}
	if (shield_bpf__load(skel) || tail_calls_fill(skel)) {
		int error = errno;

		shield_bpf__destroy(skel);
		assert_int_equal(error, EPERM); /* EACCES: the verifier says no */
		return NULL;
	}
	return skel;
}

/* -1: not allowed to. */
static inline int kern_open(struct kern *k)
{
	*k = (struct kern){ .cpus = libbpf_num_possible_cpus() };
	libbpf_set_print(kern_quiet);
	k->skel = kern_shield(k->cpus);
	if (!k->skel)
		return -1;
	k->program = bpf_program__fd(k->skel->progs.shield);
	k->live = &k->skel->bss->live;
	k->live->tables[1].generation = 1;
	k->buffer = calloc((size_t)k->cpus * COUNTER_ROWS, sizeof(*k->buffer));
	k->last = calloc((size_t)k->cpus * COUNTER_ROWS * KERN_SLOTS, sizeof(*k->last));
	assert_true(k->buffer && k->last);
	k->live->clock_ns = 1ull << 40;
	k->live->keys[0] = 0x9e3779b97f4a7c15;
	k->live->keys[1] = 0xc2b2ae3d27d4eb4f;
	k->live->keys[2] = 0x165667b19e3779f9;
	return 0;
}

static inline void kern_close(struct kern *k)
{
	for (size_t i = 0; k->skel && i < COUNT(kern_kept); i++) {
		if (kern_kept[i])
			continue;
		kern_kept[i] = k->skel;
		k->skel = NULL;
	}
	if (k->skel)
		shield_bpf__destroy(k->skel);
	free(k->buffer);
	free(k->last);
}

/* --- configuration --------------------------------------------------------------------
 */

static inline struct limit kern_rate(__u64 per_second, __u64 burst)
{
	__u64 cost = SECOND / per_second;

	return (struct limit){ cost, burst * cost };
}

/* A service of @family whose every budget is wide open, and all policies are DROP. */
static inline struct service kern_open_service(enum wire_family family)
{
	struct service s = { .family = (__u8)family, .active = 1 };

	for (int i = 0; i < CLASS_BUDGETS; i++) {
		s.budget[i].source = kern_rate(1000000, 1000000);
		s.budget[i].prefix = s.budget[i].source;
		s.budget[i].service = s.budget[i].source;
	}
	return s;
}

static inline void kern_service(struct kern *k, __u32 half, __u32 slot,
				const struct service *s)
{
	assert_true(slot < KERN_SLOTS);
	k->live->tables[half].services[slot] = *s;
	service_finish(&k->live->tables[half].services[slot], slot, k->live->keys);
}

/* @slot: -1: none on any address. */
static inline void kern_port(struct kern *k, __u32 half, __u16 number, int slot,
			     bool exact)
{
	k->live->tables[half].ports[number] = (struct port){
		.any = (__u16)(slot + 1),
		.flags = exact ? PORT_EXACT : 0,
	};
}

/* ::ffff:a.b.c.d, or an IPv6 address. */
static inline void kern_address(const char *text, __be32 ret[4])
{
	if (inet_pton(AF_INET6, text, ret) == 1)
		return;
	ret[0] = ret[1] = 0;
	ret[2] = htonl(0xffff);
	assert_int_equal(inet_pton(AF_INET, text, &ret[3]), 1);
}

static inline void kern_endpoint(struct kern *k, __u32 half, const char *address,
				 __u16 number, __u32 slot)
{
	struct endpoint at = { .port = number, .generation = (__u16)half };
	__u32 value = slot + 1;

	kern_address(address, at.addr);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(k->skel->maps.endpoints), &at,
					     &value, BPF_ANY),
			 0);
}

/* @origins: LIST_*. */
static inline void kern_list_as(struct kern *k, bool allow, const char *address,
				__u32 length, __u32 origins)
{
	struct bpf_map *map = allow ? k->skel->maps.allow : k->skel->maps.deny;
	struct list_entry entry = { .origins = (__u8)origins, .length = (__u8)length };
	struct cidr cidr = { .length = length };
	__u32 first, count;

	kern_address(address, cidr.addr);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(map), &cidr, &entry, BPF_ANY),
			 0);
	k->live->lists |= allow ? LISTS_ALLOW : LISTS_DENY;
	count = acl_prefilter_span(&cidr, &first);
	for (__u32 i = 0; i < count; i++)
		k->live->acl_prefilter[first + i] |= allow ? LISTS_ALLOW : LISTS_DENY;
}

static inline void kern_list(struct kern *k, bool allow, const char *address,
			     __u32 length)
{
	kern_list_as(k, allow, address, length, LIST_RUNTIME);
}

static inline void kern_allow_all(struct kern *k, const char *address, __u32 length)
{
	kern_list_as(k, true, address, length, LIST_RUNTIME | LIST_RUNTIME_UNLIMITED);
}

/* --- running --------------------------------------------------------------------------
 */

/* Read the entries @first to @first + @n - 1 of an array into @ret, all CPUs' of each. */
static inline void kern_read(const struct bpf_map *map, __u32 first, __u32 n, void *ret)
{
	__u32 keys[COUNTER_ROWS + OTHER_COUNT], before = first - 1, after, got = n;

	assert_in_range(n, 1, COUNT(keys));
	assert_int_equal(bpf_map_lookup_batch(bpf_map__fd(map), first ? &before : NULL,
					      &after, keys, ret, &got, NULL),
			 0);
	assert_int_equal(got, n);
}

/*
 * Copy the places that are taken in all processors' logs of refused sources of @slot and
 * @class to @ret, @most of them; how many.
 */
static inline size_t kern_refused(struct kern *k, __u32 slot, enum wire_class class,
				  struct refused_source *ret, size_t most)
{
	struct refused *logs = calloc((size_t)k->cpus, sizeof(*logs));
	__u32 key = slot * CLASS_COUNT + class;
	size_t n = 0;

	assert_non_null(logs);
	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.refused), &key, logs), 0);
	for (size_t i = 0; i < (size_t)k->cpus * REFUSED_KEPT && n < most; i++)
		if (logs[i / REFUSED_KEPT].kept[i % REFUSED_KEPT].weight)
			ret[n++] = logs[i / REFUSED_KEPT].kept[i % REFUSED_KEPT];
	free(logs);
	return n;
}

/* What was counted for @slot in @direction, without volume_complete(). */
static inline void kern_sum_way(struct kern *k, __u32 slot, enum direction direction,
				struct counters *ret)
{
	static struct counter_sums rows[COUNTER_ROWS];
	const struct counter_row *part = k->buffer;

	kern_read(k->skel->maps.spilled, slot * COUNTER_ROWS, COUNTER_ROWS, rows);
	kern_read(k->skel->maps.counters, slot * COUNTER_ROWS, COUNTER_ROWS, k->buffer);
	for (__u32 row = 0; row < COUNTER_ROWS; row++)
		for (int cpu = 0; cpu < k->cpus; cpu++, part++)
			counter_sums_add(&rows[row], part);
	/* A pair of kind and reason that counters.h does not know. */
	assert_int_equal(
		rows[COUNTERS / COUNTER_CELLS].cells[COUNTERS % COUNTER_CELLS].packets,
		0);
	counters_sort(rows, direction, ret);
}

static inline void kern_sum(struct kern *k, __u32 slot, struct counters *ret)
{
	kern_sum_way(k, slot, DIRECTION_C2S, ret);
}

/* Return the first pair of kind and reason that counter @number counts, or -1. */
static inline int kern_pair(__u32 number)
{
	static int pairs[COUNTERS + 1]; /* 0: none, else 1 more than the pair */
	static bool filled;

	for (int pair = KIND_COUNT * REASON_COUNT - 1; !filled && pair >= 0; pair--)
		pairs[counter_number(DIRECTION_C2S, (enum wire_kind)(pair / REASON_COUNT),
				     (enum reason)(pair % REASON_COUNT))] = pair + 1;
	filled = true;
	return number < COUNT(pairs) ? pairs[number] - 1 : -1;
}

/* @is is counter @number: return whether it moved, by one frame of @n bytes. */
static inline bool kern_moved_one(struct kern *k, int slot, __u32 number,
				  const struct counter *is, size_t n, struct outcome *ret)
{
	int pair = kern_pair(number), kind = pair / REASON_COUNT,
	    reason = pair % REASON_COUNT;
	struct counter *was;

	if (pair < 0)
		fail_msg("counter %u has no kind and reason", number);
	was = &k->seen[slot].by[kind][reason];
	if (is->packets == was->packets && is->bytes == was->bytes)
		return false;
	assert_int_equal(is->packets - was->packets, 1);
	assert_int_equal(is->bytes - was->bytes, n);
	*was = *is;
	ret->slot = slot;
	ret->kind = (enum wire_kind)kind;
	ret->reason = (enum reason)reason;
	return true;
}

/*
 * Which of the service's counters moved? Returns how many did. Only rows that differ from
 * the last time are added up: to add all takes ten times as long as the frame.
 */
static inline int kern_moved(struct kern *k, int slot, size_t n, struct outcome *ret)
{
	size_t all = (size_t)k->cpus * sizeof(*k->buffer);
	int moved = 0;

	kern_read(k->skel->maps.counters, (__u32)slot * COUNTER_ROWS, COUNTER_ROWS_IN,
		  k->buffer);
	for (__u32 row = 0; row < COUNTER_ROWS_IN; row++) {
		struct counter_row *now = k->buffer + row * (__u32)k->cpus;
		struct counter_row *was =
			k->last + ((__u32)slot * COUNTER_ROWS + row) * (__u32)k->cpus;

		if (!memcmp(was, now, all))
			continue;
		memcpy(was, now, all);
		for (__u32 i = 0; i < COUNTER_CELLS; i++) {
			struct counter sum = { 0 }, part;

			for (int cpu = 0; cpu < k->cpus; cpu++) {
				part = counter_read(now[cpu].cells[i]);
				sum.packets += part.packets;
				sum.bytes += part.bytes;
			}
			if (sum.packets)
				moved += kern_moved_one(k, slot, row * COUNTER_CELLS + i,
							&sum, n, ret);
		}
	}
	return moved;
}

static inline int kern_moved_other(struct kern *k, size_t n, struct outcome *ret)
{
	static struct counter per_cpu[OTHER_COUNT * 256];
	int moved = 0;

	assert_in_range(k->cpus, 1, 256);
	kern_read(k->skel->maps.others, 0, OTHER_COUNT, per_cpu);
	for (int other = 0; other < OTHER_COUNT; other++) {
		struct counter sum = { 0 };

		for (int cpu = 0; cpu < k->cpus; cpu++) {
			sum.packets += per_cpu[other * k->cpus + cpu].packets;
			sum.bytes += per_cpu[other * k->cpus + cpu].bytes;
		}
		if (sum.packets == k->others[other].packets)
			continue;
		assert_int_equal(sum.packets - k->others[other].packets, 1);
		assert_int_equal(sum.bytes - k->others[other].bytes, n);
		k->others[other] = sum;
		ret->other = true;
		ret->what = (enum other)other;
		moved++;
	}
	return moved;
}

/* Which global budget was charged? No more than one may be. */
static inline enum wire_class kern_charged(struct kern *k, int slot)
{
	enum wire_class charged = NOBODY;

	for (__u32 i = 0; i < CLASS_BUDGETS; i++) {
		__u64 due = k->live->service_due_ns[budget_index((__u32)slot, (__u32)i)];

		if (due == k->due[slot][i])
			continue;
		assert_int_equal(charged, NOBODY);
		charged = (enum wire_class)i;
		k->due[slot][i] = due;
	}
	return charged;
}

static inline int kern_action(struct kern *k, const void *frame, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = (__u32)n,
		    .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(k->program, &run), 0);
	return (int)run.retval;
}

/* Exactly one counter moves for every frame, by one packet and by all its octets. */
static inline struct outcome kern_run(struct kern *k, const void *frame, size_t n)
{
	struct outcome ret = { .action = kern_action(k, frame, n), .charged = NOBODY };
	int moved = kern_moved_other(k, n, &ret) + kern_moved(k, k->slot, n, &ret);

	/*
	 * The counters of eight services are a hundred kilobytes. A long run reads them
	 * all at its beginning and for one frame of 64: what moved between is found then.
	 */
	if (!moved || k->frames < 64 || !(k->frames % 64))
		for (int slot = 0; slot < KERN_SLOTS; slot++)
			moved += slot == k->slot ? 0 : kern_moved(k, slot, n, &ret);
	assert_int_equal(moved, 1);
	k->frames++;
	if (!ret.other)
		k->slot = ret.slot;
	if (!ret.other)
		ret.charged = kern_charged(k, ret.slot);
	return ret;
}

static inline struct outcome kern_send(struct kern *k, const struct frame_spec *s)
{
	__u8 frame[FRAME_MAX];

	return kern_run(k, frame, frame_build(s, frame));
}

static inline void print_outcome(const char *what, const struct outcome *o)
{
	print_error("%s: %s, %s", what,
		    o->action == XDP_PASS   ? "pass"
		    : o->action == XDP_DROP ? "drop"
					    : "?",
		    o->other ? other_name(o->what) : kind_name(o->kind));
	if (!o->other)
		print_error(" in slot %d, %s, charged %s", o->slot,
			    reason_name(o->reason),
			    o->charged < NOBODY ? class_name(o->charged) : "nobody");
	print_error("\n");
}

#endif /* KERN_SUPPORT_H */
