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
 * it. The time beside the tag comes round after 17 s: then an old cell is kept once more.
 * If all cells of a bucket are kept, a new request is not remembered, and its client has
 * to try again. So a flood of more than GREYLIST_CELLS in that time hinders some clients,
 * and pushes no request out that is remembered. A request that comes again too soon
 * begins anew: a flood from few addresses repeats each of them faster than any client.
 *
 * A flood pays for each look. So tags and times of all cells of a bucket are compared at
 * once, in two integers, and the rest of a hash only where a tag is the same.
 *
 * Called by greylist_retried() (bpf/greylist.bpf.h) alone. The tables are not pinned, so
 * a change of a cell needs no migration.
 */
#ifndef GREYLIST_H
#define GREYLIST_H

#include <linux/types.h>
#include <stdbool.h>

#include "tags.h"

#define GREYLIST_BITS	   15 /* 2^15 buckets of 32 bytes: 1 MiB for each processor */
#define GREYLIST_WAYS	   8
#define GREYLIST_CELLS	   (GREYLIST_WAYS << GREYLIST_BITS)
#define GREYLIST_UNIT_BITS 27 /* 2^27 ns: 134 ms */
#define GREYLIST_TIME	   0x7f /* of these beside a tag */
#define GREYLIST_EPOCH	   7 /* and above them beside a check: comes round after 137 s */

struct greylist_bucket {
	__u64 tags; /* of each cell a byte, the first cell's lowest; 0: empty; bit 0: of a
		       ClientHello; bit 1 is set; above them, of the hash */
	__u64 times; /* a byte of each: when it came, in units, up to GREYLIST_TIME */
	__u16 checks[GREYLIST_WAYS]; /* 13 further bits of the hash, and GREYLIST_EPOCH */
};

/* In units. An interval is one more or less than it took, by where units begin. */
struct greylist_timing {
	__u32 least; /* a request that comes again sooner is too soon */
	__u32 most; /* one that comes again later is the first; up to GREYLIST_TIME */
	__u32 kept; /* how long its cells are kept; up to GREYLIST_TIME */
};

/* 0.9 s to 8.3 s, kept for 2.7 s; 0.5 s to 4.6 s, kept for 1.3 s. */
static const struct greylist_timing greylist_netquake = { 7, 62, 21 };
static const struct greylist_timing greylist_hello = { 4, 34, 10 };

/*
 * Return the index of the bucket of @hash. Below 2^GREYLIST_BITS; the caller compares it
 * once more for the verifier. The tag is made of the bits below, and the check of those
 * below these.
 */
static __always_inline __u32 greylist_at(__u64 hash)
{
	return hash >> (64 - GREYLIST_BITS);
}

/*
 * Return @bytes with @byte in place of number @at. Called by greylist_seen() alone, which
 * must give a @byte below 256.
 */
static __always_inline __u64 greylist_put(__u64 bytes, __u32 at, __u64 byte)
{
	return (bytes & ~(0xffull << 8 * at)) | byte << 8 * at;
}

/*
 * Return true if the request with @hash came before, and this is its pace. @bucket is
 * that of @hash. @hello: it is a ClientHello. Remembers that the request comes now; but
 * if @look and the result is true, nothing changes, so that the next call returns true as
 * well.
 *
 * Not atomic: a bucket belongs to one processor, and a request that is lost where two
 * processors share a table has to be sent once more.
 */
static __always_inline bool greylist_seen(struct greylist_bucket *bucket, __u64 hash,
					  bool hello, __u64 now_ns, bool look)
{
	const struct greylist_timing *timing =
		hello ? &greylist_hello : &greylist_netquake;
	__u64 tag = (hash >> (56 - GREYLIST_BITS) & 0xfc) | 2 | hello;
	__u64 tags = bucket->tags;
	__u32 when = now_ns >> GREYLIST_UNIT_BITS;
	__u64 now = when & GREYLIST_TIME;
	/* Bit 7 of each byte is free, so that no byte borrows from the next. */
	__u64 ages = (now * EACH_BYTE(1) | EACH_BYTE(0x80)) - bucket->times;
	__u64 same = tags_like(tags, tag), free;
	__u16 check = (hash >> (40 - GREYLIST_BITS) & (__u16)~GREYLIST_EPOCH) |
		      (when >> 7 & GREYLIST_EPOCH);
	__u32 at, age;
	bool seen;

	for (int i = 0; i < GREYLIST_WAYS && same; i++, same &= same - 1) {
		at = lowest_byte(same);
		if ((bucket->checks[at] ^ check) > GREYLIST_EPOCH ||
		    (tags >> 8 * at & 0xff) != tag)
			continue;
		age = (when - ((bucket->checks[at] & GREYLIST_EPOCH) << 7 |
			       (bucket->times >> 8 * at & GREYLIST_TIME))) &
		      (GREYLIST_EPOCH << 7 | GREYLIST_TIME);
		seen = age >= timing->least && age <= timing->most;
		if (!seen || !look) {
			bucket->times = greylist_put(bucket->times, at, now);
			bucket->checks[at] = check;
		}
		return seen;
	}
	/* As above: no byte carries into the next. Each cell is kept as its own kind. */
	ages &= EACH_BYTE(GREYLIST_TIME);
	ages += (0x80 - (__u64)greylist_netquake.kept) * EACH_BYTE(1);
	ages += (greylist_netquake.kept - (__u64)greylist_hello.kept) *
		(tags & EACH_BYTE(1));
	free = ages & EACH_BYTE(0x80);
	free |= tags_like(tags, 0);
	if (!free)
		return false;
	at = lowest_byte(free);
	bucket->tags = greylist_put(tags, at, tag);
	bucket->times = greylist_put(bucket->times, at, now);
	bucket->checks[at] = check;
	return false;
}

#endif /* GREYLIST_H */
