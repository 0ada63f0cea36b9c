/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * witness.h - are datagrams for the services judged where they come in?
 *
 * The programs count what they see, and nothing of what passes beside them: by another
 * interface, through a tunnel, or into a container behind the one that is protected. So
 * the daemon looks at what comes in by all others (lib/arrivals.h), notes it for
 * `status`, metrics and health (shield_unjudged_put()), and says so once.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include "config/config.h"
#include "shield/shield.h"

struct witness;

/* Before privileges go. NULL: not enough memory; without CAP_NET_RAW it sees nothing, and
 * says so. */
struct witness *witness_open(struct shield *shield, const struct config *config);
/* @config is in force now. */
void witness_reload(struct witness *witness, const struct config *config);
/* Some seconds after the last look: what has come in meanwhile. */
void witness_look(struct witness *witness);
void witness_close(struct witness *witness);

#endif /* WITNESS_H */
