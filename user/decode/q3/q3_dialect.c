// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_dialect.c - the dialects by number. A new one is a row of q3_dialects.
 */
#include "decode/q3/q3_fields.h"

/* The number was not seen; what the base game, its protocols and OpenArena share. */
const struct q3_dialect q3_dialect_legacy = {
	.name = "quake3-legacy",
	.entity = { q3_entity_fields, Q3_ENTITY_FIELDS },
	.player = { q3_player_fields, Q3_PLAYER_FIELDS },
	.player_slots = Q3_PLAYER_FIELDS,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.flags = Q3_VOICE,
};

const struct q3_dialect *const q3_dialects[] = {
	&q3_dialect_68,		 &q3_dialect_67,
	&q3_dialect_66,		 &q3_dialect_openarena,
	&q3_dialect_ioq3,	 &q3_dialect_quakelive73,
	&q3_dialect_quakelive90, &q3_dialect_quakelive91,
	&q3_dialect_rtcw,	 &q3_dialect_et,
	&q3_dialect_tremulous70, &q3_dialect_tremulous71,
	&q3_dialect_jka,	 &q3_dialect_jk2_15,
	&q3_dialect_jk2_16,	 NULL
};

const struct q3_dialect *q3_dialect_find(int number, int checksum)
{
	if (checksum)
		return &q3_dialect_ioq3;
	if (!number)
		return &q3_dialect_legacy;
	for (int i = 0; q3_dialects[i]; i++)
		if (q3_dialects[i]->protocol == number &&
		    !(q3_dialects[i]->flags & Q3_CHECKSUM))
			return q3_dialects[i];
	return NULL;
}
