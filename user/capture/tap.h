/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tap.h - UDP datagrams that pass the interfaces of this host, as frames of a capture.
 *
 * A packet socket: the kernel shows an arriving frame to it after XDP programs, and a
 * leaving one after programs at TC egress. So nothing is shown that a program drops, or
 * sends back itself, and each frame is shown as a program has rewritten it.
 *
 * A filter in the kernel chooses networks of clients, a share of all, so that of each
 * network either all datagrams are shown or none. A network is an IPv4 /20 or an IPv6
 * /48: the widest that has a limit of its own. A smaller share has no network that a
 * larger one lacks.
 */
#ifndef TAP_H
#define TAP_H

#include "capture/capture.h"

#define TAP_INTERFACES 64
#define TAP_SHARES     256 /* the share that is all */

struct tap;

/*
 * Open a tap on @count Ethernet interfaces, 1 to TAP_INTERFACES, that shows all. 0 and
 * *@ret, or -errno without a message: it needs CAP_NET_RAW.
 */
int tap_open(const int *ifindexes, size_t count, struct tap **ret);
/* Close the tap and free it; NULL: nothing. */
void tap_close(struct tap *tap);

/* Return a descriptor that is readable when there are frames, for poll(2). */
int tap_fd(const struct tap *tap);

/* Show @share of TAP_SHARES networks from now on. 0, or -errno without a message. */
int tap_share(struct tap *tap, unsigned int share);

/*
 * Read the next frame; it is valid until the next call. Its time is when the kernel
 * received it, by CLOCK_MONOTONIC: no earlier than that of the frame before, whatever is
 * done to the wall clock meanwhile. False: there is none. Never waits.
 */
bool tap_next(struct tap *tap, struct capture_frame *ret);

/* Return for how many frames so far there was no room: up to 4 MiB wait. */
uint64_t tap_lost(struct tap *tap);

#endif /* TAP_H */
