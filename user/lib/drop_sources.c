// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drop_sources.c - see drop_sources.h.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/drop_sources.h"

#define PREFIX_V4   120 /* /24, mapped */
#define PREFIX_V6   56
#define SHARE_LEAST 20 /* one in so many, to be named */
#define TOTAL_LEAST 20 /* fewer samples say nothing */

static void prefix_of(const struct record_address *a, struct cidr *ret)
{
	__u8 *bytes = (__u8 *)ret->addr;

	if (a->length == 4) {
		bytes[10] = bytes[11] = 0xff;
		memcpy(bytes + 12, a->bytes, 3);
		ret->length = PREFIX_V4;
	} else {
		memcpy(bytes, a->bytes, PREFIX_V6 / 8);
		ret->length = PREFIX_V6;
	}
}

void drop_sources_add(struct drop_sources *w, __u32 slot,
		      const struct record_address *source)
{
	struct drop_sources_row *least = w->rows;
	struct cidr prefix = { 0 };

	if (source->length != 4 && source->length != 16)
		return;
	prefix_of(source, &prefix);
	w->total++;
	for (size_t i = 0; i < DROP_SOURCES_PLACES; i++) {
		struct drop_sources_row *row = &w->rows[i];

		if (row->count && row->slot == slot &&
		    !memcmp(&row->prefix, &prefix, sizeof(prefix))) {
			row->count++;
			return;
		}
		if (row->count < least->count)
			least = row;
	}
	least->prefix = prefix;
	least->slot = slot;
	least->count++;
}

void drop_sources_fade(struct drop_sources *w)
{
	w->total /= 2;
	for (size_t i = 0; i < DROP_SOURCES_PLACES; i++)
		w->rows[i].count /= 2;
}

static int by_count(const void *left, const void *right)
{
	const struct drop_sources_row *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return memcmp(&a->prefix, &b->prefix, sizeof(a->prefix));
}

size_t drop_sources_list(const struct drop_sources *w, struct drop_sources_row *ret,
			 size_t max)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];
	size_t n = 0;

	memcpy(rows, w->rows, sizeof(rows));
	qsort(rows, DROP_SOURCES_PLACES, sizeof(*rows), by_count);
	while (n < DROP_SOURCES_PLACES && n < max && w->total >= TOTAL_LEAST &&
	       rows[n].count * SHARE_LEAST >= w->total) {
		ret[n] = rows[n];
		n++;
	}
	return n;
}
