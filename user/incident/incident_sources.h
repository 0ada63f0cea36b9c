/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_sources.h - which sources an attack comes from, as far as a sample tells.
 *
 *	include/refused.h -> incident_source() -> the heaviest of each class -> JSON, text
 *
 * An address is named if it surely sent a twentieth or more of what was refused of its
 * class, by three samples or more: so a source that guesses passwords is named beside any
 * flood of another class, and addresses that are spoofed at random are not. All figures
 * are estimates. An address is what the datagrams say: a spoofed one may be a victim's.
 */
#ifndef INCIDENT_SOURCES_H
#define INCIDENT_SOURCES_H

#include <jansson.h>

#include "incident/incident.h"

#define INCIDENT_NAMED 8 /* addresses, and prefixes, at most */

/*
 * The IPv4 addresses or IPv6 /64 that are named, as an array of {"source", "class",
 * "reason", "share", "packets"}, most packets first, of guessing those that guess. The
 * heaviest of each class are named before any class has a second one. Or NULL: no memory.
 */
json_t *incident_sources_json(const struct incident *incident);

/* The same of prefixes, IPv4 /24 or IPv6 /56: "prefix" in place of "source". */
json_t *incident_prefixes_json(const struct incident *incident);

/* Take back what these two have said in @object, an incident as JSON. */
void incident_sources_parse(const json_t *object, struct incident *ret);

/*
 * The first three as words, prefixes only if no addresses in them are named for half of
 * it: "192.0.2.7 (98 % of rcon, source-limit)". If there is
 * none, why; "": nothing was sampled. @object: an
 * incident as JSON.
 */
#define INCIDENT_FROM 256
void incident_from(const json_t *object, char ret[INCIDENT_FROM]);

#endif /* INCIDENT_SOURCES_H */
