// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_abi.c - the name of our tables, and whether a map is one of them.
 *
 * shield_abi() is kept in a static buffer: only one thread may call it first. All that is
 * hashed here decides whether an upgrade finds the old tables: the order and the spelling
 * may not change without need, since that replaces all tables.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/log.h"
#include "lib/names.h"
#include "lib/util.h"
#include "shield/shield_internal.h"

#define ABI_VERSION 3 /* raise it where a meaning changes and no size or name does */

static const struct map_row rows[] = {
#define AS_ROW(name, type, key, value, entries) \
	{ #name, BPF_MAP_TYPE_##type, sizeof(key), sizeof(value), entries },
	SHIELD_MAPS(AS_ROW)
#undef AS_ROW
};

const struct map_row *map_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

bool map_fits(const struct map_row *row, const struct bpf_map_info *info)
{
	return info->type == row->type && info->key_size == row->key_size &&
	       info->value_size == row->value_size &&
	       (!row->entries || info->max_entries == row->entries);
}

/* Add @text to @hash. */
static void hash_text(__u32 *hash, const char *text)
{
	/* With the zero at its end: "ab", "c" is not "a", "bc". */
	do {
		*hash = (*hash ^ (__u8)*text) * 16777619u; /* FNV-1a */
	} while (*text++);
}

/* Add @number to @hash. */
static void hash_number(__u32 *hash, size_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "/%zu", number);
	hash_text(hash, text);
}

/*
 * Add the names of kinds, reasons, classes, protocols and other frames: the tables have
 * their numbers. Renaming one gives new tables, too.
 */
static void hash_names(__u32 *hash)
{
	for (int i = 0; i < KIND_COUNT; i++)
		hash_text(hash, kind_name((enum wire_kind)i));
	for (int i = 0; i < REASON_COUNT; i++)
		hash_text(hash, reason_name((enum reason)i));
	for (int i = 0; i < CLASS_COUNT; i++)
		hash_text(hash, class_name((enum wire_class)i));
	for (int i = 0; i < FAMILY_COUNT; i++)
		hash_text(hash, family_name((enum wire_family)i));
	for (int i = 0; i < OTHER_COUNT; i++)
		hash_text(hash, other_name((enum other)i));
}

/*
 * Add the sizes of all parts of maps: changes of two could leave the size of a third as
 * it was. A structure in a map belongs in SHIELD_PARTS if its size is not that of a key
 * or value; tests/shield/test_abi.c finds those that are missing.
 */
static void hash_parts(__u32 *hash)
{
	static const size_t sizes[] = { COUNTERS, COUNTERS_OUT_FROM,
#define AS_SIZE(name) sizeof(struct name),
					SHIELD_PARTS(AS_SIZE)
#undef AS_SIZE
	/* Where each reason's counters begin: totals hide two that changed places. */
#define AS_NUMBERS(reason, name, verdict, received, sent) \
	COUNTER_IN_##reason, COUNTER_OUT_##reason,
						ABI_REASONS(AS_NUMBERS)
#undef AS_NUMBERS
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		hash_number(hash, sizes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(counter_places); i++)
		hash_number(hash, counter_places[i]);
}

void map_hash(const struct map_row *row, __u32 *hash)
{
	hash_text(hash, row->name);
	hash_number(hash, row->type);
	hash_number(hash, row->key_size);
	hash_number(hash, row->value_size);
	hash_number(hash, row->entries);
}

const char *shield_abi(void)
{
	static char abi[ABI_NAME];
	__u32 hash = 2166136261u;

	if (abi[0])
		return abi;
	hash_names(&hash);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		map_hash(&rows[i], &hash);
	hash_parts(&hash);
	snprintf(abi, sizeof(abi), "v%d-%08x", ABI_VERSION, hash);
	return abi;
}

bool abi_is_name(const char *name)
{
	unsigned int version, hash;
	int end = 0;

	return sscanf(name, "v%u-%8x%n", &version, &hash, &end) == 2 && !name[end];
}
