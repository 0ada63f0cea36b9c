// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_lock.c - the lock of a shield: flock() of the directory of its pins. The kernel
 * drops it with the process that holds it.
 *
 * Called by shield_load(), shield_apply() and the lists, and by the commands that also
 * write the file of the configuration in force (in_force.h): under the lock that file is
 * true of the tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "shield/shield_internal.h"

#define LOCK_WAIT_MS 2000 /* `reload` waits 5 seconds for a daemon that waits for it */
#define LIST_WAIT_MS 30000 /* a start loads for seconds, and no caller repeats a ban */
#define LOCK_POLL_MS 5

/* Take the lock as shield_lock() does, and wait for @wait_ms at most. */
static int lock_within(struct shield *s, int wait_ms)
{
	struct stat st;
	int err = 0;

	if (s->lock_depth++)
		return 0;
	for (int waited = 0; waited <= wait_ms; waited += LOCK_POLL_MS) {
		err = flock(s->lock, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (err != -EWOULDBLOCK)
			break;
		usleep(LOCK_POLL_MS * 1000);
	}
	/* A start that failed may have removed it, with the tables. */
	if (!err && !fstat(s->lock, &st) && S_ISDIR(st.st_mode) && !st.st_nlink) {
		flock(s->lock, LOCK_UN);
		err = -ESTALE;
	}
	if (!err)
		return 0;
	s->lock_depth--;
	if (err == -ESTALE)
		log_error("'%s' was removed in the meantime: its tables are in force no "
			  "more",
			  s->dir);
	else if (err == -EWOULDBLOCK)
		log_error("cannot lock '%s': another process has held it for %d seconds: "
			  "`lslocks` shows which",
			  s->dir, wait_ms / 1000);
	else
		log_error("cannot lock '%s': %s", s->dir, strerror(-err));
	return err;
}

int shield_lock(struct shield *s)
{
	return lock_within(s, LOCK_WAIT_MS);
}

int shield_lock_for_list(struct shield *s)
{
	return lock_within(s, LIST_WAIT_MS);
}

int shield_lock_dir(struct shield *s)
{
	int err;

	s->lock = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock < 0) {
		err = -errno;
		log_error("cannot open '%s': %s", s->dir, strerror(-err));
		return err;
	}
	err = shield_lock(s);
	if (err)
		s->dir_new = false; /* its tables may be another process's by now */
	return err;
}

void shield_unlock(struct shield *s)
{
	if (!--s->lock_depth)
		flock(s->lock, LOCK_UN);
}
