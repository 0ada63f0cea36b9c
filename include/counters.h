/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.h - the counters of a service: where the one of a kind and reason is.
 *
 * A per-CPU value of the kernel's has 32 KiB at most, and most pairs of kind and reason
 * cannot happen. So the counters of those that can are numbered, reason by reason as in
 * ABI_REASONS, what is received before what is sent, and cut into rows of COUNTER_CELLS:
 * one map entry each. Where a counter is, is arithmetic, and a constant if kind and
 * reason are; a new kind or reason makes more rows.
 *
 *	entry = slot * COUNTER_ROWS + number / COUNTER_CELLS
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "abi.h"

struct counter {
	__u64 packets;
	__u64 bytes; /* of whole frames, Ethernet header included, no checksum */
};

/*
 * Traffic with peers that are not verified players. Wire: with preamble, gap, checksum
 * and padding to the Ethernet minimum; in the kernel's counters of what goes toward the
 * server it is the padding alone, since the rest is in the counters of all reasons but
 * PLAYER (volume_complete()).
 */
struct volume {
	__u64 payload;
	__u64 wire;
};

#define WIRE_LEAST 60 /* bytes of a frame, as we count them */
#define WIRE_MORE  24 /* checksum 4, preamble 8, gap 12 */

/* What a frame of @bytes occupies on Ethernet. */
static __always_inline __u64 wire_bytes(__u64 bytes)
{
	return (bytes < WIRE_LEAST ? WIRE_LEAST : bytes) + WIRE_MORE;
}

/* --- rows -------------------------------------------------------------------- */

#define COUNTER_CELLS 64 /* a power of two, or the kernel would divide */

/* One entry of the map, on one CPU. */
struct counter_row {
	struct counter cells[COUNTER_CELLS];
	struct volume unverified; /* of what is counted in this row */
	/* In a row of COUNTER_IN_SERVICE_LIMIT: when this processor's share of challenges
	 * to the kinds in it will be whole again, see struct validation_state.share and
	 * limit.h. */
	__u64 challenge_due_ns[CHALLENGE_USES];
};
_Static_assert(sizeof(struct counter_row) <= 32768,
	       "the kernel's limit for per-CPU values");

/* How many kinds a reason has counters for: the columns of ABI_REASONS. */
enum counter_kinds {
#define AS_ONE(...) +1
	COUNTER_NONE = 0,
	COUNTER_SHAPES = WIRE_SHAPES(AS_ONE), /* they are the first kinds */
	COUNTER_ALL = KIND_COUNT,
#undef AS_ONE
};

/* The number of each reason's first counter: that of kind 0. */
enum counter_number {
#define AS_IN(reason, name, verdict, received, sent) \
	COUNTER_IN_##reason,                         \
		COUNTER_IN_##reason##_LAST =         \
			COUNTER_IN_##reason + COUNTER_##received - 1,
#define AS_OUT(reason, name, verdict, received, sent) \
	COUNTER_OUT_##reason,                         \
		COUNTER_OUT_##reason##_LAST = COUNTER_OUT_##reason + COUNTER_##sent - 1,
	ABI_REASONS(AS_IN) COUNTERS_IN,
	COUNTERS_OUT_FROM =
		(COUNTERS_IN + COUNTER_CELLS - 1) / COUNTER_CELLS * COUNTER_CELLS,
	COUNTERS_OUT_BEFORE = COUNTERS_OUT_FROM - 1,
	ABI_REASONS(AS_OUT) COUNTERS,
#undef AS_IN
#undef AS_OUT
};

#define COUNTER_ROWS_IN (COUNTERS_OUT_FROM / COUNTER_CELLS)
#define COUNTER_ROWS	((COUNTERS + COUNTER_CELLS - 1) / COUNTER_CELLS) /* of a service */

struct counter_span {
	__u16 first; /* number of the counter of kind 0 */
	__u16 count; /* kinds from 0 on that have one */
};
_Static_assert(COUNTERS <= 65535, "struct counter_span has 16 bits");

/* clang-format off */
/* Of what is received, and of what is sent, by reason. */
static const struct counter_span counter_spans[2][REASON_COUNT] = {
#define AS_IN(reason, name, verdict, received, sent) \
	[REASON_##reason] = { COUNTER_IN_##reason, COUNTER_##received },
#define AS_OUT(reason, name, verdict, received, sent) \
	[REASON_##reason] = { COUNTER_OUT_##reason, COUNTER_##sent },
	{ ABI_REASONS(AS_IN) },
	{ ABI_REASONS(AS_OUT) },
#undef AS_IN
#undef AS_OUT
};
/* clang-format on */

/*
 * The number of the counter of @kind for @reason, when it goes in @direction, C2S or S2C.
 * COUNTERS: there is none, since it cannot happen.
 */
static __always_inline __u32 counter_number(enum direction direction, enum wire_kind kind,
					    enum reason reason)
{
	const struct counter_span *spans = counter_spans[direction == DIRECTION_S2C];
	__u32 at = reason;

	if (!index_below(&at, REASON_COUNT) || kind >= spans[at].count)
		return COUNTERS;
	return spans[at].first + kind;
}

/* --- the sums of a service, as userland sees them ------------------------------ */

/* In one direction. */
struct counters {
	struct counter by[KIND_COUNT][REASON_COUNT];
	struct volume unverified;
};

/* Sort the sums of a service's @rows, as the kernel counts them, into @ret. */
static inline void counters_sort(const struct counter_row rows[COUNTER_ROWS],
				 enum direction direction, struct counters *ret)
{
	__u32 from = direction == DIRECTION_S2C ? COUNTER_ROWS_IN : 0;
	__u32 to = direction == DIRECTION_S2C ? COUNTER_ROWS : COUNTER_ROWS_IN;

	*ret = (struct counters){ 0 };
	for (__u32 row = from; row < to; row++) {
		ret->unverified.payload += rows[row].unverified.payload;
		ret->unverified.wire += rows[row].unverified.wire;
	}
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			__u32 number = counter_number(direction, (enum wire_kind)kind,
						      (enum reason)reason);

			if (number < COUNTERS)
				ret->by[kind][reason] =
					rows[number / COUNTER_CELLS]
						.cells[number % COUNTER_CELLS];
		}
	}
}

/* Add to what the kernel counted toward the server what it left to be added up. */
static inline void volume_complete(struct counters *t)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			const struct counter *counter = &t->by[kind][reason];

			if (reason != REASON_PLAYER)
				t->unverified.wire +=
					counter->bytes + WIRE_MORE * counter->packets;
		}
	}
}

/* Datagrams of all kinds, whatever became of them. */
static inline __u64 counters_packets(const struct counters *t)
{
	__u64 sum = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			sum += t->by[kind][reason].packets;
	return sum;
}

#endif /* COUNTERS_H */
