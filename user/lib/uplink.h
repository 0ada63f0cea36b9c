/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uplink.h - by which interface the internet reaches this host: the default route, and
 * the interface below it at which its frames come in first.
 */
#ifndef UPLINK_H
#define UPLINK_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/netlinks.h"

/*
 * Find the interface of the default route with the lowest metric in @file, which has the
 * format of /proc/net/route or, with @ipv6, of /proc/net/ipv6_route. False: it has none.
 */
bool uplink_route_read(FILE *file, bool ipv6, char ret[IF_NAMESIZE]);

/* Find the same for this network namespace. */
bool uplink_route(bool ipv6, char ret[IF_NAMESIZE]);

/*
 * Find the ports of the bridge @index that may lead outside: all but veths and taps,
 * which lead to containers and virtual machines, and tunnels; or all of a bond, team or
 * VRF. At most @max; returns how many.
 */
size_t uplink_ports(const struct netlink_row *rows, size_t count, int index, int *ret,
		    size_t max);

/*
 * Return the interface, @index or one below it, at which frames to @index come in first
 * and together, if they come from outside: below a VLAN or macvlan, and a bridge's only
 * port that may lead there, or its only port. A bond stays: native XDP runs on its
 * slaves.
 */
int uplink_below(const struct netlink_row *rows, size_t count, int index);

/* Return true if frames for @route pass @index: it is @route, or below or above it. */
bool uplink_is_on(const struct netlink_row *rows, size_t count, int route, int index);

#endif /* UPLINK_H */
