/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lanes.h - what each processor sends in scale.c: its own frames, counters and random
 * numbers, in memory that no other processor writes. Shared by scale.bpf.c and scale.c.
 */
#ifndef LANES_H
#define LANES_H

#include <linux/types.h>

#define LANES	    256 /* a power of two; a processor of a higher number has none */
#define LANE_FRAME  80 /* bytes; a multiple of 8, and room for a number after 74 */
#define LANE_SOURCE 26 /* where an IPv4 source address is */

/* Frames of one kind. Written by scale.c between runs, and @sent by the program. */
struct flow {
	__u64 frame[LANE_FRAME / 8];
	__u32 fixed; /* source address, network order; the bits of @mask are zero */
	__u32 mask; /* bits of the source that are random, host order; 0: one source */
	__u32 number_at; /* byte of the frame at which the count of frames is written */
	__u32 sent; /* frames so far, from what scale.c has set */
};

/* One processor's. Aligned to two pairs of cache lines, which are fetched together. */
struct lane {
	struct flow flows[2];
	__u32 turn;
	__u32 mixed; /* flows[1] is sent when these bits of @turn are zero; 0: always */
	__u32 random;
} __attribute__((aligned(256)));

#endif /* LANES_H */
