// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * client.c - the people whom a shield exists for: one who looks at the server list
 * and one who joins and plays.
 *
 * The browser asks from a fresh port each time and waits a second; asked by `echo`
 * whether it is there, it says so, unless it is --mute, as trackers and many browsers
 * are. --log writes down what became of each query: its number, the name of the question,
 * and the answer in hex, or `-`. The player asks for a challenge and connects, repeating
 * each step every 3 s as the engines do, then sends 30 moves a second and counts the
 * snapshots by their sequence, and the moves that the server says it has heard: each
 * sequence that a QuakeWorld or Quake II server acknowledges, or what the stand-in tells
 * a NetQuake player. With --look it looks at the list first (its second question), then
 * at this server (the first one), from the same port, until both are answered or so many
 * seconds are over; with --mute, too, it echoes nothing until it joins, as ioquake3's
 * since 2017. After SIGUSR1 it reports what was since; of loss always all of it; and with
 * --moves it ends so many moves later, whatever time they take. Moves that the server has
 * not yet said it has heard get a while more at the end: it may wait for a processor.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "adaptive.h"
#include "client_options.h"
#include "dialect.h"

enum {
	QUERY_TIMEOUT_MS = 1000,
	RETRANSMIT_MS = 3000,
	LOOK_STATUS_MS = 750, /* ioquake3's cl_serverStatusResendTime */
	LOOK_INFO_MS = 1000, /* somebody who cannot wait refreshes the list */
	SEND_MS = 33,
	DRAIN_MS = 300, /* the end of a game: the answers to what was sent last */
	LINGER_MS = 5000, /* and for those that a server owes after that */
	QPORT = 4321,
};

struct query {
	int fd; /* -1: free */
	int kind;
	unsigned long long number;
	uint64_t due_ms;
};

enum stage {
	STAGE_LOOK,
	STAGE_CHALLENGE,
	STAGE_CONNECT,
	STAGE_PLAYING
};

struct player {
	enum stage stage;
	int fd;
	int challenge;
	uint64_t next_ms, joined_ms;
	uint64_t look_ms[2], looked_ms[2]; /* each question: next time; answered, or 0 */
	uint32_t sent, first, last, ack;
	char clock[4]; /* NetQuake: the server's, sent last */
	uint32_t heard; /* moves, by the server */
	uint32_t moves_before; /* SIGUSR1 */
	uint32_t moves_end; /* 0: the time ends it */
	unsigned long long snapshots, snapshots_before, tries;
	bool refused;
};

static struct {
	struct options o;
	struct query queries[QUERIES_MAX];
	struct player player;
	unsigned long long asked, answered, bytes_in;
	uint64_t start_ms, end_ms;
} client;

