/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address.h - what kind an IP address is. An IPv4 address is one in ::ffff:0:0/96.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

/* Return true if @address is ::, which a socket has that is bound to none. */
static inline bool address_is_any(const __be32 address[4])
{
	return !(address[0] | address[1] | address[2] | address[3]);
}

static inline bool address_is_ipv4(const __be32 address[4])
{
	return !address[0] && !address[1] && address[2] == htonl(0xffff);
}

/* Return true if @address is ::1 or in 127.0.0.0/8. */
static inline bool address_is_loopback(const __be32 address[4])
{
	if (address_is_ipv4(address))
		return ntohl(address[3]) >> 24 == 127;
	return !address[0] && !address[1] && !address[2] && address[3] == htonl(1);
}

/* Put the IP address of @n bytes at @bytes, 4 or 16 (0: ::), into @ret. */
static inline void address_of(const void *bytes, size_t n, __be32 ret[4])
{
	memset(ret, 0, 4 * sizeof(*ret));
	if (n == 4)
		ret[2] = htonl(0xffff);
	memcpy(n == 4 ? &ret[3] : ret, bytes, n);
}

#endif /* ADDRESS_H */
