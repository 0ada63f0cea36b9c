/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_session.h - from words and datagrams to messages.
 */
#ifndef Q2_SESSION_H
#define Q2_SESSION_H

#include "decode/family.h"
#include "decode/q2/q2_message.h"

/* What the words of joining teach; @arguments: what follows the word. */
void q2_session_on_challenge(struct q2_session *q, struct span arguments);
void q2_session_on_print(struct q2_session *q, enum direction direction);
void q2_session_on_connect(struct q2_session *q, struct span arguments);
void q2_session_on_accept(struct q2_session *q, struct span arguments);

/* A datagram; the direction may be unknown. */
void q2_session_datagram(struct q2_session *q, enum direction direction,
			 struct span payload, struct record *r);

void q2_session_demo(struct q2_session *q, const struct demo_block *block,
		     struct record *r);

/* As family.waits, for a part of a message of the new netchan. */
enum family_wait q2_session_waits(const struct q2_session *q, enum direction direction,
				  struct span payload, struct ahead *ahead);

/* As family.peek: it may rule out dialects of a connection whose beginning was not seen.
 */
void q2_session_peek(struct q2_session *q, enum direction direction, struct span payload);

/*
 * May this datagram of a client's, by its sequence, come soon after those that were seen?
 */
bool q2_session_follows(const struct q2_session *q, struct span payload);

/*
 * What a datagram can be by its bytes alone: of which direction, with a qport of how
 * many bytes, in which dialect.
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

/* Is @payload, behind a header, made of whole messages of @d? */
bool q2_fits(const struct q2_dialect *d, enum direction direction,
	     unsigned int qport_size, struct span payload);

/*
 * @direction: what is known of it. The best of all that fit, first of those that @q has
 * left. @q may be NULL: then the syntax alone is asked for, and agreement is not.
 */
struct q2_guess q2_guess(const struct q2_session *q, enum direction direction,
			 struct span payload);

/*
 * The ways left of @before (0: all) by a message that proves something: those of its
 * direction that fit, and of the other direction those of the same protocols. If none of
 * @before fits, all begins anew with @g.
 */
uint32_t q2_guess_narrow(uint32_t before, const struct q2_guess *g);
/* All ways of @protocol. */
uint32_t q2_guess_protocol(unsigned int protocol);
/* Are all in @mask (0: all that there are) of one protocol? */
bool q2_guess_one_name(uint32_t mask);

#endif /* Q2_SESSION_H */
