/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_player.h - player_state_t as it stands on the wire, and its differences. Called by
 * q2_frame.c and q2_mvd.c. It changes only the words that the caller passes.
 */
#ifndef Q2_PLAYER_H
#define Q2_PLAYER_H

#include "decode/delta.h"
#include "decode/q2/q2_dialect.h"

#define Q2_STATS 64 /* 32 without extensions */

enum q2_player_word {
	Q2_PM_TYPE,
	Q2_PM_ORIGIN,
	Q2_PM_VELOCITY = 4,
	Q2_PM_TIME = 7,
	Q2_PM_FLAGS,
	Q2_GRAVITY,
	Q2_DELTA_ANGLES,
	Q2_VIEWOFFSET = 13,
	Q2_VIEWANGLES = 16,
	Q2_KICK_ANGLES = 19,
	Q2_GUNINDEX = 22, /* with extensions the upper three bits of 16 are its skin */
	Q2_GUNFRAME,
	Q2_GUNOFFSET,
	Q2_GUNANGLES = 27,
	Q2_BLEND = 30,
	Q2_DAMAGE_BLEND = 34,
	Q2_FOV = 38,
	Q2_RDFLAGS,
	Q2_FOG_BITS,
	Q2_FOG_COLOR,
	Q2_FOG_DENSITY = 44,
	Q2_FOG_SKY,
	Q2_HEIGHTFOG_DENSITY,
	Q2_HEIGHTFOG_FALLOFF,
	Q2_HEIGHTFOG_START,
	Q2_HEIGHTFOG_END = 51,
	Q2_HEIGHTFOG_START_DIST = 54,
	Q2_HEIGHTFOG_END_DIST,
	Q2_STAT,
	Q2_PLAYER_WORDS = Q2_STAT + Q2_STATS
};

/* The contents of one difference, besides the state that it made. */
struct q2_player_delta {
	uint64_t flags; /* of the rows; the lower bits as they were on the wire */
	uint64_t statbits;
	bool unknown; /* a flag of an unknown field was set */
};

#define Q2_EXTRA_CLIENTNUM 64 /* in @extra, of 36: it stands behind the player */

/*
 * Read a player's difference in a client's frame over @word, which holds the base: by
 * protocol 34's flags, or with @extra by those of 35 and 36 (q2_dialect.h).
 */
struct q2_player_delta q2_player_read(struct reader *rd, const struct q2_dialect *d,
				      unsigned int extra, int32_t *word);

/*
 * Read a player's difference in a multi-view recording over @word, which holds the base.
 * Q2_PLAYER_GONE in the flags: the player has left.
 */
struct q2_player_delta q2_player_read_mvd(struct reader *rd, const struct q2_dialect *d,
					  int32_t *word);

/*
 * Put the fields of @delta on the record. @word: the player's state with the difference
 * applied.
 */
void q2_player_record(struct record *r, const struct q2_dialect *d,
		      const struct q2_player_delta *delta, const int32_t *word);

/*
 * Write @delta as protocol 34 does, from the flags on: for tests. Returns the bytes
 * written; 0: no room.
 */
size_t q2_player_write(uint8_t *to, size_t size, const struct q2_player_delta *delta,
		       const int32_t *word);

/* In a multi-view recording: the player has left. */
#define Q2_PLAYER_GONE (1ULL << 62)

#endif /* Q2_PLAYER_H */
