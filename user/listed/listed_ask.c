// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listed_ask.c - sending questions and reading the replies: see listed.h. The shield
 * passes the replies: they come to a port that no service has.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "listed/listed.h"

#define ALL_MS	   3000 /* until it ends */
#define AGAIN_MS   1000 /* until some are asked again: send_all() */
#define SETTLE_MS  500 /* after the last datagram of a list without the end's mark */
#define ENDED_MS   200 /* after the end's mark: datagrams that were overtaken */
#define REPLY_MOST 65536 /* bytes of a datagram: Quake II's list is one */
#define PORT_TRIES 16

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- sockets ------------------------------------------------------------- */

static bool is_ipv4(const __be32 address[4])
{
	return !address[0] && !address[1] && address[2] == htonl(0xffff);
}

/* Return a socket at a port of its own that is none of @taken; -1 and errno. */
static int socket_apart(bool ipv4, const bool *taken)
{
	int fds[PORT_TRIES], count = 0, ret = -1, err = EADDRINUSE;

	while (ret < 0 && count < PORT_TRIES) {
		struct sockaddr_in6 at = { .sin6_family = ipv4 ? AF_INET : AF_INET6 };
		socklen_t size = ipv4 ? sizeof(struct sockaddr_in) : sizeof(at);
		int fd = socket(at.sin6_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				0);

		if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) ||
		    getsockname(fd, (struct sockaddr *)&at, &size)) {
			err = errno;
			if (fd >= 0)
				close(fd);
			break;
		}
		/* The port is at the same place in both families. */
		if (taken[ntohs(at.sin6_port)])
			fds[count++] = fd; /* kept, so that the next has another */
		else
			ret = fd;
	}
	while (count)
		close(fds[--count]);
	if (ret < 0)
		errno = err;
	return ret;
}

static void reach(struct listed_ask *ask, const bool *taken)
{
	const __be32 *address = ask->address;
	bool ipv4 = is_ipv4(address);
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(ask->port),
				  .sin_addr.s_addr = address[3] };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_port = htons(ask->port) };

	memcpy(&in6.sin6_addr, address, sizeof(in6.sin6_addr));
	ask->fd = socket_apart(ipv4, taken);
	if (ask->fd < 0 ||
	    connect(ask->fd, ipv4 ? (struct sockaddr *)&in : (struct sockaddr *)&in6,
		    ipv4 ? sizeof(in) : sizeof(in6)))
		ask->error = errno;
}

static void end(struct listed_ask *ask)
{
	if (ask->fd >= 0)
		close(ask->fd);
	ask->fd = -1;
}

/* --- a conversation ------------------------------------------------------ */

static bool lacks(const struct listed_ask *ask)
{
	return ask->lacks && ask->lacks(ask);
}

/*
 * Send the question, if nothing has come yet, or if what has come lacks something. A list
 * that still comes is left to come.
 */
static void send_all(struct listed_ask *asks, size_t count, long now)
{
	for (size_t i = 0; i < count; i++) {
		struct listed_ask *ask = &asks[i];
		bool rests = ask->ended || now - ask->last_ms >= SETTLE_MS;

		if (ask->fd < 0 || (ask->datagrams && !(rests && lacks(ask))))
			continue;
		ask->waits = ask->datagrams;
		if (ask->waits)
			ask->last_ms = now;
		if (send(ask->fd, ask->bytes, ask->n, 0) < 0 && errno != EAGAIN)
			ask->error = errno;
		if (ask->error)
			end(ask);
	}
}

/* Read what has come. False: nothing more is read of it. */
static bool hear(struct listed_ask *ask, long now)
{
	static char reply[REPLY_MOST];

	for (;;) {
		ssize_t n = recv(ask->fd, reply, sizeof(reply), 0);
		enum listed_part part;

		if (n < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return true;
			if (!ask->datagrams)
				ask->error = errno;
			return false;
		}
		if (ask->datagrams == LISTED_DATAGRAMS ||
		    ask->read + (size_t)n > LISTED_BYTES) {
			ask->cut = true;
			return false;
		}
		if (ask->waits) {
			ask->waits = ask->ended = false;
			ask->second = true;
		}
		ask->datagrams++;
		ask->read += (size_t)n;
		ask->last_ms = now;
		part = ask->take(ask, reply, (size_t)n);
		ask->bad += part == LISTED_BAD;
		ask->ended |= part == LISTED_END;
	}
}

/*
 * Return when nothing more is expected of @ask; @until at most. @again: the time of the
 * second question has been.
 */
static long done_ms(const struct listed_ask *ask, bool again, long until)
{
	long done = ask->last_ms + (ask->ended && !ask->waits ? ENDED_MS : SETTLE_MS);

	if (!again && lacks(ask))
		return until;
	return ask->datagrams > ask->bad && done < until ? done : until;
}

/* Wait until @ms for replies, and read them. */
static void hear_all(struct listed_ask *asks, size_t count, struct pollfd *polled,
		     long until)
{
	long now = now_ms();

	for (size_t i = 0; i < count; i++)
		polled[i] = (struct pollfd){ .fd = asks[i].fd, .events = POLLIN };
	if (poll(polled, count, until > now ? (int)(until - now) : 0) <= 0)
		return;
	now = now_ms();
	for (size_t i = 0; i < count; i++)
		if (polled[i].revents && !hear(&asks[i], now))
			end(&asks[i]);
}

static void converse(struct listed_ask *asks, size_t count, struct pollfd *polled)
{
	long began = now_ms(), last = began + ALL_MS;
	bool again = false;

	send_all(asks, count, began);
	for (long now = began; now < last; now = now_ms()) {
		long next = again ? last : began + AGAIN_MS;
		bool open = false;

		if (!again && now >= began + AGAIN_MS) {
			again = true;
			send_all(asks, count, now);
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			long done = done_ms(&asks[i], again, last);

			if (asks[i].fd >= 0 && now >= done)
				end(&asks[i]);
			if (asks[i].fd >= 0 && done < next)
				next = done;
			open |= asks[i].fd >= 0;
		}
		if (!open)
			return;
		hear_all(asks, count, polled, next);
	}
	/* Replies that came in time, while those to another question were read. */
	hear_all(asks, count, polled, last);
}

int listed_ask_all(struct listed_ask *asks, size_t count, const bool *taken)
{
	struct pollfd *polled = calloc(count ? count : 1, sizeof(*polled));

	if (!polled)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		reach(&asks[i], taken);
	converse(asks, count, polled);
	for (size_t i = 0; i < count; i++)
		end(&asks[i]);
	free(polled);
	return 0;
}
