/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nq_control.h - NetQuake's control packets: connecting, and queries. Called by
 * nq_session.c. They change no state: each is read alone.
 */
#ifndef NQ_CONTROL_H
#define NQ_CONTROL_H

#include "lib/reader.h"
#include "lib/record.h"

/* Read a control packet behind its header onto the record, and set its kind. */
void nq_control(struct reader *rd, struct record *r);

#endif /* NQ_CONTROL_H */
