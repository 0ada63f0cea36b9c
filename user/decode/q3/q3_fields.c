// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_fields.c - the delta fields of Quake III, protocols 66 to 71
 *
 * Rows are { name, bits, slot } in wire order: bits 0 is a float, below zero a signed
 * integer of that width; slot is where the value lives in a state. The facts (names,
 * widths, order) come from the engines named below and were converted by hand-run
 * script; no engine code is here.
 *
 * Source: id-Software/Quake-III-Arena code/qcommon/msg.c and ioquake/ioq3 (identical);
 * OpenArena/engine and mickael9/ioq3 (Urban Terror) are identical too.
 */
#include "decode/q3/q3_fields.h"

/* clang-format off */
const struct q3_field q3_entity_fields[Q3_ENTITY_FIELDS] = {
	{ "pos.trTime", 32, 0 }, { "pos.trBase[0]", 0, 1 }, { "pos.trBase[1]", 0, 2 },
	{ "pos.trDelta[0]", 0, 3 }, { "pos.trDelta[1]", 0, 4 }, { "pos.trBase[2]", 0, 5 },
	{ "apos.trBase[1]", 0, 6 }, { "pos.trDelta[2]", 0, 7 },
	{ "apos.trBase[0]", 0, 8 }, { "event", 10, 9 }, { "angles2[1]", 0, 10 },
	{ "eType", 8, 11 }, { "torsoAnim", 8, 12 }, { "eventParm", 8, 13 },
	{ "legsAnim", 8, 14 }, { "groundEntityNum", 10, 15 }, { "pos.trType", 8, 16 },
	{ "eFlags", 19, 17 }, { "otherEntityNum", 10, 18 }, { "weapon", 8, 19 },
	{ "clientNum", 8, 20 }, { "angles[1]", 0, 21 }, { "pos.trDuration", 32, 22 },
	{ "apos.trType", 8, 23 }, { "origin[0]", 0, 24 }, { "origin[1]", 0, 25 },
	{ "origin[2]", 0, 26 }, { "solid", 24, 27 }, { "powerups", 16, 28 },
	{ "modelindex", 8, 29 }, { "otherEntityNum2", 10, 30 }, { "loopSound", 8, 31 },
	{ "generic1", 8, 32 }, { "origin2[2]", 0, 33 }, { "origin2[0]", 0, 34 },
	{ "origin2[1]", 0, 35 }, { "modelindex2", 8, 36 }, { "angles[0]", 0, 37 },
	{ "time", 32, 38 }, { "apos.trTime", 32, 39 }, { "apos.trDuration", 32, 40 },
	{ "apos.trBase[2]", 0, 41 }, { "apos.trDelta[0]", 0, 42 },
	{ "apos.trDelta[1]", 0, 43 }, { "apos.trDelta[2]", 0, 44 }, { "time2", 32, 45 },
	{ "angles[2]", 0, 46 }, { "angles2[0]", 0, 47 }, { "angles2[2]", 0, 48 },
	{ "constantLight", 32, 49 }, { "frame", 16, 50 },
};

const struct q3_field q3_player_fields[Q3_PLAYER_FIELDS] = {
	{ "commandTime", 32, 0 }, { "origin[0]", 0, 1 }, { "origin[1]", 0, 2 },
	{ "bobCycle", 8, 3 }, { "velocity[0]", 0, 4 }, { "velocity[1]", 0, 5 },
	{ "viewangles[1]", 0, 6 }, { "viewangles[0]", 0, 7 }, { "weaponTime", -16, 8 },
	{ "origin[2]", 0, 9 }, { "velocity[2]", 0, 10 }, { "legsTimer", 8, 11 },
	{ "pm_time", -16, 12 }, { "eventSequence", 16, 13 }, { "torsoAnim", 8, 14 },
	{ "movementDir", 4, 15 }, { "events[0]", 8, 16 }, { "legsAnim", 8, 17 },
	{ "events[1]", 8, 18 }, { "pm_flags", 16, 19 }, { "groundEntityNum", 10, 20 },
	{ "weaponstate", 4, 21 }, { "eFlags", 16, 22 }, { "externalEvent", 10, 23 },
	{ "gravity", 16, 24 }, { "speed", 16, 25 }, { "delta_angles[1]", 16, 26 },
	{ "externalEventParm", 8, 27 }, { "viewheight", -8, 28 },
	{ "damageEvent", 8, 29 }, { "damageYaw", 8, 30 }, { "damagePitch", 8, 31 },
	{ "damageCount", 8, 32 }, { "generic1", 8, 33 }, { "pm_type", 8, 34 },
	{ "delta_angles[0]", 16, 35 }, { "delta_angles[2]", 16, 36 },
	{ "torsoTimer", 12, 37 }, { "eventParms[0]", 8, 38 }, { "eventParms[1]", 8, 39 },
	{ "clientNum", 8, 40 }, { "weapon", 5, 41 }, { "viewangles[2]", 0, 42 },
	{ "grapplePoint[0]", 0, 43 }, { "grapplePoint[1]", 0, 44 },
	{ "grapplePoint[2]", 0, 45 }, { "jumppad_ent", 10, 46 }, { "loopSound", 16, 47 },
};

/* clang-format on */

const struct q3_dialect q3_dialect_68 = {
	.name = "quake3-68",
	.entity = { q3_entity_fields, Q3_ENTITY_FIELDS },
	.player = { q3_player_fields, Q3_PLAYER_FIELDS },
	.player_slots = 48,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 68,
};

const struct q3_dialect q3_dialect_67 = {
	.name = "quake3-67",
	.entity = { q3_entity_fields, Q3_ENTITY_FIELDS },
	.player = { q3_player_fields, Q3_PLAYER_FIELDS },
	.player_slots = 48,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 67,
};

const struct q3_dialect q3_dialect_66 = {
	.name = "quake3-66",
	.entity = { q3_entity_fields, Q3_ENTITY_FIELDS },
	.player = { q3_player_fields, Q3_PLAYER_FIELDS },
	.player_slots = 48,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 66,
};

const struct q3_dialect q3_dialect_ioq3 = {
	.name = "ioq3-71",
	.entity = { q3_entity_fields, Q3_ENTITY_FIELDS },
	.player = { q3_player_fields, Q3_PLAYER_FIELDS },
	.player_slots = 48,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 71,
	.flags = Q3_CHECKSUM | Q3_VOICE,
};

const struct q3_dialect q3_dialect_openarena = {
	.name = "openarena-71",
	.entity = { q3_entity_fields, Q3_ENTITY_FIELDS },
	.player = { q3_player_fields, Q3_PLAYER_FIELDS },
	.player_slots = 48,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 71,
	.flags = Q3_VOICE,
};
