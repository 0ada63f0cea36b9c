/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.h - the counters of a service: where the one of a kind and reason is.
 *
 * Most pairs of kind and reason cannot happen. Those that can are numbered, reason by
 * reason as in ABI_REASONS, what is received before what is sent, and cut into rows of
 * COUNTER_CELLS: one map entry each. The place of a counter is arithmetic, and a constant
 * if kind and reason are; a new kind or reason makes more rows.
 *
 *	entry = slot * COUNTER_ROWS + number / COUNTER_CELLS
 *
 * A counter is one word on each processor, so that no processor writes what another
 * reads. Its contents move to the struct counter_sums of the same entry, which all
 * processors share, once its highest bit is set: after 17 GB. A frame has 42 bytes at
 * least, so that the packets have room enough:
 *
 *	63              29 28        0
 *	+-----------------+-----------+
 *	|      bytes      |  packets  |
 *	+-----------------+-----------+
 *
 * The programs count (counter_number(), COUNTER_IN(), COUNTER_OUT(), counter_read()); the
 * functions from counter_sums_add() on are called in userland alone. The numbers are the
 * layout of pinned tables and a part of their name (hash_parts() in
 * user/shield/shield_abi.c): another kind, reason or order makes new tables. The bits of
 * a word are not: if they change, raise ABI_VERSION there. counter_at(), counters_sort()
 * and, in user/shield/, requests_count() and reset_slots() find an entry by the formula
 * above.
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

/*
 * Return the bytes that a frame of @bytes occupies on Ethernet. Called by
 * count_unverified_out(), and by challenge_fits() and challenge_admit(), which compare a
 * challenge with its request. volume_complete() computes the same sum from counters.
 */
static __always_inline __u64 wire_bytes(__u64 bytes)
{
	return (bytes < WIRE_LEAST ? WIRE_LEAST : bytes) + WIRE_MORE;
}

/* --- rows -------------------------------------------------------------------- */

#define COUNTER_CELLS 64 /* a power of two, or the kernel would divide */

#define COUNTER_BYTE  (1ull << 29) /* in the word of a counter, above its packets */
#define COUNTER_FULL  (1ull << 63) /* in a word whose contents have to move */
_Static_assert(COUNTER_FULL / COUNTER_BYTE / 42 < COUNTER_BYTE, "bytes are full first");

/* One entry of the map, on one CPU. */
struct counter_row {
	__u64 cells[COUNTER_CELLS];
	struct volume unverified; /* of what is counted in this row */
	__u64 turn; /* struct live.counters_turn when a counter in it changed last */
	/* In a row of COUNTER_IN_SERVICE_LIMIT: when this processor's share of challenges
	 * to the kinds in it will be whole again, see struct validation_state.share and
	 * limit.h. */
	__u64 challenge_due_ns[CHALLENGE_USES];
};
_Static_assert(sizeof(struct counter_row) <= 32768,
	       "the kernel's limit for per-CPU values");

/* The same entry of all processors: what has moved, or, in userland, all of it. */
struct counter_sums {
	struct counter cells[COUNTER_CELLS];
	struct volume unverified; /* 0 in the map: it stays with each processor */
};

/*
 * Return the packets and bytes in @word, of a counter of one processor. Called by
 * counters_spill() in the programs, and in userland for each processor's row.
 * COUNTER_FULL is a part of the bytes.
 */
static __always_inline struct counter counter_read(__u64 word)
{
	return (struct counter){ word % COUNTER_BYTE, word / COUNTER_BYTE };
}

/* --- which kinds a reason has counters for ------------------------------------ */

/* clang-format off */
/* The groups of kinds. @class_: as in the kind's row of wire.h. */
#define COUNTER_IS_QUERY(kind, class_) ((class_) == CLASS_QUERY)
#define COUNTER_IS_JOIN(kind, class_)  ((class_) == CLASS_CHALLENGE || (class_) == CLASS_CONNECT || (kind) == KIND_ECHO_RETURN)
#define COUNTER_IS_ACK(kind, class_)   ((kind) == KIND_RAW_ACK || (kind) == KIND_ACK)
#define COUNTER_IS_REPLY(kind, class_) ((class_) == CLASS_REPLY)
#define COUNTER_IS_BAD(kind, class_)   ((class_) == CLASS_MALFORMED || (class_) == CLASS_FRAGMENT)
#define COUNTER_IS_GAME(kind, class_)  ((class_) == CLASS_NETCHAN)

