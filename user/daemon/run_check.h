/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run_check.h - finds interfaces that carry our program and deliver frames without
 * running it, and attaches there again. Called from the daemon's loop.
 *
 * A driver can lose its program while the kernel lists it as attached: vmxnet3 after a
 * change of its ring or MTU in native mode, for example. Every frame that a program sees
 * is in a counter of the shield. So an interface is suspected if the programs have
 * counted few frames, or far fewer than its driver, on all interfaces together. Then a
 * packet socket (lib/delivered.h) counts for one look what the interface delivers to the
 * host behind the program: these frames must be among those that the programs have
 * counted. Drivers' own counts are no proof: some include frames that the card drops or
 * forwards itself.
 *
 * Two looks with proof in a row are logged, noted for `status`, metrics and health
 * (shield_unrun_put()), and answered by attaching again: first in the mode that it has,
 * then in generic mode, and then no more until the program has run again.
 */
#ifndef RUN_CHECK_H
#define RUN_CHECK_H

#include "daemon/attach_monitor.h"

struct run_check;

/*
 * Begin to look after the interfaces of @monitor; called before privileges go. NULL: not
 * enough memory. Without CAP_NET_RAW it sees nothing, and says so.
 */
struct run_check *run_check_open(struct shield *shield, struct attach_monitor *monitor);
/* Look at what came in since the last look, some seconds ago, and attach again. */
void run_check_look(struct run_check *check);
/* Close the socket, and free @check, which may be NULL. */
void run_check_close(struct run_check *check);

#endif /* RUN_CHECK_H */
