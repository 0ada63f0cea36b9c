/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view.h - memory of another version of this program, by the names of its members.
 *
 * The program that wrote the memory left its BTF: the layout of its structures. A member
 * that is not there, or would not fit into the memory that is there, is a view of size 0;
 * every member and element of that is one of size 0 too, and every number 0. So a whole
 * path may be read before any part of it is checked.
 */
#ifndef VIEW_H
#define VIEW_H

#include <linux/types.h>
#include <bpf/btf.h>

struct view {
	const struct btf *btf;
	__s32 type; /* in @btf */
	__u8 *at;
	__u32 size; /* bytes; 0: there is no such thing */
};

/* Return a view of the @type of @btf that begins at @at, where there are @room bytes. */
struct view view_of(const struct btf *btf, __s32 type, __u8 *at, __u32 room);
/* Return the member @name of @v, or of a struct or union in it that has no name. */
struct view view_member(const struct view *v, const char *name);
/* Return how many elements the array has; 0: it is no array. */
__u32 view_count(const struct view *v);
/* Return element @i of an array; of size 0 if there is none. */
struct view view_element(const struct view *v, __u32 i);
/* Return an integer of up to 64 bits; 0 if the view is empty or larger. */
__u64 view_number(const struct view *v);
/* Return the number in the member @name of @v; 0: it has none. */
__u64 view_member_number(const struct view *v, const char *name);
/* Copy into each member of @to the member of @from that has its name and size. */
void view_copy(const struct view *from, const struct view *to);

#endif /* VIEW_H */
