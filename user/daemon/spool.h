/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spool.h - what a command gets to know of an attack, as files. The daemon, which can
 * start no process, writes them; quakeshield-attack.service, which systemd starts when
 * there are some, takes them and runs the command. The content of a file never chooses
 * the command.
 *
 * A directory that is a symbolic link is refused, by the writer and by the reader.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SPOOL_DIR      "/run/quakeshield/on-attack"
#define SPOOL_MAX      64 /* files; further events are dropped */
#define SPOOL_BYTES    8192 /* of one file; a larger one is not the daemon's */
#define SPOOL_PATIENCE 60 /* seconds until files that are not taken are logged */
#define SPOOL_NAME     256

/*
 * Put @object in @dir as NAME.json; the directory, and the one that it is in, are made if
 * need be. 0; -EDQUOT: SPOOL_MAX files wait; -EMSGSIZE: more than SPOOL_BYTES; or -errno.
 * On a failure nothing was put.
 */
int spool_put(const char *dir, const char *name, const json_t *object);

/*
 * Open the oldest file in @dir that @waits does not hold back by its name (NAME.json),
 * to be read from its beginning, and remove it; its name comes in @ret. -ENOENT: there
 * is none; or -errno of one that could not be opened, which is removed as well where
 * possible.
 */
int spool_take(const char *dir, bool (*waits)(const void *context, const char *name),
	       const void *context, char ret[SPOOL_NAME]);

/* Remove all files that are there. Returns how many. */
size_t spool_discard(const char *dir);

/* Return true if a file has been there for SPOOL_PATIENCE. */
bool spool_is_stale(const char *dir);

#endif /* SPOOL_H */
