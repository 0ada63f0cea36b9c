/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * about.h - what the tables of the shield hold about one address: its limits, the
 * allowance of its prefix, its flows. Reading changes nothing.
 */
#ifndef ABOUT_H
#define ABOUT_H

#include "shield/shield.h"

/* An address as the limits see it. */
struct about_host {
	__be32 address[4]; /* IPv4 in ::ffff:0:0/96 */
	__u64 net; /* an IPv4 address, or the upper half of an IPv6 one; host order */
	__u32 ipv6; /* 0 or 1 */
};

/* Return @address (IPv4 in ::ffff:0:0/96) as the limits see it. */
struct about_host about_host(const __be32 address[4]);

/* --- limits ------------------------------------------------------------------ */

/* A rate limit and what is used of it. */
struct about_bucket {
	struct limit limit; /* of one request, as the program applies it now */
	__u64 due_ns;
};

#define ABOUT_NO_LIMIT (~0ull)

/* Return how many requests @b has room for at @now_ns; ABOUT_NO_LIMIT: any number. */
__u64 about_left(const struct about_bucket *b, __u64 now_ns);
/*
 * Return how many requests @b has room for when it is full; ABOUT_NO_LIMIT: any number.
 */
__u64 about_most(const struct about_bucket *b);
/*
 * Return the nanoseconds until @b has room for one request. 0: now; ABOUT_NO_LIMIT: it
 * never has.
 */
__u64 about_wait(const struct about_bucket *b, __u64 now_ns);

/* The four levels at which a request is limited. */
#define ABOUT_LEVELS(X)                \
	X(SOURCE, source, "source")    \
	X(PREFIX, prefix, "prefix")    \
	X(NETWORK, network, "network") \
	X(SERVICE, service, "service")

enum about_level {
#define AS_LEVEL(level, symbol, name) ABOUT_##level,
	ABOUT_LEVELS(AS_LEVEL) ABOUT_LEVEL_COUNT
#undef AS_LEVEL
};

/* The limits that a request is charged to. Each group has a state of its own. */
enum about_group {
	ABOUT_OF_CLASS, /* those of its class, for all sources */
	ABOUT_OF_VALIDATED, /* those of its class, for validated clients */
	ABOUT_OF_ALLOWED, /* what sources of the allow list have beyond these */
	ABOUT_OF_MASTER, /* what a master server has beyond these */
};

/* A datagram that the programs have judged. */
struct about_request {
	const struct about_host *host; /* its sender */
	__u16 port; /* the sender's */
	__u32 slot; /* of the service */
	enum wire_kind kind;
	enum reason reason; /* of the verdict */
	const __u8 *payload; /* of @length bytes: its cookie tells the limits */
	size_t length;
};

struct about_limits {
	enum about_group group;
	enum wire_class class; /* with ABOUT_OF_CLASS and ABOUT_OF_VALIDATED */
	struct about_bucket level[ABOUT_LEVEL_COUNT];
};

/*
 * Read the limits that the programs charge @request to, or that refuse it: those of the
 * source, its /24 or /56, its /20 or /48, and @service. Where the programs try one after
 * the other, they are the first with room, else the last. Returns false if @request is
 * charged to no limits.
 */
bool about_limits(const struct shield *shield, const struct service *service,
		  const struct about_request *request, struct about_limits *ret);

/*
 * Return when the limit of @host's own under @budget is full again, in ns of
 * about_clock(), for the clients of @set.
 */
__u64 about_source_due(const struct shield *shield, const struct budget *budget,
		       const struct about_host *host, enum budget_set set);

/* --- amplification ----------------------------------------------------------- */

/* The bytes that may leave to the prefix of an address. */
struct about_allowance {
	bool off; /* nothing is withheld */
	bool strict; /* no allowance: no more bytes out than in */
	bool allowed; /* the rest is of the address alone: it is on the allow list */
	__u64 most; /* bytes beyond what the prefix sends */
	__s64 left; /* bytes that may leave now, with unused credit */
};

/*
 * Read how many bytes may leave to the prefix of @host now, or to @host if it is on the
 * allow list: egress_listed() charges that to an account of its own.
 */
void about_allowance(const struct shield *shield, const struct about_host *host,
		     struct about_allowance *ret);

/* --- flows ------------------------------------------------------------------- */

enum about_state {
	ABOUT_INVITED, /* the server has sent it a challenge */
	ABOUT_VALIDATED, /* it has returned a cookie */
	ABOUT_ESTABLISHED, /* the server has accepted it: a player */
};

struct about_flow {
	__u32 slot;
	__u16 port; /* of the client */
	enum about_state state;
	__u64 used_ns; /* before it is established: last challenged or validated */
	__u32 challenge; /* the server's last, 0: not known */
	struct player player; /* if it is established */
};

/*
 * Read the flows of @host, at most @max of them, established ones first. @slot: of one
 * service alone; -1: all. @port: of one alone; 0: all. Returns how many there are in all.
 */
size_t about_flows(const struct shield *shield, const struct about_host *host, int slot,
		   __u16 port, struct about_flow *ret, size_t max);

/* --- the rest ---------------------------------------------------------------- */

/* Return the entry of include/reputation.h for @host; 0: there is none. */
__u64 about_known(const struct shield *shield, const struct about_host *host);

/*
 * Return true if the server of the service in @slot has sent a heartbeat to @host in the
 * last quarter of an hour: @host is a master server. False also if the programs had no
 * room to note it: see bpf/player_address.bpf.h.
 */
bool about_reports_to(const struct shield *shield, __u32 slot,
		      const struct about_host *host);

/*
 * Find the list entry that decides about @host, with the origins that are in force.
 * False: none does.
 */
bool about_listed(const struct shield *shield, enum list list,
		  const struct about_host *host, struct cidr *ret_network,
		  struct list_entry *ret);

/*
 * Return the slot of the service that gets datagrams to @port at @address (all zero:
 * any); -1: none.
 */
int about_service_at(const struct shield *shield, const __be32 address[4], __u16 port);

/* Return the clock of the programs now, in ns; it may stand still (replay). */
__u64 about_clock(const struct shield *shield);

#endif /* ABOUT_H */
