// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_lists.c - who is allowed, denied, followed. An entry may belong to the
 * configuration, to who typed it in, or to both, and stays while it belongs to one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include <bpf/bpf.h>

#include "lib/log.h"
#include "listed.h"
#include "shield/shield_internal.h"

static int list_map(const struct shield *s, enum list list)
{
	return list == LIST_ALLOW ? s->allow : list == LIST_DENY ? s->deny : s->follow;
}

/* Where @list has entries, @mark in @cells. */
static void cells_mark(const struct shield *s, enum list list, __u8 mark,
		       __u8 cells[LISTED_CELLS])
{
	void *previous = NULL;
	struct cidr at;

	while (!bpf_map_get_next_key(list_map(s, list), previous, &at)) {
		__u32 first, count = listed_span(&at, &first);

		previous = &at;
		for (__u32 i = 0; i < count; i++)
			cells[first + i] |= mark;
	}
}

/* Say in the shared table where @list has entries now, see listed.h. */
static void list_spread(struct shield *s, enum list list, __u8 mark)
{
	__u8 *cells = calloc(1, LISTED_CELLS), *listed = s->shared->listed;

	if (cells)
		cells_mark(s, list, mark, cells);
	/* Nothing is lost but time if lists are looked up for all addresses. */
	for (__u32 i = 0; i < LISTED_CELLS; i++)
		listed[i] = (__u8)((listed[i] & ~mark) | (cells ? cells[i] : mark));
	free(cells);
}

/* Packets begin to be looked up only when all is written, and end before it is gone. */
static void list_mark(struct shield *s, enum list list)
{
	struct cidr first;
	__u32 used = !bpf_map_get_next_key(list_map(s, list), NULL, &first);
	__u8 mark = list == LIST_ALLOW ? LIVE_ALLOW : LIVE_DENY;

	if (list == LIST_FOLLOW) {
		s->shared->sampling.follow_listed = used;
		return;
	}
	if (!used)
		__atomic_fetch_and(&s->shared->lists, ~(__u32)mark, __ATOMIC_RELEASE);
	list_spread(s, list, mark);
	if (used)
		__atomic_fetch_or(&s->shared->lists, mark, __ATOMIC_RELEASE);
}

/* Who put exactly @cidr in: the trie answers with the longest match, so compare lengths.
 */
static __u32 list_exact(const struct shield *s, enum list list, const struct cidr *cidr)
{
	struct list_entry entry;

	if (bpf_map_lookup_elem(list_map(s, list), cidr, &entry) ||
	    entry.length != cidr->length)
		return 0;
	return entry.origins;
}

static int list_write(struct shield *s, enum list list, const struct cidr *cidr,
		      __u32 origins)
{
	struct list_entry entry = { .origins = (__u8)origins,
				    .length = (__u8)cidr->length };
	int err;

	if (!origins)
		err = bpf_map_delete_elem(list_map(s, list), cidr) ? -errno : 0;
	else
		err = bpf_map_update_elem(list_map(s, list), cidr, &entry, BPF_ANY)
			      ? -errno
			      : 0;
	if (err == -ENOSPC)
		log_error("the %s list is full: it holds %d entries",
			  list == LIST_ALLOW  ? "allow"
			  : list == LIST_DENY ? "deny"
					      : "follow",
			  LIST_MAX);
	return err;
}

/* @origin: LIST_LIVE, and LIST_LIVE_UNLIMITED if it is to be that; 0: out with it. */
static int list_edit(struct shield *s, enum list list, const struct cidr *cidr,
		     __u32 origin)
{
	const __u32 live = LIST_LIVE | LIST_LIVE_UNLIMITED;
	__u32 origins;
	int err = 0;

	if (flock(s->lock, LOCK_EX))
		return -errno;
	origins = list_exact(s, list, cidr);
	if (origin || origins & LIST_LIVE)
		err = list_write(s, list, cidr, (origins & ~live) | origin);
	else
		err = -ENOENT;
	list_mark(s, list);
	flock(s->lock, LOCK_UN);
	return err;
}

int shield_list_add(struct shield *s, enum list list, const struct cidr *cidr,
		    bool unlimited)
{
	return list_edit(s, list, cidr,
			 LIST_LIVE | (unlimited ? LIST_LIVE_UNLIMITED : 0));
}

int shield_list_del(struct shield *s, enum list list, const struct cidr *cidr)
{
	return list_edit(s, list, cidr, 0);
}

int shield_list_each(const struct shield *s, enum list list,
		     void (*each)(const struct cidr *cidr, __u32 origins, void *context),
		     void *context)
{
	struct list_entry entry;
	struct cidr at;
	void *previous = NULL;

	while (!bpf_map_get_next_key(list_map(s, list), previous, &at)) {
		previous = &at;
		if (!bpf_map_lookup_elem(list_map(s, list), &at, &entry))
			each(&at, entry.origins, context);
	}
	return 0;
}

struct stale {
	const struct cidr *want;
	size_t want_count;
	struct cidr *found;
	__u32 *origins;
	size_t count;
};

static bool wanted(const struct stale *stale, const struct cidr *cidr)
{
	for (size_t i = 0; i < stale->want_count; i++)
		if (!memcmp(&stale->want[i], cidr, sizeof(*cidr)))
			return true;
	return false;
}

static void collect_stale(const struct cidr *cidr, __u32 origins, void *context)
{
	struct stale *stale = context;

	if (!(origins & LIST_CONFIG) || wanted(stale, cidr) || stale->count >= LIST_MAX)
		return;
	stale->found[stale->count] = *cidr;
	stale->origins[stale->count++] = origins;
}

int shield_list_apply(struct shield *s, enum list list, const struct cidr *want,
		      const bool *unlimited, size_t count)
{
	const __u32 ours = LIST_CONFIG | LIST_CONFIG_UNLIMITED;
	struct stale stale = { .want = want, .want_count = count };
	int err = 0;

	stale.found = calloc(LIST_MAX, sizeof(*stale.found));
	stale.origins = calloc(LIST_MAX, sizeof(*stale.origins));
	if (!stale.found || !stale.origins) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < count && !err; i++)
		err = list_write(
			s, list, &want[i],
			(list_exact(s, list, &want[i]) & ~ours) | LIST_CONFIG |
				(unlimited && unlimited[i] ? LIST_CONFIG_UNLIMITED : 0));
	shield_list_each(s, list, collect_stale, &stale);
	for (size_t i = 0; i < stale.count && !err; i++)
		err = list_write(s, list, &stale.found[i], stale.origins[i] & ~ours);
	list_mark(s, list);
out:
	free(stale.found);
	free(stale.origins);
	return err;
}

int shield_list_carry(struct shield *s, enum list list, const struct cidr *cidr,
		      __u32 origins)
{
	return list_write(s, list, cidr,
			  list_exact(s, list, cidr) |
				  (origins & (LIST_LIVE | LIST_LIVE_UNLIMITED)));
}

void shield_list_carried(struct shield *s, enum list list)
{
	list_mark(s, list);
}
