// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listen.c - see listen.h.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/listen.h"

static const __u8 mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* "192.0.2.1", "[2001:db8::1]" or "localhost". */
static bool host_parse(const char *text, size_t length, __u8 ret[16])
{
	char host[INET6_ADDRSTRLEN + 2];

	if (length >= sizeof(host))
		return false;
	memcpy(host, text, length);
	host[length] = 0;
	if (!strcasecmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	if (host[0] == '[' && length > 2 && host[length - 1] == ']') {
		host[length - 1] = 0;
		return inet_pton(AF_INET6, host + 1, ret) == 1;
	}
	if (inet_pton(AF_INET, host, ret + 12) != 1)
		return false;
	memcpy(ret, mapped, sizeof(mapped));
	return true;
}

/* The port behind @colon; 0: none. */
static __u16 port_parse(const char *colon)
{
	char *end;
	unsigned long port;

	if (!isdigit((unsigned char)colon[1]) || strlen(colon) > 6)
		return 0;
	port = strtoul(colon + 1, &end, 10);
	return *end || port > 65535 ? 0 : (__u16)port;
}

const char *listen_parse(const char *text, struct listen_at *ret)
{
	const char *colon = strrchr(text, ':');
	__u8 addr[16];
	__u16 port;

	if (!strcmp(text, "off")) {
		ret->off = true;
		return NULL;
	}
	port = colon ? port_parse(colon) : 0;
	if (!port || !host_parse(text, (size_t)(colon - text), addr))
		return "is neither off nor an address and a port like 127.0.0.1:9127 or "
		       "[::1]:9127";
	ret->off = false;
	ret->port = port;
	memcpy(ret->addr, addr, sizeof(addr));
	return NULL;
}

void listen_format(const struct listen_at *at, char ret[LISTEN_TEXT])
{
	char host[INET6_ADDRSTRLEN];

	if (at->off) {
		strcpy(ret, "off");
	} else if (!memcmp(at->addr, mapped, sizeof(mapped))) {
		inet_ntop(AF_INET, at->addr + 12, host, sizeof(host));
		snprintf(ret, LISTEN_TEXT, "%s:%u", host, at->port);
	} else {
		inet_ntop(AF_INET6, at->addr, host, sizeof(host));
		snprintf(ret, LISTEN_TEXT, "[%s]:%u", host, at->port);
	}
}

static bool addr_loopback(const __u8 addr[16])
{
	static const __u8 one[16] = { [15] = 1 };

	if (!memcmp(addr, mapped, sizeof(mapped)))
		return addr[12] == 127;
	return !memcmp(addr, one, sizeof(one));
}

bool listen_loopback(const struct listen_at *at)
{
	return at->off || addr_loopback(at->addr);
}

bool listen_equal(const struct listen_at *a, const struct listen_at *b)
{
	if (a->off || b->off)
		return a->off == b->off;
	return a->port == b->port && a->public == b->public &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

void listen_sockaddr(const struct listen_at *at, struct sockaddr_storage *ret,
		     socklen_t *ret_length)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (!memcmp(at->addr, mapped, sizeof(mapped))) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(at->port);
		memcpy(&v4->sin_addr, at->addr + 12, 4);
		*ret_length = sizeof(*v4);
	} else {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(at->port);
		memcpy(&v6->sin6_addr, at->addr, 16);
		*ret_length = sizeof(*v6);
	}
}

bool listen_host_local(const char *host)
{
	const char *bracket = strrchr(host, ']');
	const char *colon = strchr(bracket ? bracket : host, ':');
	__u8 addr[16];

	if (colon && !port_parse(colon))
		return false;
	return host_parse(host, colon ? (size_t)(colon - host) : strlen(host), addr) &&
	       addr_loopback(addr);
}
