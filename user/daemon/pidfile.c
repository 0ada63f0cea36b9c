// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pidfile.c - see pidfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/pidfile.h"
#include "lib/log.h"

#define RUN_DIR "/run/quakeshield"

/*
 * One daemon for one directory of one BPF file system: containers and test beds bring a
 * file system of their own, but may share /run.
 */
static void pid_path(const char *pin_dir, char *ret, size_t size)
{
	struct stat st = { 0 };
	int n;

	if (stat("/sys/fs/bpf", &st))
		st.st_dev = 0;
	n = snprintf(ret, size, RUN_DIR "/daemon-%llx", (unsigned long long)st.st_dev);
	for (; pin_dir && *pin_dir && (size_t)n + 8 < size; pin_dir++)
		ret[n++] = *pin_dir == '/' ? '-' : *pin_dir;
	snprintf(ret + n, size - (size_t)n, ".pid");
}

int pidfile_claim(const char *pin_dir)
{
	char path[PATH_MAX];
	int fd;

	pid_path(pin_dir, path, sizeof(path));
	if (mkdir(RUN_DIR, 0755) && errno != EEXIST) {
		log_error("cannot create '" RUN_DIR "': %s", strerror(errno));
		return -errno;
	}
	/* Ours alone: whoever could open it could lock it, and keep us from starting. */
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		log_error("cannot create '%s': %s", path, strerror(errno));
		return -errno;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		log_error(
			"another daemon is running (process %d): stop it first, the shield stays "
			"up meanwhile",
			(int)pidfile_pid(pin_dir));
		close(fd);
		return -EBUSY;
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0) {
		log_error("cannot write '%s': %s", path, strerror(errno));
		close(fd);
		return -EIO;
	}
	/* The descriptor stays open: it is the lock, and the kernel drops it with us. */
	return 0;
}

void pidfile_release(const char *pin_dir)
{
	char path[PATH_MAX];

	pid_path(pin_dir, path, sizeof(path));
	unlink(path);
}

pid_t pidfile_pid(const char *pin_dir)
{
	char path[PATH_MAX], text[32] = "";
	pid_t pid = 0;
	int fd, value = 0;

	pid_path(pin_dir, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		if (read(fd, text, sizeof(text) - 1) > 0 &&
		    sscanf(text, "%d", &value) == 1)
			pid = value;
	}
	close(fd);
	return pid;
}
