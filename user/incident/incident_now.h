/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_now.h - the attacks that go on now, for other processes: written by the daemon
 * (incident_monitor.c), read by `attacks`, `status` and `top`.
 *
 * While there is one, the daemon writes them once a second to
 * INCIDENT_NOW_DIR/attacks.json, always as a whole: {"time":..,"now":[incident..],
 * "unsaved":[incident..]}. A file that is older than INCIDENT_STALE_MS, or of the future,
 * counts for nothing. "unsaved" are attacks that could not be written to the disk, which
 * may be over.
 */
#ifndef INCIDENT_NOW_H
#define INCIDENT_NOW_H

#include "incident/incident_json.h"
#include "lib/json_key.h"

#define INCIDENT_NOW_DIR  "/run/quakeshield"
#define INCIDENT_STALE_MS 5000

/*
 * Write the path of the file of the daemon of @pin_dir (NULL: the default one) to @ret,
 * which has 512 bytes.
 */
void incident_now_path(const char *pin_dir, char *ret);

extern const struct json_key incident_now_keys[];

/*
 * Return the object of the file, which the caller releases. @watches: INCIDENT_SERVICES
 * of them. NULL: no memory.
 */
json_t *incident_now_json(const struct incident_watch *watches, int64_t now_ms);

/*
 * Write the file, or remove it if there is no attack and nothing in @unsaved. *@shown:
 * the file is there; it is kept here. 0 or -errno.
 */
int incident_now_write(const char *path, const struct incident_watch *watches,
		       json_t *unsaved, int64_t now_ms, bool *shown);

/*
 * Return the array "now" of the file, which the caller releases; empty if there is no
 * file or it is stale.
 */
json_t *incident_now_read(const char *path, int64_t now_ms);

/* Return the array "unsaved" of the file, likewise. */
json_t *incident_unsaved_read(const char *path, int64_t now_ms);

#endif /* INCIDENT_NOW_H */
