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

bool drop_sources_prefix(const struct record_address *source, struct cidr *ret)
{
	__u8 *bytes = (__u8 *)ret->addr;

	memset(ret, 0, sizeof(*ret));
	if (source->length == 4) {
		bytes[10] = bytes[11] = 0xff;
		memcpy(bytes + 12, source->bytes, 3);
		ret->length = PREFIX_V4;
		return true;
	}
	memcpy(bytes, source->bytes, PREFIX_V6 / 8);
	ret->length = PREFIX_V6;
	return source->length == 16;
}

/* The row of @prefix, or another's that is now its own. */
static struct drop_sources_row *row_of(struct drop_sources *w, __u32 slot,
				       const struct cidr *prefix)
{
	struct drop_sources_row *least = w->rows;

	for (size_t i = 0; i < DROP_SOURCES_PLACES; i++) {
		struct drop_sources_row *row = &w->rows[i];

		if (row->count && row->slot == slot &&
		    !memcmp(&row->prefix, prefix, sizeof(*prefix)))
			return row;
		if (row->count < least->count)
			least = row;
	}
	least->prefix = *prefix;
	least->slot = slot;
	least->taken = least->count;
	least->samples = least->votes = 0;
	return least;
}

void drop_sources_put(struct drop_sources *w, __u32 slot, const struct cidr *prefix,
		      __u64 n, __u8 reason)
{
	struct drop_sources_row *row = row_of(w, slot, prefix);

	w->total += n;
	row->count += n;
	row->samples++;
	/* Boyer and Moore: what most vote for is what is left. */
	if (!row->votes)
		row->reason = reason;
	if (row->reason == reason)
		row->votes++;
	else
		row->votes--;
}

void drop_sources_add(struct drop_sources *w, __u32 slot,
		      const struct record_address *source)
{
	struct cidr prefix = { 0 };

	if (drop_sources_prefix(source, &prefix))
		drop_sources_put(w, slot, &prefix, 1, 0);
}

void drop_sources_fade(struct drop_sources *w)
{
	w->total /= 2;
	for (size_t i = 0; i < DROP_SOURCES_PLACES; i++) {
		w->rows[i].count /= 2;
		w->rows[i].taken /= 2;
	}
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

size_t drop_sources_sure(const struct drop_sources *w, struct drop_sources_row *ret,
			 size_t max)
{
	struct drop_sources_row rows[DROP_SOURCES_PLACES];
	size_t n = 0;

	memcpy(rows, w->rows, sizeof(rows));
	for (size_t i = 0; i < DROP_SOURCES_PLACES; i++) {
		rows[i].count -= rows[i].taken;
		if (rows[i].samples < DROP_SOURCES_SURE)
			rows[i].count = 0;
	}
	qsort(rows, DROP_SOURCES_PLACES, sizeof(*rows), by_count);
	while (n < DROP_SOURCES_PLACES && n < max && rows[n].count &&
	       rows[n].count * SHARE_LEAST >= w->total) {
		ret[n] = rows[n];
		n++;
	}
	return n;
}
