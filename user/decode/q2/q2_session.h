/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_session.h - from words and datagrams to messages: which connection a Quake II
 * datagram belongs to, in which dialect it is, and which message it makes whole.
 *
 * Called by the family (q2_family.c) for each word, datagram and block of a session. A
 * connection begins only with words that agree with the server's challenges; a datagram
 * of an older connection teaches nothing.
 */
#ifndef Q2_SESSION_H
#define Q2_SESSION_H

#include "decode/family.h"
#include "decode/q2/q2_message.h"

/*
 * Note a challenge of the server's; the last Q2_CHALLENGES count. @arguments, here and
 * below: what follows the word.
 */
void q2_session_on_challenge(struct q2_session *q, struct span arguments);

/*
 * Note a print of the server: it refuses the connect before it. A print that answers a
 * connect with a wrong challenge changes nothing.
 */
void q2_session_on_print(struct q2_session *q, enum direction direction);

/*
 * Note what the client offers: protocol, challenge, qport, netchan. A connect with a
 * challenge that the server did not send was forged, and changes no offer.
 */
void q2_session_on_connect(struct q2_session *q, struct span arguments);

/*
 * Begin the connection that was offered, which the server has accepted, unless it is
 * the present one.
 */
void q2_session_on_accept(struct q2_session *q, struct span arguments);

/*
 * Decode a datagram: sets kind, status, fields and facts of @r. The direction may be
 * unknown.
 */
void q2_session_datagram(struct q2_session *q, enum direction direction,
			 struct span payload, struct record *r);

/*
 * Decode a block of a recording: sets kind, status, fields and facts of @r. The dialect
 * comes from the recording's serverdata. A recording of an unknown protocol is opaque
 * from there on.
 */
void q2_session_demo(struct q2_session *q, const struct demo_block *block,
		     struct record *r);

/*
 * Return whether a datagram waits, as family.waits, for a part of a message of the new
 * netchan.
 */
enum family_wait q2_session_waits(const struct q2_session *q, enum direction direction,
				  struct span payload, struct ahead *ahead);

/*
 * Learn from a datagram ahead of time, as family.peek: it may rule out dialects of a
 * connection that began unseen.
 */
void q2_session_peek(struct q2_session *q, enum direction direction, struct span payload);

/*
 * Return true if this datagram of a client, by its sequence, may come soon after those
 * that were seen.
 */
bool q2_session_follows(const struct q2_session *q, struct span payload);

/* One way to read a datagram of a connection that was joined in the middle. */
struct q2_way {
	enum direction direction;
	uint8_t qport_size;
	uint16_t protocol, minor, flags;
};

#define Q2_WAYS	    16
#define Q2_WAYS_ALL ((1U << Q2_WAYS) - 1)
extern const struct q2_way q2_ways[Q2_WAYS]; /* the likelier first */

/*
 * The reading of a datagram by its bytes alone: direction, bytes of the qport, dialect.
 */
struct q2_guess {
	enum direction direction; /* DIRECTION_UNKNOWN: no message fits */
	uint8_t qport_size;
	struct q2_dialect dialect;
	uint8_t rank; /* of the message; below Q2_RANK_FRAME it proves little */
	bool checked; /* the checksum of a move is right */
	bool odd; /* it reads, but as no program writes it */
	bool agreed; /* all ways that fit as well read the same */
	uint32_t
		fit; /* bits of the ways that fit: if any does not read oddly, of those */
};

/* Return true if @payload, behind a header, is made of whole messages of @d. */
bool q2_fits(const struct q2_dialect *d, enum direction direction,
	     unsigned int qport_size, struct span payload);

/*
 * Return the best reading of all that fit, first of those that @q has left. @direction:
 * what is known of it. @q may be NULL: then the syntax alone counts, and agreement is not
 * checked.
 */
struct q2_guess q2_guess(const struct q2_session *q, enum direction direction,
			 struct span payload);

/*
 * Return the ways left of @before (0: all) by a message that proves something: those of
 * its direction that fit, and of the other direction those of the same protocols. If none
 * of @before fits, all begins anew with @g.
 */
uint32_t q2_guess_narrow(uint32_t before, const struct q2_guess *g);
/* Return the bits of all ways of @protocol. */
uint32_t q2_guess_protocol(unsigned int protocol);
/* Return true if all ways in @mask (0: all that there are) are of one protocol. */
bool q2_guess_one_name(uint32_t mask);

#endif /* Q2_SESSION_H */
