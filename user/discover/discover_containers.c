// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * discover_containers.c - the sockets of other network namespaces, and the processes of
 * all: see discover.h. A child for each namespace enters it and asks there, so that this
 * process stays where it is; what a child has found comes back by a pipe.
 */
#include <cap-ng.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "discover/discover.h"

#define CHILDREN_MS   3300 /* from their start: they ask for 2.5 s; then they are ended */
#define PROCESSES_MAX 65536
#define FILES_MAX     65536 /* of one process */

/* --- processes ------------------------------------------------------------------- */

/* Call @each with every process of /proc; true from it ends that. */
static void each_process(bool (*each)(pid_t pid, void *context), void *context)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	for (int n = 0; dir && n < PROCESSES_MAX && (entry = readdir(dir)); n++) {
		char *last;
		long pid = strtol(entry->d_name, &last, 10);

		if (last != entry->d_name && !*last && each((pid_t)pid, context))
			break;
	}
	if (dir)
		closedir(dir);
}

static void name_read(pid_t pid, char ret[DISCOVER_PROCESS])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file && !fgets(ret, DISCOVER_PROCESS, file))
		*ret = 0;
	if (file)
		fclose(file);
	ret[strcspn(ret, "\n")] = 0;
	for (char *c = ret; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("\"\\#", *c))
			*c = '?';
}

/* The process @pid has the socket @inode open. */
static void owner_note(struct discover_servers *servers, pid_t pid, __u64 inode)
{
	for (size_t i = 0; i < servers->count; i++) {
		struct discover_server *s = &servers->rows[i];

		if (s->inode != inode || s->pid)
			continue;
		s->pid = pid;
		name_read(pid, s->process);
	}
}

static bool files_look(pid_t pid, void *context)
{
	struct discover_servers *servers = context;
	const struct dirent *entry;
	char path[64], link[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	for (int n = 0; dir && n < FILES_MAX && (entry = readdir(dir)); n++) {
		ssize_t size =
			readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		unsigned long long inode;

		link[size > 0 ? size : 0] = 0;
		if (sscanf(link, "socket:[%llu]", &inode) == 1)
			owner_note(servers, pid, inode);
	}
	if (dir)
		closedir(dir);
	return false;
}

void discover_processes(struct discover_servers *servers)
{
	if (servers->count)
		each_process(files_look, servers);
}

/* --- namespaces ------------------------------------------------------------------- */

struct child {
	pid_t pid; /* 0: none */
	int fd; /* its namespace, then the pipe; -1: closed */
	ino_t inode;
};

struct namespaces {
	ino_t ours;
	size_t count, more;
	struct child children[DISCOVER_NAMESPACES];
	ino_t others[DISCOVER_LEFT_OUT]; /* for which there was no child left */
};

static bool is_new(const struct namespaces *all, ino_t inode)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->children[i].inode == inode)
			return false;
	for (size_t i = 0; i < all->more; i++)
		if (all->others[i] == inode)
			return false;
	return inode != all->ours;
}

static bool namespace_look(pid_t pid, void *context)
{
	struct namespaces *all = context;
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	if (stat(path, &st) || !is_new(all, st.st_ino))
		return false;
	if (all->count == DISCOVER_NAMESPACES) {
		all->others[all->more++] = st.st_ino;
		return all->more == DISCOVER_LEFT_OUT;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	all->children[all->count++] = (struct child){ .fd = fd, .inode = st.st_ino };
	return false;
}

/* Give up every right: replies come from processes of containers. */
static bool rights_drop(void)
{
	capng_clear(CAPNG_SELECT_CAPS);
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !capng_apply(CAPNG_SELECT_CAPS);
}

/*
 * In a child: enter @namespace, ask, and write every server found to @pipe, then how many
 * sockets were left out. child_read() tells both by their sizes.
 */
static void ask_there(int namespace, int pipe)
{
	struct discover_servers *found = calloc(1, sizeof(*found));

	if (!found || setns(namespace, CLONE_NEWNET) || !rights_drop() ||
	    discover_here(found))
		_exit(1);
	/* One by one: so many bytes go through a pipe whole. */
	_Static_assert(sizeof(*found->rows) <= PIPE_BUF, "a server is too large");
	for (size_t i = 0; i < found->count; i++)
		if (write(pipe, &found->rows[i], sizeof(found->rows[i])) < 0)
			_exit(1);
	_exit(write(pipe, &found->left_out, sizeof(found->left_out)) < 0);
}

static int child_start(struct child *c)
{
	int pipes[2], namespace = c->fd;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		ask_there(namespace, pipes[1]);
	close(pipes[1]);
	close(namespace);
	c->fd = pipes[0];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	return -errno;
}

/* Add what a child has written. False: it has no more. */
static bool child_read(struct child *c, struct discover_servers *ret)
{
	struct discover_server s;
	ssize_t n = read(c->fd, &s, sizeof(s));
	size_t left_out;

	_Static_assert(sizeof(left_out) < sizeof(s), "two sizes");
	if (n == (ssize_t)sizeof(left_out)) {
		memcpy(&left_out, &s, sizeof(left_out));
		ret->left_out += left_out;
		return true;
	}
	if (n != (ssize_t)sizeof(s))
		return false;
	s.container = true;
	if (ret->count < DISCOVER_SERVERS)
		ret->rows[ret->count++] = s;
	else
		ret->left_out++;
	return true;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* End @c, which has had its time. False: it could not ask. */
static bool child_end(struct child *c)
{
	int status = -1;

	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	if (c->pid <= 0)
		return false;
	if (!waitpid(c->pid, &status, WNOHANG)) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &status, 0);
	}
	c->pid = 0;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Read the children until all have ended, or until @until_ms. */
static void hear_children(struct namespaces *all, long until_ms,
			  struct discover_servers *ret)
{
	for (;;) {
		struct pollfd polled[DISCOVER_NAMESPACES];
		long left = until_ms - now_ms();
		bool open = false;

		for (size_t i = 0; i < all->count; i++) {
			polled[i] = (struct pollfd){ .fd = all->children[i].fd,
						     .events = POLLIN };
			open |= polled[i].fd >= 0;
		}
		if (!open || left <= 0 || poll(polled, all->count, (int)left) <= 0)
			return;
		for (size_t i = 0; i < all->count; i++)
			if (polled[i].revents && !child_read(&all->children[i], ret)) {
				close(all->children[i].fd);
				all->children[i].fd = -1;
			}
	}
}

int discover_everywhere(struct discover_servers *ret, size_t *ret_failed)
{
	struct namespaces *all = calloc(1, sizeof(*all));
	struct stat st;
	long until_ms;
	int err = 0;

	*ret_failed = 0;
	if (!all)
		return -ENOMEM;
	if (stat("/proc/self/ns/net", &st)) {
		err = -errno;
	} else if (geteuid()) {
		err = -EPERM;
	} else {
		all->ours = st.st_ino;
		each_process(namespace_look, all);
		ret->namespaces_left_out = all->more;
	}
	for (size_t i = 0; !err && i < all->count; i++)
		err = child_start(&all->children[i]);
	until_ms = now_ms() + CHILDREN_MS;
	if (!err)
		err = discover_here(ret); /* at the same time */
	if (!err)
		hear_children(all, until_ms, ret);
	for (size_t i = 0; i < all->count; i++)
		*ret_failed += !child_end(&all->children[i]);
	free(all);
	return err;
}
