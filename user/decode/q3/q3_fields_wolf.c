// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_fields_wolf.c - Return to Castle Wolfenstein 60 and Enemy Territory 84
 *
 * Rows are { name, bits, slot } in wire order: bits 0 is a float, below zero a signed
 * integer of that width; slot is where the value lives in a state. The facts (names,
 * widths, order) come from the engines named below and were converted by hand-run
 * script; no engine code is here.
 *
 * Source: id-Software/RTCW-MP and id-Software/Enemy-Territory src/qcommon/msg.c.
 */
#include "decode/q3/q3_fields.h"

/* clang-format off */
static const struct q3_field rtcw_60_entity[] = {
	{ "eType", 8, 0 }, { "eFlags", 24, 1 }, { "pos.trType", 8, 2 },
	{ "pos.trTime", 32, 3 }, { "pos.trDuration", 32, 4 }, { "pos.trBase[0]", 0, 5 },
	{ "pos.trBase[1]", 0, 6 }, { "pos.trBase[2]", 0, 7 }, { "pos.trDelta[0]", 0, 8 },
	{ "pos.trDelta[1]", 0, 9 }, { "pos.trDelta[2]", 0, 10 }, { "apos.trType", 8, 11 },
	{ "apos.trTime", 32, 12 }, { "apos.trDuration", 32, 13 },
	{ "apos.trBase[0]", 0, 14 }, { "apos.trBase[1]", 0, 15 },
	{ "apos.trBase[2]", 0, 16 }, { "apos.trDelta[0]", 0, 17 },
	{ "apos.trDelta[1]", 0, 18 }, { "apos.trDelta[2]", 0, 19 }, { "time", 32, 20 },
	{ "time2", 32, 21 }, { "origin[0]", 0, 22 }, { "origin[1]", 0, 23 },
	{ "origin[2]", 0, 24 }, { "origin2[0]", 0, 25 }, { "origin2[1]", 0, 26 },
	{ "origin2[2]", 0, 27 }, { "angles[0]", 0, 28 }, { "angles[1]", 0, 29 },
	{ "angles[2]", 0, 30 }, { "angles2[0]", 0, 31 }, { "angles2[1]", 0, 32 },
	{ "angles2[2]", 0, 33 }, { "otherEntityNum", 10, 34 },
	{ "otherEntityNum2", 10, 35 }, { "groundEntityNum", 10, 36 },
	{ "loopSound", 8, 37 }, { "constantLight", 32, 38 }, { "dl_intensity", 32, 39 },
	{ "modelindex", 9, 40 }, { "modelindex2", 9, 41 }, { "frame", 16, 42 },
	{ "clientNum", 8, 43 }, { "solid", 24, 44 }, { "event", 10, 45 },
	{ "eventParm", 8, 46 }, { "eventSequence", 8, 47 }, { "events[0]", 8, 48 },
	{ "events[1]", 8, 49 }, { "events[2]", 8, 50 }, { "events[3]", 8, 51 },
	{ "eventParms[0]", 8, 52 }, { "eventParms[1]", 8, 53 },
	{ "eventParms[2]", 8, 54 }, { "eventParms[3]", 8, 55 }, { "powerups", 16, 56 },
	{ "weapon", 8, 57 }, { "legsAnim", 10, 58 }, { "torsoAnim", 10, 59 },
	{ "density", 10, 60 }, { "dmgFlags", 32, 61 }, { "onFireStart", 32, 62 },
	{ "onFireEnd", 32, 63 }, { "aiChar", 8, 64 }, { "teamNum", 8, 65 },
	{ "effect1Time", 32, 66 }, { "effect2Time", 32, 67 }, { "effect3Time", 32, 68 },
	{ "aiState", 2, 69 }, { "animMovetype", 4, 70 },
};

