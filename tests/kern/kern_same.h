/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_same.h - compares all maps of two shields after the same frames.
 */
#ifndef KERN_SAME_H
#define KERN_SAME_H

#include "kern/kern_support.h"

/* All entries of an array are alike. */
static inline void kern_same_array(int first, int second, const struct bpf_map_info *info)
{
	__u32 n = info->max_entries, count = n, token;
	__u32 *keys = calloc(n, sizeof(*keys));
	__u8 *one = calloc(n, info->value_size), *two = calloc(n, info->value_size);

	assert_true(keys && one && two);
	assert_int_equal(
		bpf_map_lookup_batch(first, NULL, &token, keys, one, &count, NULL), 0);
	assert_int_equal(count, n);
	assert_int_equal(
		bpf_map_lookup_batch(second, NULL, &token, keys, two, &count, NULL), 0);
	for (size_t at = 0; at < (size_t)n * info->value_size; at++) {
		if (one[at] == two[at])
			continue;
		print_error("%s[%zu] differs\n", info->name, at / info->value_size);
		fail();
	}
	free(keys);
	free(one);
	free(two);
}

/* And of a hash, with as many entries in both. */
static inline void kern_same_hash(int first, int second, const struct bpf_map_info *info)
{
	__u8 key[32], one[64], two[64], *previous = NULL;
	size_t count = 0;

	assert_true(info->key_size <= sizeof(key) && info->value_size <= sizeof(one));
	for (; !bpf_map_get_next_key(first, previous, key); previous = key, count++) {
		assert_int_equal(bpf_map_lookup_elem(first, key, one), 0);
		assert_int_equal(bpf_map_lookup_elem(second, key, two), 0);
		assert_memory_equal(one, two, info->value_size);
	}
	for (previous = NULL; !bpf_map_get_next_key(second, previous, key);
	     previous = key)
		count--;
	assert_int_equal(count, 0);
}

/*
 * Assert that the maps of two shields hold the same. kern_sum_way() compares the counters
 * of processors, and the caller struct live.
 */
static inline void kern_same_maps(struct kern *a, struct kern *b)
{
	struct bpf_map *map;
	int compared = 0;

	bpf_object__for_each_map(map, a->skel->obj)
	{
		int first = bpf_map__fd(map), second;
		struct bpf_map_info info = { 0 };
		__u32 size = sizeof(info);

		second =
			bpf_object__find_map_fd_by_name(b->skel->obj, bpf_map__name(map));
		assert_true(second >= 0);
		assert_int_equal(bpf_obj_get_info_by_fd(first, &info, &size), 0);
		if (bpf_map__is_internal(map))
			continue;
		if (info.type == BPF_MAP_TYPE_ARRAY)
			kern_same_array(first, second, &info);
		else if (info.type == BPF_MAP_TYPE_HASH)
			kern_same_hash(first, second, &info);
		else
			continue;
		compared++;
	}
	assert_true(compared >= 6);
}

#endif
