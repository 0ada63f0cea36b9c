// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_lists.c - the lists of allowed, denied and followed networks. An entry may
 * belong to the configuration, to `allow add` or `deny add`, or to both, and stays while
 * it belongs to one.
 *
 * Writers hold the lock of the tables (shield_list_apply(): its caller does). After each
 * change list_mark() must be called, or the programs do not look at the entries.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/log.h"
#include "acl.h"
#include "shield/shield_internal.h"

/* Return the descriptor of the map of @list. */
static int list_map(const struct shield *s, enum list list)
{
	return list == LIST_ALLOW ? s->allow : list == LIST_DENY ? s->deny : s->follow;
}

/*
 * Where @list has entries, @mark in @cells. Called by list_spread(). It must set each
 * cell in which acl_prefilter_cell() may look.
 */
static void cells_mark(const struct shield *s, enum list list, __u8 mark,
		       __u8 cells[ACL_PREFILTER_CELLS])
{
	void *previous = NULL;
	struct cidr at;

	while (!bpf_map_get_next_key(list_map(s, list), previous, &at)) {
		__u32 first, count = acl_prefilter_span(&at, &first);

		previous = &at;
		for (__u32 i = 0; i < count; i++)
			cells[first + i] |= mark;
	}
}

/*
 * Make @mark in each byte of the shared table what it is in @cells; NULL: set it. Bits of
 * other lists and of master servers stay. Returns true if a byte was different. Called by
 * list_spread().
 */
