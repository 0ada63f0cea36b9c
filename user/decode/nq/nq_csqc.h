/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_csqc.h - messages that the game's own code writes for the game's own code. Called by
 * nq_temp.c and the tables of ops. No length is on the wire: a message of unknown code
 * cannot be read, but its end can be found.
 */
#ifndef NQ_CSQC_H
#define NQ_CSQC_H

#include "decode/nq/nq_message.h"

/* Read a temporary entity of a type from 100 up. */
void nq_private_temp(struct ops *o, uint8_t type);

#endif /* NQ_CSQC_H */
