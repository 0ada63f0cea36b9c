/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples_names.h - the names of players that joined while an earlier daemon ran. Called
 * by samples.c at its start.
 *
 * A client sends its name when it joins, and hardly ever again; the players file of the
 * daemon before has it. A player that sends from the same address and port, to the same
 * service, within LAG_IDLE_NS, is taken for the same, until it sends another name.
 * Bounded as that file is: SAMPLES_PLAYERS.
 */
#ifndef SAMPLES_NAMES_H
#define SAMPLES_NAMES_H

#include "lag/lagometer.h"
#include "abi.h"

struct samples_names;

/*
 * Read the names from the players file at @path. NULL: no file is new enough at @now_ns,
 * it holds no name, or there is no memory.
 */
struct samples_names *samples_names_load(const char *path, int64_t now_ns);
/* Free the names; @names may be NULL. */
void samples_names_free(struct samples_names *names);

/*
 * Fill in the names and maps that players of @lagometer do not have yet. @services: by
 * slot. False: LAG_IDLE_NS have passed since the file was written, and @names may be
 * freed.
 */
bool samples_names_recall(const struct samples_names *names, struct lagometer *lagometer,
			  const struct service *services, int64_t now_ns);

#endif /* SAMPLES_NAMES_H */
