/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_maps.h - maps in this process instead of the kernel, a clock that is set by hand,
 * and calls that fail where they are told to. Included once by a program, after cmocka.h.
 */
#ifndef FAKE_MAPS_H
#define FAKE_MAPS_H

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "own_lock.h"
#include "shield/shield_internal.h"

#define COUNT(a)   (sizeof(a) / sizeof(*(a)))
#define SECOND	   1000000000ull
#define FAKE_CPUS  3
#define FAKE_FIRST 1000 /* no descriptor of ours has such a number */

static struct fake {
	size_t key, value; /* octets; of all processors together */
	__u32 type, max, count;
	__u8 *keys, *values;
} fakes[16];
static size_t fake_count;

static __u64 fake_now = 1000000 * SECOND;
static int fake_cpus = FAKE_CPUS; /* or -errno */
static int fake_fails = -1; /* that map: all that is asked of it */
static void (*fake_read)(int fd); /* called when a batch of that map has been read */

__u64 shield_clock(void)
{
	return fake_now;
}

int libbpf_num_possible_cpus(void)
{
	return fake_cpus;
}

static inline int fake_map(__u32 type, size_t key, size_t value, __u32 max)
{
	struct fake *f = &fakes[fake_count];

	assert_true(fake_count < COUNT(fakes));
	if (type == BPF_MAP_TYPE_PERCPU_ARRAY)
		value *= FAKE_CPUS;
	*f = (struct fake){ .type = type, .key = key, .value = value, .max = max };
	f->keys = calloc(max, key);
	f->values = calloc(max, value);
	assert_true(f->keys && f->values);
	if (type != BPF_MAP_TYPE_ARRAY && type != BPF_MAP_TYPE_PERCPU_ARRAY)
		return FAKE_FIRST + (int)fake_count++;
	f->count = max;
	for (__u32 i = 0; i < max; i++)
		memcpy(f->keys + i * key, &i, sizeof(i));
	return FAKE_FIRST + (int)fake_count++;
}

static inline void fake_free(void)
{
	while (fake_count) {
		fake_count--;
		free(fakes[fake_count].keys);
		free(fakes[fake_count].values);
	}
	fake_fails = -1;
	fake_read = NULL;
	fake_cpus = FAKE_CPUS;
	fake_now = 1000000 * SECOND;
}

static inline struct fake *fake_of(int fd)
{
	if (fd >= FAKE_FIRST && fd < FAKE_FIRST + (int)fake_count && fd != fake_fails)
		return &fakes[fd - FAKE_FIRST];
	errno = EBADF;
	return NULL;
}

/* The number of @key; -1: it is not there. */
static inline int fake_find(const struct fake *f, const void *key)
{
	for (__u32 i = 0; i < f->count; i++)
		if (!memcmp(f->keys + i * f->key, key, f->key))
			return (int)i;
	errno = ENOENT;
	return -1;
}

