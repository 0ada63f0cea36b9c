/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listed.h - whether the servers behind the services stand in the lists of master
 * servers, and which sources would get a response now. Called by `status --listed`.
 *
 * listed_collect() asks each server, by its own address, for its game and protocol, then
 * each master server for the list that a client of that game asks for, and last the
 * loaded program, by a trial, what it would do with a newcomer's query and with a
 * master's. Everything has a bound: LISTED_* say how much is sent, read and waited for.
 */
#ifndef LISTED_H
#define LISTED_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "explain/explain.h"
#include "lib/json_key.h"

#define LISTED_MASTERS	 32 /* that one call asks */
#define LISTED_HOST	 254 /* bytes of a host's name, with the NUL */
#define LISTED_HOSTS	 8 /* addresses of one master that are kept */
#define LISTED_ADDRESSES 64 /* of this host */
#define LISTED_QUESTION	 96 /* bytes of the longest question */
#define LISTED_DATAGRAMS 512 /* of the replies to one question that are read */
#define LISTED_BYTES	 (1 << 20) /* of the same */
#define LISTED_GAME	 33 /* bytes of a game's name, with the NUL */
#define LISTED_PROTOCOL	 7 /* bytes of a protocol's number, with the NUL */

/* --- listed_reply.c: pure ------------------------------------------------ */

/* The words of a master server: its question and its reply. */
enum listed_words {
	LISTED_NONE, /* the protocol has no master servers */
	LISTED_DPMASTER, /* getservers; IPv4 alone */
	LISTED_DPMASTER_EXT, /* getserversExt; IPv4 and IPv6 */
	LISTED_QUAKEWORLD, /* "c\n" */
	LISTED_QUAKE2, /* "query\n" */
};

/*
 * Write the question for the list of @game ("": the master knows it by its protocol) and
 * @protocol, which QuakeWorld and Quake II do not name. Returns its length, at most
 * LISTED_QUESTION.
 */
size_t listed_question(enum listed_words words, const char *game, const char *protocol,
		       char ret[LISTED_QUESTION]);

/* The kinds of a datagram. */
enum listed_part {
	LISTED_BAD, /* no part of such a list: it is counted, and nothing else */
	LISTED_PART, /* a part of the list, of which more may follow */
	LISTED_END, /* the same, with the mark of the end */
};

/* One entry of a list. @address: IPv4 in ::ffff:0:0/96. */
typedef void (*listed_entry)(const __be32 address[4], __u16 port, void *context);

/*
 * Read one datagram of @n bytes of a master's reply and call @each with every entry.
 * Strict: a datagram that is wrong anywhere is LISTED_BAD, and @each is not called.
 */
enum listed_part listed_reply(enum listed_words words, const void *bytes, size_t n,
			      listed_entry each, void *context);

/*
 * Read the infoResponse of a server: the name of its game and the number of its protocol,
 * both made of characters that a question can hold. False: it is none, or has no such
 * number. *@ret_game is "" if the server names no game, or id's.
 */
bool listed_info(const void *bytes, size_t n, char ret_game[LISTED_GAME],
		 char ret_protocol[LISTED_PROTOCOL]);

/* Return true if an address can be reached from everywhere: not private, not local. */
bool listed_is_public(const __be32 address[4]);

/* --- listed_masters.c ---------------------------------------------------- */

/* Return how the master servers of @family are asked. */
enum listed_words listed_words_of(enum wire_family family);

struct listed_master {
	char name[LISTED_HOST + 8]; /* as it is shown: HOST or HOST:PORT */
	char host[LISTED_HOST];
	__u16 port; /* 0: the usual one of the protocol */
	bool known; /* of the table of well-known ones: for its family alone */
	enum wire_family family;
	const char *wrong; /* the name has no address: why; NULL: it has */
	__be32 addresses[LISTED_HOSTS][4];
	size_t address_count;
};

/* Read "HOST", "HOST:PORT", "ADDRESS" or "[ADDRESS]:PORT". False: it is none of these. */
bool listed_master_parse(const char *text, struct listed_master *ret);

/*
 * Add the well-known masters of @family to the @count at @ret. Returns the new count, at
 * most LISTED_MASTERS.
 */
size_t listed_masters_known(enum wire_family family, struct listed_master *ret,
			    size_t count);

/*
 * Find the addresses of all @masters, in five seconds at most. Each without one has
 * `wrong`.
 */
void listed_resolve(struct listed_master *masters, size_t count);

/* Return the port that @words are spoken at, unless the operator names another. */
__u16 listed_port(const struct listed_master *master, enum listed_words words);

/* --- listed_ask.c -------------------------------------------------------- */

