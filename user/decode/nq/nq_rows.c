// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_rows.c - see nq_rows.h. The order of the rows is that of the bytes.
 *
 * Sources: Quake WinQuake/cl_parse.c, sv_main.c; Quakespasm cl_parse.c; darkplaces
 * cl_ents_nq.c, cl_ents5.c, cl_parse.c; fteqw client/cl_ents.c.
 */
#include "decode/nq/nq_rows.h"

#define BIT(n) (1U << (n))

/* { key, flags, at, type, lane, unit } */
#define U8(key, flags, at)                     \
	{                                      \
		key, flags, at, DELTA_U8, 0, 0 \
	}
#define U16(key, flags, at)                     \
	{                                       \
		key, flags, at, DELTA_U16, 0, 0 \
	}
#define LANE(key, flags, at, n, type, unit)             \
	{                                               \
		key, flags, (at) + (n)-1, type, n, unit \
	}

#define PLACE(ct, cu, at, au)                                                       \
	{                                                                           \
		.update = {                                                       \
			U8("frame", BIT(6), NQ_F_FRAME),                          \
			U8("colormap", BIT(11), NQ_F_COLORMAP),                   \
			U8("skinnum", BIT(12), NQ_F_SKIN),                           \
			U8("effects", BIT(13), NQ_F_EFFECTS),                     \
			LANE("origin", BIT(1), NQ_F_ORIGIN, 1, ct, cu),           \
			LANE("angles", BIT(8), NQ_F_ANGLES, 1, at, au),           \
			LANE("origin", BIT(2), NQ_F_ORIGIN, 2, ct, cu),           \
			LANE("angles", BIT(4), NQ_F_ANGLES, 2, at, au),           \
			LANE("origin", BIT(3), NQ_F_ORIGIN, 3, ct, cu),           \
			LANE("angles", BIT(9), NQ_F_ANGLES, 3, at, au),           \
		},                                                                \
		.spot = {                                                         \
			LANE("origin", 0, NQ_F_ORIGIN, 1, ct, cu),                \
			LANE("angles", 0, NQ_F_ANGLES, 1, at, au),                \
			LANE("origin", 0, NQ_F_ORIGIN, 2, ct, cu),                \
			LANE("angles", 0, NQ_F_ANGLES, 2, at, au),                \
			LANE("origin", 0, NQ_F_ORIGIN, 3, ct, cu),                \
			LANE("angles", 0, NQ_F_ANGLES, 3, at, au),                \
		}, \
	}

#define PLACES(ct, cu)                                                   \
	{                                                                \
		[NQ_ANGLE_8] = PLACE(ct, cu, DELTA_I8, 360.0 / 256),     \
		[NQ_ANGLE_16] = PLACE(ct, cu, DELTA_I16, 360.0 / 65536), \
		[NQ_ANGLE_F32] = PLACE(ct, cu, DELTA_F32, 0),            \
	}

const struct nq_place nq_places[NQ_COORDS][NQ_ANGLES] = {
	[NQ_COORD_13_3] = PLACES(DELTA_I16, 1.0 / 8),
	[NQ_COORD_F32] = PLACES(DELTA_F32, 0),
	[NQ_COORD_28_4] = PLACES(DELTA_I32, 1.0 / 16),
	[NQ_COORD_24] = PLACES(DELTA_C24, 0),
	[NQ_COORD_16] = PLACES(DELTA_I16, 1.0),
};

const struct delta_row nq_model[1] = { U8("modelindex", BIT(10), NQ_F_MODEL) };
const struct delta_row nq_model_bjp[1] = { U16("modelindex", BIT(10), NQ_F_MODEL) };

#define LOOK(model, frame)                                                             \
	{                                                                              \
		model("modelindex", 0, NQ_F_MODEL), frame("frame", 0, NQ_F_FRAME),     \
			U8("colormap", 0, NQ_F_COLORMAP), U8("skinnum", 0, NQ_F_SKIN), \
	}

const struct delta_row nq_look[4] = LOOK(U8, U8);
const struct delta_row nq_look_bjp[4] = LOOK(U16, U8);
const struct delta_row nq_look16[4] = LOOK(U16, U16);