/* Are the first @bits of both alike? */
static inline bool fake_alike(const void *a, const void *b, __u32 bits)
{
	const __u8 *one = a, *two = b;

	for (__u32 i = 0; i < bits; i++)
		if ((one[i / 8] ^ two[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

/* Of a trie the longest that has all of @key. */
static inline int fake_longest(const struct fake *f, const void *key)
{
	const struct cidr *want = key;
	int found = -1;
	__u32 length = 0;

	for (__u32 i = 0; i < f->count; i++) {
		struct cidr has;

		memcpy(&has, f->keys + i * f->key, sizeof(has));
		if (has.length > want->length || (found >= 0 && has.length <= length) ||
		    !fake_alike(has.addr, want->addr, has.length))
			continue;
		found = (int)i;
		length = has.length;
	}
	errno = ENOENT;
	return found;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct fake *f = fake_of(fd);
	int at;

	if (!f)
		return -1;
	at = f->type == BPF_MAP_TYPE_LPM_TRIE ? fake_longest(f, key) : fake_find(f, key);
	if (at < 0)
		return -1;
	memcpy(value, f->values + (size_t)at * f->value, f->value);
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct fake *f = fake_of(fd);
	int at;

	assert_int_equal(flags, BPF_ANY);
	if (!f)
		return -1;
	at = fake_find(f, key);
	if (at < 0 && f->count == f->max) {
		errno = ENOSPC;
		return -1;
	}
	if (at < 0)
		at = (int)f->count++;
	memcpy(f->keys + (size_t)at * f->key, key, f->key);
	memcpy(f->values + (size_t)at * f->value, value, f->value);
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct fake *f = fake_of(fd);
	int at = f ? fake_find(f, key) : -1;
	size_t behind;

	if (at < 0)
		return -1;
	behind = --f->count - (size_t)at;
	memmove(f->keys + (size_t)at * f->key, f->keys + ((size_t)at + 1) * f->key,
		behind * f->key);
	memmove(f->values + (size_t)at * f->value,
		f->values + ((size_t)at + 1) * f->value, behind * f->value);
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	const struct fake *f = fake_of(fd);
	__u32 at;

	if (!f)
		return -1;
	at = key ? (__u32)(fake_find(f, key) + 1) : 0;
	errno = ENOENT;
	if (at >= f->count)
		return -1;
	memcpy(next_key, f->keys + at * f->key, f->key);
	return 0;
}

/* As the kernel does of arrays: from behind the key that is given, and ENOENT with the
 * last. */
int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys,
			 void *values, __u32 *count, const struct bpf_map_batch_opts *o)
{
	const struct fake *f = fake_of(fd);
	__u32 at = in_batch ? *(__u32 *)in_batch + 1 : 0, n = 0;

	(void)o;
	if (!f)
		return -1;
	for (; n < *count && at + n < f->count; n++) {
		memcpy((__u8 *)keys + n * f->key, f->keys + (at + n) * f->key, f->key);
		memcpy((__u8 *)values + n * f->value, f->values + (at + n) * f->value,
		       f->value);
	}
	*count = n;
	*(__u32 *)out_batch = at + n - 1;
	if (fake_read)
		fake_read(fd);
	errno = ENOENT;
	return at + n == f->count ? -1 : 0;
}

/* --- a shield of them --------------------------------------------------------------- */

#define FAKE_SLOTS 5

static struct shield shield;

static inline int fake_begin(void **state)
{
	(void)state;
	memset(&shield, 0, sizeof(shield));
	shield.shared = calloc(1, sizeof(*shield.shared));
	assert_non_null(shield.shared);
	shield.capacity = FAKE_SLOTS;
#define AS_FAKE(name_, type_, key_, value_, entries_)                               \
	if (BPF_MAP_TYPE_##type_ == BPF_MAP_TYPE_LPM_TRIE)                          \
		shield.name_ = fake_map(BPF_MAP_TYPE_##type_, sizeof(key_),         \
					sizeof(value_), 64);                        \
	else if (!strcmp(#name_, "counters") || !strcmp(#name_, "spilled"))         \
		shield.name_ = fake_map(BPF_MAP_TYPE_##type_, sizeof(key_),         \
					sizeof(value_), FAKE_SLOTS * COUNTER_ROWS); \
	else if (!strcmp(#name_, "refused"))                                        \
		shield.name_ = fake_map(BPF_MAP_TYPE_##type_, sizeof(key_),         \
					sizeof(value_), FAKE_SLOTS * CLASS_COUNT);  \
	else if (!strcmp(#name_, "others") || !strcmp(#name_, "sampled"))           \
		shield.name_ = fake_map(BPF_MAP_TYPE_##type_, sizeof(key_),         \
					sizeof(value_), entries_);                  \
	else if (!strcmp(#name_, "qports"))                                         \
		shield.name_ = fake_map(BPF_MAP_TYPE_##type_, sizeof(key_),         \
					sizeof(value_), 64);                        \
	else                                                                        \
		shield.name_ = -1;
	SHIELD_MAPS(AS_FAKE)
#undef AS_FAKE
	shield.lock = own_lock();
	assert_true(shield.lock >= 0);
	shield.shared->keys[0] = 0x9e3779b97f4a7c15;
	shield.shared->keys[1] = 0xc2b2ae3d27d4eb4f;
	shield.shared->keys[2] = 0x165667b19e3779f9;
	return 0;
}

static inline int fake_end(void **state)
{
	(void)state;
	free(shield.shared);
	if (shield.lock >= 0)
		close(shield.lock);
	fake_free();
	return 0;
}

#endif /* FAKE_MAPS_H */
