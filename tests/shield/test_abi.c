// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The rows that the name of our tables is made of: each map of the object has one, and is
 * what it says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "counters.h"
#include "shield.skel.h"
#include "shield/shield_internal.h"

static struct shield_bpf *object;

static int open_object(void **state)
{
	(void)state;
	object = shield_bpf__open();
	return !object;
}

static int close_object(void **state)
{
	(void)state;
	shield_bpf__destroy(object);
	return 0;
}

static const struct map_row *row_of(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);

	if (!bpf_map__is_internal(map))
		return map_row(name);
	name = strrchr(name, '.');
	return name && !strcmp(name, ".bss") ? map_row("live") : NULL;
}

static void each_map_is_what_its_row_says(void **state)
{
	size_t with_row = 0, rows = 0;
	struct bpf_map *map;

	(void)state;
	bpf_object__for_each_map(map, object->obj)
	{
		const struct map_row *row = row_of(map);
		struct bpf_map_info info = {
			.type = bpf_map__type(map),
			.key_size = bpf_map__key_size(map),
			.value_size = bpf_map__value_size(map),
			.max_entries = bpf_map__max_entries(map),
		};

		if (!row) {
			/* Constants, what is of one frame alone, and marks of seconds. */
			assert_true(bpf_map__is_internal(map) ||
				    !strcmp(bpf_map__name(map), "scratch") ||
				    !strcmp(bpf_map__name(map), "recent") ||
				    !strcmp(bpf_map__name(map), "tail_ctx") ||
				    !strcmp(bpf_map__name(map), "userinfos") ||
				    !strcmp(bpf_map__name(map), "texts"));
			continue;
		}
		with_row++;
		if (!strcmp(row->name, "counters"))
			assert_int_equal(info.max_entries, SERVICES_MAX * COUNTER_ROWS);
		if (!strcmp(row->name, "refused"))
			assert_int_equal(info.max_entries, SERVICES_MAX * CLASS_COUNT);
		if (!map_fits(row, &info))
			fail_msg("map '%s' is not what its row says", row->name);
	}
#define AS_ONE(...) rows++;
	SHIELD_MAPS(AS_ONE)
#undef AS_ONE
	assert_int_equal(with_row, rows);
}

static void a_map_of_another_shape_does_not_fit(void **state)
{
	const struct map_row *row = map_row("qports");
	const struct bpf_map_info right = {
		.type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(struct qport_key),
		.value_size = 2,
		.max_entries = PLAYERS_MAX,
	};
	struct bpf_map_info info = right;

	(void)state;
	assert_true(map_fits(row, &info));
	info.type = BPF_MAP_TYPE_LRU_HASH;
	assert_false(map_fits(row, &info));
	info = right;
	info.key_size += 4;
	assert_false(map_fits(row, &info));
	info = right;
	info.value_size += 2;
	assert_false(map_fits(row, &info));
	info = right;
	info.max_entries /= 2;
	assert_false(map_fits(row, &info));
	assert_null(map_row("scratch"));
}

/* Tables of another shape have another name, so that an upgrade never finds the old. */
static void whatever_differs_is_in_the_name(void **state)
{
	const struct map_row row = *map_row("qports");
	struct map_row others[] = { row, row, row, row, row };
	__u32 hash = 7, other;

	(void)state;
	others[0].name = "ports";
	others[1].type++;
	others[2].key_size += 4;
	others[3].value_size += 2;
	others[4].entries *= 2;
	map_hash(&row, &hash);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		other = 7;
		map_hash(&others[i], &other);
		assert_int_not_equal(other, hash);
	}
	other = 7;
	map_hash(&row, &other);
	assert_int_equal(other, hash);
}

/* Return the size of struct @name, if it is a part of a map that is in the name; else 0.
 */
static size_t size_in_name(const char *name)
{
#define AS_PART(part)             \
	if (!strcmp(name, #part)) \
		return sizeof(struct part);
	SHIELD_PARTS(AS_PART)
#undef AS_PART
	return 0;
}

#define DEEPEST 8 /* structures in each other */

/* Each structure within @id has its size in the name. @depth 0: that is a map's row. */
static void assert_parts(const struct btf *btf, __s32 id, int depth)
{
	const struct btf_type *type;
	const char *name;

	assert_true(depth < DEEPEST);
	for (type = btf__type_by_id(btf, (__u32)id); btf_is_array(type);)
		type = btf__type_by_id(
			btf, (__u32)btf__resolve_type(btf, btf_array(type)->type));
	if (!btf_is_composite(type))
		return;
	name = btf__name_by_offset(btf, type->name_off);
	if (depth && *name && size_in_name(name) != type->size)
		fail_msg("the size of struct %s is not in the name of the tables", name);
	for (__u16 i = 0; i < btf_vlen(type); i++)
		assert_parts(btf, btf__resolve_type(btf, btf_members(type)[i].type),
			     depth + 1);
}

/* Two structures that change by as much have another name, too. */
static void each_part_of_a_map_is_in_the_name(void **state)
{
	static const char *const values[] = {
		"live",	   "counter_row", "counter_sums", "refused",  "list_entry",
		"sampled", "cidr",	  "qport_key",	  "endpoint", "amplification_line"
	};
	const struct btf *btf = bpf_object__btf(object->obj);

	(void)state;
	assert_non_null(btf);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		__s32 id = btf__find_by_name_kind(btf, values[i], BTF_KIND_STRUCT);

		/* The programs of some only compare their keys. */
		if (id > 0)
			assert_parts(btf, id, 0);
		else
			assert_string_not_equal(values[i], "live");
	}
}

static void the_name_is_one(void **state)
{
	(void)state;
	assert_true(abi_is_name(shield_abi()));
	assert_true(abi_is_name("v1-05fd1ae0"));
	assert_false(abi_is_name("v1"));
	assert_false(abi_is_name("v1-05fd1ae0-old"));
	assert_false(abi_is_name("view-05fd1ae0"));
	assert_false(abi_is_name(".."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_map_is_what_its_row_says),
		cmocka_unit_test(a_map_of_another_shape_does_not_fit),
		cmocka_unit_test(whatever_differs_is_in_the_name),
		cmocka_unit_test(each_part_of_a_map_is_in_the_name),
		cmocka_unit_test(the_name_is_one),
	};

	return cmocka_run_group_tests(tests, open_object, close_object);
}