const struct delta_row nq_look_fitz[6] = {
	U16("modelindex", NQ_B_MODEL16, NQ_F_MODEL),
	U8("modelindex", NQ_B_MODEL8, NQ_F_MODEL),
	U16("frame", NQ_B_FRAME16, NQ_F_FRAME),
	U8("frame", NQ_B_FRAME8, NQ_F_FRAME),
	U8("colormap", 0, NQ_F_COLORMAP),
	U8("skinnum", 0, NQ_F_SKIN),
};

const struct delta_row nq_look_fitz_tail[2] = {
	U8("alpha", NQ_B_ALPHA, NQ_F_ALPHA),
	U8("scale", NQ_B_SCALE, NQ_F_SCALE),
};

const struct delta_row nq_update_fitz[5] = {
	U8("alpha", BIT(16), NQ_F_ALPHA),
	U8("scale", BIT(20), NQ_F_SCALE),
	U8("frame_high", BIT(17), NQ_F_FRAME_HIGH),
	U8("modelindex_high", BIT(18), NQ_F_MODEL_HIGH),
	{ "lerpfinish", BIT(19), NQ_F_LERPFINISH, DELTA_U8, 0, 1.0 / 255 },
};

#define UNKNOWN(flags, n) U8("unknown" #n, flags, NQ_F_UNKNOWN + (n))

const struct delta_row nq_look_enhanced_tail[6] = {
	U8("alpha", NQ_B_ALPHA, NQ_F_ALPHA),
	U8("solid", NQ_B_SOLID, NQ_F_SOLID),
	UNKNOWN(0x10, 0),
	UNKNOWN(0x20, 1),
	UNKNOWN(0x40, 2),
	UNKNOWN(0x80, 3),
};

const struct delta_row nq_update_enhanced[14] = {
	U8("alpha", BIT(16), NQ_F_ALPHA),
	U8("scale", BIT(20), NQ_F_SCALE),
	U8("frame_high", BIT(17), NQ_F_FRAME_HIGH),
	U8("modelindex_high", BIT(18), NQ_F_MODEL_HIGH),
	{ "lerpfinish", BIT(19), NQ_F_LERPFINISH, DELTA_U8, 0, 1.0 / 255 },
	U8("solid", BIT(22), NQ_F_SOLID),
	{ "entityflags", BIT(24), NQ_F_ENTITYFLAGS, DELTA_ULEB, 0, 0 },
	{ "health", BIT(25), NQ_F_HEALTH, DELTA_ZIGZAG, 0, 0 },
	UNKNOWN(BIT(26), 0),
	UNKNOWN(BIT(27), 1),
	UNKNOWN(BIT(28), 2),
	UNKNOWN(BIT(29), 3),
	UNKNOWN(BIT(30), 4),
	UNKNOWN(BIT(31), 5),
};

/* The colours are three bits, three bits, two bits of one byte. */
const struct delta_row nq_update_quakedp[8] = {
	U8("alpha", BIT(17), NQ_F_ALPHA),
	{ "scale", BIT(18), NQ_F_SCALE, DELTA_U8, 0, 1.0 / 16 },
	U8("effects_high", BIT(19), NQ_F_EFFECTS_HIGH),
	U8("glowsize", BIT(20), NQ_F_GLOWSIZE),
	U8("glowcolor", BIT(21), NQ_F_GLOWCOLOR),
	U8("colormod", BIT(22), NQ_F_COLORMOD),
	U8("frame_high", BIT(26), NQ_F_FRAME_HIGH),
	U8("modelindex_high", BIT(27), NQ_F_MODEL_HIGH),
};

/* --- client data ------------------------------------------------------------------- */

#define EYES                                                          \
	{ "viewheight", BIT(0), NQ_O_VIEWHEIGHT, DELTA_I8, 0, 0 },    \
	{                                                             \
		"idealpitch", BIT(1), NQ_O_IDEALPITCH, DELTA_I8, 0, 0 \
	}
#define KICK(i, type, unit) \
	LANE("punchangle", BIT(1 + (i)), NQ_O_PUNCHANGLE, i, type, unit)
