/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_sources.h - which sources an attack comes from, as far as a sample tells.
 *
 *	include/refused.h -> incident_source() -> the heaviest of each class -> JSON, text
 *
 * An address is named if it surely sent a twentieth or more of what was refused of its
 * class, by three samples or more. So a flood of another class does not hide a source
 * that guesses passwords, and addresses that are spoofed at random are not named. All
 * figures are estimates. An address is what the datagrams say: a spoofed one may be a
 * victim's.
 */
#ifndef INCIDENT_SOURCES_H
#define INCIDENT_SOURCES_H

#include <jansson.h>

#include "incident/incident.h"

#define INCIDENT_NAMED 8 /* addresses, and prefixes, at most */

/*
 * Return the IPv4 addresses or IPv6 /64 that are named, as an array of {"source",
 * "class", "reason", "share", "packets"}, most packets first. In an attack on passwords,
 * sources of rcon stand first. The heaviest of each class is named before any class has a
 * second one. Returns NULL if there is no memory.
 */
json_t *incident_sources_json(const struct incident *incident);

/* Return the prefixes likewise, IPv4 /24 or IPv6 /56: "prefix" in place of "source". */
json_t *incident_prefixes_json(const struct incident *incident);

/* Restore into @ret what these two have written into @object, an incident as JSON. */
void incident_sources_parse(const json_t *object, struct incident *ret);

/* Bytes of the words, with the NUL. */
#define INCIDENT_FROM 256

/*
 * Write the first three as words: "192.0.2.7 (98 % of rcon, source-limit)". A prefix is
 * left out if the addresses that are named sent half of its share. If no source is named,
 * @ret says why; "": nothing was sampled. @object: an incident as JSON.
 */
void incident_from(const json_t *object, char ret[INCIDENT_FROM]);

#endif /* INCIDENT_SOURCES_H */
