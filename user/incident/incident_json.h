/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_json.h - an incident as one JSON object, and back: docs/reference/json.md.
 * Called by the daemon for its files, the page and the command of the operator, and by
 * `attacks`. Pure; the object belongs to the caller.
 */
#ifndef INCIDENT_JSON_H
#define INCIDENT_JSON_H

#include <jansson.h>

#include "incident/incident.h"
#include "lib/json_key.h"

#define INCIDENT_LINE 8192 /* bytes of one object at most, its newline included */
#define INCIDENT_TOP  8 /* kinds, reasons and prefixes named, most first */

extern const struct json_key incident_json_keys[];

/*
 * Return the incident as an object, which the caller releases; NULL: no memory. @event:
 * what it reports. @capture: the file of its packets, or NULL.
 */
json_t *incident_json(const struct incident *incident, enum incident_event event,
		      const char *capture);

/*
 * Return the incident of @object, as far as a later process needs it to go on with it,
 * the named sources included. To be given to incident_adopt(), or freed. NULL: it has
 * ended, or there is no memory.
 */
struct incident *incident_parse(const json_t *object);

/* Bytes of the line, with the NUL. */
#define INCIDENT_TEXT 960
/* Write what is known of an incident as one line of words. */
void incident_text(const struct incident *incident, enum incident_event event,
		   char ret[INCIDENT_TEXT]);

/* Bytes of the sorts, with the NUL. */
#define INCIDENT_SORTS_TEXT 64

/*
 * Write what incident_json()'s object says that it is: "flood", or "flood +
 * password-guessing" where another sort began meanwhile.
 */
void incident_sorts(const json_t *incident, char ret[INCIDENT_SORTS_TEXT]);

/* Bytes of a time, with the NUL. */
#define INCIDENT_TIME 40

/*
 * Write milliseconds since 1970 as 2026-11-22T14:45:01.250Z, or "?" if they are out of
 * range.
 */
void incident_time(int64_t ms, char ret[INCIDENT_TIME]);

#endif /* INCIDENT_JSON_H */
