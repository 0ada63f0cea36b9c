// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_fields_quakelive.c - the delta fields of Quake Live, protocols 73, 90 and 91
 *
 * Rows are { name, bits, slot } in wire order: bits 0 is a float, below zero a signed
 * integer of that width; slot is where the value lives in a state. The facts (names,
 * widths, order) come from the engines named below and were converted by hand-run
 * script; no engine code is here.
 *
 * Source: mightycow/uberdemotools UDT_DLL/src/message.cpp.
 */
#include "decode/q3/q3_fields.h"

/* clang-format off */
static const struct q3_field quakelive_73_entity[] = {
	{ "pos.trTime", 32, 0 }, { "pos.trBase[0]", 0, 1 }, { "pos.trBase[1]", 0, 2 },
	{ "pos.trDelta[0]", 0, 3 }, { "pos.trDelta[1]", 0, 4 }, { "pos.trBase[2]", 0, 5 },
	{ "apos.trBase[1]", 0, 6 }, { "pos.trDelta[2]", 0, 7 },
	{ "apos.trBase[0]", 0, 8 }, { "pos_gravity", 32, 9 }, { "event", 10, 10 },
	{ "angles2[1]", 0, 11 }, { "eType", 8, 12 }, { "torsoAnim", 8, 13 },
	{ "eventParm", 8, 14 }, { "legsAnim", 8, 15 }, { "groundEntityNum", 10, 16 },
	{ "pos.trType", 8, 17 }, { "eFlags", 19, 18 }, { "otherEntityNum", 10, 19 },
	{ "weapon", 8, 20 }, { "clientNum", 8, 21 }, { "angles[1]", 0, 22 },
	{ "pos.trDuration", 32, 23 }, { "apos.trType", 8, 24 }, { "origin[0]", 0, 25 },
	{ "origin[1]", 0, 26 }, { "origin[2]", 0, 27 }, { "solid", 24, 28 },
	{ "powerups", 16, 29 }, { "modelindex", 8, 30 }, { "otherEntityNum2", 10, 31 },
	{ "loopSound", 8, 32 }, { "generic1", 8, 33 }, { "origin2[2]", 0, 34 },
	{ "origin2[0]", 0, 35 }, { "origin2[1]", 0, 36 }, { "modelindex2", 8, 37 },
	{ "angles[0]", 0, 38 }, { "time", 32, 39 }, { "apos.trTime", 32, 40 },
	{ "apos.trDuration", 32, 41 }, { "apos.trBase[2]", 0, 42 },
	{ "apos.trDelta[0]", 0, 43 }, { "apos.trDelta[1]", 0, 44 },
	{ "apos.trDelta[2]", 0, 45 }, { "apos_gravity", 32, 46 }, { "time2", 32, 47 },
	{ "angles[2]", 0, 48 }, { "angles2[0]", 0, 49 }, { "angles2[2]", 0, 50 },
	{ "constantLight", 32, 51 }, { "frame", 16, 52 },
};

