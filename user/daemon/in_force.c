// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * in_force.c - see in_force.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/in_force.h"
#include "lib/log.h"
#include "lib/pin_words.h"

#define RUN_DIR "/run/quakeshield"

void in_force_path(const char *pin_dir, enum in_force which, char ret[PATH_MAX])
{
	struct stat st = { 0 };
	char words[NAME_MAX];

	/* As the pid file: each BPF file system and each directory has its own daemon. */
	if (stat("/sys/fs/bpf", &st))
		st.st_dev = 0;
	pin_words(pin_dir, words, sizeof(words));
	snprintf(ret, PATH_MAX, RUN_DIR "/%s-%llx%s.conf",
		 which == IN_FORCE ? "in-force" : "previous",
		 (unsigned long long)st.st_dev, words);
}

/* Is this what the file at @path has? False if it cannot be read. */
static bool file_is(const char *path, const char *text, size_t n)
{
	char part[4096];
	bool same = true;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return false;
	while (same && (got = read(fd, part, sizeof(part))) > 0) {
		same = (size_t)got <= n && !memcmp(part, text, (size_t)got);
		text += got;
		n -= same ? (size_t)got : 0;
	}
	close(fd);
	return same && !n;
}

/*
 * Write @text, @n bytes, to the file @path, which only root may read. 0 or -errno; then
 * the file may be there in part. Called by put() for a name that no reader knows.
 */
static int file_write(const char *path, const char *text, size_t n)
{
	int err = 0,
	    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	while (!err && n) {
		ssize_t wrote = write(fd, text, n);

		if (wrote <= 0)
			err = wrote ? -errno : -EIO;
		else
			text += wrote, n -= (size_t)wrote;
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/*
 * Into a new file first, so that no reader sees half of it. Called by in_force_write().
 * 0, or -errno after a warning. If the text is the same, the one before stays; else it is
 * what was in force, also after an error, and then what is in force is not known.
 */
static int put(const char *pin_dir, const char *text, size_t n)
{
	char now[PATH_MAX], before[PATH_MAX], fresh[PATH_MAX + 8];
	bool same;
	int err;

	in_force_path(pin_dir, IN_FORCE, now);
	in_force_path(pin_dir, IN_FORCE_PREVIOUS, before);
	same = file_is(now, text, n);
	mkdir(RUN_DIR, 0755); /* it is there where a daemon has run */
	snprintf(fresh, sizeof(fresh), "%s.new", now);
	err = file_write(fresh, text, n);
	/* If what was in force is not known, there is nothing to go back to. */
	if (!same && rename(now, before)) {
		if (errno == ENOENT)
			unlink(before);
		else if (!err)
			err = -errno;
	}
	if (!err && rename(fresh, now))
		err = -errno;
	if (err) {
		unlink(fresh);
		log_warn("cannot write '%s': %s: `reload` cannot say what it changes",
			 now, strerror(-err));
	}
	return err;
}

int in_force_write(const char *pin_dir, const struct config *config)
{
	char *text = NULL;
	size_t n;
	FILE *file = open_memstream(&text, &n);
	int err = -ENOMEM;

	if (!file)
		return err;
	config_print(config, file);
	if (!fclose(file))
		err = put(pin_dir, text, n);
	free(text);
	return err;
}

/* The operator has seen the warnings when the configuration was applied. */
static void errors_alone(const struct config_complaint *complaint, void *context)
{
	(void)context;
	if (!complaint->warning)
		log_at(complaint->path, complaint->line, false, complaint->message);
}

int in_force_read(const char *pin_dir, enum in_force which, struct config *ret)
{
	char path[PATH_MAX];
	int err;

	in_force_path(pin_dir, which, path);
	if (access(path, R_OK))
		return errno == ENOENT ? -ENOENT : -errno;
	config_listen(errors_alone, NULL);
	err = config_load(path, ret);
	config_listen(NULL, NULL);
	return err;
}

__u64 in_force_written(const char *pin_dir)
{
	char path[PATH_MAX];
	struct stat st;

	in_force_path(pin_dir, IN_FORCE, path);
	return stat(path, &st) ? 0
			       : (__u64)st.st_mtim.tv_sec * 1000000000 +
					 (__u64)st.st_mtim.tv_nsec;
}

void in_force_remove(const char *pin_dir)
{
	char path[PATH_MAX];

	in_force_path(pin_dir, IN_FORCE, path);
	unlink(path);
	in_force_path(pin_dir, IN_FORCE_PREVIOUS, path);
	unlink(path);
	rmdir(RUN_DIR); /* it stays if anything else is in it */
}
