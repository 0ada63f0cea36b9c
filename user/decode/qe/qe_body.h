/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_body.h - the messages of DTLS's handshake, alerts and the like: read to their last
 * byte, and put on the record. Called by qe_family.c. They change no state: the caller
 * learns from struct qe_fields.
 */
#ifndef QE_BODY_H
#define QE_BODY_H

#include "decode/qe/qe_crypt.h"
#include "lib/record.h"

enum qe_message {
	QE_HELLO_REQUEST = 0,
	QE_CLIENT_HELLO = 1,
	QE_SERVER_HELLO = 2,
	QE_HELLO_VERIFY = 3,
	QE_SESSION_TICKET = 4,
	QE_CERTIFICATE = 11,
	QE_SERVER_KEY = 12,
	QE_CERTIFICATE_REQUEST = 13,
	QE_HELLO_DONE = 14,
	QE_CERTIFICATE_VERIFY = 15,
	QE_CLIENT_KEY = 16,
	QE_FINISHED = 20,
	QE_CERTIFICATE_URL = 21,
	QE_CERTIFICATE_STATUS = 22,
	QE_SUPPLEMENTAL = 23,
};

/* What a message contains; spans lie in the message. */
struct qe_fields {
	struct span random, session_id, cookie;
	struct span ticket; /* offered by a client, or handed out by a server */
	struct span identity, hint;
	struct span verify;
	uint16_t suite;
	bool extended_master, encrypt_then_mac;
};

/* Return the name of a message type; NULL: not known here. */
const char *qe_message_name(uint8_t type);

/*
 * Says the fields of @body on @r. @suite is that of the session, NULL if it was not seen.
 * False: it is malformed, and @r says why.
 */
bool qe_body(uint8_t type, const struct qe_suite *suite, struct span body,
	     struct record *r, struct qe_fields *ret);

/* Put the fields of an alert on @r. Another length than 2 bytes is malformed. */
void qe_alert(struct span body, struct record *r);

/*
 * Put the fields of a heartbeat on @r. One that asks for more than it holds is malformed.
 */
void qe_heartbeat(struct span body, struct record *r);

#endif /* QE_BODY_H */
