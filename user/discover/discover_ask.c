// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * discover_ask.c - asking: see discover.h. All sockets at once, each from one of ours
 * that is connected to it, so that nothing else is taken for its reply. Those that say
 * nothing within a second are asked again; none is asked three times.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "discover/discover.h"
#include "lib/address.h"
#include "lib/udp_sockets.h"

#define ALL_MS	   2500 /* until it ends */
#define AGAIN_MS   1000 /* until those that are silent are asked again */
#define SETTLE_MS  400 /* after all have answered: further replies of the same servers */
#define REPLY_MOST 16384 /* bytes that are read of one */
#define READ_MOST  16 /* replies of one socket that are read, and count */

struct candidate {
	struct discover_server server;
	bool ipv6; /* of the list of IPv6's */
	int fd; /* -1: it was not to be reached */
	unsigned int signs;
	unsigned int reads;
};

struct search {
	struct candidate *candidates; /* DISCOVER_CANDIDATES */
	size_t count, left_out;
	char nonce[DISCOVER_NONCE];
};

/* A group: what is sent to it leaves the host. */
static bool is_multicast(const __be32 address[4])
{
	if (address_is_ipv4(address))
		return ntohl(address[3]) >> 28 == 0xe;
	return ntohl(address[0]) >> 24 == 0xff;
}

/* An engine has a socket of each family, at any address: that is one server. */
static bool is_same(const struct candidate *c, const struct udp_socket *s)
{
	return c->server.port == s->port &&
	       !memcmp(c->server.address, s->address, sizeof(s->address));
}

static void note(const struct udp_socket *s, void *context)
{
	struct search *search = context;
	struct candidate *c;

	if (s->connected || s->port < DISCOVER_PORT_LEAST ||
	    address_is_loopback(s->address) || is_multicast(s->address))
		return;
	for (size_t i = 0; i < search->count; i++)
		if (is_same(&search->candidates[i], s))
			return;
	if (search->count == DISCOVER_CANDIDATES) {
		search->left_out++;
		return;
	}
	c = &search->candidates[search->count++];
	memset(c, 0, sizeof(*c));
	memcpy(c->server.address, s->address, sizeof(s->address));
	c->server.port = s->port;
	c->server.inode = s->inode;
	c->ipv6 = s->ipv6;
	c->fd = -1;
}

/*
 * Connect to the socket of @c by @ipv4 or IPv6: by loopback, where it is bound to any
 * address. Return the socket, or -1. Called by reach().
 */
static int reach_by(const struct candidate *c, bool ipv4)
{
	const __be32 *address = c->server.address;
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(c->server.port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_port = htons(c->server.port) };
	int fd = socket(ipv4 ? AF_INET : AF_INET6,
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	in.sin_addr.s_addr =
		address_is_any(address) ? htonl(INADDR_LOOPBACK) : address[3];
	if (address_is_any(address))
		in6.sin6_addr = in6addr_loopback;
	else
		memcpy(&in6.sin6_addr, address, sizeof(in6.sin6_addr));
	if (fd >= 0 &&
	    connect(fd, ipv4 ? (struct sockaddr *)&in : (struct sockaddr *)&in6,
		    ipv4 ? sizeof(in) : sizeof(in6))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Connect to the socket of @c. Return a socket of ours, or -1. */
static int reach(const struct candidate *c)
{
	const __be32 *address = c->server.address;
	bool any = address_is_any(address);
	int fd = reach_by(c, any ? !c->ipv6 : address_is_ipv4(address));

	/* A host without IPv6 reaches a socket of both versions by IPv4. */
	return fd < 0 && any && c->ipv6 ? reach_by(c, true) : fd;
}

static void ask(const struct search *search, const struct candidate *c)
{
	char question[DISCOVER_QUESTION];

	for (int i = 0; i < DISCOVER_QUESTIONS; i++)
		send(c->fd, question, discover_question(i, search->nonce, question), 0);
}

/* Read what has come for @c. False: it will not answer any more. */
static bool hear(const struct search *search, struct candidate *c)
{
	static char reply[REPLY_MOST];

	while (c->reads < READ_MOST) {
		struct discover_info info = { .name = "" };
		ssize_t n = recv(c->fd, reply, sizeof(reply), 0);
		unsigned int sign;

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->reads++;
		sign = discover_recognise(reply, (size_t)n, search->nonce, &info);
		if (sign && !c->signs)
			c->server.info = info;
		c->signs |= sign;
	}
	return false;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void end(struct candidate *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* Have all candidates that are still open said something? */
static bool all_known(const struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->candidates[i].fd >= 0 && !search->candidates[i].signs)
			return false;
	return true;
}

static void ask_silent(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->candidates[i].fd >= 0 && !search->candidates[i].signs)
			ask(search, &search->candidates[i]);
}

/* Wait for replies, @ms at most, and read them. */
static void hear_all(struct search *search, struct pollfd *polled, long ms)
{
	for (size_t i = 0; i < search->count; i++)
		polled[i] = (struct pollfd){ .fd = search->candidates[i].fd,
					     .events = POLLIN };
	if (poll(polled, search->count, (int)ms) <= 0)
		return;
	for (size_t i = 0; i < search->count; i++)
		if (polled[i].revents && !hear(search, &search->candidates[i]))
			end(&search->candidates[i]);
}

static void converse(struct search *search, struct pollfd *polled)
{
	long began = now_ms(), last = began;
	bool again = false;

	ask_silent(search);
	for (long now = began; now - began < ALL_MS; now = now_ms()) {
		long until = again ? began + ALL_MS : began + AGAIN_MS;

		if (!all_known(search))
			last = now;
		else if (now - last >= SETTLE_MS)
			return;
		if (!again && now >= until) {
			again = true;
			ask_silent(search);
			continue;
		}
		if (all_known(search) && last + SETTLE_MS < until)
			until = last + SETTLE_MS;
		hear_all(search, polled, until > now ? until - now : 1);
	}
}

static void collect(struct search *search, struct discover_servers *ret)
{
	for (size_t i = 0; i < search->count; i++) {
		struct candidate *c = &search->candidates[i];

		end(c);
		if (!c->signs)
			continue;
		if (ret->count == DISCOVER_SERVERS) {
			ret->left_out++;
			continue;
		}
		c->server.family = discover_decide(c->signs);
		ret->rows[ret->count++] = c->server;
	}
	ret->left_out += search->left_out;
}

int discover_here(struct discover_servers *ret)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	struct search search = { .candidates = calloc(DISCOVER_CANDIDATES,
						      sizeof(*search.candidates)) };
	struct pollfd *polled = calloc(DISCOVER_CANDIDATES, sizeof(*polled));
	unsigned char random[DISCOVER_NONCE] = { 0 };
	int err = search.candidates && polled ? 0 : -ENOMEM;

	if (!err && getrandom(random, sizeof(random), 0) < 0)
		err = -errno;
	for (int i = 0; i < DISCOVER_NONCE; i++)
		search.nonce[i] = digits[random[i] % 32];
	if (!err && !udp_sockets_each(note, &search))
		err = -ENOENT;
	for (size_t i = 0; !err && i < search.count; i++)
		search.candidates[i].fd = reach(&search.candidates[i]);
	if (!err) {
		converse(&search, polled);
		collect(&search, ret);
	}
	free(search.candidates);
	free(polled);
	return err;
}
