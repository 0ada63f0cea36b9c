/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view.h - memory of a program that is not this one, by the names of its members.
 *
 * Who wrote it left its BTF: the layout of its structures. What is not there, or would
 * not fit into what is known to be there, is a view of size 0, of which every member and
 * element is one of size 0 too, and every number 0. So a whole path may be asked for
 * before anybody looks.
 */
#ifndef VIEW_H
#define VIEW_H

#include <linux/types.h>
#include <bpf/btf.h>

struct view {
	const struct btf *btf;
	__s32 type; /* in @btf */
	__u8 *at;
	__u32 size; /* octets; 0: there is no such thing */
};

/* A @type of @btf's that begins at @at, where there are @room octets. */
struct view view_of(const struct btf *btf, __s32 type, __u8 *at, __u32 room);
/* The member @name of @v or of a struct or union in it that has no name. */
struct view view_member(const struct view *v, const char *name);
/* How many elements the array has; 0: it is none. */
__u32 view_count(const struct view *v);
struct view view_element(const struct view *v, __u32 i);
/* An integer of up to 64 bits. */
__u64 view_number(const struct view *v);
__u64 view_member_number(const struct view *v, const char *name);
/* Into each member of @to goes the member of @from that has its name and size. */
void view_copy(const struct view *from, const struct view *to);

#endif /* VIEW_H */
