// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sink.c - see sink.h. The caller that opens a FIFO ignores SIGPIPE (samples.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/sink.h"

enum sort {
	SORT_FILE,
	SORT_FIFO,
	SORT_SOCKET,
};

struct reader {
	int fd; /* -1: no reader */
	uint8_t *buffer; /* SINK_BUFFER bytes */
	size_t head, used;
	uint64_t waiting; /* pieces begun since the buffer was last empty */
};

struct sink {
	enum sort sort;
	char *path;
	int listener; /* of a socket */
	int epoll; /* of the listener and the readers; -1: of a file */
	ino_t inode; /* of the socket's name: another may have taken it over */
	bool complained; /* about the path; said once */
	uint8_t *preamble;
	size_t preamble_n;
	size_t reader_count; /* 1, or SINK_READERS */
	struct reader readers[SINK_READERS];
	struct sink_stats stats;
};

static void reader_drop(struct sink *s, struct reader *r)
{
	if (r->fd < 0)
		return;
	close(r->fd);
	r->fd = -1;
	s->stats.readers--;
	s->stats.dropped += r->waiting;
	r->head = r->used = 0;
	r->waiting = 0;
}

/* False: no room. */
static bool reader_append(struct reader *r, const void *bytes, size_t n)
{
	if (n > SINK_BUFFER - r->used)
		return false;
	if (r->head + r->used + n > SINK_BUFFER) {
		memmove(r->buffer, r->buffer + r->head, r->used);
		r->head = 0;
	}
	memcpy(r->buffer + r->head + r->used, bytes, n);
	r->used += n;
	return true;
}

/*
 * A disk that fills up has taken the beginning of the piece: cut that off, so that a file
 * ends with a whole piece whatever becomes of this process. False: it cannot be cut off,
 * since the sink is no file, or another process has written after it.
 */
static bool file_cut(int fd, size_t n)
{
	off_t end = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	return end >= (off_t)n && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_size == end && !ftruncate(fd, end - (off_t)n);
}

/* How much of it, or -1 and errno. */
static ssize_t reader_write(const struct sink *s, const struct reader *r)
{
	const uint8_t *from = r->buffer + r->head;
	ssize_t n = s->sort == SORT_SOCKET ? send(r->fd, from, r->used, MSG_NOSIGNAL)
					   : write(r->fd, from, r->used);

	if (s->sort == SORT_FILE && n > 0 && (size_t)n < r->used &&
	    file_cut(r->fd, (size_t)n)) {
		errno = ENOSPC;
		return -1;
	}
	return n;
}

/* Write as much as the kernel takes now. */
static void reader_flush(struct sink *s, struct reader *r)
{
	while (r->fd >= 0 && r->used) {
		ssize_t n = reader_write(s, r);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && s->sort != SORT_FILE)
			reader_drop(s, r);
		else if (n < 0 && errno != EAGAIN && !s->complained) {
			log_error("cannot write to '%s': %s", s->path, strerror(errno));
			s->complained = true;
		}
		if (n <= 0)
			return;
		s->complained = false;
		s->stats.bytes += (uint64_t)n;
		r->head += (size_t)n;
		r->used -= (size_t)n;
	}
	if (!r->used) {
		r->head = 0;
		r->waiting = 0;
	}
}

static void reader_take(struct sink *s, struct reader *r, int fd)
{
	r->fd = fd;
	r->head = r->used = 0;
	r->waiting = 0;
	s->stats.readers++;
	reader_append(r, s->preamble, s->preamble_n);
}

/* --- opening ----------------------------------------------------------------- */

/* That the other end left is always told. A descriptor that is closed is watched no more.
 */
