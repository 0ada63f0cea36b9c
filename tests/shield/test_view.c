// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Members of somebody else's memory, by name: those that moved, those in structures
 * without a name, those that are not there, and types that claim more than there is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shield/view.h"

/* struct old { u32 first; struct { u16 inner; }; u64 last; u32 row[3]; } */
struct old {
	__u32 first;
	__u16 inner;
	__u16 pad;
	__u64 last;
	__u32 row[3];
	__u32 end;
};

/* struct fresh { u64 last; u64 first; u32 row[3]; u16 added; u16 inner; } */
struct fresh {
	__u64 last;
	__u64 first; /* of another size: stays zero */
	__u32 row[3];
	__u16 added;
	__u16 inner;
};

static struct btf *btf;
static __s32 old_type, fresh_type;

static int make_types(void **state)
{
	int u16, u32, u64, row, nameless;

	(void)state;
	btf = btf__new_empty();
	u16 = btf__add_int(btf, "u16", 2, 0);
	u32 = btf__add_int(btf, "u32", 4, 0);
	u64 = btf__add_int(btf, "u64", 8, 0);
	row = btf__add_array(btf, u32, u32, 3);
	nameless = btf__add_struct(btf, NULL, 4);
	btf__add_field(btf, "inner", u16, 0, 0);
	old_type = btf__add_struct(btf, "old", sizeof(struct old));
	btf__add_field(btf, "first", u32, 0, 0);
	btf__add_field(btf, NULL, nameless, 8 * offsetof(struct old, inner), 0);
	btf__add_field(btf, "last", u64, 8 * offsetof(struct old, last), 0);
	btf__add_field(btf, "row", row, 8 * offsetof(struct old, row), 0);
	fresh_type = btf__add_struct(btf, "fresh", sizeof(struct fresh));
	btf__add_field(btf, "last", u64, 8 * offsetof(struct fresh, last), 0);
	btf__add_field(btf, "first", u64, 8 * offsetof(struct fresh, first), 0);
	btf__add_field(btf, "row", row, 8 * offsetof(struct fresh, row), 0);
	btf__add_field(btf, "added", u16, 8 * offsetof(struct fresh, added), 0);
	btf__add_field(btf, "inner", u16, 8 * offsetof(struct fresh, inner), 0);
	return fresh_type < 0;
}

static int free_types(void **state)
{
	(void)state;
	btf__free(btf);
	return 0;
}

static void members_have_names(void **state)
{
	struct old old = { 1, 2, 0, 3, { 4, 5, 6 }, 7 };
	struct view v = view_of(btf, old_type, (__u8 *)&old, sizeof(old));
	struct view row = view_member(&v, "row");
	struct view last = view_element(&row, 2);

	(void)state;
	assert_int_equal(v.size, sizeof(old));
	assert_int_equal(view_member_number(&v, "first"), 1);
	assert_int_equal(view_member_number(&v, "inner"), 2);
	assert_int_equal(view_member_number(&v, "last"), 3);
	assert_int_equal(view_count(&row), 3);
	assert_int_equal(view_number(&last), 6);
}

/* Whoever may write the types could make a structure its own member, twice. */
static void a_structure_in_itself_ends(void **state)
{
	__u8 memory[8] = { 0 };
	int id = btf__add_struct(btf, "loop", sizeof(memory));
	struct view v;

	(void)state;
	assert_true(id > 0);
	assert_int_equal(btf__add_field(btf, NULL, id, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, id, 0, 0), 0);
	v = view_of(btf, id, memory, sizeof(memory));
	assert_int_equal(view_member(&v, "inner").size, 0);
}

static void what_is_not_there_has_no_size(void **state)
{
	struct old old = { .first = 1 };
	struct view v = view_of(btf, old_type, (__u8 *)&old, sizeof(old));
	struct view row = view_member(&v, "row");
	struct view none = view_member(&v, "end"); /* no member that the types know */
	struct view deeper = view_element(&none, 0);

	(void)state;
	assert_int_equal(none.size, 0);
	assert_int_equal(deeper.size, 0);
	assert_int_equal(view_count(&none), 0);
	assert_int_equal(view_number(&deeper), 0);
	assert_int_equal(view_member_number(&deeper, "first"), 0);
	deeper = view_element(&row, 3);
	assert_int_equal(deeper.size, 0);
	deeper = view_element(&v, 0);
	assert_int_equal(deeper.size, 0);
	/* A type that is larger than the memory, and one that does not exist. */
	v = view_of(btf, old_type, (__u8 *)&old, sizeof(old) - 1);
	assert_int_equal(v.size, 0);
	v = view_of(btf, 999, (__u8 *)&old, sizeof(old));
	assert_int_equal(v.size, 0);
}

static void a_copy_goes_by_name_and_size(void **state)
{
	struct old old = { 1, 2, 0, 3, { 4, 5, 6 }, 7 };
	struct fresh fresh = { 0 };
	struct view from = view_of(btf, old_type, (__u8 *)&old, sizeof(old));
	struct view to = view_of(btf, fresh_type, (__u8 *)&fresh, sizeof(fresh));

	(void)state;
	view_copy(&from, &to);
	assert_int_equal(fresh.last, 3);
	assert_int_equal(fresh.first, 0);
	assert_int_equal(fresh.inner, 2);
	assert_int_equal(fresh.added, 0);
	assert_memory_equal(fresh.row, old.row, sizeof(old.row));

	/* And into a structure without a name. */
	memset(&old, 0, sizeof(old));
	fresh.inner = 9;
	view_copy(&to, &from);
	assert_int_equal(old.inner, 9);
	assert_int_equal(old.last, 3);
	assert_int_equal(old.first, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_have_names),
		cmocka_unit_test(a_structure_in_itself_ends),
		cmocka_unit_test(what_is_not_there_has_no_size),
		cmocka_unit_test(a_copy_goes_by_name_and_size),
	};

	return cmocka_run_group_tests(tests, make_types, free_types);
}