static const struct q3_field quakelive_73_player[] = {
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

static const struct q3_field quakelive_90_entity[] = {
	{ "pos.trTime", 32, 0 }, { "pos.trBase[0]", 0, 1 }, { "pos.trBase[1]", 0, 2 },
	{ "pos.trDelta[0]", 0, 3 }, { "pos.trDelta[1]", 0, 4 }, { "pos.trBase[2]", 0, 5 },
	{ "apos.trBase[1]", 0, 6 }, { "pos.trDelta[2]", 0, 7 },
	{ "apos.trBase[0]", 0, 8 }, { "pos_gravity", 32, 9 }, { "event", 10, 10 },
	{ "angles2[1]", 0, 11 }, { "eType", 8, 12 }, { "torsoAnim", 8, 13 },
	{ "eventParm", 8, 14 }, { "legsAnim", 8, 15 }, { "groundEntityNum", 10, 16 },
	{ "pos.trType", 8, 17 }, { "eFlags", 19, 18 }, { "otherEntityNum", 10, 19 },
	{ "weapon", 8, 20 }, { "clientNum", 8, 21 }, { "angles[1]", 0, 22 },
	{ "pos.trDuration", 32, 23 }, { "apos.trType", 8, 24 }, { "origin[0]", 0, 25 },
	{ "origin[1]", 0, 26 }, { "origin[2]", 0, 27 }, { "solid", 24, 28 },
	{ "powerups", 16, 29 }, { "modelindex", 8, 30 }, { "otherEntityNum2", 10, 31 },
	{ "loopSound", 8, 32 }, { "generic1", 8, 33 }, { "origin2[2]", 0, 34 },
	{ "origin2[0]", 0, 35 }, { "origin2[1]", 0, 36 }, { "modelindex2", 8, 37 },
	{ "angles[0]", 0, 38 }, { "time", 32, 39 }, { "apos.trTime", 32, 40 },
	{ "apos.trDuration", 32, 41 }, { "apos.trBase[2]", 0, 42 },
	{ "apos.trDelta[0]", 0, 43 }, { "apos.trDelta[1]", 0, 44 },
	{ "apos.trDelta[2]", 0, 45 }, { "apos_gravity", 32, 46 }, { "time2", 32, 47 },
	{ "angles[2]", 0, 48 }, { "angles2[0]", 0, 49 }, { "angles2[2]", 0, 50 },
	{ "constantLight", 32, 51 }, { "frame", 16, 52 }, { "jumpTime", 32, 53 },
	{ "doubleJumped", 1, 54 },
};

static const struct q3_field quakelive_90_player[] = {
	{ "commandTime", 32, 0 }, { "origin[0]", 0, 1 }, { "origin[1]", 0, 2 },
	{ "bobCycle", 8, 3 }, { "velocity[0]", 0, 4 }, { "velocity[1]", 0, 5 },
	{ "viewangles[1]", 0, 6 }, { "viewangles[0]", 0, 7 }, { "weaponTime", -16, 8 },
	{ "origin[2]", 0, 9 }, { "velocity[2]", 0, 10 }, { "legsTimer", 8, 11 },
	{ "pm_time", -16, 12 }, { "eventSequence", 16, 13 }, { "torsoAnim", 8, 14 },
	{ "movementDir", 4, 15 }, { "events[0]", 8, 16 }, { "legsAnim", 8, 17 },
	{ "events[1]", 8, 18 }, { "pm_flags", 24, 19 }, { "groundEntityNum", 10, 20 },
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
	{ "jumpTime", 32, 48 }, { "doubleJumped", 1, 49 },
};

static const struct q3_field quakelive_91_entity[] = {
	{ "pos.trTime", 32, 0 }, { "pos.trBase[0]", 0, 1 }, { "pos.trBase[1]", 0, 2 },
	{ "pos.trDelta[0]", 0, 3 }, { "pos.trDelta[1]", 0, 4 }, { "pos.trBase[2]", 0, 5 },
	{ "apos.trBase[1]", 0, 6 }, { "pos.trDelta[2]", 0, 7 },
	{ "apos.trBase[0]", 0, 8 }, { "pos_gravity", 32, 9 }, { "event", 10, 10 },
	{ "angles2[1]", 0, 11 }, { "eType", 8, 12 }, { "torsoAnim", 8, 13 },
	{ "eventParm", 8, 14 }, { "legsAnim", 8, 15 }, { "groundEntityNum", 10, 16 },
	{ "pos.trType", 8, 17 }, { "eFlags", 19, 18 }, { "otherEntityNum", 10, 19 },
	{ "weapon", 8, 20 }, { "clientNum", 8, 21 }, { "angles[1]", 0, 22 },
	{ "pos.trDuration", 32, 23 }, { "apos.trType", 8, 24 }, { "origin[0]", 0, 25 },
	{ "origin[1]", 0, 26 }, { "origin[2]", 0, 27 }, { "solid", 24, 28 },
	{ "powerups", 16, 29 }, { "modelindex", 8, 30 }, { "otherEntityNum2", 10, 31 },
	{ "loopSound", 8, 32 }, { "generic1", 8, 33 }, { "origin2[2]", 0, 34 },
	{ "origin2[0]", 0, 35 }, { "origin2[1]", 0, 36 }, { "modelindex2", 8, 37 },
	{ "angles[0]", 0, 38 }, { "time", 32, 39 }, { "apos.trTime", 32, 40 },
	{ "apos.trDuration", 32, 41 }, { "apos.trBase[2]", 0, 42 },
	{ "apos.trDelta[0]", 0, 43 }, { "apos.trDelta[1]", 0, 44 },
	{ "apos.trDelta[2]", 0, 45 }, { "apos_gravity", 32, 46 }, { "time2", 32, 47 },
	{ "angles[2]", 0, 48 }, { "angles2[0]", 0, 49 }, { "angles2[2]", 0, 50 },
	{ "constantLight", 32, 51 }, { "frame", 16, 52 }, { "jumpTime", 32, 53 },
	{ "doubleJumped", 1, 54 }, { "health", 16, 55 }, { "armor", 16, 56 },
	{ "location", 8, 57 },
};

static const struct q3_field quakelive_91_player[] = {
	{ "commandTime", 32, 0 }, { "origin[0]", 0, 1 }, { "origin[1]", 0, 2 },
	{ "bobCycle", 8, 3 }, { "velocity[0]", 0, 4 }, { "velocity[1]", 0, 5 },
	{ "viewangles[1]", 0, 6 }, { "viewangles[0]", 0, 7 }, { "weaponTime", -16, 8 },
	{ "origin[2]", 0, 9 }, { "velocity[2]", 0, 10 }, { "legsTimer", 8, 11 },
	{ "pm_time", -16, 12 }, { "eventSequence", 16, 13 }, { "torsoAnim", 8, 14 },
	{ "movementDir", 4, 15 }, { "events[0]", 8, 16 }, { "legsAnim", 8, 17 },
	{ "events[1]", 8, 18 }, { "pm_flags", 24, 19 }, { "groundEntityNum", 10, 20 },
	{ "weaponstate", 4, 21 }, { "eFlags", 16, 22 }, { "externalEvent", 10, 23 },
	{ "gravity", 16, 24 }, { "speed", 16, 25 }, { "delta_angles[1]", 16, 26 },
	{ "externalEventParm", 8, 27 }, { "viewheight", -8, 28 },
	{ "damageEvent", 8, 29 }, { "damageYaw", 8, 30 }, { "damagePitch", 8, 31 },
	{ "damageCount", 8, 32 }, { "generic1", 8, 33 }, { "pm_type", 8, 34 },
	{ "delta_angles[0]", 16, 35 }, { "delta_angles[2]", 16, 36 },
	{ "torsoTimer", 12, 37 }, { "eventParms[0]", 8, 38 }, { "eventParms[1]", 8, 39 },
	{ "clientNum", 8, 40 }, { "weapon", 5, 41 }, { "weaponPrimary", 8, 42 },
	{ "viewangles[2]", 0, 43 }, { "grapplePoint[0]", 0, 44 },
	{ "grapplePoint[1]", 0, 45 }, { "grapplePoint[2]", 0, 46 },
	{ "jumppad_ent", 10, 47 }, { "loopSound", 16, 48 }, { "jumpTime", 32, 49 },
	{ "doubleJumped", 1, 50 }, { "crouchTime", 32, 51 },
	{ "crouchSlideTime", 32, 52 }, { "location", 8, 53 }, { "fov", 8, 54 },
	{ "forwardmove", 8, 55 }, { "rightmove", 8, 56 }, { "upmove", 8, 57 },
};

/* clang-format on */

const struct q3_dialect q3_dialect_quakelive73 = {
	.name = "quakelive-73",
	.entity = { quakelive_73_entity, Q3_COUNT(quakelive_73_entity) },
	.player = { quakelive_73_player, Q3_COUNT(quakelive_73_player) },
	.player_slots = 48,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 73,
};

const struct q3_dialect q3_dialect_quakelive90 = {
	.name = "quakelive-90",
	.entity = { quakelive_90_entity, Q3_COUNT(quakelive_90_entity) },
	.player = { quakelive_90_player, Q3_COUNT(quakelive_90_player) },
	.player_slots = 50,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 90,
};

const struct q3_dialect q3_dialect_quakelive91 = {
	.name = "quakelive-91",
	.entity = { quakelive_91_entity, Q3_COUNT(quakelive_91_entity) },
	.player = { quakelive_91_player, Q3_COUNT(quakelive_91_player) },
	.player_slots = 58,
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays,
	.moves = { q3_move_quakelive, Q3_MOVE_QUAKELIVE },
	.protocol = 91,
	.flags = Q3_CLIENT_EXTRA,
};
