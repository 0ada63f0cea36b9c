/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain.h - why the shield treats one address as it does: facts of the tables, what
 * would happen to its next datagrams, and the causes that follow from both.
 *
 * explain_address() collects, explain_print() and explain_to_json() show. Everything is
 * read only, and bounded: EXPLAIN_* say how much is kept.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <stdio.h>

#include "lib/json_key.h"
#include "shield/trial.h"

#define EXPLAIN_FLOWS	 16 /* of one address, shown */
#define EXPLAIN_REFUSALS 16 /* of one service */
#define EXPLAIN_STEPS	 5 /* datagrams that are tried for one service */
#define EXPLAIN_CAUSES	 12 /* of one service */
#define EXPLAIN_TEXT	 400 /* bytes of a sentence, with its NUL */

/* The source port of a datagram that is tried, if the operator names none. */
#define EXPLAIN_PORT 27005

/* --- what is asked ----------------------------------------------------------- */

struct explain_query {
	__be32 address[4];
	__u16 port; /* of the client; 0: any */
	const char *service; /* its name or one of its ports; NULL: all services */
	bool daemon; /* a daemon runs: it asks the servers */
};

/*
 * Read "203.0.113.7", "203.0.113.7:27005", "2001:db8::1" or "[2001:db8::1]:27005".
 * False: it is none of these; *@ret is untouched.
 */
bool explain_parse(const char *text, struct explain_query *ret);

/* A datagram that the operator has, with its headers or without. */
struct explain_input {
	__u8 *bytes; /* of EXPLAIN_FRAME */
	size_t n;
	bool framed; /* it begins with an Ethernet header */
};

/*
 * Read a datagram from hexadecimal digits, between which there may be spaces. NULL, or
 * the reason for which @text is none, as words that follow its quotation.
 */
const char *explain_read_hex(const char *text, struct explain_input *ret);

/*
 * Read the datagram in the file at @path: all of its bytes, or the first frame of a
 * capture that holds a datagram or the first fragment of one. 0, or -errno after a
 * message.
 */
int explain_read_file(const char *path, struct explain_input *ret);

/* --- what is told ------------------------------------------------------------ */

/*
 * Why a client cannot play, or its query gets no response. A verdict's reason is a cause
 * of its own name.
 *	  cause			name			what an operator can do
 */
/* clang-format off */
#define EXPLAIN_CAUSES_MORE(X)							\
	X(VALIDATION_PENDING,	"validation-pending",				\
	  "the client must return the cookie: quakeshield.conf(5), validation")	\
	X(SERVER_SILENT,	"server-silent",				\
	  "start the server, or look at its log")				\
	X(OTHER_PROTOCOL,	"other-protocol",				\
	  "correct 'protocol' in the service's section")			\
	X(OTHER_INTERFACE,	"other-interface",				\
	  "add this interface to the configuration")				\
	X(NO_SERVICE,		"no-service",					\
	  "add the port or the address to a service, or tell the client the right one")	\
	X(CLIENT_SILENT,		"client-silent",					\
	  "the client has stopped, or its datagrams are lost before this host")
/* clang-format on */

enum explain_more {
#define AS_CAUSE(cause, name, advice) EXPLAIN_##cause,
	EXPLAIN_CAUSES_MORE(AS_CAUSE) EXPLAIN_MORE_COUNT
#undef AS_CAUSE
};

struct explain_cause {
	const char *name; /* of a reason or of EXPLAIN_CAUSES_MORE */
	bool past; /* it has been; what follows would not meet it now */
	bool observed; /* the shield would drop for it, but the service only observes */
	char text[EXPLAIN_TEXT]; /* a sentence with the numbers */
	const char *advice;
};

/* One datagram that was tried. */
struct explain_step {
	const char *name; /* "query", "join", "connect", "move" */
	int error; /* -errno: the kernel did not judge it */
	struct trial_verdict in;
	bool has_answer; /* a server's answer of @answer_bytes was tried too */
	__u32 answer_bytes; /* of the frame */
	struct trial_verdict out;
	bool limited; /* it is charged to limits, or refused by them: */
	struct about_limits limits;
};

