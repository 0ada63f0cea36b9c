/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arrivals.h - by which interfaces UDP datagrams come in where no program of the shield
 * decides about them.
 *
 * A packet socket with a filter in the kernel: it receives the first bytes of datagrams
 * to chosen ports that an XDP program has let pass, on chosen interfaces. Datagrams that
 * leave and broadcasts are not shown. The queue is small: a flood costs the filter, and
 * no memory.
 */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <linux/types.h>
#include <stddef.h>

#define ARRIVALS_SKIPPED 48 /* interfaces */
#define ARRIVALS_PORTS	 512 /* UDP ports */

struct arrival {
	int ifindex;
	__be32 to[4]; /* IPv4 in ::ffff:0:0/96 */
	__u16 port;
};

/*
 * Open a packet socket to which nothing arrives yet. Returns the descriptor, or -errno
 * without a message: it needs CAP_NET_RAW.
 */
int arrivals_open(void);

/*
 * Show what is sent to @ports at all interfaces but those in @skipped, from now on; and
 * forget what has come so far. 0 or -errno without a message.
 */
int arrivals_listen(int fd, const __u16 *ports, size_t port_count, const int *skipped,
		    size_t skipped_count);

/* Read the next arrival into *@ret. Returns 0 if there is none. Never waits. */
int arrivals_next(int fd, struct arrival *ret);

#endif /* ARRIVALS_H */
