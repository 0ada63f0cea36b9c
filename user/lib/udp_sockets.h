/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * udp_sockets.h - which UDP sockets this network namespace has, and which addresses.
 */
#ifndef UDP_SOCKETS_H
#define UDP_SOCKETS_H

#include <linux/types.h>
#include <stdbool.h>

/*
 * Call @each with the local address (IPv4 in ::ffff:0:0/96; all zero: any) and port of
 * each bound socket. Returns false if the kernel's lists cannot be read.
 */
bool udp_sockets_each(void (*each)(const __be32 address[4], __u16 port, void *context),
		      void *context);

/* Does @address belong to this host? With net.ipv4.ip_nonlocal_bind every one seems to.
 */
bool address_is_here(const __be32 address[4]);

#endif /* UDP_SOCKETS_H */
