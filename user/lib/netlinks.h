/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlinks.h - the interfaces of this network namespace, and which of them pass each
 * other's frames on: a bridge and its members, a bond and its slaves, a VLAN or macvlan
 * and the interface below it. A tunnel (GRE, WireGuard) has none: below it travel other
 * frames.
 */
#ifndef NETLINKS_H
#define NETLINKS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#define NETLINKS_MAX 1024
#define NETLINK_KIND 16 /* bytes of a kind's name, with the NUL */

struct netlink_row {
	int index;
	int master; /* bridge, bond, team or VRF that this is part of; 0: none */
	int parent; /* interface below a VLAN, macvlan or ipvlan; 0: none, or elsewhere */
	bool loopback, up; /* up: it is, and so is its carrier */
	bool enabled; /* it is up, with a carrier or without */
	bool dormant; /* it waits for another program, such as an 802.1X supplicant */
	unsigned long long received; /* frames, as the driver counts them */
	unsigned short type; /* ARPHRD_*: 1 is Ethernet */
	char kind[NETLINK_KIND]; /* "bridge", "vlan", "veth", ...; "": hardware */
	char name[IF_NAMESIZE];
};

/* Fill @ret; how many there are, at most NETLINKS_MAX; or -errno without a message. */
int netlinks_read(struct netlink_row ret[NETLINKS_MAX]);

/* Read the interface @index alone. 0, or -errno without a message: there is none. */
int netlinks_one(int index, struct netlink_row *ret);

/* Return the row of the interface @index, or NULL. 0 has none. */
const struct netlink_row *netlinks_row(const struct netlink_row *rows, size_t count,
				       int index);

/*
 * Return true if a frame that arrives at @above comes in by @below, another interface, in
 * the same frame. @rows: of netlinks_read().
 */
bool netlinks_over(const struct netlink_row *rows, size_t count, int above, int below);

#endif /* NETLINKS_H */
