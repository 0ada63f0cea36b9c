/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_frames.h - Ethernet frames as a client or a server of each family sends them,
 * for trials. Called by explain.c and explain_datagram.c. Pure.
 */
#ifndef EXPLAIN_FRAMES_H
#define EXPLAIN_FRAMES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "capture/capture.h"
#include "player.h"
#include "wire.h"

#define EXPLAIN_FRAME 3200 /* bytes of the largest frame that is built or read */

struct explain_end {
	__be32 address[4]; /* IPv4 in ::ffff:0:0/96 */
	__u16 port;
	__u8 mac[6];
};

/*
 * Write a frame with @payload of @n bytes, at most EXPLAIN_FRAME in all. Returns its
 * length, or 0: it would be longer, or one end is IPv4 and one IPv6. @hops: time to live.
 */
size_t explain_frame(const struct explain_end *from, const struct explain_end *to,
		     __u8 hops, const void *payload, size_t n, __u8 ret[EXPLAIN_FRAME]);

/*
 * Find the datagram in the Ethernet frame of @n bytes. False: it is no frame that holds
 * one.
 */
bool explain_frame_parse(const __u8 *bytes, size_t n, struct datagram *ret);

#define EXPLAIN_PAYLOAD 128 /* bytes of the largest payload below */

/* Steps of a client. */
enum explain_act {
	ACT_QUERY, /* what server browsers ask */
	ACT_JOIN, /* the first datagram of joining */
	ACT_CONNECT, /* the one that asks for a place; without one of its own: ACT_JOIN */
	ACT_MOVE, /* game traffic */
	ACT_COUNT,
};
extern const char *const explain_acts[ACT_COUNT];

/*
 * Write the datagram that a client of @family sends for @act. @challenge: of the server,
 * for ACT_CONNECT. @player: NULL, or ACT_MOVE continues the stream of this player.
 * Returns the length, or 0: the family has no such step.
 */
size_t explain_payload(enum wire_family family, enum explain_act act, __u32 challenge,
		       const struct player *player, __u8 ret[EXPLAIN_PAYLOAD]);

/*
 * Write the beginning of a server's response to @act, for ACT_QUERY and ACT_JOIN. Returns
 * the length, or 0: none is known. @n: bytes of the whole response, which some responses
 * name.
 */
size_t explain_answer(enum wire_family family, enum explain_act act, size_t n,
		      __u8 ret[EXPLAIN_PAYLOAD]);

#endif /* EXPLAIN_FRAMES_H */
