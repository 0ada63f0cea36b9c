/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worst.h - from which prefixes most of the dropped datagrams came, from samples.
 *
 * Misra-Gries in the form of Metwally's "space-saving": WORST_PLACES counters; who has
 * none takes over that of the one with least, and its count. Whoever sends more than one
 * in WORST_PLACES of all is surely among them, with at most that much too much. Counts
 * are halved now and then, so that the past fades.
 *
 * Samples thin out what there is much of, so only shares mean anything; and whose
 * addresses these are, a flood that lies about them does not tell.
 */
#ifndef WORST_H
#define WORST_H

#include "abi.h"
#include "lib/record.h"

#define WORST_PLACES 64

struct worst_row {
	struct cidr prefix; /* IPv4 /24 or IPv6 /56, as the budgets have them */
	__u32 slot; /* of the service */
	__u64 count; /* 0: free */
};

struct worst {
	struct worst_row rows[WORST_PLACES];
	__u64 total; /* of all that were added, halved alike */
};

void worst_add(struct worst *w, __u32 slot, const struct record_address *source);

/* The past is worth half from now on. */
void worst_fade(struct worst *w);

/*
 * Those with the largest shares of all drops, most first, if it is a twentieth or more;
 * at most @max. How many.
 */
size_t worst_list(const struct worst *w, struct worst_row *ret, size_t max);

#endif /* WORST_H */
