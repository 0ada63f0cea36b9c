/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_message.h - the game inside: Quake Enhanced's dialects of NetQuake's messages, and
 * its compressed datagrams. Called by qe_family.c with the plain text of a record.
 */
#ifndef QE_MESSAGE_H
#define QE_MESSAGE_H

#include "decode/keys.h"
#include "decode/nq/nq_session.h"

/* Quake Enhanced's first; then NetQuake's own, which other games speak inside DTLS. */
extern const struct nq_dialect *const qe_dialects[];

extern const struct op qe_svc[256], qe_clc[256];

/*
 * Decode one datagram of the game, as it stood in a record. @room: where a compressed one
 * is inflated to.
 */
void qe_game(struct nq_session *game, enum direction direction, struct span text,
	     struct keys_room *room, struct record *r);

#endif /* QE_MESSAGE_H */
