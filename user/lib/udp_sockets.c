// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * udp_sockets.c - see udp_sockets.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/udp_sockets.h"

/* "  12: 0100007F:6D38 ...": the words of an address in hex, as they lie in memory. */
bool udp_socket_read(const char *line, struct udp_socket *ret)
{
	unsigned int word[4], port, uid;
	unsigned long long inode;
	char peer[42]; /* an address of IPv6, ":", a port, NUL */

	memset(ret, 0, sizeof(*ret));
	if (sscanf(line, " %*u: %8x%8x%8x%8x:%4x %41s %*s %*s %*s %*s %u %*s %llu",
		   &word[0], &word[1], &word[2], &word[3], &port, peer, &uid,
		   &inode) == 8) {
		memcpy(ret->address, word, sizeof(word));
		ret->ipv6 = true;
	} else if (sscanf(line, " %*u: %8x:%4x %41s %*s %*s %*s %*s %u %*s %llu",
			  &word[0], &port, peer, &uid, &inode) == 5) {
		ret->address[2] = word[0] ? htonl(0xffff) : 0;
		ret->address[3] = word[0];
	} else {
		return false;
	}
	ret->port = (__u16)port;
	ret->user = uid + 1;
	ret->connected = strspn(peer, "0:") != strlen(peer);
	ret->inode = inode;
	return true;
}

bool udp_sockets_each(void (*each)(const struct udp_socket *socket, void *context),
		      void *context)
{
	static const char *const lists[] = { "/proc/self/net/udp",
					     "/proc/self/net/udp6" };
	struct udp_socket socket;
	char line[256];
	bool read = false;

	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(lists[i], "re");

		for (int n = 0;
		     file && n < UDP_SOCKETS_MAX && fgets(line, sizeof(line), file); n++)
			if (udp_socket_read(line, &socket))
				each(&socket, context);
		read |= file != NULL;
		if (file)
			fclose(file);
	}
	return read;
}

bool address_is_here(const __be32 address[4])
{
	bool ipv4 = address_is_ipv4(address);
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool here;

	memcpy(&in.sin_addr, &address[3], sizeof(in.sin_addr));
	memcpy(&in6.sin6_addr, address, sizeof(in6.sin6_addr));
	/* Linked to an interface that is not named: any other error than this is no news.
	 */
	here = fd < 0 ||
	       !bind(fd, ipv4 ? (struct sockaddr *)&in : (struct sockaddr *)&in6,
		     ipv4 ? sizeof(in) : sizeof(in6)) ||
	       errno != EADDRNOTAVAIL;
	if (fd >= 0)
		close(fd);
	return here;
}
