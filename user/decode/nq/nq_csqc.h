/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_csqc.h - what the game's own code sends to the game's own code. No length is on the
 * wire: what the code is not known of cannot be read, but where it ends can be found.
 */
#ifndef NQ_CSQC_H
#define NQ_CSQC_H

#include "decode/nq/nq_message.h"

/* A temporary entity of a type from 100 up. */
void nq_private_temp(struct ops *o, uint8_t type);

#endif /* NQ_CSQC_H */
