/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drop_sources.h - from which prefixes most of the dropped datagrams came, from samples.
 * Called by the daemon for its figures (samples.c) and for each attack (incident).
 *
 * Misra-Gries in the form of Metwally's "space-saving": DROP_SOURCES_PLACES counters. A
 * prefix without a counter takes over the one with the lowest count, and that count. A
 * prefix with more than one in DROP_SOURCES_PLACES of all datagrams is surely among them;
 * its count is too high by at most that share. Counts are halved now and then, so that
 * the past fades.
 *
 * Samples thin out heavy traffic, so only shares mean anything. The addresses may be
 * spoofed: the figures show what the datagrams claim.
 */
#ifndef DROP_SOURCES_H
#define DROP_SOURCES_H

#include "abi.h"
#include "lib/record.h"

#define DROP_SOURCES_PLACES 64 /* prefixes that are counted */

struct drop_sources_row {
	struct cidr prefix; /* IPv4 in ::ffff:0:0/96 */
	__u32 slot; /* of the service */
	__u64 count; /* 0: free */
	__u64 taken; /* of count: taken over with the row, so of other prefixes */
	__u32 samples; /* since the row was taken over */
	__u32 votes; /* for reason: how many samples more than against it */
	__u8 reason; /* enum reason of most samples, if one has more than half of them */
};

struct drop_sources {
	struct drop_sources_row rows[DROP_SOURCES_PLACES];
	__u64 total; /* of all that were added, halved alike */
};

/*
 * Count one datagram of @source, without a reason. @slot: of the service. A source that
 * is no IP address is passed over.
 */
void drop_sources_add(struct drop_sources *w, __u32 slot,
		      const struct record_address *source);

/*
 * Return the IPv4 /24 or IPv6 /56 around @source, the prefixes of the rate limits. False:
 * @source is no IP address.
 */
bool drop_sources_prefix(const struct record_address *source, struct cidr *ret);

/* Count @n datagrams of @prefix, which were refused for @reason. */
void drop_sources_put(struct drop_sources *w, __u32 slot, const struct cidr *prefix,
		      __u64 n, __u8 reason);

/* Halve all counts. To be called at a regular interval, by the owner of @w. */
void drop_sources_fade(struct drop_sources *w);

/*
 * Fill @ret with the prefixes that have the largest shares of all drops, a twentieth or
 * more, most first. Returns how many, at most @max.
 */
size_t drop_sources_list(const struct drop_sources *w, struct drop_sources_row *ret,
			 size_t max);

/* Samples that make a row of drop_sources_sure(). */
#define DROP_SOURCES_SURE 3

/*
 * Fill @ret with the prefixes that surely have a twentieth of all drops or more, by
 * DROP_SOURCES_SURE samples or more, most first. Returns how many, at most @max. A row's
 * count is without what was taken over. Addresses that are spoofed at random are not
 * among them.
 */
size_t drop_sources_sure(const struct drop_sources *w, struct drop_sources_row *ret,
			 size_t max);

#endif /* DROP_SOURCES_H */
