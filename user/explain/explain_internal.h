/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_internal.h - collecting facts, shared by explain.c (of an address) and
 * explain_datagram.c.
 */
#ifndef EXPLAIN_INTERNAL_H
#define EXPLAIN_INTERNAL_H

#include "explain/explain.h"

/* While services are collected. */
struct collect {
	const struct shield *shield;
	struct explain *explain;
	struct trial *trial;
	struct shield_endpoint *ends; /* of all services */
	size_t end_count;
	bool sockets_known;
	bool *sockets; /* by port */
	__u64 sent_ns[SERVICES_MAX]; /* by slot: when a player was last sent to; 0: none
				      */
};

/*
 * Begin to collect facts about query->address: of services none yet. 0, or -errno after a
 * message. collect_end() follows in any case.
 */
int collect_begin(struct collect *c, const struct shield *shield, struct trial *trial,
		  const struct explain_query *query);
/* Hand over what is collected in *@ret, unless @err; return that. */
int collect_end(struct collect *c, int err, struct explain **ret);

/* Collect the facts about @address in place of those about query->address. */
void collect_host(struct collect *c, const __be32 address[4]);

/*
 * Find the place of the service in @slot, called @name, that query->service asks for by
 * name or port. False: it asks for another service, or this one has no place.
 */
bool collect_wanted(const struct collect *c, __u32 slot, const char *name,
		    struct shield_endpoint *ret);

/* Add the service in @slot, without steps and causes; NULL: there is none, or it has no
 * port. */
struct explain_service *collect_service(struct collect *c, __u32 slot,
					const struct shield_endpoint *place);

/* Judge a frame of the address as a step of @s; the caller resets the trial. */
void collect_step(const struct collect *c, const struct explain_service *s,
		  struct explain_step *step, bool out, const void *frame, size_t n);

/* Return the reason of a verdict as one word; or why there is none. */
const char *explain_reason(const struct explain_step *step);

#endif /* EXPLAIN_INTERNAL_H */
