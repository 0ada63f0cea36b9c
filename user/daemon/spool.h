/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spool.h - what a command is to be told of an attack, as files: the daemon, which can
 * start nothing, writes them; quakeshield-attack.service, which systemd starts when there
 * are some, takes them and runs the command. What is in a file says nothing about which.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <jansson.h>
#include <stdbool.h>

#define SPOOL_DIR      "/run/quakeshield/on-attack"
#define SPOOL_MAX      64 /* files; what finds so many is not told */
#define SPOOL_BYTES    8192 /* of one file */
#define SPOOL_PATIENCE 60 /* seconds until we ask who takes them */

/* Put @object there as NAME.json. -EDQUOT: nobody takes what is there; or -errno. */
int spool_put(const char *name, const json_t *object);

/* The oldest there, opened to be read from its beginning, and no longer there. -ENOENT:
 * none is; or -errno. */
int spool_take(void);

/* Has one been there for SPOOL_PATIENCE? */
bool spool_is_stale(void);

#endif /* SPOOL_H */
