// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pidfile.c - see pidfile.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/pidfile.h"
#include "lib/log.h"
#include "lib/pin_words.h"

#define RUN_DIR "/run/quakeshield"

/*
 * One daemon for one directory of one BPF file system: containers and test beds bring a
 * file system of their own, but may share /run. @pin_dir: NULL for the default. A daemon
 * and the commands must get the same.
 */
static void pid_path(const char *pin_dir, char *ret, size_t size)
{
	struct stat st = { 0 };
	char words[NAME_MAX];

	if (stat("/sys/fs/bpf", &st))
		st.st_dev = 0;
	pin_words(pin_dir, words, sizeof(words));
	snprintf(ret, size, RUN_DIR "/daemon-%llx%s.pid", (unsigned long long)st.st_dev,
		 words);
}

/*
 * Open it and take the lock, of the file that has this name still; -errno, -EBUSY. The
 * descriptor is the lock: the caller keeps it open.
 */
static int lock_named(const char *path)
{
	for (;;) {
		/*
		 * For root alone: a user that could open it could lock it, and keep the
		 * daemon from starting.
		 */
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		struct stat st;

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			close(fd);
			return -EBUSY;
		}
		if (!fstat(fd, &st) && st.st_nlink)
			return fd;
		close(fd); /* swept away between the one call and the other */
	}
}

/*
 * Remove the files of daemons that were killed, on a BPF file system that may be gone
 * since. Called by pidfile_claim() before it opens its own file. Only files without a
 * lock are removed.
 */
static void sweep(void)
{
	struct dirent *entry;
	DIR *dir = opendir(RUN_DIR);

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		int fd;

		if (strncmp(entry->d_name, "daemon-", 7) != 0)
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (!flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dirfd(dir), entry->d_name, 0);
		close(fd);
	}
	closedir(dir);
}

int pidfile_claim(const char *pin_dir, const struct daemon_facts *facts)
{
	char path[PATH_MAX];
	int fd;

	pid_path(pin_dir, path, sizeof(path));
	if (mkdir(RUN_DIR, 0755) && errno != EEXIST) {
		log_error("cannot create '" RUN_DIR "': %s", strerror(errno));
		return -errno;
	}
	sweep();
	fd = lock_named(path);
	if (fd == -EBUSY)
		log_error(
			"another daemon is running (process %d): stop it first, the shield stays "
			"up meanwhile",
			(int)pidfile_pid(pin_dir));
	else if (fd < 0)
		log_error("cannot create '%s': %s", path, strerror(-fd));
	if (fd < 0)
		return fd;
	if (ftruncate(fd, 0) || dprintf(fd, "%d\nconfig %s\n%s%s%s", (int)getpid(),
					facts->config, facts->observe ? "observe\n" : "",
					facts->interfaces ? "interfaces\n" : "",
					facts->set ? "set\n" : "") < 0) {
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

/*
 * Read @text, as pidfile_claim() writes it, into @ret; @text is changed. Unknown lines
 * are left out, so that a newer daemon may write more.
 */
static void facts_parse(char *text, struct daemon_facts *ret)
{
	char *rest = NULL;

	memset(ret, 0, sizeof(*ret));
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (line == text)
			ret->pid = (pid_t)strtol(line, NULL, 10);
		else if (!strncmp(line, "config ", 7))
			snprintf(ret->config, sizeof(ret->config), "%s", line + 7);
		else if (!strcmp(line, "observe"))
			ret->observe = true;
		else if (!strcmp(line, "interfaces"))
			ret->interfaces = true;
		else if (!strcmp(line, "set"))
			ret->set = true;
	}
}

bool pidfile_facts(const char *pin_dir, struct daemon_facts *ret)
{
	char path[PATH_MAX], text[PATH_MAX + 64];
	ssize_t n = 0;
	int fd;

	pid_path(pin_dir, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
		n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	facts_parse(text, ret);
	return ret->pid > 0;
}

pid_t pidfile_pid(const char *pin_dir)
{
	struct daemon_facts facts;

	return pidfile_facts(pin_dir, &facts) ? facts.pid : 0;
}
