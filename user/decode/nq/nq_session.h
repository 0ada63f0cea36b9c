/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_session.h - NetQuake's channel: which datagram is new, which message is whole.
 *
 *	+----+----+---------+---- ... --+---- ... --+
 *	| 00 | fl | length  | sequence  | message   |	fl: 01 chunk, 09 the last chunk,
 *	+----+----+---------+---- ... --+---- ... --+	    02 ack, 10 unreliable
 *
 * The header is big-endian. Four rows of sequences: reliable and unreliable, each way.
 */
#ifndef NQ_SESSION_H
#define NQ_SESSION_H

#include "decode/netchan.h"
#include "decode/family.h"
#include "decode/nq/nq_message.h"

struct nq_way {
	struct netchan_side order; /* of the unreliable ones */
	struct netchan_late late; /* likewise */
	struct netchan_slices slices; /* of the reliable ones */
	bool has_first; /* chunk 0 was seen, */
	uint16_t first; /* and this is its netchan_sum() */
};

/* Zero is where it begins. */
struct nq_session {
	struct nq_game game;
	struct nq_way way[2]; /* c2s, s2c */
	uint32_t acked; /* the chunk behind the last that a client has; 0: none */
	/* In a recording: the server's time in the last block, and since when. */
	bool demo_started;
	int64_t demo_us;
	int64_t demo_ns;
};

/* The two halves of the first word. */
enum nq_flags {
	NQ_FLAGS_CHUNK = 0x0001,
	NQ_FLAGS_ACK = 0x0002,
	NQ_FLAGS_NAK = 0x0004,
	NQ_FLAGS_END = 0x0009,
	NQ_FLAGS_UNRELIABLE = 0x0010,
	NQ_FLAGS_CRYPTO = 0x7000,
	NQ_FLAGS_CONTROL = 0x8000,
};

/*
 * Decode a datagram, also a control packet; its messages are @family's (NetQuake's or
 * Quake Enhanced's). @s is NULL if memory is exhausted. Sets r->kind and all else.
 */
void nq_session_datagram(struct nq_session *s, enum wire_family family,
			 enum direction direction, struct span payload, struct record *r);

/* Decode a block of a recording. */
void nq_session_block(struct nq_session *s, const struct demo_block *block,
		      struct record *r);

/*
 * Return a weight as family.claims has it, and the direction of such a datagram. 0: it
 * does not show, or is no datagram of these families.
 */
int nq_session_claims(struct span payload, enum direction *ret);

/*
 * Return whether a datagram waits, as family.waits: a chunk waits if the chunks ahead
 * do not end its message.
 */
enum family_wait nq_session_waits(const struct nq_session *s, enum direction direction,
				  struct span payload, struct ahead *ahead);

/*
 * Learn from a datagram ahead of time, as family.peek: an unreliable datagram may
 * rule out dialects before serverinfo.
 */
void nq_session_peek(struct nq_session *s, enum direction direction, struct span payload);

/* Return the bytes that @s takes, its own size included; as family.takes. */
size_t nq_session_takes(const struct nq_session *s);
/* Free what @s has allocated, but not @s; as family.drop. */
void nq_session_drop(struct nq_session *s);

#endif /* NQ_SESSION_H */