/* A datagram that is sent, twice at most, and the replies to it. */
struct listed_ask {
	__be32 address[4];
	__u16 port;
	size_t n;
	char bytes[LISTED_QUESTION];
	/* Read a reply. LISTED_BAD: it is counted as such. */
	enum listed_part (*take)(struct listed_ask *ask, const void *reply, size_t n);
	/* Does the reply lack something that a lost datagram may have had? NULL: no. */
	bool (*lacks)(const struct listed_ask *ask);
	void *context; /* of take() */
	enum listed_words words;
	/* Set by listed_ask_all(): */
	int error; /* errno: it could not be sent, or was refused */
	unsigned int datagrams, bad; /* replies that were read; wrong ones among them */
	bool ended; /* the mark of the end was in one of the newest reply */
	bool second; /* the newest reply is the one to the second question */
	bool cut; /* there was more than is read */
	/* Its own: */
	int fd;
	bool waits; /* for the first datagram of the second reply */
	size_t read;
	long last_ms;
};

/*
 * Send all @asks at once and read the replies, in three seconds at most. An ask is sent
 * once more if there is no reply, or if the reply lacks something. Each has a
 * connected socket, so that only datagrams of the address asked are read. Its own port is
 * none of @taken, the ports of services (65536 flags). 0, or -errno
 * without a message.
 */
int listed_ask_all(struct listed_ask *asks, size_t count, const bool *taken);

/* --- listed.c ------------------------------------------------------------ */

/* The result for a service and a master. */
enum listed_state {
	LISTED_YES,
	LISTED_NO,
	LISTED_SILENT, /* no reply */
	LISTED_UNKNOWN, /* a reply that does not say: see why */
};

struct listed_row {
	bool asked; /* the rest is valid */
	enum listed_state state;
	const char *why; /* words behind the state; NULL: none */
	bool reports; /* the server has sent it heartbeats lately */
	__be32 address[4]; /* asked at */
	__u16 port;
	size_t servers; /* entries of the list, some perhaps repeated */
	unsigned int datagrams;
	__be32 as[4]; /* LISTED_YES: the entry */
	__u16 as_port;
	size_t same_port; /* entries with a port of the service at other addresses */
};

/* A source, for which a query is tried. */
enum listed_asker {
	LISTED_NEWCOMER,
	LISTED_ALLOWED, /* of the allow list */
	LISTED_MASTER,
};

struct listed_try {
	enum listed_asker asker;
	__be32 address[4];
	struct explain_step step;
};

#define LISTED_TRIES (2 + LISTED_MASTERS)

struct listed_service {
	__u32 slot;
	struct service service;
	enum listed_words words;
	const char *why; /* no master is asked: why; NULL: they are */
	char game[LISTED_GAME], protocol[LISTED_PROTOCOL]; /* "": not known, or none */
	bool told; /* by its server; otherwise usual protocols were asked for */
	bool unasked; /* a place of its server at least: there were too many questions */
	bool down; /* a reason of `why`: its server reported once, and is silent now */
	size_t places, here; /* of its server: all; those with a socket here, asked */
	__u64 heartbeats; /* that its server has sent */
	bool listed; /* by one master at least */
	struct listed_row rows[LISTED_MASTERS]; /* by master */
	struct listed_try tries[LISTED_TRIES];
	size_t try_count;
};

/* The operator's wishes. */
struct listed_query {
	const char *service; /* its name or one of its ports; NULL: all */
	struct listed_master masters[LISTED_MASTERS]; /* none: the well-known ones */
	size_t master_count;
	__be32 addresses[LISTED_ADDRESSES]
			[4]; /* this host's from outside; none: its own */
	size_t address_count;
};

struct listed {
	struct listed_query query;
	bool addresses_named; /* by the operator: masters know no others */
	struct listed_service *services;
	size_t service_count;
};

/*
 * Collect everything; @query may be changed. 0 and *@ret, for listed_free(); or -errno
 * after a message. -ENOENT: there is no such service.
 */
int listed_collect(const struct shield *shield, const struct listed_query *query,
		   struct listed **ret);
/* Free what listed_collect() returned. May be NULL. */
void listed_free(struct listed *listed);

/*
 * Return true if each service with masters is listed by one, and no server that should
 * say whether it has some is down, or was not asked.
 */
bool listed_all(const struct listed *listed);

/* --- listed_say.c -------------------------------------------------------- */

/* Write it as text for a terminal. */
void listed_print(const struct listed *listed, FILE *out);

struct json_t;
/* Return it as an object of listed_json_keys, which the caller releases; NULL: no memory.
 */
struct json_t *listed_to_json(const struct listed *listed);
extern const struct json_key listed_json_keys[];

#endif /* LISTED_H */
