/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seeds_nq.h - first inputs from NetQuake's messages, where the decoder is given them
 * whole.
 */
#ifndef SEEDS_NQ_H
#define SEEDS_NQ_H

#include "decode/nq/nq_session.h"
#include "fuzz/qe/seeds_qe.h"
#include "fuzz/seeds.h"

static uint8_t nq_dialect_number(const struct nq_game *game)
{
	uint8_t i = 0;

	for (; nq_dialects[i]; i++)
		if (nq_dialects[i] == game->format.dialect)
			break;
	return i;
}

void __real_nq_decode(struct nq_game *game, struct message *m);
void __wrap_nq_decode(struct nq_game *game, struct message *m);

void __wrap_nq_decode(struct nq_game *game, struct message *m)
{
	uint8_t how = 2 | (m->direction == DIRECTION_C2S);
	struct seed alone = { .n = 0 };

	__real_nq_decode(game, m);
	row_piece(NQ_MESSAGE, &alone,
		  nq_dialect_number(game) | (game->code == NQ_CODE_NEXUIZ ? 64 : 0), how,
		  NULL, 0, m->bytes.bytes, m->bytes.n);
	if (alone.n > 1)
		seed_write(NQ_MESSAGE, &alone);
	qe_note_message(game->format.dialect, m);
}

#endif /* SEEDS_NQ_H */
