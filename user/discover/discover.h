/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * discover.h - which game servers run on this host. Called by `quakeshield discover`.
 *
 * Every UDP socket that may be a server's receives one harmless query of each protocol. A
 * socket that replies as a game server does is one. Other services ignore the queries, or
 * reply otherwise.
 */
#ifndef DISCOVER_H
#define DISCOVER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "config/config.h"
#include "wire.h"

#define DISCOVER_CANDIDATES 256 /* sockets of a network namespace that are asked */
#define DISCOVER_SERVERS    SERVICES_MAX
#define DISCOVER_NAMESPACES 64 /* containers that are looked into */
#define DISCOVER_LEFT_OUT   128 /* that are counted, but not looked into */
#define DISCOVER_PORT_LEAST 1024 /* below are system services */
#define DISCOVER_NONCE	    16
#define DISCOVER_NAME	    48
#define DISCOVER_MAP	    32
#define DISCOVER_PROCESS    16

/* The name and map that a server tells: printable ASCII, quotes and backslashes left out.
 */
struct discover_info {
	char name[DISCOVER_NAME];
	char map[DISCOVER_MAP];
};

struct discover_server {
	__be32 address[4]; /* bound to; IPv4 in ::ffff:0:0/96; zero: any */
	__u16 port;
	__u64 inode; /* of its socket */
	enum wire_family family;
	struct discover_info info;
	pid_t pid; /* 0: not known */
	char process[DISCOVER_PROCESS];
	bool container; /* in another network namespace */
};

struct discover_servers {
	size_t count;
	size_t left_out; /* sockets, for which there was no room */
	/* Network namespaces: more than can be looked into; DISCOVER_LEFT_OUT at most. */
	size_t namespaces_left_out;
	struct discover_server rows[DISCOVER_SERVERS];
};

/* --- discover_recognise.c: pure ------------------------------------------------- */

/* The signs in replies; all of a server's, together, decide: discover_decide(). */
enum discover_sign {
	DISCOVER_QUAKEWORLD = 1 << 0, /* the reply to `status` */
	DISCOVER_QUAKE2 = 1 << 1, /* the same */
	DISCOVER_QUAKE3 = 1 << 2, /* the reply to `getstatus` */
	DISCOVER_DARKPLACES = 1 << 3, /* the same, of DarkPlaces */
	DISCOVER_NETQUAKE = 1 << 4, /* CCREP_SERVER_INFO */
};

#define DISCOVER_QUESTIONS 3
#define DISCOVER_QUESTION  64 /* bytes of one */

/* Write question @i, below DISCOVER_QUESTIONS: its bytes. @nonce comes back in replies
 * to getstatus. */
size_t discover_question(int i, const char nonce[DISCOVER_NONCE],
			 char ret[DISCOVER_QUESTION]);

/*
 * Return the sign in @reply, of @n bytes, to any of the queries; 0: it is no game
 * server's. *@ret gets the name and the map.
 */
unsigned int discover_recognise(const void *reply, size_t n,
				const char nonce[DISCOVER_NONCE],
				struct discover_info *ret);

/*
 * Return the protocol of a server that gave all of @signs, not 0. FTE's servers give
 * several.
 */
enum wire_family discover_decide(unsigned int signs);

/* --- discover_ask.c ------------------------------------------------------------- */

/*
 * Ask all UDP sockets of this network namespace that are bound to more than loopback, and
 * add those that answer to @ret. Takes three seconds at most. 0 or -errno without a
 * message.
 */
int discover_here(struct discover_servers *ret);

/* --- discover_containers.c ------------------------------------------------------ */

/*
 * Query the sockets here and in every other network namespace that a process of this
 * machine is in, all at once, DISCOVER_NAMESPACES at most. 0 and *@ret_failed: in how
 * many nothing could be queried; -EPERM: only root may; or another -errno without a
 * message.
 */
int discover_everywhere(struct discover_servers *ret, size_t *ret_failed);

/* Find the processes of all of @servers, as far as this one may look. */
void discover_processes(struct discover_servers *servers);

/* --- discover_write.c: pure ----------------------------------------------------- */

/*
 * Write a configuration of all @servers, for @interface ("": not known), that `check`
 * takes. A server that would take another's port and address stands in it as a comment.
 */
void discover_write(const struct discover_servers *servers, const char *interface,
		    FILE *out);

/* Return the service of @config that @server's datagrams are for; NULL: none is. */
const struct config_service *discover_service(const struct config *config,
					      const struct discover_server *server);

/* Return true if datagrams for @service, which is @config's, get to one of @servers. */
bool discover_replied(const struct discover_servers *servers, const struct config *config,
		      const struct config_service *service);

/* Bytes of a place, with the NUL. */
#define DISCOVER_PLACE 64
/* Write where the server listens: "10.0.0.2:27960", "[fd00::2]:27960" or "*:27960". */
void discover_place(const struct discover_server *server, char ret[DISCOVER_PLACE]);

#endif /* DISCOVER_H */
