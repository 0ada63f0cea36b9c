// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_fields_tremulous.c - Tremulous, protocols 70 and 71
 *
 * Rows are { name, bits, slot } in wire order: bits 0 is a float, below zero a signed
 * integer of that width; slot is where the value lives in a state. The facts (names,
 * widths, order) come from the engines named below and were converted by hand-run
 * script; no engine code is here.
 *
 * Source: GrangerHub/tremulous src/qcommon/msg.cpp.
 */
#include "decode/q3/q3_fields.h"

/* clang-format off */
static const struct q3_field tremulous_71_entity[] = {
	{ "pos.trTime", 32, 0 }, { "pos.trBase[0]", 0, 1 }, { "pos.trBase[1]", 0, 2 },
	{ "pos.trDelta[0]", 0, 3 }, { "pos.trDelta[1]", 0, 4 }, { "pos.trBase[2]", 0, 5 },
	{ "apos.trBase[1]", 0, 6 }, { "pos.trDelta[2]", 0, 7 },
	{ "apos.trBase[0]", 0, 8 }, { "event", 10, 9 }, { "angles2[1]", 0, 10 },
	{ "eType", 8, 11 }, { "torsoAnim", 8, 12 }, { "weaponAnim", 8, 13 },
	{ "eventParm", 8, 14 }, { "legsAnim", 8, 15 }, { "groundEntityNum", 10, 16 },
	{ "pos.trType", 8, 17 }, { "eFlags", 19, 18 }, { "otherEntityNum", 10, 19 },
	{ "weapon", 8, 20 }, { "clientNum", 8, 21 }, { "angles[1]", 0, 22 },
	{ "pos.trDuration", 32, 23 }, { "apos.trType", 8, 24 }, { "origin[0]", 0, 25 },
	{ "origin[1]", 0, 26 }, { "origin[2]", 0, 27 }, { "solid", 24, 28 },
	{ "misc", 16, 29 }, { "modelindex", 8, 30 }, { "otherEntityNum2", 10, 31 },
	{ "loopSound", 8, 32 }, { "generic1", 10, 33 }, { "origin2[2]", 0, 34 },
	{ "origin2[0]", 0, 35 }, { "origin2[1]", 0, 36 }, { "modelindex2", 8, 37 },
	{ "angles[0]", 0, 38 }, { "time", 32, 39 }, { "apos.trTime", 32, 40 },
	{ "apos.trDuration", 32, 41 }, { "apos.trBase[2]", 0, 42 },
	{ "apos.trDelta[0]", 0, 43 }, { "apos.trDelta[1]", 0, 44 },
	{ "apos.trDelta[2]", 0, 45 }, { "time2", 32, 46 }, { "angles[2]", 0, 47 },
	{ "angles2[0]", 0, 48 }, { "angles2[2]", 0, 49 }, { "constantLight", 32, 50 },
	{ "frame", 16, 51 },
};

static const struct q3_field tremulous_71_player[] = {
	{ "commandTime", 32, 0 }, { "origin[0]", 0, 1 }, { "origin[1]", 0, 2 },
	{ "bobCycle", 8, 3 }, { "velocity[0]", 0, 4 }, { "velocity[1]", 0, 5 },
	{ "viewangles[1]", 0, 6 }, { "viewangles[0]", 0, 7 }, { "weaponTime", -16, 8 },
	{ "origin[2]", 0, 9 }, { "velocity[2]", 0, 10 }, { "legsTimer", 8, 11 },
	{ "pm_time", -16, 12 }, { "eventSequence", 16, 13 }, { "torsoAnim", 8, 14 },
	{ "weaponAnim", 8, 15 }, { "movementDir", 4, 16 }, { "events[0]", 8, 17 },
	{ "legsAnim", 8, 18 }, { "events[1]", 8, 19 }, { "pm_flags", 24, 20 },
	{ "groundEntityNum", 10, 21 }, { "weaponstate", 4, 22 }, { "eFlags", 16, 23 },
	{ "externalEvent", 10, 24 }, { "gravity", -16, 25 }, { "speed", -16, 26 },
	{ "delta_angles[1]", 16, 27 }, { "externalEventParm", 8, 28 },
	{ "viewheight", -8, 29 }, { "damageEvent", 8, 30 }, { "damageYaw", 8, 31 },
	{ "damagePitch", 8, 32 }, { "damageCount", 8, 33 }, { "ammo", 12, 34 },
	{ "clips", 4, 35 }, { "generic1", 10, 36 }, { "pm_type", 8, 37 },
	{ "delta_angles[0]", 16, 38 }, { "delta_angles[2]", 16, 39 },
	{ "torsoTimer", 12, 40 }, { "tauntTimer", 12, 41 }, { "eventParms[0]", 8, 42 },
	{ "eventParms[1]", 8, 43 }, { "clientNum", 8, 44 }, { "weapon", 5, 45 },
	{ "viewangles[2]", 0, 46 }, { "grapplePoint[0]", 0, 47 },
	{ "grapplePoint[1]", 0, 48 }, { "grapplePoint[2]", 0, 49 },
	{ "otherEntityNum", 10, 50 }, { "loopSound", 16, 51 },
};

/* clang-format on */

const struct q3_dialect q3_dialect_tremulous70 = {
	.name = "tremulous-70",
	.entity = { tremulous_71_entity, Q3_COUNT(tremulous_71_entity) },
	.player = { tremulous_71_player, Q3_COUNT(tremulous_71_player) },
	.player_slots = 52,
	.reliable = 128,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays_tremulous,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 70,
	.flags = Q3_UNTESTED | Q3_KEEP_PERCENT,
};

const struct q3_dialect q3_dialect_tremulous71 = {
	.name = "tremulous-71",
	.entity = { tremulous_71_entity, Q3_COUNT(tremulous_71_entity) },
	.player = { tremulous_71_player, Q3_COUNT(tremulous_71_player) },
	.player_slots = 52,
	.reliable = 128,
	.message_max = 16384,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays_tremulous,
	.moves = { q3_move, Q3_MOVE },
	.protocol = 71,
	.flags = Q3_UNTESTED | Q3_CHECKSUM | Q3_VOICE,
};
