// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_serve.c - the lock that lets one daemon alone serve the machine's shield, also
 * where daemons share the BPF file system but no /run, as containers do.
 *
 * The lock is that of PIN_ROOT, so it is for the default directory alone. A directory of
 * --pin is taken by shield->lock.
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

int shield_serve(const char *pin_dir, int *ret)
{
	*ret = -1;
	for (int i = 0; !pin_dir && i < TRIES; i++) {
		struct stat st;
		bool fresh;
		int fd, err = pins_make_dir(PIN_ROOT, &fresh);

		if (err)
			return err;
		fd = open(PIN_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			close(fd);
			log_error("another quakeshield, perhaps in a container, serves "
				  "the shield of '" PIN_ROOT "': stop that one, or give "
				  "this one a directory of its own by --pin");
			return -EBUSY;
		}
		if (!fstat(fd, &st) && st.st_nlink) {
			*ret = fd;
			return 0;
		}
		close(fd);
	}
	if (pin_dir)
		return 0;
	log_error("cannot lock '" PIN_ROOT "': it is removed again and again");
	return -EAGAIN;
}

void shield_serve_end(int lock)
{
	if (lock < 0)
		return;
	rmdir(PIN_ROOT); /* if it is empty */
	close(lock);
}
