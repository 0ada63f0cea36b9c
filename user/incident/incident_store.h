/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_store.h - incidents on disk, so that they outlive whoever has seen them.
 *
 *	INCIDENT_STATE/attacks.jsonl	a line an event, the whole incident in each; the
 *					last of an id is what is known of it
 *
 * Bounded: INCIDENT_KEPT incidents, INCIDENT_BYTES of file: when it is fuller it is
 * written anew with the newest half of them, a line each. A line that is torn, or not
 * ours, is passed over, and what is written after it begins on a line of its own.
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
 * Where the daemon of @pin_dir (NULL: the default one) keeps @name, which may have an
 * ending: "attacks.jsonl". 0, or -ENAMETOOLONG without a message and "": there can be no
 * such file.
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
 * Append one object as a line. 0 or -errno. It does not wait for the disk: who looks
 * after a shield under attack must not.
 */
int incident_store_add(const char *path, const json_t *object);

/*
 * The last line of each of the newest INCIDENT_KEPT incidents, in the order in which they
 * began, as an array to be let go; empty if there is no file. *@ret_err, unless NULL:
 * 0, or -errno of a file that is there and cannot be read. NULL: no memory.
 */
json_t *incident_store_read(const char *path, int *ret_err);

#endif /* INCIDENT_STORE_H */
