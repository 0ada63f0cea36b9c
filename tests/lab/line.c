// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * line.c - the lines of several players to one server, each with its own loss and delay
 * in each direction, which change while they play.
 *
 *	line --to ADDRESS --port N --listen PORT --from ADDRESS...
 *
 * Player n, counted from 1, sends to 127.0.0.1, port PORT + n, and comes to the server
 * from the nth --from address. Each line on standard input is PLAYER WAY LOSS DELAY
 * [DUPLICATED REORDERED]: PLAYER is a number or *, WAY is up (to the server), down or *,
 * DELAY is in milliseconds, the others are per cent. A reordered datagram overtakes the
 * one before it, if that is still on its way. The end of standard input is the end. A
 * datagram for which a queue has no room is lost.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	PLAYERS = 16,
	QUEUE = 512, /* datagrams on their way, in one direction */
	DATAGRAM = 1500,
	UP = 0, /* to the server */
	DOWN = 1,
};

struct way {
	unsigned int loss, duplicated, reordered; /* per cent */
	unsigned int delay_ms;
	unsigned int first, count; /* of the queue */
	struct {
		uint64_t due_ms;
		size_t size;
		char data[DATAGRAM];
	} queue[QUEUE];
};

static struct line {
	int fd[2]; /* from which a way is read: the player's, the server's */
	struct sockaddr_in player; /* port 0: it has not sent yet */
	struct way way[2];
} lines[PLAYERS];
static int count;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* The same dice in each run. */
static unsigned int dice(unsigned int sides)
{
	static uint64_t state = 0x9e3779b97f4a7c15ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 33) % sides;
}

static void deliver(struct line *l, int way, const void *data, size_t size)
{
	if (way == UP)
		send(l->fd[DOWN], data, size, 0);
	else if (l->player.sin_port)
		sendto(l->fd[UP], data, size, 0, (struct sockaddr *)&l->player,
		       sizeof(l->player));
}

/* Send what is due; returns when the next one is, or 0: none waits. */
static uint64_t deliver_due(struct line *l, int way, uint64_t now)
{
	struct way *w = &l->way[way];

	for (; w->count; w->count--, w->first = (w->first + 1) % QUEUE) {
		if (w->queue[w->first].due_ms > now)
			return w->queue[w->first].due_ms;
		deliver(l, way, w->queue[w->first].data, w->queue[w->first].size);
	}
	return 0;
}

static void put(struct way *w, const char *data, size_t size, uint64_t due_ms)
{
	unsigned int at = (w->first + w->count) % QUEUE,
		     before = (at + QUEUE - 1) % QUEUE;

	if (w->count == QUEUE)
		return;
	if (w->count && w->reordered && dice(100) < w->reordered) {
		w->queue[at] = w->queue[before];
		w->queue[at].due_ms = due_ms;
		at = before;
		due_ms = w->queue[before].due_ms;
	}
	w->count++;
	w->queue[at].due_ms = due_ms;
	w->queue[at].size = size;
	memcpy(w->queue[at].data, data, size);
}

static void take(struct line *l, int way, uint64_t now)
{
	struct way *w = &l->way[way];
	struct sockaddr_in from = { 0 };
	socklen_t length = sizeof(from);
	char data[DATAGRAM];
	ssize_t size;

	while ((size = recvfrom(l->fd[way], data, sizeof(data), MSG_DONTWAIT,
				(struct sockaddr *)&from, &length)) >= 0) {
		if (way == UP)
			l->player = from;
		if (dice(100) < w->loss)
			continue;
		put(w, data, (size_t)size, now + w->delay_ms);
		if (w->duplicated && dice(100) < w->duplicated)
			put(w, data, (size_t)size, now + w->delay_ms);
	}
}

/* One line of standard input; false: it is none. */
static bool change(const char *text)
{
	char player[8], way[8];
	unsigned int loss, delay_ms, duplicated = 0, reordered = 0;
	int n = sscanf(text, "%7s %7s %u %u %u %u", player, way, &loss, &delay_ms,
		       &duplicated, &reordered);

	if (n != 4 && n != 6)
		return false;
	for (int i = 0; i < count; i++)
		for (int w = UP; w <= DOWN; w++)
			if ((*player == '*' || atoi(player) == i + 1) &&
			    (*way == '*' || !strcmp(way, w == UP ? "up" : "down"))) {
				lines[i].way[w].loss = loss;
				lines[i].way[w].delay_ms = delay_ms;
				lines[i].way[w].duplicated = duplicated;
				lines[i].way[w].reordered = reordered;
			}
	return true;
}

/* False: standard input has ended. */
static bool read_changes(void)
{
	static char text[4096];
	static size_t n;
	ssize_t got = read(STDIN_FILENO, text + n, sizeof(text) - 1 - n);
	char *end;

	if (got <= 0)
		return false;
	n += (size_t)got;
	text[n] = 0;
	while ((end = strchr(text, '\n'))) {
		*end = 0;
		if (!change(text))
			fprintf(stderr, "line: not understood: %s\n", text);
		n -= (size_t)(end + 1 - text);
		memmove(text, end + 1, n + 1);
	}
	return n < sizeof(text) - 1;
}

static void serve(void)
{
	struct pollfd fds[2 * PLAYERS + 1];
	uint64_t next, now, due;
	int n;

	for (;;) {
		next = 0;
		now = now_ms();
		n = 0;
		for (int i = 0; i < count; i++)
			for (int w = UP; w <= DOWN; w++) {
				due = deliver_due(&lines[i], w, now);
				if (due && (!next || due < next))
					next = due;
				fds[n++] = (struct pollfd){ lines[i].fd[w], POLLIN, 0 };
			}
		fds[n++] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
		poll(fds, (nfds_t)n, next ? (int)(next - now) : -1);
		now = now_ms();
		for (int i = 0; i < n - 1; i++)
			if (fds[i].revents)
				take(&lines[i / 2], i % 2, now);
		if (fds[n - 1].revents && !read_changes())
			return;
	}
}

static int bound(const char *address, unsigned int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		fprintf(stderr, "line: %s port %u: %s\n", address, port, strerror(errno));
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "to", 1, NULL, 't' },
					       { "port", 1, NULL, 'p' },
					       { "listen", 1, NULL, 'l' },
					       { "from", 1, NULL, 'f' },
					       { NULL, 0, NULL, 0 } };
	struct sockaddr_in to = { .sin_family = AF_INET };
	unsigned int listen_port = 0;
	const char *from[PLAYERS];
	int letter;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 't')
			inet_pton(AF_INET, optarg, &to.sin_addr);
		else if (letter == 'p')
			to.sin_port = htons(atoi(optarg));
		else if (letter == 'l')
			listen_port = (unsigned int)atoi(optarg);
		else if (letter == 'f' && count < PLAYERS)
			from[count++] = optarg;
	}
	if (!to.sin_port || !to.sin_addr.s_addr || !listen_port || !count) {
		fputs("usage: line --to ADDRESS --port N --listen PORT --from ADDRESS...\n",
		      stderr);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		lines[i].fd[UP] = bound("127.0.0.1", listen_port + (unsigned int)i + 1);
		lines[i].fd[DOWN] = bound(from[i], 0);
		if (connect(lines[i].fd[DOWN], (struct sockaddr *)&to, sizeof(to))) {
			perror("line: connect");
			return 1;
		}
	}
	serve();
	return 0;
}
