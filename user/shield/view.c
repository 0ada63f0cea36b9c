// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view.c - see view.h.
 */
#include <string.h>

#include "shield/view.h"

struct view view_of(const struct btf *btf, __s32 type, __u8 *at, __u32 room)
{
	struct view v = { .btf = btf, .type = btf__resolve_type(btf, (__u32)type) };
	__s64 size = v.type > 0 ? btf__resolve_size(btf, (__u32)v.type) : -1;

	if (size < 0 || size > room)
		return (struct view){ 0 };
	v.at = at;
	v.size = (__u32)size;
	return v;
}

/* Structures without a name that are looked into: hostile BTF has them in each other. */
#define NAMELESS_MAX 64

/*
 * Return the member @name of @v, also within members without a name; size 0: there is
 * none. *@left: structures that may still be looked into; it bounds hostile BTF.
 * Bit-fields are left out.
 */
static struct view member_within(const struct view *v, const char *name, int *left)
{
	const struct btf_type *t =
		v->size ? btf__type_by_id(v->btf, (__u32)v->type) : NULL;
	struct view found = { 0 };

	if (!t || !btf_is_composite(t) || !(*left)--)
		return found;
	for (__u32 i = 0; i < btf_vlen(t) && !found.size && *left >= 0; i++) {
		const struct btf_member *m = &btf_members(t)[i];
		__u32 offset = btf_member_bit_offset(t, i) / 8;
		const char *called = btf__name_by_offset(v->btf, m->name_off);
		struct view inner;

		if (btf_member_bitfield_size(t, i) || offset > v->size)
			continue;
		inner = view_of(v->btf, (__s32)m->type, v->at + offset, v->size - offset);
		if (called && !strcmp(called, name))
			found = inner;
		else if (!called || !*called)
			found = member_within(&inner, name, left);
	}
	return found;
}

struct view view_member(const struct view *v, const char *name)
{
	int left = NAMELESS_MAX;

	return member_within(v, name, &left);
}

__u32 view_count(const struct view *v)
{
	const struct btf_type *t =
		v->size ? btf__type_by_id(v->btf, (__u32)v->type) : NULL;

	return t && btf_is_array(t) ? btf_array(t)->nelems : 0;
}

struct view view_element(const struct view *v, __u32 i)
{
	const struct btf_type *t;
	__s64 each;

	if (i >= view_count(v))
		return (struct view){ 0 };
	t = btf__type_by_id(v->btf, (__u32)v->type);
	each = btf__resolve_size(v->btf, btf_array(t)->type);
	if (each <= 0 || (__u64)each * (i + 1) > v->size)
		return (struct view){ 0 };
	return view_of(v->btf, (__s32)btf_array(t)->type, v->at + (__u64)each * i,
		       (__u32)each);
}

__u64 view_number(const struct view *v)
{
	__u64 ret = 0;

	if (v->size && v->size <= sizeof(ret))
		memcpy(&ret, v->at,
		       v->size); /* we and the kernel are of one endianness */
	return ret;
}

__u64 view_member_number(const struct view *v, const char *name)
{
	struct view m = view_member(v, name);

	return view_number(&m);
}

void view_copy(const struct view *from, const struct view *to)
{
	const struct btf_type *t =
		to->size ? btf__type_by_id(to->btf, (__u32)to->type) : NULL;

	for (__u32 i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(to->btf, m->name_off);
		__u32 offset = btf_member_bit_offset(t, i) / 8;
		struct view target, source;

		if (btf_member_bitfield_size(t, i) || offset > to->size)
			continue;
		target = view_of(to->btf, (__s32)m->type, to->at + offset,
				 to->size - offset);
		if (!name || !*name) {
			view_copy(from, &target);
			continue;
		}
		source = view_member(from, name);
		if (source.size && source.size == target.size)
			memcpy(target.at, source.at, source.size);
	}
}
