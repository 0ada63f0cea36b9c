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
};

/* Is @payload, behind a header, made of whole messages of @d? */
bool q2_fits(const struct q2_dialect *d, enum direction direction,
	     unsigned int qport_size, struct span payload);

/* @direction: what is known of it. The best of all that fit. */
struct q2_guess q2_guess(enum direction direction, struct span payload);

#endif /* Q2_SESSION_H */
