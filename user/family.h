/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * family.h - the protocol families, until include/wire.h names them.
 */
#ifndef FAMILY_H
#define FAMILY_H

enum wire_family {
	FAMILY_NETQUAKE,
	FAMILY_QUAKEWORLD,
	FAMILY_QUAKE2,
	FAMILY_QUAKE3,
	FAMILY_QUAKE_ENHANCED,
	FAMILY_AUTO, /* not known, or not ours */
	FAMILY_COUNT
};

static inline const char *wire_family_name(enum wire_family family)
{
	static const char *const names[] = { "netquake", "quakeworld",	   "quake2",
					     "quake3",	 "quake-enhanced", "auto" };

	return names[family];
}

#endif /* FAMILY_H */
