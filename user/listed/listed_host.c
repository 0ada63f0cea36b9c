// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_host.c - the addresses of this host, and where its servers are asked. Called by
 * listed.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/address.h"
#include "lib/udp_sockets.h"
#include "listed/listed_internal.h"

/* Copy the address of an interface. False: it has none, or one of its link alone. */
static bool interface_address(const struct ifaddrs *i, __be32 ret[4])
{
	const struct sockaddr *at = i->ifa_addr;

	if (!at || i->ifa_flags & IFF_LOOPBACK || !(i->ifa_flags & IFF_UP))
		return false;
	memset(ret, 0, sizeof(__be32[4]));
	if (at->sa_family == AF_INET) {
		ret[2] = htonl(0xffff);
		ret[3] = ((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr;
		return true;
	}
	if (at->sa_family != AF_INET6)
		return false;
	memcpy(ret, &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr,
	       sizeof(__be32[4]));
	return ntohl(ret[0]) >> 22 != 0x3fa; /* fe80::/10 */
}

int listed_addresses_find(struct listed *l)
{
	struct listed_query *q = &l->query;
	struct ifaddrs *all;

	if (q->address_count) {
		l->addresses_named = true;
		return 0;
	}
	if (getifaddrs(&all))
		return -errno;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		if (q->address_count < LISTED_ADDRESSES &&
		    interface_address(i, q->addresses[q->address_count]))
			q->address_count++;
	freeifaddrs(all);
	return 0;
}

/* The sockets at a port. */
struct bound {
	__u16 port;
	bool anywhere; /* one is at any address */
	bool has; /* another is at this one */
	__be32 address[4];
};

static void bound_note(const struct udp_socket *s, void *context)
{
	struct bound *b = context;

	if (s->port != b->port || s->connected)
		return;
	if (address_is_any(s->address)) {
		b->anywhere = true;
	} else if (!b->has) {
		b->has = true;
		memcpy(b->address, s->address, sizeof(b->address));
	}
}

void listed_server_address(__u16 port, __be32 ret[4])
{
	struct bound b = { .port = port };

	udp_sockets_each(bound_note, &b);
	if (b.has && !b.anywhere)
		memcpy(ret, b.address, sizeof(b.address));
	else
		inet_pton(AF_INET6, "::ffff:127.0.0.1", ret);
}
