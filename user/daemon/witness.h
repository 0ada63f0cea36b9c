/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * witness.h - finds datagrams for the services that come in where no program of the
 * shield sees them. Called from the daemon's loop.
 *
 * The programs count what they see, and nothing of what goes around them: by another
 * interface, through a tunnel, or into a container behind the protected one. So the
 * daemon looks at what comes in by all other interfaces (lib/arrivals.h), notes it for
 * `status`, metrics and health (shield_unjudged_put()), and logs it once.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include "config/config.h"
#include "shield/shield.h"

struct witness;

/*
 * Begin to look; called before privileges go. NULL: not enough memory. Without
 * CAP_NET_RAW it sees nothing, and says so.
 */
struct witness *witness_open(struct shield *shield, const struct config *config);
/*
 * Look for the services of @config, which is in force now, and forget what came in by
 * interfaces that it names.
 */
void witness_reload(struct witness *witness, const struct config *config);
/* Note what has come in since the last look, some seconds ago. */
void witness_look(struct witness *witness);
/* Close the socket, and free @witness, which may be NULL. */
void witness_close(struct witness *witness);

#endif /* WITNESS_H */
