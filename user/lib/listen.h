/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listen.h - an address and a port to listen on, as "127.0.0.1:9127" or "[::1]:9127", for
 * the key `listen` and http.c. Pure.
 */
#ifndef LISTEN_H
#define LISTEN_H

#include <linux/types.h>
#include <stdbool.h>
#include <sys/socket.h>

struct listen_at {
	bool off;
	bool public; /* other addresses than loopback are allowed */
	__u8 addr[16]; /* IPv4 in ::ffff:0:0/96 */
	__u16 port;
};

/*
 * Read "off", or an address with a port. NULL, or what is wrong with @text as words that
 * follow its quotation; then *@ret is untouched. Leaves ret->public alone.
 */
const char *listen_parse(const char *text, struct listen_at *ret);

#define LISTEN_TEXT 64
/* Write @at as listen_parse() reads it: "off", "127.0.0.1:9127" or "[::1]:9127". */
void listen_format(const struct listen_at *at, char ret[LISTEN_TEXT]);

/* Return true if only this machine can connect: a loopback address, or off. */
bool listen_loopback(const struct listen_at *at);
/* Return true if both mean the same socket. */
bool listen_equal(const struct listen_at *a, const struct listen_at *b);

/*
 * Fill @ret and *@ret_length for bind(2): AF_INET for IPv4, else AF_INET6. @at must not
 * be off.
 */
void listen_sockaddr(const struct listen_at *at, struct sockaddr_storage *ret,
		     socklen_t *ret_length);

/* Return true if @host, as a Host: header has it, names this machine's loopback. */
bool listen_host_local(const char *host);

#endif /* LISTEN_H */
