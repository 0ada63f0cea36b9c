/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client_options.h - what the lab's client is told on its command line.
 */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "dialect.h"

enum {
	QUERIES_MAX = 256, /* waiting at one time */
	FROM_MAX = 16,
};

struct options {
	const struct dialect *dialect;
	struct addrinfo *to;
	const char *from[FROM_MAX];
	int from_count;
	const char *own_port;
	double rate;
	int seconds;
	int moves; /* 0: as many as there is time for */
	int look; /* seconds; 0: joins at once */
	bool join;
	bool tell;
	bool mute; /* echoes nothing, or not while it looks */
	bool json;
	FILE *log; /* NULL: none */
};

static int usage(void)
{
	fputs("usage: client --protocol NAME --to ADDRESS --port N --seconds N\n"
	      "              [--poll PER-SECOND] [--join [--look N] [--own-port N] [--tell]\n"
	      "              [--moves N]]\n"
	      "              [--from ADDRESS]... [--mute] [--log FILE] [--json]\n",
	      stderr);
	return 1;
}

/* Returns -EINVAL, and says nothing, if they make no sense; else o->to is the caller's.
 */
static int options_read(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "protocol", 1, NULL, 'P' }, { "to", 1, NULL, 't' },
		{ "port", 1, NULL, 'p' },     { "seconds", 1, NULL, 's' },
		{ "poll", 1, NULL, 'r' },     { "join", 0, NULL, 'J' },
		{ "from", 1, NULL, 'f' },     { "json", 0, NULL, 'j' },
		{ "own-port", 1, NULL, 'o' }, { "tell", 0, NULL, 'T' },
		{ "mute", 0, NULL, 'm' },     { "log", 1, NULL, 'l' },
		{ "look", 1, NULL, 'L' },     { "moves", 1, NULL, 'M' },
		{ NULL, 0, NULL, 0 },
	};
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_DGRAM };
	const char *to = NULL, *port = NULL;
	int letter;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 'P')
			o->dialect = dialect_find(optarg);
		else if (letter == 't')
			to = optarg;
		else if (letter == 'p')
			port = optarg;
		else if (letter == 's')
			o->seconds = atoi(optarg);
		else if (letter == 'r')
			o->rate = atof(optarg);
		else if (letter == 'f' && o->from_count < FROM_MAX)
			o->from[o->from_count++] = optarg;
		else if (letter == 'J')
			o->join = true;
		else if (letter == 'L')
			o->look = atoi(optarg);
		else if (letter == 'M')
			o->moves = atoi(optarg);
		else if (letter == 'o')
			o->own_port = optarg;
		else if (letter == 'T')
			o->tell = true;
		else if (letter == 'm')
			o->mute = true;
		else if (letter == 'j')
			o->json = true;
		else if (letter == 'l' && !o->log)
			o->log = fopen(optarg, "we");
		else
			return -EINVAL;
		if (letter == 'l' && !o->log)
			return -EINVAL;
	}
	if (!o->dialect || !to || !port || o->seconds < 1 || o->seconds > 600 ||
	    o->moves < 0 || o->rate < 0 || o->rate > QUERIES_MAX ||
	    getaddrinfo(to, port, &hints, &o->to))
		return -EINVAL;
	return 0;
}

#endif
