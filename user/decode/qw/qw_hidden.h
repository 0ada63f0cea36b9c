/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qw_hidden.h - what a server's recording holds for no player: shots and damage, pauses,
 * comments, and the game module's account of the match (JSON).
 */
#ifndef QW_HIDDEN_H
#define QW_HIDDEN_H

#include "decode/qw/qw_session.h"

/*
 * Fills in kind, status and fields. The part of a text of several blocks that ends it
 * makes a record of kind "demoinfo" with the whole of it as "json".
 */
void qw_hidden(struct qw_session *s, struct span bytes, struct record *r);

#endif /* QW_HIDDEN_H */
