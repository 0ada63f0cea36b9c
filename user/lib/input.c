// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * input.c - see input.h. zlib does the unpacking, behind a stdio stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/input.h"

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

FILE *input_open(const char *name, uint8_t *prefix, size_t size, size_t *ret_n)
{
	FILE *file = rewound(fopen(name, "rbe"), prefix, size, ret_n);

	if (!file || *ret_n < 2 || prefix[0] != 0x1f || prefix[1] != 0x8b)
		return file;
	fclose(file);
	return rewound(gzip_open(name), prefix, size, ret_n);
}
