/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.h - the names of enumerators, as they stand in configuration, labels and JSON.
 *
 * All come from the tables in include/. A value out of range reads as "?".
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>

#include "abi.h"

/*
 * Each of these returns the name of an enumerator, a constant string; "?" if it is out of
 * range.
 */
const char *family_name(enum wire_family family);
const char *class_name(enum wire_class class);
const char *kind_name(enum wire_kind kind);
const char *reason_name(enum reason reason);
const char *verdict_name(enum verdict verdict);
const char *other_name(enum other other);

/*
 * Return what the programs do with a frame of this kind that is for no service. Out of
 * range: drop.
 */
enum verdict other_verdict(enum other other);

/*
 * Other names by which the configuration accepts a protocol: those of engines and games.
 * Case does not matter. quakeshield.conf(5) lists them.
 */
/* clang-format off */
#define FAMILY_ALIASES(X)						\
	X(NETQUAKE, "nq")						\
	X(NETQUAKE, "darkplaces")					\
	X(NETQUAKE, "xonotic")						\
	X(NETQUAKE, "nexuiz")						\
	X(NETQUAKE, "quakespasm")					\
	X(NETQUAKE, "ironwail")						\
	X(NETQUAKE, "vkquake")						\
	X(QUAKEWORLD, "qw")						\
	X(QUAKEWORLD, "mvdsv")						\
	X(QUAKEWORLD, "ktx")						\
	X(QUAKEWORLD, "fteqw")						\
	X(QUAKE2, "q2")							\
	X(QUAKE2, "q2pro")						\
	X(QUAKE2, "r1q2")						\
	X(QUAKE2, "yquake2")						\
	X(QUAKE3, "q3")							\
	X(QUAKE3, "q3a")						\
	X(QUAKE3, "ioquake3")						\
	X(QUAKE3, "openarena")						\
	X(QUAKE3, "urt")						\
	X(QUAKE3, "urbanterror")					\
	X(QUAKE3, "et")							\
	X(QUAKE3, "etlegacy")						\
	X(QUAKE_ENHANCED, "qe")						\
	X(QUAKE_ENHANCED, "kex")
/* clang-format on */

/* Bytes for the names of all families, with the NUL. */
#define FAMILIES_TEXT 96

/*
 * Write the names of @mask, a mask of 1 << enum wire_family: "quake3", or "quake2 or
 * quake3".
 */
void families_format(__u32 mask, char ret[FAMILIES_TEXT]);

/*
 * Find the family called @name, or by one of FAMILY_ALIASES. False: there is none, and
 * *@ret is untouched.
 */
bool family_parse(const char *name, enum wire_family *ret);
/* Find a class of requests likewise, by its name alone and in this case of letters. */
bool class_parse(const char *name, enum wire_class *ret);

#endif /* NAMES_H */
