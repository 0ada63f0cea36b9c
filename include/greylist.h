/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * greylist.h - has a source sent the same request before, at the pace of a stock client?
 * Some clients have nothing else to show. NetQuake's CCREQ_CONNECT has no challenge and
 * is sent every 2.5 s. A first ClientHello of DTLS has no cookie and is sent again after
 * 1 s, 2 s and 4 s.
 *
 * Each processor has a table of its own (recent.h), as for queries: the network card
 * sends all datagrams of one client to one processor. A bucket is half a cache line of
 * cells. A cell is a part of a keyed hash, and the time at which the request came. It is
 * kept until the client should have sent the request again; after that, another may take
 * it. If all cells of a bucket are kept, a new request is not remembered, and its client
 * has to try again. So a flood of more than GREYLIST_CELLS in that time hinders some
 * clients, and pushes no request out that is remembered. A request that comes again too
 * soon begins anew: a flood from few addresses repeats each of them faster than any
 * client.
 *
 * Called by greylist_retried() (bpf/greylist.bpf.h) alone. The tables are not pinned, so
 * a change of a cell needs no migration.
 */
#ifndef GREYLIST_H
#define GREYLIST_H

#include <linux/types.h>
#include <stdbool.h>

#define GREYLIST_BITS	   15 /* 2^15 buckets of 32 bytes: 1 MiB for each processor */
#define GREYLIST_WAYS	   8
#define GREYLIST_CELLS	   (GREYLIST_WAYS << GREYLIST_BITS)
#define GREYLIST_UNIT_BITS 23 /* 2^23 ns: 8.4 ms */
#define GREYLIST_TIME_BITS 12 /* of these: comes round after 34 s; above it, the hash */
#define GREYLIST_TIME	   ((1u << GREYLIST_TIME_BITS) - 1)

struct greylist_bucket {
	__u32 cells[GREYLIST_WAYS]; /* 0: empty; a hash is odd, so that no other cell is 0
				     */
};

/* All in GREYLIST_UNIT_BITS. */
struct greylist_timing {
	__u32 least; /* a request that comes again sooner is too soon */
	__u32 most; /* one that comes again later is the first */
	__u32 kept; /* how long a cell is kept */
};

#define GREYLIST_MS(ms) ((__u32)((ms)*1000000ull >> GREYLIST_UNIT_BITS))

static const struct greylist_timing greylist_netquake = { GREYLIST_MS(980),
							  GREYLIST_MS(8400),
							  GREYLIST_MS(2800) };
static const struct greylist_timing greylist_hello = { GREYLIST_MS(510),
						       GREYLIST_MS(4600),
						       GREYLIST_MS(1300) };

/*
 * Return the index of the bucket of @hash. Below 2^GREYLIST_BITS; the caller compares it
 * once more for the verifier.
 */
static __always_inline __u32 greylist_at(__u64 hash)
{
	return hash >> (64 - GREYLIST_BITS);
}

/*
 * Return true if the request with @hash came before, and this is its pace. @bucket is
 * that of @hash. Remembers that the request comes now; but if @look and the result is
 * true, nothing changes, so that the next call returns true as well.
 *
 * Not atomic: a bucket belongs to one processor, and a request that is lost where two
 * processors share a table has to be sent once more. All of @timing must be below
 * 2^GREYLIST_TIME_BITS units.
 */
static __always_inline bool greylist_seen(struct greylist_bucket *bucket, __u64 hash,
					  const struct greylist_timing *timing,
					  __u64 now_ns, bool look)
{
	__u32 tag = ((__u32)(hash >> 12) | 1u << GREYLIST_TIME_BITS) & ~GREYLIST_TIME;
	__u32 now = now_ns >> GREYLIST_UNIT_BITS & GREYLIST_TIME;
	__u32 *cell, age;

	for (int i = 0; i < GREYLIST_WAYS; i++) {
		cell = &bucket->cells[i];
		if ((*cell ^ tag) > GREYLIST_TIME)
			continue;
		age = (now - *cell) & GREYLIST_TIME;
		if (age >= timing->least && age <= timing->most) {
			if (!look)
				*cell = tag | now;
			return true;
		}
		*cell = tag | now;
		return false;
	}
	/* Without this, the compiler spills all cells and where each is: 100 bytes of
	 * stack, and shield_validate() would need more than the 512 of a stack of calls.
	 */
	asm volatile("" : "+r"(bucket));
	for (int i = 0; i < GREYLIST_WAYS; i++) {
		cell = &bucket->cells[i];
		if (*cell && ((now - *cell) & GREYLIST_TIME) < timing->kept)
			continue;
		*cell = tag | now;
		break;
	}
	return false;
}

#endif /* GREYLIST_H */
