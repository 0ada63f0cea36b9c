// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * input.c - see input.h. A file that can be rewound is a stdio stream, or zlib's behind
 * one; anything else is a stream over what we read and unpack ourselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/input.h"

#define PACKED_BYTES 65536
#define GZIP_WINDOW  (15 + 16) /* inflateInit2(): gzip's head is there */

static bool is_gzip(const uint8_t *bytes, size_t n)
{
	return n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* --- files -------------------------------------------------------------------- */

/*
 * Read and seek for fopencookie(3), over a file that may be packed by gzip. It cannot
 * seek from the end, because the unpacked size is not known.
 */
static ssize_t cookie_read(void *cookie, char *bytes, size_t n)
{
	int got = gzread(cookie, bytes, n < 1 << 20 ? (unsigned int)n : 1 << 20);

	/* A file that breaks off is read as far as it goes, then is an error. */
	if (got < 0)
		errno = EBADMSG;
	return got;
}

static int cookie_seek(void *cookie, off64_t *offset, int whence)
{
	z_off_t at;

	if (whence == SEEK_END)
		return -1;
	at = gzseek(cookie, *offset, whence);
	if (at < 0)
		return -1;
	*offset = at;
	return 0;
}

static int cookie_close(void *cookie)
{
	return gzclose(cookie) == Z_OK ? 0 : -1;
}

static FILE *gzip_open(const char *name)
{
	static const cookie_io_functions_t functions = {
		.read = cookie_read,
		.seek = cookie_seek,
		.close = cookie_close,
	};
	gzFile gz = gzopen(name, "rbe");
	FILE *file;

	if (!gz)
		return NULL;
	file = fopencookie(gz, "rb", functions);
	if (!file)
		gzclose(gz);
	return file;
}

static FILE *rewound(FILE *file, uint8_t *prefix, size_t size, size_t *ret_n)
{
	if (!file)
		return NULL;
	*ret_n = fread(prefix, 1, size, file);
	if ((ferror(file) && !*ret_n) || fseek(file, 0, SEEK_SET)) {
		int error = errno;

		fclose(file);
		errno = error;
		return NULL;
	}
	clearerr(file);
	return file;
}

/* --- pipes -------------------------------------------------------------------- */

struct stream {
	int fd;
	struct input_how how;
	bool unpacks;
	bool between; /* two members of a gzip file, or behind the last */
	z_stream z;
	uint8_t packed[PACKED_BYTES];
	/* Bytes that were read to recognise the file, and are to be given again. */
	uint8_t *prefix;
	size_t prefix_at, prefix_n;
};

static ssize_t raw_read(struct stream *s, void *bytes, size_t n)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };
	ssize_t got;

	if (s->how.waits && !poll(&ready, 1, 0))
		s->how.waits(s->how.context);
	do
		got = read(s->fd, bytes, n);
	while (got < 0 && errno == EINTR);
	return got;
}

/* One step of unpacking: bytes given, 0 at the end, -1 with errno. */
static ssize_t unpack(struct stream *s, void *bytes, size_t n)
{
	s->z.next_out = bytes;
	s->z.avail_out = n < 1 << 20 ? (unsigned int)n : 1 << 20;
	n = s->z.avail_out;
	while (s->z.avail_out == n) {
		ssize_t got = s->z.avail_in ? 1 : raw_read(s, s->packed, PACKED_BYTES);
		int result;

		if (got < 0)
			return -1;
		if (!got && s->between)
			return 0;
		if (!s->z.avail_in) {
			s->z.next_in = s->packed;
			s->z.avail_in = (unsigned int)got;
		}
		if (s->between)
			inflateReset(&s->z);
		result = got ? inflate(&s->z, Z_NO_FLUSH) : Z_DATA_ERROR;
		s->between = result == Z_STREAM_END;
		if (result != Z_OK && result != Z_STREAM_END) {
			errno = EBADMSG;
			return s->z.avail_out == n ? -1 : (ssize_t)(n - s->z.avail_out);
		}
	}
	return (ssize_t)(n - s->z.avail_out);
}

static ssize_t stream_read(void *cookie, char *bytes, size_t n)
{
	struct stream *s = cookie;
	size_t left = s->prefix_n - s->prefix_at;

	if (!left)
		return s->unpacks ? unpack(s, bytes, n) : raw_read(s, bytes, n);
	if (n > left)
		n = left;
	memcpy(bytes, s->prefix + s->prefix_at, n);
	s->prefix_at += n;
	return (ssize_t)n;
}

static int stream_close(void *cookie)
{
	struct stream *s = cookie;

	if (s->unpacks)
		inflateEnd(&s->z);
	if (s->fd != STDIN_FILENO)
		close(s->fd);
	free(s->prefix);
	free(s);
	return 0;
}

/* The prefix was packed: begins to unpack, from what is there. */
static int stream_unpack(struct stream *s)
{
	size_t n = s->prefix_n;

	memcpy(s->packed, s->prefix, n);
	if (inflateInit2(&s->z, GZIP_WINDOW) != Z_OK)
		return -1;
	s->z.next_in = s->packed;
	s->z.avail_in = (unsigned int)n;
	s->unpacks = true;
	s->prefix_n = 0;
	return 0;
}

static int stream_prefix(struct stream *s, size_t size)
{
	while (s->prefix_n < size) {
		size_t want = size - s->prefix_n;
		uint8_t *to = s->prefix + s->prefix_n;
		ssize_t got = s->unpacks ? unpack(s, to, want) : raw_read(s, to, want);

		if (got < 0 && !s->prefix_n)
			return -1;
		if (got <= 0)
			break;
		s->prefix_n += (size_t)got;
		if (!s->unpacks && is_gzip(s->prefix, s->prefix_n) && stream_unpack(s))
			return -1;
		if (s->how.enough && s->how.enough(s->prefix, s->prefix_n))
			break;
	}
	return 0;
}

static FILE *stream_open(int fd, const struct input_how *how, uint8_t *prefix,
			 size_t size, size_t *ret_n)
{
	static const cookie_io_functions_t functions = {
		.read = stream_read,
		.close = stream_close,
	};
	struct stream *s = calloc(1, sizeof(*s));
	FILE *file = NULL;
	int error;

	if (s) {
		s->fd = fd;
		s->how = how ? *how : (struct input_how){ NULL, NULL, NULL };
		s->prefix = malloc(size < PACKED_BYTES ? size : PACKED_BYTES);
	}
	if (s && s->prefix &&
	    !stream_prefix(s, size < PACKED_BYTES ? size : PACKED_BYTES)) {
		*ret_n = s->prefix_n;
		memcpy(prefix, s->prefix, s->prefix_n);
		file = fopencookie(s, "rb", functions);
	}
	if (file)
		return file;
	error = errno;
	if (s)
		stream_close(s);
	errno = error;
	return NULL;
}

static bool rewinds(int fd)
{
	return lseek(fd, 0, SEEK_CUR) == 0;
}

FILE *input_open(const char *name, const struct input_how *how, uint8_t *prefix,
		 size_t size, size_t *ret_n)
{
	int fd = strcmp(name, "-") != 0 ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fd == STDIN_FILENO || !rewinds(fd))
		return stream_open(fd, how, prefix, size, ret_n);
	file = rewound(fdopen(fd, "rb"), prefix, size, ret_n);
	if (!file || !is_gzip(prefix, *ret_n))
		return file;
	fclose(file);
	return rewound(gzip_open(name), prefix, size, ret_n);
}
