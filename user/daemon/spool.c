// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * spool.c - see spool.h. The order is that of the files' times, and of those of one
 * moment that of their names, which begin with the time of the attack.
 *
 * The daemon puts, and quakeshield-attack.service takes, in another process. There is no
 * lock: files appear by rename(2) and go by unlink(2).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/spool.h"

#define ENDING	 ".json"
#define NAME_PUT 128 /* of a name, its ending not counted */

/* Return true for names that the spool has: no hidden ones, which are not whole yet. */
static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return n > sizeof(ENDING) - 1 && n < SPOOL_NAME && *name != '.' &&
	       !strcmp(name + n - (sizeof(ENDING) - 1), ENDING);
}

/*
 * Open the directory. Returns its descriptor, or -errno. No link is followed: the
 * directory belongs to root, those above it may not.
 */
static int dir_open(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* Make the directory and the one that it is in. 0 or -errno. */
static int dir_make(const char *dir)
{
	char above[SPOOL_NAME];
	char *slash;

	if (!mkdir(dir, 0700) || errno == EEXIST)
		return 0;
	snprintf(above, sizeof(above), "%s", dir);
	slash = strrchr(above, '/');
	if (errno != ENOENT || !slash || slash == above)
		return -errno;
	*slash = 0;
	if (mkdir(above, 0755) && errno != EEXIST)
		return -errno;
	return mkdir(dir, 0700) && errno != EEXIST ? -errno : 0;
}

/* --- looking ------------------------------------------------------------------------ */

/* Which files are meant, and what there is of them. */
struct look {
	bool (*waits)(const void *context, const char *name); /* NULL: none does */
	const void *context;
	size_t count;
	char oldest[SPOOL_NAME];
	struct timespec time; /* of the oldest */
};

/*
 * Return true if a file @name of @time goes before the oldest that is known. Called by
 * look_one() if there is one.
 */
static bool is_older(const struct look *l, const struct timespec *time, const char *name)
{
	if (time->tv_sec != l->time.tv_sec)
		return time->tv_sec < l->time.tv_sec;
	if (time->tv_nsec != l->time.tv_nsec)
		return time->tv_nsec < l->time.tv_nsec;
	return strcmp(name, l->oldest) < 0;
}

/*
 * Count @name in the directory @dir if it is a file that is meant, and keep it if it is
 * the oldest.
 */
static void look_one(struct look *l, int dir, const char *name)
{
	struct stat st;

	if (!is_ours(name) || (l->waits && l->waits(l->context, name)) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (l->count++ && !is_older(l, &st.st_mtim, name))
		return;
	snprintf(l->oldest, sizeof(l->oldest), "%s", name);
	l->time = st.st_mtim;
}

/* Look at all files in the directory @dir, which stays open. @l: count 0. */
static void look(struct look *l, int dir)
{
	int again = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	DIR *open = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (open)
		rewinddir(open);
	while (open && (entry = readdir(open)))
		look_one(l, dir, entry->d_name);
	if (open)
		closedir(open);
	else if (again >= 0)
		close(again);
}

/* --- putting ------------------------------------------------------------------------ */

/* Write @n bytes of @text to @fd. 0 or -errno. */
static int write_whole(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t written = write(fd, text, n);

		if (written < 0)
			return -errno;
		text += written;
		n -= (size_t)written;
	}
	return 0;
}

/*
 * Under a hidden name first, so that the reader finds whole files only. 0 or -errno.
 * Called by spool_put(), which has compared SPOOL_MAX.
 */
static int put(int dir, const char *name, const char *text, size_t n)
{
	char hidden[SPOOL_NAME], whole[SPOOL_NAME];
	int fd, err;

	snprintf(hidden, sizeof(hidden), ".%.*s.new", NAME_PUT, name);
	snprintf(whole, sizeof(whole), "%.*s" ENDING, NAME_PUT, name);
	fd = openat(dir, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return -errno;
	err = write_whole(fd, text, n);
	close(fd);
	if (!err && renameat(dir, hidden, dir, whole))
		err = -errno;
	if (err)
		unlinkat(dir, hidden, 0);
	return err;
}

int spool_put(const char *dir, const char *name, const json_t *object)
{
	struct look l = { 0 };
	char text[SPOOL_BYTES];
	size_t n = json_dumpb(object, text, sizeof(text) - 1,
			      JSON_COMPACT | JSON_REAL_PRECISION(12));
	int fd, err = dir_make(dir);

	if (err)
		return err;
	if (!n)
		return -ENOMEM;
	if (n > sizeof(text) - 1)
		return -EMSGSIZE;
	text[n++] = '\n';
	fd = dir_open(dir);
	if (fd < 0)
		return fd;
	look(&l, fd);
	err = l.count < SPOOL_MAX ? put(fd, name, text, n) : -EDQUOT;
	close(fd);
	return err;
}

/* --- taking ------------------------------------------------------------------------- */

/*
 * Open and removed; -errno: not opened, but removed. Called by spool_take(). Removed in
 * any case, so that a file that cannot be opened does not stay the oldest.
 */
static int take(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int err = fd < 0 ? -errno : 0;

	if (unlinkat(dir, name, 0) && !err)
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int spool_take(const char *dir, bool (*waits)(const void *context, const char *name),
	       const void *context, char ret[SPOOL_NAME])
{
	struct look l = { .waits = waits, .context = context };
	int fd = dir_open(dir), taken;

	if (fd < 0)
		return fd;
	look(&l, fd);
	taken = l.count ? take(fd, l.oldest) : -ENOENT;
	close(fd);
	memcpy(ret, l.oldest, SPOOL_NAME);
	return taken;
}

size_t spool_discard(const char *dir)
{
	int fd = dir_open(dir);
	size_t count = 0;

	while (fd >= 0) {
		struct look l = { 0 };

		look(&l, fd);
		if (!l.count || unlinkat(fd, l.oldest, 0))
			break;
		count++;
	}
	if (fd >= 0)
		close(fd);
	return count;
}

bool spool_is_stale(const char *dir)
{
	struct look l = { 0 };
	struct timespec now;
	int fd = dir_open(dir);

	if (fd < 0)
		return false;
	look(&l, fd);
	close(fd);
	clock_gettime(CLOCK_REALTIME, &now);
	return l.count && now.tv_sec - l.time.tv_sec >= SPOOL_PATIENCE;
}
