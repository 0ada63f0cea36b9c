/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_session.h - an association of DTLS between two addresses: which keys open a record,
 * which record is new, and the game inside. Called by Quake Enhanced's family for each
 * record.
 *
 * While one association goes on, a client may begin another from the same port. The old
 * one stays until a record of the new one authenticates, so a forged hello ends no game.
 * While the first handshake goes on, a clear message that names neither association
 * belongs to both: one of the two will authenticate. A client that returns the server's
 * cookie receives at its address: no hello without a cookie replaces it, and what was
 * said in its name before does not count.
 */
#ifndef QE_SESSION_H
#define QE_SESSION_H

#include "decode/family.h"
#include "decode/nq/nq_session.h"
#include "decode/qe/qe_hand.h"

/* The newest record of a direction, and which of the 63 before were seen. */
struct qe_window {
	bool any;
	uint64_t newest;
	uint64_t seen; /* bit 0: the newest */
};

struct qe_association {
	struct qe_hand hand;
	bool proven; /* its hello has returned one of the cookies */
	bool has_master;
	uint8_t master[KEYS_MASTER]; /* until both Finished were right */
	const char *closed; /* why there are no keys */
	struct qe_opener opener[2]; /* c2s, s2c */
	struct qe_window window[2];
	bool keyed; /* the openers are there */
	bool opened; /* a record has authenticated */
	bool finished[2]; /* the side's Finished was right */
	bool remembered; /* its master secret is noted for a session that resumes it */
};

#define QE_COOKIES 4 /* of the server that are remembered */

/* Zero is where it begins, but for .keys. */
struct qe_session {
	struct keys *keys;
	struct qe_association now, next;
	bool has_next;
	uint8_t cookies_n;
	uint8_t cookies[QE_COOKIES][KEYS_ID]; /* SHA-256; the oldest first */
	struct nq_session game;
};

/* Note the @cookie that the server has sent, for a hello to return. */
void qe_session_cookie(struct qe_session *s, struct span cookie);

/*
 * Return the association to which a clear handshake message belongs. For a hello: @random
 * of its client, its @cookie, and @entire if it is one fragment; for any other message
 * @random is NULL. NULL: it belongs to no association that is followed.
 */
struct qe_association *qe_session_hand(struct qe_session *s, const uint8_t *random,
				       struct span cookie, bool entire);

/*
 * Return whether a datagram waits, as family.waits: one of @side waits if it has a
 * fragment of a message that neither earlier nor later datagrams make whole.
 */
enum family_wait qe_session_waits(const struct qe_session *s, unsigned int side,
				  struct span payload, struct ahead *ahead);

/*
 * Derive the keys of @a, if the messages that were seen and @keys allow it; or note why
 * not.
 */
void qe_association_key(struct qe_association *a, const struct keys *keys);

/* The result for a record of epoch 1. */
struct qe_opened {
	struct qe_association *association; /* that opened it; NULL: none did */
	struct span text;
	bool repeated; /* replayed, or too old: its receiver drops it */
	enum record_status status; /* if none did */
	const char *reason;
};

/* Open record @r of @side into @to, which must have room for its fragment. */
void qe_session_open(struct qe_session *s, unsigned int side, const struct qe_record *r,
		     uint8_t *to, struct qe_opened *ret);

/*
 * Check the Finished of @side, which holds @verify. False: it does not fit; *known: this
 * can be told.
 */
bool qe_association_finish(struct qe_association *a, struct keys *keys, unsigned int side,
			   struct span verify, bool *known);

/* Return the bytes that @s takes, its own size included; as family.takes. */
size_t qe_session_takes(const struct qe_session *s);
/* Free what @s has allocated and wipe its keys, but leave @s; as family.drop. */
void qe_session_drop(struct qe_session *s);

#endif /* QE_SESSION_H */