static bool watch(const struct sink *s, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	return !epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int file_open(struct sink *s)
{
	int fd = open(s->path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC,
		      0640);

	if (fd < 0)
		return -errno;
	reader_take(s, &s->readers[0], fd);
	return 0;
}

/* No reader at the other end is no error: sink_pump() tries again. */
static int fifo_open(struct sink *s)
{
	struct stat st;
	int fd;

	if (mkfifo(s->path, 0640) && errno != EEXIST)
		return -errno;
	if (stat(s->path, &st))
		return -errno;
	if (!S_ISFIFO(st.st_mode))
		return -EEXIST;
	fd = open(s->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENXIO ? 0 : -errno;
	if (!watch(s, fd, 0)) {
		close(fd);
		return -errno;
	}
	reader_take(s, &s->readers[0], fd);
	return 0;
}

static int socket_open(struct sink *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int err;

	if (strlen(s->path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, s->path);
	/*
	 * A socket that a killed process has left; anything else is not ours to remove.
	 */
	if (!lstat(s->path, &st) && S_ISSOCK(st.st_mode))
		unlink(s->path);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->listener < 0)
		return -errno;
	mask = umask(0117);
	err = bind(s->listener, (const struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
	umask(mask);
	if (!err && listen(s->listener, SINK_READERS))
		err = -errno;
	if (!err && !watch(s, s->listener, EPOLLIN))
		err = -errno;
	if (!err && !lstat(s->path, &st))
		s->inode = st.st_ino;
	return err;
}

static int path_open(struct sink *s)
{
	/* As a socket's address it would have no name, and no reader would find it. */
	if (!*s->path)
		return -EINVAL;
	switch (s->sort) {
	case SORT_FIFO:
		return fifo_open(s);
	case SORT_SOCKET:
		return socket_open(s);
	default:
		return file_open(s);
	}
}

static struct sink *sink_new(const char *target, const void *preamble, size_t n)
{
	struct sink *s = calloc(1, sizeof(*s));
	const char *path = target;

	if (!s)
		return NULL;
	if (!strncmp(target, "unix:", 5)) {
		s->sort = SORT_SOCKET;
		path += 5;
	} else if (*target == '|') {
		s->sort = SORT_FIFO;
		path++;
	}
	s->listener = s->epoll = -1;
	if (s->sort != SORT_FILE)
		s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->reader_count = s->sort == SORT_SOCKET ? SINK_READERS : 1;
	s->path = strdup(path);
	s->preamble = malloc(n + 1);
	s->preamble_n = n;
	for (size_t i = 0; i < s->reader_count; i++) {
		s->readers[i].fd = -1;
		s->readers[i].buffer = malloc(SINK_BUFFER);
		if (!s->readers[i].buffer)
			s->reader_count = i;
	}
	if (!s->path || !s->preamble || !s->reader_count ||
	    (s->epoll < 0 && s->sort != SORT_FILE)) {
		sink_close(s);
		return NULL;
	}
	if (n)
		memcpy(s->preamble, preamble, n);
	return s;
}

int sink_open(const char *target, const void *preamble, size_t n, struct sink **ret)
{
	struct sink *s = sink_new(target, preamble, n);
	int err = s ? path_open(s) : -ENOMEM;

	if (err) {
		log_error("cannot open '%s': %s", target,
			  err == -EEXIST ? "there is something else of that name"
					 : strerror(-err));
		sink_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

void sink_close(struct sink *s)
{
	struct stat st;

	if (!s)
		return;
	for (size_t i = 0; i < s->reader_count; i++) {
		reader_flush(s, &s->readers[i]);
		reader_drop(s, &s->readers[i]);
		free(s->readers[i].buffer);
	}
	if (s->listener >= 0) {
		close(s->listener);
		if (s->inode && !lstat(s->path, &st) && st.st_ino == s->inode)
			unlink(s->path);
	}
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->path);
	free(s->preamble);
	free(s);
}

/* --- going on ---------------------------------------------------------------- */

void sink_put(struct sink *s, const void *bytes, size_t n)
{
	s->stats.pieces++;
	if (!s->stats.readers)
		s->stats.no_reader++;
	for (size_t i = 0; i < s->reader_count; i++) {
		struct reader *r = &s->readers[i];

		if (r->fd < 0)
			continue;
		/* A full disk is tried again by sink_pump(), not by each piece. */
		if (r->used + n > SINK_BUFFER && !s->complained)
			reader_flush(s, r);
		/* The flush may have found that the reader is gone. */
		if (r->fd < 0 || !reader_append(r, bytes, n))
			s->stats.dropped++;
		else
			r->waiting++;
	}
}

static void welcome(struct sink *s)
{
	int fd;

	while ((fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
	       0) {
		size_t i = 0;

		while (i < s->reader_count && s->readers[i].fd >= 0)
			i++;
		if (i == s->reader_count || !watch(s, fd, EPOLLIN))
			close(fd);
		else
			reader_take(s, &s->readers[i], fd);
	}
}

/* The FIFO has no reader; the next one gets the preamble first. */
static void farewell_fifo(struct sink *s, struct reader *r)
{
	struct pollfd at = { .fd = r->fd };

	if (poll(&at, 1, 0) == 1 && at.revents & POLLERR)
		reader_drop(s, r);
}

/* A socket's reader says nothing; what can be read is that it left. */
static void farewell(struct sink *s, struct reader *r)
{
	char ignored[256];
	ssize_t n = recv(r->fd, ignored, sizeof(ignored), MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		reader_drop(s, r);
}

void sink_pump(struct sink *s)
{
	if (s->sort == SORT_FIFO)
		farewell_fifo(s, &s->readers[0]);
	if (s->sort == SORT_SOCKET)
		welcome(s);
	else if (s->readers[0].fd < 0)
		path_open(s);
	for (size_t i = 0; i < s->reader_count; i++) {
		if (s->readers[i].fd >= 0 && s->sort == SORT_SOCKET)
			farewell(s, &s->readers[i]);
		if (s->readers[i].fd >= 0)
			reader_flush(s, &s->readers[i]);
	}
}

bool sink_waits(const struct sink *s)
{
	for (size_t i = 0; i < s->reader_count; i++)
		if (s->readers[i].used)
			return true;
	return false;
}

int sink_fd(const struct sink *s)
{
	return s->epoll;
}

void sink_reopen(struct sink *s)
{
	int err;

	if (s->sort != SORT_FILE)
		return;
	reader_flush(s, &s->readers[0]);
	reader_drop(s, &s->readers[0]);
	err = path_open(s);
	if (err)
		log_error("cannot open '%s' again: %s", s->path, strerror(-err));
}

void sink_stats(const struct sink *s, struct sink_stats *ret)
{
	*ret = s->stats;
}
