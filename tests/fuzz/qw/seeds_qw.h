/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seeds_qw.h - first inputs from QuakeWorld's messages: what began the game, cut to what
 * the terms need, and the message; or two parts of a recording.
 */
#ifndef SEEDS_QW_H
#define SEEDS_QW_H

#include "decode/qw/qw_message.h"
#include "fuzz/seeds.h"

/* The last svc_serverdata: it stands first in its message, but for prints. */
static struct {
	uint8_t bytes[200];
	size_t n;
} qw_begin;

bool __real_qw_message_decode(struct qw_session *s, enum direction direction,
			      uint32_t sequence, struct span bytes, bool late,
			      struct record *r);

bool __wrap_qw_message_decode(struct qw_session *s, enum direction direction,
			      uint32_t sequence, struct span bytes, bool late,
			      struct record *r);

bool __wrap_qw_message_decode(struct qw_session *s, enum direction direction,
			      uint32_t sequence, struct span bytes, bool late,
			      struct record *r)
{
	struct seed row = { .n = 0 };
	uint8_t first = s->terms.recording, how = (uint8_t)(direction == DIRECTION_C2S);

	if (direction == DIRECTION_S2C && bytes.n && bytes.bytes[0] == 11) {
		qw_begin.n = bytes.n < sizeof(qw_begin.bytes) ? bytes.n
							      : sizeof(qw_begin.bytes);
		memcpy(qw_begin.bytes, bytes.bytes, qw_begin.n);
	}
	if (bytes.n && bytes.n < 250) {
		/* As in fuzz_qw_message.c: of a recording the type is "all". */
		how |= first ? 6 : 2;
		if (qw_begin.n && direction == DIRECTION_S2C)
			row_piece(QW_MESSAGE, &row, first, how | 8, qw_begin.bytes,
				  qw_begin.n, NULL, 0);
		row_piece(QW_MESSAGE, &row, first, how | 8, bytes.bytes, bytes.n, NULL,
			  0);
		seed_write(QW_MESSAGE, &row);
	}
	return __real_qw_message_decode(s, direction, sequence, bytes, late, r);
}

#endif /* SEEDS_QW_H */
