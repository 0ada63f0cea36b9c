// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * extract.c - see extract.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/extract.h"

#define UNIQUE_MAX 99 /* NAME.1 to NAME.99 */
#define NAME_ROOM  (EXTRACT_NAME_MAX + 8)
#define PATH_ROOM  (NAME_ROOM + 8)

/* One download of one connection. */
struct file {
	struct record_address from, to;
	uint64_t fed; /* when it last grew; 0: free */
	char name[NAME_ROOM]; /* unique; with .part until it is whole */
	char asked[EXTRACT_NAME_MAX + 1]; /* harmless, as it was called */
	int fd; /* -1: whole, or given up; later pieces are passed over */
	int64_t size; /* bytes; -1: told by the last piece */
	int64_t got;
	uint8_t *have; /* a bit for each chunk; NULL: in order */
};

struct extract {
	int directory;
	extract_say *say;
	void *context;
	struct file files[EXTRACT_OPEN_MAX];
	uint64_t clock;
	int64_t total;
	unsigned int made;
	bool failed;
};

int extract_open(const char *directory, extract_say *say, void *context,
		 struct extract **ret)
{
	struct extract *e = calloc(1, sizeof(*e));
	int error;

	if (!e)
		return -ENOMEM;
	e->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->directory < 0) {
		error = -errno;
		free(e);
		return error;
	}
	e->say = say;
	e->context = context;
	for (int i = 0; i < EXTRACT_OPEN_MAX; i++)
		e->files[i].fd = -1;
	*ret = e;
	return 0;
}

void extract_harmless(const uint8_t *name, size_t n, char *ret)
{
	size_t used = 0;

	if (n > EXTRACT_NAME_MAX) {
		name += n - EXTRACT_NAME_MAX;
		n = EXTRACT_NAME_MAX;
	}
	for (size_t i = 0; i < n; i++) {
		uint8_t c = name[i];
		bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '-' || (c == '.' && i);

		ret[used++] = fine ? (char)c : '_';
	}
	ret[used] = 0;
	if (!used)
		strcpy(ret, "download");
}

static void say(struct extract *e, const char *name, const char *what)
{
	e->failed = true;
	e->say(e->context, name, what);
}

static void part_name(const struct file *f, char *ret)
{
	snprintf(ret, PATH_ROOM, "%s.part", f->name);
}

static void file_close(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->have);
	f->have = NULL;
}

/* Give the file up, which will not become whole: what there is stays as .part. */
static void file_give_up(struct extract *e, struct file *f, const char *why)
{
	char what[160];

	if (f->fd < 0)
		return;
	if (f->size >= 0)
		snprintf(what, sizeof(what),
			 "%s: %" PRId64 " of %" PRId64 " bytes, kept as .part", why,
			 f->got, f->size);
	else
		snprintf(what, sizeof(what), "%s: %" PRId64 " bytes, kept as .part", why,
			 f->got);
	file_close(f);
	say(e, f->name, what);
}

static void file_whole(struct extract *e, struct file *f)
{
	char part[PATH_ROOM], what[64];

	part_name(f, part);
	if (renameat2(e->directory, part, e->directory, f->name, RENAME_NOREPLACE)) {
		file_give_up(e, f, strerror(errno));
		return;
	}
	file_close(f);
	snprintf(what, sizeof(what), "%" PRId64 " bytes", f->got);
	e->say(e->context, f->name, what);
}

