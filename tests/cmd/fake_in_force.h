/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_in_force.h - the configuration in force and the one before, in memory in place of
 * /run (daemon/in_force.h). Included once by a program.
 */
#ifndef FAKE_IN_FORCE_H
#define FAKE_IN_FORCE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/in_force.h"
#include "shield/shield.h"

static struct config *fake_in_force[2]; /* by enum in_force; NULL: there is none */
static bool fake_in_force_kept; /* false: nothing is ever written */
static bool fake_in_force_stuck; /* the daemon writes nothing */

static int fake_lock_says; /* what shield_lock() returns */
static int fake_locked; /* calls without shield_unlock() */
static bool fake_in_force_raced; /* read or written by `reload -c` without the lock */

int shield_lock(struct shield *shield)
{
	(void)shield;
	fake_locked += !fake_lock_says;
	return fake_lock_says;
}

void shield_unlock(struct shield *shield)
{
	(void)shield;
	fake_locked--;
}

void in_force_path(const char *pin_dir, enum in_force which, char ret[PATH_MAX])
{
	(void)pin_dir;
	snprintf(ret, PATH_MAX, "%s",
		 fake_in_force[which] ? "/dev/null" : "/nonexistent");
}

int in_force_write(const char *pin_dir, const struct config *config)
{
	(void)pin_dir;
	fake_in_force_raced |= !fake_locked;
	if (!fake_in_force_kept)
		return -EROFS;
	free(fake_in_force[IN_FORCE_PREVIOUS]);
	fake_in_force[IN_FORCE_PREVIOUS] = fake_in_force[IN_FORCE];
	fake_in_force[IN_FORCE] = malloc(sizeof(*config));
	*fake_in_force[IN_FORCE] = *config;
	return 0;
}

int in_force_read(const char *pin_dir, enum in_force which, struct config *ret)
{
	(void)pin_dir;
	if (!fake_in_force[which])
		return -ENOENT;
	*ret = *fake_in_force[which];
	return 0;
}

/* Each call finds a new file, unless nothing is ever written. */
__u64 in_force_written(const char *pin_dir)
{
	static __u64 calls;

	(void)pin_dir;
	return fake_in_force_stuck ? 0 : ++calls;
}

void in_force_remove(const char *pin_dir)
{
	(void)pin_dir;
	for (int i = 0; i < 2; i++) {
		free(fake_in_force[i]);
		fake_in_force[i] = NULL;
	}
}

#endif /* FAKE_IN_FORCE_H */
