/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * udp_sockets.h - which UDP sockets this network namespace has, and which addresses, as
 * the kernel lists them now. Any user may read it; nothing is kept between calls.
 */
#ifndef UDP_SOCKETS_H
#define UDP_SOCKETS_H

#include <linux/types.h>
#include <stdbool.h>

#define UDP_SOCKETS_MAX 65536 /* lines of a list that are read */

struct udp_socket {
	__be32 address[4]; /* bound to; IPv4 in ::ffff:0:0/96; zero: any */
	__u16 port;
	__u32 user; /* uid + 1 */
	bool ipv6; /* in the list of IPv6's: at any address it may take IPv4, too */
	bool connected; /* it receives from one peer alone */
	__u64 inode;
};

/* Read a line of /proc/net/udp or udp6. Returns false if the line names no socket. */
bool udp_socket_read(const char *line, struct udp_socket *ret);

/* Call @each with each bound socket. Returns false if the kernel's lists cannot be read.
 */
bool udp_sockets_each(void (*each)(const struct udp_socket *socket, void *context),
		      void *context);

/*
 * Return true if @address belongs to this host. With net.ipv4.ip_nonlocal_bind every one
 * seems to.
 */
bool address_is_here(const __be32 address[4]);

#endif /* UDP_SOCKETS_H */
