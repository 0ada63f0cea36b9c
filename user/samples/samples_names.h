/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples_names.h - what players are called whose joining an earlier daemon has seen.
 *
 * A name is told when its player joins, and then hardly ever again; the players file of
 * the daemon before has it. Who is heard from the same address and port, in the same
 * service, within LAG_IDLE_NS, is taken for the same, until it says something else.
 * Bounded as that file is: SAMPLES_PLAYERS.
 */
#ifndef SAMPLES_NAMES_H
#define SAMPLES_NAMES_H

#include "samples/lagometer.h"
#include "abi.h"

struct samples_names;

/* From the players file at @path. NULL: there is none that is new enough at @now_ns, it
 * names nobody, or no memory. */
struct samples_names *samples_names_load(const char *path, int64_t now_ns);
void samples_names_free(struct samples_names *names);

/*
 * Name those of @lagometer who have no name yet. @services: by slot. False: whoever has
 * not been heard by now will not be, and @names may be freed.
 */
bool samples_names_recall(const struct samples_names *names, struct lagometer *lagometer,
			  const struct service *services, int64_t now_ns);

#endif /* SAMPLES_NAMES_H */
