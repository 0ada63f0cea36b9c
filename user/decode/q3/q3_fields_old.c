// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_fields_old.c - the delta fields of protocols 43, 45 and 48, before Huffman coding
 *
 * Rows are { name, bits, slot } in wire order, as in q3_fields.c. A field's place is its
 * bit in an entity's mask of changes; the 31 masks that occur most have numbers of their
 * own. Facts from mightycow/uberdemotools UDT_DLL/src/message.cpp; no code is here.
 */
#include "decode/q3/q3_fields.h"

/* clang-format off */
static const struct q3_field old_entity[] = {
	{ "eType", 8, 0 }, { "eFlags", 16, 1 }, { "pos.trType", 8, 2 },
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
	{ "loopSound", 8, 37 }, { "constantLight", 32, 38 }, { "modelindex", 8, 39 },
	{ "modelindex2", 8, 40 }, { "frame", 16, 41 }, { "clientNum", 8, 42 },
	{ "solid", 24, 43 }, { "event", 10, 44 }, { "eventParm", 8, 45 },
	{ "powerups", 16, 46 }, { "weapon", 8, 47 }, { "legsAnim", 8, 48 },
	{ "torsoAnim", 8, 49 },
};

static const struct q3_field old_player[] = {
	{ "commandTime", 32, 0 }, { "pm_type", 8, 1 }, { "bobCycle", 8, 2 },
	{ "pm_flags", 16, 3 }, { "pm_time", 16, 4 }, { "origin[0]", 0, 5 },
	{ "origin[1]", 0, 6 }, { "origin[2]", 0, 7 }, { "velocity[0]", 0, 8 },
	{ "velocity[1]", 0, 9 }, { "velocity[2]", 0, 10 }, { "weaponTime", 16, 11 },
	{ "gravity", 16, 12 }, { "speed", 16, 13 }, { "delta_angles[0]", 16, 14 },
	{ "delta_angles[1]", 16, 15 }, { "delta_angles[2]", 16, 16 },
	{ "groundEntityNum", 10, 17 }, { "legsTimer", 8, 18 }, { "torsoTimer", 12, 19 },
	{ "legsAnim", 8, 20 }, { "torsoAnim", 8, 21 }, { "movementDir", 4, 22 },
	{ "eFlags", 16, 23 }, { "eventSequence", 16, 24 }, { "events[0]", 8, 25 },
	{ "events[1]", 8, 26 }, { "eventParms[0]", 8, 27 }, { "eventParms[1]", 8, 28 },
	{ "externalEvent", 8, 29 }, { "externalEventParm", 8, 30 },
	{ "clientNum", 8, 31 }, { "weapon", 5, 32 }, { "weaponstate", 4, 33 },
	{ "viewangles[0]", 0, 34 }, { "viewangles[1]", 0, 35 },
	{ "viewangles[2]", 0, 36 }, { "viewheight", 8, 37 }, { "damageEvent", 8, 38 },
	{ "damageYaw", 8, 39 }, { "damagePitch", 8, 40 }, { "damageCount", 8, 41 },
	{ "grapplePoint[0]", 0, 42 }, { "grapplePoint[1]", 0, 43 },
	{ "grapplePoint[2]", 0, 44 },
};

static const struct q3_field entity_48[] = {
	{ "eType", 8, 0 }, { "eFlags", 19, 1 }, { "pos.trType", 8, 2 },
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
	{ "loopSound", 8, 37 }, { "constantLight", 32, 38 }, { "modelindex", 8, 39 },
	{ "modelindex2", 8, 40 }, { "frame", 16, 41 }, { "clientNum", 8, 42 },
	{ "solid", 24, 43 }, { "event", 10, 44 }, { "eventParm", 8, 45 },
	{ "powerups", 16, 46 }, { "weapon", 8, 47 }, { "legsAnim", 8, 48 },
	{ "torsoAnim", 8, 49 }, { "generic1", 8, 50 },
};

