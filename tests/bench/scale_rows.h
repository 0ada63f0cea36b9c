/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scale_rows.h - what scale.c measures on several processors at once.
 */
#ifndef SCALE_ROWS_H
#define SCALE_ROWS_H

#include "rows.h"

enum scale_program {
	SCALE_DROP, /* the wrapper alone */
	SCALE_FLOOR,
	SCALE_SHIELD,
	SCALE_CHALLENGES, /* the shield with `validation = always`, and no limit on
			   * challenges
			   */
};

enum scale_traffic {
	SCALE_FLOOD, /* the row's frame from random sources */
	SCALE_PLAYERS, /* each processor has a player of its own */
	SCALE_MIXED, /* one frame of eight is a player's */
};

static const struct scale_row {
	const char *name;
	enum scale_program program;
	enum scale_traffic traffic;
	__u32 sources; /* mask */
	struct frame_spec frame; /* of the flood */
	double passed; /* share of the frames that the shield passes */
	double responded; /* least share that it responds to */
} scale_rows[] = {
	{ "wrapper alone, 4M sources",
	  SCALE_DROP,
	  SCALE_FLOOD,
	  FOUR_M,
	  { OOB("getstatus") },
	  0,
	  0 },
	{ "floor, 4M sources",
	  SCALE_FLOOR,
	  SCALE_FLOOD,
	  FOUR_M,
	  { OOB("getstatus") },
	  0,
	  0 },
	{ "getstatus, 4M sources",
	  SCALE_SHIELD,
	  SCALE_FLOOD,
	  FOUR_M,
	  { OOB("getstatus") },
	  0,
	  0 },
	{ "getstatus, 16M sources",
	  SCALE_SHIELD,
	  SCALE_FLOOD,
	  SIXTEEN_M,
	  { OOB("getstatus") },
	  0,
	  0 },
	{ "getchallenge, each challenged",
	  SCALE_CHALLENGES,
	  SCALE_FLOOD,
	  FOUR_M,
	  { OOB("getchallenge 123 Quake3Arena") },
	  0,
	  0.98 },
	{ "players", SCALE_SHIELD, SCALE_PLAYERS, 0, { OOB("getstatus") }, 1, 0 },
	{ "7/8 getstatus of 4M, 1/8 players",
	  SCALE_SHIELD,
	  SCALE_MIXED,
	  FOUR_M,
	  { OOB("getstatus") },
	  0.125,
	  0 },
};

#define SCALE_NEAR 0.02 /* of a share: the limits pass a few frames per second */

#endif /* SCALE_ROWS_H */
