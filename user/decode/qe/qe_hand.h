/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_hand.h - one handshake: its messages put together from fragments, in any order and
 * with repeats; what both ends agree on; the hash over them. Called by qe_session.c.
 * Bounded by QE_HAND_MAX bytes; a fragment that contradicts an earlier one changes
 * nothing.
 */
#ifndef QE_HAND_H
#define QE_HAND_H

#include "decode/qe/qe_body.h"

#define QE_MESSAGES    16 /* of one side: no handshake has more */
#define QE_MESSAGE_MAX 16384 /* bytes of one */
#define QE_HAND_MAX    65536 /* bytes of all of a handshake */

/* A fragment, as it stands in a record. */
struct qe_fragment {
	uint8_t type;
	uint32_t length; /* of the whole message */
	uint16_t number;
	uint32_t offset;
	struct span body;
};

/*
 * Read a fragment with its header. False: it runs over the record, or over its message.
 */
bool qe_fragment_read(struct reader *rd, struct qe_fragment *ret);

struct qe_piece {
	uint8_t type;
	bool whole;
	uint32_t length, got;
	uint8_t *bytes; /* the message, then a bit for each of its bytes; or NULL */
};

/* Zero is where it begins. Sides: 0 the client, 1 the server. */
struct qe_hand {
	struct qe_piece pieces[2][QE_MESSAGES];
	size_t bytes; /* that they take */
	bool client_hello, server_hello, client_key; /* seen, and right */
	bool over; /* both sides' Finished were right: the messages are gone */
	uint8_t hello_at[2]; /* the numbers of the hellos that count */
	struct qe_randoms randoms;
	const struct qe_suite *suite; /* NULL: not known */
	bool extended_master[2], encrypt_then_mac[2];
	struct span_id {
		uint8_t n;
		uint8_t bytes[32];
	} session_id[2];
	bool offers_ticket;
	uint8_t ticket[KEYS_ID]; /* SHA-256 of the one that the client offers */
	bool has_new_ticket;
	uint8_t new_ticket[KEYS_ID]; /* and of the one that the server hands out */
	uint8_t identity_n;
	uint8_t identity[KEYS_IDENTITY_MAX];
	bool identity_long; /* longer than any that we could have a key for */
};

enum qe_put {
	QE_STORED,
	QE_WHOLE, /* and now *whole is all of it */
	QE_AGAIN, /* nothing that was not there */
	QE_CONFLICT, /* other bytes than those that were there */
	QE_REFUSED, /* too many, too long, or no memory */
};

/*
 * Store fragment @f of @side. On QE_STORED, QE_WHOLE and QE_AGAIN *@whole is the message
 * so far, which belongs to @h until qe_hand_forget(). QE_CONFLICT and QE_REFUSED change
 * nothing.
 */
enum qe_put qe_hand_put(struct qe_hand *h, unsigned int side, const struct qe_fragment *f,
			struct span *whole);

/* Take over what a whole message contains that was right. */
void qe_hand_learn(struct qe_hand *h, unsigned int side, const struct qe_fragment *f,
		   const struct qe_fields *fields);

/* Return true if the session goes on where an earlier one has ended. */
bool qe_hand_resumed(const struct qe_hand *h);

/* Up to where a hash goes. */
enum qe_upto {
	QE_UPTO_KEY, /* the client's key exchange */
	QE_UPTO_CLIENT, /* what the client's Finished is over */
	QE_UPTO_SERVER, /* and the server's */
};

/* Returns the hash's bytes in @ret; 0: one of the messages was not seen. */
size_t qe_hand_hash(const struct qe_hand *h, enum qe_upto upto, uint8_t ret[QE_HASH_MAX]);

/* Free the messages, which are not needed any more. */
void qe_hand_forget(struct qe_hand *h);

/* Forget the client's messages, which came from another source: it begins anew. */
void qe_hand_forget_client(struct qe_hand *h);

#endif /* QE_HAND_H */
