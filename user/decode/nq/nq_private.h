/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_private.h - the game code of Nexuiz 2.5.2 and, in part, of Xonotic 0.5: what its
 * server half sends to its client half in svc_csqcentities and svc_temp_entity.
 */
#ifndef NQ_PRIVATE_H
#define NQ_PRIVATE_H

#include "decode/nq/nq_message.h"

/*
 * Read one entity behind its number, of @code (enum nq_code). False: it is not known.
 */
bool nq_private_entity(struct ops *o, uint8_t code);
/* Read a temporary entity of @type, which has been read. False: it is not known. */
bool nq_private_effect(struct ops *o, uint8_t code, uint8_t type);

#endif /* NQ_PRIVATE_H */
