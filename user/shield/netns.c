// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * netns.c - the network namespace that the links pinned in a directory are of. The kernel
 * tells a link's interface by its number alone, and an interface of another namespace may
 * have the same one.
 *
 * The directory has a symbolic link `netns`, the one kind of entry of a BPF file system
 * that holds a text. Its target is the kernel's cookie of the namespace, which no other
 * namespace gets before the machine restarts. No pin lives longer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "shield/shield_internal.h"

#define COOKIE_TEXT 24 /* bytes, with the NUL */

/* Write the cookie of this process's namespace to @ret; "": the kernel tells none. */
static void cookie_here(char ret[COOKIE_TEXT])
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned long long cookie;
	socklen_t size = sizeof(cookie);

	*ret = 0;
	if (fd < 0)
		return;
	if (!getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size))
		snprintf(ret, COOKIE_TEXT, "%llu", cookie);
	close(fd);
}

/*
 * Read what netns_note() has written in @dir. False: nothing, or what is no cookie.
 * *@ret_path: where it is.
 */
static bool cookie_noted(const char *dir, char ret_path[PATH_MAX], char ret[COOKIE_TEXT])
{
	ssize_t n;

	if (snprintf(ret_path, PATH_MAX, "%s/netns", dir) >= PATH_MAX)
		return false;
	n = readlink(ret_path, ret, COOKIE_TEXT);
	if (n <= 0 || n == COOKIE_TEXT)
		return false;
	ret[n] = 0;
	return true;
}

bool netns_is_other(const char *dir)
{
	char path[PATH_MAX], here[COOKIE_TEXT], noted[COOKIE_TEXT];

	if (!cookie_noted(dir, path, noted))
		return false;
	cookie_here(here);
	return *here && strcmp(here, noted) != 0;
}

int netns_note(const char *dir)
{
	char path[PATH_MAX], here[COOKIE_TEXT], noted[COOKIE_TEXT];
	bool has = cookie_noted(dir, path, noted);
	int err;

	cookie_here(here);
	if (!*here || (has && !strcmp(here, noted)))
		return 0;
	unlink(path);
	if (!symlink(here, path))
		return 0;
	err = -errno;
	log_error("cannot write '%s': %s", path, strerror(-err));
	return err;
}
