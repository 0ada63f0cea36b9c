/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_enter.h - a game whose dialect is known, as from a serverinfo.
 */
#ifndef QE_ENTER_H
#define QE_ENTER_H

#include "decode/qe/qe_message.h"
#include "fuzz/fuzz.h"

/* Dialect @which; beyond the last one none is known. */
static inline void qe_enter(struct nq_game *game, unsigned int which)
{
	unsigned int count = 0;

	game->dialects = qe_dialects;
	while (qe_dialects[count])
		count++;
	if (which >= count)
		return;
	must(nq_format_of(qe_dialects[which], qe_dialects[which]->flags, 0, 0,
			  &game->format));
	game->known = game->fitted = true;
	game->possible = 1U << which;
	game->maxclients = 16;
}

#endif /* QE_ENTER_H */