#define PUSH(i, type, unit) \
	LANE("punchvector", BIT(15 + (i)), NQ_O_PUNCHVECTOR, i, type, unit)
#define SPEED(i, type, unit) LANE("velocity", BIT(4 + (i)), NQ_O_VELOCITY, i, type, unit)
#define MOTION(i)	     KICK(i, DELTA_I8, 1.0), SPEED(i, DELTA_I8, 16)
#define MOTION_DP(i, kt, ku, pt, pu, st, su) \
	KICK(i, kt, ku), PUSH(i, pt, pu), SPEED(i, st, su)
#define ITEMS(flags)                                        \
	{                                                   \
		"items", flags, NQ_O_ITEMS, DELTA_U32, 0, 0 \
	}
#define ARMS(weapon)                                                                    \
	U8("weaponframe", BIT(12), NQ_O_WEAPONFRAME), U8("armor", BIT(13), NQ_O_ARMOR), \
		weapon("weapon", BIT(14), NQ_O_WEAPON)
#define AMMO                                                                     \
	{ "health", 0, NQ_O_HEALTH, DELTA_I16, 0, 0 }, U8("ammo", 0, NQ_O_AMMO), \
		U8("shells", 0, NQ_O_SHELLS), U8("nails", 0, NQ_O_NAILS),        \
		U8("rockets", 0, NQ_O_ROCKETS), U8("cells", 0, NQ_O_CELLS),      \
		U8("activeweapon", 0, NQ_O_ACTIVEWEAPON)
#define HIGH(key, bit, n) U8(key "_high", BIT(bit), NQ_O_HIGH + (n))
#define SHORT(key, flags, at)                   \
	{                                       \
		key, flags, at, DELTA_I16, 0, 0 \
	}

#define CLASSIC(weapon)                                                             \
	{                                                                           \
		EYES, MOTION(1), MOTION(2), MOTION(3), ITEMS(0), ARMS(weapon), AMMO \
	}

const struct delta_row nq_clientdata_id[19] = CLASSIC(U8);
const struct delta_row nq_clientdata_bjp[19] = CLASSIC(U16);

#define HIGHS                                                                        \
	HIGH("weapon", 16, 0), HIGH("armor", 17, 1), HIGH("ammo", 18, 2),            \
		HIGH("shells", 19, 3), HIGH("nails", 20, 4), HIGH("rockets", 21, 5), \
		HIGH("cells", 22, 6), HIGH("weaponframe", 24, 7),                    \
		U8("weaponalpha", BIT(25), NQ_O_WEAPONALPHA)

const struct delta_row nq_clientdata_fitz[28] = {
	EYES, MOTION(1), MOTION(2), MOTION(3), ITEMS(0), ARMS(U8), AMMO, HIGHS,
};

/* Where a velocity is of floats its bits have moved up. */
#define OWN_FLOATS BIT(8)
#define OWN_SPEEDS (BIT(5) | BIT(6) | BIT(7))
#define OWN_UP	   27
#define MOTION_ENHANCED(i)                                                     \
	MOTION(i),                                                             \
	{                                                                      \
		"velocity", 1ULL << (OWN_UP + 4 + (i)), NQ_O_VELOCITY + (i)-1, \
			DELTA_F32, i, 0                                        \
	}
#define ENHANCED                                                                    \
	EYES, MOTION_ENHANCED(1), MOTION_ENHANCED(2), MOTION_ENHANCED(3), ITEMS(0), \
		ARMS(U8), AMMO

const struct delta_row nq_clientdata_enhanced15[22] = { ENHANCED };
const struct delta_row nq_clientdata_enhanced[32] = {
	ENHANCED,
	HIGHS,
	{ "entityflags", BIT(26), NQ_O_ENTITYFLAGS, DELTA_ULEB, 0, 0 },
};

uint64_t nq_own_wants(uint32_t flags)
{
	uint64_t speeds = flags & OWN_SPEEDS;

	return flags & OWN_FLOATS ? (flags & ~OWN_SPEEDS) | speeds << OWN_UP : flags;
}

#define ZOOM(type)                                             \
	{                                                      \
		"viewzoom", BIT(19), NQ_O_VIEWZOOM, type, 0, 0 \
	}