static volatile sig_atomic_t stopping, marked;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		marked = 1;
	else
		stopping = 1;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static int socket_open(int nth, const char *port)
{
	const struct options *o = &client.o;
	struct addrinfo hints = { .ai_family = o->to->ai_family,
				  .ai_flags = AI_NUMERICHOST | AI_PASSIVE,
				  .ai_socktype = SOCK_DGRAM },
			*own = NULL;
	int fd = socket(o->to->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *from = o->from_count ? o->from[nth % o->from_count] : NULL;

	if (fd < 0)
		return -1;
	if (((from || port) && (getaddrinfo(from, port, &hints, &own) ||
				bind(fd, own->ai_addr, own->ai_addrlen))) ||
	    connect(fd, o->to->ai_addr, o->to->ai_addrlen)) {
		close(fd);
		fd = -1;
	}
	if (own)
		freeaddrinfo(own);
	return fd;
}

/* As stock clients of Quake II and III do: what the server has echoed goes back to it. */
static bool echoed(int fd, const char *data, size_t size, bool mute)
{
	static const struct bytes echo = BYTES(OOB "echo ");
	char back[4096];

	if (!begins(data, size, echo))
		return false;
	if (mute)
		return true;
	memcpy(back, OOB, 4);
	memcpy(back + 4, data + echo.size, size - echo.size);
	send(fd, back, 4 + size - echo.size, 0);
	return true;
}

/* The browser ------------------------------------------------------------------------ */

/* @size octets of an answer; 0: there is none. */
static void query_end(struct query *q, const char *data, size_t size)
{
	FILE *log = client.o.log;

	if (log) {
		fprintf(log, "%llu %s %s", q->number, client.o.dialect->query[q->kind],
			size ? "" : "-");
		for (size_t i = 0; i < size; i++)
			fprintf(log, "%02x", (unsigned char)data[i]);
		fputc('\n', log);
	}
	close(q->fd);
	q->fd = -1;
}

static bool query_send(int fd, int kind)
{
	const struct payload *payload = payload_find(client.o.dialect->query[kind]);

	return send(fd, payload->bytes, payload->size, 0) >= 0;
}

static void query_start(uint64_t now)
{
	struct query *q = NULL;

	for (int i = 0; i < QUERIES_MAX && !q; i++)
		if (client.queries[i].fd < 0)
			q = &client.queries[i];
	if (!q)
		return;
	q->fd = socket_open(client.asked, NULL);
	if (q->fd < 0)
		return;
	q->number = client.asked++;
	q->kind = (int)(q->number % 2);
	q->due_ms = now + QUERY_TIMEOUT_MS;
	if (!query_send(q->fd, q->kind))
		query_end(q, NULL, 0);
}

static void query_receive(struct query *q)
{
	char data[4096];
	ssize_t size = recv(q->fd, data, sizeof(data), 0);

	if (size < 0)
		return;
	client.bytes_in += size;
	if (echoed(q->fd, data, size, client.o.mute))
		return;
	if (begins(data, size, client.o.dialect->answer[q->kind]))
		client.answered++;
	else
		size = 0;
	query_end(q, data, (size_t)size);
}

static void queries_run(uint64_t now, bool asking)
{
	for (int i = 0; i < QUERIES_MAX; i++)
		if (client.queries[i].fd >= 0 && now >= client.queries[i].due_ms)
			query_end(&client.queries[i], NULL, 0);
	while (asking && client.asked < (now - client.start_ms) * client.o.rate / 1000) {
		unsigned long long before = client.asked;

		query_start(now);
		if (client.asked == before)
			break;
	}
}

/* The player ------------------------------------------------------------------------- */

/* It has as many octets as the headers differ by. */
static uint32_t qport(const struct dialect *d)
{
	return d->header_to_server - d->header_to_client == 1 ? QPORT & 0xff : QPORT;
}

static void player_send(struct player *p)
{
	const struct dialect *d = client.o.dialect;
	unsigned char data[40] = { 0 };
	uint32_t word = ++p->sent;

	if (!d->connect) {
		word = htonl(0x00100000 | (uint32_t)sizeof(data));
		memcpy(data, &word, sizeof(word));
		word = htonl(p->sent);
		memcpy(data + 4, &word, sizeof(word));
		data[8] = 3; /* clc_move */
		memcpy(data + 9, p->clock, sizeof(p->clock));
	} else {
		/* clc_nop: on a real QuakeWorld server a zero ends the session. */
		memset(data + d->header_to_server, !strcmp(d->name, "quakeworld"),
		       sizeof(data) - d->header_to_server);
		memcpy(data, &word, sizeof(word));
		if (d->header_to_client == 8)
			memcpy(data + 4, &p->last, sizeof(p->last));
		word = qport(d);
		memcpy(data + d->header_to_client, &word,
		       d->header_to_server - d->header_to_client);
	}
	send(p->fd, data, sizeof(data), 0);
}

/* Quake III packs what follows the word. */
static size_t connect_build(const struct dialect *d, const char *text, size_t size,
			    char *data, size_t max)
{
	static const struct bytes word = BYTES(OOB "connect ");

	memcpy(data, word.data, word.size);
	if (d->packed)
		return 12 + adaptive_pack(text, size, (uint8_t *)data + 12, max - 12);
	memcpy(data + 12, text, size);
	return 12 + size;
}

static void player_ask(struct player *p)
{
	const struct dialect *d = client.o.dialect;
	const struct payload *payload;
	char text[512], data[1024];
	int size;

	p->tries++;
	if (p->stage == STAGE_CHALLENGE) {
		send(p->fd, d->ask.data, d->ask.size, 0);
	} else if (!d->connect) {
		payload = payload_find("ccreq-connect");
		send(p->fd, payload->bytes, payload->size, 0);
	} else {
		/* OpenArena refuses a GUID that another client has. */
		size = snprintf(text, sizeof(text), d->connect, p->challenge, qport(d),
				(unsigned int)getpid());
		send(p->fd, data, connect_build(d, text, size, data, sizeof(data)), 0);
	}
}

static void player_look(struct player *p, uint64_t now)
{
	int kind = p->looked_ms[1] ? 0 : 1;

	if (p->looked_ms[0] || now >= client.start_ms + client.o.look * 1000ull) {
		p->stage = STAGE_CHALLENGE;
		return;
	}
	if (now < p->look_ms[kind])
		return;
	query_send(p->fd, kind);
	p->look_ms[kind] = now + (kind ? LOOK_INFO_MS : LOOK_STATUS_MS);
}

static void player_run(struct player *p, uint64_t now)
{
	if (p->fd < 0 || now < p->next_ms)
		return;
	if (p->stage == STAGE_LOOK)
		player_look(p, now);
	else if (p->stage == STAGE_PLAYING) {
		if (p->moves_end && p->sent >= p->moves_end &&
		    now + DRAIN_MS < client.end_ms)
			client.end_ms = now + DRAIN_MS;
		if (now + DRAIN_MS >= client.end_ms)
			return;
		player_send(p);
		p->next_ms += SEND_MS;
		if (p->next_ms < now)
			p->next_ms = now + SEND_MS;
	} else {
		player_ask(p);
		p->next_ms = now + RETRANSMIT_MS;
	}
}

/* NetQuake's accept names the port to play on. */
static void player_accepted(struct player *p, const char *data, size_t size, uint64_t now)
{
	struct sockaddr_storage to;

	memcpy(&to, client.o.to->ai_addr, client.o.to->ai_addrlen);
	if (!client.o.dialect->connect && size >= 9) {
		/* The same place in sockaddr_in and sockaddr_in6. */
		((struct sockaddr_in *)&to)->sin_port =
			htons((unsigned char)data[5] | (unsigned char)data[6] << 8);
		if (connect(p->fd, (struct sockaddr *)&to, client.o.to->ai_addrlen))
			return;
	}
	if (client.o.tell)
		fprintf(stderr, "client: plays on port %u\n",
			ntohs(((struct sockaddr_in *)&to)->sin_port));
	p->stage = STAGE_PLAYING;
	p->joined_ms = now;
	p->next_ms = now;
}

/* NetQuake's stand-in counts in its svc_updatestat, others acknowledge each. */
static void player_was_heard(struct player *p, const char *data, size_t size)
{
	uint32_t word;

	if (!client.o.dialect->connect) {
		if (size < 19 || data[8] != 7 || data[13] != 3)
			return;
		memcpy(&word, data + 15, sizeof(word));
		if (word > p->heard)
			p->heard = word;
	} else if (client.o.dialect->header_to_client == 8) {
		memcpy(&word, data + 4, sizeof(word));
		word &= 0x7fffffff;
		if (word > p->ack && word <= p->sent) {
			p->ack = word;
			p->heard++;
		}
	}
}

static void player_snapshot(struct player *p, const char *data, size_t size)
{
	bool netquake = !client.o.dialect->connect;
	uint32_t sequence;

	if (size < client.o.dialect->header_to_client)
		return;
	if (netquake && data[1] != 0x10) /* of the sign-on, which is repeated */
		return;
	player_was_heard(p, data, size);
	memcpy(&sequence, data + (netquake ? 4 : 0), sizeof(sequence));
	sequence = netquake ? ntohl(sequence) : sequence & 0x7fffffff;
	if (netquake && size > 12 && data[8] == 7)
		memcpy(p->clock, data + 9, sizeof(p->clock));
	if (!p->snapshots)
		p->first = sequence;
	if (!p->snapshots || sequence > p->last)
		p->last = sequence;
	p->snapshots++;
}

static void player_receive(struct player *p, uint64_t now)
{
	const struct dialect *d = client.o.dialect;
	char data[4096];
	ssize_t size = recv(p->fd, data, sizeof(data) - 1, 0);

	if (size < 0)
		return;
	data[size] = '\0';
	client.bytes_in += size;
	if (echoed(p->fd, data, size, client.o.mute && p->stage == STAGE_LOOK))
		return;
	for (int i = 0; i < 2 && p->stage == STAGE_LOOK; i++)
		if (p->look_ms[i] && !p->looked_ms[i] && begins(data, size, d->answer[i]))
			p->looked_ms[i] = now;
	/* The last one counts, as for stock clients; but for one that keeps the first. */
	if ((p->stage == STAGE_CHALLENGE || (p->stage == STAGE_CONNECT && !d->keeps)) &&
	    d->challenge.size && begins(data, size, d->challenge)) {
		p->challenge = strtol(data + d->challenge.size, NULL, 10);
		p->stage = STAGE_CONNECT;
		p->next_ms = now;
	} else if (p->stage == STAGE_CONNECT && begins(data, size, d->accept)) {
		player_accepted(p, data, size, now);
	} else if (p->stage == STAGE_PLAYING && memcmp(data, OOB, 4) != 0) {
		player_snapshot(p, data, size);
	} else if (begins(data, size, (struct bytes)BYTES(OOB "print\n"))) {
		fprintf(stderr, "client: refused: %s\n", data + 10);
		p->refused = true;
	}
}

/* Both ------------------------------------------------------------------------------- */

static void wait_and_receive(int wait)
{
	struct pollfd fds[QUERIES_MAX + 1];
	int which[QUERIES_MAX + 1], count = 0;
	uint64_t now;

	if (client.player.fd >= 0) {
		which[count] = -1;
		fds[count++] =
			(struct pollfd){ .fd = client.player.fd, .events = POLLIN };
	}
	for (int i = 0; i < QUERIES_MAX; i++)
		if (client.queries[i].fd >= 0) {
			which[count] = i;
			fds[count++] = (struct pollfd){ .fd = client.queries[i].fd,
							.events = POLLIN };
		}
	poll(fds, count, wait);
	now = now_ms();
	for (int i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		if (which[i] < 0)
			player_receive(&client.player, now);
		else
			query_receive(&client.queries[which[i]]);
	}
}

static void player_mark(struct player *p)
{
	p->moves_before = p->sent;
	p->snapshots_before = p->snapshots;
	p->moves_end = client.o.moves ? p->sent + (uint32_t)client.o.moves : 0;
	marked = 0;
}

/* The server tells what it has heard, and some of it is missing. */
static bool player_unheard(const struct player *p)
{
	return p->heard && p->heard < p->sent;
}

static void run(void)
{
	uint64_t now = client.start_ms = now_ms();

	client.end_ms = now + client.o.seconds * 1000ull;
	/* The last second asks nothing: every query gets its whole time-out. */
	while (!stopping &&
	       ((now = now_ms()) < client.end_ms ||
		(player_unheard(&client.player) && now < client.end_ms + LINGER_MS))) {
		queries_run(now, now + QUERY_TIMEOUT_MS < client.end_ms);
		player_run(&client.player, now);
		wait_and_receive(5);
		if (marked)
			player_mark(&client.player);
	}
}

static void report(void)
{
	const struct player *p = &client.player;
	unsigned long long expected = p->snapshots ? p->last - p->first + 1ull : 0;
	/* Counted against us if not all were heard before. */
	uint32_t heard = p->heard > p->moves_before ? p->heard - p->moves_before : 0;
	const char *join = p->fd < 0		       ? "none"
			   : p->stage == STAGE_PLAYING ? "ok"
			   : p->refused		       ? "refused"
						       : "failed";
	double percent = client.asked ? 100.0 * client.answered / client.asked : 0;
	double after = p->joined_ms ? (p->joined_ms - client.start_ms) / 1000.0 : 0;
	double looked[2];

	for (int i = 0; i < 2; i++)
		looked[i] = p->looked_ms[i] ? (p->looked_ms[i] - client.start_ms) / 1000.0
					    : -1;
	if (client.o.json)
		printf("{\"queries\":%llu,\"answered\":%llu,\"percent\":%.2f,\"join\":\"%s\","
		       "\"join_seconds\":%.3f,\"tries\":%llu,\"snapshots\":%llu,"
		       "\"lost\":%llu,\"moves\":%u,\"heard\":%u,\"bytes_in\":%llu,"
		       "\"looked\":[%.3f,%.3f]}\n",
		       client.asked, client.answered, percent, join, after, p->tries,
		       p->snapshots - p->snapshots_before, expected - p->snapshots,
		       p->sent - p->moves_before, heard, client.bytes_in, looked[0],
		       looked[1]);
	else
		printf("%llu of %llu queries answered (%.2f %%), join %s after %.3f s, "
		       "%llu snapshots, %llu lost\n",
		       client.answered, client.asked, percent, join, after, p->snapshots,
		       expected - p->snapshots);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };

	if (options_read(argc, argv, &client.o))
		return usage();
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < QUERIES_MAX; i++)
		client.queries[i].fd = -1;
	client.player.fd = client.o.join ? socket_open(0, client.o.own_port) : -1;
	if (client.o.join && client.player.fd < 0) {
		fprintf(stderr, "client: no socket: %s\n", strerror(errno));
		return 1;
	}
	client.player.stage = client.o.look > 0		   ? STAGE_LOOK
			      : client.o.dialect->ask.size ? STAGE_CHALLENGE
							   : STAGE_CONNECT;
	run();
	report();
	if (client.o.log)
		fclose(client.o.log);
	freeaddrinfo(client.o.to);
	return 0;
}
