// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * captures.c - see captures.h.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/captures.h"

/* Order by name, which is by time: names begin with the time of the attack. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Return nonzero for names of captures: nothing else in the directory is ever removed.
 */
static int is_capture(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && !strcmp(dot, CAPTURES_ENDING);
}

/* Return the size of the file in bytes; -1: there is no such file. */
static off_t size_of(const char *path)
{
	struct stat about;

	return stat(path, &about) ? -1 : about.st_size;
}

/*
 * Make room in @directory for one more. Names begin with the time, so that the first are
 * the oldest. The smallest of all but the newest few is removed: attacks that last a
 * moment push no other out. Files without CAPTURES_ENDING stay.
 */
static void sweep(const char *directory)
{
	char path[PATH_MAX], smallest[PATH_MAX];
	struct dirent **entries;
	off_t least, size;
	int n = scandir(directory, &entries, is_capture, by_name), left = n;

	while (left >= CAPTURES_MAX) {
		least = -1;
		for (int i = 0; i < n - CAPTURES_MAX / 10; i++) {
			snprintf(path, sizeof(path), "%s/%s", directory,
				 entries[i]->d_name);
			size = size_of(path);
			if (size < 0 || (least >= 0 && size >= least))
				continue;
			least = size;
			strcpy(smallest, path);
		}
		if (least < 0 || unlink(smallest))
			break;
		left--;
	}
	for (int i = 0; i < n; i++)
		free(entries[i]);
	if (n >= 0)
		free(entries);
}

int captures_begin(const char *directory, const char *id, char *ret, size_t size)
{
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	sweep(directory);
	if (snprintf(ret, size, "%s/%s" CAPTURES_ENDING, directory, id) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}