/* The programs have kept that they refused, or challenged, a datagram. */
struct explain_refusal {
	enum wire_class class;
	enum reason reason;
	__u32 weight; /* at least so many datagrams: REFUSED_EVERY each, or 1 */
	__u64 age_ns;
};

struct explain_server {
	bool judged_known;
	enum judged judged;
	char interface[IF_NAMESIZE]; /* by which unjudged datagrams come in, or "" */
	bool sockets_known, socket; /* has this network namespace a socket at its port? */
	__u64 asked, answered; /* datagrams that passed to it, and that it has sent */
	__u64 requests; /* of @asked: those that each server of the family answers */
	__u64 sent_ns; /* when it last sent to a player; 0: it has none */
	bool known; /* the daemon has seen a socket of it in this network namespace */
	bool cached; /* an answer is kept: */
	__u64 cached_age_ns; /* the newest one */
	__u32 speaks; /* mask of 1 << enum wire_family; 0: nothing speaks against the
		       * configuration */
};

struct explain_service {
	struct service service;
	__u32 slot;
	__u16 port; /* one of its ports */
	__be32 address[4]; /* that it has there; all zero: any */
	struct explain_server server;
	struct about_flow flows[EXPLAIN_FLOWS];
	size_t flow_count; /* at most EXPLAIN_FLOWS */
	struct explain_refusal refusals[EXPLAIN_REFUSALS]; /* newest first */
	size_t refusal_count;
	struct explain_step steps[EXPLAIN_STEPS];
	size_t step_count;
	struct explain_cause causes[EXPLAIN_CAUSES];
	size_t cause_count;
};

struct explain_list {
	bool has;
	struct cidr network;
	struct list_entry entry;
	int line; /* of the configuration file that has it; 0: not known */
};

struct explain {
	struct explain_query query;
	struct about_host host;
	__u64 now_ns;
	bool same_program; /* the trial's is the one that is loaded */
	const char *file; /* the configuration that lists were looked up in */
	struct explain_list allow, deny;
	__u64 known; /* state of include/reputation.h */
	struct about_allowance allowance;
	bool no_service; /* --service is a port without one */
	__u16 other_port; /* that port */
	/* Set by explain_datagram(): */
	bool datagram;
	bool parsed; /* it has UDP's header: query and the next are of it */
	__be32 to[4];
	__u16 to_port;
	bool leaves; /* it comes from a service, not to one */
	size_t frame_bytes, payload_bytes;
	struct explain_step stray; /* its verdict, if it is for no service */
	struct explain_service *services;
	size_t service_count;
};

/*
 * Collect what there is to say about @query, by a trial of @shield. 0 and *@ret, for
 * explain_free(); or -errno after a message. -ENOENT: there is no such service.
 */
int explain_address(const struct shield *shield, struct trial *trial,
		    const struct explain_query *query, struct explain **ret);

/*
 * Explain one datagram: an Ethernet frame, an IP packet or, with query->service, the
 * payload of a datagram from query->address. The headers of a frame or packet name both:
 * then *@query must not, or the result is -EINVAL. The only step is the datagram. @input
 * may be changed. The result as of explain_address().
 */
int explain_datagram(const struct shield *shield, struct trial *trial,
		     const struct explain_query *query, struct explain_input *input,
		     struct explain **ret);
/* Free what explain_address() or explain_datagram() returned. May be NULL. */
void explain_free(struct explain *explain);

/* Find in which line of the configuration at @path the entries stand, for @explain. */
void explain_lines(struct explain *explain, const char *path);

/* Fill in the causes of @s; explain_address() does. */
void explain_causes(const struct explain *explain, struct explain_service *s);

/* Bytes of an address, with the NUL. */
#define EXPLAIN_ADDRESS 64

/*
 * Write the address, with its port unless that is 0: "192.0.2.7:27005",
 * "[2001:db8::1]:27005".
 */
void explain_format(const __be32 address[4], __u16 port, char ret[EXPLAIN_ADDRESS]);

/* Write the explanation as text for a terminal. */
void explain_print(const struct explain *explain, FILE *out);
struct json_t;

/*
 * Return it as an object of explain_json_keys, which the caller releases; NULL: no
 * memory.
 */
struct json_t *explain_to_json(const struct explain *explain);
extern const struct json_key explain_json_keys[];

#endif /* EXPLAIN_H */
