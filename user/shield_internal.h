/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_internal.h - shared by shield.c (programs and links) and shield_maps.c (what is
 * in the maps). Nobody else includes it.
 */
#ifndef SHIELD_INTERNAL_H
#define SHIELD_INTERNAL_H

#include <limits.h>

#include "shield.h"

/* Every pinned map, by its name in bpf/maps.bpf.h. */
/* clang-format off */
#define SHIELD_MAPS(X)	\
	X(live)		\
	X(ports)	\
	X(endpoints)	\
	X(services)	\
	X(allow)	\
	X(deny)		\
	X(globals)	\
	X(sources)	\
	X(prefixes)	\
	X(tallies)	\
	X(others)	\
	X(tallies_out)	\
	X(players)	\
	X(qports)	\
	X(ledgers)	\
	X(pending)	\
	X(answers)	\
	X(costs)	\
	X(fragments)
/* clang-format on */

struct shield {
	char dir[PATH_MAX];
	int lock; /* the directory, for flock() */
	int program; /* at the interface's ingress; -1: opened to read only */
	int egress; /* the program at its egress */
#define AS_FD(name) int name;
	SHIELD_MAPS(AS_FD)
#undef AS_FD
	__u32 capacity; /* services that tallies has room for */
	struct live *shared; /* the live map, in our memory */
};

/* Map the live map into @shield->shared; fill in its keys if nobody did yet. */
int shield_map_live(struct shield *shield);
void shield_unmap_live(struct shield *shield);

/* Attach, exchange or remove the program at @ifindex's egress: user/egress.c. */
int egress_attach(struct shield *shield, const char *interface, __u32 ifindex);
void egress_detach(__u32 ifindex);
/* The id of our program at @ifindex's egress as clsact filter; 0: none. */
__u32 egress_clsact_id(__u32 ifindex);

/* shield_apply() for a caller that holds the lock. */
int shield_apply_locked(struct shield *shield, const struct config *config);

#endif /* SHIELD_INTERNAL_H */
