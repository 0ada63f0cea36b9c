/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_mvd.h - blocks of Q2PRO's multi-view recordings. Called by q2_message.c for messages
 * in the dialect of such a recording.
 */
#ifndef Q2_MVD_H
#define Q2_MVD_H

#include "decode/q2/q2_message.h"

/* The dialect of a recording of which nothing has been read yet. */
extern const struct q2_dialect q2_mvd_dialect;

/* Return true if a block begins with serverdata. Nothing before it counts any more. */
bool q2_mvd_begins(struct span block);

/* Walk the ops of one block. Returns the highest rank, enum q2_rank. */
uint8_t q2_mvd_walk(struct q2_parse *p, struct message *m);

#endif /* Q2_MVD_H */
