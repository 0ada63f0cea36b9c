// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * spool.c - see spool.h. Names begin with the time of the attack, so that their order is
 * that of events, as far as a second tells.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/spool.h"

#define RUN_DIR "/run/quakeshield"
#define ENDING	".json"

static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return n > sizeof(ENDING) - 1 && n < 200 && *name != '.' &&
	       !strcmp(name + n - (sizeof(ENDING) - 1), ENDING);
}

/* How many there are; the oldest of them in @ret with its age, if there is one. */
static size_t look(char ret[256], double *ret_age_s)
{
	DIR *dir = opendir(SPOOL_DIR);
	struct timespec oldest = { 0 }, now;
	struct dirent *entry;
	size_t count = 0;

	*ret = 0;
	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (!is_ours(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (!count++ || st.st_mtim.tv_sec < oldest.tv_sec ||
		    (st.st_mtim.tv_sec == oldest.tv_sec &&
		     st.st_mtim.tv_nsec < oldest.tv_nsec)) {
			oldest = st.st_mtim;
			snprintf(ret, 256, "%s", entry->d_name);
		}
	}
	if (dir)
		closedir(dir);
	clock_gettime(CLOCK_REALTIME, &now);
	*ret_age_s = count ? (double)(now.tv_sec - oldest.tv_sec) : 0;
	return count;
}

int spool_put(const char *name, const json_t *object)
{
	char hidden[256], path[256], oldest[256];
	double age_s;
	int fd, err = 0;

	if ((mkdir(RUN_DIR, 0755) && errno != EEXIST) ||
	    (mkdir(SPOOL_DIR, 0700) && errno != EEXIST))
		return -errno;
	if (look(oldest, &age_s) >= SPOOL_MAX)
		return -EDQUOT;
	snprintf(hidden, sizeof(hidden), SPOOL_DIR "/.%.128s.new", name);
	snprintf(path, sizeof(path), SPOOL_DIR "/%.128s" ENDING, name);
	fd = open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (json_dumpfd(object, fd, JSON_COMPACT | JSON_REAL_PRECISION(12)) ||
	    write(fd, "\n", 1) != 1)
		err = -EIO;
	close(fd);
	if (!err && rename(hidden, path))
		err = -errno;
	if (err)
		unlink(hidden);
	return err;
}

int spool_take(void)
{
	char name[256], path[512];
	double age_s;
	int fd;

	if (!look(name, &age_s))
		return -ENOENT;
	snprintf(path, sizeof(path), SPOOL_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (unlink(path)) {
		close(fd);
		return -errno;
	}
	return fd;
}

bool spool_is_stale(void)
{
	char name[256];
	double age_s;

	return look(name, &age_s) && age_s >= SPOOL_PATIENCE;
}
