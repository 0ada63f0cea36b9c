// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_arrays.c - the arrays of players and the fields of moves, which several dialects
 * share (q3_fields_*.c).
 *
 * Source: the engines named in q3_fields_*.c: code/client and code/qcommon/msg.c.
 */
#include "decode/q3/q3_fields.h"

#define SIXTEEN(n)                                                                      \
	{                                                                               \
		n "[0]", n "[1]", n "[2]", n "[3]", n "[4]", n "[5]", n "[6]", n "[7]", \
			n "[8]", n "[9]", n "[10]", n "[11]", n "[12]", n "[13]",       \
			n "[14]", n "[15]"                                              \
	}
#define SIXTEEN_FROM_16(n)                                                            \
	{                                                                             \
		n "[16]", n "[17]", n "[18]", n "[19]", n "[20]", n "[21]", n "[22]", \
			n "[23]", n "[24]", n "[25]", n "[26]", n "[27]", n "[28]",   \
			n "[29]", n "[30]", n "[31]"                                  \
	}
#define SIXTEEN_FROM_32(n)                                                            \
	{                                                                             \
		n "[32]", n "[33]", n "[34]", n "[35]", n "[36]", n "[37]", n "[38]", \
			n "[39]", n "[40]", n "[41]", n "[42]", n "[43]", n "[44]",   \
			n "[45]", n "[46]", n "[47]"                                  \
	}
#define SIXTEEN_FROM_48(n)                                                            \
	{                                                                             \
		n "[48]", n "[49]", n "[50]", n "[51]", n "[52]", n "[53]", n "[54]", \
			n "[55]", n "[56]", n "[57]", n "[58]", n "[59]", n "[60]",   \
			n "[61]", n "[62]", n "[63]"                                  \
	}

static const char *const stats[] = SIXTEEN("stats");
static const char *const persistant[] = SIXTEEN("persistant");
static const char *const powerups[] = SIXTEEN("powerups");
static const char *const holdable[] = SIXTEEN("holdable");
static const char *const misc[] = SIXTEEN("misc");
static const char *const ammo[] = SIXTEEN("ammo");
static const char *const ammo_16[] = SIXTEEN_FROM_16("ammo");
static const char *const ammo_32[] = SIXTEEN_FROM_32("ammo");
static const char *const ammo_48[] = SIXTEEN_FROM_48("ammo");
static const char *const clip[] = SIXTEEN("ammoclip");
static const char *const clip_16[] = SIXTEEN_FROM_16("ammoclip");
static const char *const clip_32[] = SIXTEEN_FROM_32("ammoclip");
static const char *const clip_48[] = SIXTEEN_FROM_48("ammoclip");

const struct q3_array q3_arrays[] = { { stats, -16, 1 },
				      { persistant, -16, 1 },
				      { ammo, -16, 1 },
				      { powerups, 32, 1 },
				      { 0 } };

const struct q3_array q3_arrays_tremulous[] = {
	{ stats, -16, 1 }, { persistant, -16, 1 }, { misc, 32, 1 }, { 0 }
};

const struct q3_array q3_arrays_wolf[] = { { stats, -16, 1 },
					   { persistant, -16, 1 },
					   { holdable, -16, 1 },
					   { powerups, 32, 1 },
					   { ammo, -16, 2 },
					   { ammo_16, -16, 2 },
					   { ammo_32, -16, 2 },
					   { ammo_48, -16, 2 },
					   { clip, -16, 0 },
					   { clip_16, -16, 0 },
					   { clip_32, -16, 0 },
					   { clip_48, -16, 0 },
					   { 0 } };

#define TURN_AND_MOVE                                                           \
	{ "angles[0]", 16, 0 }, { "angles[1]", 16, 1 }, { "angles[2]", 16, 2 }, \
		{ "forwardmove", -8, 3 }, { "rightmove", -8, 4 },               \
	{                                                                       \
		"upmove", -8, 5                                                 \
	}

/* The base game uses the first eight, the Jedi games all. */
const struct q3_field q3_move[] = {
	TURN_AND_MOVE,	      { "buttons", 16, 6 }, { "weapon", 8, 7 },
	{ "forcesel", 8, 8 }, { "invensel", 8, 9 }, { "generic_cmd", 8, 10 },
};

const struct q3_field q3_move_quakelive[] = {
	TURN_AND_MOVE,	      { "buttons", 16, 6 }, { "weapon", 8, 7 },
	{ "unknown1", 8, 8 }, { "unknown2", 8, 9 },
};

const struct q3_field q3_move_rtcw[] = {
	TURN_AND_MOVE,	      { "buttons", 8, 6 },	{ "wbuttons", 8, 7 },
	{ "weapon", 8, 8 },   { "holdable", 8, 9 },	{ "wolfkick", 8, 10 },
	{ "mpSetup", 8, 11 }, { "identClient", 8, 12 },
};

const struct q3_field q3_move_et[] = {
	TURN_AND_MOVE,
	{ "buttons", 8, 6 },
	{ "wbuttons", 8, 7 },
	{ "weapon", 8, 8 },
	{ "flags", 8, 9 },
	{ "doubleTap", 3, 10 },
	{ "identClient", 8, 11 },
};

_Static_assert(Q3_COUNT(q3_move) == Q3_MOVE_JEDI, "the Jedi games use them all");
_Static_assert(Q3_COUNT(q3_move_quakelive) == Q3_MOVE_QUAKELIVE, "and so does this");
_Static_assert(Q3_COUNT(q3_move_rtcw) == Q3_MOVE_RTCW, "and this");
_Static_assert(Q3_COUNT(q3_move_et) == Q3_MOVE_ET, "and this");