#define DP_MOTION(kt, ku, pt, pu, st, su)                                           \
	MOTION_DP(1, kt, ku, pt, pu, st, su), MOTION_DP(2, kt, ku, pt, pu, st, su), \
		MOTION_DP(3, kt, ku, pt, pu, st, su)

const struct delta_row nq_clientdata_quakedp[23] = {
	EYES,	  DP_MOTION(DELTA_I8, 1.0, DELTA_I16, 1.0 / 8, DELTA_I8, 16),
	ITEMS(0), ARMS(U8),
	AMMO,	  ZOOM(DELTA_U16),
};

const struct delta_row nq_clientdata_dp1[23] = {
	EYES,	  DP_MOTION(DELTA_I16, 360.0 / 65536, DELTA_F32, 0, DELTA_I8, 16),
	ITEMS(0), ARMS(U8),
	AMMO,	  ZOOM(DELTA_U16),
};

const struct delta_row nq_clientdata_dp2[23] = {
	EYES,	  DP_MOTION(DELTA_I16, 360.0 / 65536, DELTA_I16, 1.0, DELTA_I8, 16),
	ITEMS(0), ARMS(U8),
	AMMO,	  ZOOM(DELTA_U8),
};

const struct delta_row nq_clientdata_dp5[23] = {
	EYES,
	DP_MOTION(DELTA_I16, 360.0 / 65536, DELTA_F32, 0, DELTA_F32, 0),
	ITEMS(0),
	SHORT("weaponframe", BIT(12), NQ_O_WEAPONFRAME),
	SHORT("armor", BIT(13), NQ_O_ARMOR),
	SHORT("weapon", BIT(14), NQ_O_WEAPON),
	SHORT("health", 0, NQ_O_HEALTH),
	SHORT("ammo", 0, NQ_O_AMMO),
	SHORT("shells", 0, NQ_O_SHELLS),
	SHORT("nails", 0, NQ_O_NAILS),
	SHORT("rockets", 0, NQ_O_ROCKETS),
	SHORT("cells", 0, NQ_O_CELLS),
	SHORT("activeweapon", 0, NQ_O_ACTIVEWEAPON),
	ZOOM(DELTA_U16),
};

const struct delta_row nq_clientdata_dp6[13] = {
	EYES,
	DP_MOTION(DELTA_I16, 360.0 / 65536, DELTA_F32, 0, DELTA_F32, 0),
	ITEMS(BIT(9)),
	ZOOM(DELTA_U16),
};

/* --- entity frames ----------------------------------------------------------------- */

/* What is there in which width: bits of our own, for those that say it by two. */
enum e5_want {
	E5_FLAGS = 1 << 0,
	E5_ORIGIN16 = 1 << 1,
	E5_ORIGIN32 = 1 << 2,
	E5_ANGLES8 = 1 << 3,
	E5_ANGLES16 = 1 << 4,
	E5_MODEL8 = 1 << 5,
	E5_MODEL16 = 1 << 6,
	E5_FRAME8 = 1 << 7,
	E5_FRAME16 = 1 << 8,
	E5_SKIN = 1 << 9,
	E5_EFFECTS8 = 1 << 10,
	E5_EFFECTS16 = 1 << 11,
	E5_EFFECTS32 = 1 << 12,
	E5_ALPHA = 1 << 13,
	E5_SCALE = 1 << 14,
	E5_COLORMAP = 1 << 15,
	E5_ATTACHMENT = 1 << 16,
	E5_LIGHT = 1 << 17,
	E5_GLOW = 1 << 18,
	E5_COLORMOD = 1 << 19,
	E5_GLOWMOD = 1 << 20,
	E5_TRAIL = 1 << 21,
};

#define THREE(key, flags, at, type, unit)                                         \
	LANE(key, flags, at, 1, type, unit), LANE(key, flags, at, 2, type, unit), \
		LANE(key, flags, at, 3, type, unit)

