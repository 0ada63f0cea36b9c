// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_serve.c - the lock that lets one daemon alone serve a shield, also where daemons
 * share the BPF file system but no /run, as containers do.
 *
 * It is a lock of the directory PIN_ROOT, or of the subdirectory SERVE_DIR of the
 * directory that --pin names: the directory itself has the lock of the tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "shield/shield_internal.h"

int shield_mount(void)
{
	return pins_mount();
}

#define TRIES 8 /* at a directory that is removed in between */

/* Write the directory with the lock to @ret. 0, or -ENAMETOOLONG after a message. */
static int serve_path(const char *pin_dir, char ret[PATH_MAX])
{
	if (pin_dir)
		return pin_path(ret, PATH_MAX, pin_dir, SERVE_DIR);
	strcpy(ret, PIN_ROOT);
	return 0;
}

/*
 * Take the lock of the directory @path. Returns the descriptor; -EBUSY: another daemon
 * has it; -EAGAIN: the directory was removed in between; or another -errno after a
 * message.
 */
static int lock_try(const char *path)
{
	struct stat st;
	bool fresh;
	int fd, err = pins_make_dir(path, &fresh);

	if (err)
		return err;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -EAGAIN;
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
		if (!fstat(fd, &st) && st.st_nlink)
			return fd;
		err = -EAGAIN;
	} else {
		err = fd >= 0 && errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (err != -EBUSY)
			log_error("cannot lock '%s': %s", path, strerror(-err));
	}
	if (fd >= 0)
		close(fd);
	return err;
}

int shield_serve(const char *pin_dir, int *ret)
{
	const char *of = pin_dir ? pin_dir : PIN_ROOT;
	char path[PATH_MAX];
	bool fresh;
	int err = serve_path(pin_dir, path);

	*ret = -1;
	/* An error names what the operator has named. */
	if (!err && pin_dir)
		err = pins_make_dir(pin_dir, &fresh);
	if (err)
		return err;
	err = -EAGAIN;
	for (int i = 0; err == -EAGAIN && i < TRIES; i++)
		err = lock_try(path);
	if (err == -EBUSY)
		log_error("another quakeshield, perhaps in a container, serves the "
			  "shield of '%s': stop that one, or give this one a directory "
			  "of its own by --pin",
			  of);
	else if (err == -EAGAIN)
		log_error("cannot lock '%s': it is removed again and again", path);
	if (err < 0)
		return err;
	*ret = err;
	return 0;
}

int shield_check_served(const char *pin_dir)
{
	char path[PATH_MAX];
	int fd, err = serve_path(pin_dir, path);

	if (err)
		return err;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		err = -EBUSY;
		log_error("a daemon that has no pid file here, perhaps in a container, "
			  "serves the shield of '%s': stop that one first (`lslocks` on "
			  "the host shows its process); nothing was detached",
			  pin_dir ? pin_dir : PIN_ROOT);
	}
	close(fd);
	return err;
}

void shield_serve_end(const char *pin_dir, int lock)
{
	char path[PATH_MAX];

	if (lock < 0 || serve_path(pin_dir, path))
		return;
	rmdir(path); /* PIN_ROOT: if it is empty */
	if (pin_dir)
		rmdir(pin_dir); /* the same */
	close(lock);
}
