/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list_one.h - add or remove one entry of a list.
 */
#ifndef LIST_ONE_H
#define LIST_ONE_H

#include <errno.h>

#include "shield/shield.h"

static inline int shield_list_add(struct shield *s, enum list list,
				  const struct cidr *cidr, const struct list_terms *terms)
{
	size_t added;

	return shield_list_add_all(s, list, cidr, 1, terms, &added);
}

static inline int shield_list_del(struct shield *s, enum list list,
				  const struct cidr *cidr)
{
	bool missing = false;
	int err = shield_list_del_all(s, list, cidr, 1, &missing);

	return err || !missing ? err : -ENOENT;
}

#endif /* LIST_ONE_H */