static bool cells_write(struct shield *s, const __u8 *cells, __u8 mark)
{
	__u8 *listed = s->shared->acl_prefilter;
	bool changed = false;

	for (__u32 i = 0; i < ACL_PREFILTER_CELLS; i++) {
		__u8 want = cells ? cells[i] : mark;

		if ((__atomic_load_n(&listed[i], __ATOMIC_RELAXED) & mark) == want)
			continue;
		changed = true;
		if (want)
			__atomic_fetch_or(&listed[i], mark, __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(&listed[i], (__u8)~mark, __ATOMIC_RELAXED);
	}
	return changed;
}

/*
 * Say in the shared table where @list has entries now, see acl.h. Called by list_mark().
 *
 * master_note() in bpf/acl.bpf.h reads a byte and writes it in two steps, since BPF has
 * no atomic operation on a byte. If a byte is changed in between, the program
 * writes the old @mark over it, and the entry is not found. So the bytes are written once
 * more when all programs that may have read the old one are done.
 */
static void list_spread(struct shield *s, enum list list, __u8 mark)
{
	__u8 *cells = calloc(1, ACL_PREFILTER_CELLS);

	if (cells)
		cells_mark(s, list, mark, cells);
	/* Nothing is lost but time if lists are looked up for all addresses. */
	if (cells_write(s, cells, mark)) {
		usleep(20000);
		cells_write(s, cells, mark);
	}
	free(cells);
}

/*
 * Packets begin to be looked up only when all is written, and end before it is gone. Call
 * it under the lock, after each change of @list. Keep the order.
 */
static void list_mark(struct shield *s, enum list list)
{
	struct cidr first;
	__u32 used = !bpf_map_get_next_key(list_map(s, list), NULL, &first);
	__u8 mark = list == LIST_ALLOW ? LISTS_ALLOW : LISTS_DENY;

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

/*
 * Return the entry of @cidr itself, without origins if there is none. The trie finds the
 * longest match, so the lengths must be compared.
 */
static struct list_entry list_exact(const struct shield *s, enum list list,
				    const struct cidr *cidr)
{
	struct list_entry entry, none = { .length = (__u8)cidr->length };

	if (bpf_map_lookup_elem(list_map(s, list), cidr, &entry) ||
	    entry.length != cidr->length)
		return none;
	return entry;
}

/*
 * Write @entry, or delete it if it has no origins. 0, or -errno; -ENOSPC with a message.
 */
static int list_write(struct shield *s, enum list list, const struct cidr *cidr,
		      const struct list_entry *entry)
{
	int fd = list_map(s, list), err;

	if (!entry->origins)
		err = bpf_map_delete_elem(fd, cidr) ? -errno : 0;
	else
		err = bpf_map_update_elem(fd, cidr, entry, BPF_ANY) ? -errno : 0;
	if (err == -ENOSPC)
		log_error("the %s list is full: it holds %d entries",
			  list == LIST_ALLOW  ? "allow"
			  : list == LIST_DENY ? "deny"
					      : "follow",
			  LIST_MAX);
	return err;
}

/*
 * Take the part that `add` has made off @entry. The configuration's part stays. The
 * caller writes the entry.
 */
static void entry_unlive(struct list_entry *entry)
{
	entry->origins &= (__u8)~LIST_RUNTIME_ALL;
	entry->until_ns = 0;
	memset(entry->comment, 0, sizeof(entry->comment));
}

/* Let shield_lists_expire() look at @until_ns (0: never), if no entry ends earlier. */
static void end_note(struct shield *s, __u64 until_ns)
{
	__u64 *end = &s->shared->acl_end_ns;

	if (until_ns && (!*end || until_ns < *end))
		*end = until_ns;
}

/*
 * Write a runtime entry for @cidr, in place of an older one; the configuration's part
 * stays. Called under the lock. 0 or -errno.
 */
static int entry_add(struct shield *s, enum list list, const struct cidr *cidr,
		     const struct list_terms *terms, __u64 until_ns)
{
	struct list_entry entry = list_exact(s, list, cidr);

	entry_unlive(&entry);
	entry.origins |= LIST_RUNTIME | (terms->unlimited ? LIST_RUNTIME_UNLIMITED : 0);
	entry.until_ns = until_ns;
	if (terms->comment)
		snprintf(entry.comment, sizeof(entry.comment), "%s", terms->comment);
	return list_write(s, list, cidr, &entry);
}

int shield_list_add_all(struct shield *s, enum list list, const struct cidr *cidrs,
			size_t count, const struct list_terms *terms, size_t *ret_added)
{
	int err = shield_lock_for_list(s);
	__u64 until_ns;

	*ret_added = 0;
	if (err)
		return err;
	until_ns = terms->for_ns ? shield_clock() + terms->for_ns : 0;
	while (!err && *ret_added < count) {
		err = entry_add(s, list, &cidrs[*ret_added], terms, until_ns);
		*ret_added += !err;
	}
	if (*ret_added)
		end_note(s, until_ns);
	list_mark(s, list);
	shield_unlock(s);
	return err;
}

int shield_list_del_all(struct shield *s, enum list list, const struct cidr *cidrs,
			size_t count, bool *ret_missing)
{
	struct list_entry entry;
	int err = shield_lock_for_list(s);

	if (err)
		return err;
	for (size_t i = 0; !err && i < count; i++) {
		entry = list_exact(s, list, &cidrs[i]);
		ret_missing[i] = !(list_origins(&entry, shield_clock()) & LIST_RUNTIME);
		if (!(entry.origins & LIST_RUNTIME))
			continue;
		entry_unlive(&entry);
		err = list_write(s, list, &cidrs[i], &entry);
	}
	list_mark(s, list);
	shield_unlock(s);
	return err;
}

bool shield_list_covers(const struct shield *s, enum list list, const struct cidr *cidr,
			struct cidr *ret)
{
	__u8 *octets = (__u8 *)ret->addr;
	struct cidr key = *cidr;
	struct list_entry entry;
	size_t whole, bits;
	int ended = 0;

	/* The trie finds the longest entry that has all of @cidr. */
	for (;; key.length = entry.length - 1u) {
		if (bpf_map_lookup_elem(list_map(s, list), &key, &entry))
			return false;
		if (list_origins(&entry, shield_clock()))
			break;
		/* As acl_origins(). */
		if (!entry.length || ended++ == ACL_ENDED)
			return false;
	}
	*ret = *cidr;
	ret->length = entry.length;
	whole = entry.length / 8;
	bits = entry.length % 8;
	if (whole < sizeof(ret->addr))
		octets[whole] &= (__u8)(0xff00 >> bits);
	for (size_t i = whole + 1; i < sizeof(ret->addr); i++)
		octets[i] = 0;
	return true;
}

int shield_list_each(const struct shield *s, enum list list,
		     void (*each)(const struct cidr *cidr, const struct list_entry *entry,
				  void *context),
		     void *context)
{
	struct list_entry entry;
	struct cidr at;
	void *previous = NULL;

	while (!bpf_map_get_next_key(list_map(s, list), previous, &at)) {
		previous = &at;
		if (!bpf_map_lookup_elem(list_map(s, list), &at, &entry))
			each(&at, &entry, context);
	}
	return 0;
}

/* --- entries that end ------------------------------------------------------------ */

struct ended {
	struct cidr *found;
	size_t count;
	__u64 now, next; /* when the next one ends; 0: none does */
};

/*
 * Collect the entries that have ended, and note when the next one ends. A callback of
 * list_unlive(): the list must not be changed while it is walked.
 */
static void collect_ended(const struct cidr *cidr, const struct list_entry *entry,
			  void *context)
{
	struct ended *e = context;

	if (!entry->until_ns)
		return;
	if (entry->until_ns > e->now) {
		if (!e->next || entry->until_ns < e->next)
			e->next = entry->until_ns;
	} else if (e->count < LIST_MAX) {
		e->found[e->count++] = *cidr;
	}
}

/* Collect the entries that have a runtime part. A callback of list_unlive(). */
static void collect_runtime(const struct cidr *cidr, const struct list_entry *entry,
			    void *context)
{
	struct ended *e = context;

	if (entry->origins & LIST_RUNTIME && e->count < LIST_MAX)
		e->found[e->count++] = *cidr;
}

/*
 * Take the runtime part off all entries of @list that @collect finds. Called under the
 * lock. @e->next is kept over all lists.
 */
static void list_unlive(struct shield *s, enum list list,
			void (*collect)(const struct cidr *cidr,
					const struct list_entry *entry, void *context),
			struct ended *e)
{
	e->count = 0;
	shield_list_each(s, list, collect, e);
	for (size_t i = 0; i < e->count; i++) {
		struct list_entry entry = list_exact(s, list, &e->found[i]);

		entry_unlive(&entry);
		list_write(s, list, &e->found[i], &entry);
	}
	if (e->count)
		list_mark(s, list);
}

void shield_lists_expire(struct shield *s)
{
	__u64 due = __atomic_load_n(&s->shared->acl_end_ns, __ATOMIC_RELAXED);
	struct ended e = { .now = shield_clock() };

	if (!due || e.now < due)
		return;
	e.found = calloc(LIST_MAX, sizeof(*e.found));
	if (e.found && !flock(s->lock, LOCK_EX | LOCK_NB)) {
		list_unlive(s, LIST_ALLOW, collect_ended, &e);
		list_unlive(s, LIST_DENY, collect_ended, &e);
		list_unlive(s, LIST_FOLLOW, collect_ended, &e);
		s->shared->acl_end_ns = e.next;
		flock(s->lock, LOCK_UN);
	}
	free(e.found); /* without memory or the lock: at the next time */
}

int shield_list_forget(struct shield *s, enum list list)
{
	struct ended e = { .found = calloc(LIST_MAX, sizeof(*e.found)) };

	if (!e.found)
		return -ENOMEM;
	list_unlive(s, list, collect_runtime, &e);
	free(e.found);
	return 0;
}

/* --- the configuration's ----------------------------------------------------------- */

struct stale {
	const struct cidr *want;
	size_t want_count;
	struct cidr *found;
	size_t count;
};

/*
 * Return true if the configuration has @cidr. Compared byte by byte, as the keys of the
 * map are.
 */
static bool wanted(const struct stale *stale, const struct cidr *cidr)
{
	for (size_t i = 0; i < stale->want_count; i++)
		if (!memcmp(&stale->want[i], cidr, sizeof(*cidr)))
			return true;
	return false;
}

/*
 * Collect the entries that the configuration no longer has. The callback of
 * shield_list_apply().
 */
static void collect_stale(const struct cidr *cidr, const struct list_entry *entry,
			  void *context)
{
	struct stale *stale = context;

	if (entry->origins & LIST_CONFIG && !wanted(stale, cidr) &&
	    stale->count < LIST_MAX)
		stale->found[stale->count++] = *cidr;
}

/*
 * Write @entry of @cidr as list_write(), unless it is as @was, which is noted first for
 * shield_lists_undo(). 0 or -errno.
 */
static int entry_change(struct shield *s, enum list list, const struct cidr *cidr,
			const struct list_entry *was, const struct list_entry *entry,
			struct list_changes *changes)
{
	if (entry->origins == was->origins)
		return 0;
	if (changes->count == changes->room) {
		size_t room = changes->room ? 2 * changes->room : 64;
		struct list_change *rows = realloc(changes->rows, room * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		changes->rows = rows;
		changes->room = room;
	}
	changes->rows[changes->count++] = (struct list_change){ list, *cidr, *was };
	return list_write(s, list, cidr, entry);
}

void shield_lists_undo(struct shield *s, struct list_changes *changes)
{
	while (changes->count) {
		const struct list_change *row = &changes->rows[--changes->count];

		list_write(s, row->list, &row->cidr, &row->was);
	}
	list_mark(s, LIST_ALLOW);
	list_mark(s, LIST_DENY);
	list_mark(s, LIST_FOLLOW);
}

int shield_list_apply(struct shield *s, enum list list, const struct cidr *want,
		      const bool *unlimited, size_t count, struct list_changes *changes)
{
	const __u8 ours = LIST_CONFIG | LIST_CONFIG_UNLIMITED;
	struct stale stale = { .want = want, .want_count = count };
	struct list_entry entry, was;
	int err = 0;

	stale.found = calloc(LIST_MAX, sizeof(*stale.found));
	if (!stale.found)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		entry = was = list_exact(s, list, &want[i]);
		entry.origins = (__u8)((entry.origins & ~ours) | LIST_CONFIG);
		if (unlimited && unlimited[i])
			entry.origins |= LIST_CONFIG_UNLIMITED;
		err = entry_change(s, list, &want[i], &was, &entry, changes);
	}
	shield_list_each(s, list, collect_stale, &stale);
	for (size_t i = 0; i < stale.count && !err; i++) {
		entry = was = list_exact(s, list, &stale.found[i]);
		entry.origins &= (__u8)~ours;
		err = entry_change(s, list, &stale.found[i], &was, &entry, changes);
	}
	list_mark(s, list);
	free(stale.found);
	return err;
}

int shield_list_migrate(struct shield *s, enum list list, const struct cidr *cidr,
			const struct list_entry *theirs)
{
	struct list_entry entry = list_exact(s, list, cidr);

	entry.origins |= theirs->origins & LIST_RUNTIME_ALL;
	entry.until_ns = theirs->until_ns;
	memcpy(entry.comment, theirs->comment, sizeof(entry.comment) - 1);
	end_note(s, entry.until_ns);
	return list_write(s, list, cidr, &entry);
}

void shield_list_migrated(struct shield *s, enum list list)
{
	list_mark(s, list);
}
