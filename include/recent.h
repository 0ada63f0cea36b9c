/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recent.h - recent askers: has a source asked before, at the pace of a server browser,
 * about once a second? A client that cannot return a cookie has nothing else to show.
 *
 * Each processor has a table of its own, of a size that stays in its L2 cache. So a
 * refused query touches one line that no other processor writes to. The network card
 * sends all datagrams of one client to one processor, by a hash of addresses and ports.
 *
 * A line is a Bloom filter for each of the last eight slices of 0.54 s, stored by column:
 * bit N of a byte belongs to slice N, modulo 8. A source has one byte in each of four
 * groups of bytes. In a slice in which all four bytes have the slice's bit, the source
 * has asked, or others have set these bits by chance. A source that asked in two to five
 * of the seven slices before this one asks like a browser. A source that asked in more of
 * them asks faster than any browser.
 *
 * Mark window: under a fast flood only a part of the sources is marked, or the bits would
 * be full and the marking expensive. A second hash puts each source somewhere in 2^32.
 * Each service has a window in that space. The daemon sets the width of the window once a
 * second, and moves the window on every RECENT_TURN_S seconds, so that all sources have a
 * turn. Without a daemon the window stays as it is: at first, everything.
 *
 * The functions down to recent_seen() are called by the programs (bpf/reputation.bpf.h),
 * and those after it by the daemon (windows_fit(), windows_move() in
 * user/shield/shield_cache.c). The tables are not pinned: each load of the programs
 * begins with empty ones.
 */
#ifndef RECENT_H
#define RECENT_H

#include <linux/types.h>
#include <stdbool.h>

#include "cursor.h"
#include "greylist.h"
#include "wire.h"

#define RECENT_BITS   13 /* 2^13 lines of 64 bytes: 512 KiB for each processor */
#define RECENT_TABLES 64 /* a power of two; more processors than that share tables */
#define RECENT_SLICES 8 /* as many as a byte has bits */
#define RECENT_SHIFT  29 /* a slice is 2^29 ns */
#define RECENT_WORDS  7
_Static_assert(64 - RECENT_BITS > 50, "recent_seen() takes bits 36 to 50 of the hash");

struct recent_line {
	__u64 slice; /* in which the line was written last, since the clock's zero */
	__u64 words[RECENT_WORDS]; /* 56 bytes, of which a source has four */
};

/* The tables of one CPU. */
struct recent {
	struct recent_line lines[1 << RECENT_BITS]; /* sources that asked */
	struct greylist_bucket greylist[1 << GREYLIST_BITS]; /* requests to join */
};

/* Mark window of a service: sources with a recent_turn() inside of it are marked. */
struct recent_window {
	__u32 from; /* where it begins */
	__u32 shut; /* how much of 2^32 lies outside of it; 0: nothing */
};

/*
 * Return the hash that chooses the line and the bytes of a source. @net: an IPv4 address,
 * or the upper half of an IPv6 one. Called by recent_mark().
 */
static __always_inline __u64 recent_hash(__u64 net, const __u64 keys[3])
{
	return net * keys[0] + keys[1];
}

/*
 * Return the place of a source in the space of mark windows. Independent of
 * recent_hash(): otherwise the sources of a window would share few lines. Called by
 * recent_asks().
 */
static __always_inline __u32 recent_turn(__u64 net, const __u64 keys[3])
{
	return (net * keys[1] + keys[2]) >> 32;
}

/*
 * Return true if a source at @turn lies in the mark window @w. Called by recent_asks().
 * The daemon may move @w meanwhile; a source then is or is not marked, no more.
 * recent_width() counts the places for which it is true: change both.
 */
static __always_inline bool recent_open(const struct recent_window *w, __u32 turn)
{
	return turn - w->from <= ~w->shut;
}

/*
 * Return the index of the line of @hash. Below 2^RECENT_BITS; recent_mark(), its caller,
 * compares it once more for the verifier.
 */
static __always_inline __u32 recent_at(__u64 hash)
{
	return hash >> (64 - RECENT_BITS);
}

/*
 * Clear the bits of the slices that have begun since @line was written. Called by
 * recent_seen(). All lines keep bit N for slice N modulo RECENT_SLICES.
 */