static const struct q3_field rtcw_60_player[] = {
	{ "commandTime", 32, 0 }, { "pm_type", 8, 1 }, { "bobCycle", 8, 2 },
	{ "pm_flags", 16, 3 }, { "pm_time", -16, 4 }, { "origin[0]", 0, 5 },
	{ "origin[1]", 0, 6 }, { "origin[2]", 0, 7 }, { "velocity[0]", 0, 8 },
	{ "velocity[1]", 0, 9 }, { "velocity[2]", 0, 10 }, { "weaponTime", -16, 11 },
	{ "weaponDelay", -16, 12 }, { "grenadeTimeLeft", -16, 13 }, { "gravity", 16, 14 },
	{ "leanf", 0, 15 }, { "speed", 16, 16 }, { "delta_angles[0]", 16, 17 },
	{ "delta_angles[1]", 16, 18 }, { "delta_angles[2]", 16, 19 },
	{ "groundEntityNum", 10, 20 }, { "legsTimer", 16, 21 }, { "torsoTimer", 16, 22 },
	{ "legsAnim", 10, 23 }, { "torsoAnim", 10, 24 }, { "movementDir", 8, 25 },
	{ "eFlags", 24, 26 }, { "eventSequence", 8, 27 }, { "events[0]", 8, 28 },
	{ "events[1]", 8, 29 }, { "events[2]", 8, 30 }, { "events[3]", 8, 31 },
	{ "eventParms[0]", 8, 32 }, { "eventParms[1]", 8, 33 },
	{ "eventParms[2]", 8, 34 }, { "eventParms[3]", 8, 35 }, { "clientNum", 8, 36 },
	{ "weapons[0]", 32, 37 }, { "weapons[1]", 32, 38 }, { "weapon", 7, 39 },
	{ "weaponstate", 4, 40 }, { "weapAnim", 10, 41 }, { "viewangles[0]", 0, 42 },
	{ "viewangles[1]", 0, 43 }, { "viewangles[2]", 0, 44 }, { "viewheight", -8, 45 },
	{ "damageEvent", 8, 46 }, { "damageYaw", 8, 47 }, { "damagePitch", 8, 48 },
	{ "damageCount", 8, 49 }, { "mins[0]", 0, 50 }, { "mins[1]", 0, 51 },
	{ "mins[2]", 0, 52 }, { "maxs[0]", 0, 53 }, { "maxs[1]", 0, 54 },
	{ "maxs[2]", 0, 55 }, { "crouchMaxZ", 0, 56 }, { "crouchViewHeight", 0, 57 },
	{ "standViewHeight", 0, 58 }, { "deadViewHeight", 0, 59 },
	{ "runSpeedScale", 0, 60 }, { "sprintSpeedScale", 0, 61 },
	{ "crouchSpeedScale", 0, 62 }, { "friction", 0, 63 }, { "viewlocked", 8, 64 },
	{ "viewlocked_entNum", 16, 65 }, { "aiChar", 8, 66 }, { "teamNum", 8, 67 },
	{ "gunfx", 8, 68 }, { "onFireStart", 32, 69 }, { "curWeapHeat", 8, 70 },
	{ "sprintTime", 16, 71 }, { "aimSpreadScale", 8, 72 }, { "aiState", 2, 73 },
	{ "serverCursorHint", 8, 74 }, { "serverCursorHintVal", 8, 75 },
	{ "classWeaponTime", 32, 76 },
};

static const struct q3_field et_84_entity[] = {
	{ "eType", 8, 0 }, { "eFlags", 24, 1 }, { "pos.trType", 8, 2 },
	{ "pos.trTime", 32, 3 }, { "pos.trDuration", 32, 4 }, { "pos.trBase[0]", 0, 5 },
	{ "pos.trBase[1]", 0, 6 }, { "pos.trBase[2]", 0, 7 }, { "pos.trDelta[0]", 0, 8 },
	{ "pos.trDelta[1]", 0, 9 }, { "pos.trDelta[2]", 0, 10 }, { "apos.trType", 8, 11 },
	{ "apos.trTime", 32, 12 }, { "apos.trDuration", 32, 13 },
	{ "apos.trBase[0]", 0, 14 }, { "apos.trBase[1]", 0, 15 },
	{ "apos.trBase[2]", 0, 16 }, { "apos.trDelta[0]", 0, 17 },
	{ "apos.trDelta[1]", 0, 18 }, { "apos.trDelta[2]", 0, 19 }, { "time", 32, 20 },
	{ "time2", 32, 21 }, { "origin[0]", 0, 22 }, { "origin[1]", 0, 23 },
	{ "origin[2]", 0, 24 }, { "origin2[0]", 0, 25 }, { "origin2[1]", 0, 26 },
	{ "origin2[2]", 0, 27 }, { "angles[0]", 0, 28 }, { "angles[1]", 0, 29 },
	{ "angles[2]", 0, 30 }, { "angles2[0]", 0, 31 }, { "angles2[1]", 0, 32 },
	{ "angles2[2]", 0, 33 }, { "otherEntityNum", 10, 34 },
	{ "otherEntityNum2", 10, 35 }, { "groundEntityNum", 10, 36 },
	{ "loopSound", 8, 37 }, { "constantLight", 32, 38 }, { "dl_intensity", 32, 39 },
	{ "modelindex", 9, 40 }, { "modelindex2", 9, 41 }, { "frame", 16, 42 },
	{ "clientNum", 8, 43 }, { "solid", 24, 44 }, { "event", 10, 45 },
	{ "eventParm", 8, 46 }, { "eventSequence", 8, 47 }, { "events[0]", 8, 48 },
	{ "events[1]", 8, 49 }, { "events[2]", 8, 50 }, { "events[3]", 8, 51 },
	{ "eventParms[0]", 8, 52 }, { "eventParms[1]", 8, 53 },
	{ "eventParms[2]", 8, 54 }, { "eventParms[3]", 8, 55 }, { "powerups", 16, 56 },
	{ "weapon", 8, 57 }, { "legsAnim", 10, 58 }, { "torsoAnim", 10, 59 },
	{ "density", 10, 60 }, { "dmgFlags", 32, 61 }, { "onFireStart", 32, 62 },
	{ "onFireEnd", 32, 63 }, { "nextWeapon", 8, 64 }, { "teamNum", 8, 65 },
	{ "effect1Time", 32, 66 }, { "effect2Time", 32, 67 }, { "effect3Time", 32, 68 },
	{ "animMovetype", 4, 69 }, { "aiState", 2, 70 },
};