static const struct q3_field player_48[] = {
	{ "commandTime", 32, 0 }, { "pm_type", 8, 1 }, { "bobCycle", 8, 2 },
	{ "pm_flags", 16, 3 }, { "pm_time", -16, 4 }, { "origin[0]", 0, 5 },
	{ "origin[1]", 0, 6 }, { "origin[2]", 0, 7 }, { "velocity[0]", 0, 8 },
	{ "velocity[1]", 0, 9 }, { "velocity[2]", 0, 10 }, { "weaponTime", -16, 11 },
	{ "gravity", 16, 12 }, { "speed", 16, 13 }, { "delta_angles[0]", 16, 14 },
	{ "delta_angles[1]", 16, 15 }, { "delta_angles[2]", 16, 16 },
	{ "groundEntityNum", 10, 17 }, { "legsTimer", 8, 18 }, { "torsoTimer", 12, 19 },
	{ "legsAnim", 8, 20 }, { "torsoAnim", 8, 21 }, { "movementDir", 4, 22 },
	{ "eFlags", 16, 23 }, { "eventSequence", 16, 24 }, { "events[0]", 8, 25 },
	{ "events[1]", 8, 26 }, { "eventParms[0]", 8, 27 }, { "eventParms[1]", 8, 28 },
	{ "externalEvent", 10, 29 }, { "externalEventParm", 8, 30 },
	{ "clientNum", 8, 31 }, { "weapon", 5, 32 }, { "weaponstate", 4, 33 },
	{ "viewangles[0]", 0, 34 }, { "viewangles[1]", 0, 35 },
	{ "viewangles[2]", 0, 36 }, { "viewheight", -8, 37 }, { "damageEvent", 8, 38 },
	{ "damageYaw", 8, 39 }, { "damagePitch", 8, 40 }, { "damageCount", 8, 41 },
	{ "grapplePoint[0]", 0, 42 }, { "grapplePoint[1]", 0, 43 },
	{ "grapplePoint[2]", 0, 44 },
	{ "jumppad_ent", 10, 45 }, { "loopSound", 16, 46 }, { "generic1", 8, 47 },
};

const uint64_t q3_old_masks[Q3_OLD_MASKS] = {
	0x8060ULL, 0x60ULL, 0xc060ULL, 0x2000000000e1ULL, 0x100000008060ULL, 0x80e0ULL,
	0xc0e0ULL, 0x100000000000ULL, 0x8040ULL, 0x8020ULL, 0x100008060ULL,
	0x8000000007edULL, 0xe0ULL, 0x3000000007edULL, 0x80ULL, 0x40ULL,
	0x10000000c0e0ULL, 0x100000000060ULL, 0x20ULL, 0x2004000000e1ULL,
	0x202001c000e1ULL, 0x10000c0e0ULL, 0x4060ULL, 0xc040ULL, 0x10000c060ULL,
	0x10000000c060ULL, 0x1000100008060ULL, 0x300000008060ULL, 0x1000000080e0ULL,
	0xc020ULL, 0x2000000008060ULL,
};
/* clang-format on */

static const struct q3_dialect old_45 = {
	.name = "quake3-45",
	.entity = { old_entity, Q3_COUNT(old_entity) },
	.player = { old_player, Q3_COUNT(old_player) },
	.player_slots = Q3_COUNT(old_player),
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.flags = Q3_PLAIN,
	.protocol = 45,
};

static const struct q3_dialect old_43 = {
	.name = "quake3-43",
	.entity = { old_entity, Q3_COUNT(old_entity) },
	.player = { old_player, Q3_COUNT(old_player) },
	.player_slots = Q3_COUNT(old_player),
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.flags = Q3_PLAIN | Q3_UNTESTED,
	.protocol = 43,
};

static const struct q3_dialect old_48 = {
	.name = "quake3-48",
	.entity = { entity_48, Q3_COUNT(entity_48) },
	.player = { player_48, Q3_COUNT(player_48) },
	.player_slots = Q3_COUNT(player_48),
	.reliable = 64,
	.message_max = 16384,
	.configstrings = 1024,
	.arrays = q3_arrays,
	.moves = { q3_move, Q3_MOVE },
	.flags = Q3_PLAIN | Q3_ACK_FIRST,
	.protocol = 48,
};

const struct q3_dialect *const q3_old_dialects[] = { &old_45, &old_43, &old_48, NULL };
