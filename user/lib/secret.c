// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * secret.c - see secret.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/secret.h"

void *secret_alloc(size_t n)
{
	void *memory =
		mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* Where it may not be locked it is still wiped, and no part of a core file. */
	(void)mlock(memory, n);
	(void)madvise(memory, n, MADV_DONTDUMP);
	return memory;
}

void secret_free(void *memory, size_t n)
{
	if (!memory)
		return;
	explicit_bzero(memory, n);
	munmap(memory, n);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int secret_key_parse(const char *text, struct secret_key *ret)
{
	size_t n = 0;

	for (; *text; text += 2, n++) {
		int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);

		if (low < 0 || n == SECRET_KEY_MAX)
			return -EINVAL;
		ret->bytes[n] = (uint8_t)(high << 4 | low);
	}
	ret->n = n;
	return n ? 0 : -EINVAL;
}

/* Return what is wrong with the owner and mode of the file, or NULL. */
static const char *unfit(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "is not a file";
	if (st.st_uid)
		return "is not owned by root: others may read the key";
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return "can be read by others than root: chmod 600";
	return NULL;
}

static int read_text(int fd, struct secret_key *ret)
{
	char text[2 * SECRET_KEY_MAX + 4];
	ssize_t n = read(fd, text, sizeof(text) - 1);
	int err = n < 0 ? -errno : 0;

	if (!err) {
		while (n && strchr(" \t\r\n", text[n - 1]))
			n--;
		text[n] = 0;
		err = secret_key_parse(text, ret);
	}
	explicit_bzero(text, sizeof(text));
	return err;
}

int secret_key_read(const char *path, struct secret_key *ret, char *message, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;
	const char *why;

	ret->n = 0;
	if (fd < 0) {
		err = -errno;
		snprintf(message, size, "%s", strerror(errno));
		return err;
	}
	why = unfit(fd);
	err = why ? -EPERM : read_text(fd, ret);
	if (why)
		snprintf(message, size, "%s", why);
	else if (err == -EINVAL)
		snprintf(message, size,
			 "does not hold an even number of hex digits, at most %d",
			 2 * SECRET_KEY_MAX);
	else if (err)
		snprintf(message, size, "%s", strerror(-err));
	close(fd);
	return err;
}