/* A kind that is not in the group has the place of the next one that is. */
#define COUNTER_PLACED(group, kind, class_) \
	PLACE_##group##_##kind, \
	PLACE_##group##_##kind##_LAST = PLACE_##group##_##kind + COUNTER_IS_##group(KIND_##kind, CLASS_##class_) - 1,
#define SHAPE_QUERY(kind, name, class_, ...)       COUNTER_PLACED(QUERY, kind, class_)
#define SHAPE_JOIN(kind, name, class_, ...)        COUNTER_PLACED(JOIN, kind, class_)
#define SHAPE_ACK(kind, name, class_, ...)         COUNTER_PLACED(ACK, kind, class_)
#define SHAPE_REPLY(kind, name, class_, ...)       COUNTER_PLACED(REPLY, kind, class_)
#define SHAPE_BAD(kind, name, class_, ...)         COUNTER_PLACED(BAD, kind, class_)
#define SHAPE_GAME(kind, name, class_, ...)        COUNTER_PLACED(GAME, kind, class_)
#define CODED_QUERY(kind, code, name, class_, ...) COUNTER_PLACED(QUERY, kind, class_)
#define CODED_JOIN(kind, code, name, class_, ...)  COUNTER_PLACED(JOIN, kind, class_)
#define CODED_ACK(kind, code, name, class_, ...)   COUNTER_PLACED(ACK, kind, class_)
#define CODED_REPLY(kind, code, name, class_, ...) COUNTER_PLACED(REPLY, kind, class_)
#define CODED_BAD(kind, code, name, class_, ...)   COUNTER_PLACED(BAD, kind, class_)
#define CODED_GAME(kind, code, name, class_, ...)  COUNTER_PLACED(GAME, kind, class_)
#define COUNTER_GROUP(group) \
	PLACES_##group, \
	PLACES_##group##_LAST = PLACES_##group - 1, \
	EACH_KIND(SHAPE_##group, CODED_##group)

/* The places of the kinds, group by group. */
enum counter_place {
	COUNTER_GROUP(QUERY) COUNTER_GROUP(JOIN) COUNTER_GROUP(ACK)
	COUNTER_GROUP(REPLY) COUNTER_GROUP(BAD) COUNTER_GROUP(GAME)
	COUNTER_PLACES, /* of the kinds that are in no group */
};
_Static_assert(COUNTER_PLACES <= 255, "a place has 8 bits");

#define PLACE_IF(group, kind, class_) \
	COUNTER_IS_##group(KIND_##kind, CLASS_##class_) ? PLACE_##group##_##kind :
#define PLACE_SHAPE(kind, name, class_, ...) \
	[KIND_##kind] = PLACE_IF(QUERY, kind, class_) PLACE_IF(JOIN, kind, class_) \
		PLACE_IF(ACK, kind, class_) PLACE_IF(REPLY, kind, class_) \
		PLACE_IF(BAD, kind, class_) PLACE_IF(GAME, kind, class_) COUNTER_PLACES,
#define PLACE_CODED(kind, code, name, class_, ...) PLACE_SHAPE(kind, name, class_)

static const __u8 counter_places[KIND_COUNT] = { EACH_KIND(PLACE_SHAPE, PLACE_CODED) };

#define COUNTER_ONE(...) +1
enum {
	COUNTER_SHAPES = WIRE_SHAPES(COUNTER_ONE), /* they are the first kinds */
	COUNTER_WORDS = COUNTER_SHAPES WIRE_WORDS(COUNTER_ONE),
};

/*
 * The columns of ABI_REASONS: so many kinds from one on, in their own order or, if it is
 * @placed, in that of their places.
 *	  set		from		to			placed */
#define COUNTER_SETS(X)						\
	X(NONE,		0,		0,			0) \
	X(ALL,		0,		KIND_COUNT,		0) \
	X(SHAPES,	0,		COUNTER_SHAPES,		0) \
	/* those up to what is returned of an echo */		\
	X(STRAYS,	0,		KIND_ECHO_RETURN + 1,	0) \
	/* NetQuake's control packets and DTLS handshakes */	\
	X(CODED,	COUNTER_WORDS,	KIND_COUNT,		0) \
	X(QUERIES,	PLACES_QUERY,	PLACES_JOIN,		1) \
	X(JOINS,	PLACES_JOIN,	PLACES_ACK,		1) \
	X(REQUESTS,	PLACES_QUERY,	PLACES_ACK,		1) \
	X(REPLIES,	PLACES_REPLY,	PLACES_BAD,		1) \
	X(USELESS,	PLACES_REPLY,	PLACES_GAME,		1) \
	X(RESPONSES,	PLACES_QUERY,	PLACES_BAD,		1) \
	X(STEPS,	PLACES_JOIN,	PLACES_BAD,		1) \
	X(GAMES,	PLACES_GAME,	COUNTER_PLACES,		1)

enum counter_set {
#define AS_SET(set, from, to, placed) \
	COUNTER_FROM_##set = from, COUNTER_##set##_COUNT = (to) - (from), COUNTER_PLACED_##set = placed,
	COUNTER_SETS(AS_SET)
#undef AS_SET
};

/*
 * The number of the first counter of each reason. The fast path and share_take() add a
 * kind to it, which is right only for a set that begins with kind 0 and is not placed;
 * reply_number() adds a place of REPLIES.
 */
enum counter_number {
#define AS_IN(reason, name, verdict, received, sent) \
	COUNTER_IN_##reason, COUNTER_IN_##reason##_LAST = COUNTER_IN_##reason + COUNTER_##received##_COUNT - 1,
#define AS_OUT(reason, name, verdict, received, sent) \
	COUNTER_OUT_##reason, COUNTER_OUT_##reason##_LAST = COUNTER_OUT_##reason + COUNTER_##sent##_COUNT - 1,
	ABI_REASONS(AS_IN)
	COUNTERS_IN,
	COUNTERS_OUT_FROM = (COUNTERS_IN + COUNTER_CELLS - 1) / COUNTER_CELLS * COUNTER_CELLS,
	COUNTERS_OUT_BEFORE = COUNTERS_OUT_FROM - 1,
	ABI_REASONS(AS_OUT)
	COUNTERS, /* that of all that cannot happen, which is not shown */
#undef AS_IN
#undef AS_OUT
};
/* clang-format on */

#define COUNTER_ROWS_IN (COUNTERS_OUT_FROM / COUNTER_CELLS)
#define COUNTER_ROWS	(COUNTERS / COUNTER_CELLS + 1) /* of a service */

struct counter_span {
	__u16 first; /* number of the first counter */
	__u8 from; /* the first kind, or place */
	__u8 count; /* of kinds */
	__u8 placed; /* 1: kinds are in the order of their places */
	__u8 pad;
};
_Static_assert(COUNTERS <= 65535 && KIND_COUNT <= 255,
	       "more than struct counter_span has");

/* clang-format off */
/* Of what is received, and of what is sent, by reason. */
static const struct counter_span counter_spans[2][REASON_COUNT] = {
#define AS_SPAN(number, set) { number, COUNTER_FROM_##set, COUNTER_##set##_COUNT, COUNTER_PLACED_##set, 0 }
#define AS_IN(reason, name, verdict, received, sent) \
	[REASON_##reason] = AS_SPAN(COUNTER_IN_##reason, received),
#define AS_OUT(reason, name, verdict, received, sent) \
	[REASON_##reason] = AS_SPAN(COUNTER_OUT_##reason, sent),
	{ ABI_REASONS(AS_IN) },
	{ ABI_REASONS(AS_OUT) },
#undef AS_IN
#undef AS_OUT
#undef AS_SPAN
};
/* clang-format on */

/*
 * Return the number of the counter of @kind in @span; COUNTERS: it cannot happen.
 * Called by counter_number() and the macros below. @kind may be out of range.
 */
static __always_inline __u32 counter_in_span(struct counter_span span, __u32 kind)
{
	/* Of a constant kind the result is one: index_below() would hide it. */
	if (!__builtin_constant_p(kind) && !index_below(&kind, KIND_COUNT))
		return COUNTERS;
	if (span.placed)
		kind = counter_places[kind];
	kind -= span.from;
	return kind < span.count ? span.first + kind : COUNTERS;
}

/*
 * Return the number of the counter of @kind for @reason, when it goes in @direction, C2S
 * or S2C. COUNTERS: it cannot happen. Called by programs and userland; both must get the
 * same. At most COUNTERS, for any arguments: counter_at() has a counter for that, which
 * userland must not show.
 */
static __always_inline __u32 counter_number(enum direction direction, enum wire_kind kind,
					    enum reason reason)
{
	__u32 at = reason;

	if (!index_below(&at, REASON_COUNT))
		return COUNTERS;
	return counter_in_span(counter_spans[direction == DIRECTION_S2C][at], kind);
}

/* The same of a constant reason, without DIRECTION_ and REASON_. */
#define COUNTER_IN(reason, kind)  counter_in_span(counter_spans[0][REASON_##reason], kind)
#define COUNTER_OUT(reason, kind) counter_in_span(counter_spans[1][REASON_##reason], kind)

/* --- the sums of a service, as userland sees them ------------------------------ */

/* In one direction. */
struct counters {
	struct counter by[KIND_COUNT][REASON_COUNT];
	struct volume unverified;
};

/*
 * Add what one processor has counted in a @row. Called by sum_rows() for each processor.
 * @sums begins as the entry that all processors share.
 */
static inline void counter_sums_add(struct counter_sums *sums,
				    const struct counter_row *row)
{
	for (int i = 0; i < COUNTER_CELLS; i++) {
		struct counter counter = counter_read(row->cells[i]);

		sums->cells[i].packets += counter.packets;
		sums->cells[i].bytes += counter.bytes;
	}
	sums->unverified.payload += row->unverified.payload;
	sums->unverified.wire += row->unverified.wire;
}

/*
 * Sort the sums of a service's @rows, made by counter_sums_add(), into @ret. Called by
 * shield_counters(). Toward the server volume_complete() must follow.
 */
static inline void counters_sort(const struct counter_sums rows[COUNTER_ROWS],
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

/*
 * Add to what the kernel counted toward the server what it left to be added up. Called by
 * shield_counters(), once and only for that direction. Keep it in step with
 * count_unverified(). A coalesced buffer counts by the reason for which shield() passed
 * it; shield_joined() counts the same bytes again, as KIND_COALESCED.
 */
static inline void volume_complete(struct counters *t)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			const struct counter *counter = &t->by[kind][reason];

			if (reason != REASON_PLAYER && kind != KIND_COALESCED)
				t->unverified.wire +=
					counter->bytes + WIRE_MORE * counter->packets;
		}
	}
}

/*
 * Return the datagrams of all kinds, whatever became of them. @t: of counters_sort(). A
 * coalesced buffer counts twice, as volume_complete() says.
 */
static inline __u64 counters_packets(const struct counters *t)
{
	__u64 sum = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			sum += t->by[kind][reason].packets;
	return sum;
}

/*
 * Return how many datagrams the server has sent, those withheld included. Challenges and
 * cached responses of the shield do not count. @t: of counters_sort(), for egress.
 */
static inline __u64 counters_of_server(const struct counters *t)
{
	__u64 sum = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			if (reason_verdict((enum reason)reason) != VERDICT_RESPOND)
				sum += t->by[kind][reason].packets;
	return sum;
}

#endif /* COUNTERS_H */
