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
		cmocka_unit_test(the_name_is_one),
	};

	return cmocka_run_group_tests(tests, open_object, close_object);
}
