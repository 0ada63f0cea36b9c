// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * standin.c - a game server as a flood sees one: one thread, one socket, answers of
 * the sizes that real servers were measured to send, 20 snapshots a second to those
 * who joined. It knows no game.
 *
 * The table of answers, then the engine's own limiter (ioquake3's, if asked for), then
 * joining, then the loop. SIGTERM ends it with one JSON object on stdout.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "adaptive.h"
#include "dialect.h"

enum {
	SLOTS = 64,
	FRAME_MS = 50,
	TIMEOUT_MS = 10000,
	SNAPSHOT = 220,
	SIGNON = 2080, /* quakespasm's, sent again each second until acknowledged */
	SIGNON_MS = 1020,
	MESSAGE_MAX = 4096,
	BUCKETS = 1024,
	WAYS = 16,
};

/* payload bytes; the argument of a request is echoed where the engine does */
static const struct answer {
	const char *protocol;
	const char *word;
	struct bytes head;
	unsigned int size;
	bool echo;
	unsigned int more; /* datagrams of the same size that follow */
} cache[] = {
	{ "quake3", "getstatus", BYTES(OOB "statusResponse\n"), 868, true, 0 },
	{ "quake3", "getinfo", BYTES(OOB "infoResponse\n"), 170, true, 0 },
	{ "quake3", "rcon", BYTES(OOB "print\nBad rconpassword.\n"), 28, false, 0 },
	{ "quakeworld", "status", BYTES(OOB "n"), 227, false, 0 },
	{ "quakeworld", "ping", BYTES("l"), 1, false, 0 },
	{ "quakeworld", "lastscores", BYTES(OOB "n"), 1400, false, 3 },
	{ "quakeworld", "rcon", BYTES(OOB "nBad rcon_password.\n"), 25, false, 0 },
	{ "quake2", "status", BYTES(OOB "print\n"), 249, false, 0 },
	{ "quake2", "info", BYTES(OOB "info\n"), 41, false, 0 },
	{ "quake2", "ping", BYTES(OOB "ack"), 7, false, 0 },
	{ "quake2", "rcon", BYTES(OOB "print\nBad rcon_password.\n"), 29, false, 0 },
};

struct peer {
	struct sockaddr_in6 address;
	int fd;
	uint32_t sequence;
	uint32_t heard, moves; /* the last, and how many; old ones are dropped unread */
	uint64_t heard_ms; /* 0: slot is free */
	uint64_t signon_ms;
};

static struct server {
	const struct dialect *dialect;
	int fd;
	bool limits;
	uint64_t secret;
	struct peer peers[SLOTS];
	unsigned long long received, answered, bytes_out, limited, joined;
} server;

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
	(void)number;
	stopping = 1;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void send_to(int fd, const struct sockaddr_in6 *to, const void *data, size_t size)
{
	if (sendto(fd, data, size, 0, (const struct sockaddr *)to, sizeof(*to)) < 0)
		return;
	server.answered++;
	server.bytes_out += size;
}

/* ioquake3's limits: 10 then 1/s an address, 10 then 10/s for all of them -------- */

struct bucket {
	struct in6_addr address;
	uint64_t last_ms;
	unsigned int burst;
};

static bool bucket_full(struct bucket *b, unsigned int burst, unsigned int period_ms,
			uint64_t now)
{
	uint64_t expired = (now - b->last_ms) / period_ms;

	if (expired > b->burst) {
		b->burst = 0;
		b->last_ms = now;
	} else {
		b->burst -= expired;
		b->last_ms += expired * period_ms;
	}
	if (b->burst >= burst)
		return true;
	b->burst++;
	return false;
}

static bool limited(const struct in6_addr *from, uint64_t now)
{
	static struct bucket table[BUCKETS][WAYS], outbound;
	struct bucket *row, *found = NULL;
	uint32_t word;

	if (!server.limits)
		return false;
	memcpy(&word, from->s6_addr + 12, sizeof(word));
	row = table[(word * 2654435761u) >> 22];
	for (int i = 0; i < WAYS && !found; i++)
		if (!memcmp(&row[i].address, from, sizeof(*from)))
			found = &row[i];
	for (int i = 0; i < WAYS && !found; i++)
		if (now - row[i].last_ms > 10000) {
			row[i] = (struct bucket){ *from, now, 0 };
			found = &row[i];
		}
	return !found || bucket_full(found, 10, 1000, now) ||
	       bucket_full(&outbound, 10, 100, now);
}