static const struct q3_field et_84_player[] = {
	{ "commandTime", 32, 0 }, { "pm_type", 8, 1 }, { "bobCycle", 8, 2 },
	{ "pm_flags", 16, 3 }, { "pm_time", -16, 4 }, { "origin[0]", 0, 5 },
	{ "origin[1]", 0, 6 }, { "origin[2]", 0, 7 }, { "velocity[0]", 0, 8 },
	{ "velocity[1]", 0, 9 }, { "velocity[2]", 0, 10 }, { "weaponTime", -16, 11 },
	{ "weaponDelay", -16, 12 }, { "grenadeTimeLeft", -16, 13 }, { "gravity", 16, 14 },
	{ "leanf", 0, 15 }, { "speed", 16, 16 }, { "delta_angles[0]", 16, 17 },
	{ "delta_angles[1]", 16, 18 }, { "delta_angles[2]", 16, 19 },
	{ "groundEntityNum", 10, 20 }, { "legsTimer", 16, 21 }, { "torsoTimer", 16, 22 },
	{ "legsAnim", 10, 23 }, { "torsoAnim", 10, 24 }, { "movementDir", 8, 25 },
	{ "eFlags", 24, 26 }, { "eventSequence", 8, 27 }, { "events[0]", 8, 28 },
	{ "events[1]", 8, 29 }, { "events[2]", 8, 30 }, { "events[3]", 8, 31 },
	{ "eventParms[0]", 8, 32 }, { "eventParms[1]", 8, 33 },
	{ "eventParms[2]", 8, 34 }, { "eventParms[3]", 8, 35 }, { "clientNum", 8, 36 },
	{ "weapons[0]", 32, 37 }, { "weapons[1]", 32, 38 }, { "weapon", 7, 39 },
	{ "weaponstate", 4, 40 }, { "weapAnim", 10, 41 }, { "viewangles[0]", 0, 42 },
	{ "viewangles[1]", 0, 43 }, { "viewangles[2]", 0, 44 }, { "viewheight", -8, 45 },
	{ "damageEvent", 8, 46 }, { "damageYaw", 8, 47 }, { "damagePitch", 8, 48 },
	{ "damageCount", 8, 49 }, { "mins[0]", 0, 50 }, { "mins[1]", 0, 51 },
	{ "mins[2]", 0, 52 }, { "maxs[0]", 0, 53 }, { "maxs[1]", 0, 54 },
	{ "maxs[2]", 0, 55 }, { "crouchMaxZ", 0, 56 }, { "crouchViewHeight", 0, 57 },
	{ "standViewHeight", 0, 58 }, { "deadViewHeight", 0, 59 },
	{ "runSpeedScale", 0, 60 }, { "sprintSpeedScale", 0, 61 },
	{ "crouchSpeedScale", 0, 62 }, { "friction", 0, 63 }, { "viewlocked", 8, 64 },
	{ "viewlocked_entNum", 16, 65 }, { "nextWeapon", 8, 66 }, { "teamNum", 8, 67 },
	{ "onFireStart", 32, 68 }, { "curWeapHeat", 8, 69 }, { "aimSpreadScale", 8, 70 },
	{ "serverCursorHint", 8, 71 }, { "serverCursorHintVal", 8, 72 },
	{ "classWeaponTime", 32, 73 }, { "identifyClient", 8, 74 },
	{ "identifyClientHealth", 8, 75 }, { "aiState", 2, 76 },
};

/* clang-format on */

const struct q3_dialect q3_dialect_rtcw = {
	.name = "rtcw-60",
	.entity = { rtcw_60_entity, Q3_COUNT(rtcw_60_entity) },
	.player = { rtcw_60_player, Q3_COUNT(rtcw_60_player) },
	.player_slots = 77,
	.reliable = 256,
	.message_max = 32768,
	.configstrings = 2048,
	.eof = 8,
	.arrays = q3_arrays_wolf,
	.moves = { q3_move_rtcw, Q3_MOVE_RTCW },
	.protocol = 60,
};

const struct q3_dialect q3_dialect_et = {
	.name = "et-84",
	.entity = { et_84_entity, Q3_COUNT(et_84_entity) },
	.player = { et_84_player, Q3_COUNT(et_84_player) },
	.player_slots = 77,
	.reliable = 256,
	.message_max = 32768,
	.configstrings = 1024,
	.eof = 8,
	.arrays = q3_arrays_wolf,
	.moves = { q3_move_et, Q3_MOVE_ET },
	.protocol = 84,
	.flags = Q3_TRAILING_DATA,
};
