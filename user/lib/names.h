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

const char *family_name(enum wire_family family);
const char *class_name(enum wire_class class);
const char *kind_name(enum wire_kind kind);
const char *reason_name(enum reason reason);
const char *verdict_name(enum verdict verdict);
const char *other_name(enum other other);
enum verdict other_verdict(enum other other);

/*
 * What operators call their servers, in place of what these speak; in any case of
 * letters. quakeshield.conf(5) lists them.
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

/* "quake3", or "quake2 or quake3": the names of a mask of 1 << enum wire_family. */
#define FAMILIES_TEXT 96
void families_format(__u32 mask, char ret[FAMILIES_TEXT]);

/* False: @name is none of them; *@ret is untouched. */
bool family_parse(const char *name, enum wire_family *ret);
bool class_parse(const char *name, enum wire_class *ret);

#endif /* NAMES_H */