/* Joining -------------------------------------------------------------------------- */

static unsigned int challenge_of(const struct sockaddr_in6 *from)
{
	uint64_t hash = server.secret;

	for (int i = 0; i < 16; i++)
		hash = (hash ^ from->sin6_addr.s6_addr[i]) * 0x100000001b3ull;
	return (hash >> 32) & 0x7fffffff;
}

static struct peer *peer_find(const struct sockaddr_in6 *from)
{
	for (int i = 0; i < SLOTS; i++)
		if (server.peers[i].heard_ms &&
		    server.peers[i].address.sin6_port == from->sin6_port &&
		    !memcmp(&server.peers[i].address.sin6_addr, &from->sin6_addr, 16))
			return &server.peers[i];
	return NULL;
}

static struct peer *peer_add(const struct sockaddr_in6 *from, uint64_t now)
{
	struct peer *peer = peer_find(from);

	if (peer)
		return peer;
	for (int i = 0; i < SLOTS; i++)
		if (!server.peers[i].heard_ms) {
			server.joined++;
			server.peers[i] = (struct peer){ .address = *from,
							 .fd = server.fd,
							 .heard_ms = now };
			return &server.peers[i];
		}
	return NULL;
}

static void peer_drop(struct peer *peer)
{
	if (peer->fd != server.fd)
		close(peer->fd);
	peer->heard_ms = 0;
}