/* The first name that is free, for the file and for its part. */
static bool file_create(struct extract *e, struct file *f)
{
	char part[PATH_ROOM];

	for (int i = 0; i <= UNIQUE_MAX; i++) {
		if (i)
			snprintf(f->name, sizeof(f->name), "%s.%d", f->asked, i);
		else
			snprintf(f->name, sizeof(f->name), "%s", f->asked);
		if (!faccessat(e->directory, f->name, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		part_name(f, part);
		f->fd = openat(e->directory, part,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       0644);
		if (f->fd >= 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	say(e, f->asked, f->fd < 0 && errno ? strerror(errno) : "no free name");
	return false;
}

static bool same_end(const struct record_address *a, const struct record_address *b)
{
	return a->length == b->length && a->port == b->port &&
	       !memcmp(a->bytes, b->bytes, a->length);
}

static struct file *file_find(struct extract *e, const struct record *r)
{
	for (int i = 0; i < EXTRACT_OPEN_MAX; i++) {
		struct file *f = &e->files[i];

		if (f->fed && same_end(&f->from, &r->source) &&
		    same_end(&f->to, &r->destination))
			return f;
	}
	return NULL;
}

static struct file *file_slot(struct extract *e, const struct record *r)
{
	struct file *f = file_find(e, r);

	if (f) {
		file_give_up(e, f, "another download began");
		return f;
	}
	f = &e->files[0];
	for (int i = 1; i < EXTRACT_OPEN_MAX; i++)
		if (e->files[i].fed < f->fed)
			f = &e->files[i];
	file_give_up(e, f, "too many downloads at once");
	return f;
}

/* @size -1: not known. NULL: refused, and said so. */
static struct file *file_begin(struct extract *e, const struct record *r,
			       const char *name, int64_t size)
{
	struct file *f;

	if (size > EXTRACT_FILE_MAX || e->made == EXTRACT_FILES_MAX ||
	    e->total > EXTRACT_TOTAL_MAX - (size < 0 ? 0 : size)) {
		say(e, name, "too large, or too much altogether: passed over");
		return NULL;
	}
	f = file_slot(e, r);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
	f->from = r->source;
	f->to = r->destination;
	f->fed = ++e->clock;
	f->size = size;
	snprintf(f->asked, sizeof(f->asked), "%s", name);
	if (size >= 0) {
		f->have = calloc((size_t)size / EXTRACT_CHUNK / 8 + 1, 1);
		if (!f->have) {
			say(e, name, strerror(ENOMEM));
			return NULL;
		}
		e->total += size;
	}
	e->made++;
	if (!file_create(e, f)) {
		file_close(f);
		return NULL;
	}
	return f;
}

/*
 * Write @n bytes at offset @at. False: they could not be written, and the file was given
 * up.
 */
static bool file_write(struct extract *e, struct file *f, const uint8_t *bytes, size_t n,
		       int64_t at)
{
	while (n) {
		ssize_t done = pwrite(f->fd, bytes, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			file_give_up(e, f, strerror(done ? errno : ENOSPC));
			return false;
		}
		bytes += done;
		n -= (size_t)done;
		at += done;
	}
	return true;
}

static void piece_begin(struct extract *e, const struct record *r,
			const struct record_piece *p)
{
	struct file *f = file_find(e, r);
	char name[EXTRACT_NAME_MAX + 1];

	extract_harmless(p->name, p->name_n, name);
	/* The message that began it, again. */
	if (f && f->size == p->size && !strcmp(f->asked, name))
		return;
	f = file_begin(e, r, name, p->size);
	if (f && !p->size)
		file_whole(e, f);
}

static void piece_at(struct extract *e, const struct record *r,
		     const struct record_piece *p)
{
	struct file *f = file_find(e, r);
	uint64_t chunk = p->offset / EXTRACT_CHUNK;
	size_t n = p->n;

	if (!f || f->fd < 0 || !f->have || p->offset % EXTRACT_CHUNK ||
	    p->offset >= (uint64_t)f->size || n > EXTRACT_CHUNK)
		return;
	f->fed = ++e->clock;
	/* The last chunk is filled up. */
	if (n > (uint64_t)f->size - p->offset)
		n = (size_t)((uint64_t)f->size - p->offset);
	if (f->have[chunk / 8] & 1U << chunk % 8)
		return;
	if (!file_write(e, f, p->bytes, n, (int64_t)p->offset))
		return;
	f->have[chunk / 8] |= (uint8_t)(1U << chunk % 8);
	f->got += (int64_t)n;
	if (f->got == f->size)
		file_whole(e, f);
}

static void piece_next(struct extract *e, const struct record *r,
		       const struct record_piece *p)
{
	struct file *f = file_find(e, r);
	char name[EXTRACT_NAME_MAX + 1];

	extract_harmless(p->name, p->name_n, name);
	if (!f || f->fd < 0 || f->have || strcmp(f->asked, name) != 0)
		f = file_begin(e, r, name, -1);
	if (!f)
		return;
	f->fed = ++e->clock;
	if (f->got + (int64_t)p->n > EXTRACT_FILE_MAX ||
	    e->total + (int64_t)p->n > EXTRACT_TOTAL_MAX) {
		file_give_up(e, f, "too large, or too much altogether");
		return;
	}
	if (!file_write(e, f, p->bytes, p->n, f->got))
		return;
	f->got += (int64_t)p->n;
	e->total += (int64_t)p->n;
	if (p->last)
		file_whole(e, f);
}

void extract_record(struct extract *e, const struct record *r)
{
	if (r->status >= RECORD_OPAQUE)
		return;
	for (unsigned int i = 0; i < r->pieces_n; i++) {
		const struct record_piece *p = &r->pieces[i];

		if (p->type == PIECE_BEGIN)
			piece_begin(e, r, p);
		else if (p->type == PIECE_AT)
			piece_at(e, r, p);
		else
			piece_next(e, r, p);
	}
}

void extract_flush(struct extract *e)
{
	for (int i = 0; i < EXTRACT_OPEN_MAX; i++) {
		file_give_up(e, &e->files[i], "incomplete");
		e->files[i].fed = 0;
	}
}

bool extract_close(struct extract *e)
{
	bool good;

	if (!e)
		return true;
	extract_flush(e);
	good = !e->failed;
	close(e->directory);
	free(e);
	return good;
}
