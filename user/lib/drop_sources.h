/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drop_sources.h - from which prefixes most of the dropped datagrams came, from samples.
 *
 * Misra-Gries in the form of Metwally's "space-saving": DROP_SOURCES_PLACES counters; who
 * has none takes over that of the one with least, and its count. Whoever sends more than
 * one in DROP_SOURCES_PLACES of all is surely among them, with at most that much too
 * much. Counts are halved now and then, so that the past fades.
 *
 * Samples thin out what there is much of, so only shares mean anything; and whose
 * addresses these are, a flood that lies about them does not tell.
 */
#ifndef DROP_SOURCES_H
#define DROP_SOURCES_H

#include "abi.h"
#include "lib/record.h"

#define DROP_SOURCES_PLACES 64

struct drop_sources_row {
	struct cidr prefix; /* IPv4 in ::ffff:0:0/96 */
	__u32 slot; /* of the service */
	__u64 count; /* 0: free */
	__u64 taken; /* of count: taken over with the row, so of other prefixes */
	__u32 samples; /* since then */
	__u32 votes; /* for reason: how many samples more than against it */
	__u8 reason; /* enum reason of most samples, if one has more than half of them */
};

struct drop_sources {
	struct drop_sources_row rows[DROP_SOURCES_PLACES];
	__u64 total; /* of all that were added, halved alike */
};

void drop_sources_add(struct drop_sources *w, __u32 slot,
		      const struct record_address *source);

/* The IPv4 /24 or IPv6 /56 around @source, as the budgets have them. False: it is none.
 */
bool drop_sources_prefix(const struct record_address *source, struct cidr *ret);

/* Count @n datagrams of @prefix, which were refused for @reason. */
void drop_sources_put(struct drop_sources *w, __u32 slot, const struct cidr *prefix,
		      __u64 n, __u8 reason);

/* The past is worth half from now on. */
void drop_sources_fade(struct drop_sources *w);

/*
 * Those with the largest shares of all drops, most first, if it is a twentieth or more;
 * at most @max. How many.
 */
size_t drop_sources_list(const struct drop_sources *w, struct drop_sources_row *ret,
			 size_t max);

/*
 * Those that surely have a twentieth or more, by DROP_SOURCES_SURE samples or more, most
 * first; at most @max. How many. A row's count is without what was taken over. Addresses
 * that are spoofed at random are none of them.
 */
#define DROP_SOURCES_SURE 3
size_t drop_sources_sure(const struct drop_sources *w, struct drop_sources_row *ret,
			 size_t max);

#endif /* DROP_SOURCES_H */