/* @data: what follows `connect `. */
static void connect_to(const struct sockaddr_in6 *from, const char *data, size_t size,
		       uint64_t now)
{
	static const char refusal[] =
		OOB "print\nNo or bad challenge for your address.\n";
	const struct dialect *d = server.dialect;
	char number[16], text[1024] = "";

	if (d->packed)
		adaptive_unpack((const uint8_t *)data, size, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%.*s", (int)size, data);
	snprintf(number, sizeof(number), "%u", challenge_of(from));
	if (!strstr(text, number))
		send_to(server.fd, from, refusal, sizeof(refusal) - 1);
	else if (peer_add(from, now))
		send_to(server.fd, from, d->accept.data, d->accept.size);
}

/* NetQuake asks no challenge and plays on a port of its own. */
static void connect_netquake(const struct sockaddr_in6 *from, uint64_t now)
{
	struct sockaddr_in6 own = { .sin6_family = AF_INET6 };
	unsigned char accept[9] = { 0x80, 0, 0, 9, 0x81 };
	struct peer *peer = peer_add(from, now);
	socklen_t size = sizeof(own);

	if (!peer)
		return;
	if (peer->fd == server.fd) {
		peer->fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		peer->signon_ms = now;
		if (peer->fd < 0 ||
		    bind(peer->fd, (struct sockaddr *)&own, sizeof(own))) {
			peer_drop(peer);
			return;
		}
	}
	if (getsockname(peer->fd, (struct sockaddr *)&own, &size))
		return;
	accept[5] = ntohs(own.sin6_port) & 0xff;
	accept[6] = ntohs(own.sin6_port) >> 8;
	send_to(server.fd, from, accept, sizeof(accept));
}

/* Requests ------------------------------------------------------------------------- */

static void fill(char *data, size_t from, size_t to)
{
	static const char text[] =
		"\\sv_hostname\\stand-in\\mapname\\oa_dm1\\g_gametype\\0";

	for (size_t i = from; i < to; i++)
		data[i] = text[(i - from) % (sizeof(text) - 1)];
}

static bool reply(const struct sockaddr_in6 *from, const char *word, const char *argument)
{
	char data[MESSAGE_MAX];
	size_t size;

	for (size_t i = 0; i < sizeof(cache) / sizeof(*cache); i++) {
		const struct answer *a = &cache[i];

		if (strcmp(a->protocol, server.dialect->name) != 0 ||
		    strcasecmp(a->word, word) != 0)
			continue;
		memcpy(data, a->head.data, a->head.size);
		fill(data, a->head.size, a->size);
		size = a->size;
		if (a->echo && *argument)
			size += snprintf(data + size, sizeof(data) - size,
					 "\\challenge\\%.128s", argument);
		for (unsigned int n = 0; n <= a->more; n++)
			send_to(server.fd, from, data, size);
		return true;
	}
	return false;
}

static void out_of_band(const struct sockaddr_in6 *from, char *text, size_t length,
			uint64_t now)
{
	const struct dialect *d = server.dialect;
	char *rest = text + strcspn(text, " \n"), data[64];
	int size;

	if (*rest)
		*rest++ = '\0';
	if (!strcasecmp(text, "connect")) {
		connect_to(from, rest, text + length - rest, now);
		return;
	}
	if (limited(&from->sin6_addr, now)) {
		server.limited++;
		return;
	}
	rest[strcspn(rest, "\n")] = '\0';
	if (strcasecmp(text, "getchallenge") != 0) {
		reply(from, text, rest);
		return;
	}
	size = snprintf(data, sizeof(data), "%.*s%u", (int)d->challenge.size,
			d->challenge.data, challenge_of(from));
	send_to(server.fd, from, data, size);
}

static void control(const struct sockaddr_in6 *from, const char *data, size_t size,
		    uint64_t now)
{
	char info[37] = "\x80\0\0\x25\x83"
			"10.77.0.2:26000\0stand-in\0dm1\0\1\x10\3";
	char rule[18] = "\x80\0\0\x12\x85sv_gravity\0"
			"1";

	if (size < 5 || (unsigned char)data[0] != 0x80)
		return;
	if (data[4] == 1)
		connect_netquake(from, now);
	else if (data[4] == 2)
		send_to(server.fd, from, info, sizeof(info));
	else if (data[4] == 4)
		send_to(server.fd, from, rule, sizeof(rule));
}

/* HelloVerifyRequest with a 20-byte cookie: 48 bytes, as openssl s_server sends it. */
static void dtls(const struct sockaddr_in6 *from, const char *data, size_t size)
{
	char hello[48] =
		"\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x23\3\0\0\x17\0\0\0\0\0\0\0\x17\xfe\xff"
		"\x14";

	if (size > 13 && data[0] == 22 && data[13] == 1)
		send_to(server.fd, from, hello, sizeof(hello));
}

static void game_data(struct peer *peer, const char *data, uint64_t now)
{
	bool netquake = !server.dialect->connect;
	uint32_t sequence;

	memcpy(&sequence, data + (netquake ? 4 : 0), sizeof(sequence));
	sequence = netquake ? ntohl(sequence) : sequence & 0x7fffffff;
	if (sequence > peer->heard) {
		peer->heard = sequence;
		peer->moves++;
	}
	peer->heard_ms = now;
	peer->signon_ms = 0;
}

static void receive_one(int fd, char *data, size_t size, const struct sockaddr_in6 *from,
			uint64_t now)
{
	const char *name = server.dialect->name;
	struct peer *peer;

	server.received++;
	if (!strcmp(name, "quake-enhanced")) {
		dtls(from, data, size);
	} else if (size > 4 && !memcmp(data, OOB, 4)) {
		data[size] = '\0';
		out_of_band(from, data + 4, size - 4, now);
	} else if (!strcmp(name, "netquake") && fd == server.fd) {
		control(from, data, size, now);
	} else if (size >= server.dialect->header_to_server) {
		peer = peer_find(from);
		if (peer)
			game_data(peer, data, now);
	}
}

/* The loop ------------------------------------------------------------------------- */

static void receive_all(int fd)
{
	static char data[MESSAGE_MAX];
	struct sockaddr_in6 from = { 0 };
	socklen_t length;
	ssize_t size;

	/* As engines do: drain the socket, but not past the next frame. */
	for (int i = 0; i < 4096; i++) {
		length = sizeof(from);
		size = recvfrom(fd, data, sizeof(data) - 1, MSG_DONTWAIT,
				(struct sockaddr *)&from, &length);
		if (size < 0)
			return;
		receive_one(fd, data, size, &from, now_ms());
	}
}

static void snapshot(struct peer *peer, uint64_t now)
{
	bool netquake = !server.dialect->connect;
	unsigned int size = SNAPSHOT;
	char data[SIGNON] = { 0 };
	uint32_t word;
	float clock;

	if (peer->signon_ms) {
		if (now < peer->signon_ms)
			return;
		peer->signon_ms = now + SIGNON_MS;
		size = SIGNON;
	}
	if (size != SIGNON)
		peer->sequence++;
	word = !netquake	? peer->sequence
	       : size == SIGNON ? htonl(0x00090000 | size)
				: htonl(0x00100000 | size);
	memcpy(data, &word, sizeof(word));
	if (netquake) {
		word = htonl(peer->sequence);
		memcpy(data + 4, &word, sizeof(word));
		clock = now / 1000.0f;
		data[8] = 7; /* svc_time: clients send it back */
		memcpy(data + 9, &clock, sizeof(clock));
		data[13] = 3; /* svc_updatestat: frags, which are moves here */
		data[14] = 1;
		memcpy(data + 15, &peer->moves, sizeof(peer->moves));
	}
	send_to(peer->fd, &peer->address, data, size);
}

static void frame(uint64_t now)
{
	for (int i = 0; i < SLOTS; i++) {
		if (!server.peers[i].heard_ms)
			continue;
		if (now - server.peers[i].heard_ms > TIMEOUT_MS)
			peer_drop(&server.peers[i]);
		else
			snapshot(&server.peers[i], now);
	}
}

static void serve(void)
{
	struct pollfd fds[SLOTS + 1];
	uint64_t next = now_ms(), now;
	int count, wait;

	while (!stopping) {
		count = 0;
		fds[count++] = (struct pollfd){ .fd = server.fd, .events = POLLIN };
		for (int i = 0; i < SLOTS; i++)
			if (server.peers[i].heard_ms && server.peers[i].fd != server.fd)
				fds[count++] = (struct pollfd){ .fd = server.peers[i].fd,
								.events = POLLIN };
		now = now_ms();
		wait = now < next ? next - now : 0;
		poll(fds, count, wait);
		for (int i = 0; i < count; i++)
			if (fds[i].revents)
				receive_all(fds[i].fd);
		now = now_ms();
		if (now < next)
			continue;
		frame(now);
		next = now + FRAME_MS;
	}
}

static int server_open(unsigned int port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int off = 0;

	server.fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (server.fd < 0 ||
	    setsockopt(server.fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) ||
	    bind(server.fd, (struct sockaddr *)&any, sizeof(any)) ||
	    getrandom(&server.secret, sizeof(server.secret), 0) !=
		    sizeof(server.secret)) {
		fprintf(stderr, "standin: port %u: %s\n", port, strerror(errno));
		return -errno;
	}
	return 0;
}

static void report(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	printf("{\"protocol\":\"%s\",\"received\":%llu,\"answered\":%llu,\"bytes_out\":%llu,"
	       "\"limited\":%llu,\"joined\":%llu,\"cpu_seconds\":%.3f}\n",
	       server.dialect->name, server.received, server.answered, server.bytes_out,
	       server.limited, server.joined,
	       use.ru_utime.tv_sec + use.ru_stime.tv_sec +
		       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	int port = argc > 2 ? atoi(argv[2]) : 0;

	server.dialect = argc > 1 ? dialect_find(argv[1]) : NULL;
	server.limits = argc > 3 && !strcmp(argv[3], "--ioq3-limits");
	if (!server.dialect || port < 1 || port > 65535 || argc > 3 + server.limits) {
		fputs("usage: standin PROTOCOL PORT [--ioq3-limits]\n", stderr);
		return 1;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (server_open(port))
		return 1;
	serve();
	report();
	return 0;
}
