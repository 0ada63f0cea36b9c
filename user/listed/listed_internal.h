/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listed_internal.h - collecting, shared by listed.c (servers and masters), listed_host.c
 * (addresses) and listed_try.c (what the loaded program would do).
 */
#ifndef LISTED_INTERNAL_H
#define LISTED_INTERNAL_H

#include <arpa/inet.h>

#include "listed/listed.h"

#define ASKS 256 /* questions that one call sends */

/* A question, while its reply is read. */
struct asked {
	struct gather *gather;
	size_t master;
	size_t servers; /* entries of its newest list */
	bool second; /* that is the reply to the second question */
	bool of[SERVICES_MAX]; /* by index in listed.services: asked for this service */
};

/* While it is collected. */
struct gather {
	const struct shield *shield;
	struct listed *listed;
	struct shield_endpoint *ends; /* of all services, by port */
	size_t end_count;
	bool *taken; /* by port: a service has it */
	struct listed_ask *asks; /* ASKS */
	struct asked *asked; /* the same */
	size_t ask_count;
	bool left_out; /* there was no room for a question */
};

static inline bool is_any(const __be32 address[4])
{
	return !(address[0] | address[1] | address[2] | address[3]);
}

static inline bool is_ipv4(const __be32 address[4])
{
	return !address[0] && !address[1] && address[2] == htonl(0xffff);
}

/* Fill in the addresses of this host, unless the operator has named others. 0 or -errno.
 */
int listed_addresses_find(struct listed *l);

/*
 * Ask the server of each service for its game and protocol, and set why its masters are
 * not asked. 0 or -errno, without a message.
 */
int listed_servers_ask(struct gather *g);

/*
 * Try the queries of a newcomer, of a source of the allow list and of each master that
 * was asked. 0, or -errno after a message.
 */
int listed_try_all(struct gather *g);

#endif /* LISTED_INTERNAL_H */