const struct delta_row nq_e5[40] = {
	U8("flags", E5_FLAGS, NQ_F_FLAGS),
	THREE("origin", E5_ORIGIN32, NQ_F_ORIGIN, DELTA_F32, 0),
	THREE("origin", E5_ORIGIN16, NQ_F_ORIGIN, DELTA_I16, 1.0 / 8),
	THREE("angles", E5_ANGLES16, NQ_F_ANGLES, DELTA_I16, 360.0 / 65536),
	THREE("angles", E5_ANGLES8, NQ_F_ANGLES, DELTA_I8, 360.0 / 256),
	U16("modelindex", E5_MODEL16, NQ_F_MODEL),
	U8("modelindex", E5_MODEL8, NQ_F_MODEL),
	U16("frame", E5_FRAME16, NQ_F_FRAME),
	U8("frame", E5_FRAME8, NQ_F_FRAME),
	U8("skinnum", E5_SKIN, NQ_F_SKIN),
	{ "effects", E5_EFFECTS32, NQ_F_EFFECTS, DELTA_U32, 0, 0 },
	U16("effects", E5_EFFECTS16, NQ_F_EFFECTS),
	U8("effects", E5_EFFECTS8, NQ_F_EFFECTS),
	U8("alpha", E5_ALPHA, NQ_F_ALPHA),
	{ "scale", E5_SCALE, NQ_F_SCALE, DELTA_U8, 0, 1.0 / 16 },
	U8("colormap", E5_COLORMAP, NQ_F_COLORMAP),
	U16("tagentity", E5_ATTACHMENT, NQ_F_TAG_ENTITY),
	U8("tagindex", E5_ATTACHMENT, NQ_F_TAG),
	U16("light_red", E5_LIGHT, NQ_F_LIGHT),
	U16("light_green", E5_LIGHT, NQ_F_LIGHT + 1),
	U16("light_blue", E5_LIGHT, NQ_F_LIGHT + 2),
	U16("light_radius", E5_LIGHT, NQ_F_LIGHT + 3),
	U8("lightstyle", E5_LIGHT, NQ_F_LIGHTSTYLE),
	U8("lightpflags", E5_LIGHT, NQ_F_LIGHTPFLAGS),
	U8("glowsize", E5_GLOW, NQ_F_GLOWSIZE),
	U8("glowcolor", E5_GLOW, NQ_F_GLOWCOLOR),
	THREE("colormod", E5_COLORMOD, NQ_F_COLORMOD, DELTA_U8, 0),
	THREE("glowmod", E5_GLOWMOD, NQ_F_GLOWMOD, DELTA_U8, 0),
};

const struct delta_row nq_e5_tail[1] = { U16("traileffectnum", E5_TRAIL, NQ_F_TRAIL) };

static uint32_t either(uint32_t bits, unsigned int there, unsigned int wide,
		       uint32_t narrow_want, uint32_t wide_want)
{
	if (!(bits & BIT(there)))
		return 0;
	return bits & BIT(wide) ? wide_want : narrow_want;
}

static uint32_t if_set(uint32_t bits, unsigned int there, uint32_t want)
{
	return bits & BIT(there) ? want : 0;
}

uint32_t nq_e5_wants(uint32_t bits)
{
	uint32_t effects = bits & BIT(20)   ? E5_EFFECTS32
			   : bits & BIT(19) ? E5_EFFECTS16
					    : E5_EFFECTS8;

	return if_set(bits, 8, E5_FLAGS) | either(bits, 1, 11, E5_ORIGIN16, E5_ORIGIN32) |
	       either(bits, 2, 12, E5_ANGLES8, E5_ANGLES16) |
	       either(bits, 3, 13, E5_MODEL8, E5_MODEL16) |
	       either(bits, 4, 21, E5_FRAME8, E5_FRAME16) | if_set(bits, 5, E5_SKIN) |
	       if_set(bits, 6, effects) | if_set(bits, 9, E5_ALPHA) |
	       if_set(bits, 10, E5_SCALE) | if_set(bits, 14, E5_COLORMAP) |
	       if_set(bits, 16, E5_ATTACHMENT) | if_set(bits, 17, E5_LIGHT) |
	       if_set(bits, 18, E5_GLOW) | if_set(bits, 22, E5_COLORMOD) |
	       if_set(bits, 24, E5_GLOWMOD) | if_set(bits, 26, E5_TRAIL);
}