static __always_inline void recent_age(struct recent_line *line, __u64 slice)
{
	__u64 passed = slice - line->slice, gone = (1 << RECENT_SLICES) - 1;

	if (passed < RECENT_SLICES) {
		gone = ((1u << passed) - 1) << ((line->slice + 1) & (RECENT_SLICES - 1));
		gone = (gone | gone >> RECENT_SLICES) & ((1 << RECENT_SLICES) - 1);
	}
	for (int i = 0; i < RECENT_WORDS; i++)
		line->words[i] &= ~(gone * 0x0101010101010101);
	line->slice = slice;
}

/* Return true if at least two bits of @bits are 1. Called by recent_seen(). */
static __always_inline bool recent_two(__u32 bits)
{
	return bits & (bits - 1);
}

/*
 * Return true if the source with @hash asked in two to five of the seven slices before
 * this one. @line is the line of @hash. Marks the source in this slice, so a second call
 * in a slice returns the same. Adds one to *@marked, which the daemon reads
 * (marked_since()), if the source was not marked there before. Not atomic: each processor
 * has lines of its own, and a mark that is lost where two processors share a table costs
 * one more query. Called by recent_mark().
 */
static __always_inline bool recent_seen(struct recent_line *line, __u64 hash,
					__u64 now_ns, __u32 *marked)
{
	__u64 slice = now_ns >> RECENT_SHIFT;
	__u32 bit = 1 << (slice & (RECENT_SLICES - 1)), asked, idle;
	__u8 *bytes = (__u8 *)line->words, *one, *two, *three, *four;

	if (line->slice != slice)
		recent_age(line, slice);
	/* Without this, the compiler computes the bytes before recent_age() and spills
	 * them. */
	asm volatile("" : "+r"(hash));
	one = bytes + (hash >> 36 & 15);
	two = bytes + 16 + (hash >> 40 & 15);
	three = bytes + 32 + (hash >> 44 & 15);
	four = bytes + 48 + (hash >> 48 & 7);
	asked = *one & *two & *three & *four;
	if (!(asked & bit)) {
		*one |= bit;
		*two |= bit;
		*three |= bit;
		*four |= bit;
		++*marked;
	}
	asked &= ~bit;
	idle = (asked | bit) ^ ((1 << RECENT_SLICES) - 1);
	return recent_two(asked) && recent_two(idle);
}

/* --- the window, by the daemon ----------------------------------------------- */

#define RECENT_RATE   70000 /* sources that a processor marks in a second, at most */
#define RECENT_TURN_S 4 /* how long the window stays where it is: four queries */

/*
 * Return how many of 2^32 places are in a window of which @shut are outside. From 1 to
 * 2^32. Called by windows_move(), recent_all() and recent_widen().
 */
static inline __u64 recent_width(__u32 shut)
{
	return (__u64)~shut + 1;
}

/*
 * Return how many sources query a service per second at one processor, if that marked
 * @marked of them per second while @shut of the space was outside of the window. Called
 * by windows_fit(), for the processor that marked most (marked_since()), since
 * RECENT_RATE is of one too. recent_shut() must remain the inverse.
 */
static inline __u64 recent_all(__u32 shut, __u64 marked)
{
	return (marked << 32) / recent_width(shut);
}

/*
 * Return how much of the space shall be outside of the window if @all sources query per
 * second, and @share may be marked. 0: nothing. Called by windows_fit(), which limits the
 * result by recent_widen(). The window never becomes smaller than 2^20, so that it always
 * moves on.
 */
static inline __u32 recent_shut(__u64 all, __u64 share)
{
	__u64 width;

	if (all <= share)
		return 0;
	width = (share << 32) / all;
	return width < 1 << 20 ? ~((1u << 20) - 1) : ~(__u32)(width - 1);
}

/*
 * Return @shut for a window of which @was lay outside until now, such that it grows by a
 * quarter at most. Otherwise a flood that stops for a second would meet a wide window,
 * and fill the table in some slices. Called by windows_fit(), with the result of
 * recent_shut().
 */
static inline __u32 recent_widen(__u32 was, __u32 shut)
{
	__u64 most = recent_width(was) + recent_width(was) / 4;

	return recent_width(shut) <= most ? shut : ~(__u32)(most - 1);
}

#endif /* RECENT_H */
