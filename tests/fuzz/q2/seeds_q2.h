/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seeds_q2.h - first inputs from Quake II's messages, as the decoder is given them; see
 * fuzz_q2_message.c for the bytes in front.
 */
#ifndef SEEDS_Q2_H
#define SEEDS_Q2_H

#include "decode/q2/q2_session.h"
#include "fuzz/seeds.h"

#define Q2_SEED_34   0
#define Q2_SEED_MVD2 12

static struct seed q2_row;

bool __real_q2_message(struct message *m);
bool __wrap_q2_message(struct message *m);

bool __wrap_q2_message(struct message *m)
{
	const struct q2_session *q = m->state;
	bool mvd = q && q->dialect.protocol == 37;
	uint8_t first = mvd ? Q2_SEED_MVD2 : Q2_SEED_34;
	uint8_t how = 2 | (m->direction == DIRECTION_C2S);
	struct seed alone = { .n = 0 };

	if (!m->commit && m->bytes.n && m->bytes.n < SEED_MAX - 8) {
		row_piece(Q2_MESSAGE, &q2_row, first, how, m->bytes.bytes, m->bytes.n,
			  NULL, 0);
		row_piece(Q2_MESSAGE, &alone, first | 128, how, m->bytes.bytes,
			  m->bytes.n, NULL, 0);
		seed_write(Q2_MESSAGE, &alone);
	}
	return __real_q2_message(m);
}

static void q2_demo_file(struct demo *demo)
{
	struct q2_session q = { .game = NULL };
	struct demo_block block;
	struct record r;

	while (demo_next(demo, &block) == 1) {
		record_reset(&r, NULL);
		q2_session_demo(&q, &block, &r);
	}
	q2_session_drop(&q);
}

#endif /* SEEDS_Q2_H */
