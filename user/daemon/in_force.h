/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * in_force.h - the configuration in force and the one before it, as files that only root
 * may read: /run/quakeshield/in-force-*.conf and previous-*.conf. They are written with
 * all defaults, and with what the command line said. `reload` compares and undoes by
 * them. Comments at the end say which values of `validation` and `cache` are defaults, so
 * that config_resolve() can choose them again.
 */
#ifndef IN_FORCE_H
#define IN_FORCE_H

#include <limits.h>

#include "config/config.h"

enum in_force {
	IN_FORCE,
	IN_FORCE_PREVIOUS
};

/* Write the path of the file of @which for @pin_dir (NULL: default) to @ret. */
void in_force_path(const char *pin_dir, enum in_force which, char ret[PATH_MAX]);

/*
 * Write that @config is in force now; the caller holds shield_lock(). The former one
 * becomes the previous one, unless it is the same. Called after a configuration was
 * applied, by the daemon or by `reload`. 0, or -errno, after a warning: the shield works
 * without the files. Then the former one is the previous one all the same, and none is
 * said to be in force.
 */
int in_force_write(const char *pin_dir, const struct config *config);

/*
 * Write that @config is in force now, after no reload: its defaults have changed with the
 * interfaces. The previous one stays. Returns as in_force_write().
 */
int in_force_correct(const char *pin_dir, const struct config *config);

/* Read it back. 0; -ENOENT without a message if there is none; or as config_load(), but
 * without warnings: they were said of the file that was applied. */
int in_force_read(const char *pin_dir, enum in_force which, struct config *ret);

/*
 * Return when IN_FORCE was written, in ns since the epoch; 0: it is not there. `reload`
 * waits for it: the daemon writes the file after it has applied a configuration.
 */
__u64 in_force_written(const char *pin_dir);

/* Remove both files, and their directory if it is empty: the shield was taken down. */
void in_force_remove(const char *pin_dir);

#endif /* IN_FORCE_H */
