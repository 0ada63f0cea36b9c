/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_store.h - incidents on disk, so that they outlive the process that saw them.
 * Written by the daemon (incident_monitor.c), read by `attacks` and the next daemon.
 *
 *	INCIDENT_STATE/attacks.jsonl	a line an event, the whole incident in each; the
 *					last line of an id is its latest state
 *
 * Bounded: INCIDENT_KEPT incidents, INCIDENT_BYTES of file. When the file is fuller it is
 * replaced by one with the newest half of them, a line each. A line that is cut off, or
 * not of this format, is skipped, and the next one is written on a line of its own.
 */
#ifndef INCIDENT_STORE_H
#define INCIDENT_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define INCIDENT_STATE "/var/lib/quakeshield" /* or what STATE_DIRECTORY says first */
#define INCIDENT_FRESH ".new" /* behind the name of what is written in its place */
#define INCIDENT_PATH  512
#define INCIDENT_KEPT  1000
#define INCIDENT_BYTES (4 << 20)

/*
 * Write the path at which the daemon of @pin_dir (NULL: the default one) keeps @name,
 * which may have an ending: "attacks.jsonl". 0, or -ENAMETOOLONG without a message and
 * "": there can be no such file.
 */
int incident_path(const char *pin_dir, const char *name, char ret[INCIDENT_PATH]);
#define INCIDENT_NO_PATH "the path would be too long (STATE_DIRECTORY, --pin)"

/*
 * Count what the daemon of @pin_dir has kept below INCIDENT_STATE: attacks, captures,
 * known clients, history. Addresses of clients are in all of them. @remove: and remove
 * it; -errno of the first file that could not be removed, after all others were.
 */
int incident_state(const char *pin_dir, bool remove);

/* Make the directory of @path if it is not there. 0 or -errno. */
int incident_directory(const char *path);

/*
 * Append one object as a line. 0 or -errno. It does not wait for the disk: the daemon
 * must not wait while the host is under attack.
 */
int incident_store_add(const char *path, const json_t *object);

/*
 * Return the last line of each of the newest INCIDENT_KEPT incidents, in the order in
 * which they began, as an array that the caller releases; empty if there is no file.
 * *@ret_err, unless NULL: 0, or -errno of a file that is there and cannot be read. NULL:
 * no memory.
 */
json_t *incident_store_read(const char *path, int *ret_err);

#endif /* INCIDENT_STORE_H */
